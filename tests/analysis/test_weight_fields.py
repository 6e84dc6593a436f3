"""Which fields can be weights: of every event that the registry knows, and those that a user's own events have."""

from __future__ import annotations

import re

import pytest

from analysis.test_samples import shop, traced
from built_allocations import MAIN, sampled, tick
from clrevents.analysis import read_samples
from clrevents.analysis.shared.weights.weight_fields import check_weight
from clrevents.schema.registry import DEFAULT
from clrevents.table.read import event_fields
from clrevents.table.table import ColumnType, TableField

AMOUNTS = {
    *("AllocatedSizeForJitCode", "AllocationAmount", "AllocationAmount64", "BytesAllocated", "BytesFreed", "Count"),
    *("DurationNs", "FrameCount", "GCHandleCount", "GenerationSize0", "JittedMethodCount", "MemoryPressure"),
    *(
        "MethodILSize",
        "MethodSize",
        "NewMethodCount",
        "NumHeaps",
        "ObjectCountForTypeSample",
        "Pages",
        "RangeUsedLength",
    ),
    *("SegmentSize", "Size", "Survived", "Throughput", "TotalPromotedSize4", "TotalSizeForTypeSample"),
}
NOT_AMOUNTS = {
    *("AppDomainID", "ClassID", "ClrInstanceID", "CondemnReasons0", "CondemnedGeneration", "EntryEIP", "EntryPoint"),
    *("ErrorCode", "ExceptionHRESULT", "FileOffset", "GenNumber", "GlobalMechanisms", "HeapIndex", "HeapNum"),
    *("ManagedInteropMethodToken", "MethodFlags", "MethodID", "ModuleID", "RangeBegin", "Reason", "SampledByteOffset"),
    *("ThreadID", "Timestamp", "Type", "TypeID", "AllocationKind", "MethodStartAddress", "Address"),
}  # fmt: skip


def kinds_of_fields() -> tuple[set[str], set[str]]:
    """The numbers of all events of the registry: those that can be weights, and those that cannot."""
    can, cannot = set(), set()
    for entry in DEFAULT.entries():
        event = (entry.provider, entry.name)
        fields = event_fields(DEFAULT, event, (), None, known=True)
        for field in fields:
            if field.wire is None or not field.type.kind.startswith(("int", "uint", "float")):
                continue
            try:
                check_weight(event, fields, field.name)
                can.add(field.name)
            except ValueError:
                cannot.add(field.name)
    return can, cannot


def test_fields_of_known_events() -> None:
    can, cannot = kinds_of_fields()
    assert can >= AMOUNTS
    assert cannot >= NOT_AMOUNTS
    # A field is the same everywhere, but for an object's size, and names that are amounts in one event only.
    assert can & cannot == {"ObjectSize", "Result"}
    assert not [name for name in can if re.search(r"ID$|Address$|Token$", name)]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("OrderId", "an id"),
        ("order_id", "an id"),
        ("ReJITID", "an id"),
        ("PAID", None),
        ("id", "an id"),
        ("InvoiceNumber", "a number of a thing"),
        ("BufferAddress", "an address"),
        ("StatusCode", "a code"),
        ("RowIndex", "a number of a thing"),
        ("Timestamp", "a time"),
        ("Paid", None),
        ("Bid", None),
        ("Size", None),
        ("GridRows", None),
        ("Number", None),
        ("Days", None),
    ],
)
def test_fields_of_unknown_events_go_by_their_names(name: str, why: str | None) -> None:
    fields = [TableField(name, ColumnType("int64"), wire=name), TableField("Price", ColumnType("int64"), wire="Price")]
    if why is None:
        check_weight(("Shop", "Sold"), fields, name)
        return
    with pytest.raises(ValueError, match=f"^'{name}' is {why}, so it cannot be a weight; use Price$"):
        check_weight(("Shop", "Sold"), fields, name)


@pytest.mark.parametrize("event", ["AllocationSampled", "GCAllocationTick"])
def test_the_size_of_one_object_is_no_weight(event: str) -> None:
    trace = traced(tick(sampled(shop(), 1_000, "A", MAIN), 100_000, "A", MAIN))
    for ask in (
        lambda: read_samples(trace, event, "ObjectSize"),
        lambda: trace.report("top", event=event, by="ObjectSize"),
    ):
        with pytest.raises(ValueError, match=f"not of everything that {event} represents.*use 'alloc'"):
            ask()
    with pytest.raises(ValueError, match="'TypeID' is an id"):
        trace.report("top", event=event, by="TypeID")
    assert trace.report("top", event="GCAllocationTick", by="AllocationAmount64").metrics["total"].value == 100_000

"""Enums where the runtime's source says more or other than its manifest: the numbers, and what traces hold of them."""

from __future__ import annotations

from collections import Counter
from enum import Enum

import pytest

import clrevents
from clrevents import events
from clrevents.schema.flags import named_values
from clrevents.schema.wire import EnumType
from project_files import FIXTURES, ROOT, SHARED, tool

# What the source's enumerations hold behind or against the manifest's maps.
NUMBERS: dict[str, dict[str, int]] = {
    "AssemblyFlags": {"ReadyToRun": 0x10},
    "GCBulkRootKind": {"Other": 3},
    "GCHandleKind": {"WeakNativeCom": 9, "WeakInteriorPointer": 10, "CrossReference": 11},
    "GCReason": {
        "InducedCompacting": 10,
        "LowMemoryHost": 11,
        "PMFullGC": 12,
        "LowMemoryHostBlocking": 13,
        "BGCTuningSmallObjectHeap": 14,
        "BGCTuningLargeObjectHeap": 15,
        "BGCStepping": 16,
        "InducedAggressive": 17,
    },
    "GCSuspendEEReason": {"SuspendForRejit": 3, "SuspendForProfiler": 8},
    "KnownPathSource": {"Bundle": 5},
    "MonoExceptionClauseType": {"Fault": 4},
    "MonoGCHandleType": {"WeakFields": 4},
    "MonoJitCodeBufferType": {"Monitor": 7, "DelegateInvoke": 8, "ExceptionHandling": 9},
    "ResolutionAttemptedResult": {"IncompatibleVersion": 2, "MismatchedAssemblyName": 3},
    "StartupFlags": {
        "SINGLE_APPDOMAIN": 0x800000,
        "APPX_APP_MODEL": 0x1000000,
        "DISABLE_RANDOMIZED_STRING_HASHING": 0x2000000,
    },
    "ThreadAdjustmentReason": {"CooperativeBlocking": 8},
}
BULK_LACKS = {"Older", "SizedRef", "Overflow", "DependentHandle", "NewFQ", "Steal", "BGC"}
"""Members of the map that the manifest gives to roots of heap dumps, and that belong to another event."""


def enum_named(name: str) -> type[Enum]:
    found: type[Enum] = getattr(events, name)
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_the_source(name: str) -> None:
    members = dict(named_values(enum_named(name)))
    assert {member: members.get(member) for member in NUMBERS[name]} == NUMBERS[name]
    for member, number in NUMBERS[name].items():
        assert str(enum_named(name)(number)) == member


def test_every_member_has_its_symbol() -> None:
    declared = {f"{name}.{member}" for name, members in NUMBERS.items() for member in members}
    assert set(tool("compare_manifest").SOURCE) == declared | {f"GCBulkRootKind.{name}" for name in BULK_LACKS}
    assert all(": " in symbol for symbol in tool("compare_manifest").SOURCE.values())


def test_errata_list_them_all() -> None:
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    table = text.partition("## Enums: where")[2].partition("|---|---|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    listed = {(enum, member, int(number, 0)) for enum, number, member, *_ in rows}
    assert listed == {(e, m, n) for e, members in NUMBERS.items() for m, n in members.items()}
    assert len(rows) == len(listed)


def test_roots_of_a_dump_are_not_kinds_of_marking() -> None:
    assert dict(named_values(events.GCBulkRootKind)) == {"Stack": 0, "Finalizer": 1, "Handle": 2, "Other": 3}
    assert str(events.GCRootKind(3)) == "Older"
    kinds = {
        record.__name__: field.type.enum
        for record in (events.GCBulkRootEdgeValue, events.GCMarkWithType_V0)
        for field in record.__layout__.fields
        if field.name in ("GCRootKind", "Type") and isinstance(field.type, EnumType)
    }
    assert kinds == {"GCBulkRootEdgeValue": events.GCBulkRootKind, "GCMarkWithType_V0": events.GCRootKind}


def test_old_name_of_a_suspension_remains() -> None:
    assert events.GCSuspendEEReason.SuspendForCodePitching is events.GCSuspendEEReason.SuspendForRejit


def test_next_number_has_no_name_yet() -> None:
    assert repr(events.GCReason(18)) == "GCReason(18)"
    assert repr(events.ThreadAdjustmentReason(9)) == "ThreadAdjustmentReason(9)"
    assert str(events.AssemblyFlags(0x30)) == "ReadyToRun|0x20"


def test_startup_flags_of_net8() -> None:
    with clrevents.open(FIXTURES / "net8-counters.nettrace.gz") as trace:
        found = [str(e.payload.StartupFlags) for e in trace.events("RuntimeInformationDCStart")]
    assert found == ["CONCURRENT_GC|LOADER_OPTIMIZATION_SINGLE_DOMAIN|SINGLE_APPDOMAIN"]


@pytest.mark.parametrize("name", ["net8-method-interop", "net10-method-interop"])
def test_precompiled_assemblies(name: str) -> None:
    """An assembly is ready to run when its module is: two events, two flags."""
    with clrevents.open(FIXTURES / f"{name}.nettrace.gz") as trace:
        assemblies: dict[int, bool] = {}
        modules: dict[int, bool] = {}
        for event in trace.events("AssemblyDCEnd", "ModuleDCEnd"):
            p = event.payload
            if event.name == "AssemblyDCEnd":
                assemblies[p.AssemblyID] = bool(p.AssemblyFlags & events.AssemblyFlags.ReadyToRun)
            else:
                modules[p.AssemblyID] = bool(p.ModuleFlags & events.ModuleFlags.ReadyToRunModule)
    assert assemblies == modules
    assert set(assemblies.values()) == {True, False}


STARVATION = SHARED / "scenarios" / "net10-starvation-11.nettrace.gz"


@pytest.mark.skipif(not STARVATION.exists(), reason=f"the trace is not at {STARVATION}")
def test_blocking_tasks_adjust_the_thread_pool() -> None:
    with clrevents.open(STARVATION) as trace:
        reasons = Counter(str(e.payload.Reason) for e in trace.events("ThreadPoolWorkerThreadAdjustmentAdjustment"))
    assert reasons == {"CooperativeBlocking": 18}

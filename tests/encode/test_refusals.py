"""A value that does not fit raises a ValueError that names it, and nothing of its block is written."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from clrevents.encode import values as scalars
from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import (
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    MetadataStyle,
    ThreadRow,
    TraceHeader,
)
from clrevents.schema.codes import HeaderFlag, LabelKind

GOOD = EventRecord(1, 1000, 7, b"abcd")
IN_AN_ACTIVITY = EventRecord(1, 0, activity_id=b"x" * 16)
M16, M31, M32, M64 = 1 << 16, 1 << 31, 1 << 32, 1 << 64

EVENTS: list[tuple[EventRecord, str]] = [
    (EventRecord(M32, 0), "metadata_id"),
    (EventRecord(-1, 0), "metadata_id"),
    (EventRecord(1, M64), "time"),
    (EventRecord(1, -(1 << 63) - 1), "time"),
    (EventRecord(1, 0, M64), "thread_id"),
    (EventRecord(1, 0, -1), "thread_id"),
    (EventRecord(1, 0, capture_thread_id=M64), "capture_thread_id"),
    (EventRecord(1, 0, sequence=M32), "sequence"),
    (EventRecord(1, 0, sequence=-1), "sequence"),
    (EventRecord(1, 0, processor=M32), "processor"),
    (EventRecord(1, 0, processor=-2), "processor"),
    (EventRecord(1, 0, stack_id=M32), "stack_id"),
    (EventRecord(1, 0, stack_id=-1), "stack_id"),
    (EventRecord(1, 0, activity_id=b"short"), "activity_id"),
    (EventRecord(1, 0, label_id=M32), "label"),
    (EventRecord(1, 1.5), "time"),  # type: ignore[arg-type]
]


def refused(call: Callable[[Any], object], what: str, writer_class: Any = NetTrace6Writer) -> str:
    """Nothing is written; what is said."""
    sink = io.BytesIO()
    writer = writer_class(sink)
    before = sink.getvalue()
    with pytest.raises(ValueError, match=what) as raised:
        call(writer)
    assert sink.getvalue() == before
    assert writer.offset == len(before)
    return str(raised.value)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("writer_class", [NetTrace4Writer, NetTrace6Writer])
@pytest.mark.parametrize(("event", "what"), EVENTS, ids=lambda v: v if isinstance(v, str) else "")
def test_events(event: EventRecord, what: str, writer_class: Any, compressed: bool) -> None:
    sink = io.BytesIO()
    writer = writer_class(sink)
    writer.events([GOOD])
    before, numbers = sink.getvalue(), writer.sequences
    with pytest.raises(ValueError, match=rf"event 1 \(metadata id .*{what}"):
        writer.events([GOOD, event], Choices(compressed=compressed))
    assert sink.getvalue() == before
    assert writer.offset == len(before)
    assert writer.sequences == numbers == {7: 1}


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (EventRecord(M31, 0), "metadata_id"),
        (EventRecord(1, 1 << 63), "time"),
        (EventRecord(1, 0, M32), "thread_id"),
        (EventRecord(1, 0, stack=[M64]), "address"),
        (EventRecord(1, 0, stack_id=3), "stack and label ids"),
        (EventRecord(1, 0, label_id=3), "stack and label ids"),
        (EventRecord(1, 0, 5, capture_thread_id=6), "capture thread"),
        (EventRecord(1, 0, processor=2), "processor"),
        (EventRecord(1, 0, related_activity_id=b""), "related_activity_id"),
    ],
)
def test_netperf_events(event: EventRecord, what: str) -> None:
    refused(lambda w: w.events([GOOD, event]), rf"item 1 \(metadata id .*{what}", NetPerf3Writer)


ARRAY = FieldDescription("A", 19, FieldDescription("", 9))
METADATA: list[tuple[MetadataRecord, str]] = [
    (MetadataRecord(1, "a\0b", 1), "provider contains a NUL"),
    (MetadataRecord(1, "P", 1, name="x\0"), "name contains a NUL"),
    (MetadataRecord(1, "P", 1, fields=(FieldDescription("\0", 9),)), "field name contains a NUL"),
    (MetadataRecord(M31, "P", 1), "metadata_id"),
    (MetadataRecord(1, "P", M16), "id must"),
    (MetadataRecord(1, "P", 1, 256), "version"),
    (MetadataRecord(1, "P", 1, level=-1), "level"),
    (MetadataRecord(1, "P", 1, keywords=M64), "keywords"),
    (MetadataRecord(1, "P", 1, opcode=256), "opcode"),
    (MetadataRecord(1, "P", 1, fields=(ARRAY,), style=MetadataStyle("v1")), "older field layout"),
    (MetadataRecord(1, "P", 1, fields=(FieldDescription("A", 19),)), "array without an element type"),
    (MetadataRecord(1, "P", 1, fields=(FieldDescription("A", 22), ARRAY)), "only in NetTrace 6"),
    (MetadataRecord(1, "P", 1, fields=(ARRAY,), style=MetadataStyle("none")), "cannot have fields or tags"),
    (MetadataRecord(1, "P", 1, style=MetadataStyle(tags=((256, b""),))), "tag kind"),
]


@pytest.mark.parametrize(("described", "what"), METADATA, ids=lambda v: v if isinstance(v, str) else "")
def test_descriptions(described: MetadataRecord, what: str) -> None:
    rows = [MetadataRecord(1, "P", 1), described]
    assert described.provider in refused(lambda w: w.metadata(rows), rf"description of .*{what}", NetTrace4Writer)


METADATA6: list[tuple[MetadataRecord, str]] = [
    (MetadataRecord(M32, "P", 1), "metadata_id"),
    (MetadataRecord(1, "P", M32), "id must"),
    (MetadataRecord(1, "\ud800", 1), "lone surrogate"),
    (MetadataRecord(1, "P", 1, fields=(FieldDescription("x" * M16, 9),)), "size of field"),
    (MetadataRecord(1, "P", 1, fields=(FieldDescription("A", 22, ARRAY, count=M16),)), "element count"),
    (MetadataRecord(1, "P", 1, message="x" * M16), "size of the optional part"),
    (MetadataRecord(1, "P", 1, name="x" * M16), "size of the description"),
    (MetadataRecord(1, "P", 1, provider_guid=b"abc"), "provider_guid"),
]


@pytest.mark.parametrize(("described", "what"), METADATA6, ids=lambda v: v if isinstance(v, str) else "")
def test_rows_of_nettrace6(described: MetadataRecord, what: str) -> None:
    refused(lambda w: w.metadata([MetadataRecord(1, "P", 1), described]), rf"description of .*{what}")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda w: w.labels(1, [[]]), "cannot be empty"),
        (lambda w: w.labels(M32, [[Label(LabelKind.OPCODE, 1)]]), "first label list id"),
        (lambda w: w.labels(1, [[Label(LabelKind.OPCODE, 256)]]), "OPCODE"),
        (lambda w: w.labels(1, [[Label(LabelKind.OPCODE, "1")]]), "OPCODE cannot have"),
        (lambda w: w.labels(1, [[Label(LabelKind.TEXT, 1, "k")]]), "TEXT cannot have"),
        (lambda w: w.labels(1, [[Label(LabelKind.NUMBER, 1 << 63, "k")]]), "'k'"),
        (lambda w: w.labels(1, [[Label(LabelKind.TRACE_ID, b"1")]]), "TRACE_ID must be 16"),
        (lambda w: w.labels(1, [[Label(LabelKind.ACTIVITY_ID, 5)]]), "ACTIVITY_ID cannot have"),
        (lambda w: w.threads([ThreadRow(M64)]), "thread index"),
        (lambda w: w.threads([ThreadRow(1, -1)]), "thread_id"),
        (lambda w: w.threads([ThreadRow(1, slack=bytes(M16))]), "row of thread 1"),
        (lambda w: w.remove_threads({1: M32}), "sequence"),
        (lambda w: w.sequence_point(M64, {}), "time"),
        (lambda w: w.sequence_point(0, {M64: 1}), "thread index"),
        (lambda w: w.sequence_point(0, {}, M32), "flags"),
        (lambda w: w.stacks(-1, []), "first stack id"),
        (lambda w: w.stacks(1, [[M64]]), "address"),
        (lambda w: w.raw_block(256, b""), "block kind"),
        (lambda w: w.raw_block(2, bytes(1 << 24)), "size of a block of kind 2"),
        (lambda w: w.metadata([], bytes(M16)), "header's size"),
        (lambda w: w.events([IN_AN_ACTIVITY]), "NetTrace 6 stores activity ids in label lists"),
        (lambda w: w.events([IN_AN_ACTIVITY], Choices(False)), "NetTrace 6 stores activity ids in label lists"),
        (lambda w: w.events([GOOD], Choices(force=HeaderFlag.RELATED)), "no related activity id"),
        (lambda w: w.events([GOOD], Choices(header_size=19)), "header_size"),
        (lambda w: w.events([GOOD], Choices(span=(0, M64))), "last time"),
        (lambda w: w.events([GOOD], Choices(force=[])), "force has 0 values for 1 events"),
    ],
)
def test_nettrace6(call: Callable[[Any], object], what: str) -> None:
    refused(call, what)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda w: w.events([EventRecord(1, 0, label_id=1)]), "only in NetTrace 6"),
        (lambda w: w.events([EventRecord(1, 0, label_id=1)], Choices(False)), "only in NetTrace 6"),
        (lambda w: w.events([EventRecord(M31, 0)], Choices(False)), "metadata_id"),
        (lambda w: w.sequence_point(0, {1: M32}), "sequence"),
        (lambda w: w.stacks(M32, []), "first stack id"),
    ],
)
def test_nettrace4(call: Callable[[Any], object], what: str) -> None:
    refused(call, what, NetTrace4Writer)


@pytest.mark.parametrize("writer_class", [NetPerf3Writer, NetTrace4Writer, NetTrace6Writer])
@pytest.mark.parametrize(
    ("header", "what"),
    [
        (TraceHeader(datetime(2024, 1, 1)), "time zone"),
        (TraceHeader((1, 2, 3)), "eight components"),  # type: ignore[arg-type]
        (TraceHeader((1 << 15, 1, 1, 1, 1, 1, 1, 1)), "component of start"),
        (TraceHeader(sync_qpc=1 << 63), "sync_qpc"),
        (TraceHeader(frequency=1 << 63), "frequency"),
        (TraceHeader(pointer_size=M31), "pointer_size"),
    ],
)
def test_headers(header: TraceHeader, what: str, writer_class: Any) -> None:
    sink = io.BytesIO()
    with pytest.raises(ValueError, match=what):
        writer_class(sink, header)
    assert sink.getvalue() == b""


def test_scalars() -> None:
    with pytest.raises(ValueError, match=r"N must be in 0\.\.255, not 256"):
        scalars.unsigned(256, 1, "N")
    with pytest.raises(ValueError, match=r"N must be in -128\.\.127, not -129"):
        scalars.signed(-129, 1, "N")
    with pytest.raises(ValueError, match="N must be an integer, not '1'"):
        scalars.unsigned("1", 1, "N")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="N must be in"):
        scalars.varuint(1 << 32, 32, "N")
    assert scalars.varuint((1 << 32) - 1, 32, "N") == b"\xff\xff\xff\xff\x0f"
    assert scalars.varint(-(1 << 63), "N") == b"\xff" * 9 + b"\x01"
    assert scalars.utf16z("\ud800", "N") == b"\x00\xd8\x00\x00"

"""Headers that are unusual: of NetPerf 2 with the pointer size, with a date of no calendar, versions given as pairs."""

from __future__ import annotations

import io
import struct

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.schema.codes import LabelKind
from clrevents.testing.builder import Format, TraceBuilder
from in_memory import ended
from oldest_writer import NetPerf12Writer


@pytest.mark.parametrize("size", [4, 8, 5])
def test_netperf_2_with_a_pointer_size(size: int) -> None:
    """Minimum reader version 1: one more reference before the header, the pointer size after it."""
    writer = NetPerf12Writer(io.BytesIO(), 2, TraceHeader(sync_qpc=0))
    writer.events([MetadataRecord(1, "P", 1, name="E"), EventRecord(1, 10, 7, b"payload")])
    plain = ended(writer)
    at = plain.index(b"EventPipeFile") + len("EventPipeFile") + 1
    reader = plain.index(struct.pack("<ii", 2, 0))
    data = plain[: reader + 4] + b"\1\0\0\0" + plain[reader + 8 : at] + bytes(4) + plain[at : at + 36]
    data += struct.pack("<i", size) + plain[at + 36 :]
    if size == 5:
        with pytest.raises(clrevents.UnreadableError, match="pointer size of 5"):
            clrevents.open(data)
        return
    with clrevents.open(data) as trace:
        assert (trace.info.pointer_size, trace.info.start is None) == (size, False)


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6", "netperf3"])
def test_a_month_13(format: Format) -> None:
    data = TraceBuilder(format).sample(1).build()
    date = struct.pack("<3h", 2026, 1, 4)
    assert data.count(date) == 1
    with clrevents.open(data.replace(date, struct.pack("<3h", 2026, 13, 4)), errors="strict") as trace:
        assert [p.kind for p in trace.check().problems if p.severity == "note"] == ["bad-date"]
        assert trace.info.start is None
        assert [event.time_ns for event in trace.events()] == [0]


@pytest.mark.parametrize(
    ("labels", "version"),
    [
        ([Label(LabelKind.NUMBER, 4, "Version")], 4),
        ([Label(LabelKind.TEXT, "4", "Version")], 4),
        ([Label(LabelKind.TEXT, "four", "Version")], 0),
        ([Label(LabelKind.NUMBER, 300, "Version")], 0),
        ([Label(LabelKind.VERSION, 3), Label(LabelKind.NUMBER, 4, "Version")], 3),
    ],
)
def test_versions_as_pairs(labels: list[Label], version: int) -> None:
    writer = NetTrace6Writer(io.BytesIO(), TraceHeader(sync_qpc=0))
    writer.metadata([MetadataRecord(1, "P", 1, name="E")])
    writer.threads([ThreadRow(1, 7)])
    writer.labels(1, [labels])
    writer.events([EventRecord(1, 10, 1, label_id=1)])
    with clrevents.open(ended(writer)) as trace:
        assert [event.version for event in trace.events()] == [version]

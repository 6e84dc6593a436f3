"""Real traces, read block by block and written again with the same choices, give the same bytes.

This is what shows that the encoder takes every shortcut that the runtime takes, and no other.
"""

from __future__ import annotations

import gzip
import io
import struct
from pathlib import Path

import pytest
from encode_reading import blocks, netperf_records, records

from clrevents.decode.container.blocks import End, Events, Header, Metadata, SequencePoint, Stacks
from clrevents.decode.kernels.header_scan import PADDING, HeaderScanner
from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.values import Choices, EventRecord, MetadataRecord, TraceHeader
from clrevents.schema.codes import HeaderFlag
from oldest_writer import NetPerf12Writer
from plain_trace import described
from project_files import without_shared

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
LIMIT = 3_000_000
"""Bytes of a trace that are compared, at most: up to the end of the block that passes it."""

pytestmark = pytest.mark.shared


def names(pattern: str) -> list[str]:
    found = sorted(str(p.relative_to(TRACES)) for p in TRACES.glob(f"*/{pattern}.gz"))
    return found or ["absent"]


def unpack(name: str) -> bytes:
    if name == "absent":
        pytest.skip(without_shared("traces"))
    with gzip.open(TRACES / name) as file:
        return file.read(LIMIT + 1_000_000)


def trace_header(header: Header, data: bytes, at: int) -> TraceHeader:
    info = header.info
    return TraceHeader(
        struct.unpack_from("<8h", data, at),
        info.sync_qpc,
        info.frequency,
        info.pointer_size,
        info.process_id,
        info.processors,
        info.sampling_interval_ns,
    )


def descriptions(block: Metadata, data: bytes, start: int, end: int) -> list[MetadataRecord]:
    """Rows as what wrote them, with the times and threads of the blobs they came in."""
    columns, status, _ = HeaderScanner().scan(data + bytes(PADDING), start, end, 0, False)
    assert status == "done"
    found = []
    (c,) = columns
    processors = {row: processor for row, _, _, processor in c.runs.tolist()}
    for i, row in enumerate(block.rows):
        processor = -1 if processors[i] == 0xFFFFFFFF else processors[i]
        time, thread = int(c.ticks[i]), int(c.thread_ids[i])
        found.append(described(row, row.metadata_id, time=time, thread_id=thread, processor=processor))
    return found


@pytest.mark.parametrize("name", names("*.nettrace"))
def test_nettrace4_bytes_are_the_runtimes(name: str) -> None:
    data = unpack(name)
    sink = io.BytesIO()
    writer: NetTrace4Writer | None = None
    kinds = set()
    for start, end, values in blocks(data, LIMIT):
        (value,) = values
        kinds.add(type(value).__name__)
        content = data[start:end]
        if isinstance(value, Header):
            writer = NetTrace4Writer(sink, trace_header(value, data, end - 49))
            continue
        assert writer is not None
        assert writer.offset == start
        if isinstance(value, End):
            writer.end()
            assert sink.getvalue() == data
            continue
        body = start + content.index(b"Block\6") + 10
        body += -body % 4
        size, flags, first, last = struct.unpack_from("<HHqq", data, body)
        choices = Choices(compressed=bool(flags & 1), header_size=size)
        match value:
            case Events():
                writer.events(records(value, data, body + size), choices)
                times = [t for c in value.columns for t in c.ticks.tolist()]
                assert (first, last) == (min(times), max(times))
            case Metadata():
                rows = descriptions(value, data, body + size, end - 1)
                if "dotnetcore3.0-win" in name and data[body + size] & HeaderFlag.CAPTURE:
                    # .NET Core 3.0 on Windows sometimes writes the processor 0 of a block's first description.
                    first_row = [HeaderFlag.CAPTURE] + [HeaderFlag.NONE] * (len(rows) - 1)
                    choices = Choices(compressed=bool(flags & 1), header_size=size, force=first_row)
                writer.metadata(rows, choices)
            case Stacks():
                at, stacks = value.start, []
                for _ in range(value.count):
                    length = int.from_bytes(data[at : at + 4], "little")
                    stacks.append(data[at + 4 : at + 4 + length])
                    at += 4 + length
                writer.stacks(value.first_id, stacks)
            case SequencePoint():
                writer.sequence_point(value.time, dict(value.threads))
            case _:
                writer.end()
        written = bytes(sink.getbuffer()[start:])
        assert written == content, f"block of {type(value).__name__} at {start:#x}"
    assert {"Header", "Events", "Metadata"} <= kinds


@pytest.mark.parametrize("name", names("*.netperf"))
def test_netperf_bytes_are_the_runtimes(name: str) -> None:
    data = unpack(name)
    old = "objver2" in name
    sink = io.BytesIO()
    writer: NetPerf3Writer | NetPerf12Writer | None = None
    read_events = 0
    for start, end, values in blocks(data, LIMIT):
        if isinstance(values[0], Header):
            header = trace_header(values[0], data, end - 32 if old else end - 49)
            writer = NetPerf12Writer(sink, 2, header) if old else NetPerf3Writer(sink, header)
            assert sink.getvalue() == data[:end]
            continue
        assert writer is not None
        offsets = [at for value in values if isinstance(value, Events) for at in value.columns[0].offsets.tolist()]
        items: list[tuple[int, EventRecord | MetadataRecord]] = [
            *zip(offsets, netperf_records(values, data), strict=True)
        ]
        for row in (row for value in values if isinstance(value, Metadata) for row in value.rows):
            _, _, thread, time = struct.unpack_from("<iiiq", data, row.offset - 56)
            items.append((row.offset, described(row, row.metadata_id, time=time, thread_id=thread & 0xFFFFFFFF)))
        items.sort(key=lambda item: item[0])
        read_events += len(items)
        if items:
            writer.events([item for _, item in items])
            assert bytes(sink.getbuffer()[start:]) == data[start:end]
        else:
            writer.end()
            assert sink.getvalue() == data
    assert read_events

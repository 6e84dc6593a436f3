"""The same events in every generation of the container: a real NetTrace 4 trace, read and written anew."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import Rows
from clrevents.decode.stream.stream import Stream
from clrevents.encode.netperf import NetPerf3Writer, NetPerf12Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow, TraceHeader
from damage import load

GENERATIONS: Final = ("NetPerf 2", "NetPerf 3", "NetTrace 6")
_BLOCK: Final = 400


@cache
def written(generation: str, name: str = "net8-method-interop.nettrace") -> bytes:
    """The trace of that name as this generation would have it."""
    data = load(name)
    assert data is not None
    stream = Stream()
    regions = [*stream.feed(data), *stream.close()]
    assert stream.info is not None
    info = stream.info
    header = TraceHeader(sync_qpc=info.sync_qpc, frequency=info.frequency, process_id=info.process_id, processors=2)
    sink = io.BytesIO()
    if generation == "NetTrace 6":
        _nettrace6(NetTrace6Writer(sink, header), regions, stream)
    elif generation == "NetPerf 3":
        _netperf(NetPerf3Writer(sink, header), regions, stream)
    else:
        _netperf(NetPerf12Writer(sink, 2, header), regions, stream)
    return sink.getvalue()


def _described(kind: EventKind) -> MetadataRecord:
    row = kind.row
    return MetadataRecord(
        row.metadata_id, row.provider, row.id, row.version, row.name, row.keywords, row.level, row.opcode, row.fields
    )


def _records(rows: Rows, kinds: list[EventKind]) -> Iterator[tuple[EventRecord, int, bytes]]:
    """Events, each with the number of its stack and its bytes."""
    columns = zip(
        rows.kind_indexes.tolist(),
        rows.ticks.tolist(),
        rows.thread_ids.tolist(),
        rows.payloads(),
        rows.capture_threads.tolist(),
        rows.stack_ids.tolist(),
        strict=True,
    )
    for kind, time, thread, payload, capture, stack in columns:
        record = EventRecord(kinds[kind].row.metadata_id, time, thread, payload, capture)
        yield record, stack, rows.release.stacks.data(stack) or b"" if stack > 0 else b""


def _nettrace6(writer: NetTrace6Writer, regions: list[Rows], stream: Stream) -> None:
    kinds, threads, told = stream.kinds.all, set[int](), set[int]()
    for rows in regions:
        events = list(_records(rows, kinds))
        for at in range(0, len(events), _BLOCK):
            part = events[at : at + _BLOCK]
            new = {kinds[k].row.metadata_id: kinds[k] for k in rows.kind_indexes[at : at + _BLOCK].tolist()}
            fresh = [_described(kind) for number, kind in new.items() if number not in told]
            told.update(new)
            if fresh:
                writer.metadata(fresh)
            ids = {t for record, _, _ in part for t in (record.thread_id, record.capture_thread_id or 0)} - threads
            if ids:
                writer.threads(ThreadRow(t, t, 1, f"thread {t}") for t in sorted(ids))
            threads |= ids
            numbers: dict[int, int] = {}
            stacks: list[Any] = []
            for _, stack, data in part:
                if stack > 0 and stack not in numbers:
                    numbers[stack] = at + 1 + len(stacks)
                    stacks.append(data)
            if stacks:
                writer.stacks(at + 1, stacks)
            writer.events([_with_stack(record, numbers.get(stack, 0)) for record, stack, _ in part])
        writer.sequence_point(int(rows.ticks.max()))
    writer.end()


def _with_stack(record: EventRecord, number: int) -> EventRecord:
    return EventRecord(
        record.metadata_id,
        record.time,
        record.thread_id,
        record.payload,
        record.capture_thread_id,
        stack_id=number,
    )


def _netperf(writer: NetPerf3Writer | NetPerf12Writer, regions: list[Rows], stream: Stream) -> None:
    kinds, told = stream.kinds.all, set[int]()
    for rows in regions:
        events = list(_records(rows, kinds))
        for at in range(0, len(events), _BLOCK):
            part: list[EventRecord | MetadataRecord] = []
            for (record, _, data), kind in zip(
                events[at : at + _BLOCK], rows.kind_indexes[at : at + _BLOCK].tolist(), strict=True
            ):
                if record.metadata_id not in told:
                    told.add(record.metadata_id)
                    described = _described(kinds[kind])
                    part.append(described if isinstance(writer, NetPerf3Writer) else _plain(described))
                part.append(EventRecord(record.metadata_id, record.time, record.thread_id, record.payload, stack=data))
            writer.events(part)
    writer.end()


def _plain(described: MetadataRecord) -> MetadataRecord:
    """NetPerf 1 and 2 have no opcode and no arrays."""
    return MetadataRecord(
        described.metadata_id,
        described.provider,
        described.id,
        described.version,
        described.name,
        described.keywords,
        described.level,
    )


__all__ = ["GENERATIONS", "written"]

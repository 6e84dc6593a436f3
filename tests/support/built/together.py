"""Traces of several processes: real traces, each made that of one process, alone and all in one NetTrace 6 stream.

All have the same clock and the same last moment, so that what is said of a process can be the same in both.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import attrs

from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import Rows
from clrevents.decode.stream.stream import Stream
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow, TraceHeader
from stack_data import stack_data

PROCESSES: Final = (101, 202)
_BLOCK: Final = 400
_FREQUENCY: Final = 1_000_000_000
_START: Final = 1_000_000


@attrs.frozen
class _Told:
    """One event, to be written: its time since the session started, its kind and what stands in it."""

    time_ns: int
    process: int
    kind: EventKind
    thread: int
    payload: bytes
    stack: bytes


@lru_cache(maxsize=4)
def together(traces: tuple[bytes, ...], processes: tuple[int, ...] = PROCESSES) -> tuple[tuple[bytes, ...], bytes]:
    """Each trace as one of its process, and all in one."""
    told = [list(_events(data, process)) for data, process in zip(traces, processes, strict=True)]
    last = max(one.time_ns for events in told for one in events) + 1
    for events in told:
        # Of the kind that every trace has: its own first one, with a payload that nobody reads.
        events.append(attrs.evolve(events[0], time_ns=last))
    alone = tuple(_written(events, process) for events, process in zip(told, processes, strict=True))
    return alone, _written(sorted((one for events in told for one in events), key=lambda one: one.time_ns))


def _events(data: bytes, process: int) -> Iterable[_Told]:
    stream = Stream()
    regions: list[Rows] = [*stream.feed(data), *stream.close()]
    kinds = stream.kinds.all
    for rows in regions:
        columns = zip(
            stream.clock.ns_array(rows.ticks).tolist(),
            rows.kind_indexes.tolist(),
            rows.thread_ids.tolist(),
            rows.payloads(),
            rows.stack_ids.tolist(),
            strict=True,
        )
        for time, kind, thread, payload, stack in columns:
            addresses = stack_data(rows.release.stacks, stack) or b"" if stack > 0 else b""
            yield _Told(time, process, kinds[kind], thread, bytes(payload), addresses)


def _written(events: Sequence[_Told], process: int | None = None) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink, TraceHeader(sync_qpc=_START, frequency=_FREQUENCY, process_id=process, processors=2))
    kinds: dict[tuple[int, int], int] = {}
    threads: dict[tuple[int, int], int] = {}
    for at in range(0, len(events), _BLOCK):
        part = events[at : at + _BLOCK]
        new = {}
        for one in part:
            key = one.process, one.kind.index
            if key not in kinds:
                kinds[key] = len(kinds) + 1
                new[kinds[key]] = one.kind
        if new:
            writer.metadata(_described(number, kind) for number, kind in new.items())
        fresh = dict.fromkeys((one.process, one.thread) for one in part if (one.process, one.thread) not in threads)
        for key in fresh:
            threads[key] = len(threads) + 1
        if fresh:
            writer.threads(ThreadRow(threads[key], key[1], key[0], f"thread {key[1]}") for key in fresh)
        stacks = list(dict.fromkeys(one.stack for one in part if one.stack))
        numbers = {stack: at + 1 + place for place, stack in enumerate(stacks)}
        if stacks:
            writer.stacks(at + 1, stacks)
        writer.events([_record(one, kinds, threads, numbers) for one in part])
    writer.sequence_point(_START + events[-1].time_ns)
    writer.end()
    return sink.getvalue()


def _record(
    one: _Told, kinds: dict[tuple[int, int], int], threads: dict[tuple[int, int], int], stacks: dict[bytes, int]
) -> EventRecord:
    kind, thread = kinds[one.process, one.kind.index], threads[one.process, one.thread]
    return EventRecord(kind, _START + one.time_ns, thread, one.payload, stack_id=stacks.get(one.stack, 0))


def _described(number: int, kind: EventKind) -> MetadataRecord:
    row = kind.row
    return MetadataRecord(
        number, row.provider, row.id, row.version, row.name, row.keywords, row.level, row.opcode, row.fields
    )


__all__ = ["PROCESSES", "together"]

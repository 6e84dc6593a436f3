"""Traces of several processes: real traces, each made that of one process, alone and all in one NetTrace 6 stream.

All have the same clock and the same last moment, so that what is said of a process can be the same in both.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from clrevents.encode.values import TraceHeader
from plain_trace import PlainTrace, changed

PROCESSES: Final = (101, 202)
_APART: Final = 10_000
"""Numbers of kinds and threads of one process are below the next one's."""
_FREQUENCY: Final = 1_000_000_000
_START: Final = 1_000_000


@lru_cache(maxsize=4)
def together(traces: tuple[bytes, ...], processes: tuple[int, ...] = PROCESSES) -> tuple[tuple[bytes, ...], bytes]:
    """Each trace as one of its process, and all in one."""
    alone = [_of_process(PlainTrace.of(data), process) for data, process in zip(traces, processes, strict=True)]
    last = max(event.time for trace in alone for event in trace.events) + 1
    for trace in alone:
        # Of the kind that every trace has: its own first one, with a payload that nobody reads.
        trace.events.append(changed(trace.events[0], time=last))
    return tuple(trace.written("NetTrace 6") for trace in alone), _joined(alone).written("NetTrace 6")


def _of_process(trace: PlainTrace, process: int) -> PlainTrace:
    first, clock = process * _APART, trace.header
    numbers = {id: number for number, id in enumerate(dict.fromkeys(e.thread_id for e in trace.events), first)}
    events = [
        changed(
            event,
            metadata_id=first + event.metadata_id,
            time=_START + (event.time - clock.sync_qpc) * _FREQUENCY // clock.frequency,
            thread_id=numbers[event.thread_id],
        )
        for event in trace.events
    ]
    kinds = {first + number: changed(kind, metadata_id=first + number) for number, kind in trace.kinds.items()}
    threads = {number: id for id, number in numbers.items()}
    return PlainTrace(_header(process), kinds, events, dict.fromkeys(threads, process), threads)


def _joined(traces: Sequence[PlainTrace]) -> PlainTrace:
    events = sorted((event for trace in traces for event in trace.events), key=lambda event: event.time)
    kinds, processes, threads = (
        dict(ChainMap(*maps))
        for maps in zip(*((trace.kinds, trace.processes, trace.thread_ids) for trace in traces), strict=True)
    )
    return PlainTrace(_header(None), kinds, events, processes, threads)


def _header(process: int | None) -> TraceHeader:
    return TraceHeader(sync_qpc=_START, frequency=_FREQUENCY, process_id=process, processors=2)


__all__ = ["PROCESSES", "together"]

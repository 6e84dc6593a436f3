"""From when to when async events are known: nothing of a thread is missing in between, whatever was lost."""

from __future__ import annotations

import random
import struct

import pytest

import clrevents
from clrevents.schema.async_forms import FIRST_ID, HEAD, HEAD_SIZE
from clrevents.schema.registry import ASYNC
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from clrevents.trace.async_known import AsyncKnown

TIMER = 1
MS = 1_000_000
Events = set[tuple[int, int]]
"""Thread and time."""


def read(data: bytes) -> tuple[AsyncKnown | None, Events]:
    """What is known, and the sub-events that are there."""
    with clrevents.open(data) as trace:
        found = {(e.thread_id, e.time_ns) for e in trace.events(f"{ASYNC}/*") if e.id > FIRST_ID}
        return passes_of(trace).async_known, found


def is_known(known: AsyncKnown, thread: int, time: int) -> bool:
    since, until = known.span(1234, thread) or (1, 0)
    return since <= time <= until


def buffer(thread: int, times: list[int]) -> bytes:
    """Methods resumed at these times."""
    body, before = b"", times[0]
    for time in times:
        delta, more = time - before, b""
        while delta > 127:
            more += bytes((delta & 127 | 128,))
            delta >>= 7
        body += b"\x09" + more + bytes((delta,))
        before = time
    head = struct.pack(HEAD, 1, HEAD_SIZE + len(body), thread, thread, len(times), times[0], times[-1])
    return struct.pack("<I", len(head + body)) + head + body


def drawn(seed: int) -> tuple[bytes, Events]:
    """A recording in which threads and a timer write, lose, damage and leave buffers; and all that happened."""
    rng = random.Random(seed)
    happened: Events = set()
    writes: list[tuple[int, int, bytes]] = []
    for thread in (2, 3, 4):
        time, held = rng.randrange(500), list[int]()
        for _ in range(rng.randrange(1, 40)):
            time += rng.choice((1, 5, 300))
            # A full buffer is written at the next event, by the thread itself, and a little later.
            if held and rng.random() < 0.2:
                writes.append((time + 5, thread, buffer(thread, held)))
                held = []
            held.append(time)
            happened.add((thread, time * MS))
            if rng.random() < 0.1:
                time += 300
                writes.append((time - 10, TIMER, buffer(thread, held)))
                held = []
                time += 1
        if held and rng.random() < 0.5:
            writes.append((time + 300, TIMER, buffer(thread, held)))
    built = TraceBuilder(sync_qpc=0, frequency=1000)
    for time, writer, data in sorted(writes):
        built.thread(writer).at(time * MS)
        fate = rng.random()
        if fate < 0.05:
            built.lose(1)
        else:
            built.raw(ASYNC, 1, 1, data if fate > 0.1 else data[:4] + b"\xff" + data[5:])
    return built.build(), happened


def carried(times: list[int]) -> bytes:
    built = TraceBuilder(sync_qpc=1000, frequency=1000).thread(TIMER).at(50 * MS)
    return built.raw(ASYNC, 1, 1, buffer(2, times)).build()


@pytest.mark.filterwarnings("ignore::clrevents.errors.TraceWarning")
def test_nothing_is_missing_of_what_is_known() -> None:
    here = 0
    for seed in range(150):
        data, happened = drawn(seed)
        known, there = read(data)
        if known is not None:
            assert not {e for e in happened - there if is_known(known, *e)}, seed
            here += sum(is_known(known, *e) for e in there)
    assert here > 2500


def test_a_recording_without_async_events_of_its_own_says_so() -> None:
    assert read(TraceBuilder().build())[0] is None
    earlier = carried([100, 200])
    known, _ = read(earlier)
    assert known == AsyncKnown({}, 2, 0)
    with clrevents.open(earlier) as trace:
        assert trace.check().verdict == (
            "4 events; no async event was written before recording stopped: stop once the program was idle for 1.3 s"
        )
    known, _ = read(carried([1010, 1020]))
    assert known == AsyncKnown({(1234, 2): (10 * MS, 40 * MS)}, 0, 2)
    assert not known.remarks

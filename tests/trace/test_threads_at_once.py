"""Threads that read at the same time: a trace each, or the same trace, batch and events.

Without the GIL they really are at the same time: `python3.14t -m pytest tests/trace/test_threads_at_once.py`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import clrevents
from clrevents.decode.kernels.engine import COMPILED, SLOTS, given
from clrevents.decode.payload.record_reader import DirectRecords, Slots, program
from project_files import fixture

THREADS = 4


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """With the GIL, threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def said(events: Any) -> list[tuple[Any, ...]]:
    return [(e.time_ns, e.thread_id, e.name, str(e.payload)) for e in itertools.islice(events, 3000)]


def at_once(read: Callable[[], Any]) -> list[Any]:
    """What each of the threads reads."""
    ready = Barrier(THREADS)

    def one(_: int) -> Any:
        ready.wait()
        return read()

    with ThreadPoolExecutor(THREADS) as pool:
        return [*pool.map(one, range(THREADS))]


def test_a_trace_each() -> None:
    def read() -> Any:
        with clrevents.open(fixture("net8-method-interop")) as trace:
            return said(trace.events())

    expected = read()
    assert len(expected) == 3000
    assert at_once(read) == [expected] * THREADS


def test_one_trace() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:
        expected = said(trace.events())
        assert at_once(lambda: said(trace.events())) == [expected] * THREADS


def test_one_batch() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:
        batch = max(trace.batches(), key=len)
    expected = said(batch)
    assert len(expected) > 1000
    for _ in range(3):
        assert at_once(lambda: said(batch)) == [expected] * THREADS


def test_events_of_one_batch() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:
        events = [*itertools.islice(trace.events(), 3000)]
        expected = [(e.stack_id, e.process_id, e.activity_id, e.key, str(e)) for e in events]

        def read() -> Any:
            return [(e.stack_id, e.process_id, e.activity_id, e.key, str(e)) for e in events]

        assert at_once(read) == [expected] * THREADS


def test_tables_of_one_trace() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:

        def read() -> Any:
            return [{name: [*table.rows()] for name, table in tables.items()} for tables in trace.tables(rows=1000)]

        expected = read()
        assert len(expected) > 2
        assert at_once(read) == [expected] * THREADS


class One:
    __slots__ = ("a",)
    a: int


@pytest.mark.full
@pytest.mark.skipif(not COMPILED, reason="only the compiled engine reads payloads together")
def test_payloads_of_a_batch_wait_for_each_other() -> None:
    """A thread comes while the kernel is in the middle of them: here, in a part of a program that is Python."""
    others: list[Future[list[One]]] = []

    def part(number: int) -> int:
        if not others:
            others.append(pool.submit(payloads.read, 0, 2))
            with pytest.raises(TimeoutError):
                others[0].result(0.05)
        return number

    slots, one = Slots(One, ["a"]), program([SLOTS.CONVERTED, 0, 1, -1, 0, 0, 0, 0], [part], 1, 1)
    rows = (np.array(numbers, dtype=np.int64) for numbers in ([0, 0], [0, 1], [1, 2]))
    payloads = DirectRecords(b"\x07\x08", [one], [slots.shape], given(np.zeros(1, dtype=np.int64)), *rows, {})
    assert payloads.check(0) == 2
    with ThreadPoolExecutor(1) as pool:
        read = payloads.read(0, 2)
        assert [made.a for made in read] == [made.a for made in others[0].result(60)] == [7, 8]

"""What tells of waits, read once for any report: events of locks, handles and tasks, and samples.

Keeps a few columns of each, and finds the waits of a process at the end. Adds up nothing and knows no window.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from clrevents.analysis.framework.collector import Context, ReportChunk
from clrevents.analysis.framework.kept import Kept
from clrevents.analysis.gather import Gathered
from clrevents.analysis.locks.contention_spans import CONTENDED, CONTENTION_COLUMNS, ENTERED, ContentionSpans
from clrevents.analysis.sampled_states import keep_samples
from clrevents.analysis.samples import SAMPLES
from clrevents.analysis.threads.sample_runs import RunMaker
from clrevents.analysis.wait_events import WaitSpans, field_numbers, wait_spans
from clrevents.analysis.waits.known_waits import KnownWait, WaitFinder

WAIT_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
_WAITING: Final = "runtime/WaitHandleWaitStart"
_SIGNALED: Final = "runtime/WaitHandleWaitStop"
_TASK_BEGIN: Final = "tpl/TaskWaitBegin"
_TASK_END: Final = "tpl/TaskWaitEnd"
_KEPT: Final = {
    **CONTENTION_COLUMNS,
    _WAITING: (*WAIT_HEADERS, "ClrInstanceID", "WaitSource"),
    _SIGNALED: (*WAIT_HEADERS, "ClrInstanceID"),
    _TASK_BEGIN: (*WAIT_HEADERS, "TaskID", "Behavior"),
    _TASK_END: (*WAIT_HEADERS, "TaskID"),
}
WAIT_SELECTORS: Final = (*_KEPT, SAMPLES)
_SYNCHRONOUS: Final = 1
"""The behavior of a wait that blocks its thread; the other one is that of an await."""


@attrs.frozen(eq=False)
class FoundWaits:
    """The waits of a process in order of time, the threads whose stacks are those of workers of the pool, and the
    median time between two samples of a thread, 0 where there are none."""

    waits: list[KnownWait]
    workers: frozenset[int]
    period_ns: int


class WaitFeed:
    """Takes the chunks of a collector that selects `WAIT_SELECTORS`, and leaves its other events alone."""

    def __init__(self) -> None:
        self._kept = Kept()
        self._runs = RunMaker()

    def take(self, chunk: ReportChunk) -> None:
        """See the next events."""
        keep_samples(self._runs, chunk.events.get(SAMPLES))
        # What an event of another version lacks is left out.
        wanted = {
            name: found.only(np.arange(len(found)), [column for column in _KEPT[name] if column in found.table])
            for name, found in chunk.events.items()
            if name in _KEPT
        }
        self._kept.take(attrs.evolve(chunk, events=wanted))

    def found(self, context: Context, raw: bool, my_code: bool) -> FoundWaits:
        """All waits. Names are as the runtime writes them if `raw`, of the program's own methods if `my_code`."""
        events = self._kept.all(_KEPT, context.nothing)
        runs = self._runs.runs()
        finder = WaitFinder(
            context,
            ContentionSpans.of(events[CONTENDED], events[ENTERED]),
            wait_spans(events[_WAITING], events[_SIGNALED], ("ClrInstanceID", "thread_id")),
            _task_spans(events[_TASK_BEGIN], events[_TASK_END]),
            runs,
            raw,
            my_code,
        )
        return FoundWaits(finder.all(), finder.pool_workers(), runs.period_ns)


def _task_spans(begins: Gathered, ends: Gathered) -> WaitSpans:
    """Waits that block. An end alone may be that of an await, which any thread ends."""
    blocking = np.flatnonzero(field_numbers(begins, "Behavior") == _SYNCHRONOUS)
    return wait_spans(begins.only(blocking, begins.table.columns), ends, ("TaskID", "thread_id"), orphans=False)

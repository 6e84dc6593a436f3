"""The sources of waits, read once for any report: events of locks, handles and tasks, and samples.

Keeps a few columns of each, and finds the waits of a process at the end. Adds up nothing and knows no window.
"""

from __future__ import annotations

from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.shared.blocking.known_waits import KnownWait, WaitFinder
from clrevents.analysis.shared.events.contention_spans import CONTENDED, CONTENTION_COLUMNS, ENTERED, ContentionSpans
from clrevents.analysis.shared.events.gc_suspensions import StopFeed
from clrevents.analysis.shared.events.runtime_versions import VERSION_EVENTS, versions_of
from clrevents.analysis.shared.events.wait_events import TASK_BEGIN, TASK_END, task_wait_spans, wait_spans
from clrevents.analysis.shared.samples.leaf_states import tells_running
from clrevents.analysis.shared.samples.off_processor import SwitchFeed
from clrevents.analysis.shared.weights.sample_runs import (
    SAMPLER_EVENTS,
    THREAD_COLUMNS,
    RunMaker,
    ThreadEnds,
    keep_samples,
)

WAIT_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
_WAITING: Final = "runtime/WaitHandleWaitStart"
_SIGNALED: Final = "runtime/WaitHandleWaitStop"
_KEPT: Final = {
    **CONTENTION_COLUMNS,
    _WAITING: (*WAIT_HEADERS, "ClrInstanceID", "WaitSource"),
    _SIGNALED: (*WAIT_HEADERS, "ClrInstanceID"),
    TASK_BEGIN: (*WAIT_HEADERS, "TaskID", "Behavior"),
    TASK_END: (*WAIT_HEADERS, "TaskID"),
    **THREAD_COLUMNS,
}
WAIT_EVENTS: Final = tuple(_KEPT)
HIDDEN: Final = "samples of this runtime may hide waits, such as Thread.Sleep"
"""Why sums are lower bounds then, and 0 is unknown."""
WAIT_SELECTORS: Final = (*WAIT_EVENTS, *SAMPLER_EVENTS, *VERSION_EVENTS)


@frozen(eq=False)
class FoundWaits:
    """The waits of a process in order of time, the threads whose stacks are those of workers of the pool, and the
    median time between two samples of a thread, 0 where there are none. `hidden` says that samples do not show all
    waits: before .NET 5, `Thread.Sleep` may be missing from a stack."""

    waits: list[KnownWait]
    workers: frozenset[int]
    period_ns: int
    hidden: bool
    stopped_ns: int
    """How long threads were off their processors because they were stopped, for collections and for samples: no
    waits."""


class WaitFeed:
    """Takes the chunks of a collector that selects `WAIT_SELECTORS`, and leaves its other events alone.

    One that selects `WAIT_EVENTS` only gets the waits of events, and none that only samples show; one that selects
    `SWITCH` and `STOP_EVENTS` gets those that the kernel recorded instead of sampled ones.
    """

    def __init__(self) -> None:
        self._kept = Kept()
        self._runs = RunMaker()
        self._switches = SwitchFeed()
        self.versions: set[int] = set()
        """The versions of the runtime that were told."""
        self._stops = StopFeed()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        for name in VERSION_EVENTS:
            self.versions |= versions_of(chunk.events.get(name))
        keep_samples(self._runs, chunk.events)
        self._switches.take(chunk)
        self._stops.take(chunk)
        self._kept.take(narrowed(chunk, _KEPT))

    def found(self, context: Context, raw: bool, my_code: bool) -> FoundWaits:
        """All waits. Names are as the runtime writes them if `raw`, of the program's own methods if `my_code`."""
        events = self._kept.all(_KEPT, context.nothing)
        runs = self._runs.runs()
        threads = ThreadEnds(events, runs)
        finder = WaitFinder(
            context,
            ContentionSpans.of(events[CONTENDED], events[ENTERED], context, threads),
            wait_spans(events[_WAITING], events[_SIGNALED], ("ClrInstanceID", "thread_id")).in_trace(context, threads),
            task_wait_spans(events[TASK_BEGIN], events[TASK_END], context, threads),
            runs,
            self._switches.found(context),
            self._stops.found(context),
            raw,
            my_code,
        )
        hidden = runs.samples > 0 and not tells_running(context.info, self.versions, runs.managed, runs.samples)
        return FoundWaits(finder.all(), finder.pool_workers(), runs.period_ns, hidden, finder.stopped_ns)

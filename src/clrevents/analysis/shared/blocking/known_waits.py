"""All waits of a process: those recorded by events and, elsewhere, those seen in samples; and the tables of them.

Determines for each what it is for, which method blocks, and which other wait it is part of, which is not counted again.
`WaitFeed` reads them once for any report, without a window. Waits of runtime threads, and of pool workers without work,
are kept separate: they cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, Evidence
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import Stretches, grouped, heaviest
from clrevents.analysis.shared.events import event_spans
from clrevents.analysis.shared.events.gc_suspensions import StopFeed, ThreadStops
from clrevents.analysis.shared.samples.leaf_states import (
    MAIN,
    STATES,
    WAITING,
    BlockingMethods,
    ThreadState,
    tells_running,
)
from clrevents.analysis.shared.samples.off_processor import AwayWord, Switches, SwitchFeed, WhyAway, why_away
from clrevents.analysis.shared.weights import sample_runs

WaitWord: TypeAlias = Literal[
    "lock", "handle", "monitor", "task", "join", "sleep", "idle",
    "futex", "input", "output", "disk", "page_fault", "kernel",
]  # fmt: skip

MONITOR_WAIT: Final = 1
_RUNTIMES_OWN: Final = frozenset(("pool_gate", "pool_wait", "pool_io", "timer", "finalizer", "tiering"))
"""The roles of threads that wait for something to do, if no method of a program is on their stack."""
_WORDS: Final[dict[ThreadState, WaitWord]] = {
    "lock": "lock",
    "sleep": "sleep",
    "join": "join",
    "task_wait": "task",
    "pool_idle": "idle",
    "wait": "handle",
}
_BY_KERNEL: Final[dict[AwayWord, WaitWord]] = {
    **{"futex": "futex", "sleep": "sleep", "input": "input", "output": "output"},
    **{"disk": "disk", "page_fault": "page_fault", "kernel": "kernel"},
}
_LOOPS: Final = frozenset(
    (
        "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.Heartbeat.TimerLoop",
        "Microsoft.Extensions.Hosting.HostingAbstractionsHostExtensions.Run",
        "Microsoft.Extensions.Logging.Console.ConsoleLoggerProcessor.ProcessLogQueue",
        "System.Diagnostics.Metrics.AggregationManager.CollectWorker",
        "System.Diagnostics.Tracing.CounterGroup.PollForValues",
        "System.Net.Sockets.SocketAsyncEngine.EventLoop",
    )
)
"""Methods in which threads of any role do nothing but wait for what is to come, or for the end of the program."""
_MONITORS: Final = ("System.Threading.Monitor.", "System.Threading.ObjectNative.")


@define
class KnownWait:
    """One wait. `start` or `end` is None if unknown.

    `until` is its end; of one that goes on when tracing stops or its thread ends, when that was: it lasted at least so
    long.
    """

    thread: int
    kind: WaitWord
    start: int | None
    end: int | None
    evidence: Evidence
    stack_id: int
    method: str | None
    waiting_in: str | None
    until: int | None = None
    goes_on: bool = False
    """Whether it still lasts when tracing stops."""
    task_id: int | None = None
    system_call: str | None = None
    inside: WaitWord | None = None
    lasted: int | None = None
    """What the runtime measured of a wait for a lock, whose events lie up to some tenths of a millisecond beside it: so
    a wait is as long here as in the report on locks."""

    @property
    def since(self) -> int | None:
        """When it began; by what the runtime measured, where the trace has only its end."""
        if self.start is None and self.lasted is not None and self.until is not None:
            return max(self.until - self.lasted, 0)
        return self.start

    @property
    def length(self) -> int | None:
        """How long it lasted; a lower bound if it was still going on."""
        if self.lasted is not None:
            return self.lasted
        return None if self.start is None or self.until is None else self.until - self.start

    def within(self, low: int, high: int) -> int:
        """How much of that lies between two moments; what was measured is spread evenly from event to event."""
        start = self.since
        if self.until is None or start is None:
            return 0
        whole = self.until - start
        if self.lasted is None or not whole:
            return max(0, min(self.until, high) - max(start, low))
        length = self.lasted if self.start is not None else min(self.lasted, whole)
        before, after = (round(length * (min(max(m, start), self.until) - start) / whole) for m in (low, high))
        return max(0, after - before)

    @property
    def place(self) -> int:
        """Where it is in time, for sorting."""
        moment = self.start if self.start is not None else self.end
        assert moment is not None, "an event has told it"
        return moment


class WaitFinder:
    """Finds them. Needs all events and runs of samples of the process."""

    def __init__(
        self,
        context: Context,
        locks: event_spans.ContentionSpans,
        handles: event_spans.WaitSpans,
        tasks: event_spans.WaitSpans,
        runs: sample_runs.SampleRuns,
        away: Switches,
        stops: ThreadStops,
        raw: bool,
        my_code: bool,
    ) -> None:
        self._context = context
        self._runs = runs
        self._away = away
        self._stops = stops
        self.stopped_ns = 0
        sides = [locks.spans, handles, tasks]
        stacks = [spans.at_begin("stack_id").astype(np.int64) for spans in sides]
        moments = [spans.bounds()[0] for spans in sides]
        threads = [spans.thread for spans in sides]
        sampled = runs.stack_id, runs.first, runs.thread
        switched = away.stack_id, away.start, away.thread.astype(np.uint64)
        lots = [*zip(stacks, moments, threads, strict=True), sampled, switched]
        self._names = BlockingMethods.of_reading(context, lots, raw, my_code)
        states = self._names.states
        self._states = states
        self._own = np.array(
            [role >= 0 and states.roles[role] in _RUNTIMES_OWN for role in states.role.tolist()], dtype=np.bool_
        )
        self._locks, self._handles, self._tasks = locks, handles, tasks

    def all(self) -> list[KnownWait]:
        """All waits in order of time."""
        all_waits = [*self._lock_waits(), *self._handle_waits(), *self._task_waits()]
        by_thread = grouped(sorted(all_waits, key=_order), lambda wait: wait.thread)
        for waits in by_thread.values():
            _nest(waits)
        # What the kernel recorded, samples show less well.
        all_waits += self._switched(by_thread) if len(self._away) else self._sampled(by_thread)
        all_waits.sort(key=lambda wait: (wait.place, wait.thread, wait.kind))
        return all_waits

    def pool_workers(self) -> frozenset[int]:
        """The threads that a sample shows to be workers of the thread pool."""
        if "pool_worker" not in self._states.roles:
            return frozenset()
        sampled = self._names.of[self._first_run :][: len(self._runs)]
        theirs = self._states.role[sampled] == self._states.roles.index("pool_worker")
        return frozenset(self._runs.thread[theirs].tolist())

    # Events. --------------------------------------------------------------------------------------------------------

    def _lock_waits(self) -> list[KnownWait]:
        """Contentions for locks of the program."""
        native = self._locks.native.tolist()
        lock_waits = self._event_waits(self._locks.spans, 0)
        measured = zip(self._locks.duration_ns.tolist(), self._locks.ended.tolist(), strict=True)
        for wait, (lasted, known) in zip(lock_waits, measured, strict=True):
            wait.kind, wait.lasted = "lock", lasted if known else None
        return [wait for wait, not_ours in zip(lock_waits, native, strict=True) if not not_ours]

    def _handle_waits(self) -> list[KnownWait]:
        sources = self._handles.at_begin("WaitSource").tolist()
        handle_waits = self._event_waits(self._handles, len(self._locks))
        for wait, source in zip(handle_waits, sources, strict=True):
            if wait.waiting_in is None and wait.kind == "handle" and source == MONITOR_WAIT:
                wait.kind = "monitor"
        return handle_waits

    def _task_waits(self) -> list[KnownWait]:
        ids = self._tasks.either("TaskID").tolist()
        task_waits = self._event_waits(self._tasks, len(self._locks) + len(self._handles))
        for wait, task in zip(task_waits, ids, strict=True):
            wait.kind, wait.task_id = "task", task
        return task_waits

    def _event_waits(self, spans: event_spans.WaitSpans, first: int) -> list[KnownWait]:
        """Waits of one kind of event; their stacks are named from this place on."""
        begun, ended, open_ = spans.begun.tolist(), spans.ended.tolist(), spans.open.tolist()
        unended = spans.unended.tolist()
        starts, ends, threads = spans.start_ns.tolist(), spans.end_ns.tolist(), spans.thread.tolist()
        stacks = spans.at_begin("stack_id").tolist()
        reached = spans.bounds()[1].tolist()
        event_waits = []
        for at in range(len(spans)):
            start, end = starts[at] if begun[at] else None, ends[at] if ended[at] else None
            kind, waiting_in = self._kind(first + at)
            event_waits.append(
                KnownWait(
                    thread=threads[at],
                    kind=kind or "handle",
                    start=start,
                    end=end,
                    evidence="event",
                    stack_id=stacks[at],
                    method=self._names.method(first + at),
                    waiting_in=waiting_in,
                    until=reached[at] if ended[at] or unended[at] else None,
                    goes_on=open_[at],
                )
            )
        return event_waits

    def _kind(self, place: int) -> tuple[WaitWord | None, str | None]:
        """What a stack waits for, and in which method; None if no known method waits on it."""
        stack = int(self._names.of[place])
        states = self._states
        state = int(states.leaf_state[stack])
        reason = states.reasons[states.reason[stack]] if states.reason[stack] >= 0 else None
        kind = _WORDS.get(STATES[state]) if state >= 0 else None
        if kind is None:
            return None, None
        method = (self._names.method(place) or "").rpartition("!")[2].partition("(")[0]
        if method in _LOOPS or (self._own[stack] and self._names.framework_only[stack]):
            return "idle", reason
        if kind == "handle" and reason is not None and reason.startswith(_MONITORS):
            return "monitor", reason
        return kind, reason

    # Switches. ------------------------------------------------------------------------------------------------------

    def _switched(self, by_thread: dict[int, list[KnownWait]]) -> list[KnownWait]:
        """Waits that the kernel recorded and no event of the runtime covers."""
        away, first = self._away, self._first_run + len(self._runs)
        causes: dict[int, tuple[WaitWord | None, str | None, WhyAway]] = {}
        covered: dict[int, Stretches] = {}
        switched: list[KnownWait] = []
        managed = self._managed()
        columns = (away.thread.tolist(), away.start.tolist(), away.end.tolist(), away.stack_id.tolist())
        for at, (thread, start, end, stack_id) in enumerate(zip(*columns, strict=True)):
            of = int(self._names.of[first + at])
            if of not in causes:
                causes[of] = self._why(first + at)
            kind, waiting_in, why = causes[of]
            if kind is None:
                continue
            if thread not in covered:
                covered[thread] = _covered(by_thread.get(thread, []))
            left = list(covered[thread].gaps(start, end))
            nameless = waiting_in is None and why.word == "futex" and thread in managed
            if nameless and self._stops.of(thread, start, end) is not None:
                self.stopped_ns += sum(high - low for low, high in left)
                continue
            for low, high in left:
                switched.append(
                    KnownWait(
                        *(thread, kind, low, high, "event", stack_id, self._names.method(first + at), waiting_in),
                        until=high,
                        system_call=why.system_call,
                    )
                )
        return switched

    def _managed(self) -> frozenset[int]:
        """Threads that run managed code at times. Where a signal stopped it, no stack shows that."""
        switched = self._names.of[self._first_run + len(self._runs) :]
        managed_threads = self._away.thread[self._names.managed[switched]]
        return frozenset([*managed_threads.tolist(), *self._runs.thread.tolist()])

    def _why(self, place: int) -> tuple[WaitWord | None, str | None, WhyAway]:
        """What a thread waits for by the kernel, and by the methods below where these have names; None if it does not.

        Threads without managed code are the runtime's own.
        """
        stack = int(self._names.of[place])
        why = why_away(self._names.frames(stack))
        if why.state not in WAITING:
            return None, None, why
        kind, waiting_in = self._kind(place)
        if not self._names.managed[stack]:
            kind = "idle"
        return kind or _BY_KERNEL[why.word], waiting_in, why

    @property
    def _first_run(self) -> int:
        """The place of the stack of the first run."""
        return len(self._locks) + len(self._handles) + len(self._tasks)

    # Samples. -------------------------------------------------------------------------------------------------------

    def _sampled(self, by_thread: dict[int, list[KnownWait]]) -> list[KnownWait]:
        """Waits seen in samples and not recorded by events."""
        covered: dict[int, Stretches] = {}
        sample_waits: list[KnownWait] = []
        for run in self._waiting_runs():
            if run.thread not in covered:
                covered[run.thread] = _covered(by_thread.get(run.thread, []))
            for low, high in covered[run.thread].gaps(run.low, run.high):
                sampled = low <= run.first <= high or low <= run.last <= high
                if not sampled and high - low <= self._runs.period_ns:
                    # No sample lies in it: it is only the way from one sample to the next.
                    continue
                sample_waits.append(
                    KnownWait(run.thread, run.kind, low, high, "sample", run.stack_id, run.method, run.waiting_in, high)
                )
        return sample_waits

    def _waiting_runs(self) -> list[_WaitingRun]:
        """Runs of samples that show one wait, whatever the addresses in its methods are."""
        runs, count = self._runs, self._first_run
        lows, highs = (
            side.tolist() for side in sample_runs.stretches(runs, self._context.stopped_ns if len(runs) else 0)
        )
        firsts, lasts = runs.first.tolist(), runs.last.tolist()
        types, threads, stacks = runs.type.tolist(), runs.thread.tolist(), runs.stack_id.tolist()
        kinds: dict[int, tuple[WaitWord | None, str | None]] = {}
        waiting_runs: list[_WaitingRun] = []
        for at, of in enumerate(self._names.of[count:][: len(runs)].tolist()):
            if types[at] != sample_runs.EXTERNAL:
                continue
            if of not in kinds:
                kinds[of] = self._kind(count + at)
            kind, waiting_in = kinds[of]
            if kind is None:
                continue
            thread, method = threads[at], self._names.method(count + at)
            before = waiting_runs[-1] if waiting_runs else None
            same = before is not None and (before.thread, before.kind, before.method) == (thread, kind, method)
            if before is not None and same and before.high == lows[at]:
                before.high, before.last = highs[at], lasts[at]
                continue
            waiting_runs.append(
                _WaitingRun(thread, kind, method, waiting_in, stacks[at], lows[at], highs[at], firsts[at], lasts[at])
            )
        return waiting_runs


@define
class _WaitingRun:
    """Samples of a thread from `first` to `last` show one wait, which is taken to last from `low` to `high`."""

    thread: int
    kind: WaitWord
    method: str | None
    waiting_in: str | None
    stack_id: int
    low: int
    high: int
    first: int
    last: int


def _covered(waits: Sequence[KnownWait]) -> Stretches:
    """Where waits of a thread were recorded. What lost an end, and no measure tells where it was, covers nothing."""
    spans = ((wait.since, FOREVER if wait.goes_on else wait.until) for wait in waits)
    return Stretches((since, until) for since, until in spans if since is not None and until is not None)


def _order(wait: KnownWait) -> tuple[int, int]:
    """Waits around others come first."""
    since = wait.since
    return ALWAYS if since is None else since, {"lock": 1, "task": 0}.get(
        wait.kind, 2
    ) if wait.evidence == "event" else 3


def _nest(waits: Sequence[KnownWait]) -> None:
    """Mark the waits of a thread, in order of their begins, that lie in another one."""
    around: KnownWait | None = None
    for wait in waits:
        since = wait.since
        if around is not None and since is not None:
            limit = FOREVER if around.goes_on else around.until
            if limit is not None and since < limit:
                wait.inside = around.kind
                continue
        if wait.kind in ("lock", "task") and since is not None:
            around = wait


WAIT_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
_WAITING: Final = "runtime/WaitHandleWaitStart"
_SIGNALED: Final = "runtime/WaitHandleWaitStop"
_KEPT: Final = {
    **event_spans.CONTENTION_COLUMNS,
    _WAITING: (*WAIT_HEADERS, "ClrInstanceID", "WaitSource"),
    _SIGNALED: (*WAIT_HEADERS, "ClrInstanceID"),
    event_spans.TASK_BEGIN: (*WAIT_HEADERS, "TaskID", "Behavior"),
    event_spans.TASK_END: (*WAIT_HEADERS, "TaskID"),
    **sample_runs.THREAD_COLUMNS,
}
WAIT_EVENTS: Final = tuple(_KEPT)
HIDDEN: Final = "samples of this runtime may hide waits, such as Thread.Sleep"
"""Why sums are lower bounds then, and 0 is unknown."""
WAIT_SELECTORS: Final = (*WAIT_EVENTS, *sample_runs.SAMPLER_EVENTS, *event_spans.VERSION_EVENTS)


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
        self._runs = sample_runs.RunMaker()
        self._switches = SwitchFeed()
        self.versions: set[int] = set()
        """The versions of the runtime that were told."""
        self._stops = StopFeed()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self.versions |= event_spans.versions_of(chunk.events)
        sample_runs.keep_samples(self._runs, chunk.events)
        self._switches.take(chunk)
        self._stops.take(chunk)
        self._kept.take(narrowed(chunk, _KEPT))

    def finish(self, context: Context, raw: bool, my_code: bool) -> FoundWaits:
        """All waits. Names are as the runtime writes them if `raw`, of the program's own methods if `my_code`."""
        events = self._kept.all(_KEPT, context.nothing)
        runs = self._runs.runs()
        threads = sample_runs.ThreadEnds(events, runs)
        finder = WaitFinder(
            context,
            event_spans.ContentionSpans.of(
                events[event_spans.CONTENDED], events[event_spans.ENTERED], context, threads
            ),
            event_spans.wait_spans(events[_WAITING], events[_SIGNALED], ("ClrInstanceID", "thread_id")).in_trace(
                context, threads
            ),
            event_spans.task_wait_spans(events[event_spans.TASK_BEGIN], events[event_spans.TASK_END], context, threads),
            runs,
            self._switches.finish(context),
            self._stops.finish(context),
            raw,
            my_code,
        )
        hidden = runs.samples > 0 and not tells_running(context.info, self.versions, runs.managed, runs.samples)
        return FoundWaits(finder.all(), finder.pool_workers(), runs.period_ns, hidden, finder.stopped_ns)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Wait(SpanRow):
    """One wait of one thread."""

    thread_id: cells.ThreadId = column("The thread that waited.")
    kind: cells.Word = column(
        "What it waited for: `lock`, `handle`, `monitor`, `task`, `join`, `sleep` or `idle`; where the kernel recorded "
        "it and no method tells more, `futex`, `input`, `output`, `disk`, `page_fault` or `kernel`."
    )
    start_ns: cells.Ns | None = column("When the wait began; null if unknown.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column(
        "How long it lasted; null if unknown. From samples, several short waits may be one row."
    )
    open: cells.Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    evidence: cells.Word = column("`event` if recorded, `sample` if seen in samples.")
    task_wait: cells.Flag = column("Whether the thread blocks until a task is done.")
    task_id: cells.Ordinal | None = column("The task's number; null if unknown.", hidden=True)
    inside: cells.Word | None = column(
        "What the wait is part of, and so is not counted again: `lock` or `task`; usually null."
    )
    method: cells.CodeName | None = column(
        "The blocking method: the first one outside System.Threading; null if unknown."
    )
    waiting_in: cells.CodeName | None = column("The method that does the waiting for it; null if unknown.", hidden=True)
    system_call: cells.Word | None = column("The system call that it waited in; null unless the kernel recorded it.")
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class WaitKind(Row):
    """All waits of one kind, except those inside others."""

    kind: cells.Word = column("What threads waited for.")
    evidence: cells.Word = column("`event` or `sample`.")
    count: cells.Count | None = column("How many began; null for samples, which do not separate waits.")
    waited_ns: cells.DurationNs | None = column("How long all threads together waited; null if no length is known.")
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    threads: cells.Count = column("How many threads waited.")


@row
class BlockingMethod(Row):
    """A method that blocks its thread."""

    method: cells.CodeName | None = column("The method; null for stacks without names.", importance=0)
    kind: cells.Word = column("What it waits for.", importance=1)
    task_wait: cells.Flag = column("Whether it blocks until a task is done, which asynchronous code need not do.")
    evidence: cells.Word = column("`event` or `sample`.", importance=3)
    count: cells.Count | None = column(
        "How many waits began; null for samples, which do not separate waits.", importance=1
    )
    waited_ns: cells.DurationNs | None = column(
        "How long it waited, on all threads; null if no length is known.", importance=0
    )
    share: cells.Ratio | None = column(
        "Its share of all waiting in this report except `idle`; null for `idle`, or if no length is known."
    )
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    threads: cells.Count = column("How many threads waited in it.")
    waiting_in: cells.CodeName | None = column("The method that does the waiting, from one of its stacks.", hidden=True)
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row
class BlockedThread(Row):
    """A thread that waited."""

    thread_id: cells.ThreadId = column("The thread.")
    thread_name: cells.Word | None = column("Its name; null if unknown.")
    count: cells.Count | None = column("How many waits of the program began; null if some were seen only in samples.")
    waited_ns: cells.DurationNs | None = column("How long it waited; null if no length is known.")
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    method: cells.CodeName | None = column("The method that waited longest on it; null if unknown.")


@row
class WaitsFacts:
    """The facts of a report on waits."""

    sync_over_async: cells.Word | None = column(
        "The method that blocked on tasks longest and could await; null if none."
    )
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )


IDLE: Final = "idle"
_OVERRIDES: Final = ("Dispose", "Finalize", "Equals", "GetHashCode", "ToString", "Compare", "CompareTo")
_MEMBERS: Final = ("get_", "set_", "add_", "remove_", "op_")
_SYNCHRONOUS: Final = frozenset((*MAIN, *_OVERRIDES, "ctor", "cctor"))


def can_await(method: str | None) -> bool:
    """Whether a method of this name may be made asynchronous: constructors, properties and what implements synchronous
    members of the framework cannot, and nothing is gained in Main."""
    name = (method or "").partition("(")[0].rpartition(".")[2]
    return name not in _SYNCHRONOUS and not name.startswith(_MEMBERS)


class WaitTables:
    """The rows, tables and sums of the waits of one process, of those in the window."""

    def __init__(self, context: Context, waits: Sequence[KnownWait]) -> None:
        self._context = context
        self._all = waits
        window = context.window
        first = np.array([ALWAYS if wait.start is None else wait.start for wait in waits], dtype=np.int64)
        last = np.array([FOREVER if wait.until is None else wait.until for wait in waits], dtype=np.int64)
        self.waits = [wait for wait, inside in zip(waits, window.meets(first, last).tolist(), strict=True) if inside]
        self._counted = [wait for wait in self.waits if wait.inside is None]
        self.programs = [wait for wait in self._counted if wait.kind != IDLE]
        """Waits of the program itself."""
        self._low, self._high = window.low, window.high

    def rows(self) -> ReportTable[Wait]:
        """Each wait, in order of time."""
        rows = [
            Wait(
                thread_id=wait.thread,
                kind=wait.kind,
                start_ns=wait.start,
                end_ns=wait.end,
                duration_ns=wait.length,
                open=wait.goes_on,
                evidence=wait.evidence,
                task_wait=wait.kind == "task",
                task_id=wait.task_id,
                inside=wait.inside,
                method=wait.method,
                waiting_in=wait.waiting_in,
                system_call=wait.system_call,
                stack_id=wait.stack_id,
            )
            for wait in self._all
        ]
        return self._context.table(Wait, rows)

    def kinds(self) -> ReportTable[WaitKind]:
        """By kind and evidence."""
        rows = [
            WaitKind(
                kind=kind,
                evidence=evidence,
                **self._sums(waits),
                threads=_threads(waits),
            )
            for (kind, evidence), waits in grouped(self._counted, lambda wait: (wait.kind, wait.evidence)).items()
        ]
        return self._context.summed(WaitKind, event_spans.longest_first(rows))

    def methods(self) -> ReportTable[BlockingMethod]:
        """By the blocking method, idle ones last."""
        total = self.waited(self.programs)
        rows = []
        groups = grouped(self._counted, lambda wait: (wait.method, wait.kind, wait.evidence))
        for (method, kind, evidence), waits in groups.items():
            sums = self._sums(waits)
            waited = sums["waited_ns"]
            rows.append(
                BlockingMethod(
                    method=method,
                    kind=kind,
                    task_wait=kind == "task",
                    evidence=evidence,
                    **sums,
                    share=waited / total if total and kind != IDLE and waited is not None else None,
                    threads=_threads(waits),
                    waiting_in=waits[0].waiting_in,
                    stack_id=waits[0].stack_id,
                )
            )
        rows = event_spans.longest_first(rows)
        rows.sort(key=lambda row: row.kind == IDLE)
        return self._context.summed(BlockingMethod, rows)

    def threads(self) -> ReportTable[BlockedThread]:
        """By thread."""
        rows = []
        for thread, waits in grouped(self.programs, lambda wait: wait.thread).items():
            rows.append(
                BlockedThread(
                    thread_id=thread,
                    thread_name=self._context.thread_names.get(thread),
                    **self._sums(waits),
                    method=heaviest((wait.method, self._part(wait)) for wait in waits),
                )
            )
        rows = event_spans.longest_first(rows)
        return self._context.table(BlockedThread, rows, [self._context.touched(row.thread_id) for row in rows])

    def sync_over_async(self) -> str | None:
        """The method that blocked on tasks longest, of those that could await."""
        blocking = (wait for wait in self.programs if wait.kind == "task" and wait.method is not None)
        return heaviest((wait.method, self._part(wait)) for wait in blocking if can_await(wait.method))

    def count(self, waits: Iterable[KnownWait]) -> int:
        """How many count in the window: those that begin in it. In a part of a trace, what has no begin began before
        it."""
        known = [wait for wait in waits if wait.start is not None or self._context.has_start]
        return sum(self._low <= wait.place < self._high for wait in known)

    def waited(self, waits: Iterable[KnownWait]) -> int:
        """How long they lasted in the window."""
        return sum(map(self._part, waits))

    def of(self, kind: str) -> list[KnownWait]:
        """Counted waits of this kind."""
        return [wait for wait in self._counted if wait.kind == kind]

    def nested(self) -> list[KnownWait]:
        """Waits inside another wait."""
        return [wait for wait in self.waits if wait.inside is not None]

    def _sums(self, waits: Sequence[KnownWait]) -> dict[str, Any]:
        # Of samples, several short waits that follow one another look like one, and one may look like two.
        sampled = any(wait.evidence == "sample" for wait in waits)
        lengths = [wait.length for wait in waits if wait.length is not None and not sampled]
        return {
            "count": None if sampled else self.count(waits),
            "waited_ns": self.waited(waits) if any(wait.length is not None for wait in waits) else None,
            "max_ns": max(lengths) if lengths else None,
            "open": sum(wait.goes_on for wait in waits),
        }

    def _part(self, wait: KnownWait) -> int:
        return wait.within(self._low, self._high)


def _threads(waits: Sequence[KnownWait]) -> int:
    return len({wait.thread for wait in waits})

"""A sample report about what threads do: intervals from pairs of events and from samples, which tile its life.

A coarse first draft of such a report, enough to see whether the frame carries it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import NoParameters, ReportDeclaration
from clrevents.analysis.framework.model.kept import Kept
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration
from clrevents.analysis.framework.vocabulary.cells import DurationNs, Ns, StackId, ThreadId, Word
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row
from clrevents.analysis.gathering.gather import Gathered, matched

SAMPLES: Final = "sample/ThreadSample"
PAIRS: Final = {
    "lock": ("runtime/ContentionStart", "runtime/ContentionStop"),
    "wait": ("runtime/WaitHandleWaitStart", "runtime/WaitHandleWaitStop"),
}
"""The states that begin and end with an event, the strongest first."""
FRAMES: Final = (
    ("sleep", ("Thread.Sleep",)),
    ("join", ("Thread.Join",)),
    ("lock", ("Monitor.Enter", "Lock.")),
    ("wait", ("Monitor.Wait", "WaitHandle.", "ManualResetEventSlim.Wait", "SemaphoreSlim.Wait", "Semaphore.Wait")),
)
"""What the innermost frames of a thread outside managed code say."""
_LOOKED: Final = 8
_PERIODS: Final = 3


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Interval(SpanRow):
    """A thread in one state."""

    thread_id: ThreadId = column("The thread.")
    start_ns: Ns = column("When the state began.")
    end_ns: Ns = column("When it ended.")
    state: Word = column("What the thread did.")
    evidence: Word = column("`event` or `sample`.")
    stack_id: StackId = column("The stack of the sample that tells it.", hidden=True)


@row
class ThreadTime(Row):
    """A thread and its time."""

    thread_id: ThreadId = column("The thread.")
    life_ns: DurationNs = column("From its first to its last sample, within the window.")
    running_ns: DurationNs = column("In managed code.")
    native_ns: DurationNs = column("In calls out of managed code that are none of the others.")
    lock_ns: DurationNs | None = column("Waiting for a lock; null if methods that wait have no names.")
    wait_ns: DurationNs | None = column("Waiting for anything else; null if methods that wait have no names.")
    sleep_ns: DurationNs | None = column("Sleeping; null if methods that wait have no names.")
    join_ns: DurationNs | None = column("Waiting for the end of a thread; null if methods that wait have no names.")
    unknown_ns: DurationNs = column("Without a sample for long.")


@row
class StateFacts:
    """Circumstances."""

    period_ns: DurationNs | None = column("The median time between two samples of a thread.")


@answer(name="states")
class StateReport(Answer[StateFacts]):
    """What each thread did."""

    threads: ReportTable[ThreadTime] = table("Sums by thread.")
    intervals: ReportTable[Interval] = table("Each thread's time, without gaps.", bulk=True)


class States(Collector[StateReport]):
    """Keeps samples and the ends of pairs; everything else is for the end, because names are."""

    selectors = (SAMPLES, *(name for pair in PAIRS.values() for name in pair))
    stacks = True

    def __init__(self, parameters: NoParameters) -> None:
        self.kept = Kept(dict.fromkeys(self.selectors[1:], ("time_ns", "thread_id")))

    def take(self, chunk: ReportChunk) -> None:
        self.kept.take(chunk)

    def finish(self, context: Context) -> StateReport:
        rows = self.kept.all(self.selectors, context.nothing)
        samples = rows[SAMPLES]
        times, threads = samples.numbers("time_ns"), samples.numbers("thread_id")
        period = _period(times, threads)
        told = self.told(rows)
        found: list[tuple[Any, ...]] = []
        states = _States(context, samples)
        for thread in np.unique(threads).tolist():
            mine = np.flatnonzero(threads == thread)
            pieces = _held(times[mine].tolist(), [states.at(place) for place in mine.tolist()], period)
            found += [(thread, *piece) for piece in _overlaid(pieces, told.get(thread, []))]
        columns: dict[str, Any] = {
            name: [values[place] for values in found]
            for place, name in enumerate(("thread_id", "start_ns", "end_ns", "state", "evidence", "stack_id"))
        }
        intervals = context.table(Interval, columns)
        made: StateReport = context.answer(
            StateReport,
            facts=StateFacts(period_ns=period),
            metrics={"life": int(context.overlap(intervals).sum())},
            threads=self.sums(context, intervals),
            intervals=intervals,
        )
        return made

    def told(self, rows: dict[str, Gathered]) -> dict[int, list[tuple[int, int, str]]]:
        """What pairs of events say, by thread: begin, end and state, the weakest first."""
        found: dict[int, list[tuple[int, int, str]]] = {}
        for state, (begin, end) in reversed(PAIRS.items()):
            first, second = matched([rows[begin]], [rows[end]], ("thread_id",))
            columns = (
                rows[begin].numbers("thread_id")[first],
                rows[begin].numbers("time_ns")[first],
                rows[end].numbers("time_ns")[second],
            )
            for thread, start, stop in zip(*(values.tolist() for values in columns), strict=True):
                found.setdefault(thread, []).append((start, stop, state))
        return found

    def sums(self, context: Context, intervals: ReportTable[Interval]) -> ReportTable[ThreadTime]:
        spent: dict[int, Counter[str]] = {}
        lossy = set()
        for one, inside in zip(intervals, context.overlap(intervals).tolist(), strict=True):
            spent.setdefault(one.thread_id, Counter())[one.state] += inside
            if one.lossy:
                lossy.add(one.thread_id)
        states = [
            name.removesuffix("_ns") for name in ThreadTime.__annotations__ if name not in ("thread_id", "life_ns")
        ]
        columns: dict[str, Any] = {f"{state}_ns": [of[state] for of in spent.values()] for state in states}
        if not context.methods.complete:
            for name in ("lock_ns", "wait_ns", "sleep_ns", "join_ns"):
                columns[name] = [took or None for took in columns[name]]
        columns["life_ns"] = [of.total() for of in spent.values()]
        return context.table(ThreadTime, {"thread_id": [*spent], "lossy": [t in lossy for t in spent], **columns})


class _States:
    """What samples say, each stack looked at once."""

    def __init__(self, context: Context, samples: Gathered) -> None:
        self.context = context
        self.kinds = samples.numbers("Type").tolist()
        self.stacks = samples.numbers("stack_id").tolist()
        self.known: dict[int, str] = {}

    def at(self, place: int) -> tuple[str, int]:
        stack = self.stacks[place]
        if self.kinds[place] == 2:
            return "running", stack
        if stack not in self.known:
            addresses = self.context.stacks[stack][:_LOOKED]
            process = self.context.process_id
            names = [str(self.context.methods.at(address, process_id=process)) for address in addresses]
            told = (state for state, parts in FRAMES for name in names if any(part in name for part in parts))
            self.known[stack] = next(told, "native")
        return self.known[stack], stack


def _period(times: Any, threads: Any) -> int | None:
    gaps = [np.diff(times[threads == thread]) for thread in np.unique(threads)]
    every = np.concatenate(gaps) if gaps else np.zeros(0, dtype=np.int64)
    return int(np.median(every)) if len(every) else None


def _held(times: list[int], states: list[tuple[str, int]], period: int | None) -> list[tuple[int, int, str, str, int]]:
    """A state holds to the next sample of the same, to the middle before another, and not through a long gap."""
    found = []
    pairs = zip(times, times[1:], states, states[1:], strict=False)
    for low, high, (state, stack), (other, next_stack) in pairs:
        if period is not None and high - low > _PERIODS * period:
            found.append((low, high, "unknown", "sample", 0))
        elif state == other:
            found.append((low, high, state, "sample", stack))
        else:
            middle = (low + high) // 2
            found.append((low, middle, state, "sample", stack))
            found.append((middle, high, other, "sample", next_stack))
    return found


def _overlaid(
    pieces: list[tuple[int, int, str, str, int]], told: list[tuple[int, int, str]]
) -> list[tuple[int, int, str, str, int]]:
    """The pieces with what events say put over them; equal neighbours become one."""
    for start, end, state in told:
        cut = []
        for low, high, *rest in pieces:
            inner_low, inner_high = max(low, start), min(high, end)
            if inner_low >= inner_high:
                cut.append((low, high, *rest))
                continue
            if low < inner_low:
                cut.append((low, inner_low, *rest))
            cut.append((inner_low, inner_high, state, "event", 0))
            if inner_high < high:
                cut.append((inner_high, high, *rest))
        pieces = cut
    joined: list[tuple[int, int, str, str, int]] = []
    for piece in pieces:
        if piece[0] == piece[1]:
            continue
        if joined and joined[-1][2:4] == piece[2:4]:
            joined[-1] = (joined[-1][0], piece[1], *joined[-1][2:])
        else:
            joined.append(piece)
    return joined


REPORT: Final = ReportDeclaration(
    StateReport,
    "What did the threads do?",
    "waiting",
    (
        Need("samples", ("ThreadSample",), 0, provider="Microsoft-DotNETCore-SampleProfiler", essential=True),
        Need("contention", ("ContentionStart",), 0x4000),
    ),
    (MetricDeclaration("life", "ns", "The time of all threads between their first and last samples."),),
    States,
    NoParameters,
    in_part={"*": "unknown"},
)

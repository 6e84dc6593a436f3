"""The rows of the report, and contentions → these: by lock, method, thread and owner, what holders did, deadlocks.

Sums are made of the contentions in the window; who held a lock and which convoys there are, of the whole trace. A
convoy is a period in which several threads wait for one lock most of the time, and take it in turn. A deadlock is a
cycle of threads that waited when tracing stopped: a lock's holder is known from its last event, and a waiting thread
releases no lock, so a cycle cannot have ended before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.declaration import StackParameters
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, TimeWindow
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import (
    Ints,
    Mask,
    Stretches,
    grouped,
    groups,
    heaviest,
    most_at_once,
    nearest_rank,
    nulled,
    numbered,
)
from clrevents.analysis.gathering.merged_stacks import is_own
from clrevents.analysis.shared.events.event_spans import ContentionSpans, Holding, holdings, lock_numbers, longest_first
from clrevents.analysis.shared.samples.leaf_states import STATES, BlockingMethods
from clrevents.analysis.shared.samples.off_processor import Switches
from clrevents.analysis.shared.weights.sample_runs import EXTERNAL, SampleRuns, stretches

_OPEN: Final = (
    "How many waits were still going on when tracing stopped; if any, times are lower bounds. Null if unknown."
)


@row(since="start_ns", threads=("thread_id", "owner_thread_id"))
class DeadlockedThread(Row):
    """A thread in a deadlock: it waited for a lock until tracing stopped, and so did the thread that held it."""

    deadlock: cells.Ordinal = column(
        "Which deadlock: rows with the same number form one cycle, in the order of who waits for whom."
    )
    thread_id: cells.ThreadId = column("The thread that waited.")
    lock_id: cells.Handle = column("The lock that it waited for.")
    owner_thread_id: cells.ThreadId = column("The thread that held the lock, and waited in the same deadlock.")
    start_ns: cells.Ns = column("When the thread began to wait.")
    waited_ns: cells.DurationNs = column("How long it had waited when tracing stopped.")
    method: cells.CodeName | None = column("The method that waited; null if unknown.")
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class ContendedLock(Row):
    """One lock."""

    lock_id: cells.Handle | None = column(
        "The runtime's id of the lock; null for all locks whose id was not recorded, taken together."
    )
    native: cells.Flag = column("A lock of the runtime itself, not of the program.", importance=3)
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column(
        "How long all threads together waited; null if no length is known.", importance=0
    )
    away_ns: cells.DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: cells.Ratio | None = column("Its share of all waiting of its kind, native or not; null if that is 0.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN, importance=3)
    threads: cells.Count = column("How many threads waited.")
    most_waiters: cells.Count | None = column("The most threads that waited at once; null if the lock is unknown.")
    method: cells.CodeName | None = column("The method that waited longest; null if unknown.", importance=0)
    holder: cells.CodeName | None = column(
        "The method that held the lock longest while others waited, in the whole trace; null without samples.",
        importance=1,
    )
    clr_instance_id: cells.Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Contention(SpanRow):
    """One wait of a thread for a lock that another thread holds."""

    lock_id: cells.Handle | None = column("The runtime's id of the lock; null if the event does not tell it.")
    native: cells.Flag = column("A lock of the runtime itself, not of the program.")
    thread_id: cells.ThreadId = column("The thread that waited.")
    owner_thread_id: cells.ThreadId | None = column(
        "The thread that held the lock when the wait began; null if unknown."
    )
    start_ns: cells.Ns | None = column("When the wait began; null if unknown.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column("How long it lasted, as the runtime measured it; null if unknown.")
    away_ns: cells.DurationNs | None = column(
        "How long it was off the processor from start to end; null unless the kernel recorded it.", importance=3
    )
    open: cells.Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    method: cells.CodeName | None = column("The method that waited; null if unknown.")
    owner_method: cells.CodeName | None = column(
        "What the owner did meanwhile, from a sample in between or equal ones before and after; null without these."
    )
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)
    owner_stack_id: cells.StackId | None = column("The stack of `owner_method`.", hidden=True)
    clr_instance_id: cells.Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row
class WaitingMethod(Row):
    """A method that waited for locks: the first one of the stack outside System.Threading."""

    method: cells.CodeName | None = column("The method; null for stacks without names.")
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column("How long it waited, on all threads; null if no length is known.")
    share: cells.Ratio | None = column("Its share of all waiting; null if that is 0.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN)
    threads: cells.Count = column("How many threads waited.")
    locks: cells.Count = column("How many locks it waited for; all unknown ones count as one.")
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row
class WaitingThread(Row):
    """A thread that waited for locks."""

    thread_id: cells.ThreadId = column("The thread.")
    thread_name: cells.Word | None = column("Its name; null if unknown.")
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column("How long it waited; null if no length is known.")
    away_ns: cells.DurationNs | None = column(
        "How long it was off the processor meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: cells.Ratio | None = column("Its share of all waiting; null if that is 0, or where events are missing.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN)


@row
class LockOwner(Row):
    """A thread that others waited for."""

    lock_id: cells.Handle | None = column("The lock; null if not recorded.")
    owner_thread_id: cells.ThreadId | None = column(
        "The thread that held it when others began to wait; null if unknown."
    )
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column(
        "How long the threads waited that found it held by this owner, though others may have held it later; null if "
        "no length is known."
    )
    open: cells.Count | None = column(_OPEN)
    owner_method: cells.CodeName | None = column(
        "What it was seen doing most often when they began; null without a sample."
    )


@row
class LockHolder(Row):
    """What was done while a lock was held and others waited for it, from samples."""

    lock_id: cells.Handle | None = column("The lock.")
    held_ns: cells.DurationNs = column("How long samples show this stack, while others waited.")
    share: cells.Ratio | None = column("Its share of what samples show of this lock; null if that is 0.")
    threads: cells.Count = column("How many threads were seen doing this.")
    method: cells.CodeName | None = column(
        "The method that held the lock, or one it had called: the innermost one outside System.Threading."
    )
    doing: cells.CodeName | None = column("The innermost method.")
    taken_in: cells.CodeName | None = column(
        "The method that took the lock: the innermost that others were seen entering it in; else the outermost that "
        "all stacks of its holders share and that ends when they let go. Null if there is none.",
        hidden=True,
    )
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row(span=("start_ns", "end_ns"))
class Convoy(SpanRow):
    """A period in which threads waited for one lock in turn, most of the time several at once."""

    lock_id: cells.Handle | None = column("The lock; null if not recorded: then the waiting method stands for it.")
    start_ns: cells.Ns = column("When the first one began to wait.")
    end_ns: cells.Ns = column("When the last one ended.")
    count: cells.Count = column("How many contentions there were.")
    threads: cells.Count = column("How many threads waited.")
    most_waiters: cells.Count = column("The most threads that waited at once.")
    waited_ns: cells.DurationNs = column("How long they waited in total.")
    away_ns: cells.DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    crowded_ns: cells.DurationNs = column("How long at least two waited at once.")
    max_ns: cells.DurationNs = column("The longest wait.")
    handovers: cells.Count = column("How often one that had waited was next to hold the lock, as far as recorded.")
    evidence: cells.Word = column("`event` if the lock and its owners were recorded, otherwise `inferred`.")
    method: cells.CodeName | None = column("The method that waited longest; null if unknown.")
    owner_method: cells.CodeName | None = column("What was done longest while the lock was held; null without samples.")


@row
class LocksFacts:
    """The facts of a report on locks."""

    deadlock: cells.CodeText | None = column("Which threads are in the first deadlock; null if there is none.")
    locks_told: cells.Flag | None = column(
        "Whether it was recorded which lock threads waited for; null without contentions."
    )
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )


_LONG: Final = 4
"""A wait of this many periods of the profiler has samples."""


_LEFT: Final = 1.2
"""A method is on the stack while a lock is held only, if it is there little longer than what it calls meanwhile."""
_NEARLY_ALL: Final = 0.9
"""What part of the time in which a lock is held a method is on the stack that took it."""
FEWEST_THREADS: Final = 3
"""The fewest threads in a convoy, waiting in turn."""
FEWEST_HANDOVERS: Final = 2
"""How often, at least, a thread that had waited was seen to hold the lock for which others then waited."""
WAKING_NS: Final = 1_000_000
"""How long, at most, a thread takes to wake that a lock is handed over to."""


@frozen
class LockWait:
    """One contention; `row` is its place in a table. An owner of 0 is unknown."""

    row: int
    thread: int
    owner: int
    start_ns: int
    end_ns: int
    ended: bool


@frozen
class ConvoyFound:
    """One convoy: which contentions it has, and what makes it one."""

    waits: tuple[LockWait, ...]
    start_ns: int
    end_ns: int
    threads: int
    most_waiters: int
    crowded_ns: int
    handovers: int


def convoys(waits: Sequence[LockWait], owners_told: bool) -> list[ConvoyFound]:
    """The convoys on one lock. Without owners, threads that wait again stand for those that had held it in between."""
    convoys_of_lock = []
    for stretch in _stretches(sorted(waits, key=lambda wait: (wait.start_ns, wait.end_ns))):
        covered, crowded, most = _crowding(stretch)
        threads = len({wait.thread for wait in stretch})
        handovers = _handovers(stretch) if owners_told else _returns(stretch)
        if threads < FEWEST_THREADS or handovers < FEWEST_HANDOVERS or 2 * crowded <= covered:
            continue
        start, end = stretch[0].start_ns, max(wait.end_ns for wait in stretch)
        convoys_of_lock.append(ConvoyFound(tuple(stretch), start, end, threads, most, crowded, handovers))
    return convoys_of_lock


def _stretches(waits: Sequence[LockWait]) -> list[list[LockWait]]:
    """Waits that overlap, or that lie closer together than what is waited before and after the gap between them.

    So waits cover more than half of each stretch.
    """
    unions: list[tuple[int, int, list[LockWait]]] = []
    for wait in waits:
        if unions and wait.start_ns <= unions[-1][1]:
            low, high, group = unions[-1]
            group.append(wait)
            unions[-1] = (low, max(high, wait.end_ns), group)
        else:
            unions.append((wait.start_ns, wait.end_ns, [wait]))
    groups: list[list[LockWait]] = []
    covered = reached = 0
    for low, high, group in unions:
        if groups and low - reached < min(covered, high - low):
            groups[-1] += group
            covered += high - low
        else:
            groups.append(group)
            covered = high - low
        reached = high
    return groups


def _crowding(waits: Sequence[LockWait]) -> tuple[int, int, int]:
    """How long at least one waited, how long at least two did, and how many did at most."""
    steps = sorted([(wait.start_ns, 1) for wait in waits] + [(wait.end_ns, -1) for wait in waits])
    covered = crowded = waiting = most = 0
    since = 0
    for time, step in steps:
        covered += time - since if waiting >= 1 else 0
        crowded += time - since if waiting >= 2 else 0
        waiting += step
        most, since = max(most, waiting), time
    return covered, crowded, most


def _handovers(waits: Sequence[LockWait]) -> int:
    """How many begins found a thread owning the lock that had waited for it in this stretch, each wait once.

    A lock without an owner is just being handed over: to the thread whose wait ends next, if that is at once.
    """
    done: dict[int, int] = {}
    counted: set[tuple[int, int]] = set()
    ends = sorted((wait.end_ns, wait.thread) for wait in waits if wait.ended)
    place = 0
    for wait in waits:
        while place < len(ends) and ends[place][0] <= wait.start_ns:
            done[ends[place][1]] = ends[place][0]
            place += 1
        if wait.owner in done:
            counted.add((wait.owner, done[wait.owner]))
        elif not wait.owner and place < len(ends):
            end, thread = ends[place]
            if end - wait.start_ns <= WAKING_NS and thread != wait.thread:
                counted.add((thread, end))
    return len(counted)


def _returns(waits: Sequence[LockWait]) -> int:
    """How many begins are of a thread that had waited in this stretch, while others still wait."""
    ends = sorted((wait.end_ns, wait.thread) for wait in waits)
    done: set[int] = set()
    count = place = 0
    for begun, wait in enumerate(waits):
        while place < len(ends) and ends[place][0] <= wait.start_ns:
            done.add(ends[place][1])
            place += 1
        count += wait.thread in done and begun > place
    return count


def deadlocks(contentions: ContentionSpans, locks: Ints) -> list[list[tuple[int, int]]]:
    """Each deadlock: its contentions and the owners for which they wait, in the order of who waits for whom.

    `locks` are numbers of the locks, one for each contention.
    """
    waits = np.flatnonzero(contentions.spans.open & ~contentions.native & (contentions.lock != 0)).tolist()
    owners = _owners(contentions, locks) if len(waits) > 1 else {}
    waits_of = {int(contentions.thread[row]): row for row in waits}
    blocked_by = {thread: owners.get(int(locks[row]), 0) for thread, row in waits_of.items()}
    circles, done = [], set[int]()
    for thread in blocked_by:
        way: list[int] = []
        while thread in blocked_by and thread not in done:
            done.add(thread)
            way.append(thread)
            thread = blocked_by[thread]
        if thread in way and way[-1] != thread:
            circle = way[way.index(thread) :]
            circles.append([(waits_of[one], blocked_by[one]) for one in circle])
    return circles


def _owners(contentions: ContentionSpans, locks: Ints) -> Mapping[int, int]:
    """The last known owner of each lock, 0 where that is unknown."""
    spans = contentions.spans
    begun, ended = np.flatnonzero(spans.begun), np.flatnonzero(spans.ended)
    times = np.concatenate((spans.start_ns[begun], spans.end_ns[ended]))
    rows, owners = np.concatenate((begun, ended)), np.concatenate((contentions.owner[begun], contentions.thread[ended]))
    order = np.argsort(times, kind="stable")
    return dict(zip(locks[rows[order]].tolist(), owners[order].tolist(), strict=True))


_FEW: Final = 8
"""So many runs are looked at one by one."""


@frozen
class HeldLock:
    """Who held a lock while others waited, with the runs of samples meanwhile: those from `first` to before `last`, of
    `every` run of the thread."""

    holding: Holding
    first: int
    last: int
    every: range


class HeldRuns:
    """Who held which lock while others waited: `all`, and by lock.

    `low` and `high` are from when to when each run is taken to last.
    """

    def __init__(self, contentions: ContentionSpans, runs: SampleRuns, low: Ints, high: Ints) -> None:
        self._low, self._high = low.tolist(), high.tolist()
        bounds: dict[int, tuple[int, int]] = {}
        for thread in set(contentions.owner.tolist()) | set(contentions.thread.tolist()):
            first, last = (int(np.searchsorted(runs.thread, np.uint64(thread), side=s)) for s in ("left", "right"))
            bounds[thread] = first, last
        self.all: list[HeldLock] = []
        self.by_lock: dict[int, list[HeldLock]] = {}
        for holding in holdings(contentions):
            begin, end = bounds[holding.thread]
            # Those that have a sample meanwhile.
            first = begin + int(np.searchsorted(runs.last[begin:end], holding.start_ns, side="left"))
            last = begin + int(np.searchsorted(runs.first[begin:end], holding.end_ns, side="left"))
            one = HeldLock(holding, first, max(first, last), range(begin, end))
            self.all.append(one)
            self.by_lock.setdefault(holding.lock, []).append(one)

    def labelled(self, labels: Ints) -> LabelledRuns:
        """The runs with a label each."""
        return LabelledRuns(labels.tolist(), self._low, self._high)


class LabelledRuns:
    """How long holders were seen with each label of their runs.

    One thread may hold very many locks for as many runs: those that lie in a holding as a whole are added up once.
    """

    def __init__(self, labels: list[int], low: list[int], high: list[int]) -> None:
        self._labels, self._low, self._high = labels, low, high
        self._of_thread: dict[range, dict[int, tuple[list[int], list[int]]]] = {}

    def took(self, one: HeldLock, start: int, end: int) -> list[tuple[int, int, int]]:
        """Between two moments: label, time, and the first run with it, in order of these."""
        low, high = max(one.holding.start_ns, start), min(one.holding.end_ns, end)
        first = bisect_right(self._high, low, one.first, one.last)
        last = bisect_left(self._low, high, first, one.last)
        by_label: dict[int, tuple[int, int]] = {}
        whole = range(first + 1, last - 1)
        sums = self._sums(one.every) if len(whole) > _FEW else {}
        for run in (first, *(() if sums else whole), last - 1) if last - first > 1 else range(first, last):
            took = min(self._high[run], high) - max(self._low[run], low)
            if took > 0:
                before = by_label.get(self._labels[run], (0, run))
                by_label[self._labels[run]] = before[0] + took, before[1]
        for label, (runs, until) in sums.items():
            begin, end = bisect_left(runs, whole.start), bisect_left(runs, whole.stop)
            if took := until[end] - until[begin]:
                before = by_label.get(label, (0, runs[begin]))
                by_label[label] = before[0] + took, min(before[1], runs[begin])
        return sorted(((label, took, run) for label, (took, run) in by_label.items()), key=lambda row: row[2])

    def _sums(self, every: range) -> dict[int, tuple[list[int], list[int]]]:
        """By label, the runs of a thread that have it, and how long those before each of them took."""
        known = self._of_thread.get(every)
        if known is None:
            known = self._of_thread[every] = {}
            for run in every:
                runs, until = known.setdefault(self._labels[run], ([], [0]))
                runs.append(run)
                until.append(until[-1] + max(self._high[run] - self._low[run], 0))
        return known


def entering(
    window: TimeWindow, waits: Iterable[LockWait], stretches: Sequence[tuple[int, int, int]]
) -> tuple[int, int]:
    """How long stretches (thread, begin, end) are within a window, and how much of that is outside any wait of the
    thread."""
    by_thread = {
        thread: Stretches((wait.start_ns, wait.end_ns) for wait in own)
        for thread, own in grouped(waits, lambda wait: wait.thread).items()
    }
    total = inside = 0
    for thread, start, end in stretches:
        low, high = max(start, window.low), min(end, window.high)
        if high <= low:
            continue
        total += high - low
        inside += by_thread[thread].total(low, high) if thread in by_thread else 0
    return total, total - inside


class LockTables:
    """All tables of one process."""

    def __init__(
        self, context: Context, contentions: ContentionSpans, runs: SampleRuns, away: Switches, asked: StackParameters
    ) -> None:
        self._context = context
        self._away = away
        self.contended = contentions
        self.runs = runs
        self.run_low, self.run_high = stretches(runs, context.stopped_ns if len(runs) else 0)
        spans = contentions.spans
        self.stacks = spans.at_begin("stack_id").astype(np.int64)
        # Once, for each lock, thread and method asks about its own rows.
        self._bounds = starts, ends = spans.bounds()
        self._open = spans.open
        lots = [(self.stacks, starts, spans.thread), (runs.stack_id, runs.first, runs.thread)]
        self._names = BlockingMethods.of_reading(context, lots, asked.raw, asked.my_code)
        self._numbers = lock_numbers(contentions)
        self._holder_runs = HeldRuns(contentions, runs, self.run_low, self.run_high)
        window = context.window
        first = np.where(spans.begun, starts, ALWAYS)
        last = np.where(spans.ended | spans.unended, ends, FOREVER)
        self.inside = np.asarray(window.meets(first, last))
        # In a part of a trace, what has no begin began before it.
        self.begun = np.asarray(window.holds(starts) & (spans.begun | context.has_start))
        self.waited = contentions.waited(window)

    # Rows. ----------------------------------------------------------------------------------------------------------

    def contentions(self) -> ReportTable[Contention]:
        """Each contention, in order of time."""
        contentions, spans = self.contended, self.contended.spans
        owner_runs = self._next_samples.tolist()
        shift = len(contentions)
        return self._context.table(
            Contention,
            {
                "lock_id": nulled(contentions.lock, contentions.lock != 0),
                "native": contentions.native,
                "thread_id": contentions.thread,
                "owner_thread_id": nulled(contentions.owner, contentions.owner != 0),
                "start_ns": nulled(spans.start_ns, spans.begun),
                "end_ns": nulled(spans.end_ns, spans.ended),
                "duration_ns": nulled(contentions.duration_ns, contentions.duration_known),
                "away_ns": self._away_whole,
                "open": self._open,
                "method": [self._names.method(row) for row in range(len(contentions))],
                "owner_method": [None if run < 0 else self._names.method(shift + run) for run in owner_runs],
                "stack_id": self.stacks.astype(np.int32),
                "owner_stack_id": [None if run < 0 else int(self.runs.stack_id[run]) for run in owner_runs],
                "clr_instance_id": contentions.instance,
            },
        )

    def deadlocks(self) -> ReportTable[DeadlockedThread]:
        """The threads of each deadlock that reaches into the window."""
        contentions, window, rows = self.contended, self._context.window, []
        circles = deadlocks(contentions, self._numbers)
        starts = [max(int(contentions.spans.start_ns[row]) for row, _ in circle) for circle in circles]
        lasting = [circle for circle, since in zip(circles, starts, strict=True) if since < window.high]
        if circles and window.low >= self._context.known_ns:
            lasting = []
        for number, circle in enumerate(lasting, 1):
            for place, owner in circle:
                rows.append(
                    DeadlockedThread(
                        deadlock=number,
                        thread_id=int(contentions.thread[place]),
                        lock_id=int(contentions.lock[place]),
                        owner_thread_id=owner,
                        start_ns=int(contentions.spans.start_ns[place]),
                        waited_ns=int(contentions.duration_ns[place]),
                        method=self._names.method(place),
                        stack_id=int(self.stacks[place]),
                    )
                )
        return self._context.table(DeadlockedThread, rows)

    def locks(self) -> ReportTable[ContendedLock]:
        """By lock, native ones last, longest wait first."""
        rows = []
        for _, places in groups(self._numbers, np.flatnonzero(self.inside)):
            row = places[0]
            rows.append(
                ContendedLock(
                    lock_id=int(self.contended.lock[row]) or None,
                    native=bool(self.contended.native[row]),
                    **self._sums(places),
                    threads=len(set(self.contended.thread[places].tolist())),
                    most_waiters=self._most(places) if self.contended.lock[row] else None,
                    method=self._longest_method(places),
                    holder=self._held_method(int(self._numbers[row]), ALWAYS, FOREVER),
                    clr_instance_id=int(self.contended.instance[row]),
                )
            )
        return self._context.summed(ContendedLock, sorted(longest_first(rows), key=lambda row: row.native))

    def methods(self) -> ReportTable[WaitingMethod]:
        """By the method that waited."""
        numbers, texts = numbered(self._names.method(row) for row in range(len(self.contended)))
        rows = []
        for number, places in groups(numbers, np.flatnonzero(self._managed)):
            threads, locks = set(self.contended.thread[places].tolist()), set(self._numbers[places].tolist())
            sums = self._sums(places)
            del sums["away_ns"]
            rows.append(
                WaitingMethod(
                    method=texts[number],
                    **sums,
                    threads=len(threads),
                    locks=len(locks),
                    stack_id=int(self.stacks[places[0]]),
                )
            )
        return self._context.summed(WaitingMethod, longest_first(rows))

    def threads(self) -> ReportTable[WaitingThread]:
        """By the thread that waited."""
        rows = []
        for _, places in groups(self.contended.thread, np.flatnonzero(self._managed)):
            thread, sums = int(self.contended.thread[places[0]]), self._sums(places)
            if self._context.touched():
                # What all threads waited is unknown then, what one waited may be known.
                sums["share"] = None
            name = self._context.thread_names.get(thread)
            rows.append(WaitingThread(thread_id=thread, thread_name=name, **sums))
        rows = longest_first(rows)
        lossy = [self._context.touched(row.thread_id) for row in rows]
        return self._context.table(WaitingThread, rows, lossy)

    def owners(self) -> ReportTable[LockOwner]:
        """By lock and the owner at the begin."""
        numbers, _ = numbered(zip(self._numbers.tolist(), self.contended.owner.tolist(), strict=True))
        rows = []
        for _, places in groups(numbers, np.flatnonzero(self._managed)):
            runs = (run for run in self._next_samples[places].tolist() if run >= 0)
            sums = self._sums(places)
            rows.append(
                LockOwner(
                    lock_id=int(self.contended.lock[places[0]]) or None,
                    owner_thread_id=int(self.contended.owner[places[0]]) or None,
                    count=sums["count"],
                    waited_ns=sums["waited_ns"],
                    open=sums["open"],
                    owner_method=heaviest((self._names.method(len(self.contended) + run), 1) for run in runs),
                )
            )
        return self._context.summed(LockOwner, longest_first(rows))

    def holders(self) -> ReportTable[LockHolder]:
        """What holders of each lock were seen to do while others waited."""
        window = self._context.window
        sums: dict[tuple[int, int], list[Any]] = {}
        stacks = self._holder_runs.labelled(self._names.of[len(self.contended) :])
        for one in self._holder_runs.all:
            holding = one.holding
            if self.contended.native[self._first_of[holding.lock]]:
                continue
            for stack, took, run in stacks.took(one, window.low, window.high):
                known = sums.setdefault((holding.lock, stack), [0, set(), run])
                known[0] += took
                known[1].add(holding.thread)
        totals: dict[int, int] = {}
        for (lock, _), (total, _, _) in sums.items():
            totals[lock] = totals.get(lock, 0) + total
        takers = self._takers(sums)
        rows = []
        for (lock, stack), (total, threads, run) in sums.items():
            place = len(self.contended) + run
            rows.append(
                LockHolder(
                    lock_id=int(self.contended.lock[self._first_of[lock]]),
                    held_ns=total,
                    share=total / totals[lock] if totals[lock] else None,
                    threads=len(threads),
                    method=self._names.method(place),
                    doing=self._names.innermost(place),
                    taken_in=takers[lock, stack],
                    stack_id=int(self.runs.stack_id[run]),
                )
            )
        rows.sort(key=lambda row: -row.held_ns)
        return self._context.summed(LockHolder, rows)

    def _takers(self, sums: Mapping[tuple[int, int], list[Any]]) -> dict[tuple[int, int], str | None]:
        """For each lock and stack on which it was held, the method that took it."""
        entering: dict[int, set[str | None]] = {}
        for place, lock in enumerate(self._numbers.tolist()):
            entering.setdefault(lock, set()).add(self._names.method(place))
        takers: dict[tuple[int, int], str | None] = {}
        rest: dict[int, list[tuple[list[str], int, set[int], int]]] = {}
        for (lock, stack), (length, threads, _) in sums.items():
            names = self._own(stack)
            takers[lock, stack] = next(filter(entering[lock].__contains__, names), None)
            if takers[lock, stack] is None:
                rest.setdefault(lock, []).append((names, length, threads, stack))
        for lock, unseen in rest.items():
            weights: Counter[str] = Counter()
            for names, length, _, _ in unseen:
                weights.update(dict.fromkeys(names, length))
            most = _NEARLY_ALL * sum(length for _, length, _, _ in unseen)
            for names, _, threads, stack in unseen:
                # Of those that all share, the outermost that is left when the lock is.
                shared = [name for name in names if weights[name] >= most]
                whole = [sum(self._seen[thread][name] for thread in threads) for name in shared]
                left = [name for name, took in zip(shared, whole, strict=True) if took <= _LEFT * whole[0]]
                takers[lock, stack] = left[-1] if left else None
        return takers

    def _own(self, stack: int) -> list[str]:
        """The methods of the program on a stack, innermost first."""
        return [frame.name for frame in self._names.frames(stack) if is_own(frame)]

    @cached_property
    def _seen(self) -> Mapping[int, Counter[str]]:
        """By thread, how long samples show each method of the program."""
        by_thread: dict[int, Counter[str]] = {}
        took = self.run_high - self.run_low
        stacks = self._names.of[len(self.contended) :][: len(took)]
        pairs, of = np.unique(np.stack((self.runs.thread.astype(np.int64), stacks)), axis=1, return_inverse=True)
        times = np.bincount(of.ravel(), weights=took, minlength=pairs.shape[1]).astype(np.int64).tolist()
        for thread, stack, time in zip(*pairs.tolist(), times, strict=True):
            seen = by_thread.setdefault(thread, Counter())
            for name in dict.fromkeys(self._own(stack)):
                seen[name] += time
        return by_thread

    def convoys(self) -> ReportTable[Convoy]:
        """The convoys of the whole trace, cut to the window."""
        rows = []
        for _, places in groups(
            self._convoy_numbers, np.flatnonzero(~self.contended.native & self.contended.spans.begun)
        ):
            has_lock = bool(self.contended.lock[places[0]])
            waits = [self._waits[row] for row in places]
            for one in convoys(waits, has_lock):
                wait_rows = np.array([wait.row for wait in one.waits], dtype=np.int64)
                rows.append(
                    Convoy(
                        lock_id=int(self.contended.lock[places[0]]) or None,
                        start_ns=one.start_ns,
                        end_ns=one.end_ns,
                        count=len(wait_rows),
                        threads=one.threads,
                        most_waiters=one.most_waiters,
                        waited_ns=int(self._whole[wait_rows].sum()),
                        away_ns=_summed(self._away_whole, wait_rows),
                        crowded_ns=one.crowded_ns,
                        max_ns=int(self._whole[wait_rows].max()),
                        handovers=one.handovers,
                        evidence="event" if has_lock else "inferred",
                        method=self._longest_method(wait_rows),
                        owner_method=self._held_method(int(self._numbers[places[0]]), one.start_ns, one.end_ns),
                    )
                )
        rows.sort(key=lambda row: -row.waited_ns)
        return self._context.table(Convoy, rows)

    # Sums. ----------------------------------------------------------------------------------------------------------

    def percentile(self, rows: Ints, percent: int) -> int | None:
        """The nearest rank among contentions of known length that began in the window."""
        known = rows[self.begun[rows] & self.contended.ended[rows]]
        return nearest_rank(np.sort(self.contended.duration_ns[known]), percent)

    def longest(self, rows: Ints) -> int | None:
        """The longest of them, those included that are open."""
        known = rows[self.contended.duration_known[rows]]
        return int(self.contended.duration_ns[known].max()) if len(known) else None

    @property
    def _managed(self) -> Mask:
        """Contentions in the window for locks of the program."""
        return np.asarray(self.inside & ~self.contended.native)

    def _sums(self, places: Ints) -> dict[str, Any]:
        total = self._totals[bool(self.contended.native[places[0]])]
        # What neither ended nor is known to go on has no length, and may go on.
        known = bool(self.contended.duration_known[places].any())
        waited = int(self.waited[places].sum()) if known else None
        return {
            "count": int(self.begun[places].sum()),
            "waited_ns": waited,
            "away_ns": _summed(self._away_inside, places),
            "share": waited / total if total and waited is not None else None,
            "max_ns": self.longest(places),
            "open": int(self._open[places].sum()) if known else None,
        }

    @cached_property
    def _totals(self) -> dict[bool, int]:
        """How long all waited in the window, for native locks and for others."""
        native = self.contended.native
        return {kind: int(self.waited[self.inside & (native == kind)].sum()) for kind in (False, True)}

    @cached_property
    def _away_inside(self) -> list[int | None]:
        """How long each thread was off its processor in its contention, in the window; None where its switches were not
        recorded."""
        window = self._context.window
        starts, ends = (np.clip(side, window.low, window.high) for side in self._bounds)
        return self._away.within(self.contended.thread, starts, ends)

    @cached_property
    def _away_whole(self) -> list[int | None]:
        """The same, whatever the window."""
        return self._away.within(self.contended.thread, *self._bounds)

    def _longest_method(self, rows: Ints) -> str | None:
        names = ((self._names.method(place), int(self._whole[place])) for place in rows.tolist())
        return heaviest((name, took) for name, took in names if name is not None)

    def _most(self, rows: Ints) -> int:
        """The most that waited at once, in the window."""
        window = self._context.window
        waits = [self._waits[place] for place in rows.tolist()]
        spans = [(max(wait.start_ns, window.low), min(wait.end_ns, window.high)) for wait in waits]
        return most_at_once((low, max(high, low + 1)) for low, high in spans)

    # Who held what. -------------------------------------------------------------------------------------------------

    @cached_property
    def _waits(self) -> list[LockWait]:
        contentions = self.contended
        _, ends = self._bounds
        return [
            LockWait(row, thread, owner, start, max(end, start), ended)
            for row, (thread, owner, start, end, ended) in enumerate(
                zip(
                    contentions.thread.tolist(),
                    contentions.owner.tolist(),
                    contentions.low_ns.tolist(),
                    ends.tolist(),
                    contentions.spans.ended.tolist(),
                    strict=True,
                )
            )
        ]

    @cached_property
    def _whole(self) -> Ints:
        """How long each lasted, as far as recorded."""
        known = self.contended.duration_known
        lasted = np.array([wait.end_ns - wait.start_ns for wait in self._waits], dtype=np.int64)
        return np.where(known, self.contended.duration_ns, lasted)

    @cached_property
    def _convoy_numbers(self) -> Ints:
        """Locks; where they were not recorded, the places of the program that wait."""
        known = int(self._numbers.max(initial=0)) + 1
        return np.where(self.contended.lock != 0, self._numbers, known + self._names.of[: len(self.contended)])

    @cached_property
    def _first_of(self) -> dict[int, int]:
        """A contention of each lock."""
        return {number: row for row, number in reversed(list(enumerate(self._numbers.tolist())))}

    @cached_property
    def _next_samples(self) -> Ints:
        """The run of the owner's first sample after the start of each contention, while it still holds; -1 for none."""
        starts = self._bounds[0].tolist()
        places = np.full(len(self.contended), -1, dtype=np.int64)
        begins = {(one.holding.lock, one.holding.start_ns, one.holding.thread): one for one in self._holder_runs.all}
        for place, (number, start, owner, wait) in enumerate(
            zip(self._numbers.tolist(), starts, self.contended.owner.tolist(), self._waits, strict=True)
        ):
            known = begins.get((number, start, owner))
            if known is None:
                continue
            until = min(known.holding.end_ns, wait.end_ns)
            for run in range(known.first, known.last):
                # A run that began before is one in which the owner was seen alike before and after.
                if int(self.runs.last[run]) >= start and int(self.runs.first[run]) <= until:
                    places[place] = run
                    break
        return places

    @cached_property
    def _methods_of_runs(self) -> tuple[LabelledRuns, list[str | None]]:
        """Which method each run is in, as a number, and their names."""
        first = len(self.contended)
        numbers, names = numbered(self._names.method(first + run) for run in range(len(self.runs)))
        return self._holder_runs.labelled(numbers), names

    def _held_method(self, lock: int, start_ns: int, end_ns: int) -> str | None:
        runs, names = self._methods_of_runs
        seen = (row for one in self._holder_runs.by_lock.get(lock, ()) for row in runs.took(one, start_ns, end_ns))
        return heaviest((name, took) for number, took, _ in seen if (name := names[number]) is not None)

    @property
    def entered(self) -> bool:
        """Whether samples show any thread waiting to enter a lock, in the window or not."""
        return bool(self._entering.any())

    @cached_property
    def _entering(self) -> Mask:
        """Which runs of samples do."""
        states = self._names.states.leaf_state[self._names.of[len(self.contended) :]]
        return np.asarray((states == STATES.index("lock")) & (self.runs.type == EXTERNAL))

    def entering(self) -> tuple[int, int] | None:
        """How long samples show threads waiting to enter a lock, in the window, and how much of it in no contention.

        None where they cannot show it: before .NET 10 the method that waits for a monitor is on no stack.
        """
        rows = np.flatnonzero(self._entering)
        if not len(self.runs) or (not len(rows) and (self._whole > _LONG * self.runs.period_ns).any()):
            return None
        stretches_of = zip(
            self.runs.thread[rows].tolist(), self.run_low[rows].tolist(), self.run_high[rows].tolist(), strict=True
        )
        return entering(self._context.window, self._waits, list(stretches_of))


def _summed(parts: list[int | None], rows: Ints) -> int | None:
    """The sum of some of these; None where one is unknown."""
    values = [parts[row] for row in rows.tolist()]
    return None if None in values else sum(filter(None, values))

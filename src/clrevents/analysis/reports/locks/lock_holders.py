"""Who held a lock while others waited for it: convoys, deadlocks, and samples of the threads that held one.

A convoy is a period in which several threads wait for one lock most of the time, and take it in turn. A deadlock is a
cycle of threads that waited when tracing stopped: a lock's holder is known from its last event, and a waiting thread
releases no lock, so a cycle cannot have ended before. Knows times and threads; names nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import Ints, Stretches, grouped
from clrevents.analysis.shared.events.event_spans import ContentionSpans, Holding, holdings
from clrevents.analysis.shared.weights.sample_runs import SampleRuns

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

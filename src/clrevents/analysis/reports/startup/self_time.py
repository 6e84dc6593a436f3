"""Spans on threads, and the self time of each: at any moment, a thread's time belongs to the innermost span.

So self times add up to no more than the time that passed, even where lost events make spans cross. Knows no event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered, matched
from clrevents.analysis.gathering.groups import NONE, either, groups, sum_by

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


@frozen(eq=False)
class ThreadSpans:
    """Spans in order of time, as arrays of one value each.

    `begin` and `end` are rows of the two events, -1 where there is none; times and places are then of the other side.
    """

    begin: Ints
    end: Ints
    thread: NDArray[np.uint64]
    start_place: Ints
    end_place: Ints
    start_ns: Ints
    end_ns: Ints

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def closed(self) -> Mask:
        """Which have both ends."""
        both: Mask = (self.begin != NONE) & (self.end != NONE)
        return both

    def only(self, which: Mask) -> Self:
        """Some of them."""
        return type(self)(*(getattr(self, field.name)[which] for field in attrs.fields(type(self))))


def paired(begins: Gathered, ends: Gathered, keys: Sequence[str]) -> ThreadSpans:
    """Begins with the ends that have the same keys, as brackets; and those of both that stay alone."""
    first, second = matched([begins], [ends], keys)
    end_of = np.full(len(begins), NONE, dtype=np.int64)
    end_of[first] = second
    alone = np.ones(len(ends), dtype=np.bool_)
    alone[second] = False
    begin = np.concatenate((np.arange(len(begins)), np.full(int(alone.sum()), NONE)))
    return thread_spans(begins, ends, begin, np.concatenate((end_of, np.flatnonzero(alone))))


def thread_spans(begins: Gathered, ends: Gathered, begin: Ints, end: Ints) -> ThreadSpans:
    """Spans of these rows of two events, put in order."""

    def sides(name: str | None) -> tuple[Ints, Ints]:
        first, last = (rows.places if name is None else rows.numbers(name) for rows in (begins, ends))
        return either(first, begin, last, end), either(last, end, first, begin)

    start_place, end_place = sides(None)
    start_ns, end_ns = sides("time_ns")
    thread, _ = sides("thread_id")
    found = ThreadSpans(begin, end, thread.astype(np.uint64), start_place, end_place, start_ns, end_ns)
    order = np.argsort(found.start_place, kind="stable")
    return ThreadSpans(*(getattr(found, field.name)[order] for field in attrs.fields(ThreadSpans)))


@frozen(eq=False)
class SelfTime:
    """Stretches of time, each with the span that it belongs to."""

    owner: Ints
    low_ns: Ints
    high_ns: Ints
    count: int

    def within(self, low_ns: int, high_ns: int) -> Ints:
        """The self time of each span between two moments, in ns."""
        inside = np.maximum(np.minimum(self.high_ns, high_ns) - np.maximum(self.low_ns, low_ns), 0)
        return sum_by(self.owner, inside, self.count)


def self_times(kinds: Sequence[ThreadSpans]) -> list[SelfTime]:
    """The self times of several kinds of spans, which may lie inside each other. Open ones own nothing."""
    kind = np.concatenate([np.full(len(spans), n) for n, spans in enumerate(kinds)])
    number = np.concatenate([np.arange(len(spans)) for spans in kinds])
    closed = np.flatnonzero(np.concatenate([spans.closed for spans in kinds]))

    def both(start: str, end: str) -> NDArray[np.int64]:
        return np.concatenate(
            [np.concatenate([getattr(spans, name) for spans in kinds])[closed] for name in (start, end)]
        )

    threads, places, times = both("thread", "thread"), both("start_place", "end_place"), both("start_ns", "end_ns")
    order = np.lexsort((places, threads))
    owners: list[int] = []
    lows: list[int] = []
    highs: list[int] = []
    open_: list[int] = []
    # Those that ended below others: spans may cross where events were lost. They go when these do.
    ended: set[int] = set()
    thread, since, count = None, 0, len(closed)
    for event, now, on in zip(order.tolist(), times[order].tolist(), threads[order].tolist(), strict=True):
        if on != thread:
            thread, open_ = on, []
            ended.clear()
        elif open_ and now > since:
            owners.append(open_[-1])
            lows.append(since)
            highs.append(now)
        since = now
        if event < count:
            open_.append(event)
        else:
            ended.add(event - count)
            while open_ and open_[-1] in ended:
                ended.remove(open_.pop())
    owner, low, high = (np.array(values, dtype=np.int64) for values in (owners, lows, highs))
    of = closed[owner] if len(owner) else owner
    found = []
    for n, spans in enumerate(kinds):
        mine = kind[of] == n if len(of) else np.zeros(0, dtype=np.bool_)
        found.append(SelfTime(number[of[mine]] if len(of) else of, low[mine], high[mine], len(spans)))
    return found


def depths(spans: ThreadSpans) -> Ints:
    """How many other spans of the kind each lies inside of, on its thread."""
    found = np.zeros(len(spans), dtype=np.int64)
    for _, rows in groups(spans.thread):
        closed = spans.closed[rows]
        # Those that began before, without those that ended before.
        begun: Ints = np.cumsum(closed) - closed
        ended = np.searchsorted(np.sort(spans.end_place[rows[closed]]), spans.start_place[rows], "right")
        found[rows] = begun - ended
    return found

"""From one event to another: `EventSpans`, as rows of both, with the columns that either has; compilations and waits.

Compilations begin and end as brackets do, by columns in which both agree; what has lost its other side stays alone.
Waits of one kind do not nest on a thread, so each start goes with the next event of its thread, if that is an end.
Knows the events of methods being compiled and loaded, of waits for tasks and locks, and which tell the version of .NET;
names and sums are up to the caller.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Protocol, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, Note, TimeWindow
from clrevents.analysis.gathering.groups import NONE, Array, Gathered, Ints, Mask, either, matched, picked
from clrevents.schema.registry import TPL
from clrevents.schema.runtime_flags import MethodFlags
from clrevents.table.table import Table
from clrevents.trace import TraceInfo


def field_numbers(events: Gathered, name: str) -> Array:
    """A column of numbers; 0 where it is null, or where no version of the event in the trace has it."""
    if name not in events.table:
        return np.zeros(len(events), dtype=np.int64)
    return events.numbers(name)


def field_known(events: Gathered, name: str) -> Mask:
    """Where a column is not null."""
    if name not in events.table:
        return np.zeros(len(events), dtype=np.bool_)
    return np.asarray(events.column(name).known, dtype=np.bool_)


VERSION_EVENTS: Final = ("runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart")
"""The events with the version of .NET, from the process's start or the rundown."""
VERSION: Final = "BclMajorVersion"


def versions_of(events: Mapping[str, Gathered]) -> set[int]:
    """The major versions of .NET that events tell; none where neither of `VERSION_EVENTS` is among them."""
    gathered = (events[name] for name in VERSION_EVENTS if name in events and VERSION in events[name].table)
    return {int(version) for rows in gathered for version in rows.numbers(VERSION).tolist()}


@frozen(eq=False, slots=False)
class EventSpans:
    """`begin` and `end` are rows of the events, -1 where the trace does not have one; in order of time."""

    begins: Gathered
    ends: Gathered
    begin: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def begun(self) -> Mask:
        """Which have a begin."""
        return np.asarray(self.begin != NONE)

    @property
    def ended(self) -> Mask:
        """Which have an end."""
        return np.asarray(self.end != NONE)

    @property
    def closed(self) -> Mask:
        """Which have both."""
        return self.begun & self.ended

    @cached_property
    def thread(self) -> NDArray[np.uint64]:
        """The thread of either event."""
        return self.either("thread_id").astype(np.uint64)

    @property
    def start_ns(self) -> Ints:
        """When each began; 0 where that is unknown."""
        return self.at_begin("time_ns").astype(np.int64)

    @property
    def end_ns(self) -> Ints:
        """When each ended; 0 where that is unknown."""
        return self.at_end("time_ns").astype(np.int64)

    @cached_property
    def low_ns(self) -> Ints:
        """When each began; of one without a begin, when it ended."""
        return self.either("time_ns").astype(np.int64)

    @cached_property
    def high_ns(self) -> Ints:
        """When each ended; of one without an end, when it began."""
        return np.where(self.ended, self.at_end("time_ns"), self.low_ns).astype(np.int64)

    @cached_property
    def low_place(self) -> Ints:
        """Where the begin is among all events, or else the end."""
        return either(self.begins.places, self.begin, self.ends.places, self.end)

    @cached_property
    def high_place(self) -> Ints:
        """Where the end is, or else the begin."""
        return either(self.ends.places, self.end, self.begins.places, self.begin)

    def at_begin(self, name: str) -> Array:
        """A column of the begins; 0 where there is none."""
        return picked(field_numbers(self.begins, name), self.begin)

    def at_end(self, name: str) -> Array:
        """A column of the ends; 0 where there is none."""
        return picked(field_numbers(self.ends, name), self.end)

    def known_at_end(self, name: str) -> Mask:
        """Where a column of the ends is not null."""
        return picked(field_known(self.ends, name), self.end)

    def either(self, name: str) -> Array:
        """A column that both events have: of the begin, or else of the end."""
        return either(field_numbers(self.begins, name), self.begin, field_numbers(self.ends, name), self.end)

    def known(self, name: str) -> Mask:
        """Where that is not null."""
        return either(field_known(self.begins, name), self.begin, field_known(self.ends, name), self.end)

    def cells(self, name: str) -> list[Any]:
        """The same as Python values; None where that is null."""
        begins, ends = self.begins.cells(name), self.ends.cells(name)
        rows = zip(self.begin.tolist(), self.end.tolist(), strict=True)
        return [begins[begin] if begin != NONE else ends[end] for begin, end in rows]

    def only(self, which: Mask | Ints) -> Self:
        """Some of them, or these in this order."""
        return attrs.evolve(self, begin=self.begin[which], end=self.end[which])

    def ordered(self) -> Self:
        """The same in order of time."""
        return self.only(np.argsort(self.low_place, kind="stable"))


def paired(begins: Gathered, ends: Gathered, keys: Sequence[str], needless: Mask | None = None) -> EventSpans:
    """Begins with the ends that have the same keys, as brackets; and those of both that stay alone, but for those ends
    that are `needless` then."""
    first, second = matched([begins], [ends], keys)
    end_of = np.full(len(begins), NONE, dtype=np.int64)
    end_of[first] = second
    alone = np.ones(len(ends), dtype=np.bool_) if needless is None else ~needless
    alone[second] = False
    begin = np.concatenate((np.arange(len(begins)), np.full(int(alone.sum()), NONE)))
    return EventSpans(begins, ends, begin, np.concatenate((end_of, np.flatnonzero(alone)))).ordered()


@lru_cache
def tier_name(flags: int) -> str:
    """The tier of code, by its method's flags."""
    return str(MethodFlags(flags).tier)


def compilations(begins: Gathered, loads: Sequence[Gathered]) -> EventSpans:
    """Of MethodJittingStarted, and the loads of both kinds that belong to one or stand alone.

    Rows of loads count through the kinds. Loads of code that was there before belong to none.
    """
    both = _behind(loads)
    precompiled = (both.numbers("MethodFlags").astype(np.int64) & int(MethodFlags.Jitted)) == 0
    return paired(begins, both, ("thread_id", "MethodID"), precompiled)


def _behind(parts: Sequence[Gathered]) -> Gathered:
    """Several events as one, the rows of one after those of the other, with the columns that all have."""
    names = [name for name in parts[0].table.columns if all(name in part.table for part in parts)]
    rows = tuple(tuple(part.column(name) for name in names) for part in parts if len(part))
    return Gathered(None, Table(parts[0].table.select(*names).fields, rows), np.concatenate([p.places for p in parts]))


def inside(spans: EventSpans, threads: NDArray[np.uint64], places: Ints) -> Ints:
    """The innermost span that each event, by thread and place, lies in; -1 for none."""
    if not len(spans):
        return np.full(len(places), NONE, dtype=np.int64)
    order = np.lexsort((spans.low_place, spans.thread))
    thread, start, end = spans.thread[order], spans.low_place[order], spans.high_place[order]
    parent = _parents(thread.tolist(), start.tolist(), end.tolist())
    low, high = np.searchsorted(thread, threads, side="left"), np.searchsorted(thread, threads, side="right")
    # One search for all threads: each has its own stretch of numbers.
    reach = int(max(end.max(), places.max(initial=0))) + 1
    number = np.cumsum(np.append(False, thread[1:] != thread[:-1]))
    numbers = np.where(low < high, number[np.minimum(low, len(number) - 1)], 0)
    at = np.searchsorted(number * reach + start, numbers * reach + places, side="right") - 1
    at = np.where((low < high) & (at >= low), at, NONE)
    while len(over := np.flatnonzero((at != NONE) & (end[at] < places))):
        at[over] = parent[at[over]]
    return np.where(at == NONE, NONE, order[at])


def _parents(thread: list[int], start: list[int], end: list[int]) -> Ints:
    """The span around each one; a type's initializer may be compiled while a method is."""
    open_: list[int] = []
    parents = []
    for row, begins in enumerate(start):
        while open_ and (thread[open_[-1]] != thread[row] or end[open_[-1]] < begins):
            open_.pop()
        parents.append(open_[-1] if open_ else NONE)
        open_.append(row)
    return np.array(parents, dtype=np.int64)


class EndsOfThreads(Protocol):
    """What knows when threads ended."""

    def after(self, thread: NDArray[np.uint64], since: Ints) -> Ints:
        """When each thread, which lived at a moment, ended; `FOREVER` where that is unknown."""


@frozen(eq=False, slots=False)
class WaitSpans(EventSpans):
    """Waits. A begin that another one follows has lost its end. The last one without an end lasted at least until
    tracing stopped, and is open, or until its thread ended before.

    `last` says which are the last of their thread and kind; `stopped_ns` is when tracing stopped. `reach` is until when
    each of these lasted that has no end, as far as is known.
    """

    last: Mask
    stopped_ns: int = FOREVER
    reach: Ints = attrs.field(factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def open(self) -> Mask:
        """Which were still going on when tracing stopped, as far as known; others without an end have lost it."""
        return np.asarray(self.unended & (self.bounds()[1] >= self.stopped_ns))

    @property
    def unended(self) -> Mask:
        """Which lasted until tracing stopped or their thread ended, as far as the trace tells."""
        return np.asarray(~self.ended & self.last)

    def bounds(self) -> tuple[Ints, Ints]:
        """From when to when each certainly lasted: without a start, only its end; what is unended, until tracing
        stopped or its thread ended; others without an end, only their begin."""
        starts = self.low_ns
        reach = self.reach if len(self.reach) else np.full(len(self), self.stopped_ns)
        ends = np.where(self.ended, self.end_ns, np.where(self.unended, np.maximum(reach, starts), starts))
        return starts, ends

    def in_trace(self, context: Context, threads: EndsOfThreads | None = None) -> WaitSpans:
        """The same, with what is open lasting until tracing stopped or its thread ended.

        Unless events of its thread are missing after its begin, for its end may be one of them; and unless the trace
        has begins only, which it shows where a thread begins to wait a second time.
        """
        if bool(self.ended.all()):
            return self
        if not len(self.ends) and not bool(self.last.all()):
            return attrs.evolve(self, last=np.zeros(len(self), dtype=np.bool_), stopped_ns=context.known_ns)
        missing = context.marks.touched(self.start_ns, np.full(len(self), FOREVER), (self.thread,))
        last, stopped = self.last & ~missing, context.known_ns
        reach = np.full(len(self), stopped)
        rows = np.flatnonzero(last & ~self.ended)
        if threads is not None and len(rows):
            reach[rows] = np.minimum(stopped, threads.after(self.thread[rows], self.start_ns[rows]))
        return attrs.evolve(self, last=last, stopped_ns=stopped, reach=reach)

    def only(self, which: Mask | Ints) -> Self:
        """Some of them, or these in this order."""
        reach = self.reach[which] if len(self.reach) else self.reach
        return attrs.evolve(super().only(which), last=self.last[which], reach=reach)


def wait_spans(begins: Gathered, ends: Gathered, keys: Sequence[str], orphans: bool = True) -> WaitSpans:
    """The spans of two events. `keys` are the columns in which both agree; `orphans` keeps ends without a start."""
    count = len(begins)
    columns = [np.concatenate([field_numbers(side, key).astype(np.uint64) for side in (begins, ends)]) for key in keys]
    places = np.concatenate((begins.places, ends.places))
    order = np.lexsort((places, *columns))
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    is_begin = order < count
    joined = same & is_begin[:-1] & ~is_begin[1:]
    at = np.flatnonzero(joined)
    alone = np.ones(len(order), dtype=np.bool_)
    alone[at] = alone[at + 1] = False
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = ~same
    single_begins, single_ends = np.flatnonzero(alone & is_begin), np.flatnonzero(alone & ~is_begin)
    if not orphans:
        single_ends = single_ends[:0]
    nobody = np.full(len(order), NONE, dtype=np.int64)
    begin = np.concatenate((order[at], order[single_begins], nobody[: len(single_ends)]))
    end = np.concatenate((order[at + 1] - count, nobody[: len(single_begins)], order[single_ends] - count))
    lasts = np.concatenate((last[at + 1], last[single_begins], last[single_ends]))
    return WaitSpans(begins, ends, begin, end, lasts).ordered()


TASK_BEGIN: Final = "tpl/TaskWaitBegin"
TASK_END: Final = "tpl/TaskWaitEnd"
_ENDS: Final = Need("when waits for tasks end", ("TaskWaitEnd",), 0x2, 5, TPL)
SYNCHRONOUS: Final = 1
"""The behavior of a wait that blocks its thread; the other one is that of an await."""


CONTINUATION_ID: Final = ("ContinueWithTaskId", "ContinuwWithTaskId")
"""The field of AwaitTaskContinuationScheduled with the id of the continuation; .NET Core 3.1 misspells it."""


def task_wait_spans(
    begins: Gathered, ends: Gathered, context: Context, threads: EndsOfThreads | None = None
) -> WaitSpans:
    """Waits that block (behavior 1), without awaits, which block nothing; rows are those of `begins` that block, and of
    `ends`.

    An end alone may be that of an await, which any thread ends. Where ends were not recorded, no wait is known to be
    open.
    """
    spans = wait_spans(blocking(begins), ends, ("TaskID", "thread_id"), orphans=False)
    if not ends_recorded(context):
        return attrs.evolve(spans, last=np.zeros(len(spans), dtype=np.bool_))
    return spans.in_trace(context, threads)


def ends_recorded(context: Context) -> bool:
    """Whether the ends of waits for tasks were recorded, which takes a higher level than their starts."""
    return met(_ENDS, context.kinds) != "unknown"


def blocking(begins: Gathered) -> Gathered:
    """The begins of waits that block."""
    return begins.only(np.flatnonzero(field_numbers(begins, "Behavior") == SYNCHRONOUS))


def longest_first(rows: Iterable[Any]) -> list[Any]:
    """Rows of sums, those that waited longest first."""
    return sorted(rows, key=lambda row: (-(row.waited_ns or 0), -(row.count or 0)))


def still_waiting(threads: int, longest_ns: int) -> Note:
    """The note on threads that waited when tracing stopped, the longest for so long."""
    text = (
        f"{counted(threads, 'thread')} still waited when tracing stopped, the longest for "
        f"{duration_text(longest_ns)} until then: sums are lower bounds"
    )
    return Note("still-waiting", "warning", text, ("waited_total",), {"threads": threads, "longest_ns": longest_ns})


Ids = NDArray[np.uint64]
_LOWER: Final = np.uint64(2**32 - 1)
_ALL: Final = 2**64 - 1


def whole_ids(recorded: Ids, headers: Ids) -> Ids:
    """The ids of payloads, or instead of each the only id of a header that has it as its lower 32 bits."""
    longer, _ = np.unique(headers[headers > _LOWER], return_counts=True)
    if not len(longer):
        return recorded
    lower, first, count = np.unique(longer & _LOWER, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(lower, recorded), len(lower) - 1)
    cut = (lower[place] == recorded) & (count[place] == 1) & ~np.isin(recorded, headers)
    return np.where(cut, longer[first[place]], recorded)


def whole_of(recorded: Iterable[int], headers: Iterable[int]) -> list[int]:
    """The same of numbers, of which damaged ones may be negative."""
    both = (np.array([id & _ALL for id in ids], dtype=np.uint64) for ids in (recorded, headers))
    ids: list[int] = whole_ids(*both).tolist()
    return ids


_CREATED: Final = "runtime/ThreadCreated"
OWNER_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(VERSION_EVENTS, (VERSION,))
"""What is needed of each event, beside the creation of threads."""
_NUMBERED_SINCE: Final = 11


@frozen(eq=False)
class LockOwners:
    """The threads of a process by their numbers, each with when it was created.

    Owners are given by the system's thread id, since .NET 11 by the runtime's own number (docs/errata.md, "Owners of
    locks are told by two kinds of numbers"), and ids in payloads may be the lower 32 bits of those in headers.
    """

    numbered: bool = False
    """Whether every lock names its owner by number."""
    created: Mapping[int, list[tuple[int, int]]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, events: Mapping[str, Gathered], info: TraceInfo) -> LockOwners:
        """By these events of one process."""
        columns = ("time_ns", "ManagedThreadIndex", "OSThreadID")
        rows = zip(*(field_numbers(events[_CREATED], name).tolist() for name in columns), strict=True)
        created: dict[int, list[tuple[int, int]]] = {}
        for time, number, thread in sorted(rows):
            created.setdefault(number, []).append((time, thread))
        versions = versions_of(events)
        return cls(info.native_aot or max(versions, default=0) >= _NUMBERED_SINCE, created)

    def threads(self, owners: Array, times: NDArray[np.int64], seen: Ids) -> Ids:
        """The id of each owner that was told at a time; 0 where it is unknown. `seen` are ids of other threads."""
        ids = {thread for some in self.created.values() for _, thread in some} | set(seen.tolist())
        threads = owners.astype(np.uint64)
        for row, (owner, time) in enumerate(zip(threads.tolist(), times.tolist(), strict=True)):
            if self.numbered or (owner in self.created and owner not in ids):
                lives = self.created.get(owner, [])
                place = bisect_right(lives, (time, np.inf)) - 1
                threads[row] = lives[place][1] if place >= 0 else 0
        return threads


CONTENDED: Final = "runtime/ContentionStart"
ENTERED: Final = "runtime/ContentionStop"
CONTENTION_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
CONTENTION_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    CONTENDED: (*CONTENTION_HEADERS, "ContentionFlags", "ClrInstanceID", "LockID", "LockOwnerThreadID"),
    ENTERED: (*CONTENTION_HEADERS, "ContentionFlags", "ClrInstanceID", "DurationNs"),
}
"""What is kept of each event."""

_NATIVE: Final = 1


@frozen(eq=False, slots=False)
class ContentionSpans:
    """All contentions of a process, with all that events say: a start without an owner leaves it unknown, and the end
    of a wait makes the waiter the owner of the lock."""

    spans: WaitSpans
    owners: LockOwners

    @classmethod
    def of(
        cls,
        begins: Gathered,
        ends: Gathered,
        context: Context,
        threads: EndsOfThreads,
        owners: LockOwners | None = None,
    ) -> ContentionSpans:
        """Begins and ends of one process, paired on thread, runtime and kind of lock."""
        spans = wait_spans(begins, ends, ("ContentionFlags", "ClrInstanceID", "thread_id"))
        return cls(spans.in_trace(context, threads), owners or LockOwners())

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def native(self) -> Mask:
        """Which are for locks of the runtime itself."""
        return np.asarray(self.spans.either("ContentionFlags") == _NATIVE)

    @cached_property
    def instance(self) -> Ints:
        """Which runtime each is of."""
        return self.spans.either("ClrInstanceID").astype(np.int64)

    @cached_property
    def lock(self) -> NDArray[np.uint64]:
        """The lock; 0 where it is unknown."""
        return self.spans.at_begin("LockID").astype(np.uint64)

    @cached_property
    def owner(self) -> NDArray[np.uint64]:
        """The thread that held it when the wait began; 0 if unknown."""
        owner = self.spans.at_begin("LockOwnerThreadID")
        return whole_ids(self.owners.threads(owner, self.spans.start_ns, self.thread), self.thread)

    @cached_property
    def thread(self) -> NDArray[np.uint64]:
        """The thread that waited."""
        return self.spans.thread

    @cached_property
    def ended(self) -> Mask:
        """Where the length is known."""
        return np.asarray(self.spans.ended & (self.spans.begun | self._measured))

    @cached_property
    def _measured(self) -> Mask:
        """Where the runtime measured it, as a number that a time can be."""
        lengths = self.spans.at_end("DurationNs")
        return np.asarray(self.spans.known_at_end("DurationNs") & (lengths >= 0) & (lengths < 2.0**62))

    @cached_property
    def duration_known(self) -> Mask:
        """Where the length, or for open ones a lower bound, is known."""
        return np.asarray(self.ended | self.spans.unended)

    @cached_property
    def duration_ns(self) -> Ints:
        """How long each lasted: as recorded at its end, otherwise from event to event; a lower bound if it is open; 0
        if unknown."""
        starts, ends = self.spans.bounds()
        measured = np.where(self._measured, self.spans.at_end("DurationNs"), 0).astype(np.int64)
        length = np.where(self._measured, measured, ends - starts)
        return np.where(self.duration_known, length, 0)

    @cached_property
    def low_ns(self) -> Ints:
        """From when each is counted: its begin, or as long before its end as that tells, but not before the session."""
        return np.where(self.spans.begun, self.spans.start_ns, np.maximum(self.spans.end_ns - self.duration_ns, 0))

    def waited(self, window: TimeWindow) -> Ints:
        """How much of each wait lies in a window, in ns. Those of adjacent windows add up to the whole.

        The events lie up to some tenths of a millisecond beside what the runtime measured; that is spread evenly.
        """
        low = self.low_ns
        high = np.where(self.spans.begun, self.spans.bounds()[1], self.spans.end_ns)
        # What lies before the session is in no window.
        whole = np.where(self.spans.begun, self.duration_ns, np.minimum(self.duration_ns, high - low))
        parts: Ints = _until(whole, low, high, window.high) - _until(whole, low, high, window.low)
        return parts

    def only(self, which: Mask) -> ContentionSpans:
        """Some of them."""
        return ContentionSpans(self.spans.only(which), self.owners)


def _until(whole: Ints, low: Ints, high: Ints, moment: int) -> Ints:
    """How much of each wait lies before a moment."""
    length = high - low
    part = np.clip(np.int64(moment), low, high) - low
    share = np.where(length > 0, part / np.maximum(length, 1), moment > low)
    parts: Ints = np.rint(whole * share).astype(np.int64)
    return parts


@frozen
class Holding:
    """A thread held a lock from one event of the lock to the next, as far as events tell, and others waited for it."""

    lock: int
    thread: int
    start_ns: int
    end_ns: int


def holdings(spans: ContentionSpans) -> list[Holding]:
    """Who held which lock while others waited. The lock is a number of `lock_numbers`."""
    numbers = lock_numbers(spans)
    starts, ends = spans.spans.bounds()
    begun, ended = spans.spans.begun.tolist(), spans.spans.ended.tolist()
    threads, owners = spans.thread.tolist(), spans.owner.tolist()
    has_id = (spans.lock != 0).tolist()
    moments: list[tuple[int, int, int, int, int]] = []
    rows = zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for row, (number, start, end) in enumerate(rows):
        if not has_id[row]:
            continue
        if begun[row]:
            moments.append((number, start, 1, owners[row], threads[row]))
        if ended[row]:
            moments.append((number, end, -1, threads[row], threads[row]))
    moments.sort(key=lambda moment: moment[:3])
    listed = []
    waiting: Any = 0
    for place, (number, time, step, owner, _) in enumerate(moments):
        if place == 0 or moments[place - 1][0] != number:
            waiting = 0
        waiting += step
        following = moments[place + 1] if place + 1 < len(moments) else None
        until = following[1] if following is not None and following[0] == number else spans.spans.stopped_ns
        if waiting > 0 and owner and until > time:
            listed.append(Holding(number, owner, time, until))
    return listed


def lock_numbers(spans: ContentionSpans) -> Ints:
    """A number for each lock: equal for equal ids of one runtime, and for all without an id; native ones apart."""
    keys = np.stack(
        (spans.instance.astype(np.uint64), spans.native.astype(np.uint64), spans.lock.astype(np.uint64)), axis=1
    )
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    _, numbers = np.unique(keys, axis=0, return_inverse=True)
    return numbers.astype(np.int64).reshape(-1)

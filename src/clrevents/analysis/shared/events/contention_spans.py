"""Contentions with everything that events say about them, as arrays in order of time; who held which lock from when to
when.

A start without an owner leaves it unknown, and the end of a wait makes the waiter the owner. Knows no samples and no
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import Ints, Mask
from clrevents.analysis.shared.events.thread_ids import LockOwners, whole_ids
from clrevents.analysis.shared.events.wait_events import EndsOfThreads, WaitSpans, wait_spans

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
    """All contentions of a process."""

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
        found = wait_spans(begins, ends, ("ContentionFlags", "ClrInstanceID", "thread_id"))
        return cls(found.in_trace(context, threads), owners or LockOwners())

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
        told = self.spans.at_begin("LockOwnerThreadID")
        return whole_ids(self.owners.threads(told, self.spans.start_ns, self.thread), self.thread)

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
        told = self.spans.at_end("DurationNs")
        return np.asarray(self.spans.known_at_end("DurationNs") & (told >= 0) & (told < 2.0**62))

    @cached_property
    def duration_known(self) -> Mask:
        """Where the length, or for open ones a lower bound, is known."""
        return np.asarray(self.ended | self.spans.unended)

    @cached_property
    def duration_ns(self) -> Ints:
        """How long each lasted: as recorded at its end, otherwise from event to event; a lower bound if it is open; 0
        if unknown."""
        starts, ends = self.spans.bounds()
        told = np.where(self._measured, self.spans.at_end("DurationNs"), 0).astype(np.int64)
        length = np.where(self._measured, told, ends - starts)
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
        found: Ints = _until(whole, low, high, window.high) - _until(whole, low, high, window.low)
        return found

    def only(self, which: Mask) -> ContentionSpans:
        """Some of them."""
        return ContentionSpans(self.spans.only(which), self.owners)


def _until(whole: Ints, low: Ints, high: Ints, moment: int) -> Ints:
    """How much of each wait lies before a moment."""
    length = high - low
    part = np.clip(np.int64(moment), low, high) - low
    share = np.where(length > 0, part / np.maximum(length, 1), moment > low)
    found: Ints = np.rint(whole * share).astype(np.int64)
    return found


@frozen
class Holding:
    """A thread held a lock from one event of the lock to the next, as far as events tell, and others waited for it."""

    lock: int
    thread: int
    start_ns: int
    end_ns: int


def holdings(found: ContentionSpans) -> list[Holding]:
    """Who held which lock while others waited. The lock is a number of `lock_numbers`."""
    numbers = lock_numbers(found)
    starts, ends = found.spans.bounds()
    begun, ended = found.spans.begun.tolist(), found.spans.ended.tolist()
    threads, owners = found.thread.tolist(), found.owner.tolist()
    told = (found.lock != 0).tolist()
    moments: list[tuple[int, int, int, int, int]] = []
    rows = zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for row, (number, start, end) in enumerate(rows):
        if not told[row]:
            continue
        if begun[row]:
            moments.append((number, start, 1, owners[row], threads[row]))
        if ended[row]:
            moments.append((number, end, -1, threads[row], threads[row]))
    moments.sort(key=lambda moment: moment[:3])
    made = []
    waiting: Any = 0
    for place, (number, time, step, owner, _) in enumerate(moments):
        if place == 0 or moments[place - 1][0] != number:
            waiting = 0
        waiting += step
        following = moments[place + 1] if place + 1 < len(moments) else None
        until = following[1] if following is not None and following[0] == number else found.spans.stopped_ns
        if waiting > 0 and owner and until > time:
            made.append(Holding(number, owner, time, until))
    return made


def lock_numbers(found: ContentionSpans) -> Ints:
    """A number for each lock: equal for equal ids of one runtime, and for all without an id; native ones apart."""
    keys = np.stack(
        (found.instance.astype(np.uint64), found.native.astype(np.uint64), found.lock.astype(np.uint64)), axis=1
    )
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    _, numbers = np.unique(keys, axis=0, return_inverse=True)
    return numbers.astype(np.int64).reshape(-1)

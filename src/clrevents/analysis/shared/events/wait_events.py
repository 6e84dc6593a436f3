"""Starts and ends of waits → spans: each start with the next event of its thread, if that is an end.

Waits of one kind do not nest on a thread, so a begin that another one follows has lost its end. The last one without
an end lasted at least until tracing stopped, and is open, or until its thread ended before. Of waits for tasks, those
that block a thread (behavior 1) are separated from awaits, which block nothing. Knows nothing of locks and handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, Self, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, Note
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import NONE, Ints, Mask
from clrevents.analysis.shared.events.event_spans import EventSpans, field_numbers
from clrevents.schema.registry import TPL


class EndsOfThreads(Protocol):
    """What knows when threads ended."""

    def after(self, thread: NDArray[np.uint64], since: Ints) -> Ints:
        """When each thread, which lived at a moment, ended; `FOREVER` where that is unknown."""


@frozen(eq=False, slots=False)
class WaitSpans(EventSpans):
    """`last` says which are the last of their thread and kind; `stopped_ns` is when tracing stopped. `reach` is until
    when each of these lasted that has no end, as far as is known.
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
    """Waits that block; rows are those of `begins` that block, and of `ends`.

    An end alone may be that of an await, which any thread ends. Where ends were not recorded, no wait is known to be
    open.
    """
    found = wait_spans(blocking(begins), ends, ("TaskID", "thread_id"), orphans=False)
    if not ends_recorded(context):
        return attrs.evolve(found, last=np.zeros(len(found), dtype=np.bool_))
    return found.in_trace(context, threads)


def ends_recorded(context: Context) -> bool:
    """Whether the ends of waits for tasks were recorded, which takes a higher level than their starts."""
    return met(_ENDS, context.kinds) != "unknown"


def blocking(begins: Gathered) -> Gathered:
    """The begins of waits that block."""
    return begins.only(np.flatnonzero(field_numbers(begins, "Behavior") == SYNCHRONOUS))


class WaitSums(Protocol):
    """A row that sums up waits."""

    @property
    def waited_ns(self) -> int | None: ...
    @property
    def count(self) -> int | None: ...


W = TypeVar("W", bound=WaitSums)


def longest_first(rows: Iterable[W]) -> list[W]:
    """Rows of sums, those that waited longest first."""
    return sorted(rows, key=lambda row: (-(row.waited_ns or 0), -(row.count or 0)))


def still_waiting(threads: int, longest_ns: int) -> Note:
    """The note on threads that waited when tracing stopped, the longest for so long."""
    text = (
        f"{counted(threads, 'thread')} still waited when tracing stopped, the longest for "
        f"{duration_text(longest_ns)} until then: sums are lower bounds"
    )
    return Note("still-waiting", "warning", text, ("waited_total",), {"threads": threads, "longest_ns": longest_ns})

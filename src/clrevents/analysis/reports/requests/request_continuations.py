"""Events of awaits → whose code each thread ran when, and when the code of a request was suspended.

The code that an await resumes belongs to the request with the await's activity id, from the event of its resumption to
the event of the end of this part of the code, on that thread. Overlapping awaits of one task are indistinguishable and
belong to no request. Knows no waits and no exceptions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.optional_rows import NONE
from clrevents.analysis.shared.events.task_waits import SYNCHRONOUS, TASK_BEGIN, TASK_END
from clrevents.analysis.shared.events.wait_events import WaitSpans, field_numbers, wait_spans

_TASK_BEGUN: Final = "tpl/TaskStarted"
_TASK_DONE: Final = "tpl/TaskCompleted"
_QUEUED_RUN: Final = "tpl/TaskWaitContinuationStarted"
_PART_ENDED: Final = "tpl/TaskWaitContinuationComplete"
_PLACE: Final = ("time_ns", "thread_id", "TaskID")
CONTINUATION_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    TASK_BEGIN: (*_PLACE, "activity_id", "Behavior"),
    TASK_END: _PLACE,
    _PART_ENDED: _PLACE,
    _QUEUED_RUN: _PLACE,
    _TASK_BEGUN: _PLACE,
    _TASK_DONE: _PLACE,
}
"""What is kept of each event."""

OwnerOf: TypeAlias = Callable[[bytes | None, int], int | None]
"""The request in which an activity id lies at a time."""


@frozen
class SuspendedCode:
    """Code of a request awaited something from one moment to another."""

    request: int
    start: int
    end: int


class _Moment(NamedTuple):
    """Code begins to run on a thread, or ends, which its `begin` tells."""

    place: int
    time: int
    thread: int
    begin: int
    owner: int


@frozen
class _Running:
    """What a thread ran since each moment: a request, -1 for none that is known; and since when that code ran."""

    times: list[int]
    owners: list[int]
    since: list[int]


class RequestContinuations:
    """Those of one process."""

    def __init__(self, context: Context, events: Mapping[str, Gathered], owner_of: OwnerOf) -> None:
        self._context = context
        begins = events[TASK_BEGIN]
        behaviors = field_numbers(begins, "Behavior")
        awaits = begins.only(np.flatnonzero(behaviors != SYNCHRONOUS))
        found = _told_apart(wait_spans(awaits, events[TASK_END], ("TaskID",)))
        ids, starts = awaits.cells("activity_id"), awaits.cells("time_ns")
        ends = field_numbers(events[TASK_END], "time_ns").tolist()
        self.suspended: list[SuspendedCode] = []
        resumed: dict[int, int] = {}
        for begin, end in zip(found.begin.tolist(), found.end.tolist(), strict=True):
            request = owner_of(ids[begin], starts[begin])
            if request is not None:
                resumed[end] = request
                self.suspended.append(SuspendedCode(request, starts[begin], ends[end]))
        self._threads = _threads(events, resumed)

    def owner(self, thread: int, time: int) -> int | None:
        """The request whose code the thread ran at this time, as far as that is certain."""
        running = self._threads.get(thread)
        place = -1 if running is None else bisect_right(running.times, time) - 1
        if running is None or place < 0 or running.owners[place] == NONE:
            return None
        since, until = np.array([running.since[place]]), np.array([time])
        lost = self._context.marks.touched(since, until, [np.array([thread], dtype=np.uint64)])
        return None if lost[0] else running.owners[place]


def _told_apart(spans: WaitSpans) -> WaitSpans:
    """Whole awaits of those tasks that were never awaited twice at once."""
    tasks = spans.either("TaskID")
    whole = spans.begun & spans.ended
    # An end without a begin is usually that of a wait that blocks, or of an await before the trace.
    mixed = tasks[~whole & ~spans.open]
    return spans.only(whole & ~np.isin(tasks, mixed))


def _threads(events: Mapping[str, Gathered], resumed: Mapping[int, int]) -> dict[int, _Running]:
    """What each thread ran, from all that begins and ends on it. What runs inside of other code hides that."""
    moments: list[_Moment] = []
    nobody: Mapping[int, int] = {}
    for begins, ends, owners in (
        (events[TASK_END], events[_PART_ENDED], resumed),
        (events[_QUEUED_RUN], events[_PART_ENDED], nobody),
        (events[_TASK_BEGUN], events[_TASK_DONE], nobody),
    ):
        spans = wait_spans(begins, ends, ("TaskID", "thread_id"), orphans=False)
        whole = spans.only(spans.begun & spans.ended)
        first, last = begins.places[whole.begin].tolist(), ends.places[whole.end].tolist()
        starts, stops, threads = whole.start_ns.tolist(), whole.end_ns.tolist(), whole.thread.tolist()
        for at, row in enumerate(whole.begin.tolist()):
            owner = owners.get(row, NONE)
            moments.append(_Moment(first[at], starts[at], threads[at], first[at], owner))
            moments.append(_Moment(last[at], stops[at], threads[at], first[at], NONE))
    moments.sort(key=lambda moment: moment.place)
    found: dict[int, _Running] = {}
    open_: dict[int, list[_Moment]] = {}
    ended: set[int] = set()
    for moment in moments:
        inside = open_.setdefault(moment.thread, [])
        if moment.place == moment.begin:
            inside.append(moment)
        else:
            ended.add(moment.begin)
            while inside and inside[-1].begin in ended:
                inside.pop()
        running = found.setdefault(moment.thread, _Running([], [], []))
        running.times.append(moment.time)
        running.owners.append(inside[-1].owner if inside else NONE)
        running.since.append(inside[-1].time if inside else moment.time)
    return found

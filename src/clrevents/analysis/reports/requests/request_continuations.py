"""Events of awaits → whose code each thread ran when, and when the code of a request was suspended.

The code that an await resumes belongs to the request with the await's activity id, from the event of its resumption to
the event of the end of this part of the code, on that thread. Overlapping awaits of one task are indistinguishable and
belong to no request. Awaits that .NET 11's async profiler recorded have no activity: they belong to the request whose
start was in the code that made them, or whose code made that. Knows no waits and no exceptions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.groups import NONE, Gathered
from clrevents.analysis.reports.requests.known_requests import RequestFinder
from clrevents.analysis.reports.requests.request_parts import TimedPart
from clrevents.analysis.shared.events.async_awaits import AWAIT_COLUMNS, CONTINUED, SUSPENDED, AsyncAwaits, async_awaits
from clrevents.analysis.shared.events.event_spans import (
    SYNCHRONOUS,
    TASK_BEGIN,
    TASK_END,
    WaitSpans,
    field_numbers,
    wait_spans,
)

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
    **AWAIT_COLUMNS,
}
"""What is kept of each event."""

_Runs: TypeAlias = tuple[str, str, Mapping[int, int]]
"""Which events begin and end something that runs, and whose code it is, by the row of its begin."""
_TASKS: Final[_Runs] = (_TASK_BEGUN, _TASK_DONE, {})
OwnerOf: TypeAlias = Callable[[bytes | None, int], int | None]
"""The request in which an activity id lies at a time."""


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

    def __init__(
        self, context: Context, events: Mapping[str, Gathered], finder: RequestFinder, owner_of: OwnerOf
    ) -> None:
        self._context = context
        self.suspended: list[tuple[int, TimedPart]] = []
        """When code of which request awaited something."""
        profiled = async_awaits(events, None)
        if profiled is not None and profiled.begun:
            self.suspended, moments = _profiled(profiled, finder)
            self._threads = _threads([*moments, *_moments(events, [_TASKS])])
            return
        begins = events[TASK_BEGIN]
        behaviors = field_numbers(begins, "Behavior")
        awaits = begins.only(np.flatnonzero(behaviors != SYNCHRONOUS))
        waits = _told_apart(wait_spans(awaits, events[TASK_END], ("TaskID",)))
        ids, starts = awaits.cells("activity_id"), awaits.cells("time_ns")
        ends = field_numbers(events[TASK_END], "time_ns").tolist()
        resumed: dict[int, int] = {}
        for begin, end in zip(waits.begin.tolist(), waits.end.tolist(), strict=True):
            request = owner_of(ids[begin], starts[begin])
            if request is not None:
                resumed[end] = request
                self.suspended.append((request, TimedPart("await", starts[begin], ends[end])))
        runs: list[_Runs] = [(TASK_END, _PART_ENDED, resumed), (_QUEUED_RUN, _PART_ENDED, {}), _TASKS]
        self._threads = _threads(_moments(events, runs))

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
    whole = spans.closed
    # An end without a begin is usually that of a wait that blocks, or of an await before the trace.
    mixed = tasks[~whole & ~spans.open]
    return spans.only(whole & ~np.isin(tasks, mixed))


def _profiled(awaits: AsyncAwaits, finder: RequestFinder) -> tuple[list[tuple[int, TimedPart]], list[_Moment]]:
    """When code of requests awaited and none of theirs ran, and what it ran, as the async profiler tells."""
    requests = finder.requests
    starts = sorted(((one.start, finder.thread(one), one.row) for one in requests), reverse=True)
    owners, created = [NONE] * len(awaits), [NONE] * len(awaits)
    running: dict[int, list[tuple[int, int]]] = {}
    changes: dict[int, list[tuple[int, int, int]]] = {}
    moments: list[_Moment] = []
    # In whose code those were sent whose activity does not tell it: what they await, that one awaits.
    senders: dict[int, int] = {}

    def going_on(owner: int, time: int) -> int:
        while owner != NONE and (end := requests[owner].end) is not None and end < time:
            parent = requests[owner].parent
            owner = senders.get(owner, NONE) if parent is None else parent
        return owner

    def changed(owner: int, *edges: tuple[int, int, int]) -> None:
        for one in (owner, senders.get(owner, NONE)):
            changes.setdefault(one, []).extend(edges)

    def begin(thread: int, number: int, time: int) -> None:
        place = -len(moments) - 1
        moments.append(_Moment(place, time, thread, place, going_on(owners[number], time)))
        running.setdefault(thread, []).append((number, place))

    def end(thread: int, time: int) -> int:
        number, place = running[thread].pop()
        begun = moments[-place - 1]
        changed(begun.owner, (begun.time, 0, 1), (time, 0, -1))
        moments.append(_Moment(-len(moments) - 1, time, thread, place, NONE))
        return number

    steps = zip(*(of.tolist() for of in (awaits.what, awaits.time, awaits.thread, awaits.number)), strict=True)
    for what, time, thread, number in steps:
        while starts and starts[-1][0] <= time:
            start, where, request = starts.pop()
            if running.get(where):
                begun = end(where, start)
                if requests[request].side == "client" and requests[request].parent is None:
                    owner = going_on(owners[begun], start)
                    senders[request] = senders.get(owner, owner)
                owners[begun] = request
                begin(where, begun, start)
        inside = running.get(thread)
        if what == SUSPENDED:
            owners[number], created[number] = NONE if not inside else going_on(owners[inside[-1][0]], time), time
        elif what == CONTINUED:
            changed(owners[number], (created[number], 1, 0), (time, -1, 0))
            begin(thread, number, time)
        elif inside and inside[-1][0] == number:
            end(thread, time)
    changes.pop(NONE, None)
    return [(request, part) for request, own in changes.items() for part in _idle(sorted(own))], moments


def _idle(changes: list[tuple[int, int, int]]) -> Iterable[TimedPart]:
    """When a request awaited and did not run, by how many more awaits and runs there are from each moment on."""
    awaiting = running = since = 0
    for time, more_awaits, more_runs in changes:
        if awaiting and not running and since < time:
            yield TimedPart("await", since, time)
        awaiting, running, since = awaiting + more_awaits, running + more_runs, time


def _moments(events: Mapping[str, Gathered], runs: Iterable[_Runs]) -> list[_Moment]:
    """When what these events begin and end ran."""
    moments: list[_Moment] = []
    for begun, done, owners in runs:
        begins, ends = events[begun], events[done]
        spans = wait_spans(begins, ends, ("TaskID", "thread_id"), orphans=False)
        whole = spans.only(spans.closed)
        first, last = begins.places[whole.begin].tolist(), ends.places[whole.end].tolist()
        starts, stops, threads = whole.start_ns.tolist(), whole.end_ns.tolist(), whole.thread.tolist()
        for at, row in enumerate(whole.begin.tolist()):
            owner = owners.get(row, NONE)
            moments.append(_Moment(first[at], starts[at], threads[at], first[at], owner))
            moments.append(_Moment(last[at], stops[at], threads[at], first[at], NONE))
    return moments


def _threads(moments: list[_Moment]) -> dict[int, _Running]:
    """What each thread ran, from all that begins and ends on it. What runs inside of other code hides that."""
    moments.sort(key=lambda moment: moment.time)
    by_thread: dict[int, _Running] = {}
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
        running = by_thread.setdefault(moment.thread, _Running([], [], []))
        running.times.append(moment.time)
        running.owners.append(inside[-1].owner if inside else NONE)
        running.since.append(inside[-1].time if inside else moment.time)
    return by_thread

"""A request → where its time went, one part after another; and what fell inside it: pauses, waits and exceptions.

Where parts overlap, the one that began first keeps the time, so that the parts of a request add up to its duration;
time without an event is the part `unaccounted`. The queue for a connection takes only what other steps leave, what
stopped or blocked its code only what is left then, and awaits only what these leave.

A wait or an exception with an activity id is in the request in which that id lies; one without any is in the request
whose code its thread ran. Pauses are in all by time. Anything else is counted, never summed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import NONE, Gathered, Ints, length_before
from clrevents.analysis.reports.requests.known_requests import (
    HTTP,
    RECEIVING,
    SENDING,
    THROWN,
    KnownRequest,
    RequestFinder,
)
from clrevents.analysis.reports.requests.request_commands import KnownCommand
from clrevents.analysis.reports.requests.request_connections import CONNECTING, RESOLVING, SECURING
from clrevents.analysis.shared.blocking.known_waits import KnownWait
from clrevents.analysis.shared.events.async_awaits import AWAIT_COLUMNS, CONTINUED, SUSPENDED, AsyncAwaits, async_awaits
from clrevents.analysis.shared.events.event_spans import (
    CONTENDED,
    SYNCHRONOUS,
    TASK_BEGIN,
    TASK_END,
    WaitSpans,
    field_numbers,
    wait_spans,
)
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, STEPS, SUSPENDING, suspensions
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

UNACCOUNTED: Final = "unaccounted"
_CONTENT: Final = ActivitySource(HTTP, "RequestContent")
_PARTS: Final = {
    SENDING: "request_headers",
    _CONTENT: "request_content",
    RECEIVING: "response_headers",
    ActivitySource(HTTP, "ResponseContent"): "response_content",
    RESOLVING: "dns",
    CONNECTING: "connect",
    SECURING: "tls",
}


@frozen
class TimedPart:
    """A stretch of a request, and the request or the command that it stands for if it is a `call` or a `command`."""

    part: str
    start: int
    end: int
    call: int | None = None
    command: int | None = None


class RequestParts:
    """Finds the parts of requests. `further` are more of them by request; each takes what those before it leave."""

    def __init__(
        self,
        finder: RequestFinder,
        commands: Iterable[KnownCommand] = (),
        further: Sequence[Mapping[int, Sequence[TimedPart]]] = (),
    ) -> None:
        forest = finder.index.forest
        self._recorded: dict[int, list[TimedPart]] = {}
        queues: dict[int, list[TimedPart]] = {}
        self._layers = (self._recorded, queues, *further)
        ends: dict[int, list[int]] = {}
        for row, source in enumerate(forest.source):
            number = finder.of[row]
            if number == NONE or source not in _PARTS or not forest.ended[row]:
                continue
            self._add(number, TimedPart(_PARTS[source], forest.start[row], forest.end[row]))
            if source in (SENDING, _CONTENT):
                ends.setdefault(number, []).append(forest.end[row])
        self._wait(finder, forest, ends)
        for command in commands:
            if command.counts and command.request is not None and command.end is not None:
                self._add(command.request, TimedPart("command", command.start, command.end, command=command.row))
        for request in finder.requests:
            for left, queue in request.queued:
                queues.setdefault(request.row, []).append(TimedPart("queue", left - queue, left))
            if request.parent is not None and request.end is not None and request.side == "client":
                self._add(request.parent, TimedPart("call", request.start, request.end, request.row))

    def of(self, request: KnownRequest) -> list[TimedPart]:
        """The parts in order; none without an end."""
        if request.end is None:
            return []
        laid_out = [TimedPart(UNACCOUNTED, request.start, request.end)] if request.start < request.end else []
        for layer in self._layers:
            if request.row in layer:
                laid_out = filled(laid_out, cut_parts(request.start, request.end, layer[request.row]))
        return laid_out

    def _wait(self, finder: RequestFinder, forest: ActivityForest, ends: dict[int, list[int]]) -> None:
        """From when a request is sent to when the first of its response is there."""
        for sent in ends.values():
            sent.sort()
        for row in finder.index.by_source.get(RECEIVING, ()):
            sent = ends.get(finder.of[row], [])
            place = bisect_right(sent, forest.start[row]) - 1
            if place >= 0:
                self._add(finder.of[row], TimedPart("wait", sent[place], forest.start[row]))

    def _add(self, number: int, part: TimedPart) -> None:
        self._recorded.setdefault(number, []).append(part)


def cut_parts(start: int, end: int, parts: Iterable[TimedPart]) -> list[TimedPart]:
    """These parts inside the bounds, without overlaps, and what lies between them."""
    cut: list[TimedPart] = []
    reach = start
    ordered: Sequence[TimedPart] = sorted(parts, key=lambda part: (part.start, part.end, part.part))
    for part in ordered:
        low, high = max(part.start, reach), min(part.end, end)
        if high <= low:
            continue
        if low > reach:
            cut.append(TimedPart(UNACCOUNTED, reach, low))
        cut.append(attrs.evolve(part, start=low, end=high))
        reach = high
    if reach < end:
        cut.append(TimedPart(UNACCOUNTED, reach, end))
    return cut


def filled(parts: Sequence[TimedPart], others: Sequence[TimedPart]) -> list[TimedPart]:
    """The parts, and where they are unaccounted, the others; both cut, and from the same begin to the same end."""
    joined: list[TimedPart] = []
    at = 0
    for part in parts:
        if part.part != UNACCOUNTED:
            joined.append(part)
            continue
        while at < len(others) and others[at].end <= part.start:
            at += 1
        while at < len(others) and others[at].start < part.end:
            other = others[at]
            joined.append(attrs.evolve(other, start=max(other.start, part.start), end=min(other.end, part.end)))
            if other.end > part.end:
                break
            at += 1
    return joined


_MOST_LINES: Final = 100


@frozen
class LaidOutPart:
    """A line: a request, with its name, or a part of one."""

    request: int
    depth: int
    part: str
    start: int
    end: int
    name: str | None = None

    def label(self, number: int) -> str:
        """What people read, so that the order of texts is that of lines."""
        name = self.part if self.name is None else f"{self.part} {self.name}"
        return f"{number:02} {'· ' * self.depth}{name}"


def waterfall(
    request: KnownRequest, requests: Sequence[KnownRequest], parts: Sequence[Sequence[TimedPart]]
) -> tuple[list[LaidOutPart], int]:
    """The lines of a request, of all requests with their parts; and how many were left out, or parts with more."""
    lines: list[LaidOutPart] = []
    seen = set[int]()
    waiting: list[tuple[KnownRequest | LaidOutPart, int]] = [(request, 0)]
    while waiting and len(lines) < _MOST_LINES:
        one, depth = waiting.pop()
        if isinstance(one, LaidOutPart):
            lines.append(one)
            continue
        if one.row in seen or one.end is None:
            continue
        seen.add(one.row)
        name = " ".join(filter(None, (one.method, one.path))) or None
        lines.append(LaidOutPart(one.row, depth, one.side, one.start, one.end, name))
        inside: list[tuple[KnownRequest | LaidOutPart, int]] = []
        for part in parts[one.row]:
            inside.append((LaidOutPart(one.row, depth + 1, part.part, part.start, part.end), depth + 1))
            position = part.call
            if part.part == "wait" and one.side == "client":
                position = one.peer
            if position is not None:
                inside.append((requests[position], depth + 2))
        waiting += reversed(inside)
    return lines, len(waiting)


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
    """Awaits of one process: whose code each thread ran when, and when the code of a request was suspended.

    The code that an await resumes belongs to the request with the await's activity id, from the event of its resumption
    to the event of the end of this part of the code, on that thread. Overlapping awaits of one task are
    indistinguishable and belong to no request. Awaits that .NET 11's async profiler recorded have no activity: they
    belong to the request whose start was in the code that made them, or whose code made that.
    """

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


InsideEvidence: TypeAlias = Literal["activity", "continuation", "time"]

_HANDLE_WAIT: Final = "runtime/WaitHandleWaitStart"
_WHO: Final = ("time_ns", "thread_id", "activity_id")
INSIDE_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **CONTINUATION_COLUMNS,
    CONTENDED: _WHO,
    _HANDLE_WAIT: _WHO,
    THROWN: (*_WHO, "ExceptionType"),
    **dict.fromkeys(STEPS, ("time_ns", "thread_id")),
    SUSPENDING: ("time_ns", "thread_id", "Reason"),
}
"""What is kept of each event."""
MOST_PAUSES: Final = 200_000
"""The most pauses that are listed with the requests they fell in; if there are more, none is."""

EXCEPTION: Final = "exception"
_LOCK: Final = "lock"


@frozen
class InsideSpan:
    """Something that fell in a request, or, with the request None, in none that is known. `end` is None if unknown."""

    request: int | None
    kind: str
    evidence: InsideEvidence
    thread: int | None
    start: int
    end: int | None
    what: str | None = None


@define
class InsideSums:
    """The sums of one request; None if unknown."""

    pauses: int | None = None
    paused: int | None = None
    exceptions: int = 0
    locks: int = 0
    locked: int | None = 0
    waits: int = 0
    waited: int | None = 0
    nearby: int | None = None


class Pauses:
    """The pauses of all collections, without overlaps, in order of time."""

    def __init__(self, context: Context, events: Mapping[str, Gathered]) -> None:
        stops = suspensions([events[name] for name in STEPS], context.marks, context.holes)
        whole = np.isin(stops.reason, FOR_GC) & stops.known(0, 3)
        order = np.argsort(stops.times[0][whole], kind="stable")
        starts, ends = stops.times[0][whole][order], stops.times[3][whole][order]
        if len(starts):
            ends = np.maximum.accumulate(ends)
            first = np.append(True, starts[1:] > ends[:-1])
            starts, ends = starts[first], ends[np.append(first[1:], True)]
        self.starts: Ints = starts
        self.ends: Ints = ends

    def meeting(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """The pauses that lie in each stretch, at least in part: from which on, and up to which."""
        return np.searchsorted(self.ends, starts, side="right"), np.searchsorted(self.starts, ends, side="left")

    def until(self, times: Ints) -> Ints:
        """How long pauses lasted before each moment."""
        return length_before(self.starts, self.ends, times)


class RequestInsides:
    """Finds them. `waits` are the recorded ones, `known` says which of `INSIDE_COLUMNS` were recorded."""

    def __init__(
        self,
        context: Context,
        finder: RequestFinder,
        events: Mapping[str, Gathered],
        waits: Iterable[KnownWait],
        pauses_known: bool,
    ) -> None:
        self._finder = finder
        self._requests = finder.requests
        self._code = RequestContinuations(context, events, finder, self._owner)
        self.sums = [InsideSums() for _ in self._requests]
        self.spans: list[InsideSpan] = []
        self.pauses_listed = True
        self._strangers: list[InsideSpan] = []
        for span in (*self._waits(events, waits), *self._exceptions(events[THROWN])):
            self._add(span)
        self._nearby()
        if pauses_known:
            self._pauses(Pauses(context, events))
        self.spans.sort(key=lambda span: (span.start, -1 if span.request is None else span.request, span.kind))

    def parts(self) -> dict[int, list[TimedPart]]:
        """What took time of each request: pauses, locks and other waits."""
        parts: dict[int, list[TimedPart]] = {}
        for span in self.spans:
            if span.request is not None and span.end is not None and span.kind != EXCEPTION:
                part = span.kind if span.kind in ("gc", _LOCK) else "blocked"
                parts.setdefault(span.request, []).append(TimedPart(part, span.start, span.end))
        return parts

    def suspended(self) -> dict[int, list[TimedPart]]:
        """Where code of each request awaited something."""
        parts: dict[int, list[TimedPart]] = {}
        for request, part in sorted(self._code.suspended, key=lambda one: one[1].start):
            own = parts.setdefault(request, [])
            # What awaits an async method awaits what that awaits, too.
            if own and part.start <= own[-1].end:
                own[-1] = attrs.evolve(own[-1], end=max(own[-1].end, part.end))
            else:
                own.append(part)
        return parts

    def nearby(self, request: KnownRequest) -> list[InsideSpan]:
        """What happened while a request lasted, and is in none that is known."""
        end = FOREVER if request.end is None else request.end
        return [
            span
            for span in self._strangers
            if span.start <= end and (span.start if span.end is None else span.end) >= request.start
        ]

    # Who. -----------------------------------------------------------------------------------------------------------

    def _owner(self, id: bytes | None, time: int) -> int | None:
        row = self._finder.index.at(id, time)
        number = -1 if row < 0 else self._finder.of[row]
        return number if number >= 0 and self._lasts(number, time) else None

    def _lasts(self, number: int, time: int) -> bool:
        request = self._requests[number]
        return request.start <= time and (request.end is None or time <= request.end)

    def _who(self, id: bytes | None, thread: int, time: int) -> tuple[int | None, InsideEvidence]:
        if id is not None:
            return self._owner(id, time), "activity"
        owner = self._code.owner(thread, time)
        return owner if owner is not None and self._lasts(owner, time) else None, "continuation"

    # What. ----------------------------------------------------------------------------------------------------------

    def _waits(self, events: Mapping[str, Gathered], waits: Iterable[KnownWait]) -> Iterable[InsideSpan]:
        ids: dict[tuple[int, int], bytes | None] = {}
        for name in (CONTENDED, _HANDLE_WAIT, TASK_BEGIN):
            rows = events[name]
            moments = zip(rows.cells("thread_id"), rows.cells("time_ns"), strict=True)
            ids.update(zip(moments, rows.cells("activity_id"), strict=True))
        for wait in waits:
            if wait.start is None or wait.inside is not None or wait.kind == "idle":
                continue
            request, evidence = self._who(ids.get((wait.thread, wait.start)), wait.thread, wait.start)
            until = None if request is None else self._requests[request].end
            # What a request that goes on, too, waited for is as unknown as its own length.
            end = until if wait.goes_on and request is not None else wait.until
            if end is not None and until is not None:
                end = min(end, until)
            yield InsideSpan(request, wait.kind, evidence, wait.thread, wait.start, end, wait.method)

    def _exceptions(self, thrown: Gathered) -> Iterable[InsideSpan]:
        columns = (thrown.cells(name) for name in (*_WHO, "ExceptionType"))
        for time, thread, id, type in zip(*columns, strict=True):
            request, evidence = self._who(id, thread, time)
            yield InsideSpan(request, EXCEPTION, evidence, thread, time, time, type)

    def _add(self, span: InsideSpan) -> None:
        if span.request is None:
            self._strangers.append(span)
            return
        self.spans.append(span)
        sums = self.sums[span.request]
        took = None if span.end is None else span.end - span.start
        if span.kind == EXCEPTION:
            sums.exceptions += 1
        elif span.kind == _LOCK:
            sums.locks += 1
            sums.locked = None if took is None or sums.locked is None else sums.locked + took
        else:
            sums.waits += 1
            sums.waited = None if took is None or sums.waited is None else sums.waited + took

    def _nearby(self) -> None:
        """Count what overlaps each request, by how many began before it ended, and had ended before it began."""
        starts = sorted(span.start for span in self._strangers)
        # One that goes on, or lost its end, may be everywhere after its begin: only the begin is certain.
        ends = sorted(span.start if span.end is None else span.end for span in self._strangers)
        for request, sums in zip(self._requests, self.sums, strict=True):
            if request.end is not None:
                sums.nearby = bisect_right(starts, request.end) - bisect_left(ends, request.start)

    def _pauses(self, pauses: Pauses) -> None:
        ended: Sequence[KnownRequest] = [request for request in self._requests if request.end is not None]
        starts = np.array([request.start for request in ended], dtype=np.int64)
        ends = np.array([request.end for request in ended], dtype=np.int64)
        low, high = pauses.meeting(starts, ends)
        high = np.maximum(low, high)
        paused = np.maximum(pauses.until(ends) - pauses.until(starts), 0)
        self.pauses_listed = int((high - low).sum()) <= MOST_PAUSES
        rows = zip(ended, low.tolist(), high.tolist(), paused.tolist(), strict=True)
        for request, first, last, took in rows:
            sums = self.sums[request.row]
            sums.pauses, sums.paused = last - first, took
            if self.pauses_listed:
                for place in range(first, last):
                    start = max(int(pauses.starts[place]), request.start)
                    end = min(int(pauses.ends[place]), request.end or 0)
                    self.spans.append(InsideSpan(request.row, "gc", "time", None, start, end))

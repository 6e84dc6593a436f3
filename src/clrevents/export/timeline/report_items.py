"""Which rows of which reports are on a timeline, where, and under which names: defined once for all renderers.

Durations are those of the reports' tables. A row without a beginning has no place in time and is left out. Makes row
objects for a portion at a time, because tables can be long. Asks all of them in one pass. Knows no format.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis import Answer, ReportTable, read_samples
from clrevents.analysis.framework.run.asking import reports_of
from clrevents.analysis.gathering.groups import Array, Ints, changes
from clrevents.analysis.shared.processor.counted_events import NO_THREAD
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, calls, frame_names, rows_by_thread
from clrevents.export.timeline.timeline_items import (
    GROUPS,
    Arrows,
    Details,
    Group,
    Instant,
    Item,
    Level,
    Placed,
    Stretch,
    ThreadName,
    Track,
)
from clrevents.trace import Trace

_NEVER: Final = 1 << 64
_NESTING: Final = 4
"""Lanes in which stretches may lie inside each other. Further ones hold one at a time, so that finding one is cheap."""


def placed(track: Track, items: Iterable[Item], nesting: bool = False) -> Iterator[Placed]:
    """The items, in order of their start, each with its lane of the track.

    With `nesting`, what lies in another stretch is shown inside of it: right for what one thread does. Otherwise
    stretches that overlap at all are in different lanes. What is no stretch is in the first.
    """
    nests: list[list[int]] = [[] for _ in range(_NESTING if nesting else 0)]
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    tracks = [track]
    first = len(nests)
    for item in items:
        if not isinstance(item, Stretch):
            yield track, item
            continue
        start, end = item.start_ns, _NEVER if item.end_ns is None else item.end_ns
        lane = _nest(nests, start, end)
        if lane is None:
            while busy and busy[0][0] <= start:
                heapq.heappush(free, heapq.heappop(busy)[1])
            lane = heapq.heappop(free) if free else first + len(busy)
            heapq.heappush(busy, (end, lane))
        while len(tracks) <= lane:
            tracks.append(track._replace(lane=len(tracks)))
        yield tracks[lane], item


def _nest(nests: list[list[int]], start: int, end: int) -> int | None:
    """The first lane in which a stretch lies inside of all that are open; it is put there."""
    for lane, open_ in enumerate(nests):
        while open_ and open_[-1] <= start:
            open_.pop()
        if not open_ or end <= open_[-1]:
            open_.append(end)
            return lane
    return None


R = TypeVar("R")
Keys: TypeAlias = tuple[Any, ...]

_PORTION: Final = 1 << 14


def grouped(
    table: ReportTable[R], keys: Sequence[str], start: str, end: str | None = None
) -> Iterator[tuple[Keys, Iterator[tuple[int, R]]]]:
    """The rows of each combination of values of the columns `keys`, null being one of them.

    Each comes with its place in the table. They are in order of `start`, those that begin together in order of `end`,
    the last and null first: what lies in another one comes after it. Rows whose `start` is null are left out. Like
    those of `itertools.groupby`, the rows of a combination are gone once the next one is asked for.
    """
    columns = [table.column(name) for name in keys]
    order = np.flatnonzero(table.column(start).known)
    by: list[Array] = []
    if end is not None:
        # The later ones before the earlier ones, and null before all.
        ends = np.where(table.column(end).known, -table.numbers(end).astype(np.int64), np.iinfo(np.int64).min)
        by.append(ends[order])
    by.append(table.numbers(start)[order])
    for column in reversed(columns):
        by += [column.filled(0)[order], column.known[order]]
    order = order[np.lexsort(by)]
    differing = (values[order] for column in columns for values in (column.filled(0), column.known))
    begins = np.flatnonzero(changes(*differing))
    # There may be as many combinations as rows, and few values are not faster to take than many.
    keys_of_groups = zip(*(column.take(order[begins]).tolist() for column in columns), strict=True)
    rows = _rows(table, order)
    for key, size in zip(keys_of_groups, np.diff(begins, append=len(order)).tolist(), strict=True):
        rows_of_group = islice(rows, size)
        yield key, rows_of_group
        deque(rows_of_group, maxlen=0)


def _rows(table: ReportTable[R], order: Ints) -> Iterator[tuple[int, R]]:
    for at in range(0, len(order), _PORTION):
        portion = order[at : at + _PORTION]
        yield from zip(portion.tolist(), table.take(portion), strict=True)


_Ends: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The arrows that leave a row, and those that reach it."""
_Ties: TypeAlias = Callable[[int, Any], _Ends]
"""The arrows of a row at its place in the table."""
_ToTies: TypeAlias = Callable[[Answer[object], Arrows], _Ties]


@frozen
class ShownRows:
    """The rows of a report's table: from `start` to `end`, or at one moment where that is None, on a track of their
    `thread`, or of the process.

    `label` says more than the `name`, for pictures that show no details. `ties` are made from the whole answer.
    """

    group: Group
    report: str
    table: str
    name: Callable[[Any], str]
    details: Callable[[Any], Details]
    start: str = "start_ns"
    end: str | None = "end_ns"
    thread: str | None = "thread_id"
    label: Callable[[Any], str] | None = None
    ties: _ToTies | None = None
    side: str | None = None
    """Only those of this side, on a track of their own."""

    @property
    def title(self) -> str:
        """The name of its tracks."""
        return GROUPS[self.group] if self.side is None else _SIDES[self.side]

    def items(self, answer: Answer[object], arrows: Arrows) -> Iterator[Placed]:
        """All rows as items."""
        table = answer.table(self.table)
        if self.side is not None:
            sides = np.array(table.column("side").tolist(), dtype=object)
            table = table.take(np.flatnonzero(sides == self.side))
        ties = None if self.ties is None else self.ties(answer, arrows)
        keys = ("process_id",) if self.thread is None else ("process_id", self.thread)
        for (process, *thread), rows in grouped(table, keys, self.start, self.end):
            if self.group == "held" and thread == [None]:
                continue
            track = Track(self.group, self.title, process, *thread)
            items = (self._item(row, ((), ()) if ties is None else ties(place, row)) for place, row in rows)
            yield from placed(track, items, nesting=self.thread is not None)

    def _item(self, row: object, ends: _Ends) -> Item:
        start, name, details = getattr(row, self.start), self.name(row), self.details(row)
        if self.end is None:
            return Instant(start, name, details, *ends)
        end = getattr(row, self.end)
        # Damage can order the two the other way round.
        return Stretch(start, None if end is None else max(start, end), name, details, *ends)

    def left_out(self, answer: Answer[object]) -> int:
        """How many rows have no place in time because their beginning is not in the trace."""
        # A task that never ran has none either.
        return 0 if self.report == "tasks" else int((~answer.table(self.table).column(self.start).known).sum())


def _kept(*names: str) -> Callable[[object], Details]:
    """Some cells of a row, without those that are unknown or false."""

    def details(row: object) -> Details:
        details = {}
        for name in names:
            value = getattr(row, name)
            if value is not None and value is not False:
                details[name] = list(value) if isinstance(value, tuple) else value
        return details

    return details


def _words(*parts: object) -> str:
    return " ".join(str(part) for part in parts if part is not None and part != "")


def _collection(row: Any) -> str:
    generation = None if row.generation is None else f"generation {row.generation}"
    return _words(f"#{row.number}", generation, row.kind, row.reason)


def _arrow_of(kind: str, leaves: bool, drawn: Callable[[Any], bool] = lambda row: True) -> _ToTies:
    """An arrow for each row, or for those for which it is `drawn`: from a wait to the thread that held the lock when it
    began, from where a task was created to where it ran."""

    def ties_of(answer: Answer[object], arrows: Arrows) -> _Ties:
        def ties(place: int, row: object) -> _Ends:
            arrow = arrows(kind, place) if drawn(row) else ()
            return (arrow, ()) if leaves else ((), arrow)

        return ties

    return ties_of


def _ran_later(row: Any) -> bool:
    return row.created_ns is not None and row.started_ns is not None and row.created_ns <= row.started_ns


def _requests(answer: Answer[object], arrows: Arrows) -> _Ties:
    """From a client's request to the server's, and from the one being served to those sent meanwhile."""
    leaves: dict[tuple[Any, int], list[int]] = defaultdict(list)
    reaches: dict[tuple[Any, int], list[int]] = defaultdict(list)
    names = ("process_id", "row", "start_ns", "peer_row", "parent_row", "side")
    rows = list(zip(*(answer.table("requests").column(name).tolist() for name in names), strict=True))
    starts = {(process, row): start for process, row, start, *_ in rows}
    for place, (process, row, start, peer, parent, side) in enumerate(rows):
        for kind, other in (("call", parent), ("peer", peer if side == "server" else None)):
            if other is not None and starts.get((process, other), start + 1) <= start:
                leaves[process, other] += arrows(kind, place)
                reaches[process, row] += arrows(kind, place)

    def ties(place: int, row: Any) -> _Ends:
        key = row.process_id, row.row
        return tuple(leaves[key]), tuple(reaches[key])

    return ties


_SIDES: Final = {"client": "requests sent", "server": "requests served"}
_PAUSE: Final = _kept("number", "suspend_ns", "held_up_ns", "thread_id", "lossy")
_TASK: Final = _kept("kind", "task_id", "parent_task_id", "latency_ns", "exceptional", "ambiguous", "lossy")

SHOWN: Final = (
    ShownRows(
        "states", "threads", "intervals", lambda row: row.state,
        _kept("reason", "evidence", "lock_id", "owner_thread_id", "task_id", "lossy"),
    ),
    ShownRows("pauses", "gc", "suspensions", lambda row: row.reason or "unknown", _PAUSE, thread=None),
    ShownRows("suspensions", "gc", "other_suspensions", lambda row: row.reason or "unknown", _PAUSE, thread=None),
    ShownRows(
        "collections", "gc", "collections", lambda row: f"generation {row.generation}, {row.kind}",
        _kept("number", "generation", "kind", "reason", "pause_ns", "suspend_ns", "heap_before_bytes",
              "heap_after_bytes", "promoted_bytes", "mechanisms", "lossy"),
        thread=None, label=_collection,
    ),
    ShownRows(
        "locks", "locks", "contentions", lambda row: row.method or "a lock",
        _kept("lock_id", "native", "owner_thread_id", "owner_method", "duration_ns", "lossy"),
        label=lambda row: f"thread {row.thread_id}",
        ties=_arrow_of("lock", True, lambda row: row.owner_thread_id is not None),
    ),
    ShownRows(
        "held", "locks", "contentions", lambda row: "holds a lock",
        lambda row: {"lock_id": row.lock_id, "waiting_thread_id": row.thread_id},
        end=None, thread="owner_thread_id", ties=_arrow_of("lock", False),
    ),
    ShownRows(
        "jit", "jit", "compilations", lambda row: row.method,
        _kept("tier", "module", "background", "il_bytes", "native_bytes", "recompiled", "dynamic", "lossy"),
        label=lambda row: _words(row.method, row.tier),
    ),
    ShownRows(
        "exceptions", "exceptions", "exceptions", lambda row: row.type or "an exception",
        _kept("message", "hresult", "throwing_method", "catching_method", "outcome", "duration_ns", "nested",
              "by_await", "lossy"),
        end=None,
    ),
    ShownRows(
        "tasks", "tasks", "tasks", lambda row: row.method or row.kind, _TASK,
        start="started_ns", end="completed_ns", ties=_arrow_of("task", False, _ran_later),
    ),
    ShownRows(
        "created", "tasks", "tasks", lambda row: row.kind, _TASK,
        start="created_ns", end=None, thread="created_thread_id", ties=_arrow_of("task", True, _ran_later),
    ),
    *(
        ShownRows(
            "requests", "requests", "requests", lambda row: _words(row.method, row.route) or "a request",
            _kept("method", "host", "url_path", "status", "failed", "queue_ns", "headers_ns", "exceptions",
                  "connection", "ambiguous", "lossy"),
            thread=None, ties=_requests, side=side,
            label=lambda row: _words(row.side, row.method, row.host, row.url_path, row.status),
        )
        for side in _SIDES
    ),
    ShownRows(
        "activities", "activities", "activities", lambda row: row.name,
        _kept("provider", "detail", "activity_id", "activity_path", "end_kind", "start_thread_id", "ambiguous",
              "lossy"),
        thread=None,
    ),
)  # fmt: skip
"""Everything but samples and counters, in this order."""


def sample_calls(samples: Samples, look: Look) -> Iterator[Placed]:
    """The calls that the profiler's samples show."""
    names = frame_names(samples, look)
    nameless = 0
    for thread, rows in zip(samples.threads, rows_by_thread(samples), strict=False):
        # Threads with ids that no system gives are different ones.
        nameless += thread.thread_id is None
        lane = nameless if thread.thread_id is None else 0
        track = Track("samples", GROUPS["samples"], thread.process_id, thread.thread_id, lane=lane)
        for call in calls(samples, rows):
            yield track, Stretch(call.start_ns, call.end_ns, names[call.frame])


def processor_time(samples: Samples) -> Iterator[Placed]:
    """How much of a processor each thread had, where the operating system counted it."""
    if samples.counted is None:
        return
    rows = samples.counted.windows
    process = samples.threads[0].process_id if samples.threads else None
    share = 100 * rows.processor / np.maximum(rows.end - rows.start, 1)
    for thread, of in rows.by_thread():
        if thread == NO_THREAD:
            continue
        track = Track("counters", "processor time", process, thread, unit="%")
        for start, level in zip(rows.start[of].tolist(), share[of].tolist(), strict=True):
            yield track, Level(start, min(level, 100.0))
        yield track, Level(int(rows.end[of[-1]]), 0.0)


def processors_in_use(answer: Answer[object]) -> Iterator[Placed]:
    """How many threads had a processor, by the report `threads`; nothing unless the kernel recorded it."""
    ready = answer.metrics["ready_total"]
    # Counts tell how much of each while, not when.
    if ready.value is None or ready.evidence == "counted":
        return
    rows = answer.table("intervals")
    runs = np.flatnonzero(np.array(rows.column("state").tolist(), dtype=object) == "running")
    whose = rows.column("process_id")
    process = np.where(whose.known, whose.filled(0), -1)[runs]
    for number in np.unique(process).tolist():
        runs_of_process = runs[process == number]
        starts, ends = rows.numbers("start_ns")[runs_of_process], rows.numbers("end_ns")[runs_of_process]
        moments, places = np.unique(np.concatenate((starts, ends)), return_inverse=True)
        steps = np.bincount(places, np.repeat((1, -1), len(runs_of_process)), len(moments))
        track = Track("counters", "processors in use", None if number < 0 else number)
        for moment, level in zip(moments.tolist(), np.cumsum(steps).tolist(), strict=True):
            yield track, Level(moment, level)


def counters(answer: Any) -> Iterator[Placed]:
    """The values of each series, by the report `counters`; those that have none are left out."""
    for (process, series), rows in grouped(answer.values, ("process_id", "series_row"), "time_ns"):
        for _, row in rows:
            if row.value is not None:
                track = Track("counters", f"{row.provider}/{row.label}", process, unit=row.unit, lane=series)
                yield track, Level(row.time_ns, row.value)


@dataclass(frozen=True)
class Timeline:
    """What is on the timeline of one trace. Times are nanoseconds since the session started."""

    look: Look
    end_ns: int
    samples: Samples
    answers: dict[str, Answer[object]]

    @property
    def start_ns(self) -> int | None:
        """When the session started, since 1970; None if unknown."""
        start = self.look.start
        return None if start is None else int(start.timestamp()) * 10**9 + start.microsecond * 1000

    @property
    def interval_ns(self) -> int | None:
        """The median time between two samples of a thread; None without samples."""
        interval: int | None = getattr(self.answers["threads"].facts, "sampling_period_ns", None)
        return interval

    @property
    def threads(self) -> list[ThreadName]:
        """The threads that the report `threads` knows, the first one of each id."""
        names: dict[tuple[int | None, int], ThreadName] = {}
        rows: Any = self.answers["threads"].table("threads")
        for row in rows:
            name = ThreadName(row.process_id, row.thread_id, row.name or row.role, row.role == "main")
            names.setdefault(name[:2], name)
        return list(names.values())

    @property
    def left_out(self) -> dict[Group, int]:
        """How many rows of reports have no place in time because their beginning is not in the trace."""
        counts = {shown.group: shown.left_out(self.answers[shown.report]) for shown in SHOWN}
        return {group: count for group, count in counts.items() if count and group != "held"}

    def items(self) -> Iterator[Placed]:
        """Everything except users' events. On each track, items are in order of time."""
        yield from sample_calls(self.samples, self.look)
        yield from processor_time(self.samples)
        yield from self.happenings()

    def happenings(self) -> Iterator[Placed]:
        """The same without the calls, for formats that have samples."""
        arrows = Arrows()
        for shown in SHOWN:
            yield from shown.items(self.answers[shown.report], arrows)
        yield from processors_in_use(self.answers["threads"])
        yield from counters(self.answers["counters"])


_REPORTS: Final = (*dict.fromkeys(shown.report for shown in SHOWN), "counters")


def read_timeline(trace: Trace, look: Look, process_id: int | None = None) -> Timeline:
    """Ask for all reports that a timeline shows, of one process or of all.

    Raises what `Trace.reports` and `read_samples` raise.
    """
    answers = reports_of(trace, _REPORTS, {"process_id": process_id})
    samples = read_samples(trace)
    samples = samples if process_id is None else samples.of_process(process_id)
    return Timeline(look, trace.duration_ns, samples, answers)

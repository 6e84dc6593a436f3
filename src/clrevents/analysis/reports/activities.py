"""Show activities of any provider, their parents and durations.

Says how each activity without a stop ended, as far as that is known; an inferred end gives neither a time nor a
duration. Decides nothing about pairs and parents; those that TraceEvent takes stand beside them, by its own rules.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, Note, count_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import NONE, groups, nearest_rank, nulled, numbered
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import (
    ACTIVITY_HEADERS,
    ACTIVITY_SELECTORS,
    ActivitySource,
    FlowKey,
    FlowKind,
    Signal,
    SignalKind,
    SignalReader,
)
from clrevents.schema.activity_path import activity_path
from clrevents.schema.registry import TPL
from clrevents.table.table import text_column

_DEEPEST: Final = 1000
"""How many pieces of work a thread may have begun inside one another."""
_NO_ID: Final = bytes(16)
_WAITS: Final = (FlowKind.WAIT, FlowKind.AWAIT)


@define(eq=False)
class _Carried:
    """Something that a thread carries on, and the activity that is current in it."""

    current: int = NONE
    flow: FlowKind = FlowKind.OTHER


class OfficialParents:
    """Sees each signal, and the row of each activity that begins.

    `parent` has an item for each row. `counts` says whether TraceEvent counts an id: whether it is a path. At most
    `most` pieces of work are kept.
    """

    def __init__(self, most: int, counts: Callable[[bytes], bool]) -> None:
        self._most = most
        self._counts = counts
        self.parent = array("q")
        self.overflowed = False
        """Whether something was forgotten, so that no later parent is known."""
        self._removed = bytearray()
        self._id: list[bytes] = []
        # A step towards the first ancestor that is not removed.
        self._up = array("q")
        self._live: dict[bytes, int] = {}
        self._threads: dict[int, deque[_Carried]] = {}
        self._cut: set[int] = set()
        self._scheduled: OrderedDict[FlowKey, _Carried] = OrderedDict()
        self._deferred: tuple[int, _Carried] | None = None

    def begin(self, signal: Signal, row: int) -> None:
        """An activity of this row begins; rows come in order. -1 for one that is not kept."""
        id = signal.activity or _NO_ID
        counted = signal.kind == SignalKind.CATCH or (signal.activity is not None and self._counts(id))
        if row == NONE:
            self.overflowed |= counted
            return
        parent = NONE
        if counted and not self.overflowed:
            self._remove()
            work = self._work(signal.thread_id)
            parent = self._live.get(signal.related, NONE) if signal.related is not None else NONE
            if parent == NONE:
                parent = self._left(work.current)
            self._live[id] = work.current = row
        self.parent.append(parent)
        self._up.append(parent)
        self._id.append(id)
        self._removed.append(False)

    def end(self, signal: Signal) -> None:
        """An activity ends. It stays current until the next begin or end, so that this event is in it."""
        id = signal.activity or _NO_ID
        if self.overflowed or not (signal.kind == SignalKind.CAUGHT or self._counts(id)):
            return
        self._remove()
        row = self._live.get(id, NONE)
        if row != NONE:
            self._deferred = row, self._work(signal.thread_id)

    def work(self, signal: Signal) -> None:
        """Work is handed over, begins or ends."""
        if self.overflowed:
            return
        thread = signal.thread_id
        if signal.kind == SignalKind.IDLE:
            self._push(thread, _Carried())
        elif signal.kind == SignalKind.DONE:
            self._pop(thread)
        elif signal.key is not None and signal.kind == SignalKind.CREATE:
            self._create(signal, signal.key)
        elif signal.key is not None:
            if signal.flow in _WAITS and self._work(thread).flow in _WAITS:
                self._pop(thread)
            begun = self._scheduled.pop(signal.key, None) or _Carried()
            if begun.flow != FlowKind.WAIT:
                self._push(thread, begun)

    def _create(self, signal: Signal, key: FlowKey) -> None:
        if signal.flow == FlowKind.SCHEDULED and key in self._scheduled:
            return
        self._scheduled.pop(key, None)
        self._scheduled[key] = _Carried(self._work(signal.thread_id).current, signal.flow)
        if len(self._scheduled) > self._most:
            self._scheduled.popitem(last=False)
            self.overflowed = True

    def _work(self, thread: int) -> _Carried:
        """What the thread carries on."""
        return self._stack(thread)[-1]

    def _stack(self, thread: int) -> deque[_Carried]:
        stack = self._threads.get(thread)
        if stack is None:
            stack = self._threads[thread] = deque((_Carried(),), _DEEPEST)
        return stack

    def _push(self, thread: int, work: _Carried) -> None:
        stack = self._stack(thread)
        if len(stack) == _DEEPEST:
            self._cut.add(thread)
        stack.append(work)

    def _pop(self, thread: int) -> None:
        stack = self._stack(thread)
        if len(stack) > 1:
            stack.pop()
        else:
            # Of a thread that goes on with what was forgotten, nothing more is known.
            self.overflowed |= thread in self._cut

    def _remove(self) -> None:
        """What ended before is over now."""
        if self._deferred is None:
            return
        row, work = self._deferred
        self._deferred = None
        self._removed[row] = True
        id, parent = self._id[row], self.parent[row]
        if self._live.get(id, NONE) == row:
            del self._live[id]
        work.current = self._left(parent)
        if parent != NONE and self._id[parent] == id and not self._removed[parent]:
            self._live[id] = parent

    def _left(self, row: int) -> int:
        """The first that is not over of an activity and its ancestors."""
        top = row
        while top != NONE and self._removed[top]:
            top = self._up[top]
        # What is over stays over, so that next time the way is short.
        while row != NONE and self._removed[row]:
            above = self._up[row]
            self._up[row] = top
            row = above
        return top


@table_row(span=("start_ns", "end_ns"))
class ActivityRow(SpanRow):
    """One activity, from its start event to its stop event."""

    row: cells.RowNumber = column("The activity's number in its process, in order of the starts, from 0.")
    parent_row: cells.RowNumber | None = column(
        "The row of the activity in which it started, by ids or by tasks; null if it is a root or the parent is "
        "unknown."
    )
    parent_by: cells.Word | None = column(
        "How the parent is known: `related_id`, or `task` (inferred from the task or await that carried the thread "
        "there, where the path in the id agrees); null without a parent.",
        hidden=True,
    )
    parent_traceevent_row: cells.RowNumber | None = column(
        "The row that TraceEvent takes for its parent, which may be whatever ran last on the thread.", hidden=True
    )
    activity_id: cells.Guid | None = column(
        "The activity id in the events' headers, which other activities may share; null for none.", hidden=True
    )
    activity_path: cells.Word | None = column("The numbers in the id as text; null if the id is not a path.")
    provider: cells.CodeName = column("The provider of its events.")
    name: cells.CodeName = column("The name of its events without `Start` and `Stop`.")
    detail: cells.PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: cells.Ns = column("When it started.")
    end_ns: cells.Ns | None = column("When it stopped; null without a stop event.")
    duration_ns: cells.DurationNs | None = column("From start to stop; null without a stop.")
    self_ns: cells.DurationNs | None = column(
        "How much of that is outside its children; null if it or a child has no stop."
    )
    end_kind: cells.Word = column("`stop`, or, without a stop event: `superseded`, `trace_end` or `unknown`.")
    ambiguous: cells.Flag = column(
        "The end or the parent may belong to another activity: another open one had the same id, or the ids are "
        "contradictory."
    )
    start_thread_id: cells.ThreadId = column("The thread that started it.")
    end_thread_id: cells.ThreadId | None = column("The thread that stopped it; null without a stop.", hidden=True)


@table_row
class ActivityName(Row):
    """All activities of one name that started in the window."""

    provider: cells.CodeName = column("The provider of their events.", importance=3)
    name: cells.CodeName = column("The name of their events without `Start` and `Stop`.", importance=0)
    count: cells.Count = column("How many started.", importance=1)
    stopped: cells.Count = column("How many of them have a stop event.", importance=3)
    total_ns: cells.DurationNs | None = column(
        "The total duration of those with a stop event, which may overlap; null if none has one.", importance=1
    )
    p50_ns: cells.DurationNs | None = column(
        "The median duration, by nearest rank; null if none has a stop.", importance=1
    )
    p90_ns: cells.DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: cells.DurationNs | None = column("The 99th percentile; null if none has a stop.", importance=3)
    max_ns: cells.DurationNs | None = column("The longest duration; null if none has a stop.")


@table_row(at="time_ns")
class OrphanStop(Row):
    """A stop event without a known start."""

    time_ns: cells.Ns = column("When it was written.")
    thread_id: cells.ThreadId = column("The thread that wrote it.")
    provider: cells.CodeName = column("Its provider.")
    name: cells.CodeName = column("Its name without `Stop`.")
    activity_id: cells.Guid | None = column("Its id; null if it has none.")
    activity_path: cells.Word | None = column("The numbers in the id as text; null if the id is not a path.")
    reason: cells.Word = column("`no_id` if it has no id, `no_start` if no open activity has its id and name.")


@table_row(at="start_ns")
class ActivityLeak(Row):
    """An activity that has no stop event."""

    row: cells.RowNumber = column("Its row in `activities`.")
    provider: cells.CodeName = column("The provider of its events.")
    name: cells.CodeName = column("The name of its events without `Start`.")
    detail: cells.PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: cells.Ns = column("When it started.")
    start_thread_id: cells.ThreadId = column("The thread that started it.")
    activity_path: cells.Word | None = column("The numbers in its id as text; null if it is no path.")
    end_kind: cells.Word = column("What is known about its end: `superseded`, `trace_end` or `unknown`.")


@table_row
class ActivitiesFacts:
    """The facts of a report on activities."""

    ids: cells.Flag = column("Whether start events have activity ids.")
    parents_by_task: cells.Count = column("How many parents are known from tasks rather than from related ids.")
    reused_ids: cells.Count = column("How many ids name more than one activity.")
    left_out: cells.Count = column("How many activities are not in the tables, because there are too many.")


Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_STOP, _SUPERSEDED, _TRACE_END, _UNKNOWN = range(4)
_END_KINDS: Final = ("stop", "superseded", "trace_end", "unknown")
_BY_ID, _BY_TASK = range(2)
_PARENT_BY: Final = ("related_id", "task")


class ActivityTables:
    """The tables of one process."""

    def __init__(self, context: Context, forest: ActivityForest, official: Sequence[int]) -> None:
        self._context = context
        self._forest = forest
        self._official = official
        self._paths: dict[bytes, tuple[str, str | None]] = {}
        self.start = np.array(forest.start, dtype=np.int64)
        self.stopped = np.frombuffer(bytes(forest.ended), dtype=np.bool_)
        self.end = np.where(self.stopped, np.array(forest.end, dtype=np.int64), FOREVER)
        self.duration = np.where(self.stopped, self.end - self.start, 0)
        self.begun = context.window.holds(self.start)
        """Which activities started in the window."""
        self.parent, self._by_task = self._parents()
        self.parents_by_task = int(self._by_task.sum())
        self.end_kind = self._end_kinds()
        self._source, self._sources = numbered(forest.source)

    def activities(self) -> ReportTable[ActivityRow]:
        """Each activity, in order of its start."""
        forest = self._forest
        parent, official = self.parent, np.array(self._official, dtype=np.int64)
        how = np.where(self._by_task, _BY_TASK, _BY_ID)
        ids = [self._id(id) for id in forest.activity]
        own, known = self._self_times()
        return self._context.table(
            ActivityRow,
            {
                "row": np.arange(len(forest)),
                "parent_row": nulled(parent, parent != NONE),
                "parent_by": [_PARENT_BY[way] if row != NONE else None for way, row in zip(how, parent, strict=True)],
                "parent_traceevent_row": nulled(official, official != NONE),
                "activity_id": [id[0] for id in ids],
                "activity_path": [id[1] for id in ids],
                "provider": text_column([source.provider for source in self._sources], self._source),
                "name": text_column([source.name for source in self._sources], self._source),
                "detail": forest.detail,
                "start_ns": self.start,
                "end_ns": nulled(self.end, self.stopped),
                "duration_ns": nulled(self.duration, self.stopped),
                "self_ns": nulled(own, known),
                "end_kind": text_column(_END_KINDS, self.end_kind),
                "ambiguous": np.frombuffer(bytes(forest.ambiguous), dtype=np.bool_),
                "start_thread_id": np.array(forest.thread, dtype=np.uint64),
                "end_thread_id": nulled(np.array(forest.end_thread, dtype=np.uint64), self.stopped),
            },
        )

    def names(self) -> ReportTable[ActivityName]:
        """Sums of those that started in the window, longest total first."""
        rows = []
        for number, places in groups(self._source, np.flatnonzero(self.begun)):
            source = self._sources[number]
            took = np.sort(self.duration[places[self.stopped[places]]])
            rows.append(
                ActivityName(
                    provider=source.provider,
                    name=source.name,
                    count=len(places),
                    stopped=len(took),
                    total_ns=int(took.sum()) if len(took) else None,
                    p50_ns=nearest_rank(took, 50),
                    p90_ns=nearest_rank(took, 90),
                    p99_ns=nearest_rank(took, 99),
                    max_ns=nearest_rank(took, 100),
                )
            )
        rows.sort(key=lambda one: (-(one.total_ns or 0), one.provider, one.name))
        return self._context.summed(ActivityName, rows)

    def leaks(self) -> ReportTable[ActivityLeak]:
        """Activities without a stop, in order of their starts."""
        forest = self._forest
        rows = np.flatnonzero(~self.stopped)
        chosen = rows.tolist()
        return self._context.table(
            ActivityLeak,
            {
                "row": rows,
                "provider": [forest.source[row].provider for row in chosen],
                "name": [forest.source[row].name for row in chosen],
                "detail": [forest.detail[row] for row in chosen],
                "start_ns": self.start[rows],
                "start_thread_id": np.array(forest.thread, dtype=np.uint64)[rows],
                "activity_path": [self._id(forest.activity[row])[1] for row in chosen],
                "end_kind": text_column(_END_KINDS, self.end_kind[rows]),
            },
        )

    def orphans(self) -> ReportTable[OrphanStop]:
        """Stops without a start, in order of time."""
        orphans = self._forest.orphans
        sources = [signal.source or ActivitySource("", "") for signal in orphans]
        ids = [self._id(signal.activity) for signal in orphans]
        return self._context.table(
            OrphanStop,
            {
                "time_ns": [signal.time_ns for signal in orphans],
                "thread_id": [signal.thread_id for signal in orphans],
                "provider": [source.provider for source in sources],
                "name": [source.name for source in sources],
                "activity_id": [id[0] for id in ids],
                "activity_path": [id[1] for id in ids],
                "reason": ["no_id" if signal.activity is None else "no_start" for signal in orphans],
            },
        )

    def reused_ids(self) -> int:
        """How many ids name more than one activity."""
        return len(self._reused)

    def _id(self, id: bytes | None) -> tuple[str | None, str | None]:
        """An id as text, and its path."""
        if id is None:
            return None, None
        texts = self._paths.get(id)
        if texts is None:
            guid = UUID(bytes=id)
            texts = self._paths[id] = str(guid), activity_path(guid, self._context.process_id)
        return texts

    def _parents(self) -> tuple[Ints, Mask]:
        """The parent of each, and which of these are known from tasks.

        Task parents are kept only where the events of tasks are complete, from their begins on.
        """
        forest = self._forest
        parent = np.array(forest.parent, dtype=np.int64)
        by_task = np.zeros(len(parent), dtype=np.bool_)
        rows = np.fromiter(forest.by_task, dtype=np.int64, count=len(forest.by_task))
        since = np.fromiter(forest.by_task.values(), dtype=np.int64, count=len(rows))
        sure = ~self._context.marks.touched(since, self.start[rows]) & forest.flows.complete
        sure &= ~np.isin(rows, forest.unconfirmed())
        parent[rows[~sure]] = NONE
        by_task[rows[sure]] = True
        # Where events were lost, an id that is given again may have been given again unseen.
        again = self._reused
        asked = np.flatnonzero((parent != NONE) & ~by_task)
        asked = asked[np.array([forest.activity[row] in again for row in parent[asked].tolist()], dtype=np.bool_)]
        parent[asked[self._context.marks.touched(self.start[parent[asked]], self.start[asked])]] = NONE
        return parent, by_task

    @cached_property
    def _reused(self) -> frozenset[bytes | None]:
        """The ids that name more than one activity."""
        catching = self._forest.catching
        once: set[bytes] = set()
        again: set[bytes] = set()
        for row, id in enumerate(self._forest.activity):
            if id is not None and not catching[row]:
                (again if id in once else once).add(id)
        return frozenset(again)

    def _end_kinds(self) -> Ints:
        forest = self._forest
        kinds = np.where(self.stopped, _STOP, _TRACE_END)
        left = np.flatnonzero(~self.stopped)
        # A stop may be among events that were lost.
        lossy = dict(zip(left.tolist(), self._context.marks.touched(self.start[left], self.end[left]), strict=True))
        for row in left.tolist():
            later = forest.last_idless.get(forest.source[row])
            if later is not None and later >= forest.start[row]:
                # A stop without an id may be its own. One is written after the same flow began the same anew.
                kinds[row] = _SUPERSEDED if forest.followed[row] else _UNKNOWN
            elif forest.catching[row] or forest.activity[row] is None or lossy[row]:
                kinds[row] = _UNKNOWN
            elif (parent := self.parent[row]) != NONE and self.stopped[parent]:
                # Which may stop its children without an event.
                kinds[row] = _UNKNOWN
        return kinds

    def _self_times(self) -> tuple[Ints, Mask]:
        """How much of each activity is outside its children, and for which activities that is known."""
        parents = self.parent.tolist()
        known, stopped = self.stopped.copy(), self.stopped.tolist()
        start, end = self.start.tolist(), self.end.tolist()
        covered, reach = [0] * len(start), list(start)
        # In order of their starts, so that what is covered only grows.
        for row, parent in enumerate(parents):
            if parent == NONE or not stopped[parent]:
                continue
            if not stopped[row]:
                known[parent] = False
                continue
            low, high = max(start[row], reach[parent]), min(end[row], end[parent])
            if high > low:
                covered[parent] += high - low
                reach[parent] = high
        return self.duration - np.array(covered, dtype=np.int64), known


_MOST: Final = 1_000_000
_IDS: Final = "activities"
_NEEDS: Final = (Need(_IDS, ("start-stop",), 0x80, 4, TPL, essential=True),)
_METRICS: Final = (
    count_of("count", "Activities that started."),
    count_of("stopped", "Those with a stop event."),
    count_of("never_stopped", "Those without a stop event.", "less", lossy="unknown"),
    count_of("orphans", "Stop events without a start.", "less", lossy="unknown"),
    count_of("ambiguous", "Activities whose end or parent may belong to another activity.", "less", lossy="unknown"),
)


@parameters
class ActivitiesParameters:
    """How much is kept."""

    most: int = parameter(_MOST, "How many activities to keep; later ones are only counted.")


@answer(
    name="activities",
    summary="count stopped never_stopped orphans",
    charts=(
        ChartDeclaration(
            "activities",
            "Activities that have a stop event, over time.",
            (Panel("activities", "start_ns", "name", "span", "provider", "end_ns"),),
        ),
    ),
)
class ActivitiesReport(Answer[ActivitiesFacts]):
    """Which activities there were, how long each took, and in which others they started.

    An activity spans a start event and a stop event of one provider: a request, for example, or whatever a program
    marks with the `…Start` and `…Stop` methods of its own event source. Start and stop are matched by the activity id
    in their headers, whichever threads they are written on; ids need the keyword 0x80 of
    System.Threading.Tasks.TplEventSource. Exception handlers, which the runtime writes with the id of the enclosing
    activity, are activities called `ExceptionHandling`.

    The parent is the one open activity with the start event's related id; if none or several have it, there is no
    parent. If the event has no related id, or its path contradicts it, the parent is the activity that created the task
    or await now running on the thread, provided the path agrees: this resolves recursive calls, each of which ends the
    enclosing one without an event. `parent_by` says which rule applied. An activity that merely ran earlier on the same
    thread is not a parent. TraceEvent falls back on that; its answer is in the column `parent_traceevent_row`.

    Ids are reused, and some versions of .NET give one id to several activities at once; those rows are `ambiguous`. The
    path is for reading only: it may be cut short, and parents are not derived from it.

    An activity without a stop event has no end. Its `end_kind` is `trace_end` if it was open when the trace ended, as
    far as can be seen from the events; `superseded` if the same flow started the same activity again, which ends the
    outer one without an event, and a stop without an id came later (an inference); `unknown` if its stop may have been
    lost, was written without an id, or was left out because its parent stopped.

    Durations are times from event to event. Children may overlap one another, and go on after the parent has stopped.
    Percentiles are nearest ranks over the activities that started in the window and have a stop.
    """

    names: ReportTable[ActivityName] = table("All activities of each name, longest total first.")
    activities: ReportTable[ActivityRow] = table("Each activity, in order of its start.")
    orphans: ReportTable[OrphanStop] = table("Each stop event without a start, in order of time.")
    leaks: ReportTable[ActivityLeak] = table("Each activity without a stop event, in order of its start.")


class ActivitiesCollector(Collector[ActivitiesReport]):
    """Keeps each activity, and the work that is not done yet."""

    selectors = ACTIVITY_SELECTORS
    headers = ACTIVITY_HEADERS

    def __init__(self, asked: ActivitiesParameters) -> None:
        self._most = asked.most
        self._reader = SignalReader()
        self._forest = ActivityForest(asked.most)
        self._official = OfficialParents(asked.most, self._counts)
        self._counted: dict[bytes, bool] = {}

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        forest, official = self._forest, self._official
        for signal in self._reader.read(chunk):
            match signal.kind:
                case SignalKind.BEGIN | SignalKind.CATCH:
                    official.begin(signal, forest.take(signal))
                case SignalKind.END | SignalKind.CAUGHT:
                    forest.take(signal)
                    official.end(signal)
                case SignalKind.RESUME | SignalKind.RETURN:
                    forest.take(signal)
                case _:
                    forest.take(signal)
                    official.work(signal)

    def finish(self, context: Context) -> ActivitiesReport:
        """Give the answer."""
        forest = self._forest
        tables = ActivityTables(context, forest, self._official.parent)
        ids = any(
            id is not None and not catching for id, catching in zip(forest.activity, forest.catching, strict=True)
        )
        known = ids or _IDS not in context.unknown
        begun = tables.begun
        orphans = tables.orphans()
        ambiguous = bytes(forest.ambiguous)
        numbers = {
            "count": int(begun.sum()),
            "stopped": int((begun & tables.stopped).sum()),
            "never_stopped": int((begun & ~tables.stopped).sum()),
            "orphans": len(orphans),
            "ambiguous": sum(flag for flag, begins in zip(ambiguous, begun.tolist(), strict=True) if begins),
        }
        complete = known and not forest.left_out
        return context.answer(
            ActivitiesReport,
            facts=ActivitiesFacts(
                ids=ids,
                parents_by_task=tables.parents_by_task,
                reused_ids=tables.reused_ids(),
                left_out=forest.left_out,
            ),
            metrics={name: value if complete else None for name, value in numbers.items()},
            notes=_notes(forest, self._official, numbers, self._most),
            seen=(_IDS,) if ids else (),
            names=tables.names(),
            activities=tables.activities(),
            orphans=orphans,
            leaks=tables.leaks(),
        )

    def _counts(self, id: bytes) -> bool:
        """Whether the official computer takes an id for one of an activity: those that are no paths it leaves out."""
        known = self._counted.get(id)
        if known is None:
            if len(self._counted) >= self._most:
                self._counted.clear()
            known = self._counted[id] = activity_path(UUID(bytes=id)) is not None
        return known


def _notes(forest: ActivityForest, official: OfficialParents, numbers: dict[str, int], most: int) -> list[Note]:
    notes = []
    if forest.left_out:
        left_out = counted(forest.left_out, "activity", "activities")
        text = f"there are {left_out} beyond the {most:,} that are kept, so sums are not given"
        limit = {"left_out": forest.left_out, "kept": most}
        notes.append(Note("too-many-activities", "warning", text, ("activities",), limit, "ask with a larger `most`"))
    if official.overflowed or forest.flows.overflowed:
        text = "too much work was open at once to follow; later parents by tasks, and TraceEvent's, are unknown"
        notes.append(Note("work-forgotten", "info", text, ("parent_row", "parent_traceevent_row"), {"kept": most}))
    if forest.contradicted:
        count = counted(forest.contradicted, "start event has", "start events have")
        text = (
            f"{count} the related id of an activity that merely ran earlier on the thread and is not its parent; "
            "stops may have such ids, too"
        )
        numbers_of = {"starts": forest.contradicted}
        notes.append(Note("stale-related-ids", "warning", text, ("parent_row", "end_ns"), numbers_of))
    if numbers["never_stopped"]:
        count = counted(numbers["never_stopped"], "activity has", "activities have")
        text = f"{count} no stop event; the table `leaks` lists them"
        notes.append(Note("never-stopped", "info", text, ("end_ns",), {"activities": numbers["never_stopped"]}))
    if numbers["orphans"]:
        count = counted(numbers["orphans"], "stop event has", "stop events have")
        text = f"{count} no start; the table `orphans` lists them"
        notes.append(Note("orphans", "info", text, ("orphans",), {"stops": numbers["orphans"]}))
    if numbers["ambiguous"]:
        count = counted(numbers["ambiguous"], "activity has", "activities have")
        text = f"{count} ids that other activities share, so ends or parents may belong to those"
        notes.append(Note("ambiguous-ids", "warning", text, ("ambiguous",), {"activities": numbers["ambiguous"]}))
    return notes


REPORT: Final = ReportDeclaration(
    answer=ActivitiesReport,
    question="Which activities were there, how long did each take, and what started them?",
    topic="time",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=ActivitiesCollector,
    in_part={"stopped": "at least", "never_stopped": "unknown", "orphans": "unknown"},
    parameters=ActivitiesParameters,
    examples=(
        ("Which activities took longest in total?", "clrevents activities app.nettrace"),
        ("When did each run, and inside which other?", "clrevents activities app.nettrace --table activities"),
        (
            "Which took longest?",
            "clrevents activities app.nettrace --table activities --sort duration_ns --limit 20",
        ),
        ("Which stops have no start?", "clrevents activities app.nettrace --table orphans"),
        ("Which activities were never stopped?", "clrevents activities app.nettrace --table leaks"),
    ),
    not_compared="its activities are requests and tasks",
)
"""The report on activities."""

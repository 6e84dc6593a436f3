"""The rows of the report on activities, and a forest of activities → its tables.

Says how each activity without a stop ended, as far as that is known. Decides nothing about pairs and parents. An
inferred end gives neither a time nor a duration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Guid,
    Ns,
    PrivateText,
    Row,
    RowNumber,
    SpanRow,
    ThreadId,
    Word,
    column,
)
from clrevents.analysis.framework.vocabulary.row_class import row as table_row
from clrevents.analysis.gathering.groups import NONE, groups, nearest_rank, nulled, numbered
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import ActivitySource
from clrevents.schema.activity_path import activity_path
from clrevents.table.table import text_column


@table_row(span=("start_ns", "end_ns"))
class ActivityRow(SpanRow):
    """One activity, from its start event to its stop event."""

    row: RowNumber = column("The activity's number in its process, in order of the starts, from 0.")
    parent_row: RowNumber | None = column(
        "The row of the activity in which it started, by ids or by tasks; null if it is a root or the parent is "
        "unknown."
    )
    parent_by: Word | None = column(
        "How the parent is known: `related_id`, or `task` (inferred from the task or await that carried the thread "
        "there, where the path in the id agrees); null without a parent.",
        hidden=True,
    )
    parent_traceevent_row: RowNumber | None = column(
        "The row that TraceEvent takes for its parent, which may be whatever ran last on the thread.", hidden=True
    )
    activity_id: Guid | None = column(
        "The activity id in the events' headers, which other activities may share; null for none.", hidden=True
    )
    activity_path: Word | None = column("The numbers in the id as text; null if the id is not a path.")
    provider: CodeName = column("The provider of its events.")
    name: CodeName = column("The name of its events without `Start` and `Stop`.")
    detail: PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: Ns = column("When it started.")
    end_ns: Ns | None = column("When it stopped; null without a stop event.")
    duration_ns: DurationNs | None = column("From start to stop; null without a stop.")
    self_ns: DurationNs | None = column("How much of that is outside its children; null if it or a child has no stop.")
    end_kind: Word = column("`stop`, or, without a stop event: `superseded`, `trace_end` or `unknown`.")
    ambiguous: Flag = column(
        "The end or the parent may belong to another activity: another open one had the same id, or the ids are "
        "contradictory."
    )
    start_thread_id: ThreadId = column("The thread that started it.")
    end_thread_id: ThreadId | None = column("The thread that stopped it; null without a stop.", hidden=True)


@table_row
class ActivityName(Row):
    """All activities of one name that started in the window."""

    provider: CodeName = column("The provider of their events.", importance=3)
    name: CodeName = column("The name of their events without `Start` and `Stop`.", importance=0)
    count: Count = column("How many started.", importance=1)
    stopped: Count = column("How many of them have a stop event.", importance=3)
    total_ns: DurationNs | None = column(
        "The total duration of those with a stop event, which may overlap; null if none has one.", importance=1
    )
    p50_ns: DurationNs | None = column("The median duration, by nearest rank; null if none has a stop.", importance=1)
    p90_ns: DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none has a stop.", importance=3)
    max_ns: DurationNs | None = column("The longest duration; null if none has a stop.")


@table_row(at="time_ns")
class OrphanStop(Row):
    """A stop event without a known start."""

    time_ns: Ns = column("When it was written.")
    thread_id: ThreadId = column("The thread that wrote it.")
    provider: CodeName = column("Its provider.")
    name: CodeName = column("Its name without `Stop`.")
    activity_id: Guid | None = column("Its id; null if it has none.")
    activity_path: Word | None = column("The numbers in the id as text; null if the id is not a path.")
    reason: Word = column("`no_id` if it has no id, `no_start` if no open activity has its id and name.")


@table_row(at="start_ns")
class ActivityLeak(Row):
    """An activity that has no stop event."""

    row: RowNumber = column("Its row in `activities`.")
    provider: CodeName = column("The provider of its events.")
    name: CodeName = column("The name of its events without `Start`.")
    detail: PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: Ns = column("When it started.")
    start_thread_id: ThreadId = column("The thread that started it.")
    activity_path: Word | None = column("The numbers in its id as text; null if it is no path.")
    end_kind: Word = column("What is known about its end: `superseded`, `trace_end` or `unknown`.")


@table_row
class ActivitiesFacts:
    """The facts of a report on activities."""

    ids: Flag = column("Whether start events have activity ids.")
    parents_by_task: Count = column("How many parents are known from tasks rather than from related ids.")
    reused_ids: Count = column("How many ids name more than one activity.")
    left_out: Count = column("How many activities are not in the tables, because there are too many.")


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
        for number, mine in groups(self._source, np.flatnonzero(self.begun)):
            source = self._sources[number]
            took = np.sort(self.duration[mine[self.stopped[mine]]])
            rows.append(
                ActivityName(
                    provider=source.provider,
                    name=source.name,
                    count=len(mine),
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
        found = self._forest.orphans
        sources = [signal.source or ActivitySource("", "") for signal in found]
        ids = [self._id(signal.activity) for signal in found]
        return self._context.table(
            OrphanStop,
            {
                "time_ns": [signal.time_ns for signal in found],
                "thread_id": [signal.thread_id for signal in found],
                "provider": [source.provider for source in sources],
                "name": [source.name for source in sources],
                "activity_id": [id[0] for id in ids],
                "activity_path": [id[1] for id in ids],
                "reason": ["no_id" if signal.activity is None else "no_start" for signal in found],
            },
        )

    def reused_ids(self) -> int:
        """How many ids name more than one activity."""
        return len(self._reused)

    def _id(self, id: bytes | None) -> tuple[str | None, str | None]:
        """An id as text, and its path."""
        if id is None:
            return None, None
        found = self._paths.get(id)
        if found is None:
            guid = UUID(bytes=id)
            found = self._paths[id] = str(guid), activity_path(guid, self._context.process_id)
        return found

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
            elif forest.catching[row] or forest.activity[row] is None or lossy[row] or self._parent_stopped(row):
                kinds[row] = _UNKNOWN
        return kinds

    def _parent_stopped(self, row: int) -> bool:
        """Whether the parent was stopped, which may stop its children without an event."""
        parent = self.parent[row]
        return bool(parent != NONE and self.stopped[parent])

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

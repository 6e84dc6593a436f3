"""A sample report about start-stop activities of any EventSource: patterns, rows that refer to rows, sums on the way.

Pairs by activity id within a process. What runs is held, and what ended, where rows are asked for; without them only
sums are held, so that a stream may go on for ever.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration, TimeWindow
from clrevents.analysis.framework.vocabulary.cells import (
    Count,
    DurationNs,
    Guid,
    Ns,
    PrivateText,
    RowNumber,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row

_TASKS: Final = "System.Threading.Tasks.TplEventSource"
_SUFFIXES: Final = ("Start", "Stop")


@row(span=("start_ns", "end_ns"), threads=("start_thread_id", "end_thread_id"))
class Activity(SpanRow):
    """One activity."""

    row: RowNumber = column("Its number, in order of starts.")
    parent_row: RowNumber | None = column("The activity in which it began, by the related id.")
    name: PrivateText = column("Provider and event, without `Start`.")
    activity_id: Guid = column("Its id.", hidden=True)
    start_ns: Ns = column("When it began.")
    end_ns: Ns | None = column("When it ended; null where the trace does not have it.")
    duration_ns: DurationNs | None = column("Between the two.")
    end_kind: Word = column("`stop`, `superseded` by the next of its id, or `trace_end`.")
    start_thread_id: ThreadId | None = column("The thread on which it began.")
    end_thread_id: ThreadId | None = column("The thread on which it ended.")


@row
class ActivityKind(Row):
    """All activities of one name."""

    name: PrivateText = column("Provider and event, without `Start`.")
    count: Count = column("How many began in the window.")
    stopped: Count = column("How many of all ended.")
    spent_ns: DurationNs = column("How long those that ended took within the window.")


@row
class ActivityFacts:
    """Circumstances."""

    orphans: Count = column("Stops without a start.")


@parameters
class ActivityParameters:
    """What may be asked for."""

    rows: bool = parameter(True, "Give each activity.")


@answer(name="sample-activities")
class ActivityReport(Answer[ActivityFacts]):
    """Which activities ran, and in which others."""

    kinds: ReportTable[ActivityKind] = table("Sums by name.")
    activities: ReportTable[Activity] = table("Each activity.", bulk=True)


@attrs.define
class _Running:
    row: int
    parent: int | None
    name: str
    id: str
    start: int
    thread: int | None


@attrs.define
class _Sums:
    count: int = 0
    stopped: int = 0
    spent: int = 0


class Activities(Collector[ActivityReport]):
    """Holds what runs, sums by name, and finished rows where they are asked for."""

    selectors = ("*Start", "*Stop")
    headers = ("time_ns", "thread_id", "activity_id", "related_activity_id", "opcode")

    def __init__(self, parameters: ActivityParameters) -> None:
        self.keeps = parameters.rows
        self.running: dict[str, _Running] = {}
        self.sums: dict[str, _Sums] = {}
        self.rows: list[tuple[Any, ...]] = []
        self.begun = 0
        self.orphans = 0

    def take(self, chunk: ReportChunk) -> None:
        events = []
        for qualified, rows in chunk.events.items():
            provider, _, name = qualified.rpartition("/")
            if provider.startswith("Microsoft-Windows-DotNETRuntime") or provider == _TASKS:
                continue
            columns = (rows.column(header).tolist() for header in self.headers)
            for place, *values in zip(rows.places.tolist(), *columns, strict=True):
                events.append((place, f"{provider}/{name}", *values))
        for _, name, time, thread, activity, related, opcode in sorted(events):
            begins = opcode == 1 or (opcode != 2 and name.endswith("Start"))
            kind = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)
            if begins and activity is not None:
                self.start(kind, time, thread, activity.hex(), related, chunk.window)
            elif not begins:
                self.stop(kind, time, thread, None if activity is None else activity.hex(), chunk.window)

    def start(self, name: str, time: int, thread: int | None, id: str, related: Any, window: TimeWindow) -> None:
        if id in self.running:
            self.end(self.running.pop(id), None, None, "superseded")
        parent = None if related is None else self.running.get(related.hex())
        self.running[id] = _Running(self.begun, None if parent is None else parent.row, name, id, time, thread)
        self.begun += 1
        sums = self.sums.setdefault(name, _Sums())
        sums.count += window.low <= time < window.high

    def stop(self, name: str, time: int, thread: int | None, id: str | None, window: TimeWindow) -> None:
        mine = None if id is None else self.running.get(id)
        if mine is None or mine.name != name:
            self.orphans += 1
            return
        del self.running[mine.id]
        sums = self.sums[name]
        sums.stopped += 1
        sums.spent += max(min(time, window.high) - max(mine.start, window.low), 0)
        self.end(mine, time, thread, "stop")

    def end(self, mine: _Running, time: int | None, thread: int | None, kind: str) -> None:
        if self.keeps:
            took = None if time is None else time - mine.start
            values = mine.row, mine.parent, mine.name, mine.id, mine.start, time, took, kind, mine.thread, thread
            self.rows.append(values)

    def finish(self, context: Context) -> ActivityReport:
        for mine in self.running.values():
            self.end(mine, None, None, "trace_end")
        self.rows.sort()
        names = list(Activity.__annotations__)
        activities = context.table(Activity, {name: [v[i] for v in self.rows] for i, name in enumerate(names)})
        kinds = sorted(self.sums.items())
        sums = {
            "name": [name for name, _ in kinds],
            "count": [found.count for _, found in kinds],
            "stopped": [found.stopped for _, found in kinds],
            "spent_ns": [found.spent for _, found in kinds],
        }
        made: ActivityReport = context.answer(
            ActivityReport,
            facts=ActivityFacts(orphans=self.orphans),
            metrics={
                "count": sum(found.count for found in self.sums.values()),
                "spent": sum(found.spent for found in self.sums.values()),
            },
            seen=("activity ids",) if self.begun else (),
            kinds=context.table(ActivityKind, sums),
            activities=activities,
        )
        return made


REPORT: Final = ReportDeclaration(
    ActivityReport,
    "Which activities ran?",
    "program",
    # No event says that ids flow: only the ids themselves do.
    (Need("activity ids", ("any",), 0x80, provider=_TASKS, essential=True, proof=0),),
    (
        MetricDeclaration("count", "count", "How many began."),
        MetricDeclaration("spent", "ns", "How long those that ended took."),
    ),
    Activities,
    ActivityParameters,
    in_part={"*": "unknown"},
)

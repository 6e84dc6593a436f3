"""Show activities of any provider, their parents and durations."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.activities.activity_tables import (
    ActivitiesFacts,
    ActivityLeak,
    ActivityName,
    ActivityRow,
    ActivityTables,
    OrphanStop,
)
from clrevents.analysis.reports.activities.official_parents import OfficialParents
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import (
    ACTIVITY_HEADERS,
    ACTIVITY_SELECTORS,
    SignalKind,
    SignalReader,
)
from clrevents.schema.activity_path import activity_path
from clrevents.schema.registry import TPL

_MOST: Final = 1_000_000
_IDS: Final = "activities"
_NEEDS: Final = (Need(_IDS, ("start-stop",), 0x80, 4, TPL, essential=True),)
_METRICS: Final = (
    MetricDeclaration("count", "count", "Activities that started."),
    MetricDeclaration("stopped", "count", "Those with a stop event."),
    MetricDeclaration("never_stopped", "count", "Those without a stop event.", "less", lossy="unknown"),
    MetricDeclaration("orphans", "count", "Stop events without a start.", "less", lossy="unknown"),
    MetricDeclaration(
        "ambiguous", "count", "Activities whose end or parent may belong to another activity.", "less", lossy="unknown"
    ),
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
            "ambiguous": sum(flag for flag, mine in zip(ambiguous, begun.tolist(), strict=True) if mine),
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

"""A sample report about moments at which all threads stand: pairs with begins and ends that are missing.

Subclasses select other pairs of events, or break a law.
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import NoParameters, ReportDeclaration
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, SpanRow, column, row

SUSPEND: Final = "runtime/GCSuspendEEBegin"
RESTART: Final = "runtime/GCRestartEEEnd"


@row(span=("start_ns", "end_ns"), threads=("thread_id", "end_thread_id"))
class Pause(SpanRow):
    """One pause."""

    start_ns: cells.Ns | None = column("When the runtime began to stop the threads; null if that is not in the trace.")
    end_ns: cells.Ns | None = column("When they ran again; null where the trace does not have it.")
    duration_ns: cells.DurationNs | None = column("Between the two.")
    thread_id: cells.ThreadId | None = column("The thread that stopped the others.")
    end_thread_id: cells.ThreadId | None = column("The thread that let them run.")
    stack_id: cells.StackId = column("Where it was stopped.", hidden=True)


@row
class PauseFacts:
    """Circumstances."""

    unfinished: cells.Count | None = column("How many pauses have no end.")


@answer(name="pauses")
class PauseReport(Answer[PauseFacts]):
    """When all threads stood."""

    pauses: ReportTable[Pause] = table("Each pause.")


class Pauses(Collector[PauseReport]):
    """Holds the open pause and the rows that are finished, and so nothing that grows with other events."""

    selectors = (SUSPEND, RESTART)

    def __init__(self, parameters: NoParameters) -> None:
        self.open: tuple[int, int | None, int] | None = None
        self.rows: list[tuple[Any, ...]] = []

    def take(self, chunk: ReportChunk) -> None:
        events = []
        for selector, rows in chunk.events.items():
            columns = (rows.column(name).tolist() for name in ("time_ns", "thread_id", "stack_id"))
            events += [
                (place, selector, *values) for place, *values in zip(rows.places.tolist(), *columns, strict=True)
            ]
        for _, selector, time, thread, stack in sorted(events):
            if selector.endswith(("Begin", "Start")):
                self.close(None, None)
                self.open = time, thread, stack
            elif self.open is None:
                self.rows.append((None, time, None, None, thread, 0))
            else:
                self.close(time, thread)

    def close(self, end_ns: int | None, thread: int | None) -> None:
        if self.open is not None:
            start, first, stack = self.open
            self.rows.append((start, end_ns, None if end_ns is None else end_ns - start, first, thread, stack))
            self.open = None

    def finish(self, context: Context) -> PauseReport:
        self.close(None, None)
        names = ("start_ns", "end_ns", "duration_ns", "thread_id", "end_thread_id", "stack_id")
        columns = {name: [values[place] for values in self.rows] for place, name in enumerate(names)}
        pauses = context.table(Pause, columns)
        durations = [one.duration_ns for one in pauses if one.duration_ns is not None]
        made: PauseReport = context.answer(
            PauseReport,
            facts=PauseFacts(unfinished=sum(one.end_ns is None for one in pauses)),
            metrics={
                "count": int(context.begun(pauses).sum()),
                "pause_total": int(context.overlap(pauses).sum()),
                "pause_max": max(durations, default=None),
            },
            pauses=pauses,
        )
        return made


REPORT: Final = ReportDeclaration(
    PauseReport,
    "When did everything stand?",
    "memory",
    (Need("pauses", ("GCSuspendEEBegin",), 1, essential=True),),
    (
        count_of("count", "How many."),
        time_of("pause_total", "In all.", better="less"),
        time_of("pause_max", "The longest.", merge="max"),
    ),
    Pauses,
    NoParameters,
    in_part={"*": "unknown"},
)

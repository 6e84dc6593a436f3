"""Show when finalizers ran, for how long, and for how many objects.

One thread does nothing else, so an end belongs to the last begin.
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

BEGIN: Final = "runtime/GCFinalizersBegin"
END: Final = "runtime/GCFinalizersEnd"


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class FinalizerRun(SpanRow):
    """One run."""

    start_ns: cells.Ns | None = column("When it began; null if before the trace did.")
    end_ns: cells.Ns | None = column("When it ended; null if not before the trace did.")
    duration_ns: cells.DurationNs | None = column("Between the two.")
    thread_id: cells.ThreadId | None = column("The thread that ran them.")
    finalized: cells.Count | None = column("The objects whose finalizers ran; null without an end.")


@row
class FinalizerFacts:
    """Circumstances."""

    running: cells.Flag | None = column("Whether a run has no end.")


@answer(name="finalizers", summary="count finalized finalize_total")
class FinalizersReport(Answer[FinalizerFacts]):
    """When finalizers ran. Threads of the program go on meanwhile; what waits is the memory of the next objects.

    Times are those of whole runs: which object took how long is not recorded.
    """

    runs: ReportTable[FinalizerRun] = table("Each run of finalizers.")


class FinalizerRuns(Collector[FinalizersReport]):
    """Holds the open run, and those that are over."""

    selectors = (BEGIN, END)

    def __init__(self, parameters: NoParameters) -> None:
        self.open: tuple[int, int] | None = None
        self.runs: list[FinalizerRun] = []

    def take(self, chunk: ReportChunk) -> None:
        seen: list[tuple[Any, ...]] = []
        for selector, events in chunk.events.items():
            counts = events.column("Count").tolist() if selector == END else [None] * len(events)
            times, threads = (events.column(name).tolist() for name in ("time_ns", "thread_id"))
            seen += zip(events.places.tolist(), times, threads, counts, strict=True)
        for _, time, thread, count in sorted(seen):
            if count is None:
                self.close()
                self.open = time, thread
            else:
                self.close(time, thread, count)

    def close(self, end: int | None = None, thread: int | None = None, count: int | None = None) -> None:
        if self.open is not None or end is not None:
            start, began_on = self.open or (None, thread)
            duration = None if start is None or end is None else end - start
            self.runs.append(
                FinalizerRun(start_ns=start, end_ns=end, duration_ns=duration, thread_id=began_on, finalized=count)
            )
            self.open = None

    def finish(self, context: Context) -> FinalizersReport:
        running = self.open is not None
        self.close()
        runs = context.table(FinalizerRun, self.runs)
        begun = context.begun(runs)
        counts = [run.finalized for run, inside in zip(runs, begun.tolist(), strict=True) if inside]
        return context.answer(
            FinalizersReport,
            facts=FinalizerFacts(running=running),
            metrics={
                "count": int(begun.sum()),
                "finalized": sum(filter(None, counts)),
                "finalize_total": int(context.overlap(runs).sum()),
            },
            runs=runs,
        )


REPORT: Final = ReportDeclaration(
    answer=FinalizersReport,
    question="When did finalizers run, and how long did they take?",
    topic="memory",
    needs=(Need("runs of finalizers", ("GCFinalizersBegin", "GCFinalizersEnd"), 0x1, essential=True),),
    metrics=(
        count_of("count", "Runs of finalizers."),
        count_of("finalized", "Objects whose finalizers ran."),
        time_of("finalize_total", "The durations of all runs.", better="less"),
    ),
    collector=FinalizerRuns,
    parameters=NoParameters,
    examples=(("How long did finalizers run?", "clrevents finalizers FILE"),),
)

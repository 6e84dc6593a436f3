"""What was thrown, where, who caught it, and what it cost."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import ComparedRows, Dated, Metric, MetricDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.exceptions.exception_build import built
from clrevents.analysis.reports.exceptions.exception_flights import EVENTS, HEADERS, KEPT
from clrevents.analysis.reports.exceptions.exception_tables import (
    ExceptionFacts,
    ExceptionGroup,
    ExceptionInterval,
    ExceptionMessage,
    ExceptionOutcome,
    ExceptionSums,
    ThrownException,
)
from clrevents.analysis.shared.samples.sample_parameters import MY_CODE

_HANDLERS: Final = "exception handlers and their times"
_NEEDS: Final = (
    Need("exceptions", ("ExceptionThrown",), 0x8000, 2, essential=True),
    Need(_HANDLERS, tuple(name.partition("/")[2] for name in EVENTS[1:]), 0x8000, 4),
)
_METRICS: Final = (
    MetricDeclaration(
        "thrown", "count", "Exceptions thrown for the first time while no other was being handled.", better="less"
    ),
    MetricDeclaration(
        "count",
        "count",
        "All exceptions, each counted once: `thrown`, `nested` and `rethrown_by_await`.",
        better="less",
        quantity="exceptions.thrown",
        dated=Dated("exceptions"),
    ),
    MetricDeclaration("rethrown", "count", "How often `throw;` rethrew one of them.", lossy="unknown"),
    MetricDeclaration(
        "nested", "count", "Exceptions thrown for the first time while another was being handled.", lossy="unknown"
    ),
    MetricDeclaration(
        "rethrown_by_await",
        "count",
        "Exceptions that had been captured, mostly by a task, and were rethrown.",
        evidence="inferred",
    ),
    MetricDeclaration("filtered", "count", "How often a filter accepted an exception.", evidence="inferred"),
    MetricDeclaration(
        "in_flight",
        "count",
        "Exceptions that no handler had caught when the trace ended, or that left their thread.",
        lossy="unknown",
    ),
    MetricDeclaration("without_throw", "count", "Exceptions whose throw is not in the trace.", lossy="unknown"),
    MetricDeclaration("unmatched", "count", "Ends of handlers whose start is not in the trace.", lossy="unknown"),
    MetricDeclaration(
        "dispatch_total",
        "ns",
        "How long searching for handlers took, including filters and finally handlers.",
        better="less",
        lossy="unknown",
        dated=Dated("exceptions", amount="dispatch_ns"),
    ),
    MetricDeclaration(
        "handling_total", "ns", "How long catch handlers took, including what they rethrew.", lossy="unknown"
    ),
    MetricDeclaration(
        "dispatch_median", "ns", "The median time from a throw to its catch handler.", better="less", merge="none"
    ),
    MetricDeclaration(
        "dispatch_max",
        "ns",
        "The longest time from a throw to its catch handler.",
        better="less",
        merge="max",
        lossy="unknown",
    ),
)


@parameters
class ExceptionsParameters:
    """How methods are named."""

    raw: bool = RAW
    my_code: bool = MY_CODE


_CHART: Final = ChartDeclaration(
    "rate",
    "How many exceptions were thrown in each interval.",
    (Panel("timeline", "start_ns", "thrown"),),
)


@answer(
    name="exceptions",
    summary="thrown rethrown nested in_flight dispatch_total dispatch_max",
    charts=(_CHART,),
)
class ExceptionsReport(Answer[ExceptionFacts]):
    """What was thrown, by which method, who caught it, how often, and how long that took.

    An exception is counted once, where it was thrown: as `thrown`, as `nested` if another was being handled on its
    thread, or as `rethrown_by_await` if it had been captured, for example by a task, and was rethrown, which follows
    from the stack. `rethrown` counts how often `throw;` rethrew one of these. From .NET 9 on, `throw;` raises no event
    of its own and is recognized by a second catch handler, so a rethrow that is never caught is not counted.

    The throwing method is the innermost one that is not part of the runtime's dispatch. It may be a framework helper;
    `my_code` looks for the first method of the program.

    Dispatch lasts from the throw to the start of the first catch handler: the search for it, filters, and finally
    handlers on the way. Handling lasts from there to the end of the last catch handler. Time spent on an exception
    thrown meanwhile counts for that exception alone, so times can be added up.

    Whether a filter accepted is not recorded. It is assumed to have accepted if the catch handler that begins next lies
    directly after it; if a filter's own handler never ran, that handler may belong to another filter.

    In a window, an exception counts where it was thrown, with the part of its time inside the window.
    """

    groups: ReportTable[ExceptionGroup] = table(
        "Exceptions by type, throwing and catching method, most frequent first."
    )
    messages: ReportTable[ExceptionMessage] = table(
        "Exceptions by type and message, with numbers and ids replaced by `#`."
    )
    outcomes: ReportTable[ExceptionOutcome] = table("What became of exceptions.")
    timeline: ReportTable[ExceptionInterval] = table("What was thrown over time, in equal intervals.")
    exceptions: ReportTable[ThrownException] = table("Each exception, in order of time.", bulk=True)


class ExceptionsCollector(KeepingCollector[ExceptionsReport]):
    """Keeps a few columns of each exception event."""

    selectors = EVENTS
    headers = HEADERS
    stacks = True

    def __init__(self, asked: ExceptionsParameters) -> None:
        self._asked = asked
        self._kept = Kept({selector: (*HEADERS, *columns) for selector, columns in KEPT.items()})

    def finish(self, context: Context) -> ExceptionsReport:
        """Give the answer."""
        handled = _HANDLERS not in context.unknown
        rows = self._kept.all(EVENTS, context.nothing)
        found = built(context, rows, handled, self._asked.raw, self._asked.my_code)
        listed = context.table(ThrownException, found.columns)
        sums = ExceptionSums(context, found, listed, handled)
        counts = sums.metrics() if "exceptions" not in context.unknown or len(listed) else {}
        numbers: dict[str, int | Metric | None] = {**counts}
        if counts.get("count") and not (handled and context.named):
            # Names show what an await rethrew, and handlers what was thrown while another was handled.
            again = counts["rethrown_by_await"]
            numbers["rethrown_by_await"] = context.metric("rethrown_by_await", again or None, least=bool(again))
            for name in ("thrown", "nested"):
                numbers[name] = context.metric(name, counts[name], most=True)
        return context.answer(
            ExceptionsReport,
            facts=ExceptionFacts(rethrows_by=found.rethrows_by),
            metrics={metric.name: numbers.get(metric.name) for metric in context.metrics},
            groups=sums.groups(),
            messages=sums.messages(),
            outcomes=sums.outcomes(),
            timeline=sums.timeline(),
            exceptions=listed,
        )


REPORT: Final = ReportDeclaration(
    answer=ExceptionsReport,
    question="What is thrown, where, and what does it cost?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=ExceptionsCollector,
    in_part={
        "thrown": "at most",
        **dict.fromkeys(("nested", "dispatch_total", "dispatch_max", "handling_total"), "at least"),
        **dict.fromkeys(("in_flight", "dispatch_median", "unmatched", "without_throw"), "unknown"),
    },
    parameters=ExceptionsParameters,
    shown=("thrown", "nested", "dispatch_ns", "type", "throwing_method", "catching_method"),
    examples=(
        ("What is thrown, and by which method?", "clrevents exceptions app.nettrace"),
        ("Where does my own code throw?", "clrevents exceptions app.nettrace --my-code"),
        ("What do the messages say?", "clrevents exceptions app.nettrace --table messages"),
        ("When were the most thrown?", "clrevents exceptions app.nettrace --table timeline"),
        ("Which exception took longest?", "clrevents exceptions app.nettrace --table exceptions --sort dispatch_ns"),
    ),
    compared=(ComparedRows("exceptions", "exceptions", ("type", "throwing_method")),),
)

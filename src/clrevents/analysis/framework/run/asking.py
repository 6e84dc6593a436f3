"""Asks a trace, or a decoder, for reports by name: one pass for all of them.

A report is a module or package of `clrevents.analysis.reports`, whose `REPORT` is its declaration. Joins passes of
`trace` with one reading of reports. If a trace is broken, the error carries the answers so far.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from clrevents._util.words import unknown
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import ReadingNames
from clrevents.analysis.framework.model.declaration import AnyReport, ReportDeclaration, WindowOptions, parameters_of
from clrevents.analysis.framework.model.needs import stack_holes, trace_holes
from clrevents.analysis.framework.run import report_reading
from clrevents.analysis.framework.run.listing import ROOM
from clrevents.analysis.framework.run.listing import report_names as report_names
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, TimeWindow
from clrevents.analysis.gathering.groups import Gathered, near_ns
from clrevents.errors import TraceError
from clrevents.table.read import AddressStacks, TableChunk
from clrevents.table.table import Table, header_fields
from clrevents.trace import Trace, modules_of, passes_of, seeing_code

_ROWS: Final = 1 << 16


Cut: TypeAlias = Callable[[Iterator[TableChunk]], Iterable[TableChunk]]
"""Cuts chunks differently; no answer depends on how."""


def ask(
    trace: Trace, asked: Sequence[report_reading.Asked], options: WindowOptions, cut: Cut = iter
) -> dict[str, Answer[object]]:
    """The answers of these reports, from one pass over the trace.

    A TraceError that ends the reading has the answers so far as `report`, by name.
    """
    passes = passes_of(trace)
    window = trace_window(trace, options)
    headers: tuple[str, ...] = ()

    def nothing(selector: str) -> Gathered:
        event = passes.one_event(report_reading.patient(selector))
        fields = passes.fields(event, known=True) if event is not None else ()
        return Gathered.empty(event, Table((*header_fields(headers), *fields)))

    events = {}

    def one_event(selector: str) -> tuple[str, str] | None:
        if selector not in events:
            events[selector] = passes.one_event(report_reading.patient(selector))
        return events[selector]

    reading = report_reading.ReportReading(asked, one_event, nothing, options.get("process_id"))
    if reading.selectors and options.get("process_id") is None:
        reading.busiest = report_reading.busiest_processes(trace, reading.selectors, report_reading.PROCESSES)
    headers = reading.headers(trace.info)
    reading.awaits = lambda: passes.async_stacks
    holes = report_reading.HoleQueue(trace_holes(trace))
    stacks: list[Any] = []
    error: TraceError | None = None
    try:
        if reading.selectors:
            with seeing_code(trace, reading.stacks, reading.modules) as observers:
                chunks = passes.table_chunks(
                    *reading.selectors,
                    columns=headers,
                    headers=("time_ns",),
                    stacks=reading.stacks,
                    rows=_ROWS,
                    known=True,
                    observers=observers,
                )
                for chunk in cut(chunks):
                    stacks.append(chunk.stacks)
                    ended = holes.until(int(chunk.headers["time_ns"][-1])) if len(chunk.headers) else []
                    reading.take(chunk, ended, trace.info, window)
    except TraceError as broken:
        error = broken

    def addresses() -> AddressStacks:
        found = AddressStacks.of(stacks)
        # Not both: stacks may be a third of a trace.
        stacks.clear()
        return found

    names = ReadingNames(lambda: trace.methods, lambda: modules_of(trace), addresses, lambda: passes.async_stacks)
    answers = reading.finish(_known(trace, names), window, holes.rest())
    if error is not None:
        error.report = answers
        raise error
    return answers


def trace_window(trace: Trace, options: WindowOptions) -> TimeWindow:
    """The window that the options mean. TypeError for an unknown option, TypeError or ValueError for a bad moment."""
    check_options(options)
    return TimeWindow.between(options.get("start"), options.get("end"), passes_of(trace).moment_ns)


def check_options(options: WindowOptions) -> None:
    for name in options:
        if name not in WindowOptions.__annotations__:
            known = ", ".join(WindowOptions.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; a report takes {known}")


def damaged_places(read: Any) -> int:
    """Places that are damaged, of what was read of a trace or a stream; what is only missing at its end is not."""
    return 0 if read.missing else read.problems.severities["damage"]


def _known(trace: Trace, names: ReadingNames) -> report_reading.ReadingEnd:
    scan = passes_of(trace).scan(raising=False)
    return report_reading.ReadingEnd(
        trace.info,
        scan.duration_ns,
        report_reading.kinds_of_processes(trace),
        trace_holes(trace),
        stack_holes(scan.stackless),
        damaged_places(scan),
        scan.complete,
        FOREVER if scan.complete else near_ns(scan.known_ns),
        names,
        {t.thread_id: t.name for t in scan.threads if t.name},
        passes_of(trace).stopped_ns,
    )


P = TypeVar("P")
A = TypeVar("A", bound=Answer[object])


def find_report(report: str | type[Any]) -> AnyReport:
    """The declaration of a report, by its name or the class of its answer. Raises ValueError if there is none."""
    name = report if isinstance(report, str) else getattr(report, "name", repr(report))
    if name not in report_names():
        raise ValueError(unknown("report", name, report_names()))
    declaration: AnyReport = importlib.import_module(f"{ROOM}.{name}").REPORT
    return declaration


def report_of(trace: Trace, report: str | type[Any], window: WindowOptions, parameters: Mapping[str, Any]) -> Any:
    """What `Trace.report` returns: the answer of the report with this name, or with this class of answers."""
    declared = find_report(report)
    given = declared.parameters(**parameters)
    for parameter in parameters_of(declared.parameters):
        if parameter.selector and (selector := getattr(given, parameter.name)) is not None:
            # At once, and not only when events of several names were read.
            passes_of(trace).one_event(selector)
    return ask_one(trace, declared, given, window)


def ask_one(trace: Trace, declaration: ReportDeclaration[P, A], parameters: P, window: WindowOptions) -> A:
    """The answer of one report. A TraceError that ends the reading has the answer so far as `report`."""
    try:
        answers = ask(trace, [report_reading.Asked(declaration, parameters)], window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = error.report[declaration.name]
        raise
    answer: A = answers[declaration.name]  # type: ignore[assignment]
    return answer


def reports_of(trace: Trace, names: Sequence[str], window: WindowOptions) -> dict[str, Answer[object]]:
    """What `Trace.reports` returns: the answers of these reports (without names, of all), by name."""
    return ask(trace, asked_by_name(names), window)


def asked_by_name(names: Sequence[str]) -> list[report_reading.Asked]:
    declared = map(find_report, dict.fromkeys(names or report_names()))
    return [report_reading.Asked(one, one.parameters()) for one in declared]

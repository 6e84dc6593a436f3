"""Lists the reports, and asks one of them or several at once.

A report is a folder of `clrevents.analysis.reports` with a module `report`, whose `REPORT` is its declaration; the
first line of the folder's docstring says in lists what it is about (see `listing`). So a new report touches its own
folder only.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, Unpack

from clrevents._util.words import unknown
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import ReportDeclaration, WindowOptions, parameters_of
from clrevents.analysis.framework.run.asking import ReportFeed, ask
from clrevents.analysis.framework.run.listing import ROOM
from clrevents.analysis.framework.run.listing import report_names as report_names
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.errors import TraceError
from clrevents.trace import Trace, passes_of

P = TypeVar("P")
A = TypeVar("A", bound=Answer[Any])


def find_report(report: str | type[Any]) -> ReportDeclaration[Any, Any]:
    """The declaration of a report, by its name or the class of its answer. Raises ValueError if there is none."""
    name = report if isinstance(report, str) else getattr(report, "name", repr(report))
    if name not in report_names():
        raise ValueError(unknown("report", name, report_names()))
    found: ReportDeclaration[Any, Any] = importlib.import_module(f"{ROOM}.{name}.report").REPORT
    return found


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
        found = ask(trace, [Asked(declaration, parameters)], window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = error.report[declaration.name]
        raise
    answer: A = found[declaration.name]  # type: ignore[assignment]
    return answer


def reports_of(trace: Trace, names: Sequence[str], window: WindowOptions) -> dict[str, Answer[Any]]:
    """What `Trace.reports` returns: the answers of these reports (without names, of all), by name."""
    return ask(trace, _asked(names), window)


def feed_reports(*names: str, **window: Unpack[WindowOptions]) -> ReportFeed:
    """Several reports (all of them, unless `names` says which) about the batches of a `Decoder`.

    The window is as in `Trace.reports`. Raises ValueError for an unknown name and, with the first batch, for a moment
    in percent.
    """
    return ReportFeed(_asked(names), window)


def _asked(names: Sequence[str]) -> list[Asked]:
    declared = map(find_report, dict.fromkeys(names or report_names()))
    return [Asked(one, one.parameters()) for one in declared]

"""The registry of reports: which there are, and asking several of them at once.

A report is a folder of `clrevents.analysis` with a module `report`, whose `REPORT` is its declaration; the first line
of the folder's docstring says in lists what it is about (see `listing`). So a new report touches its own folder only.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable
from typing import Any, TypeVar, Unpack

from clrevents.analysis.framework.answer import Answer
from clrevents.analysis.framework.asking import ReportFeed, ask
from clrevents.analysis.framework.declaration import ReportDeclaration, WindowOptions
from clrevents.analysis.framework.report_reading import Asked
from clrevents.analysis.listing import ROOM
from clrevents.analysis.listing import report_names as report_names
from clrevents.errors import TraceError
from clrevents.trace import Trace

P = TypeVar("P")
A = TypeVar("A", bound=Answer[Any])


@functools.cache
def find_report(name: str) -> ReportDeclaration[Any, Any]:
    """The declaration of a report. Raises ValueError if there is none of this name."""
    if name not in report_names():
        raise ValueError(f"no report {name!r}; there are {', '.join(report_names())}")
    found: ReportDeclaration[Any, Any] = importlib.import_module(f"{ROOM}.{name}.report").REPORT
    return found


def run_reports(
    trace: Trace, names: Iterable[str] | None = None, **window: Unpack[WindowOptions]
) -> dict[str, Answer[Any]]:
    """The answers of several reports (all of them, unless `names` says which), by name, from one pass over the trace.

    Raises ValueError for an unknown name. A TraceError that ends the reading has the answers so far as `report`.
    """
    wanted = list(dict.fromkeys(report_names() if names is None else names))
    try:
        found = ask(trace, _with_used([_asked(name) for name in wanted]), window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = {name: error.report[name] for name in wanted}
        raise
    return {name: found[name] for name in wanted}


def ask_one(trace: Trace, declaration: ReportDeclaration[P, A], parameters: P, window: WindowOptions) -> A:
    """The answer of one report. A TraceError that ends the reading has the answer so far as `report`."""
    try:
        found = ask(trace, _with_used([Asked(declaration, parameters)]), window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = error.report[declaration.name]
        raise
    answer: A = found[declaration.name]  # type: ignore[assignment]
    return answer


def feed_reports(names: Iterable[str] | None = None, **window: Unpack[WindowOptions]) -> ReportFeed:
    """A feed for the reports of these names (all of them, unless `names` says which), for a `Decoder`'s batches.

    Raises ValueError for an unknown name, and with the first batch for a moment in percent.
    """
    wanted = dict.fromkeys(report_names() if names is None else names)
    return ReportFeed(_with_used([_asked(name) for name in wanted]), window)


def feed_one(declaration: ReportDeclaration[P, A], parameters: P, window: WindowOptions) -> ReportFeed:
    """A feed for one report with these parameters, and for those that it uses."""
    return ReportFeed(_with_used([Asked(declaration, parameters)]), window)


def _asked(name: str) -> Asked:
    declaration = find_report(name)
    return Asked(declaration, declaration.parameters())


def _with_used(asked: list[Asked]) -> list[Asked]:
    """These, and those that they use."""
    for one in asked:
        known = {other.declaration.name for other in asked}
        asked += [_asked(name) for name in one.declaration.uses if name not in known]
    return asked

"""The registry of reports: which there are, and asking several of them at once.

A report is a folder of `clrevents.analysis` with a module `report`, whose `REPORT` is its declaration; the first line
of the folder's docstring says in lists what it is about. So a new report touches its own folder only. Loads none of
them to say which there are.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

if TYPE_CHECKING:
    from clrevents.analysis.framework.answer import Answer
    from clrevents.analysis.framework.asking import ReportFeed
    from clrevents.analysis.framework.declaration import ReportDeclaration, WindowOptions
    from clrevents.trace import Trace

_ROOM: Final = "clrevents.analysis"
_FRAMEWORK: Final = "framework"


@functools.cache
def report_names() -> tuple[str, ...]:
    """The names of all reports."""
    paths = importlib.import_module(_ROOM).__path__
    return tuple(sorted(m.name for m in pkgutil.iter_modules(paths) if m.ispkg and m.name != _FRAMEWORK))


@functools.cache
def find_report(name: str) -> ReportDeclaration[Any, Any]:
    """The declaration of a report. Raises ValueError if there is none of this name."""
    if name not in report_names():
        raise ValueError(f"no report {name!r}; there are {', '.join(report_names())}")
    found: ReportDeclaration[Any, Any] = importlib.import_module(f"{_ROOM}.{name}.report").REPORT
    return found


def report_summaries() -> Mapping[str, str]:
    """One line on each report, without loading it."""
    docs = {name: importlib.import_module(f"{_ROOM}.{name}").__doc__ or "" for name in report_names()}
    return {name: doc.split("\n", 1)[0] for name, doc in docs.items()}


def run_reports(
    trace: Trace, names: Iterable[str] | None = None, **window: Unpack[WindowOptions]
) -> dict[str, Answer[Any]]:
    """The answers of several reports (all of them, unless `names` says which), from one pass over the trace.

    Raises ValueError for an unknown name. A TraceError that ends the reading has the answers so far as `report`.
    """
    from clrevents.analysis.framework.asking import ask

    return ask(trace, _asked(names), window)


def feed_reports(names: Iterable[str] | None = None, process_id: int | None = None) -> ReportFeed:
    """A feed for the reports of these names (all of them, unless `names` says which), for a `Decoder`'s batches.

    Raises ValueError for an unknown name.
    """
    from clrevents.analysis.framework.asking import ReportFeed

    return ReportFeed(_asked(names), process_id)


def _asked(names: Iterable[str] | None) -> list[Any]:
    from clrevents.analysis.framework.report_reading import Asked

    wanted = list(dict.fromkeys(report_names() if names is None else names))
    for name in wanted:
        # What a report uses is asked for as well, wherever it stands.
        wanted += [used for used in find_report(name).uses if used not in wanted]
    return [Asked(find_report(name), find_report(name).parameters()) for name in wanted]

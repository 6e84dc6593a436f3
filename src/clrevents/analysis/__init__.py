"""Answers that need more than one event: reports on what the runtime did, durations, weighted stacks.

The public names live here; each loads what it needs when it is first used. Of a report `NAME` these are the function
`NAME_report` and the class of its answer, `NameReport`; they are found by the report's folder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clrevents.analysis.listing import report_names

if TYPE_CHECKING:
    from clrevents.analysis.framework.answer import Answer as Answer
    from clrevents.analysis.framework.answer_values import Metric as Metric
    from clrevents.analysis.framework.answer_values import Note as Note
    from clrevents.analysis.framework.answer_values import Question as Question
    from clrevents.analysis.framework.asking import ReportFeed as ReportFeed
    from clrevents.analysis.framework.declaration import WindowOptions as WindowOptions
    from clrevents.analysis.framework.report_table import ReportTable as ReportTable
    from clrevents.analysis.heap.heap_snapshot import HeapSnapshot as HeapSnapshot
    from clrevents.analysis.heap.heap_snapshots import heap_snapshots as heap_snapshots
    from clrevents.analysis.heap.heap_tables import heap_growth as heap_growth
    from clrevents.analysis.pairing import spans as spans
    from clrevents.analysis.reports import feed_reports as feed_reports
    from clrevents.analysis.reports import run_reports as run_reports
    from clrevents.analysis.sampled.samples import read_samples as read_samples
    from clrevents.analysis.top.hot import hottest as hottest

if TYPE_CHECKING:
    # Written by tools/make_report_docs.py, for type checkers:
    from clrevents.analysis.activities.report import ActivitiesReport as ActivitiesReport
    from clrevents.analysis.activities.report import activities_report as activities_report
    from clrevents.analysis.alloc.report import AllocReport as AllocReport
    from clrevents.analysis.alloc.report import alloc_report as alloc_report
    from clrevents.analysis.callers.report import CallersReport as CallersReport
    from clrevents.analysis.callers.report import callers_report as callers_report
    from clrevents.analysis.counters.report import CountersReport as CountersReport
    from clrevents.analysis.counters.report import counters_report as counters_report
    from clrevents.analysis.exceptions.report import ExceptionsReport as ExceptionsReport
    from clrevents.analysis.exceptions.report import exceptions_report as exceptions_report
    from clrevents.analysis.gc.report import GcReport as GcReport
    from clrevents.analysis.gc.report import gc_report as gc_report
    from clrevents.analysis.heap.report import HeapReport as HeapReport
    from clrevents.analysis.heap.report import heap_report as heap_report
    from clrevents.analysis.jit.report import JitReport as JitReport
    from clrevents.analysis.jit.report import jit_report as jit_report
    from clrevents.analysis.locks.report import LocksReport as LocksReport
    from clrevents.analysis.locks.report import locks_report as locks_report
    from clrevents.analysis.modules.report import ModulesReport as ModulesReport
    from clrevents.analysis.modules.report import modules_report as modules_report
    from clrevents.analysis.pool.report import PoolReport as PoolReport
    from clrevents.analysis.pool.report import pool_report as pool_report
    from clrevents.analysis.requests.report import RequestsReport as RequestsReport
    from clrevents.analysis.requests.report import requests_report as requests_report
    from clrevents.analysis.startup.report import StartupReport as StartupReport
    from clrevents.analysis.startup.report import startup_report as startup_report
    from clrevents.analysis.stubs.report import StubsReport as StubsReport
    from clrevents.analysis.stubs.report import stubs_report as stubs_report
    from clrevents.analysis.tasks.report import TasksReport as TasksReport
    from clrevents.analysis.tasks.report import tasks_report as tasks_report
    from clrevents.analysis.threads.report import ThreadsReport as ThreadsReport
    from clrevents.analysis.threads.report import threads_report as threads_report
    from clrevents.analysis.top.report import TopReport as TopReport
    from clrevents.analysis.top.report import top_report as top_report
    from clrevents.analysis.waits.report import WaitsReport as WaitsReport
    from clrevents.analysis.waits.report import waits_report as waits_report
    # end

_HOMES = {
    "framework.answer": ("Answer",),
    "framework.answer_values": ("Metric", "Note", "Question"),
    "framework.asking": ("ReportFeed",),
    "framework.declaration": ("WindowOptions",),
    "framework.report_table": ("ReportTable",),
    "heap.heap_snapshot": ("HeapSnapshot",),
    "heap.heap_snapshots": ("heap_snapshots",),
    "heap.heap_tables": ("heap_growth",),
    "pairing": ("spans",),
    "reports": ("feed_reports", "run_reports"),
    "sampled.samples": ("read_samples",),
    "top.hot": ("hottest",),
    **{f"{name}.report": (f"{name}_report", f"{name.title()}Report") for name in report_names()},
}
_HOME = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

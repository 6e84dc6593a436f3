"""Which reports a trace can answer, fully, partly or not at all, and what to record for the rest.

Goes by the kinds of events that occur; runs no report, and loads none that the index has.
"""

from __future__ import annotations

import importlib
from functools import cache

from clrevents.analysis.framework.model.needs import Need, SeenKinds, coverage, missing_notes, record_needs, recordable
from clrevents.analysis.framework.run._report_index import REPORTS
from clrevents.analysis.framework.run.listing import ROOM, report_names
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import column, row
from clrevents.trace import Trace


@row
class AboutReport:
    """What a report can answer."""

    report: cells.Word = column("Its name.", importance=0)
    coverage: cells.Word = column("`full`, `partial` or `none`.", importance=0)
    missing: tuple[cells.PrivateText, ...] = column("What was not recorded.")
    question: cells.Word = column("What it answers.", importance=3)
    record: cells.CodeText = column("The providers that record everything it needs.", hidden=True)


def asked_and_needed(name: str) -> tuple[str, tuple[Need, ...]]:
    """The question of a report and what it needs."""
    if name in REPORTS:
        _, question, *needs = REPORTS[name]
        return question, tuple(Need(*need) for need in needs)
    declared = importlib.import_module(f"{ROOM}.{name}").REPORT
    return declared.question, declared.needs


@cache
def needs_of(name: str) -> tuple[Need, ...]:
    """What a report needs."""
    return asked_and_needed(name)[1]


def answerable(trace: Trace) -> list[AboutReport]:
    """Every report of the registry, by name."""
    kinds = SeenKinds.in_trace(trace)
    reports = []
    for name in report_names():
        question, needs = asked_and_needed(name)
        about = AboutReport(
            report=name,
            coverage=coverage(needs, kinds),
            missing=tuple(need for note in missing_notes(needs, kinds) for need in note.touches),
            question=question,
            record=record_needs(recordable(needs, kinds.native_aot)),
        )
        reports.append(about)
    return reports

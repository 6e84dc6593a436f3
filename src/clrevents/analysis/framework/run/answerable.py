"""Which reports a trace can answer, fully, partly or not at all, and what to record for the rest.

Goes by the kinds of events that occur; runs no report, and loads none that the index has.
"""

from __future__ import annotations

import importlib
from functools import cache

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.needs import (
    Need,
    SeenKinds,
    coverage,
    missing_notes,
    record_needs,
    recordable,
)
from clrevents.analysis.framework.run._report_index import REPORTS
from clrevents.analysis.framework.run.listing import ROOM, report_names
from clrevents.analysis.framework.vocabulary.answer_values import Coverage
from clrevents.trace import Trace


@frozen
class Answerable:
    """One report on one trace: `missing` is what was not recorded, `record` what to record to get everything."""

    report: str
    question: str
    coverage: Coverage
    missing: tuple[str, ...]
    record: str


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


def answerable(trace: Trace) -> tuple[Answerable, ...]:
    """Every report of the registry, by name."""
    kinds = SeenKinds.in_trace(trace)
    reports = []
    for name in report_names():
        question, needs = asked_and_needed(name)
        missing = tuple(need for note in missing_notes(needs, kinds) for need in note.touches)
        reports.append(
            Answerable(
                name, question, coverage(needs, kinds), missing, record_needs(recordable(needs, kinds.native_aot))
            )
        )
    return tuple(reports)

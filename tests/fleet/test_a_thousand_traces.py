"""A thousand traces asked together say what each of them says alone, and everything that is wrong with some."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clrevents
from built_fleet import BuiltFleet, build_fleet
from clrevents import Trace, Traces, TraceWarning
from clrevents.analysis.framework.run.asking import find_report
from clrevents.table.table import Table

pytestmark = pytest.mark.full

COUNT, DAMAGED, EMPTY = 1000, 20, 5
REPORT = "gc"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    return build_fleet(tmp_path_factory.mktemp("thousand") / "night", COUNT, damaged=DAMAGED, empty=EMPTY)


@pytest.fixture(scope="module")
def singly(fleet: BuiltFleet) -> dict[str, tuple[Any, ...]]:
    """What each trace says: counts, a report, and its problems."""

    def asked(trace: Trace) -> tuple[Any, ...]:
        return trace.event_counts(), trace.report(REPORT), trace.problems

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        for path in fleet.readable:
            with clrevents.open(path, errors="salvage") as trace:
                found[path] = asked(trace)
    return found


@pytest.fixture(scope="module")
def traces(fleet: BuiltFleet) -> Iterator[Traces]:
    with clrevents.open_many(fleet.folder, jobs=2) as opened:
        yield opened


def all_rows(tables: dict[str, Table]) -> list[tuple[Any, ...]]:
    return [(path, *row.values()) for path, table in tables.items() for row in table.rows()]


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.rows()]


def test_counts_of_a_thousand(traces: Traces, singly: dict[str, tuple[Any, ...]]) -> None:
    expected = [
        (path, key.provider, key.id, key.version, key.name, count)
        for path, (counts, *_) in singly.items()
        for key, count in counts.items()
    ]
    assert len(singly) == COUNT - EMPTY - 1
    assert rows_of(traces.event_counts()) == expected


def test_a_report_of_a_thousand(traces: Traces, singly: dict[str, tuple[Any, ...]]) -> None:
    found = traces.report(REPORT)
    answers = {path: answer for path, (_, answer, _) in singly.items()}
    assert found.traces == tuple(answers)
    for table in find_report(REPORT).answer.tables():
        if not table.bulk:
            held = {path: answer.table(table.name).table for path, answer in answers.items()}
            assert rows_of(found.table(table.name)) == all_rows(held), table.name
            assert found.table(table.name).fields[1:] == next(iter(held.values())).fields
    for metric in find_report(REPORT).metrics:
        values = [answer.metrics[metric.name].value for answer in answers.values()]
        assert found.by_trace.column(metric.name).tolist() == values
    notes = [(path, note.id, note.message) for path, answer in answers.items() for note in answer.notes]
    assert [(row["trace"], row["id"], row["message"]) for row in found.notes.rows()] == notes
    assert len(found.table("collections")) > 0


def test_problems_of_a_thousand(fleet: BuiltFleet, traces: Traces, singly: dict[str, tuple[Any, ...]]) -> None:
    """Those that each trace lists, and one for each that is none."""
    rows = list(traces.problems.rows())
    unread = [Path(row["trace"]).name for row in rows if row["kind"] == "unreadable"]
    assert unread == sorted(fleet.empty | fleet.foreign)
    listed = [
        {"trace": path, **dataclasses.asdict(problem)}
        for path, (*_, problems) in singly.items()
        for problem in problems
    ]
    assert [row for row in rows if row["severity"] != "error"] == [
        {name: problem[name] for name in rows[0]} for problem in listed
    ]
    damaged = {Path(row["trace"]).name for row in rows if row["severity"] == "damage"}
    assert len(damaged) > DAMAGED / 2
    assert damaged <= fleet.damaged

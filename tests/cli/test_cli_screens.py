"""Screens as people see them: every command at three widths on five traces, as files that were looked at one by one.
They notice most faults of reports: the fast tier has one width.

`python tests/support/screens.py` writes them anew. And on every trace, at any width, every line fits the terminal.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any, Final
from unittest import mock

import click
import pytest

import clrevents
from clrevents._util.fitting import text_width
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.cli import report_command
from clrevents.cli.output import Output
from clrevents.cli.report_rows import ReportOptions
from project_files import fixtures
from screens import COLUMNS, TRACES, WIDTHS, Terminal, declared_columns, golden, screens
from tiers import few

OPTIONS: Final = ReportOptions(
    *(None,) * 4,
    symbols=(),
    table=None,
    columns=None,
    sort=None,
    limit=9,
    as_csv=False,
    as_json=False,
    conditions=(),
    jobs=None,
    facts=False,
    raw_units=False,
    spreadsheet=False,
    errors="salvage",
    fail_on=frozenset(),
)
WORD: Final = re.compile(r"\d[\d,.]* (?:ns|µs|ms|s|B|kB|MB|GB|%)")


def test_what_columns_are_to_people() -> None:
    assert declared_columns() == COLUMNS.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("trace", "width"),
    few([pytest.param(*one) for one in product(TRACES, WIDTHS)], lambda _trace, width: width == 80),
)
def test_every_screen(trace: str, width: int) -> None:
    assert screens(trace, width) == golden(trace, width).read_text(encoding="utf-8")


def shown(answer: Any, columns: int, every: bool = True) -> list[str]:
    """The lines of a report's answer on a terminal of this width, with every fact or the summary."""
    declared = find_report(answer.name)
    rows = {name: answer.table(name) for name in (declared.headline, *declared.beside)}
    screen = Terminal()
    with (
        redirect_stdout(screen),
        mock.patch.dict("os.environ", {"COLUMNS": str(columns), "NO_COLOR": "1"}),
        Output() as out,
    ):
        report_command._text(out, declared, answer, rows, None, OPTIONS._replace(facts=every))
    return screen.getvalue().splitlines()


def answers(path: Path) -> Iterator[Any]:
    with clrevents.open(path, errors="salvage") as trace:
        yield from trace.reports().values()


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=[] if "convoy" in p.name else pytest.mark.full, id=p.name) for p in fixtures()]
)
def test_no_line_is_wider_than_the_terminal_and_no_number_is_broken(path: Path) -> None:
    for answer in answers(path):
        whole = shown(answer, 400)
        numbers = {found for line in whole for found in WORD.findall(line)}
        for columns in (60, 80, 100, 120, 200):
            lines = shown(answer, columns, every=columns != 80)
            wide = [line for line in lines if text_width(line) > columns]
            assert not wide, (answer.name, columns, wide)
            # Each number of a narrow screen is one of the wide one, with its unit.
            lines = [line for line in lines if "more fact" not in line]
            assert {found for line in lines for found in WORD.findall(line)} <= numbers, (answer.name, columns)


def test_a_pipe_has_a_width_too_and_wide_is_all() -> None:
    (answer,) = (a for a in answers(next(p for p in fixtures() if "convoy" in p.name)) if a.name == "locks")
    declared = find_report("locks")
    shown = []
    for wide, columns in ((False, "60"), (True, "60"), (False, "")):
        pipe, context = io.StringIO(), click.Context(click.Command("locks"))
        context.meta["clrevents.wide"] = wide
        with redirect_stdout(pipe), mock.patch.dict("os.environ", {"COLUMNS": columns}), context, Output() as out:
            rows = {"locks": answer.table("locks")}
            report_command._text(out, declared, answer, rows, None, OPTIONS)
        shown.append(pipe.getvalue())
    assert ["not shown" in text for text in shown] == [True, False, False]
    assert "Scenarios.Convoy.lambda_1()  Scenarios.Convoy.lambda_1()" in shown[1]
    assert shown[1] == shown[2]


@pytest.mark.parametrize("name", report_names())
def test_each_report_declares_what_matters(name: str) -> None:
    declared = find_report(name)
    known = {
        *(metric.name for metric in declared.metrics),
        *(c.name for c in columns_of(declared.answer.facts_class())),
    }
    assert 0 < len(declared.answer.summary) <= 9
    assert set(declared.answer.summary) <= known
    (rows,) = (table.row_class for table in declared.answer.tables() if table.name == declared.headline)
    shown = [column for column in columns_of(rows) if not declared.shown or column.name in declared.shown]
    importance = {column.name: column.importance for column in shown}
    assert 0 in importance.values()
    assert len(set(importance.values())) > 1

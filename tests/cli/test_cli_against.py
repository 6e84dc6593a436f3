"""`top`, `callers` and `alloc` with `--against`: one comparison as tables, JSON, CSV; and what does not go with it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import clrevents
from command_runs import Run
from project_files import FIXTURES, SHARED

GARBAGE, CONVOY = (FIXTURES / f"net10-{name}.nettrace.gz" for name in ("garbage", "convoy"))


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (["top", "{a}", "--waiting"], {"report": "top", "waiting": True}),
        (["callers", "{a}", "System.*", "--depth", "3"], {"report": "callers", "method": "System.*", "depth": 3}),
        (["alloc", "{a}", "--start", "20%"], {"report": "alloc", "start": "20%"}),
    ],
)
def test_json_is_what_python_finds(run: Run, arguments: list[str], question: dict[str, object]) -> None:
    given = [argument.format(a=GARBAGE) for argument in arguments]
    result = run(*given, "--against", CONVOY, "--json", "--per", "none")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == clrevents.compare(CONVOY, GARBAGE, per="none", **question).to_dict()  # type: ignore[arg-type]


def test_rows_that_do_not_differ_are_shown_too(run: Run) -> None:
    result = run("top", GARBAGE, "--against", CONVOY, "-n", "3")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "no difference is beyond chance: 1 metric, 1 cannot tell"
    assert lines[1].split() == ["base", CONVOY.name]
    (head,) = (place for place, line in enumerate(lines) if line.startswith("methods  "))
    assert lines[head].split() == [
        *("methods", "base", "new", "change", "interval", "verdict", "could", "show"),
    ]
    gone = next(line for line in lines[head : head + 4] if "Monitor" in line)
    assert " gone " in gone
    assert "cannot tell" in gone
    assert lines[head + 4].endswith("methods (-n shows more)")


def test_paths_are_a_tree(run: Run) -> None:
    result = run("callers", GARBAGE, "System.Threading.Thread.Sleep", "--against", CONVOY)
    rows = [line for line in result.stdout.splitlines() if "ms/s" in line]
    assert any(line.startswith("System.Threading.Thread.Sleep ") for line in rows)
    assert any(line.startswith("  ") for line in rows)


@pytest.mark.shared
def test_what_a_snapshot_holds_is_divided_by_nothing(run: Run) -> None:
    old, new = (SHARED / "heap" / "leaks" / f"net10-cache-1.{number}.nettrace.gz" for number in (1, 2))
    lines = run("heap", new, "--against", old).stdout.splitlines()
    assert lines[4].split() == ["amounts", "not", "divided"]
    assert json.loads(run("heap", new, "--against", old, "--json").stdout)["facts"]["per"] == "none"


def test_csv_has_a_line_for_each_row(run: Run) -> None:
    result = run("top", GARBAGE, "--against", CONVOY, "--csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    found = clrevents.compare(CONVOY, GARBAGE, report="top").rows
    assert [(row["family"], row["name"], row["verdict"]) for row in rows] == [
        (row.family, row.name, row.verdict) for row in found
    ]
    assert [float(row["new"]) for row in rows] == [row.new for row in found]


def test_a_baseline_answers_the_question_that_it_was_saved_for(run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "top.json"
    clrevents.save_measured(clrevents.measure(CONVOY, report="top"), saved)
    direct, later = (run("top", GARBAGE, "--against", base, "--json").stdout for base in (CONVOY, saved))
    assert json.loads(direct) == json.loads(later)
    other = run("top", GARBAGE, "--waiting", "--against", saved)
    assert other.exit_code == 1
    assert "measured for different questions" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["top", "{a}", "--against", "{b}", "--table", "methods"], "--table is about one trace"),
        (["top", "{a}", "--against", "{b}", "--assert", "samples>0"], "--assert is about one trace"),
        (["top", "{a}", "--against", "{b}", "--raw"], "leave raw out"),
        (["top", "{a}", "{a}", "--against", "{b}"], "one trace with one"),
        (["top", "{folder}", "--against", "{b}"], "one trace with one"),
        (["top", "-p", "1", "--against", "{b}"], "one trace with one"),
        (["top", "-", "--against", "-"], "only one of the traces"),
        (["top", "{a}", "--per", "second"], "--per goes with --against"),
        (["top", "{a}", "--against", "{b}", "--per", "request"], "not every recording has requests"),
        (["top", "{a}", "--against", "{b}", "--csv", "--json"], "mutually exclusive"),
        (["top", "{a}", "--against", "{b}", "--start", "x"], "start"),
        (["alloc", "{a}", "--against", "{b}", "--source", "ticks"], "leave source out"),
        (["gc", "{a}", "--against", "{b}"], "No such option"),
    ],
)
def test_what_does_not_go_with_it(run: Run, arguments: list[str], wrong: str) -> None:
    places = {"a": GARBAGE, "b": CONVOY, "folder": FIXTURES}
    result = run(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 1, result.stdout
    assert wrong in result.stderr

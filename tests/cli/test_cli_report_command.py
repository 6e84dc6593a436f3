"""The sub-commands of reports: text, tables, JSON, CSV, order and exit codes are the same for all of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import Result

import clrevents
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.events import ILStubGenerated_V0, MethodFlags, MethodLoadVerbose_V1, ModuleLoad_V1
from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from project_files import fixture

INTEROP = fixture("net10-method-interop")
COLLECT = "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime"
NAMES = report_names()


def facts(result: Result) -> dict[str, str]:
    """The names and values above the table."""
    lines = [line for line in result.stdout.split("\n\n")[0].splitlines() if "more fact" not in line]
    return {name: value for line in lines for name, _, value in [re.split(r"(  +)", line, maxsplit=1)]}


def table(result: Result) -> list[str]:
    """The lines of the table, with its heading and without what is left out."""
    blocks = [block for block in result.stdout.split("\n\n") if not block.startswith(("coverage", "other tables"))]
    return [line for line in blocks[0].splitlines() if not re.match(r"[\d,]+ of |the same in |not shown", line)]


def test_text(run: Run) -> None:
    result = run("jit", INTEROP, "-n", 3, "--facts")
    assert (result.exit_code, result.stderr) == (
        0,
        "clrevents: not recorded: the background compiler's turns (no TieredCompilationBackgroundJitStart events)"
        f"; to record it: clrevents collect --for jit, or {COLLECT}:0x1000000018:4\n",
    )
    found = facts(result)
    assert found["coverage"] == "partial"
    assert found["compilations"] == "146"
    assert found["compile total"] == "37.8 ms"
    assert found["il total"] == "8.9 kB"
    assert found["never tiered up"] == "56"
    assert found["unknown"].endswith(": not recorded")
    assert table(result)[0].split()[-1] == "method"
    assert len(table(result)) == 4
    assert "3 of 136 rows of methods (-n shows more)" in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1].startswith("other tables, for --table: compilations (146), tiers (6)")


def test_a_summary_says_how_many_facts_it_leaves_out(run: Run) -> None:
    every, summary = (run("jit", INTEROP, *more).stdout for more in (["--facts"], []))
    heads = [text.split("\n\n")[0].splitlines() for text in (every, summary)]
    assert [line.split("  ")[0] for line in heads[1]] == [
        *("coverage", "compilations", "methods", "compile total", "background total", "native total", "rejits"),
        *("never tiered up", f"{len(heads[0]) - len(heads[1]) + 1} more facts: --facts"),
    ]
    assert run("jit", INTEROP, INTEROP, "--facts").exit_code == 1


def test_another_table_in_another_order(run: Run) -> None:
    lines = table(run("jit", INTEROP, "--table", "compilations", "--columns", "start_ns,background", "-n", 200))
    times = [float(line.split()[0].replace(",", "")) for line in lines[1:]]
    assert len(times) == 146
    assert lines[1].split()[1] == "ms"
    assert times == sorted(times)
    assert sum(line.endswith("yes") for line in lines) == 38
    sizes = table(run("jit", INTEROP, "--sort", "native_bytes", "--columns", "native_bytes", "-n", 4))
    assert sizes == ["native", "2.5 kB", "2.1 kB", "1.3 kB", "1.3 kB"]
    exact = table(run("jit", INTEROP, "--sort", "native_bytes", "--columns", "native_bytes", "-n", 4, "--raw-units"))
    assert exact == ["native bytes", "        2469", "        2081", "        1289", "        1274"]
    smallest = table(run("jit", INTEROP, "--sort", "native_bytes:asc", "--columns", "native_bytes", "-n", 2))
    assert smallest[1:] == sorted(smallest[1:])
    names = table(run("jit", INTEROP, "--sort", "method", "--columns", "method", "-n", 200))[1:]
    assert names == sorted(names)


def test_parameters_are_options(run: Run) -> None:
    assert len(table(run("jit", INTEROP, "--never-tiered-up", "-n", 500))) == 57
    assert "Program.Main(class System.String[])" in run("jit", INTEROP, "--raw", "-n", 200).stdout
    assert "Program+Cmp.Invoke" in run("stubs", INTEROP, "--raw").stdout
    modules = run("top", fixture("net10-cpu"), "--by", "module", "-n", 500) if "net10-cpu" in NAMES else None
    assert modules is None or modules.exit_code == 0


def test_long_texts_are_blocks(run: Run) -> None:
    lines = run("stubs", INTEROP, "--columns", "target,il", "-n", 1).stdout.splitlines()
    at = lines.index("target  Program.strlen")
    assert lines[at + 1 : at + 4] == ["il", "    // Code size    115 (0x0073)", "    .maxstack 3"]


@pytest.mark.parametrize("name", NAMES)
def test_json_is_what_the_library_gives(run: Run, name: str) -> None:
    with clrevents.open(INTEROP) as trace:
        expected = trace.report(name)
    result = run(name, INTEROP, "--json")
    assert result.stdout.startswith(f'{{\n  "schema": "clrevents.{name}/1",')
    assert result.stdout.isascii()
    assert json.loads(result.stdout) == json.loads(json.dumps(expected.to_dict()))
    for declared in expected.tables():
        lines = run(name, INTEROP, "--json", "--table", declared.name).stdout.splitlines()
        rows = sorted(map(json.dumps, expected.table(declared.name).rows()))
        assert sorted(json.dumps(json.loads(line)) for line in lines) == rows


@pytest.mark.parametrize("name", NAMES)
def test_csv_has_all_rows_and_columns(run: Run, name: str) -> None:
    declared = find_report(name)
    with clrevents.open(INTEROP) as trace:
        expected = trace.report(name).table(declared.headline)
    head, *rows = csv.reader(io.StringIO(run(name, INTEROP, "--csv").stdout))
    assert head == [column.name for column in columns_of(expected.row_class)]
    assert len(rows) == len(expected)
    assert len(list(csv.reader(io.StringIO(run(name, INTEROP, "--csv", "-n", 1).stdout)))) == min(2, 1 + len(expected))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "nothing"], "no column 'nothing'; there are process_id"),
        (["--sort", "nothing"], "--sort: no column 'nothing'; there are process_id"),
        (["--sort", "process_id:up"], "--sort takes a column"),
        (["--csv", "--json"], "--csv, --json and --chart are mutually exclusive"),
        (["--table", "nothing"], "Invalid value for '--table': 'nothing' is not"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_usage(run: Run, name: str, arguments: list[str], message: str) -> None:
    result = run(name, INTEROP, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty.nettrace"
    path.write_bytes(TraceBuilder().described("Shop", "Sold", {"Size": (9, 1)}).build())
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_that_cannot_answer(run: Run, empty: Path, name: str) -> None:
    result = run(name, empty)
    assert result.exit_code == 0
    assert facts(result)["coverage"] == "none"
    assert "not recorded: " in result.stderr
    assert "dotnet-trace collect --providers" in result.stderr
    assert run(name, empty, "--fail-on", "nothing").exit_code == 3
    assert run(name, empty, "--fail-on", "none").exit_code == 0
    assert run("info", empty, "--fail-on", "nothing").exit_code == 1


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    """What a trace of level 4 has: modules and methods that were loaded, but not when their compilation began."""
    builder = TraceBuilder().thread(7).rundown().event(ModuleLoad_V1(77, 3, 0x20, 0, "/app/App.dll", "", 0))
    flags = MethodFlags(8 | 3 << 7)
    builder.event(MethodLoadVerbose_V1(1, 77, 4096, 30, 0x06000001, flags, "N.T", "M", "void  ()", 0))
    builder.event(ILStubGenerated_V0(0, 77, 5, 0, 0x06000002, "N.T", "puts", "void(string)", "void(int)", "x", "y"))
    path = tmp_path / "loads.nettrace"
    path.write_bytes(builder.build())
    return path


def test_columns_that_say_nothing_are_not_shown(run: Run, loads: Path) -> None:
    result = run("jit", loads)
    assert table(result)[0].split()[-1] == "method"
    assert "compile" not in table(result)[0]
    assert " 0 s" not in result.stdout
    assert facts(result)["native total"] == "30 B"
    assert "times and IL sizes (no MethodJittingStarted events)" in result.stderr
    assert run("jit", loads, "--fail-on", "nothing").exit_code == 0


def test_conditions_decide_the_exit_code(run: Run, tmp_path: Path) -> None:
    held = run("jit", str(INTEROP), "-n", "0", "--assert", "methods<=136", "--assert", "native_total>1KiB")
    assert held.exit_code == 0
    unmet = run("jit", str(INTEROP), "--json", "--assert", "methods<136", "--assert", "turns<1")
    assert unmet.exit_code == 4
    assert "clrevents: methods<136 does not hold: methods is 136\n" in unmet.stderr
    assert "clrevents: turns<1 is unknown: not recorded\n" in unmet.stderr
    assert json.loads(unmet.stdout)["metrics"]["methods"]["value"] == 136


def test_conditions_are_read_before_the_trace(run: Run) -> None:
    for condition, message in {
        "methods": "is not a condition",
        "method<1": "no metric 'method'; there are compilations",
    }.items():
        result = run("jit", "no-such-file.nettrace", "--assert", condition)
        assert (result.exit_code, message in result.stderr) == (1, True)
    wrong = run("jit", str(INTEROP), "--assert", "methods<1ms")
    assert (wrong.exit_code, "methods is measured in count" in wrong.stderr) == (1, True)


def test_damage_counts_for_more_than_a_condition(run: Run, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.nettrace"
    with gzip.open(INTEROP) as packed:
        data = packed.read()
    damaged.write_bytes(data[: len(data) // 2] + bytes(4000) + data[len(data) // 2 + 4000 :])
    assert run("jit", str(damaged), "-n", "0", "--assert", "methods<1").exit_code == 3


COUNTERS = fixture("net8-counters")


def test_sparklines_take_the_room_that_is_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """At least ten characters and at most forty, before the names."""
    drawn = {}
    for columns in (60, 80, 90, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        head, *lines = table(run("counters", COUNTERS, "--name", "gc-heap-size"))
        place = head.index("over time")
        drawn[columns] = re.fullmatch(r"([▁-█ ]+?) +MB +gc-heap-size", lines[0][place:])
        assert head.split()[-2:] == ["unit", "name"]
    widths = [len(found[1]) if found else 0 for found in drawn.values()]
    # The trace goes on for a second after the last value.
    assert widths == [8, 14, 22, 33]
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, table(run("counters", COUNTERS, "--name", "gc-heap-size")))) <= 80


def test_sparklines_are_text_only(run: Run) -> None:
    for options in (("--csv",), ("--json",), ("--columns", "name,last"), ("--table", "values")):
        assert "█" not in run("counters", COUNTERS, *options).stdout


def test_a_terminal_without_bars_has_others(command: list[str]) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    arguments = [*command, "counters", str(COUNTERS), "--name", "gc-heap-size"]
    shown = subprocess.run(arguments, capture_output=True, env=environment, check=True, timeout=60).stdout
    assert b"\\u" not in shown
    assert b"____" in shown
    assert b"###" in shown

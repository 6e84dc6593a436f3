"""A folder or a pattern instead of one trace: commands that read many take it, all others say what to do."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import clrevents
from command_runs import Run
from project_files import FIXTURES

PATTERN = FIXTURES / "*-method-interop.nettrace.gz"
COMPILED = [FIXTURES / f"{net}-method-interop.nettrace.gz" for net in ("net10", "net8")]
NAMES = ("net10-garbage.nettrace.gz", "net8-sample.nettrace.gz")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "night"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(FIXTURES / name, folder)
    (folder / "letter.nettrace").write_text("Dear sirs,")
    (folder / "notes.txt").write_text("no trace")
    return folder


def test_info_has_a_line_for_each_trace(run: Run, night: Path) -> None:
    result = run("info", night, "--jobs", 1, "--wide")
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["trace", "process", "id", "start", "duration", "events", "lost", "bytes"]
    assert [line.split() for line in lines] == [
        [str(night / NAMES[0]), "29506", "2026-11-21T11:37:04.378000+00:00", "1.11", "s", "9,120", "0", "1.1", "MB"],
        [str(night / NAMES[1]), "5966", "2026-11-21T08:13:44.244000+00:00", "663", "ms", "1,696", "0", "376", "kB"],
    ]
    assert result.exit_code == 2
    assert f"{night / 'letter.nettrace'}: this is not a .NET trace" in result.stderr


def test_info_of_a_folder_without_traces(run: Run, tmp_path: Path) -> None:
    result = run("info", tmp_path)
    assert result.exit_code == 1
    assert f"no trace in {tmp_path}" in result.stderr
    assert result.stdout == ""


def test_export_takes_the_traces_of_a_folder(run: Run, night: Path, tmp_path: Path) -> None:
    result = run("export", night, "GCStart", "-o", tmp_path / "lake")
    assert result.exit_code == 2
    assert f"{tmp_path / 'lake'}: 2 exported, 0 already there, 1 failed" in result.stderr
    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == ["net10-garbage", "net8-sample"]
    assert "no trace in" in run("export", tmp_path / "lake", "-o", tmp_path / "other").stderr
    # One file has room for one trace.
    assert "takes one FILE" in run("export", night, "GCStart", "-o", tmp_path / "gcs.csv").stderr


@pytest.mark.parametrize(
    ("command", "options"),
    [("events", ()), ("check", ("--json",)), ("redact", ("-o", "out.nettrace")), ("cut", ("-o", "out.nettrace"))],
)
def test_commands_for_one_trace_say_what_reads_many(
    command: str, options: tuple[str, ...], run: Run, night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for place, what in ((night, "directory"), (night / "*.gz", "pattern")):
        result = run(command, place, *options)
        assert result.exit_code == 2
        assert result.stderr == (
            f"clrevents: {place}: is a {what}, and this command reads one trace; 'clrevents info', 'query', 'export' "
            "and the reports read many, as does clrevents.open_many\n"
        )
        assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_the_name_of_a_pattern_is_one_trace(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "a[1].nettrace.gz"
    shutil.copy(FIXTURES / NAMES[1], odd)
    found = json.loads(run("info", odd, "--json").stdout)
    with clrevents.open(str(odd)) as trace:
        assert found["metrics"]["events"]["value"] == sum(trace.event_counts().values())


@pytest.mark.parametrize("several", [False, True], ids=["pattern", "files"])
def test_a_table_of_all_traces(run: Run, several: bool) -> None:
    asked = ["jit", *(COMPILED if several else [PATTERN]), "--jobs", 1, "--table", "methods"]
    with clrevents.open_many(COMPILED, jobs=1) as traces:
        rows = list(traces.report("jit").table("methods").rows())
    assert [row["trace"] for row in rows] == [str(COMPILED[0])] * 136 + [str(COMPILED[1])] * 115
    lines = run(*asked, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    largest = sorted(rows, key=lambda row: -(row["native_bytes"] or -1))[:3]
    found = run(*asked, "--sort", "native_bytes", "-n", 3, "--csv", "--columns", "trace,native_bytes")
    assert list(csv.DictReader(found.stdout.splitlines())) == [
        {"trace": row["trace"], "native_bytes": str(row["native_bytes"])} for row in largest
    ]
    text = run(*asked, "-n", 2).stdout
    assert text.splitlines()[-1] == f"2 of {len(rows):,} rows of methods (-n shows more)"


def test_conditions_must_hold_of_each_trace(run: Run, night: Path) -> None:
    with clrevents.open_many(COMPILED, jobs=1) as traces:
        found = traces.report("jit")
    reason = f"{COMPILED[0]}: methods<136 does not hold: methods is 136"
    assert found.unmet("methods<136", "methods<137") == [reason]
    for options in ((), ("--json",), ("--csv",)):
        asked = ("jit", PATTERN, "--jobs", 1, *options)
        assert run(*asked, "--assert", "methods<137").exit_code == 0
        unmet = run(*asked, "--assert", "methods<136")
        assert unmet.exit_code == 4
        assert [line for line in unmet.stderr.splitlines() if "hold" in line] == [f"clrevents: {reason}"]
    # A trace that cannot be read comes first.
    assert run("jit", night, "--jobs", 1, "--assert", "methods<0").exit_code == 2


def test_what_a_report_of_many_refuses(run: Run, night: Path) -> None:
    for options, message in {
        ("--chart", "heap"): "--chart draws one trace",
        ("--csv", "--json"): "mutually exclusive",
        ("--sort", "generation"): "there are trace, coverage, count",
        ("--columns", "generation"): "no column 'generation'",
        ("--assert", "generation<1"): "no metric 'generation'",
        ("--assert", "pause_max<1kg"): "the limit takes ns",
        ("--start", "soon"): "start='soon' is not a time",
        ("--fail-on", "nothing"): "",
    }.items():
        result = run("gc", night / "net8*", night / "net8*", "--jobs", 1, *options)
        assert (result.exit_code, message in result.stderr) == (1 if message else 3, True)
    # The second argument is the method.
    assert run("callers", night / "*.gz", "Main", "--jobs", 1).exit_code == 0


def test_a_report_of_traces_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    letters = [tmp_path / name for name in ("a.nettrace", "b.nettrace")]
    for letter in letters:
        letter.write_text("Dear sirs,")
    for options, shown in {
        (): ["traces", "0", "coverage", "none"],
        ("--table", "collections"): ["traces", "0", "coverage", "none"],
        ("--json",): [],
        ("--csv", "--columns", "trace,count"): ["trace,count"],
    }.items():
        result = run("gc", tmp_path, "--jobs", 1, "--assert", "count<1", *options)
        assert result.exit_code == 2
        assert result.stdout.split("\n\n")[0].split() == shown
        assert all(f"{letter}: this is not a .NET trace" in result.stderr for letter in letters)


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_metrics_give_way_to_the_names_of_traces(
    on_terminal: Callable[..., tuple[int, str]], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES.parent)
    code, shown = on_terminal("gc", "fixtures/net10-*.gz", "--jobs", 1, columns=columns)
    assert code == 0
    # The folder goes before a metric does; the name of the file stays whole.
    name = "fixtures/net10-servergc.nettrace.gz" if columns > 80 else "…net10-servergc.nettrace.gz"
    lines = [line for line in shown.splitlines() if line.startswith(name)]
    assert [line.split() for line in lines] == [
        [name, *["full", "6", "18.2", "ms", "1.59", "%", "7.46", "ms"], *(["1.12", "ms"] * (columns > 80))]
    ]

"""A folder or a pattern instead of one trace: commands that read many take it, all others say what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import clrevents
from project_files import FIXTURES

Run = Callable[..., Result]
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
    result = run("info", night, "--jobs", 1)
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["trace", "process", "start", "seconds", "events", "lost", "bytes"]
    assert [line.split() for line in lines] == [
        [str(night / NAMES[0]), "29506", "2026-11-21", "11:37:04", "1.115", "9,120", "0", "1,111,342"],
        [str(night / NAMES[1]), "5966", "2026-11-21", "08:13:44", "0.663", "1,696", "0", "376,350"],
    ]
    assert result.exit_code == 2
    assert f"{night / 'letter.nettrace'}: this is not a .NET trace" in result.stderr


@pytest.mark.parametrize("several", [False, True], ids=["pattern", "files"])
def test_info_as_json_lines_is_that_of_each_alone(run: Run, night: Path, several: bool) -> None:
    paths = [night / name for name in NAMES]
    asked = paths if several else [night / "*.gz"]
    result = run("info", *asked, "--json", "--jobs", 1)
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        json.loads(run("info", path, "--json").stdout) for path in paths
    ]


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
    [("gc", ()), ("threads", ("--json",)), ("events", ()), ("check", ()), ("cut", ("-o", "out.nettrace"))],
)
def test_commands_for_one_trace_say_what_reads_many(
    command: str, options: tuple[str, ...], run: Run, night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for place, what in ((night, "directory"), (night / "*.gz", "pattern")):
        result = run(command, place, *options)
        assert result.exit_code == 2
        assert result.stderr == (
            f"clrevents: {place}: is a {what}, and this reads one trace; 'clrevents info', 'query' and 'export' read "
            "many, and so does clrevents.open_many\n"
        )
        assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_the_name_of_a_pattern_is_one_trace(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "a[1].nettrace.gz"
    shutil.copy(FIXTURES / NAMES[1], odd)
    found = json.loads(run("info", odd, "--json").stdout)
    with clrevents.open(str(odd)) as trace:
        assert found["events"] == sum(trace.event_counts().values())

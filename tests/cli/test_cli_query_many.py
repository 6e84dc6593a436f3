"""`clrevents query` of many traces: files, folders and patterns, and what is said of those that cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from project_files import fixture, unpacked

pytestmark = pytest.mark.full

SQL = "select trace, count(*) n from GCStart group by 1 order by 1"


@pytest.fixture
def night(tmp_path: Path) -> Path:
    folder = tmp_path / "night"
    folder.mkdir()
    shutil.copy(fixture("net10-garbage"), folder / "b.nettrace.gz")
    shutil.copy(fixture("net10-servergc"), folder / "a.nettrace.gz")
    (folder / "quiet.nettrace").write_bytes(TraceBuilder().sample(1).build())
    return folder


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_a_pattern_and_files(run: Run, night: Path, jobs: int) -> None:
    expected = [{"trace": str(night / "a.nettrace.gz"), "n": 6}, {"trace": str(night / "b.nettrace.gz"), "n": 11}]
    for places in ([night], [night / "*.nettrace*"], sorted(night.iterdir())):
        done = run("query", *places, SQL, "--json", "--jobs", jobs)
        assert (done.exit_code, done.stderr) == (0, "")
        assert [json.loads(line) for line in done.stdout.splitlines()] == expected


def test_one_file_is_asked_as_before(run: Run, night: Path) -> None:
    done = run("query", night / "b.nettrace.gz", "select count(*) n from GCStart")
    assert (done.exit_code, done.stdout.split()) == (0, ["n", "11"])
    assert run("query", night / "b.nettrace.gz", SQL).exit_code == 1


def test_bad_traces_are_named_and_stop_nothing(run: Run, night: Path) -> None:
    data = unpacked(fixture("net10-garbage"))
    (night / "cut.nettrace").write_bytes(data[: len(data) // 2])
    done = run("query", night, "select count(distinct trace) n from GCStart")
    assert done.exit_code == 3
    assert done.stdout.split() == ["n", "3"]
    assert done.stderr == "clrevents: 1 trace of 4 damaged; the table `problems` says where\n"
    assert run("query", night, "select 1 from GCStart", "--fail-on", "none").exit_code == 0
    (night / "letter.nettrace").write_text("Dear sirs")
    done = run("query", night, "select count(distinct trace) n from GCStart", "--fail-on", "none")
    assert done.exit_code == 2
    assert done.stdout.split() == ["n", "3"]
    assert done.stderr.startswith(f"clrevents: {night / 'letter.nettrace'}: this is not a .NET trace")


def test_losses_count_where_they_are_asked_for(run: Run, night: Path) -> None:
    (night / "lossy.nettrace").write_bytes(TraceBuilder().sample(1).lose(3).sample(1).build())
    assert run("query", night, SQL).exit_code == 0
    assert run("query", night, SQL, "--fail-on", "loss").exit_code == 3


def test_what_is_refused(run: Run, night: Path, tmp_path: Path) -> None:
    done = run("query", tmp_path, "select 1")
    assert done.exit_code == 1
    assert f"no trace in {tmp_path}" in done.stderr
    done = run("query", night, "select * from GCStrt")
    assert done.exit_code == 1
    assert "did you mean GCStart" in done.stderr
    assert run("query", night, "select * from 'x.csv'").exit_code == 1

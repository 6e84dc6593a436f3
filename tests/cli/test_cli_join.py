"""`clrevents join`, and `--with`: two recordings of one run, asked as one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import clrevents
from built.built_pair import PROCESS, recorder, runtime

Run = Callable[..., Result]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "app.linux.nettrace", tmp_path / "app.nettrace"
    for path, trace in zip(paths, (recorder(), runtime()), strict=True):
        path.write_bytes(trace.build())
    return paths


def test_the_joined_trace_and_with_answer_the_same(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "both.nettrace"
    done = run("join", *pair, "-o", out)
    assert done.exit_code == 0
    assert f"process {PROCESS}: clocks aligned by 27 events, within 4 µs" in done.stderr.replace("4.00", "4")
    for report in ("threads", "waits", "locks"):
        joined, at_once = (
            json.loads(run(report, *asked, "--json").stdout) for asked in ([out], [pair[0], "--with", pair[1]])
        )
        assert joined["question"]["trace"].pop("path") == str(out)
        assert at_once["question"]["trace"].pop("path") == str(pair[0])
        assert joined == at_once
        assert "joined" in {note["id"] for note in joined["notes"]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.linux.nettrace", "app.nettrace", "both.nettrace"]


def test_with_goes_with_the_page(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("report", pair[0], "--with", pair[1], "-o", page).exit_code == 0
    assert "another recording of the same run" in page.read_text()


def test_what_is_not_of_one_run_is_refused(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    linux, other = pair
    out = tmp_path / "both.nettrace"
    for command in (("join", other, linux, "-o", out), ("threads", other, "--with", linux)):
        found = run(*command)
        assert found.exit_code == 1
        assert "only a recording of the Linux recorder" in found.stderr
    assert not out.exists()
    assert run("join", linux, other, "-o", linux).exit_code == 1
    assert run("join", linux, other, "-o", other).exit_code == 1
    assert run("join", linux, tmp_path / "missing", "-o", out).exit_code == 2
    assert clrevents.open(linux).event_counts()

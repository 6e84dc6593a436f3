"""Folders that hold what is no trace: each such thing is a row that says why, and nobody waits for a pipe."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import clrevents
from clrevents import SourceError
from command_runs import python
from project_files import fixture, unpacked

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

DATA = unpacked(fixture("net8-sample"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One trace among a pipe that nobody writes to, a link to itself, and a link to nowhere."""
    made = tmp_path / "traces"
    made.mkdir()
    (made / "a.nettrace").write_bytes(DATA)
    os.mkfifo(made / "pipe.nettrace")
    (made / "loop.nettrace").symlink_to("loop.nettrace")
    (made / "dead.nettrace").symlink_to("nowhere")
    return made


WHY = {
    "dead.nettrace": "cannot be read: No such file or directory",
    "loop.nettrace": "cannot be read: Too many levels of symbolic links",
    "pipe.nettrace": "is no file; a pipe or a device is read only if it is named",
}


@pytest.mark.parametrize("pattern", ["", "*.nettrace"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_no_file_is_a_row(folder: Path, pattern: str, jobs: int) -> None:
    with clrevents.open_many(str(folder / pattern) if pattern else folder, jobs=jobs) as traces:
        counts = traces.event_counts()
        assert set(counts["trace"].tolist()) == {str(folder / "a.nettrace")}
        rows = [row for row in traces.problems.rows() if row["severity"] == "error"]
    assert {Path(row["trace"]).name: row["message"] for row in rows} == WHY


@pytest.mark.full
@pytest.mark.parametrize("words", [("info",), ("export", "-o", "OUT")])
def test_a_command_answers_for_the_others(folder: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    done = python("-m", "clrevents", words[0], folder, *(word.replace("OUT", str(out)) for word in words[1:]))
    assert done.returncode == 2
    assert all(f"{name}: {why}" in done.stderr for name, why in WHY.items())
    if "-o" in words:
        assert (out / "a" / "_trace.json").is_file()
        # Neither does the next run wait for a pipe in place of the facts of an export.
        (out / "a" / "_trace.json").unlink()
        os.mkfifo(out / "a" / "_trace.json")
        assert python("-m", "clrevents", "export", folder / "a.nettrace", "-o", out, "--skip-existing").returncode == 0
    else:
        assert "1,696" in done.stdout


def test_a_pipe_that_is_named_is_waited_for(folder: Path) -> None:
    writer = threading.Thread(target=lambda: (folder / "pipe.nettrace").write_bytes(DATA))
    writer.start()
    with clrevents.open(folder / "pipe.nettrace") as trace:
        assert sum(trace.event_counts().values()) == 1696
    writer.join()


def test_a_folder_that_cannot_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        clrevents.open_many(tmp_path)

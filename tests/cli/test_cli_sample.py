"""The trace that comes with the package: it is the fixture that the tutorial is about, in Python and as a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import clrevents
from command_runs import Run
from project_files import fixture, unpacked


def test_the_sample_is_the_tutorials_trace(run: Run, tmp_path: Path) -> None:
    wanted = unpacked(fixture("net10-convoy"))
    assert gzip.decompress(Path(clrevents.sample_trace()).read_bytes()) == wanted
    out = tmp_path / "sample.nettrace"
    result = run("sample", "-o", out)
    assert (result.exit_code, out.read_bytes()) == (0, wanted)
    assert result.stderr.endswith(f"try: clrevents info {out}\n")
    with clrevents.open(clrevents.sample_trace()) as trace:
        assert trace.report("locks").metrics["count"].value == 8


def test_a_folder_that_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    assert run("sample", "-o", tmp_path / "nowhere" / "a.nettrace").exit_code == 2

"""`clrevents report`: the page that the library makes, and what the command says of damage."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import clrevents
from clrevents.export.page import page_drawings, page_sections
from clrevents.export.page.report_page import report_page
from command_runs import Run
from project_files import fixture


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A small trace that only an own copy of may be broken."""
    path = tmp_path / "counters.nettrace.gz"
    path.write_bytes(fixture("net8-counters").read_bytes())
    return path


@pytest.mark.full
def test_the_page_is_the_librarys(run: Run, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = run("report", trace, "-o", out)
    with clrevents.open(trace) as opened:
        wanted = report_page(opened)
    assert out.read_bytes() == wanted
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"clrevents: {out}: {len(wanted):,} bytes; open it in a browser\n"
    assert run("report", trace, "-o", "-").stdout_bytes == wanted


def test_without_the_library_it_says_that_charts_are_missing(
    run: Run, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_drawings, "find_spec", lambda name: None)
    done = run("report", trace, "-o", tmp_path / "page.html")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[1] == f"clrevents: the page has no charts: {page_sections.NO_CHARTS}"


def test_two_traces_are_the_librarys_page_too(run: Run, trace: Path, tmp_path: Path) -> None:
    out, wanted = tmp_path / "page.html", tmp_path / "wanted.html"
    before = fixture("net10-garbage")
    assert run("report", trace, "--against", before, "-o", out).exit_code == 0
    with clrevents.open(trace) as opened, clrevents.open(before) as other:
        clrevents.write_report(opened, wanted, against=other)
        assert out.read_bytes() == wanted.read_bytes() != report_page(opened)
    assert run("report", before, "--against", trace, "-o", trace).exit_code == 1
    assert trace.read_bytes() == fixture("net8-counters").read_bytes()
    both = run("report", "-", "--against", "-", "-o", out)
    assert (both.exit_code, "only one of the traces" in both.stderr) == (1, True)


def test_damage_of_the_other_trace_is_said(run: Run, trace: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "cut.nettrace", tmp_path / "page.html"
    path.write_bytes(gzip.decompress(fixture("net10-garbage").read_bytes())[:-3000])
    done = run("report", trace, "--against", path, "-o", out, "--jobs", 1)
    assert done.exit_code == 3
    assert done.stderr.startswith(f"clrevents: {path}")
    assert b"complete: nothing lost, nothing damaged" in out.read_bytes()
    text = out.read_text()
    assert "cut.nettrace, 1.11 s; flame graphs of nothing; not of time, which only it has stacks of; " in text
    assert "; truncated at 0x10e8a0: the file ends inside an EventBlock" in text

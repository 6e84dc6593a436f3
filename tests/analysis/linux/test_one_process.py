"""`--process` and `process_id` wherever something is selected: what one process has, and nothing of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import clrevents
from clrevents.analysis.about.pairing import spans
from clrevents.export.page.report_page import write_report
from clrevents.testing.builder import TraceBuilder
from command_runs import run_command as run
from project_files import SHARED, fixture, without_shared

LINUX = SHARED / "linux"
TWO = LINUX / "net8-two-55.linux.nettrace.gz"
needs_shared = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))


@needs_shared
def test_every_command_that_selects_takes_a_process(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    with clrevents.open(TWO) as trace:
        both = sorted({e.process_id for e in trace.events("cpu") if e.process_id is not None})
        counts = [sum(1 for _ in trace.events("cpu", process_id=process)) for process in both]
        assert len(both) == 2
        assert sum(counts) == sum(1 for _ in trace.events("cpu"))
        for process, count in zip(both, counts, strict=True):
            ((found,),) = trace.query("select count(*) from cpu", process_id=process).fetchall()
            assert found == count
            ((owners,),) = trace.query("select count(distinct process_id) from threads", process_id=process).fetchall()
            assert owners == 1
    process, count = both[0], counts[0]
    sql = "select count(*) n from cpu"
    assert json.loads(run("query", TWO, sql, "--json", "--process", process).stdout) == {"n": count}
    rows = tmp_path / "cpu.csv"
    assert run("export", TWO, "cpu", "-o", rows, "--process", process).exit_code == 0
    assert len(rows.read_text().splitlines()) == count + 1
    lines = tmp_path / "cpu.jsonl"
    run("export", TWO, "cpu", "-o", lines, "--process", process)
    assert {json.loads(line)["process_id"] for line in lines.read_text().splitlines()} == {process}
    folder = tmp_path / "all"
    run("export", TWO, "-o", folder, "--format", "csv", "--process", process)
    (made,) = folder.rglob("cpu.csv")
    assert made.read_text().count("\n") == count + 1
    (facts,) = folder.rglob("_trace.json")
    assert json.loads(facts.read_text())["export"]["process_id"] == process
    part = tmp_path / "part.nettrace"
    run("cut", TWO, "-o", part, "--events", "cpu", "--process", process)
    with clrevents.open(part) as trace:
        assert trace.report("top").metrics["total"].value == count * 1_000_000
        assert {event.process_id for event in trace.events("cpu")} == {process}


@needs_shared
@pytest.mark.full
def test_pages_and_timelines_of_one_process(tmp_path: Path) -> None:
    page, timeline = tmp_path / "page.html", tmp_path / "a.firefox.json"
    with clrevents.open(TWO) as trace:
        both = sorted({e.process_id for e in trace.events("cpu") if e.process_id is not None})
        write_report(trace, tmp_path / "all.html")
        write_report(trace, tmp_path / "one.html", process_id=both[0])
    assert run("report", TWO, "-o", page, "--process", both[0]).exit_code == 0
    assert page.read_bytes() == (tmp_path / "one.html").read_bytes()
    assert f'"only process","{both[0]}"' in page.read_text()
    assert len(page.read_bytes()) < len((tmp_path / "all.html").read_bytes())
    run("export", TWO, "-o", timeline, "--process", both[1])
    threads = json.loads(timeline.read_text())["threads"]
    assert {str(thread["pid"]).partition(".")[0] for thread in threads} == {str(both[1])}


def test_spans_of_one_process() -> None:
    builder = TraceBuilder("nettrace6", process_id=7)
    for name in ("Begun", "Ended"):
        builder.described("Shop", name, {"Order": (9, 1)}, id=1 + (name == "Ended"))
    data = builder.build()
    for process, wanted in ((7, 1), (8, 0)):
        with clrevents.open(data) as trace:
            assert len(spans(trace, "Shop/Begun", "Shop/Ended", process_id=process)) == wanted


def test_a_process_of_several_files_means_nothing(tmp_path: Path) -> None:
    path = fixture("net8-linux")
    done = run("export", path, fixture("net10-convoy"), "-o", tmp_path / "x", "--process", 5)
    assert done.exit_code != 0
    assert "takes one FILE" in done.output
    done = run("cut", path, "-o", tmp_path / "x.nettrace", "--process", "nobody")
    assert "no process is named nobody" in done.output


@pytest.mark.full
def test_a_process_of_several_files_means_nothing_in_sql() -> None:
    done = run("query", fixture("net8-linux"), fixture("net10-convoy"), "show tables", "--process", 5)
    assert done.exit_code != 0
    assert "takes one FILE" in done.output


def test_the_recorders_own_events_are_no_instants_of_a_timeline(tmp_path: Path) -> None:
    out = tmp_path / "a.firefox.json"
    assert run("export", fixture("net8-linux"), "-o", out).exit_code == 0
    assert "Universal.Events" not in out.read_text()

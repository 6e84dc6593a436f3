"""Processor time by samples and counts against what the program's threads measured themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

import clrevents
from clrevents.analysis.compare.change import PROCESSOR
from clrevents.analysis.compare.compare import measure
from clrevents.analysis.shared.samples.calltree import hottest
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.look import Look
from clrevents.export.timeline.report_items import read_timeline
from processor_counts import CAPTURES, COUNTS, PARTS, counted, readings, truth
from project_files import ROOT
from thread_tiles import tiles

pytestmark = pytest.mark.shared
each_capture = pytest.mark.parametrize("capture", CAPTURES)


@pytest.fixture(scope="module")
def traces() -> Iterator[dict[str, clrevents.Trace]]:
    opened = {capture: clrevents.open(counted(capture)) for capture in CAPTURES}
    yield opened
    for trace in opened.values():
        trace.close()


def used(capture: str) -> Counter[int]:
    """What each thread had used at the end of the recording, less what it had at its start."""
    found: Counter[int] = Counter()
    with clrevents.open(counted(capture)) as trace:
        sync = trace.info.sync_qpc
    base: dict[int, int] = {}
    for line in readings(capture):
        for thread, processor, *_ in line["threads"]:
            if (line["t0"] + line["t1"]) // 2 <= sync:
                base[thread] = processor
            else:
                found[thread] = processor - base.get(thread, 0)
    return found


def parts(report: Any) -> dict[str, tuple[int, int]]:
    """The estimate of each part, and how far its interval reaches. `Locked` calls `Multiply`, a part of its own."""
    rows = {row.name.removeprefix("Work.").partition("(")[0]: row for row in report.methods}
    times = {part: rows[part].inclusive_processor_ns for part in PARTS}
    spread = {part: rows[part].inclusive_processor_high_ns - times[part] for part in PARTS}
    return {part: (times[part] - (times["Locked"] if part == "Multiply" else 0), spread[part]) for part in PARTS}


@each_capture
def test_threads_have_what_was_counted(capture: str, traces: dict[str, clrevents.Trace]) -> None:
    report = traces[capture].report("threads")
    tiles(report)
    assert {row.thread_id: row.processor_ns for row in report.threads if row.processor_ns} == used(capture)
    assert report.metrics["processor_total"].value == used(capture).total()
    for row in report.threads:
        # Where counts are, each moment is one of these.
        assert row.life_ns - (row.unknown_ns or 0) == (
            row.processor_ns + row.ready_ns + row.waiting_ns + row.gc_suspended_ns
        )


@each_capture
def test_methods_have_what_their_parts_cost(capture: str, traces: dict[str, clrevents.Trace]) -> None:
    report, true = traces[capture].report("top"), truth(capture)
    found = parts(report)
    error = sum(abs(found[part][0] - true[part]) for part in PARTS) / true.total()
    assert error <= 0.06
    assert sum(abs(found[part][0] - true[part]) <= found[part][1] for part in PARTS) >= 7


@each_capture
def test_sums_over_methods_and_windows_are_exact(capture: str, traces: dict[str, clrevents.Trace]) -> None:
    trace = traces[capture]
    whole = read_samples(trace).counted
    assert whole is not None
    by_method = [row.processor_ns for row in trace.report("top").methods]
    by_module = [row.processor_ns for row in trace.report("top", by="module").methods]
    assert sum(by_method) == sum(by_module) == whole.processor.sum()
    (unassigned,) = [note.numbers["unassigned_ns"] for note in trace.report("top").notes if note.id == "unassigned"]
    assert sum(by_method) + unassigned == used(capture).total()
    halves = [trace.report("top", **part).methods for part in ({"end": "40%"}, {"start": "40%"})]
    assert sum(row.processor_ns for half in halves for row in half) == sum(by_method)
    per_thread = {
        thread: sum(row.processor_ns for row in trace.report("top", thread_id=thread).methods)
        for thread in used(capture)
    }
    assert sum(per_thread.values()) == sum(by_method)
    assert all(own <= used(capture)[thread] for thread, own in per_thread.items())


def test_sql_has_what_methods_stacks_and_threads_used(traces: dict[str, clrevents.Trace]) -> None:
    trace = traces["net11-alone"]
    rows = {row.name: row for row in trace.report("top").methods}
    columns = "processor_ns, inclusive_processor_ns, ready_ns"
    for name, *times in trace.query(f"select name, {columns} from top_methods").fetchall():
        assert tuple(times) == (rows[name].processor_ns, rows[name].inclusive_processor_ns, rows[name].ready_ns)
    threads = {row.thread_id: (row.processor_ns, row.ready_ns) for row in trace.report("threads").threads}
    found = trace.query("select thread_id, processor_ns, ready_ns from thread_times").fetchall()
    assert {thread: tuple(times) for thread, *times in found} == threads
    sums = "select sum(processor_ns), sum(ready_ns) from samples"
    (own,) = trace.query(f"{sums} where leaf like '%Work.Multiply(%'").fetchall()
    multiply = rows["Work.Multiply(int)"]
    assert own == (multiply.processor_ns, multiply.ready_ns)
    (inside,) = trace.query(f"{sums} where stack like '%Work.Multiply(%'").fetchall()
    assert inside[0] == multiply.inclusive_processor_ns


@pytest.mark.parametrize(
    ("capture", "contended", "limited"),
    [
        ("net11-one", "found", "clear"),
        ("net8-one", "found", "clear"),
        ("net11-limited", "clear", "found"),
        ("net11-alone", "clear", "clear"),
    ],
)
def test_the_doctor_knows_whose_fault_it_is(
    capture: str, contended: str, limited: str, traces: dict[str, clrevents.Trace]
) -> None:
    found = {row.rule: row for row in traces[capture].doctor().findings}
    assert (found["cpu.contended"].state, found["cpu.limited"].state) == (contended, limited)
    if contended == "found":
        assert "its own threads wanted 4.2 times the processors" in found["cpu.contended"].title
    if limited == "found":
        assert found["cpu.limited"].title == "the limit of 0.400 processors stopped the program in 75 of 88 periods"


def test_the_doctor_names_what_used_the_processor(traces: dict[str, clrevents.Trace]) -> None:
    found = {row.rule: row for row in traces["net11-one"].doctor().findings}
    assert {rule: found[rule].state for rule in ("cpu.hot", "cpu.spinning", "cpu.compiling", "trace.sampler")} == {
        "cpu.hot": "found", "cpu.spinning": "clear", "cpu.compiling": "clear", "trace.sampler": "cannot tell",
    }  # fmt: skip
    assert found["cpu.hot"].title.endswith("clock_gettime(int, ref Ts) used 4.89 s of processor time, 60.4 % of all")
    assert found["cpu.spinning"].title == (
        "spinning took 230 ms of processor time, 2.84 % of all; 809 ms would have been found"
    )
    assert found["trace.sampler"].title.startswith(
        "the sampler held threads for at most 46.2 % of the time; it ran for"
    )


def test_the_timeline_has_what_was_counted(traces: dict[str, clrevents.Trace]) -> None:
    trace = traces["net11-limited"]
    levels: dict[int | None, list[Any]] = {}
    for track, item in read_timeline(trace, Look("limited", "test", True, False, None)).items():
        # Counts say how much, not when.
        assert track.name != "processors in use"
        if track.name == "processor time":
            levels.setdefault(track.thread_id, []).append(item)
    for thread, processor in used("net11-limited").items():
        if processor:
            mine = levels[thread]
            area = sum(one.value * (after.start_ns - one.start_ns) for one, after in pairwise(mine)) / 100
            assert area == pytest.approx(processor, rel=1e-6)


@pytest.mark.parametrize("report", [None, "top"])
def test_processor_time_of_methods_is_compared(report: str | None, traces: dict[str, clrevents.Trace]) -> None:
    trace = traces["net11-one"]
    found = [row for row in measure(trace, report=report).rows if row.family == PROCESSOR]
    assert sum(row.value for row in found) == sum(row.processor_ns for row in trace.report("top").methods)
    # So each request has its part of it.
    assert all(row.blocks is not None and row.blocks.sum() == pytest.approx(row.value) for row in found)


def test_the_first_line_says_what_was_used(traces: dict[str, clrevents.Trace]) -> None:
    for report in ("top", "threads"):
        assert traces["net11-one"].report(report).facts.used == (
            "8.09 of 9.70 processor-seconds (83.4 %), compilation 2.73 %, the sampler 4.50 %; "
            "threads waited 32.2 s for a processor"
        )


def test_the_page_has_the_errors(traces: dict[str, clrevents.Trace]) -> None:
    """The table of the page. Without counts, samples in code that runs or is native are the best guess."""
    lines = []
    for capture in CAPTURES:
        true = truth(capture)
        with clrevents.open(COUNTS / f"{capture}.nettrace.gz") as trace:
            busy = hottest(read_samples(trace).in_states("running", "native"))
        guess = {hot.name.removeprefix("Work.").partition("(")[0]: int(hot.inclusive) for hot in busy}
        guess["Multiply"] -= guess["Locked"]
        found = parts(traces[capture].report("top"))
        errors = [
            sum(abs(one.get(part, 0) - true[part]) for part in PARTS) / true.total()
            for one in (guess, {part: value for part, (value, _) in found.items()})
        ]
        lines.append(f"| {capture} | {true.total() / 1e9:.1f} s | {errors[0]:.0%} | {errors[1]:.1%} |")
    print("\n".join(lines))
    assert "\n".join(lines) in (ROOT / "docs" / "processor-time.md").read_text()

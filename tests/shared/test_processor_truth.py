"""Processor time by samples and counts against what the program's threads measured themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import clrevents
from processor_counts import CAPTURES, PARTS, counted, readings, truth
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

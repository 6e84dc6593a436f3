"""Harmed traces state no wrong number as exact: `tools/audit.py` on fixtures, and on shared traces."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.run.report_reading import merged_metric
from clrevents.analysis.framework.vocabulary.answer_values import MISSING, Metric
from clrevents.events import WaitHandleWaitSource, WaitHandleWaitStart_V0, WaitHandleWaitStop_V0
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from losing import with_losses
from project_files import ROOT, loaded, unpacked
from reading import opened

SHARED = ROOT.parent / "shared"
SHARED_NAMES = (
    "heap/leaks/net10-healthy-1.1",
    "scenarios/net10-states-11",
    "scenarios/net8-starvation-44",
    "scenarios/net10-async-11",
    "rare/net8-corners-44",
    "rare/net8-deadlock-sick-44",
    "requests/net10-two-3",
    "traces/own/net8-unload-verbose",
    "net11/async-runtime-both",
    "net11/async-state",
)

LESS_NAMES = (
    "nativeaot/shop-net11-env",
    "rare/net8-deadlock-sick-44",
    "requests/net10-two-3.back",
    "scenarios/net10-async-11",
    "scenarios/net8-convoy-44",
)


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    return loaded("audit", ROOT / "tools" / "audit.py")


def wrong(audit: ModuleType, data: bytes, truncations: int) -> list[str]:
    """What is stated wrongly of the trace, harmed."""
    whole, rng = audit.answers(data), random.Random(4)
    found = []
    for harmed in (*audit.truncated(data, truncations, rng), *audit.without_blocks(data, rng)):
        for one in audit.violations(whole, audit.answers(harmed.data)):
            if one.wrong != "fact":
                found.append(f"{harmed.kind} {harmed.where}: {one}")
    return found


@pytest.mark.parametrize("name", ["net8-sample", "net10-garbage"])
def test_harmed_fixtures(audit: ModuleType, name: str) -> None:
    assert wrong(audit, unpacked(ROOT / "fixtures" / f"{name}.nettrace.gz"), 2) == []


def test_a_quotient_is_as_good_as_its_parts(audit: ModuleType) -> None:
    """Where Main was first seen by a sample; where a collection does not tell what was allocated before it. What a
    quotient consists of is in the list of the audit."""
    units = {
        (name, metric.name)
        for name in report_names()
        for metric in find_report(name).metrics
        if metric.unit == "ratio" or "/s" in metric.unit or "per " in metric.unit
    }
    assert units == audit.PARTS.keys()
    found = {}
    for path in sorted((ROOT / "fixtures").glob("*.nettrace.gz")):
        with opened(unpacked(path)) as trace:
            answers = trace.reports("gc", "startup")
        assert [str(wrong) for wrong in audit.overstated(answers)] == [], path.name
        found[path.name.partition(".")[0]] = answers
    rate = found["net10-servergc"]["gc"].metrics["allocation_rate"]
    assert (rate.value, rate.low, rate.high) == (653_305_174, 653_305_174, None)


@pytest.mark.shared
def test_a_quotient_without_the_start_of_the_runtime() -> None:
    with opened(unpacked(SHARED / "traces/own/net10-web.nettrace.gz")) as trace:
        web = trace.report("startup").metrics
    assert (web["events_to_main"].value, web["events_to_main"].high, web["events_per_second"].value) == (51, 51, None)


@pytest.mark.parametrize(("name", "seed"), [("net10-servergc", 3), ("net10-servergc", 53), ("net10-garbage", 0)])
def test_rates_in_rows_that_no_loss_marks(audit: ModuleType, name: str, seed: int) -> None:
    """They are those of the whole: what such a row is made of is all there, or its rate is null."""
    data = unpacked(ROOT / "fixtures" / f"{name}.nettrace.gz")
    with opened(data) as trace, opened(with_losses(data, seed, 0.02)) as lossy:
        whole, less = {"gc": trace.report("gc")}, {"gc": lossy.report("gc")}
    assert [str(wrong) for wrong in audit.changed_rows(whole, less)] == []
    assert {row.lossy for row in less["gc"].table("heaps") if row.survival is not None} == {False, True}


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.parametrize("name", SHARED_NAMES)
def test_harmed_traces(audit: ModuleType, name: str) -> None:
    assert wrong(audit, unpacked(SHARED / f"{name}.nettrace.gz"), 8) == []


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.parametrize("name", LESS_NAMES)
def test_what_was_not_recorded_is_not_stated(audit: ModuleType, name: str) -> None:
    """Without one keyword of the runtime, or one provider."""
    data, rng = unpacked(SHARED / f"{name}.nettrace.gz"), random.Random(4)
    whole = audit.answers(data)
    for less in audit.not_recorded(data, 5, rng):
        found = audit.violations(whole, audit.answers(less.data), less.kind)
        assert [str(one) for one in found if one.wrong != "fact"] == [], less.where


def test_a_stack_block_that_is_missing_is_told(audit: ModuleType) -> None:
    """Of what looks at stacks: events are all there."""
    data = unpacked(ROOT / "fixtures" / "net10-convoy.nettrace.gz")
    found = audit.blocks(data)
    place = next(place for place, block in enumerate(found) if block.name == "StackBlock")
    with opened(audit.removed(data, found, place)) as trace:
        checked, said = trace.check(), str(trace.summary())
        scan = passes_of(trace).scan(raising=False)
        assert (scan.lost, scan.missing, scan.complete) == (0, 0, True)
        assert scan.stackless is not None
        threads, gc = trace.report("threads"), trace.report("gc")
        counted = sum(int((rows.stack_ids < 0).sum()) for rows in passes_of(trace).event_rows(filters={}))
    assert scan.stackless.count == counted > 0
    assert threads.coverage == "partial"
    assert threads.metrics["native_total"].value is None
    assert "missing-stacks" in {note.id for note in threads.notes}
    assert "missing-stacks" not in {note.id for note in gc.notes}
    assert not checked.ok
    assert checked.stackless == 7838
    assert checked.verdict == "11,034 events; 7,838 events refer to stacks that the file does not have"
    assert checked.verdict.partition("; ")[2] in said


def test_a_wait_across_a_loss_has_no_length() -> None:
    """Its begin and its end may be those of two waits; next to the loss, lengths stay lower bounds."""

    def waited(*steps: str) -> Metric:
        builder = TraceBuilder().method_load("App", "Run", address=0x1000).thread(7)
        for at, step in enumerate(steps, 1):
            builder.at(at * 1_000_000)
            if step == "lost":
                builder.lose(3)
            else:
                builder.event(
                    WaitHandleWaitStart_V0(WaitHandleWaitSource.Unknown, 1, 0)
                    if step == "begin"
                    else WaitHandleWaitStop_V0(0)
                )
        with opened(builder.rundown().build()) as trace:
            return trace.report("waits").metrics["event_total"]

    assert waited("begin", "lost", "end", "begin", "end").value is None
    beside = waited("begin", "end", "lost", "begin", "end")
    assert (beside.value, beside.low, beside.high) == (2_000_000, 2_000_000, None)


Bound = tuple[int | None, int | None]


@pytest.mark.parametrize(
    ("before", "least", "most"),
    [
        ((None, None), (16, None), (None, 16)),
        ((9, None), (9, None), None),
        ((None, 20), None, (None, 20)),
        ((9, 20), (9, None), (None, 20)),
    ],
)
def test_no_bound_becomes_one_from_the_other_side(before: Bound, least: Bound | None, most: Bound | None) -> None:
    """Of at most 16 that were seen, with others unseen, nothing is known."""
    metric = Metric(16, "count", low=before[0], high=before[1])
    for asked, expected in ((True, least), (False, most)):
        found = metric.bound(least=asked)
        if expected is None:
            assert (found.value, found.low, found.high, found.reason) == (None, None, None, MISSING)
        else:
            assert (found.value, found.low, found.high) == (16, *expected)


def test_bounds_from_both_sides_merge_to_nothing_known() -> None:
    parts = [Metric(5, "count", high=5), Metric(3, "count", low=3), Metric(1, "count")]
    merged = merged_metric(parts)
    assert (merged.value, merged.low, merged.high, merged.reason) == (None, None, None, MISSING)
    least = merged_metric(parts[1:])
    assert (least.value, least.low, least.high) == (4, 4, None)

"""The gc report against the official decoder's, collection by collection, and against what programs say of themselves.

Where the official one is known to be wrong, the difference is asserted: see docs/errata.md, "Collections: …".
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from shared_files import SHARED, Shared, needs_shared, official, params, traces

from clrevents.analysis.reports.gc import GcReport
from reading import opened

pytestmark = needs_shared


@cache
def ours(trace: Shared) -> GcReport:
    with opened(trace.path) as ours:
        return ours.report("gc")


ALL = traces("traces/own", "scenarios", "scenarios/lines")
REPORTED = [trace for trace in ALL if official(trace, "gcs")]
# The first collection has no history before it, so the official report falls back on ticks; as it does of what is
# concerned with a background collection. It counts large objects' ticks twice.
BY_TICKS = {
    "net10-all": {1: (0, 16_767_000)},
    "net8-all": {1: (71_620_720, 71_831_056)},
    "net10-gc": {1: (16_674_760, 16_767_800)},
    "net10-heap-11": {1: (0, 731_568)},
    "net10-garbage-11": {1: (17_739_672, 17_302_464)},
    "net10-servergc-11": {1: (43_659_400, 42_479_208), 2: (75_669_032, 69_633_704), 3: (2_017_720, 2_033_560)},
}


@pytest.mark.parametrize("trace", params(REPORTED))
def test_every_collection(trace: Shared) -> None:
    expected = official(trace, "gcs")
    assert expected is not None
    report = ours(trace)
    assert len(report.collections) == len(expected["gcs"]) == report.metrics["count"].value
    by_ticks = {}
    for mine, theirs in zip(report.collections, expected["gcs"], strict=True):
        background = theirs["Type"] == "BackgroundGC"
        assert (mine.number, mine.generation, mine.reason) == (
            theirs["Number"],
            theirs["Generation"],
            theirs["Reason"],
        )
        assert (mine.kind == "background") == background
        for found, told in (
            (mine.start_ns, theirs["StartRelativeMSec"]),
            (mine.pause_start_ns, theirs["PauseStartRelativeMSec"]),
            (mine.pause_ns, theirs["PauseDurationMSec"]),
            (mine.duration_ns, theirs["DurationMSec"]),
            (mine.suspend_ns, theirs["SuspendDurationMSec"]),
        ):
            assert found is not None
            # It reckons in milliseconds as doubles.
            assert abs(found - told * 1e6) < 3
        heaps = theirs["heaps"]
        assert (mine.pinned_objects, mine.handles) == (heaps["PinnedObjectCount"], heaps["GCHandleCount"])
        assert mine.heap_after_bytes == heaps["TotalHeapSize"] == round(theirs["HeapSizeAfterMB"] * 1e6)
        before, promoted = (round(theirs[name] * 1e6) for name in ("HeapSizeBeforeMB", "PromotedMB"))
        if background:
            # It has closed the collection when its histories come, and repeats what the one before promoted.
            assert (before, mine.promoted_bytes) == (0, None)
            assert mine.heap_before_bytes == 75_430_120
            assert promoted == 4_362_168 == report.collections[0].promoted_bytes
        else:
            assert (mine.heap_before_bytes, mine.promoted_bytes) == (before, promoted)
        allocated = round(theirs["AllocedSinceLastGCMB"] * 1e6)
        if mine.allocated_bytes != allocated:
            by_ticks[mine.number] = allocated, mine.allocated_bytes
    assert by_ticks == BY_TICKS[trace.short]
    totals = expected["gc"]
    values = {name: metric.value for name, metric in report.metrics.items()}
    assert values["induced"] == totals["NumInduced"]
    assert abs((values["pause_total"] or 0) - totals["TotalPauseTimeMSec"] * 1e6) < 2 * len(expected["gcs"])
    assert abs((values["pause_max"] or 0) - totals["MaxPauseDurationMSec"] * 1e6) < 3
    repeated = sum(round(g["PromotedMB"] * 1e6) for g in expected["gcs"] if g["Type"] == "BackgroundGC")
    assert values["promoted_total"] == round(totals["TotalPromotedMB"] * 1e6) - repeated


def test_those_that_must_be_there() -> None:
    names = {trace.short: len((official(trace, "gcs") or {})["gcs"]) for trace in REPORTED}
    assert names == {
        "net10-all": 5,
        "net10-gc": 1267,
        "net8-all": 1,
        "net10-garbage-11": 11,
        "net10-heap-11": 1,
        "net10-servergc-11": 6,
    }


@pytest.mark.parametrize(
    ("name", "tolerance", "allocated"),
    [
        ("net11-garbage-31", 0.015, 0.003),
        ("net11-servergc-31", 0.03, 0.003),
        ("net10-garbage-11", 0.015, 0.003),
        ("net10-servergc-11", 0.015, 0.003),
        ("net8-garbage-44", 0.03, 0.007),
        ("net8-servergc-44", 0.03, 0.005),
        ("net31-garbage-44", None, 0.003),
    ],
)
def test_what_the_program_says_of_itself(name: str, tolerance: float | None, allocated: float) -> None:
    truth = json.loads((SHARED / "scenarios" / f"{name}.truth.json").read_text(encoding="utf-8"))
    (trace,) = (trace for trace in ALL if trace.short == name)
    report = ours(trace)
    collections = [sum((one.generation or 0) >= n for one in report.collections) for n in range(3)]
    assert collections == truth["collections"]
    assert report.metrics["count"].value == truth["collections"][0]
    assert report.metrics["induced"].value == truth["induced"]
    if tolerance is not None:
        assert report.metrics["pause_total"].value == pytest.approx(truth["pause_ms"] * 1e6, rel=tolerance)
    # What was allocated after the last collection, and in a background one, is in no history.
    assert report.metrics["allocated_total"].value == pytest.approx(truth["allocated"], rel=allocated)


@pytest.mark.parametrize("trace", params([trace for trace in ALL if trace.short != "net10-lossy"]))
def test_everything_adds_up(trace: Shared) -> None:
    """Pauses of collections are those of suspensions; sizes in histories are those that were written at the end."""
    report = ours(trace)
    held = [s.pause_ns or 0 for s in report.suspensions]
    paused = report.metrics["pause_total"]
    # Before it decides on a background collection, the server GC of .NET 11 stops all threads for its preparations.
    early = [s for s in report.suspensions if s.number is None]
    assert all(s.reason == "SuspendForGCPrep" for s in early)
    assert not early or trace.short.startswith("net11-servergc")
    assert sum(one.pause_ns or 0 for one in report.collections) == sum(held) - sum(s.pause_ns or 0 for s in early)
    # A pause that was open when the program was killed is in the sum until then.
    assert sum(held) == (paused.value or 0) if paused.low is None else sum(held) <= paused.low
    sizes: dict[int, int] = {}
    for generation in report.generations:
        sizes[generation.number] = sizes.get(generation.number, 0) + (generation.size_after_bytes or 0)
    for one in report.collections:
        if one.end_ns is None:
            continue
        assert one.heaps is not None
        # A background collection's histories were made before its end, and .NET Core 3.1 leaves some sizes out.
        if one.kind != "background" and one.fragmentation_bytes is not None:
            assert sizes[one.number] == one.heap_after_bytes
        if one.kind not in ("background", "ephemeral", "foreground"):
            assert one.allocated_bytes is not None
    by_heap: dict[tuple[int, str], int] = {}
    for part in report.heaps:
        key = part.number, part.generation
        by_heap[key] = by_heap.get(key, 0) + part.size_before_bytes
    assert by_heap == {(g.number, g.generation): g.size_before_bytes for g in report.generations}
    assert sum(t.count for t in report.totals if t.by == "kind") == len(report.collections)
    # One that was going on when the program was killed may have gone on.
    assert not any(one.lossy for one in report.collections if one.end_ns is not None)
    assert not [note for note in report.notes if note.id in ("events-without-collection", "numbers-missing")]

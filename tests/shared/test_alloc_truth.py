"""The report on allocations, held against what is known exactly: every object, raw events, and what programs said."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from shared_files import SHARED, needs_shared

import clrevents
from byte_sampling import estimates
from clrevents.analysis import read_samples

pytestmark = needs_shared

OWN, SCENARIOS = SHARED / "traces/own", SHARED / "scenarios"
ENOUGH = 20


@pytest.fixture(scope="module")
def big() -> clrevents.Trace:
    return clrevents.open(OWN / "net10-big.nettrace.gz")


def test_samplings_of_all_objects_of_a_program(big: clrevents.Trace) -> None:
    """1,000 samplings of a million real allocations: the interval holds the truth, and there is no bias."""
    objects = big.table("GCSampledObjectAllocationHigh", columns=["TypeID", "TotalSizeForTypeSample"])
    sizes = np.asarray(objects["TotalSizeForTypeSample"]).astype(np.int64)
    types = np.unique(np.asarray(objects["TypeID"]), return_inverse=True)[1]
    truth = np.bincount(types, sizes).astype(np.int64)
    assert truth.sum() == 2_831_845_924
    found = estimates(sizes, types, 1_000, seed=3)
    many = found.samples.mean(axis=0) > ENOUGH
    assert many.sum() >= 2
    assert 0.93 < found.covers(truth)[:, many].mean() < 0.97
    assert (np.abs(found.bytes.mean(axis=0)[many] / truth[many] - 1) < 0.01).all()
    assert abs(found.bytes.sum(axis=1).mean() / truth.sum() - 1) < 0.001


def test_the_samples_of_the_big_trace_agree_with_its_objects(big: clrevents.Trace) -> None:
    exact = big.report("alloc")
    assert (exact.facts.source, exact.facts.certainty, exact.coverage) == ("objects", "exact", "full")
    assert exact.metrics["bytes_total"].value == 2_831_845_924
    assert exact.metrics["objects"].value == exact.metrics["events"].value == 1_031_808
    rows = {row.source: row for row in exact.sources}
    assert set(rows) == {"objects", "samples"}
    samples = rows["samples"]
    assert (samples.samples, samples.used, samples.bytes) == (27_286, False, 2_850_366_620)
    assert samples.low_bytes is not None
    assert samples.high_bytes is not None
    assert samples.low_bytes < 2_831_845_924 < samples.high_bytes
    assert (samples.high_bytes - samples.low_bytes) / 2 == pytest.approx(33_150_000, rel=0.001)


def test_every_sampled_type_of_a_trace_lies_in_its_interval() -> None:
    with clrevents.open(OWN / "net10-all.nettrace.gz") as trace:
        exact, sampled = trace.report("alloc"), trace.report("alloc", source="samples")
    assert (exact.facts.source, sampled.facts.source) == ("objects", "samples")
    truth = {row.type: row.bytes for row in exact.types}
    assert len(sampled.types) == 10
    for row in sampled.types:
        assert row.low_bytes is not None
        assert row.high_bytes is not None
        assert row.low_bytes <= truth[row.type] <= row.high_bytes, row
    total = sampled.metrics["bytes_total"]
    assert (total.value, total.low, total.high) == (74_888_360, 69_514_571, 80_262_149)
    assert total.evidence == "sample"
    # 1 / q of each sample; the program says nothing of it, but every object does.
    assert sampled.metrics["objects"].value == pytest.approx(37_084, rel=0.15)


@pytest.mark.parametrize("name", ["net10-all", "net8-all"])
def test_types_of_objects_are_the_sums_of_raw_events(name: str) -> None:
    """By a loop that knows nothing of reports: names by TypeID, sizes as they stand."""
    sums: Counter[str | None] = Counter()
    counts: Counter[str | None] = Counter()
    names: dict[int, str] = {}
    with clrevents.open(OWN / f"{name}.nettrace.gz") as trace:
        for event in trace.events("BulkType"):
            names |= {value.TypeID: value.Name for value in event.payload.Values}
        for event in trace.events("GCSampledObjectAllocationHigh"):
            type = names.get(event.payload.TypeID)
            sums[type] += event.payload.TotalSizeForTypeSample
            counts[type] += event.payload.ObjectCountForTypeSample
        report = trace.report("alloc")
    assert {row.type: row.bytes for row in report.types} == dict(sums)
    assert {row.type: row.count for row in report.types} == dict(counts)
    assert [row.bytes for row in report.types] == sorted(sums.values(), reverse=True)
    whole = sum(sums.values())
    for table in (report.kinds, report.threads, report.stacks, report.type_stacks, report.timeline):
        assert sum(table["bytes"].tolist()) == whole, table


@pytest.mark.parametrize("name", ["own/net10-gc", "perfview/eventpipe-dotnetcore3.0-win-x64-objver4"])
def test_ticks_are_the_sums_of_raw_events(name: str) -> None:
    sums: Counter[str] = Counter()
    ticks: Counter[str] = Counter()
    threads: Counter[int | None] = Counter()
    with clrevents.open(SHARED / "traces" / f"{name}.nettrace.gz") as trace:
        for event in trace.events("GCAllocationTick"):
            sums[event.payload.TypeName] += event.payload.AllocationAmount64
            ticks[event.payload.TypeName] += 1
            threads[event.thread_id] += event.payload.AllocationAmount64
        report = trace.report("alloc")
        flame = read_samples(trace, weight="alloc")
        top = trace.report("top", by="alloc")
    assert (report.facts.source, report.facts.certainty) == ("ticks", "approximate")
    assert report.metrics["bytes_total"].value == sum(sums.values())
    assert {row.type: (row.bytes, row.samples) for row in report.types} == {t: (sums[t], ticks[t]) for t in sums}
    assert {row.thread_id: row.bytes for row in report.threads} == dict(threads)
    assert {row.count for row in report.types} == {None}
    assert flame.total == top.metrics["total"].value == sum(sums.values())
    assert flame.unit == "bytes"


@pytest.mark.parametrize(
    ("name", "total", "large", "above"),
    [
        ("net10-garbage-11", 114_984_736, 7_471_440, 0.0078),
        ("net10-servergc-11", 114_948_752, 7_470_936, 0.0098),
        ("net8-garbage-44", 190_265_848, 83_671_752, 0.0003),
        ("net8-servergc-44", 190_195_160, 83_671_776, -0.0001),
        ("net31-garbage-44", 204_522_592, 83_693_136, 0.0779),
    ],
)
def test_programs_say_how_much_they_allocated(name: str, total: int, large: int, above: float) -> None:
    """Ticks count memory as it is handed to threads; old runtimes throw more of that away, unused, at each collection.

    Large objects have no such memory: they are the arrays that the program made, with their headers.
    """
    truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
    with clrevents.open(SCENARIOS / f"{name}.nettrace.gz") as trace:
        report = trace.report("alloc")
    assert report.metrics["bytes_total"].value == total
    assert total / truth["allocated"] - 1 == pytest.approx(above, abs=0.0001)
    kinds = {row.kind: row.bytes for row in report.kinds}
    assert report.metrics["large_total"].value == kinds["large"] == large
    assert large == pytest.approx(truth["loh_bytes_payload"] + 24 * truth["loh_objects"], rel=0.0003)


@pytest.mark.parametrize("name", ["net11-garbage-31", "net11-servergc-31"])
def test_samples_bound_how_much_programs_allocated(name: str) -> None:
    truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
    with clrevents.open(SCENARIOS / f"{name}.nettrace.gz") as trace:
        report = trace.report("alloc")
    total = report.metrics["bytes_total"]
    assert total.low is not None
    assert total.high is not None
    assert total.low < truth["allocated"] < total.high

"""The report on allocations: every value of built traces, odd events, and the laws on all of its sources."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import clrevents
import report_laws
from built_allocations import ADD, MAIN, MS, PAY, made, named, random_allocations, sampled, shop, tick
from clrevents.analysis import read_samples
from clrevents.analysis.reports.alloc import (
    REPORT,
    SOURCES,
    AllocatedType,
    AllocatingStack,
    AllocationInterval,
    AllocParameters,
)
from clrevents.events import GCAllocationKind, GCAllocationTick_V1
from clrevents.testing.builder import Format, TraceBuilder
from tiers import one_in
from together import PROCESSES, together

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]


def traced(builder: TraceBuilder) -> clrevents.Trace:
    return clrevents.open(builder.build())


def ticked() -> TraceBuilder:
    """Thread 7: 100 KB of strings in Pay and again in code that it calls; thread 8: a large array in Main."""
    builder = shop().thread(7).at(10 * MS)
    tick(builder, 102_400, "System.String", PAY + 4, MAIN + 4)
    tick(builder.at(12 * MS), 110_000, "System.String", ADD + 4, PAY + 8, MAIN + 4)
    return tick(builder.thread(8).at(20 * MS), 900_000, "System.Byte[]", MAIN + 8, kind=1, size=900_000)


def types(report: Any) -> list[tuple[Any, ...]]:
    return [(row.type, row.bytes, row.count, row.samples) for row in report.types]


def test_every_value_of_a_row() -> None:
    report = traced(ticked()).report("alloc")
    common: dict[str, Any] = {"process_id": 1234, "lossy": False, "low_bytes": None, "high_bytes": None}
    assert list(report.types) == [
        AllocatedType(
            **common, share=900_000 / 1_112_400, bytes=900_000, large_bytes=900_000, count=None, samples=1,
            type="System.Byte[]",
        ),
        AllocatedType(
            **common, share=212_400 / 1_112_400, bytes=212_400, large_bytes=0, count=None, samples=2,
            type="System.String",
        ),
    ]  # fmt: skip
    stack = report.stacks[1]
    assert stack == AllocatingStack(
        **common,
        share=110_000 / 1_112_400,
        bytes=110_000,
        large_bytes=0,
        count=None,
        samples=1,
        stack_id=stack.stack_id,
        method="Shop.Pay()",
        innermost="System.Text.Add()",
        stack=("System.Text.Add()", "Shop.Pay()", "Shop.Main()"),
    )
    assert [(row.type, row.innermost, row.bytes) for row in report.type_stacks] == [
        ("System.Byte[]", "Shop.Main()", 900_000),
        ("System.String", "System.Text.Add()", 110_000),
        ("System.String", "Shop.Pay()", 102_400),
    ]
    assert [(row.kind, row.bytes, row.large_bytes) for row in report.kinds] == [
        ("large", 900_000, 900_000),
        ("small", 212_400, 0),
    ]
    assert [(row.thread_id, row.bytes, row.samples) for row in report.threads] == [(8, 900_000, 1), (7, 212_400, 2)]
    assert report.timeline[0] == AllocationInterval(
        process_id=1234,
        lossy=False,
        clipped=False,
        start_ns=10 * MS,
        end_ns=11 * MS,
        bytes=102_400,
        low_bytes=None,
        high_bytes=None,
        large_bytes=0,
        samples=1,
    )
    assert [row.bytes for row in report.timeline] == [102_400, 0, 110_000, *[0] * 7, 900_000]
    assert {name: metric.value for name, metric in report.metrics.items()} == {
        "bytes_total": 1_112_400,
        "large_total": 900_000,
        "objects": None,
        "events": 3,
    }
    assert (report.facts.source, report.facts.certainty, report.facts.large_by) == ("ticks", "approximate", "kind")
    assert [note.id for note in report.notes] == ["not-recorded", "few-ticks"]
    assert report.notes[1].numbers == {"types": 2}


def every() -> TraceBuilder:
    """The same object, told by all three sources."""
    builder = named(shop().thread(7).at(MS), (5, "Shop.Order"))
    made(builder, 120_000, 5, MAIN + 4)
    sampled(builder, 120_000, "Shop.Order", MAIN + 4, kind=1)
    return tick(builder, 120_024, "Shop.Order", MAIN + 4, kind=1, size=120_000)


def test_the_best_source_wins_and_is_not_added_to_others() -> None:
    trace = traced(every())
    weight = round(120_000 / (1 - 2.718281828459045 ** (-120_000 / 102_400)))
    wanted = {"objects": 120_000, "samples": weight, "ticks": 120_024}
    for source, bytes in wanted.items():
        report = trace.report("alloc", source=source)
        assert report.facts.source == source
        assert report.metrics["bytes_total"].value == report.types[0].bytes == bytes
        assert [(row.source, row.bytes, row.used) for row in report.sources] == [
            (name, amount, name == source) for name, amount in wanted.items()
        ]
        assert report.coverage == "full"
    best = trace.report("alloc")
    assert (best.facts.source, best.facts.certainty, best.facts.large_by) == ("objects", "exact", "size")
    assert types(best) == [("Shop.Order", 120_000, 1, 1)]
    assert best.kinds[0].kind == "large"
    with pytest.raises(ValueError, match="source must be best, objects, samples, ticks, not 'all'"):
        trace.report("alloc", source="all")


def test_a_source_that_is_not_there() -> None:
    report = traced(ticked()).report("alloc", source="samples")
    assert (report.facts.source, report.facts.certainty, len(report.types)) == (None, None, 0)
    assert {metric.value for metric in report.metrics.values()} == {None}
    assert report.metrics["bytes_total"].reason == "the trace has no samples"
    (note,) = (note for note in report.notes if note.id == "no-source")
    assert (note.message, note.remedy) == ("the trace has no samples; it has ticks", "ask for ticks")


def test_nothing_seen_is_not_nothing_happened() -> None:
    nobody = traced(shop()).report("alloc")
    assert (nobody.coverage, nobody.metrics["bytes_total"].value, nobody.facts.source) == ("none", None, None)
    assert [note.record for note in nobody.notes] == [
        "Microsoft-Windows-DotNETRuntime:0x1:5",
        "Microsoft-Windows-DotNETRuntime:0x80000000000:4",
    ]
    # The window holds none, but the trace tells of allocations.
    quiet = traced(ticked()).report("alloc", end=5 * MS)
    assert (quiet.metrics["bytes_total"].value, quiet.facts.source, len(quiet.types)) == (0, "ticks", 0)


def test_samples_have_an_interval() -> None:
    builder = shop().at(MS)
    for _ in range(12):
        sampled(builder, 1_000, "Shop.Order", MAIN + 4)
    sampled(builder, 50_000_000, "System.Byte[]", PAY + 4, MAIN + 4, kind=1)
    report = traced(builder).report("alloc")
    weight = 1_000 / (1 - 2.718281828459045 ** (-1_000 / 102_400))
    order, large = report.types[1], report.types[0]
    assert (order.bytes, order.samples, order.count) == (12 * round(weight), 12, round(12 * weight / 1_000))
    assert order.low_bytes is not None
    assert order.high_bytes is not None
    half = 1.96 * (12 * weight**2 * (1 - 1_000 / weight)) ** 0.5
    assert (order.bytes - order.low_bytes, order.high_bytes - order.bytes) == pytest.approx((half, half), abs=2)
    # An object of 50 MB is sampled for certain.
    assert (large.bytes, large.low_bytes, large.high_bytes, large.count) == (50_000_000, 50_000_000, 50_000_000, 1)
    total = report.metrics["bytes_total"]
    assert total.value == order.bytes + large.bytes
    assert total.low == total.value - (order.bytes - order.low_bytes)
    assert report.facts.certainty == "estimated"


def test_types_without_a_name() -> None:
    builder = made(made(shop().at(MS), 40, 5, MAIN + 4), 60, 6, MAIN + 4)
    report = traced(named(builder, (6, "Shop.Order"))).report("alloc")
    # A name that comes after is a name.
    assert types(report) == [("Shop.Order", 60, 1, 1), (None, 40, 1, 1)]
    (note,) = (note for note in report.notes if note.id == "unnamed-types")
    assert note.message == "1 object has a type whose name was not recorded"
    assert note.record == "Microsoft-Windows-DotNETRuntime:0x280000:4"


def test_the_first_ticks_had_32_bits_and_no_type() -> None:
    builder = shop().at(MS).event(GCAllocationTick_V1(4_000_000_000, GCAllocationKind.Large, 0), stack=[MAIN + 4])
    report = traced(builder).report("alloc")
    assert [(row.type, row.bytes, row.large_bytes) for row in report.types] == [(None, 4_000_000_000, 4_000_000_000)]
    assert "unnamed-types" not in {note.id for note in report.notes}


def test_losses_mark_what_they_touch() -> None:
    builder = sampled(shop().thread(7).at(MS), 1_000, "Shop.Order", MAIN + 4)
    sampled(builder.thread(8), 1_000, "Shop.Order", MAIN + 4)
    sampled(builder.thread(7).lose(3).at(20 * MS), 1_000, "Shop.Order", MAIN + 4)
    sampled(builder.at(40 * MS), 1_000, "Shop.Order", MAIN + 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = traced(builder)
        report = trace.report("alloc")
        after = trace.report("alloc", start=30 * MS)
    assert {row.lossy for row in report.types} == {True}
    assert {row.thread_id: row.lossy for row in report.threads} == {7: True, 8: False}
    assert [row.lossy for row in report.timeline][:21] == [True] * 20 + [False]
    assert "too-small" in {note.id for note in report.notes}
    assert {row.lossy for row in (*after.types, *after.threads, *after.sources)} == {False}
    assert "too-small" not in {note.id for note in after.notes}


def test_flames_and_lists_of_methods_weigh_the_same_bytes() -> None:
    for source, builder in (("objects", every()), ("ticks", ticked())):
        trace = traced(builder)
        report, flame, top = trace.report("alloc"), read_samples(trace, weight="alloc"), trace.report("top", by="alloc")
        assert report.facts.source == source
        assert flame.total == top.metrics["total"].value == report.metrics["bytes_total"].value
        assert (flame.unit, top.facts.unit) == ("bytes", "bytes")
        assert sum(row.exclusive_bytes or 0 for row in top.methods) == flame.total
    trace = traced(ticked())
    names = [(row.name, row.exclusive_bytes, row.inclusive_bytes) for row in trace.report("top", by="alloc").methods]
    assert names == [
        ("Shop.Main()", 900_000, 1_112_400),
        ("System.Text.Add()", 110_000, 110_000),
        ("Shop.Pay()", 102_400, 212_400),
    ]
    assert [row.exclusive_bytes for row in trace.report("top", by="module", weight="alloc").methods] == [1_112_400]
    assert trace.report("top", by="alloc", thread_id=7).metrics["total"].value == 212_400
    assert read_samples(trace, weight="alloc", thread_id=8).total == 900_000
    assert read_samples(trace, weight="alloc", start=15 * MS).total == 900_000
    assert trace.report("top", by="alloc", start=15 * MS).metrics["total"].value == 900_000
    (note,) = (note for note in trace.report("top", by="alloc").notes if note.id == "estimated")
    assert "crossed the threshold" in note.message
    assert "estimated" not in {note.id for note in traced(every()).report("top", by="alloc").notes}


@pytest.mark.parametrize("source", ["best", *SOURCES])
@pytest.mark.parametrize("seed", one_in(3, range(3)))
def test_random_traces_obey_the_laws(seed: int, source: str) -> None:
    data = random_allocations(seed, FORMATS[seed % 3])
    report_laws.obeys(REPORT, AllocParameters(source=source), data)


@pytest.mark.parametrize("seed", range(3))
def test_processes_with_different_sources_are_kept_apart(seed: int) -> None:
    """One has every object, the other only samples and ticks."""
    parts = tuple(random_allocations(seed + place, "netperf3", objects=not place, events=40) for place in (0, 1))
    alone, both = together(parts)
    report_laws.processes_do_not_disturb(REPORT, AllocParameters(), alone, both, PROCESSES)
    with clrevents.open(both) as trace:
        report = trace.report("alloc")
        assert [trace.report("alloc", process_id=process).facts.source for process in PROCESSES] == [
            "objects",
            "samples",
        ]
        flame, top = read_samples(trace, weight="alloc"), trace.report("top", by="alloc")
        halves = [read_samples(trace, weight="alloc", start=a, end=b).total for a, b in ((0, "40%"), ("40%", None))]
        parts = [read_samples(trace, weight="alloc", thread_id=thread).total for thread in (7, 8, 9)]
    assert report.facts.source is None
    assert report.metrics["bytes_total"].value == flame.total == top.metrics["total"].value == sum(halves) == sum(parts)
    assert {row.process_id for row in report.types} == set(PROCESSES)

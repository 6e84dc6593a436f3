"""The gc report on built traces, where every number can be said beforehand, and on a real one in full."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import clrevents
import report_laws
from built_collections import BACKGROUND, FOR_PREPARATION, GcTrace, collections, with_background
from built_pauses import FORMATS
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.vocabulary.answer_values import metric_text
from clrevents.analysis.reports.gc import REPORT, GcParameters, GcReport
from clrevents.analysis.reports.gc.gc_collections import compact_words, condemned_words, expand_words, mechanism_words
from clrevents.testing.builder import Format
from project_files import fixture
from reading import opened
from tiers import one_in


def asked(data: bytes, callers: bool = False, **window: Any) -> GcReport:
    options: WindowOptions = window  # type: ignore[assignment]
    with opened(data) as trace:
        return trace.report("gc", callers=callers, **options)


def rows(found: GcReport, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(one, name) for name in names) for one in found.collections]


def values(found: GcReport, *names: str) -> list[int | float | None]:
    return [found.metrics[name].value for name in names]


def test_one_collection_in_full() -> None:
    made = GcTrace().trigger(95, 1, stack=(0x1000,)).blocking(100, 1, 1, reason=1)
    found = asked(made.build())
    (one,) = found.collections
    assert (one.number, one.generation, one.kind, one.reason) == (1, 1, "blocking", "Induced")
    assert (one.start_ns, one.end_ns, one.duration_ns) == (115_000, 195_000, 80_000)
    assert (one.pause_start_ns, one.pause_ns, one.suspend_ns, one.pauses) == (100_000, 100_000, 10_000, 1)
    assert (one.heap_before_bytes, one.heap_after_bytes, one.promoted_bytes) == (1000, 5000, 300)
    assert (one.survival, one.fragmentation_bytes, one.free_list_bytes) == (0.3, 60, 50)
    assert (one.budget_bytes, one.allocated_bytes, one.allocation_rate) == (5000, 1000, None)
    assert (one.pinned_objects, one.finalizable_objects, one.finalizable_bytes, one.handles) == (3, 2, 30, 7)
    assert (one.memory_load, one.pause_mode, one.mechanisms) == (0.25, "Interactive", ("promotion",))
    assert (one.mark_ns, one.plan_ns, one.sweep_ns, one.compact_ns) == (15_000, 20_000, 30_000, None)
    assert (one.condemned, one.compact_reasons, one.expand_reasons) == (
        ("gen1 budget exceeded",),
        ("high fragmentation",),
        (),
    )
    assert (one.heaps, one.imbalance) == (1, None)
    assert (one.requested_ns, one.requested_thread_id, one.requested_by, one.lossy) == (95_000, 5, None, False)
    assert [(m.kind, m.mark_ns, m.marked_bytes) for m in found.marks] == [
        ("Stack", 5000, 10),
        ("Handle", 10_000, 20),
    ]
    (generation,) = found.generations
    assert (generation.generation, generation.size_before_bytes, generation.size_after_bytes) == ("gen0", 1000, 400)
    assert (generation.survived_bytes, generation.pinned_survived_bytes, generation.survival) == (300, 100, 0.3)
    assert values(found, "count", "pause_total", "pause_max", "pause_p50", "induced") == [
        1,
        100_000,
        100_000,
        100_000,
        1,
    ]
    assert values(found, "suspend_total", "promoted_total", "allocated_total", "heap_peak") == [10_000, 300, 1000, 5000]
    assert [(t.by, t.what, t.count, t.pause_ns, t.share) for t in found.totals] == [
        ("generation", "gen1", 1, 100_000, 1.0),
        ("kind", "blocking", 1, 100_000, 1.0),
        ("reason", "Induced", 1, 100_000, 1.0),
    ]


def test_a_background_collection_with_two_others_inside() -> None:
    found = asked(with_background().build())
    assert rows(found, "number", "kind", "duration_ns", "pause_ns", "suspend_ns", "pauses") == [
        # Of the first suspension, 50 µs are the ephemeral one's; then 31 and 51 of its own.
        (1, "background", 900_000, 90_000 - 50_000 + 31_000 + 51_000, 5000 + 2000 + 4000, 3),
        (2, "ephemeral", 50_000, 50_000, 0, 1),
        (3, "foreground", 50_000, 71_000, 3000, 1),
    ]
    assert [(s.start_ns, s.pause_ns, s.number, s.others) for s in found.suspensions] == [
        (90_000, 90_000, 1, (2,)),
        (300_000, 31_000, 1, ()),
        (400_000, 71_000, 3, ()),
        (700_000, 51_000, 1, ()),
    ]
    assert values(found, "pause_total", "pause_max", "background", "full_blocking") == [243_000, 122_000, 1, 0]
    assert sum(one.pause_ns or 0 for one in found.collections) == 243_000
    # The runtime repeats what the collection before promoted, and does not tell what survived.
    assert rows(found, "promoted_bytes", "survival", "heap_before_bytes") == [
        (None, None, 1000),
        (300, 0.3, 1000),
        (200, 0.3, 1000),
    ]
    assert [one.pause_ns for one in found.other_suspensions] == [4000]
    assert [one.allocated_bytes for one in found.collections] == [1000, None, None]
    assert {t.what: t.pause_ns for t in found.totals if t.by == "kind"} == {
        "background": 122_000,
        "foreground": 71_000,
        "ephemeral": 50_000,
    }


def test_announced_as_background_and_blocking_after_all() -> None:
    made = GcTrace().suspend(90).start(100, 1, 2, BACKGROUND).history(150, 2, mechanisms=0x6)
    made.end(160, 1, 2, promoted=300).restart(170)
    found = asked(made.build())
    assert rows(found, "kind", "promoted_bytes", "compact_ns", "sweep_ns") == [("blocking", 300, 40_000, None)]
    assert values(found, "background", "full_blocking") == [0, 1]


def test_going_on_after_the_trace() -> None:
    made = GcTrace().blocking(100, 1).suspend(300, stopped=4).start(310, 2, 1).mark(320, 0, 10)
    found = asked(made.build())
    names = ("number", "kind", "start_ns", "end_ns", "duration_ns", "pause_ns", "suspend_ns", "heap_after_bytes")
    assert rows(found, *names)[1] == (2, "blocking", 310_000, None, None, None, 4000, None)
    assert [(s.number, s.end_ns, s.pause_ns) for s in found.suspensions][1] == (2, None, None)
    # The last event is 20 µs after the program was stopped.
    assert values(found, "count", "pause_total", "pause_max", "paused") == [2, 120_000, 100_000, None]
    for name, value in (("pause_total", 120_000), ("pause_max", 100_000)):
        assert (found.metrics[name].low, found.metrics[name].high) == (value, None)
    assert found.metrics["paused"].reason == "a pause has no end in the trace"
    assert [note.id for note in found.notes] == ["pauses-unknown", "allocated-unknown"]


def test_a_background_one_going_on_after_the_trace_may_have_more_pauses() -> None:
    made = GcTrace().suspend(90).start(100, 1, 2, BACKGROUND).restart(110)
    found = asked(made.build())
    assert rows(found, "kind", "pause_ns", "suspend_ns", "end_ns") == [("background", None, None, None)]
    assert values(found, "pause_total") == [21_000]


def test_suspensions_without_a_collection() -> None:
    made = GcTrace().suspend(100).restart(150).sample_stop(300).suspend(400, 7, 5).restart(410, 7).blocking(500, 1)
    found = asked(made.build())
    assert [(s.number, s.reason, s.pause_ns) for s in found.suspensions] == [
        (None, "SuspendForGC", 51_000),
        (1, "SuspendForGC", 100_000),
    ]
    assert [(s.reason, s.pause_ns) for s in found.other_suspensions] == [
        ("SuspendOther", 4000),
        ("SuspendForDebugger", 11_000),
    ]
    assert (found.facts.other_suspensions, *values(found, "count", "pause_total")) == (2, 1, 151_000)


def test_a_suspension_that_waits_for_the_sampler() -> None:
    """Its begin is written before it may stop the threads; so it lies around another one's events."""
    made = GcTrace()
    made.at(100, 5).event(suspending())
    made.suspend(102, 9, 0).restart(110, 9, 2)
    made.at(120, 5).event(suspended())
    made.start(130, 1).end(150, 1).restart(160)
    found = asked(made.build())
    assert [(s.number, s.pause_ns, s.suspend_ns, s.held_up_ns) for s in found.suspensions] == [
        (1, 61_000, 20_000, 9000)
    ]
    assert rows(found, "number", "pause_ns") == [(1, 61_000)]


def suspending() -> Any:
    from clrevents.events import GCSuspendEEBegin_V1, GCSuspendEEReason

    return GCSuspendEEBegin_V1(GCSuspendEEReason(1), 0, 0)


def suspended() -> Any:
    from clrevents.events import GCSuspendEEEnd_V1

    return GCSuspendEEEnd_V1(0)


def test_a_lost_end() -> None:
    made = GcTrace().blocking(100, 1).suspend(300).start(310, 2).lose(count=4).restart(390)
    made.blocking(500, 3).blocking(700, 4)
    found = asked(made.build())
    assert rows(found, "number", "end_ns", "duration_ns", "pause_ns", "heap_after_bytes", "lossy") == [
        (1, 195_000, 80_000, 100_000, 5000, False),
        (2, None, None, None, None, True),
        (3, 595_000, 80_000, 100_000, 5000, False),
        (4, 795_000, 80_000, 100_000, 5000, False),
    ]
    # What number 2 left is not known.
    assert [one.allocated_bytes for one in found.collections] == [1000, None, None, 660]
    assert [(s.number, s.pause_ns, s.lossy) for s in found.suspensions] == [
        (1, 100_000, False),
        (2, None, True),
        (3, 100_000, False),
        (4, 100_000, False),
    ]


def test_a_whole_collection_lost() -> None:
    """From inside of one collection to inside of another: neither has what is the other's."""
    made = GcTrace().suspend(100).start(110, 1).lose(count=9).history(190).end(195, 2, promoted=300).restart(198)
    found = asked(made.build())
    assert rows(found, "number", "start_ns", "end_ns", "pause_ns", "heap_before_bytes", "lossy") == [
        (1, 110_000, None, None, None, True),
        (2, None, 195_000, None, None, True),
    ]
    assert [(s.number, s.pause_ns, s.lossy) for s in found.suspensions] == [(1, None, True), (2, None, True)]
    made = GcTrace().blocking(100, 1).lose(count=9).blocking(500, 4)
    found = asked(made.build())
    assert [one.allocated_bytes for one in found.collections] == [1000, None]
    assert ("numbers-missing", {"collections": 2}) in [(note.id, dict(note.numbers)) for note in found.notes]


def test_a_history_of_a_heap_lost() -> None:
    """Sums over some of the heaps are no sums."""
    sizes = ((1000, 400, 100, 200),)
    made = GcTrace().suspend(100).start(110, 1).history(150, 0, (sizes,), told=2).end(160, 1, promoted=300).restart(170)
    found = asked(made.build())
    assert rows(found, "heap_before_bytes", "survival", "heaps", "heap_after_bytes") == [(None, None, None, 5000)]
    assert len(found.generations) == 0
    assert [h.size_before_bytes for h in found.heaps] == [1000]


def test_a_phase_below_0_is_not_known() -> None:
    found = asked(GcTrace().suspend(90).start(100, 1).history(150, late=(1 << 32) - 1).end(160, 1).restart(170).build())
    assert rows(found, "mark_ns", "plan_ns", "sweep_ns") == [(15_000, 20_000, None)]


def test_allocated_between_collections() -> None:
    made = GcTrace().blocking(100, 1).blocking(1200, 2)
    found = asked(made.build())
    # 1,000 bytes of objects; 400 bytes less 60 of free space were left, 1,000 µs before.
    assert rows(found, "allocated_bytes", "allocation_rate") == [(1000, None), (660, pytest.approx(660e3))]
    assert values(found, "allocated_total", "allocation_rate") == [1660, 660_000]


def test_earlier_runtimes_leave_out_what_generation_0_does_not_change() -> None:
    """.NET Core 3.1: four generations, with 0 for the sizes of generation 2 and of large objects after the first."""
    young, old = (1000, 400, 0, 300), (9000, 0, 0, 0)
    made = GcTrace().suspend(100).start(110, 1).history(150, 0, ((young, (0, 300, 0, 0), old, old),))
    made.end(160, 1, promoted=300).restart(170)
    made.suspend(300).start(310, 2, 1).history(350, 1, ((young, (0, 300, 0, 0), (9000, 9000, 0, 0), old),))
    made.end(360, 2, 1, promoted=300).restart(370)
    found = asked(made.build())
    assert [(g.number, g.generation, g.size_after_bytes) for g in found.generations] == [
        *((1, "gen0", 400), (1, "gen1", 300), (1, "gen2", None), (1, "large", None)),
        *((2, "gen0", 400), (2, "gen1", 300), (2, "gen2", 9000), (2, "large", 0)),
    ]
    assert rows(found, "heap_before_bytes", "free_list_bytes", "fragmentation_bytes") == [
        (19_000, None, None),
        (19_000, 200, 240),
    ]
    # Large objects were there before the first one, which leaves them alone.
    assert rows(found, "allocated_bytes") == [(10_000,), (660,)]


def test_allocated_during_a_background_collection_is_not_known() -> None:
    """9,000 bytes are allocated while it runs; the next collection only sees what came after it."""
    made = GcTrace().blocking(100, 1)
    made.suspend(1090).start(1100, 2, 2, BACKGROUND).restart(1110)
    made.suspend(1800, 6, FOR_PREPARATION, 2).restart(1810, 6)
    made.end(1900, 2, 2, 6, promoted=1).history(1905, 2, (((1000, 10_000, 0, 0),),), mechanisms=0x5, thread=6)
    made.suspend(2990).start(3000, 3).history(3050, 0, (((10_500, 400, 100, 200),),)).end(3060, 3).restart(3070)
    found = asked(made.build())
    assert rows(found, "number", "kind", "allocated_bytes") == [
        (1, "blocking", 1000),
        (2, "background", 660),
        (3, "blocking", 10_500 - 9940),
    ]
    total = found.metrics["allocated_total"]
    assert (total.value, total.low, total.high) == (2220, 2220, None)
    assert metric_text(total) == "at least 2.2 kB"
    assert [(note.id, dict(note.numbers)) for note in found.notes] == [("allocated-in-background", {"collections": 1})]
    # In a window without it the number is exact.
    assert asked(made.build(), end="1ms").metrics["allocated_total"].low is None


def test_sums_without_lost_collections_are_lower_bounds() -> None:
    found = asked(GcTrace().blocking(100, 1).lose(count=40).blocking(500, 4).build())
    assert found.coverage == "partial"
    for name in ("count", "pause_total", "pause_max", "paused", "suspend_total", "full_blocking", "heap_peak"):
        metric = found.metrics[name]
        assert metric.value is not None
        assert (metric.low, metric.high) == (metric.value, None), name
    assert asked(GcTrace().blocking(100, 1).blocking(500, 2).build()).metrics["count"].low is None


def test_a_request_is_for_the_collection_of_its_reason() -> None:
    made = GcTrace().trigger(80, 4, thread=8).trigger(85, 0, thread=7).trigger(90, 0, thread=6).blocking(100, 1)
    made.blocking(300, 2)
    found = asked(made.build())
    assert rows(found, "number", "requested_ns", "requested_thread_id") == [(1, 85_000, 7), (2, None, None)]
    made = GcTrace().trigger(85, 0, thread=7).trigger(90, 0, thread=5).blocking(100, 1)
    assert rows(asked(made.build()), "requested_thread_id") == [(5,)]


def test_memory_that_the_gc_holds() -> None:
    committed = struct.pack("<H5Q", 1, 100, 20, 3, 4, 5)
    made = GcTrace().suspend(90).start(100, 1).dynamic(105, "CommittedUsage", committed)
    made.dynamic(106, "CommittedUsage", committed[:-1]).dynamic(107, "CommittedUsage", b"\2" + committed[1:])
    made.dynamic(108, "SomethingNew", b"")
    made.dynamic(109, "CommittedUsage", struct.pack("<H5Q", 1, 200, 0, 0, 0, 0) + b"more").end(110, 1).restart(120)
    found = asked(made.build())
    assert [(c.number, c.committed_bytes, c.in_use_bytes, c.decommit_bytes) for c in found.committed] == [
        (1, 132, 100, 20),
        (1, 200, 200, 0),
    ]
    assert (rows(found, "committed_bytes"), *values(found, "committed_peak")) == ([(200,)], 200)
    (note,) = (note for note in found.notes if note.id == "dynamic-unread")
    assert note.numbers == {"events": 2}


def test_adaptations() -> None:
    sample = struct.pack("<HQ4IQI", 1, 3, 10, 20, 30, 40, 5000, 600)
    tuning = struct.pack("<4HQQ3fHfIB4HB", 1, 2, 4, 1, 3, 7000, 1.5, 2.5, 0, 3, 0, 9, 0, 5, 6, 0, 0, 0)
    full = struct.pack("<HHQfI" + "If" * 3, 1, 3, 8, 4.5, 6, *(1, 2.0) * 3)
    made = GcTrace().blocking(100, 1).dynamic(300, "SizeAdaptationSample", sample)
    made.dynamic(310, "SizeAdaptationTuning", tuning).dynamic(320, "SizeAdaptationFullGCTuning", full)
    found = asked(made.build())
    (one,) = found.samples
    assert (one.gc_index, one.between_ns, one.pause_ns, one.small_wait_ns, one.large_wait_ns) == (
        *(3, 10_000, 20_000),
        *(30_000, 40_000),
    )
    assert (one.stable_bytes, one.budget_bytes) == (5000, 600)
    names = ("full", "heaps", "least_heaps", "most_heaps", "median_cost", "cost", "stable_bytes", "since_change")
    assert [tuple(getattr(t, name) for name in names) for t in found.tunings] == [
        (False, 2, 1, 4, 1.5, 2.5, 7000, 9),
        (True, 3, None, None, 4.5, None, None, 6),
    ]
    # Only server GC adapts.
    assert (found.facts.flavor, found.facts.flavor_evidence) == ("server", "inferred")


def test_nothing_recorded_and_nothing_happened() -> None:
    quiet = GcTrace().sample_stop(100)
    found = asked(quiet.build())
    assert (found.coverage, *values(found, "count", "pause_total", "pause_max")) == ("full", 0, 0, None)
    silent = GcTrace()
    silent.at(10, 5).sample(0x1000)
    found = asked(silent.build())
    assert (found.coverage, *values(found, "count", "pause_total")) == ("none", None, None)
    assert [note.id for note in found.notes] == ["not-recorded"]


def test_two_runtimes_in_one_process() -> None:
    """Their numbers are their own."""
    made = GcTrace().blocking(100, 1)
    other = made.trace.event
    made.trace.event = lambda record, stack=(): other(  # type: ignore[method-assign]
        record.__replace__(ClrInstanceID=3) if hasattr(record, "__replace__") else with_instance(record), stack
    )
    made.blocking(120, 1, thread=8)
    found = asked(made.build())
    assert rows(found, "number", "pause_ns", "start_thread_id") == [(1, 100_000, 5), (1, 100_000, 8)]


def with_instance(record: Any) -> Any:
    names = [field.name for field in type(record).__layout__.fields]
    return type(record)(*(3 if name == "ClrInstanceID" else getattr(record, name) for name in names))


@pytest.mark.parametrize("seed", one_in(3, range(3)))
@pytest.mark.parametrize("format", FORMATS)
def test_events_in_any_order_obey_the_laws(format: Format, seed: int) -> None:
    report_laws.obeys(REPORT, GcParameters(), collections(format, seed), report_laws.LAWS_OF_CHANCE)


def test_collections_inside_of_another_obey_the_laws() -> None:
    report_laws.obeys(REPORT, GcParameters(), with_background().build())


def test_words() -> None:
    assert condemned_words(((0x28, 0x2000),)) == ("gen2 budget exceeded", "gen2 too small for background")
    assert condemned_words(((0x0A, 0x1),)) == ("induced",)
    # Of server GC #2: the heap that chose generation 2 decides.
    assert condemned_words(((0x14, 0), (0x28, 0))) == ("gen2 budget exceeded",)
    assert condemned_words(((0, 0),)) == ()
    assert condemned_words(((0x40 | 0x4, 1 << 31),)) == ("gen1 time since the last one", "0x80000000")
    assert compact_words((0x80000002, 0x80000002, 0x2, 0)) == ("high fragmentation",)
    assert expand_words((0x80000005,)) == ("reuse normal", "new segment with promotion")
    assert mechanism_words(0x15) == ("concurrent", "promotion", "card bundles")
    assert mechanism_words(0x22) == ("compaction", "0x20")


def test_a_real_one() -> None:
    with clrevents.open(fixture("net10-servergc")) as trace:
        found = trace.report("gc", callers=True)
    assert rows(found, "number", "generation", "kind", "reason", "pause_ns", "requested_by") == [
        (1, 0, "blocking", "AllocSmall", 2_242_977, "Scenarios.Garbage(Random)"),
        (2, 2, "background", "AllocLarge", 7_461_198, "Scenarios.Garbage(Random)"),
        (3, 1, "blocking", "Induced", 1_115_425, "Scenarios.Garbage(Random)"),
        (4, 1, "blocking", "Induced", 6_978_007, "Scenarios.Garbage(Random)"),
        (5, 2, "blocking", "Induced", 237_035, "Scenarios.Garbage(Random)"),
        (6, 0, "blocking", "Induced", 157_617, "Scenarios.Garbage(Random)"),
    ]
    assert values(found, "pause_total", "pause_max", "induced", "heap_peak") == [18_192_259, 7_461_198, 4, 75_430_120]
    assert rows(found, "allocated_bytes")[:3] == [(42_479_208,), (69_633_704,), (2_033_560,)]
    second = found.collections[1]
    assert (second.condemned, second.mechanisms, second.heaps) == (
        ("gen2 budget exceeded",),
        ("concurrent", "promotion", "card bundles"),
        2,
    )
    # Histories and the sizes written at the end agree, and survivors of generation 0 arrive in generation 1.
    for one in found.collections:
        sizes = [g.size_after_bytes for g in found.generations if g.number == one.number]
        assert sum(sizes) == one.heap_after_bytes
    first = [h for h in found.heaps if h.number == 1 and h.generation in ("gen0", "gen1")]
    assert [h.survived_bytes for h in first if h.generation == "gen0"] == [2_240_544, 2_121_624]
    assert [h.moved_in_bytes for h in first if h.generation == "gen1"] == [2_240_440, 2_121_624]
    assert (found.facts.flavor, found.facts.flavor_evidence, found.facts.most_heaps) == ("server", "event", 2)
    assert found.coverage == "full"
    assert [note.id for note in found.notes] == ["allocated-in-background"]
    total = found.metrics["allocated_total"]
    assert (total.value, total.low, total.high) == (114_146_472, 114_146_472, None)

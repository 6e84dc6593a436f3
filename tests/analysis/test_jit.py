"""The JIT report: built traces for each rule, and sums on real traces against counts of the events themselves."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import partial

import pytest

import clrevents
from clrevents.analysis.gathering.groups import gather
from clrevents.analysis.shared.events.event_spans import compilations, inside
from clrevents.events import (
    AssemblyLoad_V1,
    MethodFlags,
    MethodJitInliningFailed_V0,
    MethodJitInliningSucceeded_V0,
    MethodJitTailCallFailed_V0,
    MethodJitTailCallSucceeded_V0,
    MethodJittingStarted_V1,
    MethodLoad_V1,
    MethodLoadVerbose_V1,
    MethodLoadVerbose_V2,
    R2RGetEntryPoint_V1,
    R2RGetEntryPointStart_V0,
    TieredCompilationBackgroundJitStart_V0,
    TieredCompilationBackgroundJitStop_V0,
)
from clrevents.testing.builder import TraceBuilder
from project_files import fixture
from reading import asked
from reading import numbers_of as numbers

report = partial(asked, "jit")

QUICK, TIER1, OSR = 3, 4, 5


def started(name: str, method_id: int, il: int = 10) -> MethodJittingStarted_V1:
    return MethodJittingStarted_V1(method_id, 77, 0x06000001, il, "N.T", name, "void  ()", 0)


def loaded(
    name: str, method_id: int, tier: int = QUICK, version: int = 0, size: int = 20, flags: int = 8
) -> MethodLoadVerbose_V2:
    bits = MethodFlags(flags | tier << 7)
    address = method_id * 1000 + version
    return MethodLoadVerbose_V2(method_id, 77, address, size, 0x06000001, bits, "N.T", name, "void  ()", 0, version)


def inlined(name: str) -> MethodJitInliningSucceeded_V0:
    return MethodJitInliningSucceeded_V0("N.T", name, "", "N.T", name, "", "N.U", "Callee", "", 0)


def refused(name: str, reason: str, always: bool) -> MethodJitInliningFailed_V0:
    return MethodJitInliningFailed_V0("N.T", name, "", "N.T", name, "", "N.U", "Callee", "", always, reason, 0)


def test_one_compilation() -> None:
    builder = TraceBuilder().thread(5).event(started("M", 1, il=33)).wait(4000)
    builder.event(loaded("M", 1, size=99))
    found = report(builder)
    (c,) = found.compilations
    assert (c.method, c.namespace, c.name, c.signature) == ("N.T.M()", "N.T", "M", "void  ()")
    assert (c.start_ns, c.end_ns, c.compile_ns) == (0, 5000, 5000)
    assert (c.il_bytes, c.native_bytes) == (33, 99)
    assert (c.tier, c.version, c.background, c.thread_id) == ("QuickJitted", 0, False, 5)
    assert (c.method_id, c.address, c.module, c.dynamic, c.rejected, c.lossy) == (1, 1000, None, False, False, False)
    assert report(builder, raw=True).compilations[0].method == "N.T.M()"
    (m,) = found.methods
    assert (m.tiers, m.ready_ns, m.never_tiered_up, m.rejits) == (("QuickJitted",), (5000,), True, 0)
    assert pickle.loads(pickle.dumps(found)) == found


def test_tiers_over_time_and_the_background_thread() -> None:
    builder = TraceBuilder().thread(1)
    builder.event(started("Hot", 1)).event(loaded("Hot", 1)).event(started("Cold", 2)).event(loaded("Cold", 2))
    builder.thread(9).event(TieredCompilationBackgroundJitStart_V0(0, 1))
    builder.event(started("Hot", 1)).wait(100).event(loaded("Hot", 1, TIER1, version=1))
    builder.event(TieredCompilationBackgroundJitStop_V0(0, 0, 1))
    builder.event(started("Other", 3)).event(loaded("Other", 3, TIER1, version=1))
    found = report(builder)
    assert [c.background for c in found.compilations] == [False, False, True, False]
    by_name = {m.method: m for m in found.methods}
    hot = by_name["N.T.Hot()"]
    assert hot.tiers == ("QuickJitted", "OptimizedTier1")
    assert (hot.compilations, hot.rejits, hot.never_tiered_up) == (2, 1, False)
    assert (hot.compile_ns, hot.background_ns) == (2100, 1100)
    assert by_name["N.T.Cold()"].never_tiered_up
    assert numbers(found, "compilations", "methods", "foreground", "background") == (4, 3, 3, 1)
    assert numbers(found, "compile_total", "background_total", "never_tiered_up", "rejits") == (4100, 1100, 1, 1)
    assert found.metrics["background"].evidence == "event"
    assert found.facts.background_by == "turns"
    assert [(t.tier, t.compilations, t.compile_ns) for t in found.tiers] == [
        ("QuickJitted", 2, 2000),
        ("OptimizedTier1", 2, 2100),
    ]
    assert [(t.thread_id, t.compilations, t.background) for t in found.threads] == [(9, 2, 1), (1, 2, 0)]
    assert numbers(found, "turns", "turn_methods", "turn_total") == (1, 1, 3100)


def test_what_is_compiled_inside_of_another() -> None:
    """Decisions belong to the innermost compilation of their thread."""
    builder = TraceBuilder().thread(1).event(started("Outer", 1)).event(inlined("Outer"))
    builder.thread(2).event(inlined("Nobody")).event(started("Else", 3)).event(inlined("Else"))
    builder.event(loaded("Else", 3)).event(inlined("Nobody"))
    builder.thread(1).event(started("Inner", 2)).event(inlined("Inner")).event(refused("Inner", "too big", True))
    builder.event(loaded("Inner", 2)).event(refused("Outer", "too big", True)).event(refused("Outer", "no", False))
    names = "N.T", "Outer", "", "N.T", "Outer", "", "N.U", "C", ""
    builder.event(MethodJitTailCallSucceeded_V0(*names, True, 1, 0))
    builder.event(MethodJitTailCallFailed_V0(*names, False, "why not", 0)).event(loaded("Outer", 1))
    builder.event(inlined("Nobody"))
    found = report(builder)
    counts = {c.name: (c.inlined, c.not_inlined, c.tail_calls, c.no_tail_calls) for c in found.compilations}
    assert counts == {"Outer": (1, 2, 1, 1), "Else": (1, 0, 0, 0), "Inner": (1, 1, 0, 0)}
    assert [(d.what, d.accepted, d.reason, d.count) for d in found.decisions] == [
        ("inlining", True, None, 6),
        ("inlining", False, "too big", 2),
        ("inlining", False, "no", 1),
        ("tail call", True, "RecursiveLoop", 1),
        ("tail call", False, "why not", 1),
    ]
    assert numbers(found, "inlined", "not_inlined", "tail_calls", "no_tail_calls") == (6, 3, 1, 1)


def test_loads_without_a_begin_and_begins_without_a_load() -> None:
    """At level 4 there are loads only, which do not say for how long, and plain ones do not say what."""
    builder = TraceBuilder().thread(1).sample().event(loaded("Verbose", 1, TIER1))
    builder.event(MethodLoad_V1(2, 77, 2000, 50, 6, MethodFlags(8 | QUICK << 7), 0))
    builder.event(MethodLoad_V1(3, 77, 3000, 50, 6, MethodFlags(0), 0))
    builder.event(MethodLoad_V1(4, 77, 4000, 50, 6, MethodFlags(8), 0)).event(started("Never", 5))
    builder.event(MethodLoadVerbose_V1(2, 77, 2000, 50, 6, MethodFlags(8), "N.T", "Listed", "void  ()", 0))
    found = report(builder)
    shown = [(c.method, c.start_ns, c.end_ns, c.compile_ns, c.il_bytes, c.native_bytes) for c in found.compilations]
    assert shown == [
        ("N.T.Verbose()", None, 1000, None, None, 20),
        ("N.T.Listed()", None, 2000, None, None, 50),
        ("[0xfa0]", None, 4000, None, None, 50),
        ("N.T.Never()", 5000, None, None, 10, None),
        ("N.T.Listed()", None, 6000, None, None, 50),
    ]
    assert numbers(found, "untimed", "unfinished") == (4, 1)
    never = found.compilations[3]
    assert (never.tier, never.version, never.dynamic, never.rejected, never.address) == (None,) * 5
    # What was not finished has no tier to stay at.
    assert {m.method for m in found.methods if m.never_tiered_up} == set()
    assert numbers(found, "precompiled_loads") == (1,)
    # What is known of no compilation in a group is null, and not nothing.
    assert {t.tier: (t.compilations, t.compile_ns, t.il_bytes, t.native_bytes) for t in found.tiers} == {
        "OptimizedTier1": (1, None, None, 20),
        "QuickJitted": (1, None, None, 50),
        "Unknown": (2, None, None, 100),
        None: (1, None, 10, None),
    }


def test_ids_of_dynamic_methods_are_used_again() -> None:
    builder = TraceBuilder()
    for name in ("Dyn0", "Dyn1"):
        builder.event(started(name, 1)).event(loaded(name, 1, 2, flags=9))
    found = report(builder)
    assert [c.dynamic for c in found.compilations] == [True, True]
    assert sorted(m.method for m in found.methods) == ["N.T.Dyn0()", "N.T.Dyn1()"]


def test_rejected_code_and_look_ups() -> None:
    builder = TraceBuilder().event(started("M", 1)).event(loaded("M", 1, flags=0x48))
    builder.event(R2RGetEntryPointStart_V0(2, 0)).wait(500)
    builder.event(R2RGetEntryPoint_V1(2, "N", "A", "", 0x5000, 0, 10))
    builder.event(R2RGetEntryPoint_V1(2, "N", "A", "", 0x5000, 0, 10))
    builder.event(R2RGetEntryPoint_V1(3, "N", "B", "", 0, 0, 0))
    found = report(builder)
    assert found.compilations[0].rejected
    assert found.methods[0].rejected
    assert numbers(found, "lookups", "lookup_hits", "lookup_misses", "lookup_methods") == (3, 2, 1, 1)
    assert numbers(found, "lookup_total", "rejected", "precompiled_loads") == (1500, 1, 0)
    # The first look-up lasts from 2,000 to 3,500 ns; it counts where it ended, and its time where it passed.
    first, second = report(builder, end="3us"), report(builder, start="3us", end="4us")
    names = "lookups", "lookup_hits", "lookup_misses", "lookup_methods", "lookup_total"
    assert numbers(first, *names) == (0, 0, 0, 0, 1000)
    assert numbers(second, *names) == (1, 1, 0, 1, 500)


def test_parts_that_were_not_recorded() -> None:
    found = report(TraceBuilder().event(loaded("M", 1)))
    assert found.coverage == "partial"
    assert numbers(found, "compilations", "native_total", "untimed") == (1, 20, 1)
    known = {"compilations", "methods", "foreground", "background", "native_total", "rejits", "unfinished", "untimed"}
    known |= {"never_tiered_up", "rejected", "precompiled_loads"}
    assert {name for name, metric in found.metrics.items() if metric.value is not None} == known
    assert [note.record for note in found.notes] == [
        "Microsoft-Windows-DotNETRuntime:0x18:5",
        "Microsoft-Windows-DotNETRuntime:0x1018:5",
        "Microsoft-Windows-DotNETRuntime:0x2000000018:4",
        "Microsoft-Windows-DotNETRuntime:0x1000000018:4",
    ]
    # What was recorded with other keywords proves nothing, and what was recorded with the same ones does.
    begun = report(TraceBuilder().event(started("M", 1)))
    assert numbers(begun, "compilations", "inlined", "lookups", "turns") == (1, None, None, None)
    assert begun.coverage == "partial"
    assert report(TraceBuilder().event(AssemblyLoad_V1(3, 9, 0, 0, "App", 0))).coverage == "none"
    # No decision is known here; where any was, a compilation without one has none.
    assert (found.compilations[0].inlined, found.methods[0].not_inlined) == (None, None)
    builder = TraceBuilder().event(started("M", 1)).event(loaded("M", 1)).event(inlined("Nobody"))
    other = report(builder.event(loaded("Lone", 2)))
    assert [(c.inlined, c.no_tail_calls) for c in other.compilations] == [(0, 0), (None, None)]


def test_exact_figures() -> None:
    with clrevents.open(fixture("net10-method-interop")) as trace:
        found = trace.report("jit")
    assert numbers(found, "compilations", "methods", "foreground", "background") == (146, 136, 108, 38)
    assert numbers(found, "compile_total", "background_total") == (37798854, 15700816)
    assert numbers(found, "il_total", "native_total", "rejits") == (8889, 29493, 10)
    assert numbers(found, "lookups", "lookup_hits", "lookup_methods", "lookup_total") == (1276, 1224, 1194, 25089144)
    assert numbers(found, "inlined", "not_inlined", "tail_calls", "no_tail_calls") == (313, 210, 24, 13)
    assert numbers(found, "turns", "pauses") == (None, None)
    assert [(t.tier, t.compilations) for t in found.tiers] == [
        ("QuickJitted", 61),
        ("Optimized", 44),
        ("OptimizedTier1Instrumented", 31),
        ("QuickJittedInstrumented", 4),
        ("OptimizedTier1OSR", 3),
        ("OptimizedTier1", 3),
    ]


@pytest.mark.parametrize(
    "name", ["net8-method-interop", "net10-method-interop", "net8-unload-verbose", "net8-netperf3"]
)
def test_sums_are_those_of_the_events(name: str) -> None:
    with clrevents.open(fixture(name)) as trace:
        found = trace.report("jit", raw=True)
        counts: Counter[str] = Counter()
        for key, n in trace.event_counts().items():
            counts[key.name] += n
        loads = [e.payload for e in trace.events("MethodLoadVerbose")]
        begins = [e.payload for e in trace.events("MethodJittingStarted")]
        reasons = Counter(e.payload.FailReason for e in trace.events("MethodJitInliningFailed"))
        missing = sum(e.payload.EntryPoint == 0 for e in trace.events("R2RGetEntryPoint"))
    (total,) = numbers(found, "compilations")
    assert total == len(begins) == len(found.compilations) > 20
    assert numbers(found, "il_total") == (sum(p.MethodILSize for p in begins),)
    assert numbers(found, "native_total") == (sum(p.MethodSize for p in loads),)
    assert Counter(c.tier for c in found.compilations) == Counter(str(p.MethodFlags.tier) for p in loads)
    for attribute, event in (
        ("inlined", "MethodJitInliningSucceeded"),
        ("not_inlined", "MethodJitInliningFailed"),
        ("tail_calls", "MethodJitTailCallSucceeded"),
        ("no_tail_calls", "MethodJitTailCallFailed"),
    ):
        if counts["MethodJitInliningSucceeded"] == 0:
            assert {getattr(c, attribute) for c in found.compilations} == {None}
            continue
        # Each of them lies in a compilation.
        assert sum(getattr(c, attribute) for c in found.compilations) == counts[event]
        assert numbers(found, attribute) == (counts[event],)
    decided = Counter({d.reason: d.count for d in found.decisions if d.what == "inlining" and not d.accepted})
    assert decided == reasons
    assert (
        sum(d.count for d in found.decisions if d.what == "tail call" and d.accepted)
        == counts["MethodJitTailCallSucceeded"]
    )
    looked = counts["R2RGetEntryPoint"]
    assert numbers(found, "lookups", "lookup_hits", "lookup_misses") == (
        (looked, looked - missing, missing) if looked else (None, None, None)
    )
    assert numbers(found, "rejected") == (sum(bool(p.MethodFlags & 0x60) for p in loads),)
    assert sum(m.compilations for m in found.methods) == total
    assert sum(t.compilations for t in found.threads) == sum(t.compilations for t in found.tiers) == total


def test_decisions_lie_in_the_compilation_that_they_name() -> None:
    with clrevents.open(fixture("net10-method-interop")) as trace:
        names = ("MethodJittingStarted", "MethodLoad", "MethodLoadVerbose", "MethodJitInliningFailed")
        begins, plain, verbose, failed = gather(trace, names)
    made = compilations(begins, [plain, verbose])
    of = inside(made, failed.numbers("thread_id"), failed.places)
    assert (of >= 0).all()
    for field in ("Namespace", "Name"):
        compiled = begins.table[f"Method{field}"][made.begin[of]]
        assert compiled.tolist() == failed.table[f"MethodBeingCompiled{field}"].tolist()

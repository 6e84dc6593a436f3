"""The rules of lifetimes, on traces of a few events."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

import clrevents
from clrevents.events import (
    MethodDCEndVerbose_V1,
    MethodDCStartVerbose_V1,
    MethodFlags,
    MethodLoad_V1,
    MethodLoadVerbose_V1,
    MethodLoadVerbose_V2,
    MethodUnload_V1,
    MethodUnloadVerbose_V1,
    ModuleLoad_V1,
    ModuleUnload_V1,
    R2RGetEntryPoint_V0,
    R2RGetEntryPoint_V1,
    RuntimeInformationStart_V0,
)
from clrevents.schema.registry import RUNTIME
from clrevents.symbols.methods import Methods
from clrevents.testing.builder import TraceBuilder

MS = 1_000_000
JITTED = MethodFlags(0x8)
PRECOMPILED = MethodFlags(0)
DYNAMIC = MethodFlags(0x9)


def verbose(name: str, start: int = 0x1000, size: int = 0x40, flags: MethodFlags = JITTED, id: int = 0) -> tuple:  # type: ignore[type-arg]
    """The values of a verbose method event."""
    return (id or start, 7, start, size, 0x06000001, flags, "N", name, "void  ()", 0)


def names(trace: TraceBuilder) -> Methods:
    return clrevents.open(trace.build()).methods


def at(methods: Methods, address: int, ms: float) -> str:
    """The method's name, or in brackets why there is none."""
    frame = methods.at(address, int(ms * MS))
    return frame.name if frame.reason is None else f"[{frame.reason}]"


def test_a_range_that_is_used_again_resolves_by_time() -> None:
    trace = TraceBuilder()
    trace.at(10 * MS).event(MethodLoadVerbose_V1(*verbose("First")))
    trace.at(20 * MS).event(MethodUnloadVerbose_V1(*verbose("First")))
    trace.at(30 * MS).event(MethodLoadVerbose_V1(*verbose("Second", size=0x20)))
    trace.at(40 * MS).event(MethodUnloadVerbose_V1(*verbose("Second", size=0x20)))
    trace.at(50 * MS).sample(0x1010)
    methods = names(trace)
    found = [at(methods, 0x1010, ms) for ms in (10, 19.999, 20, 29.999, 30, 39.999, 40, 60)]
    assert found == ["First", "First", "[unloaded]", "[unloaded]", "Second", "Second", "[unloaded]", "[unloaded]"]
    assert at(methods, 0x1030, 35) == "[unloaded]"
    assert at(methods, 0x1040, 15) == "[no rundown]"
    assert methods.at(0x1010).name == "Second"
    assert methods.at(0x1030).name == "First"
    assert [(m.name, m.begin_ns, m.end_ns) for m in methods] == [
        ("First", 10 * MS, 20 * MS),
        ("Second", 30 * MS, 40 * MS),
    ]


def test_code_may_run_a_moment_before_its_load_is_written() -> None:
    methods = names(TraceBuilder().at(50 * MS).event(MethodLoadVerbose_V1(*verbose("Late"))))
    assert [at(methods, 0x1000, ms) for ms in (30, 45, 50)] == ["[not loaded yet]", "Late", "Late"]
    assert methods[0].begin_ns == 50 * MS


def test_what_is_listed_was_there_all_along() -> None:
    trace = TraceBuilder().at(9 * MS).event(MethodDCEndVerbose_V1(*verbose("Listed")))
    assert at(names(trace), 0x103F, 0) == at(names(trace), 0x1000, 99) == "Listed"
    trace = TraceBuilder().event(MethodDCStartVerbose_V1(*verbose("Listed")))
    trace.at(9 * MS).event(MethodUnloadVerbose_V1(*verbose("Listed")))
    assert [at(names(trace), 0x1000, ms) for ms in (0, 8.9, 9)] == ["Listed", "Listed", "[unloaded]"]


def test_an_unload_without_a_load_was_there_since_the_last_unload() -> None:
    trace = TraceBuilder()
    for ms, name in ((10, "A"), (20, "B"), (30, "C")):
        trace.at(ms * MS).event(MethodUnloadVerbose_V1(*verbose(name, flags=DYNAMIC, id=5)))
    methods = names(trace)
    assert [at(methods, 0x1000, ms) for ms in (0, 10, 19, 20, 30)] == ["A", "B", "B", "C", "[unloaded]"]


def test_a_lost_unload_ends_where_the_next_begins() -> None:
    trace = TraceBuilder().at(10 * MS).event(MethodLoadVerbose_V1(*verbose("A", id=1)))
    trace.at(20 * MS).event(MethodLoadVerbose_V1(*verbose("B", id=2)))
    trace.at(30 * MS).event(MethodDCEndVerbose_V1(*verbose("C", id=3)))
    methods = names(trace)
    assert [at(methods, 0x1000, ms) for ms in (10, 19, 20, 29, 30, 99)] == ["A", "A", "B", "B", "C", "C"]


def test_the_same_between_ranges_that_overlap() -> None:
    trace = TraceBuilder().at(10 * MS).event(MethodLoadVerbose_V1(*verbose("A", 0x1000, 0x100)))
    trace.at(20 * MS).event(MethodLoadVerbose_V1(*verbose("B", 0x1040, 0x10)))
    trace.at(30 * MS).event(MethodUnloadVerbose_V1(*verbose("B", 0x1040, 0x10)))
    trace.at(40 * MS).event(MethodLoadVerbose_V1(*verbose("C", 0x1000, 0x100, id=9)))
    methods = names(trace)
    assert [at(methods, 0x1048, ms) for ms in (15, 20, 30, 40)] == ["A", "B", "[unloaded]", "C"]
    assert [at(methods, 0x1080, ms) for ms in (15, 20, 40)] == ["A", "[unloaded]", "C"]


def test_a_listing_outweighs_the_unloads_of_a_shutdown() -> None:
    trace = TraceBuilder().at(10 * MS).event(MethodLoadVerbose_V1(*verbose("A")))
    trace.at(20 * MS).event(MethodUnloadVerbose_V1(*verbose("A")))
    trace.at(30 * MS).event(MethodDCEndVerbose_V1(*verbose("A")))
    assert at(names(trace), 0x1000, 25) == "A"
    assert len(names(trace)) == 1


def test_dynamic_methods_take_over_ids_and_addresses() -> None:
    trace = TraceBuilder().at(10 * MS).event(MethodLoadVerbose_V1(*verbose("A", flags=DYNAMIC)))
    trace.at(20 * MS).event(MethodUnloadVerbose_V1(*verbose("A", flags=DYNAMIC)))
    trace.at(30 * MS).event(MethodDCEndVerbose_V1(*verbose("B", flags=DYNAMIC)))
    assert [at(names(trace), 0x1000, ms) for ms in (15, 25)] == ["A", "B"]


def test_precompiled_code_is_there_before_its_load() -> None:
    trace = TraceBuilder().at(90 * MS).event(MethodLoadVerbose_V1(*verbose("A", flags=PRECOMPILED)))
    assert at(names(trace), 0x1000, 0) == "A"


def test_code_goes_with_its_module() -> None:
    trace = TraceBuilder().event(ModuleLoad_V1(7, 1, 0, 0, "/app/Plugin.dll", "", 0))
    trace.at(10 * MS).event(MethodLoadVerbose_V1(*verbose("A")))
    trace.at(20 * MS).event(ModuleUnload_V1(7, 1, 0, 0, "/app/Plugin.dll", "", 0))
    trace.at(30 * MS).event(ModuleLoad_V1(7, 1, 0, 0, "/app/Other.dll", "", 0))
    trace.at(40 * MS).event(MethodLoadVerbose_V1(*verbose("B", 0x2000)))
    methods = names(trace)
    assert [at(methods, 0x1000, ms) for ms in (15, 20)] == ["A", "[unloaded]"]
    assert [methods.at(a, t * MS).module for a, t in ((0x1000, 15), (0x2000, 45))] == ["Plugin", "Other"]


def test_one_method_has_several_pieces_of_code() -> None:
    trace = TraceBuilder().at(10 * MS)
    tiers = [(0x1000, 3, 0), (0x2000, 6, 1), (0x3000, 4, 2)]
    for start, tier, version in tiers:
        flags = MethodFlags(0x8 | tier << 7)
        trace.event(MethodLoadVerbose_V2(*verbose("A", start, flags=flags, id=1), version))
    trace.event(MethodLoadVerbose_V2(*verbose("A", 0x9000, flags=MethodFlags(0x10000208), id=1), 2))
    methods = names(trace)
    assert [str(methods.at(s, 50 * MS).tier) for s, _, _ in tiers] == [
        "QuickJitted",
        "QuickJittedInstrumented",
        "OptimizedTier1",
    ]
    assert [m.rejit_id for m in methods] == [0, 1, 2, 2]
    assert methods.at(0x9000, 50 * MS).name == "A"


def test_plain_events_take_their_names_from_others() -> None:
    plain = (0x1000, 7, 0x1000, 0x40, 0x06000012, PRECOMPILED, 0)
    trace = TraceBuilder().event(MethodLoad_V1(*plain))
    trace.event(R2RGetEntryPoint_V0(0x1000, "N", "A", "void  ()", 0x1000, 0))
    assert at(names(trace), 0x1000, 1) == "A"
    trace = TraceBuilder().event(ModuleLoad_V1(7, 1, 0, 0, "C:\\app\\App.dll", "", 0)).event(MethodLoad_V1(*plain))
    trace.at(5 * MS).event(MethodUnload_V1(*plain))
    assert str(names(trace).at(0x1000, MS)) == "App!0x06000012"
    assert at(names(trace), 0x1000, 6) == "[unloaded]"


def test_entry_points_name_code_where_all_of_them_were_seen() -> None:
    def entries(trace: TraceBuilder) -> Methods:
        for name, start in (("A", 0x1000), ("B", 0x1080)):
            trace.event(R2RGetEntryPoint_V0(start, "N", name, "void  ()", start, 0))
        return names(trace)

    attached = entries(TraceBuilder())
    assert at(attached, 0x1010, 1) == "[no rundown]"
    start = RuntimeInformationStart_V0(0, 2, 10, 0, 0, 0, 10, 0, 0, 0, 0, 1, "", UUID(int=0), "")
    launched = entries(TraceBuilder().event(start))
    assert [at(launched, a, 1) for a in (0x1000, 0x107F, 0x1080, 0x907F)] == ["A", "A", "B", "B"]
    assert at(launched, 0x9080, 1) == "[no rundown]"
    sized = names(TraceBuilder().event(R2RGetEntryPoint_V1(1, "N", "A", "void  ()", 0x1000, 0, 0x20)))
    assert [at(sized, a, 1) for a in (0x101F, 0x1020)] == ["A", "[no rundown]"]


def test_a_damaged_entry_point_takes_no_other_with_it() -> None:
    trace = TraceBuilder().raw(RUNTIME, R2RGetEntryPoint_V1.__event__.id, 1, b"short")
    trace.event(R2RGetEntryPoint_V1(1, "N", "A", "void  ()", 0x1000, 0, 0x20))
    assert [method.name for method in names(trace)] == ["A"]


def test_many_questions_at_once_are_answered_like_one() -> None:
    rng = np.random.default_rng(7)
    trace = TraceBuilder()
    for step in range(400):
        start = 0x1000 + int(rng.integers(0, 40)) * 0x20
        values = verbose(f"M{step}", start, int(rng.integers(1, 5)) * 0x20, id=step + 1)
        kind = (MethodLoadVerbose_V1, MethodUnloadVerbose_V1, MethodDCEndVerbose_V1)[int(rng.integers(0, 3))]
        trace.at(step * MS).event(kind(*values))
    methods = names(trace)
    addresses = rng.integers(0x1000, 0x1600, 3000).astype(np.uint64)
    times = rng.integers(0, 400 * MS, 3000).astype(np.int64)
    index, reason = methods.find(addresses, times)
    for a, t, i, why in zip(addresses.tolist(), times.tolist(), index.tolist(), reason.tolist(), strict=True):
        one, same = methods.find(np.array([a], dtype=np.uint64), np.array([t], dtype=np.int64))
        assert (i, why) == (int(one[0]), int(same[0]))
        if i >= 0:
            method = methods[i]
            begin, end = methods._life(i)
            assert method.address <= a < method.address + method.size
            assert begin <= t < end
        else:
            alive = [m for m in range(len(methods)) if covers(methods, m, a, t)]
            assert not alive


def covers(methods: Methods, index: int, address: int, time: int) -> bool:
    method = methods[index]
    begin, end = methods._life(index)
    return method.address <= address < method.address + method.size and begin <= time < end


@pytest.mark.parametrize("size", [0xFFFFFFFF, 1])
def test_ranges_at_the_top_of_the_address_space(size: int) -> None:
    top = (1 << 64) - 1
    methods = names(TraceBuilder().event(MethodLoadVerbose_V1(*verbose("Top", top, size, id=1))))
    assert methods.at(top, MS).reason in (None, "no rundown")
    assert methods.at(0, MS).reason == "no rundown"

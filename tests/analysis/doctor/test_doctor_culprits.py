"""Who is to blame, on built traces: named where an event says so, else unknown with the reason, and never a helper."""

from __future__ import annotations

import pytest

import clrevents
from built_collections import GcTrace
from built_waits import start, stop
from clrevents.analysis.doctor.diagnosis import Finding, culprit_text, detail_lines, diagnosis_lines
from clrevents.events import (
    AllocationSampled_V0,
    GCAllocationKind,
    GCAllocationTick_V4,
    GCHeapStats_V2,
    MethodFlags,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V1,
    PinObjectAtGCTime_V0,
)
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES
from reading import opened

MB = 1_000_000
CALLERS = {name: 0x1000 * (2 + number) for number, name in enumerate(("Main", "Buffer", "One", "Two", "Three", "Four"))}
SECONDS = 4


def shop() -> GcTrace:
    trace = GcTrace()
    for name, address in CALLERS.items():
        trace.trace.method_load("Shop", name, address=address, size=64)
    return trace


def allocates(
    builder: TraceBuilder, size: int, type: str, *stack: str, at: int = 0x10000, sampled: bool = False
) -> None:
    tick = GCAllocationTick_V4(0, GCAllocationKind.Small, 0, size, 7, type, 0, at, 1000)
    record = AllocationSampled_V0(GCAllocationKind.Small, 0, 7, type, at, size, 0) if sampled else tick
    builder.event(record, stack=[CALLERS[name] + 4 for name in stack])


def judged(trace: GcTrace, rule: str) -> Finding:
    trace.at(SECONDS * 1e6, 5).sample(CALLERS["Main"])
    with opened(trace.build()) as found:
        (one,) = found.doctor(rule)
    return one


# Pinned objects. -----------------------------------------------------------------------------------------------------


def collected(generations: int, *objects: int, sampled: bool = False) -> GcTrace:
    """By its history, a collection left 50 MB of runs of survivors with pinned objects among them."""
    trace = shop()
    allocates(trace.at(10, 5), 100_000, "System.Byte[]", "One", "Main", at=0xA000, sampled=sampled)
    trace.suspend(90).start(100, 1)
    for number, size in enumerate(objects):
        trace.at(101, 5).event(PinObjectAtGCTime_V0(1, 0xA000 + number, size, "System.Byte[]", 0))
    sizes = ((100 * MB, 60 * MB, 50 * MB, 1 * MB), *((1000, 1000, 0, 0),) * (generations - 1))
    return trace.history(150, 0, (sizes,)).end(160, 1, 0, promoted=51 * MB).restart(170)


def pinned(generations: int, *objects: int, sampled: bool = False) -> Finding:
    return judged(collected(generations, *objects, sampled=sampled), "gc.pinned")


@pytest.mark.parametrize("sampled", [False, True])
def test_pinned_objects_are_measured_by_themselves(sampled: bool) -> None:
    found = pinned(4, 40 * MB, sampled=sampled)
    assert (found.state, found.impact_bytes, found.culprit) == ("found", 40 * MB, "Shop.One()")
    assert pinned(4, 1000).state == "clear"


def test_what_an_old_runtime_says_of_pinned_survivors_is_not_believed() -> None:
    found = pinned(4)
    assert (found.state, found.record) == ("cannot tell", "Microsoft-Windows-DotNETRuntime:0x1:5")
    assert "count what lies between pinned objects, too" in found.title


def test_a_newer_runtime_is_believed_and_the_culprit_is_unknown() -> None:
    found = pinned(5)
    assert (found.state, found.culprit) == ("found", None)
    # What is free between them hurts, not what they weigh.
    assert (found.impact_bytes, found.title.startswith("50.0 MB of 51.0 MB")) == (300, True)
    assert found.nameless == "pinned objects were not recorded: record Microsoft-Windows-DotNETRuntime:0x1:5"
    assert culprit_text(found).startswith("unknown, because pinned objects were not recorded")
    assert culprit_text(pinned(4, 40 * MB)) == "Shop.One()"


def test_what_is_held_comes_before_what_was_allocated() -> None:
    trace = collected(4, 40 * MB)
    allocates(trace.at(200, 5), 4000 * MB, "System.Byte[]", "Two", "Main")
    trace.at(SECONDS * 1e6, 5).sample(CALLERS["Main"])
    with opened(trace.build()) as found:
        ranked = [(one.rule, one.impact_bytes) for one in found.doctor("gc.pinned", "alloc.one_site").found]
    assert ranked == [("gc.pinned", 40 * MB), ("alloc.one_site", 4000 * MB)]


# Helpers. ------------------------------------------------------------------------------------------------------------


def site(**bytes_: int) -> Finding:
    trace = shop()
    for number, (caller, size) in enumerate(bytes_.items()):
        stack = ("Main",) if caller == "Main" else (caller, "Main")
        allocates(trace.at(1000 * (number + 1), 5), size, "System.Byte[]", "Buffer", *stack)
    return judged(trace, "alloc.one_site")


def test_the_method_itself_is_to_blame_where_one_caller_has_it_called() -> None:
    found = site(One=2900 * MB, Two=100 * MB)
    assert (found.state, found.culprit, found.impact_bytes) == ("found", "Shop.Buffer()", 3000 * MB)


def test_of_a_helper_the_caller_is_to_blame_that_has_it_called_most() -> None:
    found = site(One=1900 * MB, Two=500 * MB, Three=600 * MB)
    assert (found.culprit, found.impact_bytes) == ("Shop.One()", 1900 * MB)
    assert found.title.startswith("the most that one caller of Shop.Buffer() allocates is 63.3 % of 3.0 GB")


def test_a_helper_that_all_call_alike_is_not_to_blame() -> None:
    assert site(One=740 * MB, Two=740 * MB, Three=740 * MB, Four=740 * MB, Main=40 * MB).state == "clear"


# Generated code. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("types", "culprit"),
    [
        (("System.Reflection.Emit.DynamicMethod", "System.Byte[]"), "Shop.One()"),
        (("System.Byte[]", "System.String"), None),
    ],
)
@pytest.mark.parametrize("verbose", [True, False])
def test_who_generates_code_is_known_by_what_it_allocates(
    types: tuple[str, str], culprit: str | None, verbose: bool
) -> None:
    trace = shop()
    allocates(trace.at(10, 5), 100_000, types[0], "One", "Main")
    allocates(trace.at(11, 5), 900_000, types[1], "Two", "Main")
    for number in range(200):
        name = ("dynamicClass", f"rule{number}", "int32 ()")
        if verbose:
            trace.at(19_000 * (number + 1), 5).event(MethodJittingStarted_V1(100 + number, 9, 0, 0, *name, 0))
        code = (0x90000 + 64 * number, 16, 0, MethodFlags.Dynamic | MethodFlags.Jitted)
        trace.at(19_000 * (number + 1) + 100, 5).event(MethodLoadVerbose_V1(100 + number, 9, *code, *name, 0))
    found = judged(trace, "jit.churn")
    assert (found.state, found.culprit) == ("found", culprit)
    assert (found.impact_ns, found.impact_count) == ((148 * 100_000, None) if verbose else (None, 148))
    assert (found.nameless is None) == (culprit is not None)


# Few threads, and few collections. -----------------------------------------------------------------------------------


def test_a_convoy_of_three_threads_counts_as_waiting() -> None:
    """Each holds the lock for 100 ms and is waited for by the two others: no queue of four, but 6 s of waiting in 3."""
    trace = TraceBuilder()
    begun, step = 1_000_000, 100_000_000
    steps = [(begun + step * turn, turn % 3) for turn in range(30)]
    for at, who in steps:
        trace.thread(11 + who).at(at).event(start(0x70, 11 + (who + 1) % 3))
        if at >= begun + 2 * step:
            waited = 2 * step - 1000
            trace.thread(11 + (who + 1) % 3).at(at + 1000).event(stop(float(waited)))
    with opened(trace.thread(9).at(begun + 31 * step).sample(0x1000).build()) as found:
        ranked = {one.rule: one.state for one in found.doctor("lock.convoy", "lock.waited")}
    assert ranked == {"lock.convoy": "clear", "lock.waited": "found"}


@pytest.mark.parametrize(("threads", "state"), [(3, "found"), (30, "clear")])
def test_a_lock_that_never_is_free_is_waited_for_often_if_threads_come_back(threads: int, state: str) -> None:
    """At every moment somebody waits: three threads again and again, or thirty for what is made once."""
    trace = TraceBuilder()
    step = 30_000_000
    for turn in range(30):
        trace.thread(11 + turn % threads).at(step * turn).event(start(0x70, 9))
        if turn:
            waited = step + 1_000_000
            trace.thread(11 + (turn - 1) % threads).at(step * turn + 1_000_000).event(stop(float(waited)))
    with opened(trace.thread(9).at(step * 31).sample(0x1000).build()) as found:
        ranked = {one.rule: one.state for one in found.doctor("lock.waited")}
    assert ranked == {"lock.waited": state}


@pytest.mark.parametrize(("kept", "state"), [(100 * MB, "cannot tell"), (1 * MB, "clear")])
def test_few_full_collections_clear_no_heap_that_grew(kept: int, state: str) -> None:
    trace = shop()
    for number in range(1, 4):
        trace.suspend(number * 1e6).start(number * 1e6 + 10, number, 2).end(number * 1e6 + 100, number, 2)
        sizes = (1000, 0, 1000, 0, kept * number, 0, 1000, 0)
        trace.trace.event(GCHeapStats_V2(*sizes, 0, 0, 0, 0, 0, 0, 0, 0))
        trace.restart(number * 1e6 + 110)
    found = judged(trace, "gc.growth")
    assert found.state == state
    assert ("3 full collections are too few to see the heap grow" in found.title) == (state == "cannot tell")


def test_no_line_is_wider_than_the_terminal_but_what_is_copied() -> None:
    with clrevents.open(FIXTURES / "net10-starvation.nettrace.gz") as trace:
        found = trace.doctor("pool.*")
    for width in range(40, 120):
        lines = [*diagnosis_lines(found, width), *detail_lines(found, width)]
        assert all(len(line) <= width for line in lines if not line.strip().startswith(("look: ", "record: ")))

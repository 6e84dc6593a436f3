"""`trace.stacks.table()` names the frames of stacks as the trace knew them last."""

from __future__ import annotations

import gc
import gzip
import pickle
from io import BytesIO

import clrevents
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from project_files import fixture, unpacked
from reading import Passed

COLUMNS = ["stack_id", "depth", "address", "module", "method", "tier"]


def shop() -> bytes:
    builder = TraceBuilder().method_load("Shop", "Main", address=0x1000, size=64)
    builder.method_load("Shop", "Pay", address=0x2000, size=64)
    return builder.sample(0x2010, 0x1010).sample(0x9000, 0x1020).sample(0x2010, 0x1010).build()


def test_a_row_for_each_frame() -> None:
    with clrevents.open(shop()) as trace:
        table = trace.stacks.table()
        frames = {e.stack_id: e.frames for e in trace.events("ThreadSample")}
    assert table.columns == COLUMNS
    assert [(*tuple(row.values())[:3], row["method"]) for row in table.rows()] == [
        (1, 0, 0x2010, "Shop.Pay()"),
        (1, 1, 0x1010, "Shop.Main()"),
        (2, 0, 0x9000, None),
        (2, 1, 0x1020, "Shop.Main()"),
    ]
    assert [row["tier"] for row in table.rows()] == [
        None if frame.tier is None else str(frame.tier) for stack in frames.values() for frame in stack
    ]
    assert table._repr_html_().count("0x2010") == 1


def test_code_of_several_times_has_the_last_name() -> None:
    builder = TraceBuilder().method_load("Old", "One", address=0x1000, size=64).sample(0x1010)
    builder.method_unload(0x1000).method_load("New", "Two", address=0x1000, size=64).sample(0x1010)
    with clrevents.open(builder.build()) as trace:
        first, second = trace.events("ThreadSample")
        assert [str(event.frames[0]) for event in (first, second)] == ["Old.One()", "New.Two()"]
        methods = trace.stacks.table()["method"].tolist()
        assert methods == ["New.Two()"] * len(trace.stacks)


def test_names_are_read_late_and_may_be_gone() -> None:
    for source in (shop(), gzip.compress(shop())):
        with clrevents.open(source) as trace:
            stacks = trace.stacks
        # Opened once more.
        assert stacks.table()["method"][0] == "Shop.Pay()"
    stacks = clrevents.open(BytesIO(shop())).stacks
    # Without the GIL, functions and what they hold wait for it.
    gc.collect()
    assert stacks.table()["method"].tolist() == [None] * 4
    copy = pickle.loads(pickle.dumps(stacks))
    assert copy[1] == stacks[1]
    assert copy.table().columns == COLUMNS
    assert copy.table()["address"].tolist() == stacks.table()["address"].tolist()


def test_no_stacks() -> None:
    with clrevents.open(TraceBuilder().sample().build()) as trace:
        assert (trace.stacks.table().columns, len(trace.stacks.table())) == (COLUMNS, 0)


def test_reading_names_tells_when_tracing_stopped() -> None:
    """Whoever wants both reads the trace once for them, as does `stopped_ns` alone."""
    data = unpacked(fixture("net10-garbage"))
    with clrevents.open(data) as trace:
        alone = passes_of(trace).stopped_ns()
        assert 0 < alone < passes_of(trace).duration_ns()
    with clrevents.open(file := Passed(data)) as trace:
        assert len(trace.methods) > 0
        before = file.passes
        assert (passes_of(trace).stopped_ns(), file.passes) == (alone, before)

"""`trace.stacks` holds what the events' own stacks say, for every container, also behind damage."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

import clrevents
from clrevents.testing.builder import Format, TraceBuilder
from project_files import FIXTURES

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]


def test_by_number(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().sample(1, 2).sample(3).sample(1, 2).sequence_point().sample(1 << 63).bytes())
    with clrevents.open(path) as trace:
        stacks = trace.stacks
        assert [stacks[e.stack_id] for e in trace.events()] == [(1, 2), (3,), (1, 2), (1 << 63,)]
        assert list(stacks) == sorted({e.stack_id for e in trace.events()})
        assert trace.stacks is stacks
    assert len(stacks) == 3
    assert repr(stacks) == "<3 stacks>"
    assert 1 in stacks
    assert 0 not in stacks
    assert "1" not in stacks
    assert stacks[0] == stacks[-1] == ()
    with pytest.raises(KeyError, match="99"):
        stacks[99]
    table = stacks.table()
    assert table.columns == ["stack_id", "addresses"]
    assert list(table.rows()) == [{"stack_id": i, "addresses": list(stacks[i])} for i in stacks]
    assert pickle.loads(pickle.dumps(stacks))[1] == (1, 2)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("pointer_size", [4, 8])
def test_every_container(format: Format, pointer_size: int) -> None:
    builder = TraceBuilder(format, pointer_size=pointer_size)
    for depth in range(40):
        builder.thread(depth % 3 + 1).sample(*range(100, 100 + depth))
        if depth % 7 == 0:
            builder.sequence_point()
    with clrevents.open(builder.bytes()) as trace:
        events = list(trace.events())
        stacks = trace.stacks
        assert [stacks[e.stack_id] for e in events] == [tuple(range(100, 100 + depth)) for depth in range(40)]
        assert len(stacks) == 39
        runs = [row for run in trace.runs() for row in run.stacks.rows()]
        assert runs == list(stacks.table().rows())


@pytest.mark.parametrize("format", FORMATS)
def test_with_a_table_in_one_pass(format: Format) -> None:
    """The stacks of the table's own events and no others."""
    builder = TraceBuilder(format).sample(1, 2).raw("App", 1, stack=(7, 8)).sequence_point().sample(3).sample(1, 2)
    with clrevents.open(builder.bytes()) as trace:
        table, stacks = trace.table_and_stacks("ThreadSample", columns=["time_ns", "stack_id"])
        assert table.columns == ["time_ns", "stack_id"]
        assert table["stack_id"].tolist() == trace.table("ThreadSample")["stack_id"].tolist()
        assert [stacks[number] for number in table["stack_id"].tolist()] == [(1, 2), (3,), (1, 2)]
        assert {stacks[number] for number in stacks} == {(1, 2), (3,)}
        late, few = trace.table_and_stacks("ThreadSample", start=int(table["time_ns"][1]), columns=["stack_id"])
        assert [few[number] for number in late["stack_id"].tolist()] == [(3,), (1, 2)]


def test_a_trace_without_stacks() -> None:
    with clrevents.open(TraceBuilder().sample().bytes()) as trace:
        assert len(trace.stacks) == 0
        assert trace.stacks.table().columns == ["stack_id", "addresses"]
        assert len(trace.stacks.table()) == 0


@pytest.mark.parametrize("name", ["net8-sample.nettrace", "net8-netperf3.netperf", "net10-method-interop.nettrace"])
def test_real_traces(name: str) -> None:
    with clrevents.open(FIXTURES / f"{name}.gz") as trace:
        expected = {e.stack_id: e.stack for e in trace.events() if e.stack_id > 0}
        assert {i: trace.stacks[i] for i in trace.stacks} == expected
        assert len(expected) > 1


def test_only_those_of_selected_events_are_in_a_run() -> None:
    from clrevents.events import GCStart_V1

    data = TraceBuilder().sample(1).event(GCStart_V1(1, 0, 0, 0, 0), stack=[2]).sample(3).sample(1).bytes()
    with clrevents.open(data) as trace:
        empty, run = trace.runs("GCStart")
        assert (empty.tables, len(empty.headers), len(empty.stacks)) == ({}, 0, 0)
        assert (empty.headers.columns, empty.stacks.columns) == (run.headers.columns, run.stacks.columns)
        assert [row["addresses"] for row in run.stacks.rows()] == [[2]]
        assert run.headers["name"].tolist() == ["GCStart"]
        assert list(run.tables) == [("Microsoft-Windows-DotNETRuntime", "GCStart")]


def test_damage_leaves_what_stands_before_it() -> None:
    whole = TraceBuilder().sample(1, 2).sequence_point().sample(3).bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        with clrevents.open(whole[:-60]) as trace:
            assert trace.stacks[1] == (1, 2)
        with clrevents.open(whole[:-60], errors="strict") as trace, pytest.raises(clrevents.DamageError):
            _ = trace.stacks

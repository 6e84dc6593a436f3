"""`trace.stacks` holds what the events' own stacks say, for every container, also behind damage."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest

import clrevents
from clrevents.decode.container.blocks import Stacks
from clrevents.decode.container.window import unpack_words
from clrevents.decode.stacks import StackTable, stack_arrays
from clrevents.table.read import stack_table
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from reading import opened
from stack_data import stack_data


def test_by_number(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().sample(1, 2).sample(3).sample(1, 2).sequence_point().sample(1 << 63).build())
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
    table = stack_table(stacks.arrays)
    assert table.columns == ["stack_id", "addresses"]
    assert list(table.rows()) == [{"stack_id": i, "addresses": list(stacks[i])} for i in stacks]
    assert pickle.loads(pickle.dumps(stacks))[1] == (1, 2)


def test_only_those_of_selected_events_are_in_a_chunk() -> None:
    from clrevents.events import GCStart_V1

    data = TraceBuilder().sample(1).event(GCStart_V1(1, 0, 0, 0, 0), stack=[2]).sample(3).sample(1).build()
    with clrevents.open(data) as trace:
        empty, chunk = passes_of(trace).table_chunks("GCStart")
        assert (empty.tables, len(empty.headers), len(empty.stacks)) == ({}, 0, 0)
        assert empty.headers.columns == chunk.headers.columns
        assert chunk.stacks.addresses.tolist() == [2]
        assert chunk.headers["name"].tolist() == ["GCStart"]
        assert list(chunk.tables) == [("Microsoft-Windows-DotNETRuntime", "GCStart")]


def test_damage_leaves_what_stands_before_it() -> None:
    whole = TraceBuilder().sample(1, 2).sequence_point().sample(3).build()
    with opened(whole[:-60], errors="report") as trace:
        assert trace.stacks[1] == (1, 2)
    with opened(whole[:-60], errors="strict") as trace, pytest.raises(clrevents.DamageError):
        _ = trace.stacks


def block(*stacks: bytes, count: int | None = None) -> Stacks:
    data = b"".join(len(stack).to_bytes(4, "little") + stack for stack in stacks)
    return Stacks(1, len(stacks) if count is None else count, data + b"\xff" * 8, 0, len(data), 0)


@pytest.mark.parametrize("pointer_size", [4, 8])
def test_cut_stacks_and_blocks(pointer_size: int) -> None:
    """Bytes that are no whole address are left out, and so are stacks that a block claims and does not hold."""
    stacks = [bytes(range(size)) for size in (0, 3, 8, 9, 16, 23)]
    for given in (block(*stacks), block(*stacks, count=9), block(*stacks, count=1 << 31)):
        table = StackTable()
        table.add(given)
        numbers = np.arange(1, 8)
        found = stack_arrays(table, numbers, pointer_size)
        assert found.ids.tolist() == [1, 2, 3, 4, 5, 6]
        assert [found.stack(i) for i in range(6)] == [unpack_words(data, pointer_size) for data in stacks]
        assert [stack_data(table, n) for n in range(8)] == [None, *stacks, None]


@pytest.mark.parametrize("short", [None, 0, 2, 4])
@pytest.mark.parametrize("asked", [range(20), range(2, 7), range(1, 20, 3), [4], []])
def test_blocks_in_one_window(short: int | None, asked: Sequence[int]) -> None:
    """They are walked together, unless one of them claims a stack more than it holds."""
    contents = [[bytes([16 * n + size]) * 8 * size for size in range(1 + n % 3)] for n in range(5)]
    parts = [block(*stacks) for stacks in contents]
    window = b"".join(part.window[: part.end] for part in parts) + b"\xff" * 64
    table, expected = StackTable(), {}
    at = 0
    for n, (part, stacks) in enumerate(zip(parts, contents, strict=True)):
        count = len(stacks) + (n == short)
        expected.update({table.next + place: stack for place, stack in enumerate(stacks)})
        table.add(Stacks(table.next, count, window, at, at + part.end, 0))
        at += part.end
    # A block in another window follows.
    expected[table.next] = b"otherone"
    table.add(attrs.evolve(block(b"otherone"), first_id=table.next))
    found = stack_arrays(table, np.array(asked, dtype=np.int64), 8)
    assert found.ids.tolist() == [number for number in asked if number in expected]
    assert [found.stack(i) for i in range(len(found))] == [unpack_words(expected[n], 8) for n in found.ids.tolist()]
    assert [stack_data(table, n) for n in range(20)] == [expected.get(n) for n in range(20)]
    assert len(list(table.problems())) == (short is not None)


def test_only_new_stacks_are_asked_for() -> None:
    table = StackTable(5)
    table.add(block(b"", b"", b""))
    assert table.new(np.array([6, 0, -1, 6])).tolist() == [6]
    table.add(attrs.evolve(block(b"", b""), first_id=4))
    assert table.new(np.array([9, 6, 5])).tolist() == [5, 9]
    assert table.new(np.array([9, 8, 7, 6, 5])).tolist() == [7, 8]
    assert table.new(np.array([9])).tolist() == []

"""Events that are read together although blocks of stacks stand between them: as if each block came alone."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.decode.container.blocks import Stacks
from clrevents.decode.container.container import SmallBlocks
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.stacks import StackTable
from clrevents.errors import ErrorMode, Limits
from nettrace4_writer import Blob, Writer
from seen import Seen, in_pieces, read_rows

Change = Callable[[Writer, int], None]
PARTS = 6
# Less than any two blocks.
PIECE = 30


def between(change: Change, at: int = 3) -> bytes:
    """Six times a block of two stacks, one of events that have them, and an empty one; a change before one of them."""
    made = Writer()
    made.metadata(1, "P", 1, name="One")
    made.events(Blob(1, 5), Blob(1, 6, thread=2))
    made.sequence_point(8)
    for part in range(PARTS):
        if part == at:
            change(made, part)
        first = 1 + 2 * part
        made.stacks(first, (0x1000 + part,), (0x2000 + part, 0x3000))
        made.events(Blob(1, 10 + part, b"a", stack=first), Blob(1, 20 + part, b"b", stack=first + 1, thread=2))
        made.events()
    made.sequence_point(100)
    made.stacks(50, (0x9000,))
    made.events(Blob(1, 200, b"c", stack=50))
    return made.end()


def nothing(made: Writer, part: int) -> None:
    pass


def restarted(made: Writer, part: int) -> None:
    made.stacks(1, (0x7000,), (0x7001,))


def long(made: Writer, part: int) -> None:
    made.stacks(2 * part, tuple(range(40)))


def too_many(made: Writer, part: int) -> None:
    made.block("StackBlock", struct.pack("<ii", 500, 1000) + bytes(20))


def none_at_all(made: Writer, part: int) -> None:
    made.stacks(2)


def too_short(made: Writer, part: int) -> None:
    made.block("StackBlock", b"abc")


def unknown(made: Writer, part: int) -> None:
    made.events(Blob(9, 15, b"x", stack=1))


def bad_event(made: Writer, part: int) -> None:
    made.blobs("EventBlock", b"\xff" * 40, 1, 2)


def lost(made: Writer, part: int) -> None:
    made.counters[1] += 5


def backwards(made: Writer, part: int) -> None:
    made.counters[1] = 0


def other_version(made: Writer, part: int) -> None:
    at = len(made.data)
    made.stacks(40, (0x4000,))
    made.data[at + 3] = 7


def longer_name(made: Writer, part: int) -> None:
    """A length of 10 + 65,536: no type's name is as long."""
    at = len(made.data)
    made.stacks(40, (0x4000,))
    made.data[at + 13] = 1


CHANGES = (
    *(nothing, restarted, too_many, none_at_all, too_short, unknown, bad_event, lost, backwards),
    *(other_version, longer_name),
)


def seen(data: bytes, piece: int, errors: ErrorMode, limits: Limits | None, counted: bool) -> Seen:
    """All that comes out: events with their stacks, or counts; and all that is said."""
    tally = Tally(100) if counted else None
    return read_rows(in_pieces(data, piece), errors, tally=tally, limits=limits, walk_stacks=not counted)


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many blocks of stacks stood between events that were read together, each time."""
    found: list[int] = []
    read = SmallBlocks.read

    def told(self: SmallBlocks, *arguments: Any) -> Any:
        events = read(self, *arguments)
        if events is not None:
            found.append(len(events[0].together.stacks))
        return events

    monkeypatch.setattr(SmallBlocks, "read", told)
    return found


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("errors", ["report", "salvage"])
def test_as_each_block_alone(change: Change, counted: bool, errors: ErrorMode, together: list[int]) -> None:
    most = 0
    for at in (0, 2, PARTS - 1):
        data = between(change, at)
        alone = seen(data, PIECE, errors, None, counted)
        assert not together
        assert seen(data, len(data), errors, None, counted) == alone
        most = max(most, sum(together))
        del together[:]
    # Where a block of stacks is not sound, nothing before it is read together either.
    assert most >= PARTS - 2 or change in (too_many, too_short)


@pytest.mark.parametrize("counted", [False, True])
def test_a_region_may_end_between_them(counted: bool, together: list[int]) -> None:
    """Where stacks and labels of more bytes than this were held, the region ends and a note says so."""
    data = between(long, 0)
    ends = set()
    for size in range(200, 1200, 100):
        limits = Limits(region_bytes=size)
        alone = seen(data, PIECE, "report", limits, counted)
        assert seen(data, len(data), "report", limits, counted) == alone
        ends.add(len(alone.problems))
    assert len(ends) > 2
    assert together


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4))), st.lists(st.integers(-1, 20), min_size=1))
def test_missing_stacks_are_those_without_a_number(blocks: list[tuple[int, int]], ids: list[int]) -> None:
    """Blocks that follow one another, leave gaps, and begin again; asked for before, between and after."""
    table, asked = StackTable(), np.array(ids, dtype=np.int64)
    for block in (None, *blocks):
        if block is not None:
            table.add(Stacks(*block, b"", 0, 0, 0))
        missing = table.missing(asked)
        assert (asked[missing].tolist() if missing is not None else []) == [
            one for one, number in zip(ids, table.lookup().unique(asked).tolist(), strict=True) if number < 0
        ]

"""The interface of a container, and the few things that all of them do the same way."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Protocol

from clrevents.decode.container.blocks import Block, Events, Fault, TraceInfo
from clrevents.decode.container.window import Window
from clrevents.errors import Problem, UnreadableError, damage
from clrevents.schema.codes import BlockFlag

BLOCK_HEADER: Final = struct.Struct("<HHqq")
"""Size, flags, first and last tick (docs/format.md, "Block header")."""
# A plain number: operations on members of a flag class cost as much as a small block.
COMPRESSED: Final = int(BlockFlag.COMPRESSED)
_TRACE: Final = struct.Struct("<8hqqiiii")


class Container(Protocol):
    """Parses one generation of the format, a block at a time."""

    def read(self, window: Window) -> Iterator[Block]:
        """Yield the values of the next block, leaving `window.pos` after it.

        Raises NeedMore, with the position unmoved, if the window ends before the block and is not final. In a final
        window, yields what is left of a truncated block, then a fatal Fault.
        """
        ...

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        """The events of several small sound blocks that start here, and where these end; None if there are few.

        Blocks of stacks may stand between them. Leaves the position where it is. What `read` would yield for one block
        after the other is `Events.apart`.
        """
        ...


def system_time(fields: tuple[int, ...]) -> datetime | None:
    """A Windows SYSTEMTIME as an aware datetime; None if it is not a valid date. The day of the week is ignored."""
    year, month, _, day, hour, minute, second, millisecond = fields
    try:
        return datetime(year, month, day, hour, minute, second, millisecond * 1000, tzinfo=UTC)
    except ValueError:
        return None


def read_trace_header(window: Window, format: str, version: int) -> TraceInfo:
    """The 48 bytes of NetPerf 3 and NetTrace 4/5 (docs/format.md, "Trace header"); moves the position after them."""
    window.require(_TRACE.size + 1)
    *when, sync, frequency, pointer_size, pid, processors, interval = _TRACE.unpack_from(window.data, window.pos)
    check_clock(frequency, window.offset + 24)
    check_pointer_size(pointer_size, window.offset + 32)
    window.pos += _TRACE.size
    return TraceInfo(
        format=format,
        version=version,
        start=system_time(tuple(when)),
        sync_qpc=sync,
        frequency=frequency,
        pointer_size=pointer_size,
        process_id=pid or None,
        processors=processors or None,
        sampling_interval_ns=interval,
    )


def check_clock(frequency: int, offset: int) -> None:
    """Nothing can be read without a valid clock."""
    if frequency <= 0:
        raise UnreadableError(f"the header declares a clock frequency of {frequency} Hz", offset=offset)


def check_pointer_size(pointer_size: int, offset: int) -> None:
    if pointer_size not in (4, 8):
        raise UnreadableError(f"the header declares a pointer size of {pointer_size}", offset=offset)


def stack_count(claimed: int, room: int, broken: bool) -> int | None:
    """How many stacks of at least four bytes there can be; None if the claim is impossible."""
    possible = room // 4
    if 0 <= claimed <= possible:
        return claimed
    return possible if broken and claimed > possible else None


def one(name: str) -> str:
    """A kind of block with its article, for messages."""
    return f"{'an' if name[0].upper() in 'AEIOU' or name.startswith('SP') else 'a'} {name}"


def incomplete(offset: int) -> Problem:
    """The note for a stream that stops after a complete block without an end mark."""
    return Problem(
        "missing-end",
        "note",
        "the trace has no end mark: the process or the recorder stopped early",
        offset,
        impact="the end of the trace, often with the names of its methods, was never written",
    )


def cut(what: str, offset: int, needed: int, available: int) -> Problem:
    """The damage of a stream that ends inside a block."""
    return Problem(
        "truncated",
        "damage",
        f"the file ends inside {what}: {needed} bytes declared, {available} available",
        offset,
        available,
        impact="everything from here on is missing",
        needed=needed,
    )


def bad_fields(provider: str, name: str, wrong: str, offset: int, size: int | None) -> Problem:
    """The note for an event whose field list is unusable."""
    text = f"unusable event description: {wrong}"
    impact = "the event has no fields of its own"
    return Problem("bad-fields", "note", text, offset, size, event=f"{provider}/{name}", impact=impact)


def bad_event(status: str, offset: int, length: int) -> Fault:
    """The damage of a block whose event headers become invalid."""
    what = "an event extends past the end of its block"
    if status == "bad-varint":
        what = "an event header has an overlong varint"
    return Fault(damage("bad-event", what, offset, length, "the rest of the block"))

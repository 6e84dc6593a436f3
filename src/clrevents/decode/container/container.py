"""The interface of a container, and the few things that all of them do the same way.

One of these: event blocks that follow each other are read in one piece. Alone, a small one would cost a hundred times
its bytes, and one as runtimes write it twice its events. Which blocks may be read so is up to each container.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Block, Events, Fault, Stacks, Together, TraceInfo
from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import HeaderScanner
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
        recorded_processors=processors or None,
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


SMALL: Final = 1 << 17
"""Larger blocks, in bytes, are read one by one."""
# So many blocks are read together, at least and at most; and so many are read alone after failures.
_LEAST: Final = 1 << 5
_MOST: Final = 1 << 12
_LONGEST_PAUSE: Final = 1 << 6
Ints: TypeAlias = NDArray[np.int64]
_Stacks: TypeAlias = tuple[Stacks, int]

_FEW: Final = 2


class SmallBlocks:
    """Reads the small blocks of one stream together, `most` of them next.

    Fewer are looked for, and more rarely, after blocks that were not sound: these are looked at again one by one.
    """

    def __init__(self, scanner: HeaderScanner) -> None:
        self._scanner = scanner
        self.most = _LEAST
        self._rest = self._pause = 0

    def rests(self) -> bool:
        """Whether the next block is to be read alone."""
        self._rest -= self._rest > 0
        return self._rest > 0

    def refuse(self) -> None:
        """Blocks were not sound."""
        self.most = _FEW
        self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
        self._rest = self._pause + 1

    def read(
        self, window: Window, bodies: Any, count: int, behind: int, labelled: bool, stacks: Sequence[_Stacks] = ()
    ) -> tuple[Events, int] | None:
        """The events of these blocks up to the first that is not sound, and where the last ends; None if few are.

        `bodies` is what `program.chained` found; `behind` the end of each are so many bytes. Blocks of `stacks` are
        between them. The window stays where it is.
        """
        if count < _FEW:
            # To find that out takes less than to read one block.
            self._rest = 2
            return None
        found = self._read(window, bodies, count, behind, labelled, stacks)
        if found is None:
            self.refuse()
        else:
            self._pause = 0
        return found

    def _read(
        self, window: Window, bodies: Any, count: int, behind: int, labelled: bool, stacks: Sequence[_Stacks]
    ) -> tuple[Events, int] | None:
        columns, heads, done = self._scanner.scan_together(window.data, bodies, count, window.base, labelled)
        if done < count:
            self.most = _LEAST
        elif count == self.most:
            self.most = min(4 * count, _MOST)
        if columns is None or done < _FEW:
            return None
        end = int(bodies[3 * done - 1])
        if done < count:
            stacks = [(block, offset) for block, offset in stacks if offset < window.base + end]
        together = Together(heads[:, :3], columns.marks, heads[:, 5] + window.base, heads[:, 3:5], stacks)
        events = Events([columns], window.data, window.base, labelled=labelled, together=together)
        return events, end + behind

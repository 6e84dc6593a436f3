"""What the stream asks of a container, and the few things all of them do the same way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol

from clrevents.decode.blocks import Block
from clrevents.decode.window import Window
from clrevents.errors import Problem


class Container(Protocol):
    """Parses one generation of the format, a block at a time."""

    def read(self, window: Window) -> Iterator[Block]:
        """The values of the next block, leaving `window.pos` behind it.

        Raises NeedMore, with the position unmoved, when the window ends before the block and is not final;
        in a final window what is there of a cut block is yielded, then a fatal Fault.
        """
        ...


def system_time(fields: tuple[int, ...]) -> datetime | None:
    """A Windows SYSTEMTIME as an aware datetime; None when it is no date. The day of the week is not believed."""
    year, month, _, day, hour, minute, second, millisecond = fields
    try:
        return datetime(year, month, day, hour, minute, second, millisecond * 1000, tzinfo=UTC)
    except ValueError:
        return None


def damage(kind: str, message: str, offset: int, length: int | None, breaks: str) -> Problem:
    """A problem of severity `damage`."""
    return Problem(kind, "damage", message, offset, length, breaks=breaks)


def incomplete(offset: int) -> Problem:
    """The note for a stream that stops after a whole block without its end mark."""
    return Problem(
        "missing-end",
        "note",
        "the trace stops without its end mark: the process or the recorder ended early",
        offset,
        breaks="the end of the trace, often with the names of its methods, was never written",
    )


def cut(what: str, offset: int, needed: int, available: int) -> Problem:
    """The damage of a stream that ends inside a block."""
    return damage(
        "truncated",
        f"the file ends inside {what}: {needed} bytes are announced, {available} are there",
        offset,
        available,
        "everything from here on is missing",
    )

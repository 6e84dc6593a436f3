"""`Source`: bytes that can be read from their start any number of times, and the error when they cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from clrevents.errors import Problem, SourceError

WINDOW: Final = 1 << 20
TRACE_CLOSED: Final = "the trace is closed, but must be read again to answer this; ask inside `with`, or reopen it"


class Source(Protocol):
    """Bytes that can be read from the start more than once. `size` is the number of bytes that `windows` yields; for
    remote compressed input, an estimate until all of it was read.
    """

    path: str | None
    size: int
    fault: Problem | None

    def windows(self, size: int = WINDOW) -> Iterator[bytes]: ...

    def close(self) -> None: ...


def unreadable(error: BaseException, path: str | None) -> SourceError:
    text = getattr(error, "strerror", None) or str(error)
    return SourceError(f"cannot be read: {text}", path=path)

"""`Source`: bytes that can be read from their start any number of times, and the error when they cannot be.

Also `Gunzip`, which unpacks pieces, and reads nothing itself.
"""

from __future__ import annotations

import contextlib
import zlib
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


GZIP: Final = b"\x1f\x8b"
"""How compressed bytes begin."""
_FIRST: Final = 1 << 10
_STEP: Final = 1 << 17


class Gunzip:
    """Decompresses concatenated gzip members; a truncated or corrupt one ends the stream with a `fault`."""

    def __init__(self, packed: Iterator[bytes]) -> None:
        self._packed = packed
        self.fault: Problem | None = None

    def pieces(self) -> Iterator[bytes]:
        engine = zlib.decompressobj(wbits=31)
        fed = False
        written = 0
        for data in self._packed:
            at = 0
            while at < len(data):
                # Few bytes at first: what is behind the end of a member is copied, and there may be very many.
                part = data[at : at + (_STEP if fed else _FIRST)]
                if not fed and (padding := len(part) - len(part.lstrip(b"\0"))):
                    at += padding
                    continue
                # A copy takes longer than an empty member.
                before = engine.copy() if fed else None
                try:
                    piece = engine.decompress(part, WINDOW)
                except zlib.error as error:
                    for piece in _up_to_the_damage(before or zlib.decompressobj(wbits=31), part):
                        written += len(piece)
                        yield piece
                    self.fault = _bad_gzip(f"corrupt gzip data ({error})", written)
                    return
                fed = True
                written += len(piece)
                if piece:
                    yield piece
                at += len(part) - len(engine.unused_data if engine.eof else engine.unconsumed_tail)
                if engine.eof:
                    engine = zlib.decompressobj(wbits=31)
                    fed = False
        if fed:
            rest = engine.flush()
            written += len(rest)
            if rest:
                yield rest
            if not engine.eof:
                self.fault = _bad_gzip("the gzip file is truncated", written)


def _up_to_the_damage(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What comes of these bytes before the one at which decompression fails: byte by byte, as a failure gives none."""
    with contextlib.suppress(zlib.error):
        for at in range(len(data)):
            if piece := engine.decompress(data[at : at + 1]):
                yield piece


def _bad_gzip(message: str, offset: int) -> Problem:
    return Problem(
        "compressed-stream",
        "damage",
        message,
        offset,
        impact="everything after it; offsets are in the decompressed stream",
    )

"""The input buffer: fed bytes, in any slicing, made into the windows that containers parse.

Keeps the unparsed bytes and copies only if a block spans several fed pieces. Knows no format.
"""

from __future__ import annotations

from collections import deque

from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import PADDING

_PADDING = bytes(PADDING)
# A copied window includes this many bytes before the first unparsed one, because errors show the surrounding bytes.
_CONTEXT = 32
# One in this many copied bytes must be new or have been parsed.
_SHARE = 8


class InputBuffer:
    """The unparsed bytes of a stream; `offset` is the stream offset of the first of them.

    `needed` is how many bytes the next window takes: at least as many as the next block, as far as that is known.
    """

    def __init__(self) -> None:
        self.offset = 0
        self.needed = 1
        self._pieces: deque[bytes] = deque()
        self._start = 0
        self._held = 0
        self._copied = 0

    def add(self, data: bytes | bytearray | memoryview) -> None:
        """Take more bytes; mutable ones are copied."""
        self._pieces.append(data if isinstance(data, bytes) else bytes(data))
        self._held += len(data)

    @property
    def enough(self) -> bool:
        """Whether the next block may be complete."""
        return self._held >= self.needed

    def window(self, final: bool) -> Window:
        """The next bytes to parse: at least `needed` of them, or all when `final`."""
        piece = self._pieces[0] if self._pieces else b""
        if not final and len(piece) - self._start - PADDING >= self.needed:
            self._copied = 0
            return Window(piece, len(piece) - PADDING, self.offset - self._start, False, self._start)
        before = min(self._start, _CONTEXT + (self.offset & 15))
        data = self._copy(before, self._held if final else self.needed)
        self._copied = len(data) - before - PADDING
        return Window(data, len(data) - PADDING, self.offset - before, final, before)

    def _copy(self, before: int, count: int) -> bytes:
        """The next `count` bytes, with those before them and padding after them; they stay in the buffer."""
        parts, at, count = [], self._start - before, count + before
        for piece in self._pieces:
            part = piece[at : at + count]
            parts.append(part)
            count -= len(part)
            at = 0
            if not count:
                break
        return b"".join((*parts, _PADDING))

    def consume(self, count: int, needed: int) -> None:
        """Drop the next `count` bytes, which were parsed; the next block takes `needed`."""
        self.needed = needed
        if count < self._copied // _SHARE:
            # Bytes that were copied and not parsed are copied again only together with new ones, so that copies are in
            # proportion to the stream however it is sliced and however far a search looks ahead.
            self.needed = max(needed, self._copied + self._copied // _SHARE - count)
        self.offset += count
        self._held -= count
        self._start += count
        while self._pieces and self._start >= len(self._pieces[0]):
            self._start -= len(self._pieces.popleft())

    def clear(self) -> None:
        """Drop all bytes: nothing more will be parsed."""
        self._pieces.clear()

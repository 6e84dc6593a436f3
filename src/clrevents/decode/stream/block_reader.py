"""Fed bytes → windows → blocks: picks the container by the first bytes, and reports what is wrong at the end.

Knows when the trace is complete and how many bytes the next block needs. The meaning of blocks is not its business.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from clrevents.decode.container.blocks import Block, End, Fault, Header
from clrevents.decode.container.container import SMALL, Container, cut, incomplete
from clrevents.decode.container.window import NeedMore, Window, behind_end, next_trace
from clrevents.decode.kernels.header_scan import PADDING
from clrevents.errors import Limits, Problem, Problems, UnreadableError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE, ObjectName

_NETPERF12 = ObjectName.NETPERF12.encode()
# Two tags, the class's tag, two versions, its name with the length, and the closing tag: a block of NetTrace 4 or 5.
_BLOCK = rb"(?s)\x05\x05\x01.{12}(?:EventBlock|StackBlock|MetadataBlock|SPBlock)\x06"
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "this is gzip data; decompress it first (files are decompressed when opened by name)"),
    (b"PK\x03\x04", "this is a zip archive; unpack it and open the .nettrace inside"),
    (b"DOTNET_IPC_V1", "this starts with a diagnostics IPC reply; the trace follows its 20-byte header"),
    (b"PERFILE2", "this is a Linux perf recording, not a .NET trace"),
)


def detect(window: Window, limits: Limits, salvage: bool) -> Container:
    """The container for this stream. Raises NeedMore while undecided, UnreadableError if it is not a known format."""
    head = window.data[: min(window.end, 80)]
    if not head and window.final:
        raise UnreadableError("the file is empty", offset=0)
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise UnreadableError(what, offset=0)
    if head.startswith(NETTRACE):
        return _nettrace(window, head, limits, salvage)
    if head.startswith(FAST_SERIALIZATION):
        return _netperf(window, head, limits, salvage)
    if not window.final and any(magic.startswith(head) for magic in (NETTRACE, *(m for m, _ in _OTHERS))):
        window.require(len(head) + 1)
    if not window.final and (NETTRACE.startswith(head[:8]) or FAST_SERIALIZATION.startswith(head)):
        window.require(32)
    if NETTRACE.startswith(head[:8]) or FAST_SERIALIZATION.startswith(head):
        raise _too_short(window)
    begins = re.search(_BLOCK, window.data[: window.end])
    if begins is not None:
        raise UnreadableError(
            f"the beginning of this trace is missing: its first block begins at byte {begins.start():,}. The clock and "
            "the descriptions of events stood before that, without which no event can be decoded; copy the file again",
            offset=0,
        )
    raise UnreadableError("this is not a .NET trace (it does not start with 'Nettrace')", offset=0)


def _nettrace(window: Window, head: bytes, limits: Limits, salvage: bool) -> Container:
    if len(head) >= 20 and head[8:12] == bytes(4):
        major = int.from_bytes(head[12:16], "little", signed=True)
        if major != 6:
            raise UnreadableError(
                f"unsupported NetTrace version {major}; versions 4 to 6 (and NetPerf 1 to 3) can be read", offset=12
            )
        from clrevents.decode.container.nettrace6 import NetTrace6

        window.pos = 20
        return NetTrace6(limits, salvage)
    if len(head) < 32:
        if not window.final:
            window.require(32)
        raise _too_short(window)
    if head[8:32] != FAST_SERIALIZATION:
        raise UnreadableError("this has the NetTrace magic but an invalid header", offset=8)
    from clrevents.decode.container.nettrace4 import NetTrace4

    window.pos = 32
    return NetTrace4(limits, salvage)


def _netperf(window: Window, head: bytes, limits: Limits, salvage: bool) -> Container:
    """The first object's name distinguishes NetPerf from other files of the same serializer."""
    if len(head) < 43:
        if not window.final:
            window.require(43)
        raise _too_short(window)
    length = int.from_bytes(head[35:39], "little", signed=True)
    if not 0 < length <= 256:
        raise UnreadableError(f"the first object declares a type name of {length} bytes", offset=35)
    # Use no more of a longer name than necessary: the message must not depend on how many bytes have arrived.
    shown = min(length, len(_NETPERF12))
    name = head[39 : 39 + shown]
    if len(name) < shown:
        if not window.final:
            window.require(39 + shown)
        raise _too_short(window)
    window.pos = 24
    if name == ObjectName.TRACE.encode():
        from clrevents.decode.container.netperf import NetPerf3

        return NetPerf3(limits, salvage)
    if name == _NETPERF12 and length == len(_NETPERF12):
        from clrevents.decode.container.netperf import NetPerf12

        return NetPerf12(limits, salvage)
    text = name.decode("latin-1")
    raise UnreadableError(f"this is another kind of serialized file ({text!r}), not a trace", offset=39)


def _too_short(window: Window) -> UnreadableError:
    return UnreadableError("the file ends inside its header", offset=window.end, available=window.end, needed=48)


class BlockReader:
    """Reads the blocks of one stream. `complete` once its end was read; bytes after that are counted, not parsed.

    `problems` are searched for the reason if there is no header.
    """

    def __init__(self, limits: Limits, salvage: bool, problems: Problems) -> None:
        self.complete = False
        self.needed = 1
        self._limits = limits
        self._salvage = salvage
        self._problems = problems
        self._container: Container | None = None
        self._has_header = False
        self._trailing = 0
        self.next_trace: int | None = None
        """Where another trace begins in the same stream, of which nothing is read."""
        self._small = False

    def read(self, window: Window) -> Iterator[Block]:
        """The complete blocks of a window; afterwards `needed` says how many bytes the next one takes.

        In a final window also the intact part of a truncated block, and a Fault if the stream should not end. Raises
        UnreadableError if the stream ends without a header.
        """
        self.needed = 1
        try:
            yield from self._blocks(window)
        except NeedMore as more:
            if not window.final:
                # More than was available, whatever a container says; otherwise nothing would ever change.
                self.needed = max(more.needed, window.available + 1)
                return
            if not self._has_header:
                raise UnreadableError(
                    "the file ends inside its header",
                    offset=window.offset,
                    needed=more.needed,
                    available=window.available,
                ) from None
            yield Fault(cut("the beginning of a block", window.offset, more.needed, window.available), fatal=True)
            return
        if window.final:
            yield from self._end(window.offset)

    def _blocks(self, window: Window) -> Iterator[Block]:
        if self._container is None:
            self._container = detect(window, self._limits, self._salvage)
        while window.pos < window.end:
            if self._another(window):
                return
            if self.complete:
                self._trailing += window.available
                window.pos = window.end
                return
            together = self._container.read_together(window) if self._small else None
            if together is not None:
                events, end = together
                del together
                yield events
                # Nor is any other block kept here: their memory is used for the next ones.
                del events
                window.pos = end
                continue
            start = window.pos
            for block in self._container.read(window):
                if isinstance(block, Header):
                    self._has_header = True
                elif isinstance(block, End):
                    self.complete = True
                yield block
                del block
            # Blocks that follow a large one are not worth a look at how small they are.
            self._small = window.pos - start <= SMALL

    def _another(self, window: Window) -> bool:
        """Whether this and all that follows is another trace."""
        if self.next_trace is None and self._has_header and not self._trailing:
            find = behind_end if self.complete else next_trace
            place = find(window, window.pos)
            if place is not None:
                self.next_trace = window.base + place
        if self.next_trace is None:
            return False
        window.pos = window.end
        return True

    def _end(self, offset: int) -> Iterator[Block]:
        """The problems of a stream that ends here, between two blocks."""
        if self.next_trace is not None:
            text = "another trace follows in the same file, of which nothing is read (--trace 2 reads the second)"
            yield Fault(Problem("another-trace", "note", text, self.next_trace, offset - self.next_trace))
        if self._trailing:
            # Only here is their number known, however the stream was sliced.
            text = f"{self._trailing} bytes follow the end of the trace and are ignored"
            yield Fault(Problem("trailing-data", "note", text, offset - self._trailing, self._trailing))
        if self.complete:
            return
        if not self._has_header:
            raise self._headless(offset)
        yield Fault(incomplete(offset if self.next_trace is None else self.next_trace))

    def _headless(self, offset: int) -> UnreadableError:
        """For a stream that ended before its header: because of damage, if there was any."""
        for problem in self._problems:
            if problem.severity == "damage":
                return UnreadableError(f"no trace header: {problem.message}", offset=problem.offset)
        return UnreadableError("the file ends before the trace header", offset=offset)


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
        self._size = 0
        self._copied = 0

    def add(self, data: bytes | bytearray | memoryview) -> None:
        """Take more bytes; mutable ones are copied."""
        self._pieces.append(data if isinstance(data, bytes) else bytes(data))
        self._size += len(data)

    @property
    def enough(self) -> bool:
        """Whether the next block may be complete."""
        return self._size >= self.needed

    def window(self, final: bool) -> Window:
        """The next bytes to parse: at least `needed` of them, or all when `final`."""
        piece = self._pieces[0] if self._pieces else b""
        if not final and len(piece) - self._start - PADDING >= self.needed:
            self._copied = 0
            return Window(piece, len(piece) - PADDING, self.offset - self._start, False, self._start)
        before = min(self._start, _CONTEXT + (self.offset & 15))
        data = self._copy(before, self._size if final else self.needed)
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
        self._size -= count
        self._start += count
        while self._pieces and self._start >= len(self._pieces[0]):
            self._start -= len(self._pieces.popleft())

    def clear(self) -> None:
        """Drop all bytes: nothing more will be parsed."""
        self._pieces.clear()

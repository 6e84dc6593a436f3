"""Windows → blocks: picks the container, and reports what is wrong where the stream ends.

Knows when the trace is complete and how many bytes the next block needs. The meaning of blocks is not its business.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.decode.container.blocks import Block, End, Fault, Header
from clrevents.decode.container.container import Container, cut, incomplete
from clrevents.decode.container.detect import detect
from clrevents.decode.container.small_blocks import SMALL
from clrevents.decode.container.window import NeedMore, Window
from clrevents.errors import Limits, Problem, Problems, UnreadableError


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

    def _end(self, offset: int) -> Iterator[Block]:
        """The problems of a stream that ends here, between two blocks."""
        if self._trailing:
            # Only here is their number known, however the stream was sliced.
            text = f"{self._trailing} bytes follow the end of the trace and are ignored"
            yield Fault(Problem("trailing-data", "note", text, offset - self._trailing, self._trailing))
        if self.complete:
            return
        if not self._has_header:
            raise self._headless(offset)
        yield Fault(incomplete(offset))

    def _headless(self, offset: int) -> UnreadableError:
        """For a stream that ended before its header: because of damage, if there was any."""
        for problem in self._problems:
            if problem.severity == "damage":
                return UnreadableError(f"no trace header: {problem.message}", offset=problem.offset)
        return UnreadableError("the file ends before the trace header", offset=offset)

"""Rows of a stream → `Chunk`s: many events at once, their headers and payloads as columns.

Collects rows until there are enough to make numpy's calls worthwhile, and groups them by kind. Knows no table and no
names except those of columns; leaves payloads to `column_maker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kernels.engine import end_to_end
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column import Column
from clrevents.decode.payload.columns.column_maker import ColumnMaker, KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.rows import Rows, joined_rows, joined_windows
from clrevents.decode.selection import EventName, Selection
from clrevents.decode.stacks import StackArrays, join, stack_arrays
from clrevents.decode.stream.stream import Stream
from clrevents.errors import PayloadError, Problem, TraceError, raised

Ints: TypeAlias = NDArray[np.int64]

_ROWS: Final = 1 << 19
# Small enough that one chunk's memory is reused by the next while still in the cache: fastest of 4 to 64 MiB.
_BYTES: Final = 8 << 20


@frozen(eq=False)
class Chunk:
    """Consecutive selected events. Rows that are in none of `payloads` could not be read, and were reported.

    `stacks` holds those of its events that were in no earlier chunk; empty unless requested.
    """

    length: int
    kinds: Ints
    headers: dict[str, Column]
    payloads: list[KindColumns]
    stacks: StackArrays


class ColumnPass:
    """Reads a whole stream into chunks. `headers` and `fields` (None for all) are the requested columns.

    If `payloads` is False, no payload is read, or only those of the events for whose (provider, name) it returns True;
    `stacks` requests the addresses of stacks too. A chunk has at most `rows` events. Where chunks end depends on what
    is selected, not on what is requested of it.
    """

    def __init__(
        self,
        stream: Stream,
        selection: Selection,
        duration_ns: Callable[[], int],
        *,
        headers: Sequence[str],
        fields: frozenset[str] | None = None,
        payloads: bool | Callable[[EventName], bool] = True,
        stacks: bool = False,
        rows: int = _ROWS,
    ) -> None:
        self.stream = stream
        self.selection = selection
        self._duration = duration_ns
        self._headers = headers
        self._fields = fields
        self._payloads = payloads
        self._stacks = stacks
        self._chunk_rows = rows
        self._decoder: PayloadDecoder | None = None
        self._column_maker: ColumnMaker | None = None
        self._waiting: list[Rows] = []
        self._waiting_rows = 0
        # The windows they lie in, which many releases may share.
        self._windows: set[int] = set()
        self._waiting_bytes = 0

    @property
    def decoder(self) -> PayloadDecoder:
        """Knows the layouts of this trace's kinds; available once the trace's header was read."""
        if self._decoder is None:
            assert self.stream.info is not None
            self._decoder = PayloadDecoder(self.stream.info.pointer_size, self.stream.limits)
        return self._decoder

    def chunks(self, windows: Iterable[bytes], fault: Callable[[], Problem | None]) -> Iterator[Chunk]:
        """All chunks; after the last one, raises the TraceError that ended the reading, if any.

        `fault` is called at the end and returns the source's own fault, if any.
        """
        stream = self.stream
        error: TraceError | None = None
        try:
            for data in windows:
                yield from self._add(stream.feed(data))
            broken = fault()
            if broken is not None:
                stream.end_in(broken)
            yield from self._add(stream.close())
        except TraceError as ended:
            error = ended
        yield from self._flush()
        error = error or stream.error
        if error is not None:
            raise error
        self.selection.check_names(stream.kinds.all)

    def _add(self, released: list[Rows]) -> Iterator[Chunk]:
        released.reverse()
        while released:
            # Removed from the list, so that rows are freed as soon as they have been read.
            self._wait(released.pop())
            while self._waiting_rows >= self._chunk_rows or self._waiting_bytes >= _BYTES:
                yield from self._flush(self._chunk_rows)

    def _wait(self, rows: Rows) -> None:
        """Add the selected rows to those waiting for a chunk."""
        stream = self.stream
        assert stream.info is not None
        rows = self.selection.rows(rows, stream.kinds.all, stream.clock, self._duration, stream.info.process_id)
        if len(rows):
            self._waiting.append(rows)
            self._waiting_rows += len(rows)
            for window in rows.release.windows if self._payloads else ():
                if id(window) not in self._windows:
                    self._windows.add(id(window))
                    self._waiting_bytes += len(window)

    def _flush(self, most: int | None = None) -> Iterator[Chunk]:
        """A chunk of the waiting rows: all of them, or at most `most`."""
        waiting, rows = self._waiting, self._waiting_rows
        self._waiting, self._waiting_rows, self._windows, self._waiting_bytes = [], 0, set(), 0
        if most is not None and rows > most:
            last = waiting[-1]
            cut = len(last) - (rows - most)
            waiting[-1] = last.take(slice(0, cut))
            self._waiting = [last.take(slice(cut, len(last)))]
            self._waiting_rows = rows - most
        if waiting:
            info = self.stream.info
            assert info is not None
            yield self._chunk(waiting, info)

    def _chunk(self, parts: list[Rows], info: TraceInfo) -> Chunk:
        """The columns of these rows; the list is emptied."""
        known = Known(self.stream.kinds.all, self.stream.clock, info.process_id)
        headers = {}
        rows = joined_rows(parts)
        for name in self._headers:
            headers[name] = HEADERS[name].make(rows, known)
        kinds = end_to_end([rows.kind_indexes for rows in parts])
        stacks = self._new_stacks(parts, info.pointer_size)
        payloads: list[KindColumns] = []
        if self._payloads:
            if self._column_maker is None:
                self._column_maker = ColumnMaker(self.decoder, self._fields, partial(_report, self.stream))
            buf, offsets, starts = joined_windows(parts)
            ends = starts + end_to_end([rows.sizes for rows in parts])
            # The memory of their windows is reused for the columns while still in the cache.
            parts.clear()
            payloads = self._column_maker.columns(
                self.stream.kinds.all, kinds, buf, starts, ends, offsets, self._reads_payloads
            )
        return Chunk(len(kinds), kinds, headers, payloads, stacks)

    def _reads_payloads(self, kind: EventKind) -> bool:
        return self._payloads is True or (
            callable(self._payloads) and self._payloads((kind.key.provider, kind.key.name))
        )

    def _new_stacks(self, parts: list[Rows], pointer_size: int) -> StackArrays:
        if not self._stacks:
            return join(())
        return join(
            [stack_arrays(t, t.new(rows.stack_ids), pointer_size) for rows in parts for t in (rows.release.stacks,)]
        )


def _report(stream: Stream, problem: Problem, times: int) -> None:
    if problem.severity == "payload" and stream.errors == "strict":
        stream.problems.add(problem)
        raise raised(PayloadError, problem)
    stream.problems.add(problem, times)

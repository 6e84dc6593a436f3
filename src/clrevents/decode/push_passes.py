"""`EventPass` and `ColumnPass`: bytes are pushed in; rows that own their data, or `Chunk`s of columns, come out.

Both feed a stream, select rows of what it releases, and know when a problem ends the reading; they do no I/O. Rows come
with their records, a bounded number at a time. A chunk is of many events, enough to make numpy's calls worthwhile,
grouped by kind. Payloads are left to `payload_decoder`, `record_reader` and `column_maker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows, PayloadPlaces, own_rows, payloads_of
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kernels.engine import COMPILED, Ints, end_to_end
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import Column
from clrevents.decode.payload.column_maker import ColumnMaker, KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.record_reader import DirectRecords, RecordReader
from clrevents.decode.rows import Rows, joined_rows, joined_windows
from clrevents.decode.selection import EventName, Filters, Selection
from clrevents.decode.stacks import StackArrays, join, stack_arrays
from clrevents.decode.stream.stream import Buffer, Stream
from clrevents.errors import PayloadError, Problem, TraceError, raised
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.registry import Registry


class TracingEnd:
    """Sees all rows of a trace, in any order and portions."""

    def __init__(self, registry: Registry) -> None:
        self._naming = Selection(NAMING_EVENTS, Filters(), registry)
        self.tick: int | None = None
        """The last tick of an event that names no code; None before the first."""

    def see(self, rows: Rows, kinds: list[EventKind]) -> None:
        """Take the next rows."""
        ticks, naming = rows.ticks, self._naming.wanted(kinds)[rows.kind_indexes]
        if naming.any():
            ticks = ticks[~naming]
        if len(ticks):
            last = int(np.max(ticks))
            self.tick = last if self.tick is None else max(self.tick, last)


# The largest number of rows at once.
MOST_ROWS = 1 << 17
# Start with few rows, so that the first event arrives soon; later portions are large enough to be efficient.
_FIRST_ROWS = 1 << 10


@frozen
class Observer:
    """Watches the rows of a pass, with its own selection: `take` receives them with undecoded payloads, and keeps none
    of them."""

    selection: Selection
    take: Callable[[DecodedRows], None]

    def see(self, rows: Rows, stream: Stream, duration_ns: Callable[[], int]) -> None:
        """What a stream has released."""
        info = stream.info
        assert info is not None
        rows = self.selection.rows(rows, stream.kinds.all, stream.clock, duration_ns, info.process_id)
        if len(rows):
            kinds, clock = stream.kinds.all, stream.clock
            places = payloads_of(rows)
            self.take(own_rows(rows, places, kinds, clock, info.pointer_size, info.process_id, passing=True))


class EventPass:
    """Feeds a stream, selects rows, decodes their payloads. After a TraceError each call raises the same one.

    `duration_ns` is called if a filter is a percentage. Without `decode` payloads stay bytes. There are never more
    than `rows` rows at once. `tracing` sees all rows, selected or not.
    """

    def __init__(
        self,
        stream: Stream,
        selection: Selection,
        duration_ns: Callable[[], int],
        *,
        decode: bool = True,
        tracing: TracingEnd | None = None,
        rows: int = MOST_ROWS,
    ) -> None:
        self.stream = stream
        self.latest: int | None = None
        """The last tick of all events so far, selected or not."""
        self._occurred: set[tuple[int, int | None]] = set()
        self._selection = selection
        self._duration = duration_ns
        self._decodes = decode
        self.observers: list[Observer] = []
        self._tracing = tracing
        self._decoder: PayloadDecoder | None = None
        self._reader: RecordReader | None = None
        self._limit = rows
        self._most_rows = min(_FIRST_ROWS, rows)
        self._problems_given = 0
        self._losses_given = 0
        self._error: TraceError | None = None

    @property
    def occurred(self) -> list[tuple[int | None, EventKind]]:
        """The kinds of all events so far, selected or not, each with its process where the thread table names it."""
        pairs = sorted(self._occurred, key=lambda pair: (pair[0], -1 if pair[1] is None else pair[1]))
        return [(process, self.stream.kinds.all[index]) for index, process in pairs]

    @property
    def duration_ns(self) -> int:
        """From the session's start to the last event so far, selected or not; 0 before the first."""
        return 0 if self.latest is None else self.stream.clock.ns(self.latest)

    @property
    def stopped_ns(self) -> int:
        """When tracing stopped, as far as known from the events so far."""
        tick = None if self._tracing is None else self._tracing.tick
        return self.duration_ns if tick is None else self.stream.clock.ns(tick)

    @property
    def known_ns(self) -> int | None:
        """Until when the events of all threads are there; None unless the stream ended without its end."""
        return self.stream.known_ns(self.latest or 0) if self.stream.unended else None

    def feed(self, buffer: Buffer) -> list[DecodedRows]:
        """Take more bytes, which are not kept; returns the rows that became ready."""
        return self._run(lambda: self.stream.feed(buffer))

    def flush(self) -> list[DecodedRows]:
        """Release the rows waiting to be sorted, for instance when a live session has gone quiet."""
        return self._run(self.stream.flush)

    def close(self) -> Iterator[DecodedRows]:
        """End the input: yields the last rows, then raises a pending TraceError.

        That includes UnknownEventError for a selected name that neither the registry nor the trace knows.
        """
        ready = self._run(self.stream.close)
        self._error = self._error or self.stream.error
        if self._error is None:
            try:
                self._selection.check_names(self.stream.kinds.all)
            except TraceError as error:
                self._error = error
        if self._error is not None and not ready:
            raise self._error
        return _then_raise(ready, self._error)

    def _run(self, step: Callable[[], list[Rows]]) -> list[DecodedRows]:
        with self.stream.calls:
            return self._selected(step)

    def _selected(self, step: Callable[[], list[Rows]]) -> list[DecodedRows]:
        if self._error is not None:
            raise self._error
        try:
            released = step()
        except TraceError as error:
            self._error = error
            raise
        ready: list[DecodedRows] = []
        try:
            for rows in released:
                for decoded in self._select(rows):
                    ready.append(decoded)
        except _Stop as stop:
            ready.append(stop.sound)
        if not ready and self._error is not None:
            raise self._error
        return ready

    def _select(self, rows: Rows) -> Iterator[DecodedRows]:
        """What the observers and this pass select from released rows; the pass's own are decoded, part by part."""
        stream = self.stream
        info = stream.info
        assert info is not None
        if len(rows):
            last = int(rows.ticks.max())
            self.latest = last if self.latest is None else max(self.latest, last)
            if self._tracing is not None:
                self._tracing.see(rows, stream.kinds.all)
            self._occurred.update(rows.kinds_and_processes())
        for observer in self.observers:
            observer.see(rows, stream, self._duration)
        rows = self._selection.rows(rows, stream.kinds.all, stream.clock, self._duration, info.process_id)
        if not len(rows):
            return
        places = payloads_of(rows)
        at = 0
        while at < len(rows):
            part = slice(at, at + self._most_rows)
            yield self._decode(rows.take(part), places.slice(part), info)
            at = part.stop
            self._most_rows = min(4 * self._most_rows, self._limit)

    def _decode(self, rows: Rows, places: PayloadPlaces, info: TraceInfo) -> DecodedRows:
        """These rows with their records. Raises _Stop if a problem ends the reading."""
        kinds, clock = self.stream.kinds.all, self.stream.clock
        decoded = own_rows(rows, places, kinds, clock, info.pointer_size, info.process_id)
        if not self._decodes:
            return self._finish(decoded)
        if self._decoder is None:
            self._decoder = PayloadDecoder(info.pointer_size, self.stream.limits)
            self._reader = RecordReader(self._decoder) if COMPILED else None
        read, kinds = self._decoder.read, decoded.kinds
        records, put, left = self._read_together(decoded)
        decoded.records = records
        raw = False
        if left:
            columns = (decoded.kind_indexes, decoded.starts, decoded.ends, rows.offsets)
            values = (column[left].tolist() for column in columns)
            for row, kind_index, start, end, offset in zip(left, *values, strict=True):
                payload, tail, problem = read(kinds[kind_index], decoded.data[start:end], offset)
                if problem is not None:
                    if not self._report(problem):
                        raise _Stop(self._finish(_head(decoded, row)))
                    if tail:
                        decoded.tails[row] = tail
                    if problem.severity == "payload":
                        decoded.misfits.add(row)
                put(row, payload)
                raw = raw or isinstance(payload, RawPayload)
        for row in np.flatnonzero(decoded.stack_ids < 0).tolist():
            self.stream.report(_missing_stack(decoded.kind(row), int(rows.offsets[row])))
        if self._selection.typed and raw:
            decoded = _typed(decoded)
        return self._finish(decoded)

    def _read_together(
        self, rows: DecodedRows
    ) -> tuple[list[Any] | DirectRecords, Callable[[int, Any], None], list[int]]:
        """The records of these rows, what adds one, and the rows that must be read one by one: all, if interpreted."""
        if self._reader is None:
            one_by_one: list[Any] = [None] * len(rows)
            return one_by_one, one_by_one.__setitem__, [*range(len(rows))]
        records, left = self._reader.read(rows.kinds, rows.kind_indexes, rows.data, rows.starts, rows.ends)
        return records, records.put, left

    def _report(self, problem: Problem) -> bool:
        if problem.severity == "note" or self.stream.errors != "strict":
            return self.stream.report(problem)
        self.stream.problems.add(problem)
        self._error = raised(PayloadError, problem)
        return False

    def _finish(self, decoded: DecodedRows) -> DecodedRows:
        """Attach the problems and losses found since the previous rows."""
        items, losses = self.stream.problems.items, self.stream.losses
        decoded.problems = items[self._problems_given :]
        decoded.losses = tuple(losses[self._losses_given :])
        self._problems_given, self._losses_given = len(items), len(losses)
        return decoded


class _Stop(Exception):
    """A strict pass met its first problem; `sound` holds the rows before it."""

    def __init__(self, sound: DecodedRows) -> None:
        super().__init__()
        self.sound = sound


def _then_raise(ready: list[DecodedRows], error: TraceError | None) -> Iterator[DecodedRows]:
    yield from ready
    if error is not None:
        raise error


def _head(decoded: DecodedRows, count: int) -> DecodedRows:
    """The first `count` rows."""
    return decoded.take(list(range(count)))


def _typed(decoded: DecodedRows) -> DecodedRows:
    """Without the rows whose payload could not be read, because a class promises its fields. They stay reported."""
    return decoded.take([row for row, payload in enumerate(decoded.payloads) if not isinstance(payload, RawPayload)])


def _missing_stack(kind: EventKind, offset: int) -> Problem:
    return Problem(
        "missing-stack",
        "note",
        f"{kind.key.name}: its stack is missing from the trace",
        offset,
        event=kind.key.name,
        impact="this event's stack",
    )


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


@define(eq=False, repr=False, slots=False)
class ColumnPass:
    """Reads a whole stream into chunks. `headers` and `fields` (None for all) are the requested columns.

    If `payloads` is False, no payload is read, or only those of the events for whose (provider, name) it returns True;
    `stacks` requests the addresses of stacks too. A chunk has at most `rows` events. Where chunks end depends on what
    is selected, not on what is requested of it. `observers` and `tracing` see all rows, selected or not.
    """

    stream: Stream
    selection: Selection
    _duration_ns: Callable[[], int]
    _headers: Sequence[str] = attrs.field(kw_only=True)
    _fields: frozenset[str] | None = attrs.field(default=None, kw_only=True)
    _payloads: bool | Callable[[EventName], bool] = attrs.field(default=True, kw_only=True)
    _stacks: bool = attrs.field(default=False, kw_only=True)
    _rows: int = attrs.field(default=_ROWS, kw_only=True)
    observers: Sequence[Observer] = attrs.field(default=(), init=False)
    tracing: TracingEnd | None = attrs.field(default=None, init=False)
    _decoder: PayloadDecoder | None = attrs.field(default=None, init=False)
    _column_maker: ColumnMaker | None = attrs.field(default=None, init=False)
    _waiting: list[Rows] = attrs.field(factory=list, init=False)
    _waiting_rows: int = attrs.field(default=0, init=False)
    # The windows they lie in, which many releases may share.
    _windows: set[int] = attrs.field(factory=set, init=False)
    _waiting_bytes: int = attrs.field(default=0, init=False)

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
            while self._waiting_rows >= self._rows or self._waiting_bytes >= _BYTES:
                yield from self._flush(self._rows)

    def _wait(self, rows: Rows) -> None:
        """Add the selected rows to those waiting for a chunk."""
        stream = self.stream
        assert stream.info is not None
        if self.tracing is not None and len(rows):
            self.tracing.see(rows, stream.kinds.all)
        for observer in self.observers:
            observer.see(rows, stream, self._duration_ns)
        rows = self.selection.rows(rows, stream.kinds.all, stream.clock, self._duration_ns, stream.info.process_id)
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

"""`EventPass`: a stream and a selection make batches of decoded events.

What `Decoder` and `Trace` have in common. Knows when a problem ends the reading; does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import numpy as np

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows, PayloadPlaces, own_rows, payloads_of
from clrevents.decode.kernels.objects import collector_paused
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.record_maker import RecordMaker
from clrevents.decode.rows import Rows
from clrevents.decode.selection import Selection
from clrevents.decode.stream.stream import Buffer, Stream
from clrevents.errors import PayloadError, Problem, TraceError, raised

# As many rows as come at once at most.
MOST_ROWS = 1 << 17
# The first batch is small, so that the first event comes soon; later ones are worth their calls.
_FIRST = 1 << 10


@attrs.frozen
class Watch:
    """Somebody who looks on: `take` gets batches of what its own selection wants, their payloads not decoded."""

    selection: Selection
    take: Callable[[DecodedRows], None]


class EventPass:
    """Feeds a stream, selects rows, decodes their payloads. After a TraceError each call raises the same one.

    `duration_ns` is asked when a filter is a percentage. Without `decode` payloads stay bytes.
    """

    def __init__(
        self,
        stream: Stream,
        selection: Selection,
        duration_ns: Callable[[], int],
        *,
        decode: bool = True,
        watch: Watch | None = None,
    ) -> None:
        self.stream = stream
        self._selection = selection
        self._duration = duration_ns
        self._decodes = decode
        self._watch = watch
        self._reader: PayloadDecoder | None = None
        self._bulk: RecordMaker | None = None
        self._rows = _FIRST
        self._reported = 0
        self._lost = 0
        self._error: TraceError | None = None
        self._batches: list[DecodedRows] = []

    def feed(self, buffer: Buffer) -> list[DecodedRows]:
        """Take more bytes, which are not kept; the batches that became ready."""
        return self._run(lambda: self.stream.feed(buffer))

    def flush(self) -> list[DecodedRows]:
        """Release what waits for its order, for instance when a live session has gone quiet."""
        return self._run(self.stream.flush)

    def close(self) -> Iterator[DecodedRows]:
        """The end of the input: the last batches, after which a pending TraceError is raised.

        That includes UnknownEventError for a selected name that neither the registry nor the trace knows.
        """
        batches = self._run(self.stream.close)
        self._error = self._error or self.stream.error
        if self._error is None:
            try:
                self._selection.check_names(self.stream.kinds.all)
            except TraceError as error:
                self._error = error
        if self._error is not None and not batches:
            raise self._error
        return _then_raise(batches, self._error)

    def _run(self, step: Callable[[], list[Rows]]) -> list[DecodedRows]:
        if self._error is not None:
            raise self._error
        try:
            released = step()
        except TraceError as error:
            self._error = error
            raise
        batches: list[DecodedRows] = []
        try:
            for rows in released:
                with collector_paused():
                    for batch in self._decode(rows):
                        batches.append(batch)
        except _Stop:
            batches.extend(self._batches)
        self._batches = []
        if not batches and self._error is not None:
            raise self._error
        return batches

    def _decode(self, rows: Rows) -> Iterator[DecodedRows]:
        stream = self.stream
        info = stream.info
        assert info is not None
        if self._watch is not None:
            seen = self._watch.selection.rows(rows, stream.kinds.all, stream.clock, self._duration, info.process_id)
            self._watch.take(self._undecoded(seen, payloads_of(seen), info))
        rows = self._selection.rows(rows, stream.kinds.all, stream.clock, self._duration, info.process_id)
        if not len(rows):
            return
        payloads = payloads_of(rows)
        at = 0
        while at < len(rows):
            part = slice(at, at + self._rows)
            yield self._batch(rows.take(part), payloads.slice(part), info)
            at = part.stop
            self._rows = min(4 * self._rows, MOST_ROWS)

    def _undecoded(self, rows: Rows, payloads: PayloadPlaces, info: TraceInfo) -> DecodedRows:
        stream = self.stream
        return own_rows(rows, payloads, stream.kinds.all, stream.clock, info.pointer_size, info.process_id)

    def _batch(self, rows: Rows, where: PayloadPlaces, info: TraceInfo) -> DecodedRows:
        batch = self._undecoded(rows, where, info)
        if not self._decodes:
            return self._finish(batch)
        if self._reader is None or self._bulk is None:
            self._reader = PayloadDecoder(info.pointer_size, self.stream.limits)
            self._bulk = RecordMaker(self._reader)
        read, stream = self._reader.read, self.stream
        every = batch.kinds
        records, left = self._bulk.read(every, batch.kind_indexes, batch.data, batch.starts, batch.ends)
        batch.records = records
        raw = False
        if left:
            chosen = (column[left].tolist() for column in (batch.kind_indexes, batch.starts, batch.ends, rows.offsets))
            for row, place, start, end, offset in zip(left, *chosen, strict=True):
                payload, tail, problem = read(every[place], batch.data[start:end], offset)
                if problem is not None:
                    if not self._report(problem):
                        self._batches.append(self._finish(_head(batch, row)))
                        raise _Stop
                    if tail:
                        batch.tails[row] = tail
                    if problem.severity == "payload":
                        batch.misfits.add(row)
                records.put(row, payload)
                raw = raw or isinstance(payload, RawPayload)
        for row in np.flatnonzero(batch.stack_ids < 0).tolist():
            stream.report(_missing_stack(batch.kind(row), int(rows.offsets[row])))
        if self._selection.typed and raw:
            batch = _typed(batch)
        return self._finish(batch)

    def _report(self, problem: Problem) -> bool:
        if problem.severity == "note" or self.stream.errors != "strict":
            return self.stream.report(problem)
        self.stream.problems.add(problem)
        self._error = raised(PayloadError, problem)
        return False

    def _finish(self, batch: DecodedRows) -> DecodedRows:
        """Attach what came up since the batch before."""
        items, losses = self.stream.problems.items, self.stream.losses
        batch.problems = items[self._reported :]
        batch.losses = tuple(losses[self._lost :])
        self._reported, self._lost = len(items), len(losses)
        return batch


class _Stop(Exception):
    """A strict decoder met its first problem; what is sound was kept aside."""


def _then_raise(batches: list[DecodedRows], error: TraceError | None) -> Iterator[DecodedRows]:
    yield from batches
    if error is not None:
        raise error


def _head(batch: DecodedRows, count: int) -> DecodedRows:
    """The first `count` rows of a batch."""
    return batch.take(list(range(count)))


def _typed(batch: DecodedRows) -> DecodedRows:
    """Without the rows whose payload could not be read: a class promises its fields. They stay reported."""
    return batch.take([r for r, p in enumerate(batch.payloads) if not isinstance(p, RawPayload)])


def _missing_stack(kind: EventKind, offset: int) -> Problem:
    return Problem(
        "missing-stack",
        "note",
        f"{kind.key.name}: its stack is not in the trace",
        offset,
        event=kind.key.name,
        impact="this event's stack",
    )

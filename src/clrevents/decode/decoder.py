"""`Decoder`: selectors and bytes in, batches of events out. For sockets and for embedding.

Joins the stream with a selection and the payload reader; the file reader is a loop around it. Sans-IO.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from clrevents.decode.blocks import TraceInfo
from clrevents.decode.clock import Clock
from clrevents.decode.event import Batch, make_batch
from clrevents.decode.payloads import PayloadReader, RawPayload
from clrevents.decode.region import Rows
from clrevents.decode.select import Filters, Selection, Selector, Threads
from clrevents.decode.stream import Buffer, Stream
from clrevents.decode.tables import EventKind, Loss
from clrevents.decode.when import Moment
from clrevents.errors import ErrorMode, Limits, PayloadError, Problem, TraceError
from clrevents.schema.registry import DEFAULT, Registry

_ROWS = 4096
Order = Literal["time", "file"]


class Decoder:
    """Reads a trace that arrives in pieces.

    `feed(buffer)` and `flush()` return batches of the selected events; `close()` says that nothing more comes.
    Memory is bounded by what lies between two sequence points and by `limits`. After a TraceError each
    call raises the same one. `start`/`end` in percent need a file: use `clrevents.open`.
    """

    def __init__(
        self,
        *selectors: Selector,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> None:
        if order not in ("time", "file"):
            raise ValueError(f'order must be "time" or "file", not {order!r}')
        registry = registry or DEFAULT
        filters = Filters.of(provider, process_id, thread_id, start, end)
        self._stream = Stream(errors=errors, limits=limits, registry=registry, in_time_order=order == "time")
        self._selection = Selection(selectors, filters, registry)
        self._reader: PayloadReader | None = None
        self._duration: Callable[[], int] = _no_duration
        self._reported = 0
        self._lost = 0
        self._error: TraceError | None = None
        self._batches: list[Batch] = []

    @property
    def info(self) -> TraceInfo | None:
        """The trace's header; None until it was fed."""
        return self._stream.info

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was reported so far, at most `Limits.problems` of each severity."""
        return self._stream.problems.items

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Lost events found so far."""
        return tuple(self._stream.losses)

    def feed(self, buffer: Buffer) -> list[Batch]:
        """Take more bytes, which are not kept; the batches that became ready."""
        return self._run(lambda: self._stream.feed(buffer))

    def flush(self) -> list[Batch]:
        """Release what waits for its order, for instance when a live session has gone quiet."""
        return self._run(self._stream.flush)

    def close(self) -> Iterator[Batch]:
        """The end of the input: the last batches, behind which a pending TraceError is raised.

        That includes UnknownEventError for a selected name that neither the registry nor the trace knows.
        """
        batches = self._run(self._stream.close)
        self._error = self._error or self._stream.error
        if self._error is None:
            try:
                self._selection.check_names(self._stream.kinds.all)
            except TraceError as error:
                self._error = error
        if self._error is not None and not batches:
            raise self._error
        return _then_raise(batches, self._error)

    def _run(self, step: Callable[[], list[Rows]]) -> list[Batch]:
        if self._error is not None:
            raise self._error
        try:
            released = step()
        except TraceError as error:
            self._error = error
            raise
        batches: list[Batch] = []
        try:
            for rows in released:
                for batch in self._decode(rows):
                    batches.append(batch)
        except _Stop:
            batches.extend(self._batches)
        self._batches = []
        if not batches and self._error is not None:
            raise self._error
        return batches

    def _decode(self, rows: Rows) -> Iterator[Batch]:
        stream = self._stream
        info = stream.info
        assert info is not None
        rows = self._selection.rows(rows, stream.kinds.all, stream.clock, self._duration, info.process_id)
        for at in range(0, len(rows), _ROWS):
            yield self._batch(rows.take(slice(at, at + _ROWS)), info, stream.clock)

    def _batch(self, rows: Rows, info: TraceInfo, clock: Clock) -> Batch:
        if self._reader is None:
            self._reader = PayloadReader(info.pointer_size, self._stream.limits)
        batch = make_batch(rows, self._stream.kinds.all, clock, info.pointer_size, info.process_id)
        read, payloads, stream = self._reader.read, batch.payloads, self._stream
        offsets: list[int] = rows.offsets.tolist()
        for row, (kind, data) in enumerate(zip(batch.kinds, batch.raw, strict=True)):
            payload, tail, problem = read(kind, data, offsets[row])
            if problem is not None:
                if not self._report(problem):
                    self._batches.append(self._finish(_head(batch, row)))
                    raise _Stop
                if tail:
                    batch.tails[row] = tail
            payloads.append(payload)
        for row in (r for r, number in enumerate(batch.stack_ids) if number < 0):
            stream.report(_missing_stack(batch.kinds[row], offsets[row]))
        if self._selection.typed and any(isinstance(p, RawPayload) for p in payloads):
            batch = _typed(batch)
        return self._finish(batch)

    def _report(self, problem: Problem) -> bool:
        if problem.severity == "note" or self._stream.errors != "strict":
            return self._stream.report(problem)
        self._stream.problems.add(problem)
        self._error = PayloadError(problem.message, offset=problem.offset, event=problem.event, field=problem.field)
        return False

    def _finish(self, batch: Batch) -> Batch:
        """Attach what came up since the batch before."""
        items, losses = self._stream.problems.items, self._stream.losses
        batch.problems = items[self._reported :]
        batch.losses = tuple(losses[self._lost :])
        self._reported, self._lost = len(items), len(losses)
        return batch


class _Stop(Exception):
    """A strict decoder met its first problem; what is sound was kept aside."""


def _then_raise(batches: list[Batch], error: TraceError | None) -> Iterator[Batch]:
    yield from batches
    if error is not None:
        raise error


def _no_duration() -> int:
    raise ValueError("a percentage needs a trace whose end is known: open the file instead of feeding a decoder")


def _head(batch: Batch, count: int) -> Batch:
    """The first `count` rows of a batch."""
    return _choose(batch, list(range(count)))


def _typed(batch: Batch) -> Batch:
    """Without the rows whose payload could not be read: a class promises its fields. They stay reported."""
    return _choose(batch, [r for r, p in enumerate(batch.payloads) if not isinstance(p, RawPayload)])


def _choose(batch: Batch, rows: list[int]) -> Batch:
    def pick(column: list[Any]) -> list[Any]:
        return [column[r] for r in rows]

    return Batch(
        pick(batch.kinds),
        batch.clock,
        batch.pointer_size,
        batch.process_id,
        pick(batch.times_ns),
        pick(batch.threads),
        pick(batch.stack_ids),
        pick(batch.processors),
        None if batch.activities is None else pick(batch.activities),
        None if batch.related is None else pick(batch.related),
        batch.stacks,
        pick(batch.raw),
        pick(batch.payloads),
        None if batch.processes is None else pick(batch.processes),
        None if batch.labels is None else pick(batch.labels),
        {new: batch.tails[old] for new, old in enumerate(rows) if old in batch.tails},
    )


def _missing_stack(kind: EventKind, offset: int) -> Problem:
    return Problem(
        "missing-stack",
        "note",
        f"{kind.key.name}: its stack is not in the trace",
        offset,
        event=kind.key.name,
        breaks="this event's stack",
    )

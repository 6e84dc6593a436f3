"""All that comes out of a reading, as plain values: two readings that should say the same are compared in everything.

Knows what a user can see of an event, and what headers say; judges nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import attrs

from clrevents import Decoder, TraceError
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.rows import Guids, Rows
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode
from stack_data import each_stack

Row: TypeAlias = tuple[Any, ...]
Pieces: TypeAlias = Iterable[bytes | memoryview]


@attrs.define
class Seen:
    """All that came out of one reading; `error` is what ended it."""

    events: list[Row] = attrs.field(factory=list)
    problems: list[Any] = attrs.field(factory=list)
    counts: dict[str, int] = attrs.field(factory=dict)
    losses: list[Any] = attrs.field(factory=list)
    destroyed: Any = None
    lost: int = 0
    missing: int = 0
    complete: bool = False
    info: Any = None
    error: tuple[Any, ...] | None = None
    counted: Any = None
    """By kind and by thread, where events are only counted."""


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    """Pieces of so many bytes."""
    return (data[at : at + size] for at in range(0, len(data), size))


def read_rows(
    pieces: Pieces,
    errors: ErrorMode,
    flush: Callable[[], bool] = lambda: False,
    tally: Tally | None = None,
    **options: Any,
) -> Seen:
    """Headers and payload bytes of everything; no payload is decoded. With a tally, only how many of what."""
    stream = Stream(errors=errors, tally=tally, **options)
    seen = _read(stream, pieces, lambda rows: _rows(stream, rows), flush)
    if tally is not None:
        seen.counted = tally.kinds.tolist()[: len(stream.kinds.all)], tally.threads, tally.latest
    return _finished(seen, stream)


def read_events(
    pieces: Pieces, decoder: Decoder, visible: Callable[[Any], Row] | None = None, failed: Callable[..., object] = id
) -> Seen:
    """Everything decoded; each batch's own problems and losses, put together, are the decoder's. `failed` gets the
    error, where there is one."""
    problems: list[Any] = []
    losses: list[Any] = []

    def plain(batch: Any) -> Iterator[Row]:
        problems.extend(batch.problems)
        losses.extend(batch.losses)
        return map(visible or visible_of, batch)

    seen = _finished(_read(decoder, pieces, plain, failed=failed), decoder._stream)
    assert Counter(problems) <= Counter(seen.problems)
    assert losses == seen.losses[: len(losses)]
    return seen


def _read(
    reader: Stream | Decoder,
    pieces: Pieces,
    plain: Callable[[Any], Iterable[Row]],
    flush: Callable[[], bool] = lambda: False,
    failed: Callable[..., object] = id,
) -> Seen:
    seen = Seen()
    try:
        for piece in pieces:
            for part in reader.feed(piece):
                seen.events += plain(part)
            if flush():
                for part in reader.flush():
                    seen.events += plain(part)
        for part in reader.close():
            seen.events += plain(part)
        if isinstance(reader, Stream) and reader.error is not None:
            raise reader.error
    except TraceError as error:
        failed(error)
        seen.error = type(error), error.reason, error.offset, error.event, error.field, error.needed, error.available
    return seen


def _finished(seen: Seen, stream: Stream) -> Seen:
    seen.problems, seen.counts = list(stream.problems), dict(stream.problems.counts)
    seen.losses, seen.lost, seen.missing = list(stream.losses), stream.lost, stream.missing
    seen.destroyed, seen.complete, seen.info = stream.destroyed, stream.complete, stream.info
    return seen


def _rows(stream: Stream, rows: Rows) -> Iterator[Row]:
    """One release's headers and payload bytes."""
    nothing = [None] * len(rows)
    yield from zip(
        [(kind.index, kind.row, kind.key) for kind in map(stream.kinds.all.__getitem__, rows.kind_indexes.tolist())],
        rows.ticks.tolist(),
        rows.thread_ids.tolist(),
        rows.capture_threads.tolist(),
        rows.processors.tolist(),
        rows.stack_ids.tolist(),
        map(each_stack(rows).get, rows.stack_ids.tolist()),
        rows.offsets.tolist(),
        rows.payloads(),
        _guids(rows.activities) or nothing,
        _guids(rows.related_activities) or nothing,
        rows.labels or nothing,
        rows.process_ids or nothing,
        strict=True,
    )


def _guids(guids: Guids | None) -> list[bytes | None] | None:
    return None if guids is None else guids.all()


def visible_of(event: Any) -> Row:
    """All that a user can see of an event. Records of a trace's own classes are compared by their text."""
    return (
        event.key,
        (event.opcode, event.level, event.keywords),
        event.time_ns,
        event.thread_id,
        event.process_id,
        event.processor,
        event.activity_id,
        event.related_activity_id,
        (event.trace_id, event.span_id, event.labels),
        event.stack_id,
        event.stack,
        event.payload_bytes,
        event.payload_tail,
        repr(event.payload),
    )


def same(seen: Seen, whole: Seen, how: str) -> None:
    """Equal in everything; says where the first difference is instead of printing thousands of events."""
    for row, (here, there) in enumerate(zip(seen.events, whole.events, strict=False)):
        assert here == there, f"{how}: event {row}"
    assert len(seen.events) == len(whole.events), how
    seen_rest, whole_rest = attrs.evolve(seen, events=[]), attrs.evolve(whole, events=[])
    assert seen_rest == whole_rest, how

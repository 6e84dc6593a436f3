"""`Decoder`: selectors and bytes in, batches of events out. For sockets and for embedding.

The public face of `EventReader`. No I/O, threads, warnings or logging.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from clrevents.decode.batch import Batch
from clrevents.decode.blocks import TraceInfo
from clrevents.decode.losses import Loss
from clrevents.decode.reader import EventReader, Watch
from clrevents.decode.select import Filters, Selection, Selector, Threads
from clrevents.decode.stream import Buffer, Stream
from clrevents.decode.when import Moment
from clrevents.errors import ErrorMode, Limits, Problem
from clrevents.schema.registry import DEFAULT, Registry

Order = Literal["time", "file"]


def in_time_order(order: Order) -> bool:
    """ValueError for what is no order."""
    if order not in ("time", "file"):
        raise ValueError(f'order must be "time" or "file", not {order!r}')
    return order == "time"


class Decoder:
    """Reads a trace that arrives in pieces.

    `feed(buffer)` and `flush()` return batches of the selected events; `close()` says that nothing more comes.
    Memory is bounded by what lies between two sequence points and by `limits`. After a TraceError each
    call raises the same one. `start`/`end` in percent need a file: use `clrevents.open`. `watch` is shown events
    that need not be selected, before those of the same time are returned.
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
        watch: Watch | None = None,
    ) -> None:
        registry = registry or DEFAULT
        filters = Filters.of(provider, process_id, thread_id, start, end)
        self._stream = Stream(errors=errors, limits=limits, registry=registry, in_time_order=in_time_order(order))
        self._reader = EventReader(self._stream, Selection(selectors, filters, registry), _no_duration, watch=watch)

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
        return self._reader.feed(buffer)

    def flush(self) -> list[Batch]:
        """Release what waits for its order, for instance when a live session has gone quiet."""
        return self._reader.flush()

    def close(self) -> Iterator[Batch]:
        """The end of the input: the last batches, behind which a pending TraceError is raised.

        That includes UnknownEventError for a selected name that neither the registry nor the trace knows.
        """
        return self._reader.close()


def _no_duration() -> int:
    raise ValueError("a percentage needs a trace whose end is known: open the file instead of feeding a decoder")

"""`Decoder` as users have it: the push interface, with tables, and names for addresses where they are asked for.

Joins the decoder with the rooms of symbols and tables, which it does not know. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.decode import decoder
from clrevents.decode.batch import Batch
from clrevents.decode.decoder import Order
from clrevents.decode.reader import Watch
from clrevents.decode.select import Selector, Threads
from clrevents.decode.stream import Buffer
from clrevents.decode.when import Moment
from clrevents.errors import ErrorMode, Limits
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.symbols.feed import CodeEvents
from clrevents.symbols.live import LiveMethods
from clrevents.symbols.methods import Methods
from clrevents.table.batch import BatchTables


class Decoder(decoder.Decoder):
    """Reads a trace that arrives in pieces.

    `feed(buffer)` and `flush()` return batches of the selected events; `close()` says that nothing more comes.
    `batch.table(name)` has a batch's events of one kind as typed columns. Memory is bounded by what lies between two
    sequence points and by `limits`. After a TraceError each call raises the same one. `start`/`end` in percent need
    a file: use `clrevents.open`.

    With `symbols`, events of code are followed too, whether they are selected or not: `methods` and the events'
    `frames` then know what was seen so far. Methods that were there before the trace began are listed at its end.
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
        symbols: bool = False,
    ) -> None:
        self._tables = BatchTables(registry or DEFAULT, limits or Limits())
        self._live = LiveMethods(limits or Limits()) if symbols else None
        watch = None if self._live is None else Watch(CodeEvents(registry or DEFAULT), self._live.take)
        super().__init__(
            *selectors,
            errors=errors,
            limits=limits,
            registry=registry,
            provider=provider,
            process_id=process_id,
            thread_id=thread_id,
            start=start,
            end=end,
            order=order,
            watch=watch,
        )

    @property
    def methods(self) -> Methods:
        """Names for addresses, as known so far. ValueError without `symbols=True`."""
        if self._live is None:
            raise ValueError("this decoder does not follow code: make it with symbols=True")
        return self._live.methods

    def feed(self, buffer: Buffer) -> list[Batch]:
        """Take more bytes, which are not kept; the batches that became ready."""
        return [self._named(batch) for batch in super().feed(buffer)]

    def flush(self) -> list[Batch]:
        """Release what waits for its order, for instance when a live session has gone quiet."""
        return [self._named(batch) for batch in super().flush()]

    def close(self) -> Iterator[Batch]:
        """The end of the input: the last batches, behind which a pending TraceError is raised.

        That includes UnknownEventError for a selected name that neither the registry nor the trace knows.
        """
        return map(self._named, super().close())

    def _named(self, batch: Batch) -> Batch:
        batch.resolver = self._live
        batch.tabler = self._tables
        return batch

"""`Decoder`: selectors and bytes in, batches of events out, for sockets and for embedding; `StreamTally` only counts.

Combines a pass over events with tables and, on request, with names for addresses. No I/O, threads, warnings or logging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Unpack

from clrevents._util.notebook_views import Summary
from clrevents._util.words import counted
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.push_passes import EventPass, Observer, TracingEnd
from clrevents.decode.selection import FilterOptions, Filters, Moment, Selection, Selector, to_ns
from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.stream import Buffer, Stream
from clrevents.errors import ErrorMode, Limits, Problem, TraceError
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.table import Listed
from clrevents.trace.batch import Batch, BatchTables, StreamTables
from clrevents.trace.passes import Order, in_time_order

if TYPE_CHECKING:
    from clrevents.symbols.methods import LiveMethods, Methods


class StreamTally:
    """Counts as bytes are fed. Anything that is not a trace, or exceeds a limit, ends the counting and raises
    nothing."""

    def __init__(self, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._totals = Tally(limits.threads)
        self._stream = Stream(errors="salvage", limits=limits, tally=self._totals)
        self._stopped = False

    def feed(self, data: Buffer) -> None:
        """Count what is in the next bytes."""
        self._do(lambda: self._stream.feed(data))

    def close(self) -> None:
        """There are no more."""
        self._do(self._stream.close)

    @property
    def events(self) -> int:
        """All events so far."""
        return int(self._totals.kinds.sum())

    @property
    def lost(self) -> int:
        """Those that were never written."""
        return self._stream.lost

    @property
    def complete(self) -> bool:
        """Whether the end of the trace was among the bytes."""
        return self._stream.complete

    def _do(self, step: Callable[[], object]) -> None:
        if not self._stopped:
            try:
                step()
            except TraceError:
                self._stopped = True


class Decoder(Summary):
    """Decodes a trace that arrives in pieces, such as from a socket.

    `feed` and `flush` return batches of the selected events; `close` ends the input. Memory is bounded by the data
    between two sequence points and by `limits`. `selectors`, `order` and `filters` are those of `Trace.events`, and
    `errors`, `limits` and `registry` those of `clrevents.open`. Percentages in `start` and `end` raise ValueError,
    because the end of a stream is not known.

    With `symbols`, the decoder also follows events about code, whether they are selected or not; `methods` and the
    events' `frames` then cover what was read so far. Methods loaded before the trace began are listed at its end.

    After a TraceError, each call raises the same error again. If another exception such as KeyboardInterrupt leaves a
    call in its middle, events may be missing: each later call raises RuntimeError.
    """

    def __init__(
        self,
        *selectors: Selector,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        order: Order = "time",
        symbols: bool = False,
        **filters: Unpack[FilterOptions],
    ) -> None:
        registry, limits = registry or DEFAULT, limits or Limits()
        self._tables = BatchTables(registry, limits)
        selection = Selection(selectors, Filters.of(filters), registry)
        self._stream = Stream(errors=errors, limits=limits, registry=registry, in_time_order=in_time_order(order))
        self._pass = EventPass(self._stream, selection, _no_duration, tracing=TracingEnd(registry))
        self._live: LiveMethods | None = None
        if symbols:
            # As in a `Trace`: names of code take long to import.
            from clrevents.symbols.feed import CodeEvents
            from clrevents.symbols.methods import LiveMethods

            self._live = LiveMethods(limits)
            self._pass.observers.append(Observer(CodeEvents(registry), self._live.take))

    def __repr__(self) -> str:
        if self.info is None:
            return "<Decoder before its header>"
        problems, losses = counted(len(self.problems), "problem"), counted(len(self.losses), "loss", "losses")
        return f"<Decoder of {self.info.format} {self.info.version}, {problems}, {losses}>"

    @property
    def info(self) -> TraceInfo | None:
        """The contents of the trace's header; None until the header has been fed."""
        return self._stream.info

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems found so far, at most `Limits.problems` of each severity."""
        return Listed(self._stream.problems.items)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The lost events found so far."""
        return Listed(self._stream.losses)

    @property
    def methods(self) -> Methods:
        """The code known so far, for resolving addresses. Raises ValueError unless made with `symbols=True`."""
        if self._live is None:
            raise ValueError("this decoder does not track code; create it with symbols=True")
        return self._live.methods

    def feed(self, buffer: Buffer) -> list[Batch]:
        """Decode the next bytes and return the batches that are ready.

        `buffer` is bytes, a bytearray or a memoryview, and may be reused afterwards. Raises TraceError
        for damage or for exceeded limits, and ValueError after `close`.
        """
        with self._stream.calls:
            return list(self._batches(self._pass.feed(buffer)))

    def flush(self) -> list[Batch]:
        """Return the events still waiting to be sorted by time, for instance when a live session has gone quiet."""
        with self._stream.calls:
            return list(self._batches(self._pass.flush()))

    def close(self) -> Iterator[Batch]:
        """End the input and iterate over the last batches.

        After the last batch, raises a pending TraceError, such as UnknownEventError for a selector that neither the
        registry nor the trace knows.
        """
        return self._batches(self._pass.close())

    def _batches(self, decoded: Iterable[DecodedRows]) -> Iterator[Batch]:
        return (Batch(rows, self._live, self._tables) for rows in decoded)


def pass_of(decoder: Decoder) -> EventPass:
    """The pass under a decoder, for the rooms of this package."""
    return decoder._pass


def observe(decoder: Decoder, selectors: Iterable[Selector], take: Callable[[DecodedRows], None]) -> None:
    """Have `take` called with the undecoded rows of these events, whatever the decoder selects."""
    selection = Selection(selectors, Filters(), decoder._tables.registry)
    decoder._pass.observers.append(Observer(selection, take))


def tables_of(decoder: Decoder, names: Iterable[str], headers: tuple[str, ...]) -> StreamTables:
    """The maker of tables of a decoder that has seen its header, for the rooms of this package."""
    assert decoder.info is not None
    tables = decoder._tables
    return StreamTables(names, headers, tables.registry, tables.limits, decoder.info.pointer_size)


def learn_early(decoder: Decoder, listed: bytes) -> None:
    """Have a decoder that has seen its header know the code that the same process listed in another recording."""
    assert decoder.info is not None
    if decoder._live is not None:
        from clrevents.trace.early_names import early_code

        for rows in early_code(listed, decoder.info, decoder._tables.limits, decoder._tables.registry):
            decoder._live.take(rows)


def stream_moment(decoder: Decoder, moment: Moment, what: str) -> int:
    """A moment in nanoseconds since the session started. Raises ValueError for a percentage."""
    return to_ns(moment, what, decoder._stream.clock, _no_duration)


def _no_duration() -> int:
    raise ValueError("a percentage needs a trace with a known end; open the file instead of feeding a decoder")

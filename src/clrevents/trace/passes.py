"""`Passes`: every way of reading one trace from its first byte to its last, in bounded memory.

For the rooms of this package; users have `Trace`. Owns the source, the problems found in any pass, and the one cached
scan of all headers. Knows no analysis and prints nothing; warns once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs

from clrevents._util.meter import Meter
from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.header_columns import DEFAULT_HEADERS, EVENT_HEADERS
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.push_passes import MOST_ROWS, Chunk, ColumnPass, EventPass, Observer, TracingEnd
from clrevents.decode.selection import EventName, FilterOptions, Filters, Moment, Selection, Selector, to_ns
from clrevents.decode.stacks import StackArrays, join
from clrevents.decode.stream.stream import Stream
from clrevents.errors import (
    DamageError,
    ErrorMode,
    LimitError,
    Limits,
    Problem,
    SourceError,
    TraceError,
    UnreadableError,
)
from clrevents.schema.dynamic import ClassCache, variants
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.registry import ASYNC, Registry
from clrevents.schema.source_message import SOURCE_MESSAGE, source_error, text_of
from clrevents.sources import Source, file_mark
from clrevents.table import read as reading
from clrevents.table.event_schema import TableField, header_fields, shown_fields
from clrevents.table.read import table_chunks
from clrevents.table.table import Table
from clrevents.trace.scan import FoundProblems, HeaderScan, scan_headers

if TYPE_CHECKING:
    from clrevents.symbols.async_stacks import AsyncStacks
    from clrevents.trace.async_known import AsyncKnown

Order: TypeAlias = Literal["time", "file"]


def in_time_order(order: Order) -> bool:
    """Raises ValueError unless `order` is "time" or "file"."""
    if order not in ("time", "file"):
        raise ValueError(f'order must be "time" or "file", not {order!r}')
    return order == "time"


Progress: TypeAlias = Callable[[int, int], Any]

_SECONDS: Final = 0.1


class ToldWindows:
    """The windows of a source. `progress` is called with bytes (done, total); if it is true, a bar is drawn."""

    def __init__(self, source: Source, progress: Progress | bool | None) -> None:
        self._source = source
        self._meter = Meter.anywhere()
        self._tell = self._meter.hook if progress is True else progress or None

    def windows(self) -> Iterator[bytes]:
        """The source's bytes; tells at most ten times a second."""
        if self._tell is None:
            yield from self._source.windows()
            return
        done, total = 0, self._source.size
        told_at = time.monotonic()
        try:
            for data in self._source.windows():
                yield data
                done += len(data)
                now = time.monotonic()
                if now - told_at >= _SECONDS:
                    told_at = now
                    self._tell(done, max(total, done))
            self._tell(done, max(total, done))
        finally:
            # Also where a reader stops early, or the trace breaks.
            self._meter.restart()


_ROWS: Final = 1 << 19


class Passes:
    """The passes over one trace. `problems` are those found in any pass, bounded by `Limits.problems`."""

    def __init__(
        self, source: Source, errors: ErrorMode, limits: Limits, registry: Registry, progress: Progress | bool | None
    ) -> None:
        self.source = source
        self.errors: ErrorMode = errors
        self.limits = limits
        self.registry = registry
        self._windows = ToldWindows(source, progress).windows
        self._known_problems = FoundProblems(source, limits)
        self._scanned: HeaderScan | None = None
        self._stopped: int | None = None
        # The container's problems and the number of lost events, once a pass came to its end.
        self._read: tuple[tuple[Problem, ...], int] | None = None
        self.most_met = 0
        """How many problems a pass has met, listed or not: that with the most."""
        # Those of the pass that met most of them, so that later ones need not make them again.
        self._kinds: Sequence[EventKind] = ()
        self._fields: dict[tuple[EventName, bool], tuple[TableField, ...]] = {}
        # Reject an unknown error mode now, not in the first pass: the header is read in a pass of its own.
        self.stream()
        self.info = self._read_info()

    def scan(self, raising: bool = True) -> HeaderScan:
        """The scan of all headers, made once; raises the error that ended it unless told not to.

        What could not be read to its end is never taken for a shorter trace: that is raised in any case.
        """
        if self._scanned is None:
            scan = scan_headers(self.source, self._windows(), self.errors, self.limits, self.registry, self._kinds)
            self._meet(scan.kinds)
            for problem in scan.problems:
                self._known_problems.warn_of(problem)
            self._known_problems.warn_of_lost(scan.lost)
            self._scanned = scan
            if scan.error is None:
                self._read = tuple(scan.problems), scan.lost
        error = self._scanned.error
        if error is not None and (raising or isinstance(error, SourceError | LimitError)):
            raise error
        return self._scanned

    def duration_ns(self) -> int:
        """From the session's start to its last event."""
        return self.scan().duration_ns

    def stopped_ns(self) -> int:
        """When tracing stopped, as far as known from events. Reads all headers once more, the first time, unless names
        of code were read, or there are none."""
        if self._stopped is None and not self._occur(self.selection(NAMING_EVENTS)):
            self._stopped = self.scan(raising=False).duration_ns
        if self._stopped is None:
            tracing, stream = TracingEnd(self.registry), self.stream("file")
            # The scan has told already what is wrong.
            with suppress(TraceError):
                for data in self._windows():
                    for rows in stream.feed(data):
                        tracing.see(rows, stream.kinds.all)
                for rows in stream.close():
                    tracing.see(rows, stream.kinds.all)
            self._note_end(tracing, stream)
        assert self._stopped is not None
        return self._stopped

    def _occur(self, selection: Selection) -> bool:
        """Whether the trace has any of these events."""
        scan = self.scan(raising=False)
        return any(scan.kind_counts[kind.index] for kind in selection.chosen(scan.kinds_by_name))

    def _note_end(self, tracing: TracingEnd, stream: Stream) -> None:
        """Tracing stopped with the last event that this pass saw, if it saw any."""
        last = tracing.tick
        self._stopped = self.scan(raising=False).duration_ns if last is None else stream.clock.ns(last)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The container's problems, then those of the payloads decoded so far."""
        listed = tuple(self.scan(raising=False).problems) if self._read is None else self._read[0]
        return self._known_problems.after(listed)

    @property
    def lost(self) -> int:
        """How many events were lost."""
        return self.scan().lost if self._read is None else self._read[1]

    @property
    def found(self) -> tuple[Problem, ...]:
        """The problems of the passes made so far; without those, none."""
        if self._scanned is None:
            return self._known_problems.every
        # Also of a pass that did not come to its end.
        return self._known_problems.after(tuple(self._scanned.problems)) or self._known_problems.every

    @property
    def found_in_payloads(self) -> tuple[Problem, ...]:
        """Those of them that reading the headers alone does not find."""
        listed = tuple(self.scan(raising=False).problems)
        return self._known_problems.after(listed)[len(listed) :]

    def source_errors(self) -> tuple[Problem, ...]:
        """What event sources say of themselves: that they failed. At most `Limits.problems`, each once however often it
        was said. Never raises for damage, and reads the trace again only if its headers show such messages."""
        if not any(key.name == SOURCE_MESSAGE for key in self.scan(raising=False).counts):
            return ()
        by_text: dict[str, Problem] = {}
        selection = self.selection((f"*/{SOURCE_MESSAGE}",))
        for rows in self.rows(self.stream(errors="salvage"), selection, decode=False):
            for row, (start, end) in enumerate(zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)):
                provider = rows.kind(row).key.provider
                text = source_error(provider, text_of(rows.data[start:end]))
                if text is not None and len(by_text) < self.limits.problems:
                    event = f"{provider}/{SOURCE_MESSAGE}"
                    problem = Problem(
                        "broken-event-source", "note", text, event=event, impact="all events of this source"
                    )
                    by_text.setdefault(text, problem)
        return tuple(by_text.values())

    def file_mark(self) -> object:
        """What changes when the trace is written to or replaced; None if another process cannot read the same."""
        return file_mark(self.source)

    def moment_ns(self, moment: Moment, what: str = "moment") -> int:
        """A moment as accepted by filters, in nanoseconds since the session started."""
        info = self.info
        return to_ns(moment, what, Clock(info.sync_qpc, info.frequency, info.start), self.duration_ns)

    def one_event(self, selector: Selector) -> EventName | None:
        """The event that a selector means; None for a pattern without a match.

        Raises AmbiguousEventError if it means several events, UnknownEventError if the event is not known.
        """
        return self._one(self.selection((selector,)))

    def _one(self, selection: Selection) -> EventName | None:
        selection.one_event()
        kinds = self.scan(raising=False).kinds_by_name
        if (event := selection.one_event(selection.candidates(kinds))) is None:
            selection.check_names(kinds.every)
        return event

    # Streams, and what is selected from them.

    def stream(self, order: Order = "time", errors: ErrorMode | None = None, walk_stacks: bool = False) -> Stream:
        """A stream with this trace's error mode, unless told otherwise."""
        return Stream(
            errors=errors or self.errors,
            limits=self.limits,
            registry=self.registry,
            in_time_order=in_time_order(order),
            walk_stacks=walk_stacks,
            seen=self._kinds,
        )

    def selection(
        self, selectors: Iterable[Selector], filters: Filters | None = None, always: Iterable[Selector] = ()
    ) -> Selection:
        """Selectors and filters, resolved against this trace's registry."""
        return Selection(selectors, filters or Filters(), self.registry, always)

    def none_of(self, selection: Selection) -> bool:
        """Whether it is known that the trace has none of these events: nothing is read to find out."""
        return self._scanned is not None and self._scanned.none_of(selection)

    # Passes over events.

    def rows(
        self,
        stream: Stream,
        selection: Selection,
        decode: bool = True,
        most: int = MOST_ROWS,
        tracing: TracingEnd | None = None,
    ) -> Iterator[DecodedRows]:
        """Feed the whole source through a stream; exceptions get this trace's path.

        At most `most` rows at once. Without `decode` payloads stay bytes. `tracing` sees all rows.
        """
        events = EventPass(stream, selection, self.duration_ns, decode=decode, tracing=tracing, rows=most)
        with self._noting(stream):
            for data in self._windows():
                for rows in events.feed(data):
                    yield self._noted(rows)
            if self.source.fault is not None:
                # If a problem ends the reading, its exception is raised after the last rows.
                stream.end_in(self.source.fault)
            for rows in events.close():
                yield self._noted(rows)
            self._read = tuple(stream.problems), stream.lost

    def event_rows(
        self,
        *selectors: Selector,
        order: Order = "time",
        always: Iterable[Selector] = (),
        decode: bool = True,
        most: int = MOST_ROWS,
        filters: FilterOptions | None = None,
    ) -> Iterator[DecodedRows]:
        """The selected events as rows; `always` names kinds that pass every filter."""
        if most < 1:
            raise ValueError(f"rows must be positive, not {most!r}")
        selection = self.selection(selectors, Filters.of(filters or {}), always)
        return self.selected_rows(self.stream(order), selection, decode, most)

    def selected_rows(
        self, stream: Stream, selection: Selection, decode: bool = True, most: int = MOST_ROWS
    ) -> Iterator[DecodedRows]:
        """The same as `rows`, without reading a trace that is known to have none of them."""
        if not self.none_of(selection):
            yield from self.rows(stream, selection, decode, most)

    def code_rows(self, selection: Selection) -> Iterator[DecodedRows]:
        """The rows of events that name code, undecoded; after the last one it is known when tracing stopped."""
        if not self.none_of(selection):
            tracing, stream = TracingEnd(self.registry), self.stream()
            yield from self.rows(stream, selection, decode=False, tracing=tracing)
            self._note_end(tracing, stream)

    def class_bodies(self, selector: Selector) -> list[str]:
        """Class bodies to paste, one for each matching kind of event, as the trace describes it."""
        from clrevents.schema.describe import class_body

        selection = self.selection((selector,))
        stream = self.stream("file")
        for _ in self.rows(stream, selection, decode=False):
            pass
        cache = ClassCache(self.limits.learned)
        bodies = []
        for kind in stream.kinds.all:
            if selection.wants(kind) and not kind.undefined:
                fields = kind.row.fields
                ways = variants(fields, kind.key.provider)
                as_described = next(way for way in ways if not (way.small_booleans or way.decimals_as_doubles))
                layout = cache.layout(fields, as_described) if fields else None
                if layout is None and kind.info is not None:
                    layout = kind.info.layout
                bodies.append(class_body(kind.key.name, kind.key.provider, kind.key.id, kind.key.version, layout))
        return bodies

    @cached_property
    def async_stacks(self) -> AsyncStacks | None:
        """What ran on the threads, as the async profiler tells; None if the trace has nothing of it."""
        # Loaded on demand: most commands name no stacks.
        from clrevents.symbols.async_stacks import HEADERS, SELECTORS, AsyncStacks

        selection, known = self.selection(SELECTORS), self.async_known
        if known is None or not self._occur(selection):
            return None
        stacks = AsyncStacks(known.threads)
        with self.before_damage():
            for chunk in self.chunks(self.columns(selection, headers=HEADERS)):
                stacks.take(chunk)
        return stacks

    @cached_property
    def async_known(self) -> AsyncKnown | None:
        """From when to when async events are known; None if the async profiler was not recorded."""
        if not any(key.provider == ASYNC for key in self.scan(raising=False).counts):
            return None
        # Loaded on demand: few traces have them.
        from clrevents.trace.async_known import SELECTORS, AsyncHeads

        selection = self.selection(SELECTORS)
        if not self._occur(selection):
            return None
        heads = AsyncHeads()
        with self.before_damage():
            for rows in self.rows(self.stream("file"), selection, decode=False):
                heads.take(rows)
        return heads.known(self.scan(raising=False))

    # Passes over columns.

    def columns(
        self,
        selection: Selection,
        order: Order = "file",
        headers: Sequence[str] = (),
        fields: frozenset[str] | None = None,
        payloads: bool | Callable[[EventName], bool] = True,
        rows: int = _ROWS,
        stacks: bool = False,
    ) -> ColumnPass:
        """A pass that makes columns; nothing is read until `chunks`."""
        if rows < 1:
            raise ValueError(f"rows must be positive, not {rows!r}")
        return ColumnPass(
            self.stream(order),
            selection,
            self.duration_ns,
            headers=headers,
            fields=fields,
            payloads=payloads,
            stacks=stacks,
            rows=rows,
        )

    def chunks(self, columns: ColumnPass) -> Iterator[Chunk]:
        """Read the whole source, unless there is known to be nothing to find; exceptions get this trace's path."""
        if not self.none_of(columns.selection):
            with self._noting(columns.stream):
                yield from columns.chunks(self._windows(), lambda: self.source.fault)
                self._read = tuple(columns.stream.problems), columns.stream.lost
                if columns.tracing is not None:
                    self._note_end(columns.tracing, columns.stream)

    def table(
        self, selector: Selector, wanted: reading.Wanted, filters: Filters, order: Order, stacks: bool = False
    ) -> tuple[Table, reading.AddressStacks]:
        """All events of one kind, and the stacks that its `stack_id` names (none unless requested)."""
        selection = self.selection((selector,), filters)
        # Raise at once if the registry alone shows that a name means several events.
        selection.one_event()
        if self.none_of(selection):
            return next(self.tables(selector, wanted, filters, order), Table((), (), {})), reading.AddressStacks.of(())
        columns = self.columns(selection, order, wanted.headers, wanted.fields, stacks=stacks)
        chunks = list(self.chunks(columns))
        table = reading.read_table(columns, chunks, self.registry, wanted)
        return table, reading.AddressStacks.of([chunk.stacks for chunk in chunks])

    def tables(
        self,
        selector: Selector,
        wanted: reading.Wanted,
        filters: Filters | None = None,
        order: Order = "time",
        rows: int = _ROWS,
    ) -> Iterator[Table]:
        """The same in tables of at most `rows` rows, in bounded memory."""
        selection = self.selection((selector,), filters)
        event = self._one(selection)
        if event is None:
            return
        fields = wanted.choose(self.fields(event), event[1])
        columns = self.columns(selection, order, wanted.headers, wanted.fields, rows=rows)
        yield from reading.stream_table(self.chunks(columns), fields, wanted, self.facts_of(event))

    def table_chunks(
        self,
        *selectors: Selector,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        headers: tuple[str, ...] = EVENT_HEADERS,
        stacks: bool = True,
        rows: int = 1 << 16,
        order: Order = "time",
        filters: FilterOptions | None = None,
        only: Callable[[EventName], bool] | None = None,
        known: bool = False,
        observers: Sequence[Observer] = (),
    ) -> Iterator[reading.TableChunk]:
        """Everything of the selected events in one pass and in bounded memory.

        Per chunk, their tables as in `Trace.tables`, their headers as in `Trace.headers`, and their stacks (which cost
        a look at every stack block; without `stacks` there are none). `only` says which tables are wanted; the chunks
        are the same without the others. `known` is that of `Wanted`; `observers` see all events.
        """
        wanted = reading.Wanted((*DEFAULT_HEADERS,) if columns is None else tuple(columns), enum_names, known=known)
        reading.header_names(wanted.columns)
        by_event: dict[EventName, tuple[TableField, ...]] = {}

        def fields(event: EventName) -> tuple[TableField, ...]:
            if event not in by_event:
                by_event[event] = (*header_fields(wanted.headers), *self.fields(event, known))
            return by_event[event]

        both = tuple(dict.fromkeys((*wanted.headers, *headers)))
        selection = self.selection(selectors, Filters.of(filters or {}))
        pass_ = self.columns(selection, order, headers=both, payloads=only or True, rows=rows, stacks=stacks)
        pass_.observers = observers
        pass_.tracing = TracingEnd(self.registry) if self._stopped is None else None
        return table_chunks(self.chunks(pass_), fields, wanted, headers, lambda: pass_.stream.kinds.all)

    def named(self, *selectors: Selector) -> Sequence[EventName]:
        """The selected events of the trace, and others that the registry knows by a selected name."""
        scan = self.scan(raising=False)
        return list(self.selection(selectors).events(kind for kind in scan.kinds if kind.key in scan.counts))

    def schema(self, event: EventName, enum_names: bool = False, columns: Sequence[str] = DEFAULT_HEADERS) -> Table:
        """A table of one event without rows, with the columns and metadata of its tables; `columns` are the header
        columns."""
        fields = shown_fields((*header_fields(columns), *self.fields(event)), enum_names)
        return Table(fields, (), self.facts_of(event))

    def stacks(self) -> reading.AddressStacks:
        """The call stacks of all events; for a damaged trace, those before the damage."""
        columns = self.columns(self.selection(()), headers=(), payloads=False, stacks=True)
        parts = []
        with self.before_damage():
            for chunk in self.chunks(columns):
                parts.append(chunk.stacks)
        return reading.AddressStacks.of(parts)

    def stacks_and_headers(self, columns: tuple[str, ...], filters: FilterOptions) -> tuple[StackArrays, Table]:
        """The call stacks of the selected events, and their header columns in order of time, in one pass."""
        selection = self.selection((), Filters.of(filters))
        chunks = list(self.chunks(self.columns(selection, "time", columns, payloads=False, stacks=True)))
        return join([chunk.stacks for chunk in chunks]), reading.header_table(chunks, columns)

    @contextmanager
    def before_damage(self) -> Iterator[None]:
        """Keep what was gathered although the trace is damaged: reading events raises for the damage anyway."""
        try:
            yield
        except (DamageError, LimitError):
            if self.errors == "strict":
                raise

    def fields(self, event: EventName, known: bool = False) -> tuple[TableField, ...]:
        """The payload columns of one event, as its tables have them; `known` is that of `Wanted`."""
        columns = self._fields.get((event, known))
        if columns is None:
            decoder = PayloadDecoder(self.info.pointer_size, self.limits)
            kinds = self.scan(raising=False).kinds_of.get(event, ())
            columns = self._fields[event, known] = reading.event_fields(self.registry, event, kinds, decoder, known)
        return columns

    def facts_of(self, event: EventName) -> dict[str, str]:
        """The metadata of an event's tables."""
        scan = self.scan(raising=False)
        return reading.facts(event, self.registry, scan.kinds_of.get(event, ()), scan.lost, scan.problems.total)

    # The source, and the problems found.

    def _read_info(self) -> TraceInfo:
        stream = self.stream(errors="salvage")
        try:
            for data in self.source.windows(4096):
                stream.feed(data)
                if stream.info is not None:
                    return attrs.evolve(stream.info, path=self.source.path)
            stream.close()
        except UnreadableError:
            # More of it may tell better what it is: the end of a trace has blocks somewhere.
            for data in self.source.windows():
                self.stream(errors="salvage").feed(data)
                break
            raise
        if stream.info is None:
            raise UnreadableError("the file ends before the trace header", offset=self.source.size)
        return attrs.evolve(stream.info, path=self.source.path)

    @contextmanager
    def _noting(self, stream: Stream) -> Iterator[None]:
        """Add this trace's path to exceptions; keep the pass's problems and warn about them."""
        try:
            yield
        except TraceError as error:
            if not isinstance(error, LookupError):
                error.path = error.path or self.source.path
            raise
        finally:
            self.most_met = max(self.most_met, stream.problems.total)
            for problem in stream.problems.items:
                self._known_problems.add(problem)
            self._known_problems.warn_of_losses(tuple(stream.losses))
            self._meet(stream.kinds.all)

    def _meet(self, kinds: Sequence[EventKind]) -> None:
        if len(kinds) > len(self._kinds):
            self._kinds = kinds

    def _noted(self, rows: DecodedRows) -> DecodedRows:
        for problem in rows.problems:
            self._known_problems.add(problem)
        self._known_problems.warn_of_losses(rows.losses)
        return rows

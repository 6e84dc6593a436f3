"""`Trace`: a whole trace that can be asked questions, in any order, as often as one likes.

Composes source, decoder and registry. Every question is one pass in bounded memory; what only needs
headers shares one cached scan. Knows no analysis and prints nothing.
"""

from __future__ import annotations

import functools
import time as _time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar, overload

import attrs

from clrevents.decode.batch import Batch
from clrevents.decode.blocks import TraceInfo
from clrevents.decode.chunks import Chunk, ColumnReader
from clrevents.decode.clock import Clock
from clrevents.decode.decoder import Order, in_time_order
from clrevents.decode.event import Event
from clrevents.decode.headers import DEFAULT_HEADERS, EVENT_HEADERS
from clrevents.decode.kinds import EventKey
from clrevents.decode.losses import Loss
from clrevents.decode.payloads import PayloadReader, RawPayload
from clrevents.decode.reader import EventReader
from clrevents.decode.select import Filters, Selection, Selector, Threads, one_event
from clrevents.decode.shape import TableField, header_fields, shown_fields
from clrevents.decode.show import trace_html, trace_text
from clrevents.decode.source import Openable, Source, open_source
from clrevents.decode.stacks import join
from clrevents.decode.stream import Stream
from clrevents.decode.when import Moment, to_ns
from clrevents.errors import (
    DamageError,
    ErrorMode,
    LimitError,
    Limits,
    Problem,
    TraceError,
    UnreadableError,
)
from clrevents.schema.describe import class_body
from clrevents.schema.dynamic import ClassCache, variants
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.symbols.feed import CodeEvents, Feed
from clrevents.symbols.methods import Methods
from clrevents.table.batch import BatchTables
from clrevents.table.query import ask
from clrevents.table.read import (
    Run,
    Wanted,
    check_one,
    event_fields,
    facts,
    header_names,
    meant,
    named_by,
    read_headers,
    read_table,
    stream_runs,
    stream_table,
)
from clrevents.table.stacks import Stacks
from clrevents.table.table import Table
from clrevents.trace.names import Names
from clrevents.trace.report import KindReport, Report, ThreadInfo
from clrevents.trace.scan import HeaderScan, scan_headers
from clrevents.trace.warn import warn_caller

C = TypeVar("C")
Progress: TypeAlias = Callable[[int, int], Any]

_PROGRESS_SECONDS: Final = 0.1


class Trace:
    """A .NET trace. Made by `clrevents.open`; `with` is recommended, not required.

    Questions about the whole (`event_counts`, `threads`, `duration_ns`, `losses`) share one header scan that
    reads no payload; `events` decodes only what is selected. A Trace over a path pickles.
    """

    def __init__(
        self,
        source: Openable,
        *,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._errors: ErrorMode = errors
        self._limits = limits or Limits()
        self._registry = registry or DEFAULT
        self._progress = progress
        self._opened = source
        self._found: dict[tuple[object, ...], Problem] = {}
        self._found_of: Counter[str] = Counter()
        self._warned = False
        self._tables = BatchTables(self._registry, self._limits)
        self._scanned: HeaderScan | None = None
        self._stacks: Stacks | None = None
        self._names = Names(weakref.ref(self), self._again())
        # Checked before anything is opened.
        self._stream()
        self._source: Source = open_source(source, self._limits)
        try:
            self._info = self._read_info()
        except BaseException as error:
            if isinstance(error, TraceError):
                error.path = error.path or self._source.path
            self._source.close()
            raise

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of temporary copies; events and reports stay usable."""
        self._source.close()

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[Any, ...]]:
        if not self._by_path:
            raise TypeError("only a trace that was opened by its path can be pickled")
        return _reopen, (self._opened, self._errors, self._limits, self._registry)

    @property
    def _by_path(self) -> bool:
        return isinstance(self._opened, str) or hasattr(self._opened, "__fspath__")

    def _again(self) -> Callable[[], Trace] | None:
        """Opens the same trace once more; None for files and pipes of the caller's."""
        if not (self._by_path or isinstance(self._opened, bytes)):
            return None
        return functools.partial(_reopen, self._opened, self._errors, self._limits, self._registry)

    @property
    def info(self) -> TraceInfo:
        """What the header says; costs nothing."""
        return self._info

    @property
    def duration_ns(self) -> int:
        """From the session's start to its last event."""
        return self._scan().duration_ns

    @property
    def threads(self) -> tuple[ThreadInfo, ...]:
        """The threads that events are about, busiest first."""
        return self._scan().threads

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Events that were never written, by thread and time window."""
        return self._scan().losses

    @property
    def lost(self) -> int:
        """How many events were lost in all (exact also when `losses` is cut to `Limits.problems`)."""
        return self._scan().lost

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The container's problems, then those of payloads that were decoded so far. Never raises for damage."""
        scan = self._scan(raising=False)
        listed = {_identity(p) for p in scan.problems}
        return (*scan.problems, *(p for key, p in self._found.items() if key not in listed))

    @property
    def methods(self) -> Methods:
        """Names for addresses, as true at each time; the first use runs one pass over the trace.

        Of a trace that is damaged it knows what stands before the damage.
        """
        names = self._names
        if names.known is None:
            feed = Feed(self._limits)
            try:
                reader = self._reader(self._stream(), CodeEvents(self._registry), decode=False)
                for batch in self._batches(reader):
                    feed.take(batch)
            except (DamageError, LimitError):
                # Whoever reads events meets the damage too.
                if self._errors == "strict":
                    raise
            names.known = Methods(feed)
        return names.known

    @property
    def stacks(self) -> Stacks:
        """The call stacks that events name, by `stack_id`; the first use runs one pass over the trace.

        Of a trace that is damaged it knows what stands before the damage.
        """
        if self._stacks is None:
            reader = self._columns((), Filters(), "file", headers=(), payloads=False, stacks=True)
            parts = []
            try:
                for chunk in self._chunks(reader):
                    parts.append(chunk.stacks)
            except (DamageError, LimitError):
                # Whoever reads events meets the damage too.
                if self._errors == "strict":
                    raise
            self._stacks = Stacks(join(parts))
        return self._stacks

    def event_counts(self) -> dict[EventKey, int]:
        """How many events of each kind, most frequent first."""
        return dict(self._scan().counts)

    @overload
    def events(
        self,
        selector: type[C],
        /,
        *,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[Event[C]]: ...
    @overload
    def events(
        self,
        *selectors: Selector,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[Event[Any]]: ...
    def events(
        self,
        *selectors: Selector,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[Event[Any]]:
        """The selected events, all of them without a selector, in time order (or as they stand in the file).

        A selector is an event class, an `EventKey`, a name, an alias, `Provider/Event` or a glob. Times are
        half-open; see docs for what may be written. Raises UnknownEventError at the end for a name nobody knows.
        """
        batches = self.event_batches(
            *selectors,
            provider=provider,
            process_id=process_id,
            thread_id=thread_id,
            start=start,
            end=end,
            order=order,
        )
        return chain.from_iterable(batch.hand_out() for batch in batches)

    def event_batches(
        self,
        *selectors: Selector,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
        always: Iterable[Selector] = (),
        decode: bool = True,
    ) -> Iterator[Batch]:
        """The same events as `events`, in batches; `always` names kinds that pass every filter.

        Without `decode` each payload is a RawPayload with its bytes, and nothing is read from it.
        """
        filters = Filters.of(provider, process_id, thread_id, start, end)
        stream = self._stream(order)
        selection = Selection(selectors, filters, self._registry, always)
        return self._batches(self._reader(stream, selection, decode))

    def table(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        names: bool = False,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Table:
        """All events of one kind, every version of it, as typed columns.

        The columns are `time_ns`, `time`, `thread_id`, `stack_id` and the payload's fields, or those that
        `columns` names (see docs/tables.md); with `names` enums are text. The schema depends on the event alone:
        an event that the trace lacks is an empty table. AmbiguousEventError when the selector means several
        events, UnknownEventError when nobody knows it, KeyError for an unknown column. Rows whose payload does
        not fit its layout are left out and reported in `problems`.
        """
        filters = Filters.of(provider, process_id, thread_id, start, end)
        return self._table(selector, Wanted.of(columns, names), filters, order, stacks=False)[0]

    def table_and_stacks(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        names: bool = False,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> tuple[Table, Stacks]:
        """The same as `table`, and the stacks that its `stack_id` names, in one pass."""
        filters = Filters.of(provider, process_id, thread_id, start, end)
        return self._table(selector, Wanted.of(columns, names), filters, order, stacks=True)

    def _table(
        self, selector: Selector, wanted: Wanted, filters: Filters, order: Order, stacks: bool
    ) -> tuple[Table, Stacks]:
        check_one(selector, self._registry)
        reader = self._columns((selector,), filters, order, wanted.headers, wanted.fields, stacks=stacks)
        chunks = list(self._chunks(reader))
        table = read_table(reader, chunks, selector, self._registry, wanted)
        return table, Stacks(join([chunk.stacks for chunk in chunks]))

    def batches(
        self,
        selector: Selector,
        /,
        *,
        rows: int = 1 << 16,
        columns: Sequence[str] | None = None,
        names: bool = False,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[Table]:
        """The same as `table`, in tables of at most `rows` rows, in bounded memory. All have the same columns."""
        event = self.one_event(selector)
        wanted = Wanted.of(columns, names)
        filters = Filters.of(provider, process_id, thread_id, start, end)
        if event is None:
            return
        fields = wanted.choose(self._fields(event), event[1])
        reader = self._columns((selector,), filters, order, wanted.headers, wanted.fields, rows=rows)
        metadata = self._facts_of(event)
        yield from stream_table(self._chunks(reader), fields, wanted, metadata)

    def tables(
        self,
        *selectors: Selector,
        columns: Sequence[str] | None = None,
        names: bool = False,
        rows: int = 1 << 19,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[dict[tuple[str, str], Table]]:
        """Every selected event's columns in one pass: run by run, a table for each (provider, name) in it.

        The tables of one event fit together; `columns` can only name header columns, which go in front of the
        payload's fields.
        """
        runs = self._runs(
            selectors, columns, names, Filters.of(provider, process_id, thread_id, start, end), order, rows
        )
        return (run.tables for run in runs if run.tables)

    def runs(
        self,
        *selectors: Selector,
        columns: Sequence[str] | None = None,
        names: bool = False,
        stacks: bool = True,
        rows: int = 1 << 16,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Iterator[Run]:
        """Everything of the selected events in one pass and in bounded memory, for who writes it elsewhere.

        Run by run: their tables as `tables` has them, their headers as `headers` has them, and their stacks (which
        cost a look at every block of them; without `stacks` there are none).
        """
        filters = Filters.of(provider, process_id, thread_id, start, end)
        return self._runs(selectors, columns, names, filters, order, rows, EVENT_HEADERS, stacks=stacks)

    def _runs(
        self,
        selectors: tuple[Selector, ...],
        columns: Sequence[str] | None,
        names: bool,
        filters: Filters,
        order: Order,
        rows: int,
        headers: tuple[str, ...] = (),
        stacks: bool = False,
    ) -> Iterator[Run]:
        wanted = Wanted((*DEFAULT_HEADERS,) if columns is None else tuple(columns), names)
        header_names(wanted.columns)
        known: dict[tuple[str, str], tuple[TableField, ...]] = {}

        def fields(event: tuple[str, str]) -> tuple[TableField, ...]:
            if event not in known:
                known[event] = (*header_fields(wanted.headers), *self._fields(event))
            return known[event]

        both = tuple(dict.fromkeys((*wanted.headers, *headers)))
        reader = self._columns(selectors, filters, order, headers=both, rows=rows, stacks=stacks)
        yield from stream_runs(self._chunks(reader), fields, wanted, headers)

    def schemas(self, *selectors: Selector, names: bool = False) -> dict[tuple[str, str], Table]:
        """Tables without rows, by (provider, name): of all selected events, with columns and metadata as `table` has.

        A name that the registry knows has one also where the trace has no such event.
        """
        scan = self._scan(raising=False)
        events = meant(selectors, self._registry, [kind for kind in scan.kinds if kind.key in scan.counts])
        headers = header_fields(DEFAULT_HEADERS)
        return {
            event: Table(shown_fields((*headers, *self._fields(event)), names), (), self._facts_of(event))
            for event in events
        }

    def headers(
        self,
        *,
        columns: Sequence[str] | None = None,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
        order: Order = "time",
    ) -> Table:
        """One table of all events, without their payloads, which are not touched. KeyError for an unknown column."""
        wanted = header_names(columns)
        filters = Filters.of(provider, process_id, thread_id, start, end)
        reader = self._columns((), filters, order, headers=wanted, payloads=False)
        found = read_headers(self._chunks(reader), wanted)
        return Table(header_fields(wanted), tuple(part for table in found for part in table.parts), {})

    def query(self, sql: str) -> Any:
        """Ask in SQL, through duckdb; each event's name is a table. Returns duckdb's relation (`.df()`, `.pl()`, …).

        `trace.query("select Reason, count(*) from GCStart group by 1")`. `headers` is a table too. ImportError
        without duckdb.
        """
        return ask(sql, lambda name: self.headers() if name == "headers" else self.table(name))

    def check(self) -> Report:
        """Decode everything and account for every payload; reads on behind damage, never raises for it."""
        stream = Stream(errors="salvage", limits=self._limits, registry=self._registry, walk_stacks=True)
        reader = self._reader(stream, Selection((), Filters(), self._registry))
        tally: dict[EventKey, Counter[str]] = {}
        for batch in self._batches(reader):
            sizes = (batch.ends - batch.starts).tolist()
            for row, (kind, payload) in enumerate(zip(batch.kinds, batch.payloads, strict=True)):
                counts = tally.setdefault(kind.key, Counter())
                counts["payload_bytes"] += sizes[row]
                if not isinstance(payload, RawPayload):
                    counts["tail" if row in batch.tails else "exact"] += 1
                else:
                    counts["short" if row in batch.misfits else "unknown"] += 1
        return Report(
            info=self._info,
            complete=stream.complete,
            kinds={key: KindReport(**tally[key]) for key in sorted(tally)},
            problems=stream.problems.items,
            problem_counts=dict(stream.problems.counts),
            severities={str(kind): n for kind, n in stream.problems.severities.items()},
            losses=tuple(stream.losses),
            lost=stream.lost,
        )

    def class_bodies(self, selector: Selector) -> list[str]:
        """Class bodies to paste, one for each kind of event that is meant, as the trace describes it."""
        selection = Selection((selector,), Filters(), self._registry)
        stream = self._stream("file")
        for _ in self._batches(self._reader(stream, selection, decode=False)):
            pass
        cache = ClassCache(self._limits.learned)
        bodies = []
        for kind in stream.kinds.all:
            if selection.wants(kind) and not kind.undefined:
                fields = kind.row.fields
                layout = cache.layout(fields, variants(fields, kind.key.provider)[0]) if fields else None
                if layout is None and kind.info is not None:
                    layout = kind.info.layout
                bodies.append(class_body(kind.key.name, kind.key.provider, kind.key.id, kind.key.version, layout))
        return bodies

    def moment_ns(self, moment: Moment, what: str = "moment") -> int:
        """A moment as filters take it, in nanoseconds since the session started."""
        info = self._info
        return to_ns(moment, what, Clock(info.sync_qpc, info.frequency, info.start), lambda: self.duration_ns)

    def __repr__(self) -> str:
        return trace_text(self._info, self._scan(raising=False))

    def _repr_html_(self) -> str:
        return trace_html(self._info, self._scan(raising=False))

    def _stream(self, order: Order = "time") -> Stream:
        return Stream(
            errors=self._errors, limits=self._limits, registry=self._registry, in_time_order=in_time_order(order)
        )

    def _columns(
        self,
        selectors: tuple[Selector, ...],
        filters: Filters,
        order: Order,
        headers: Sequence[str],
        fields: frozenset[str] | None = None,
        payloads: bool = True,
        rows: int = 1 << 19,
        stacks: bool = False,
    ) -> ColumnReader:
        if rows < 1:
            raise ValueError(f"rows must be positive, not {rows!r}")
        return ColumnReader(
            self._stream(order),
            Selection(selectors, filters, self._registry),
            lambda: self.duration_ns,
            headers=headers,
            fields=fields,
            payloads=payloads,
            stacks=stacks,
            rows=rows,
        )

    def one_event(self, selector: Selector) -> tuple[str, str] | None:
        """(provider, name) of what a selector means; None for a pattern that nothing fits.

        AmbiguousEventError when it means several events, UnknownEventError when nobody knows it.
        """
        check_one(selector, self._registry)
        found = one_event(selector, self._registry, self._scan(raising=False).kinds)
        found = found or named_by(selector, self._registry)
        return next(iter(found)) if found else None

    def _fields(self, event: tuple[str, str]) -> tuple[TableField, ...]:
        """The payload columns of one event, as its tables have them."""
        reader = PayloadReader(self._info.pointer_size, self._limits)
        return event_fields(self._registry, event, self._scan(raising=False).kinds, reader)

    def _facts_of(self, event: tuple[str, str]) -> dict[str, str]:
        scan = self._scan(raising=False)
        return facts(event, self._registry, scan.kinds, scan.lost, scan.problems.total)

    def _chunks(self, reader: ColumnReader) -> Iterator[Chunk]:
        """Read the whole source; errors get this trace's path."""
        with self._noting(reader.stream):
            yield from reader.chunks(self._windows(), lambda: self._source.fault)

    @contextmanager
    def _noting(self, stream: Stream) -> Iterator[None]:
        """Errors get this trace's path; what came up in the pass is kept and warned of."""
        try:
            yield
        except TraceError as error:
            if not isinstance(error, LookupError):
                error.path = error.path or self._source.path
            raise
        finally:
            for problem in stream.problems.items:
                self._note(problem)
            self._warn_of(tuple(stream.losses))

    def _reader(self, stream: Stream, selection: Selection, decode: bool = True) -> EventReader:
        return EventReader(stream, selection, lambda: self.duration_ns, decode=decode)

    def _read_info(self) -> TraceInfo:
        stream = Stream(errors="salvage", limits=self._limits, registry=self._registry)
        for data in self._source.windows(4096):
            stream.feed(data)
            if stream.info is not None:
                return attrs.evolve(stream.info, path=self._source.path)
        stream.close()
        if stream.info is None:
            raise UnreadableError("the file ends before the trace's own header", offset=self._source.size)
        return attrs.evolve(stream.info, path=self._source.path)

    def _windows(self) -> Iterator[bytes]:
        """The source's bytes, telling `progress` at most ten times a second."""
        if self._progress is None:
            yield from self._source.windows()
            return
        done, total = 0, self._source.size
        told = _time.monotonic()
        for data in self._source.windows():
            yield data
            done += len(data)
            now = _time.monotonic()
            if now - told >= _PROGRESS_SECONDS:
                told = now
                self._progress(done, max(total, done))
        self._progress(done, max(total, done))

    def _batches(self, reader: EventReader) -> Iterator[Batch]:
        """Feed the whole source through a reader; errors get this trace's path."""
        with self._noting(reader.stream):
            for data in self._windows():
                for batch in reader.feed(data):
                    yield self._noted(batch)
            if self._source.fault is not None:
                # Where it ends the reading its error is raised behind the last batch.
                reader.stream.end_in(self._source.fault)
            for batch in reader.close():
                yield self._noted(batch)

    def _noted(self, batch: Batch) -> Batch:
        batch.resolver = self._names
        batch.tabler = self._tables
        for problem in batch.problems:
            self._note(problem)
        self._warn_of(batch.losses)
        return batch

    def _warn_of(self, losses: tuple[Loss, ...]) -> None:
        if losses:
            self._warn(f"{sum(loss.count for loss in losses):,} or more events were lost while recording")

    def _note(self, problem: Problem) -> None:
        key = _identity(problem)
        if key not in self._found and self._found_of[problem.severity] < self._limits.problems:
            self._found[key] = problem
            self._found_of[problem.severity] += 1
        if problem.severity == "damage":
            self._warn(f"the trace is damaged: {problem.message}")

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            path = f"{self._source.path}: " if self._source.path else ""
            warn_caller(f"{path}{text}")

    def _scan(self, raising: bool = True) -> HeaderScan:
        if self._scanned is None:
            scan = scan_headers(self._source, self._windows(), self._errors, self._limits, self._registry)
            for problem in scan.problems:
                if problem.severity == "damage":
                    self._warn(f"the trace is damaged: {problem.message}")
            if scan.lost:
                self._warn(f"{scan.lost:,} events were lost while recording")
            self._scanned = scan
        if raising and self._scanned.error is not None:
            raise self._scanned.error
        return self._scanned


def open(
    source: Openable,
    *,
    errors: ErrorMode = "report",
    limits: Limits | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Open a trace: a path (also `.gz`), bytes, or a binary file object.

    `errors`: "report" raises for damage only, after every sound event before it; "strict" also for a payload
    that does not fit; "salvage" never after the header. `progress(done_bytes, total)` is called at most ten
    times a second. Raises SourceError when it cannot be read, UnreadableError when it is no such trace.
    """
    return Trace(source, errors=errors, limits=limits, registry=registry, progress=progress)


def _reopen(source: Any, errors: ErrorMode, limits: Limits, registry: Registry) -> Trace:
    return Trace(source, errors=errors, limits=limits, registry=registry)


def _identity(problem: Problem) -> tuple[object, ...]:
    return problem.kind, problem.offset, problem.event, problem.field

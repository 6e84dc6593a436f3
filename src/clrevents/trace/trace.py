"""`Trace`: a whole trace that can be asked questions, in any order, as often as one likes.

What users call, and nothing else; the passes behind it are in `passes`. Every question is one pass in bounded
memory; what only needs headers shares one cached scan. Knows no analysis and prints nothing.
"""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from types import TracebackType
from typing import Any, TypeVar, Unpack, overload

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.payload.payload_decoder import RawPayload
from clrevents.decode.selection import EventName, FilterOptions, Filters, Selector
from clrevents.decode.stream.losses import Loss
from clrevents.errors import ErrorMode, Limits, Problem, TraceError
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.sources import Openable, open_source
from clrevents.symbols.feed import CodeEvents, Feed
from clrevents.symbols.methods import Methods
from clrevents.table.event_schema import header_fields
from clrevents.table.query import ask
from clrevents.table.read import Wanted, header_names, read_headers
from clrevents.table.table import Table
from clrevents.trace.batch import Batch
from clrevents.trace.batch_tables import BatchTables
from clrevents.trace.display import trace_html, trace_line, trace_text
from clrevents.trace.event import Event
from clrevents.trace.late_names import LateNames
from clrevents.trace.passes import Order, Passes, Progress
from clrevents.trace.report import KindReport, Report, ThreadInfo
from clrevents.trace.stacks import TraceStacks

C = TypeVar("C")


class Trace:
    """A .NET trace. Made by `clrevents.open`; `with` is recommended, not required.

    Questions about the whole (`event_counts`, `threads`, `duration_ns`, `losses`) share one header scan that
    reads no payload; `events` decodes only what is selected. A Trace over a path pickles.

    What selects events takes the same filters everywhere: `provider`, `process_id`, `thread_id` (one or several),
    `start` and `end` (half-open; see docs/tables.md for how times may be written).
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
        limits, registry = limits or Limits(), registry or DEFAULT
        self._opened = source
        self._tables = BatchTables(registry, limits)
        self._stacks: TraceStacks | None = None
        again = functools.partial(_methods_of, source, errors, limits, registry) if _reopens(source) else None
        self._names = LateNames(_asking(weakref.ref(self)), again)
        opened = open_source(source, limits)
        try:
            self._passes = Passes(opened, errors, limits, registry, progress)
        except BaseException as error:
            if isinstance(error, TraceError):
                error.path = error.path or opened.path
            opened.close()
            raise

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of temporary copies; events, tables and reports stay usable.

        What was copied to be read (gzip, a pipe, whatever cannot seek) is gone: a question that has to read it raises
        SourceError from then on. A plain file and bytes can still be asked; so can a file object, until the caller
        closes it, which is never done here.
        """
        self._passes.source.close()

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[Any, ...]]:
        if not _is_path(self._opened):
            raise TypeError("only a trace that was opened by its path can be pickled")
        return _reopen, (self._opened, self._passes.errors, self._passes.limits, self._passes.registry)

    @property
    def info(self) -> TraceInfo:
        """What the header says; costs nothing."""
        return self._passes.info

    @property
    def duration_ns(self) -> int:
        """From the session's start to its last event."""
        return self._passes.duration_ns()

    @property
    def threads(self) -> tuple[ThreadInfo, ...]:
        """The threads that events are about, busiest first."""
        return self._passes.scan().threads

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Events that were never written, by thread and time window."""
        return self._passes.scan().losses

    @property
    def lost(self) -> int:
        """How many events were lost in all (exact also when `losses` is cut to `Limits.problems`)."""
        return self._passes.scan().lost

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The container's problems, then those of payloads that were decoded so far. Never raises for damage."""
        return self._passes.problems

    @property
    def methods(self) -> Methods:
        """Names for addresses, as true at each time; the first use runs one pass over the trace.

        Of a trace that is damaged it knows what stands before the damage.
        """
        if self._names.known is None:
            passes = self._passes
            feed = Feed(passes.limits)
            with passes.before_damage():
                for rows in passes.rows(passes.stream(), CodeEvents(passes.registry), decode=False):
                    feed.take(rows)
            self._names.known = Methods(feed)
        return self._names.known

    @property
    def stacks(self) -> TraceStacks:
        """The call stacks that events name, by `stack_id`; the first use runs one pass over the trace.

        Of a trace that is damaged it knows what stands before the damage.
        """
        if self._stacks is None:
            self._stacks = TraceStacks(self._passes.stacks().arrays, self._names)
        return self._stacks

    def event_counts(self) -> dict[EventKey, int]:
        """How many events of each kind, most frequent first."""
        return dict(self._passes.scan().counts)

    @overload
    def events(
        self, selector: type[C], /, *, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Iterator[Event[C]]: ...
    @overload
    def events(
        self, *selectors: Selector, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Iterator[Event[Any]]: ...
    def events(
        self, *selectors: Selector, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Iterator[Event[Any]]:
        """The selected events, all of them without a selector, in time order (or as they stand in the file).

        A selector is an event class, an `EventKey`, a name, an alias, `Provider/Event` or a glob. Filters are those
        of the class. Raises UnknownEventError at the end for a name nobody knows.
        """
        rows = self._passes.event_rows(*selectors, order=order, filters=filters)
        # Each batch lives as long as its events do, and no longer.
        return chain.from_iterable(Batch(found, self._names, tables=self._tables).hand_out() for found in rows)

    def table(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Table:
        """All events of one kind, every version of it, as typed columns.

        The columns are `time_ns`, `time`, `thread_id`, `stack_id` and the payload's fields, or those that
        `columns` names (see docs/tables.md); with `enum_names` enums are text. The schema depends on the event alone:
        an event that the trace lacks is an empty table. AmbiguousEventError when the selector means several
        events, UnknownEventError when nobody knows it, KeyError for an unknown column. Rows whose payload does
        not fit its layout are left out and reported in `problems`.
        """
        wanted = Wanted.of(columns, enum_names)
        return self._passes.table(selector, wanted, Filters.of(filters), order)[0]

    def batches(
        self,
        selector: Selector,
        /,
        *,
        rows: int = 1 << 16,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Iterator[Table]:
        """The same as `table`, in tables of at most `rows` rows, in bounded memory. All have the same columns."""
        wanted = Wanted.of(columns, enum_names)
        return self._passes.tables(selector, wanted, Filters.of(filters), order, rows)

    def tables(
        self,
        *selectors: Selector,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        rows: int = 1 << 19,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Iterator[dict[EventName, Table]]:
        """Every selected event's columns in one pass: chunk by chunk, a table for each (provider, name) in it.

        The tables of one event fit together; `columns` can only name header columns, which go in front of the
        payload's fields.
        """
        chunks = self._passes.table_chunks(
            *selectors,
            columns=columns,
            enum_names=enum_names,
            headers=(),
            stacks=False,
            rows=rows,
            order=order,
            filters=filters,
        )
        return (chunk.tables for chunk in chunks if chunk.tables)

    def headers(
        self, *, columns: Sequence[str] | None = None, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Table:
        """One table of all events, without their payloads, which are not touched. KeyError for an unknown column."""
        passes, wanted = self._passes, header_names(columns)
        selection = passes.selection((), Filters.of(filters))
        chunks = passes.chunks(passes.columns(selection, order, headers=wanted, payloads=False))
        found = read_headers(chunks, wanted)
        return Table(header_fields(wanted), tuple(part for table in found for part in table.parts), {})

    def query(self, sql: str) -> Any:
        """Ask in SQL, through duckdb; each event's name is a table. Returns duckdb's relation (`.df()`, `.pl()`, …).

        `trace.query("select Reason, count(*) from GCStart group by 1")`. `headers` is a table too. ImportError
        without duckdb.
        """
        return ask(sql, lambda name: self.headers() if name == "headers" else self.table(name))

    def check(self) -> Report:
        """Decode everything and account for every payload; reads on after damage, never raises for it."""
        passes = self._passes
        stream = passes.stream(errors="salvage", walk_stacks=True)
        tally: dict[EventKey, Counter[str]] = {}
        for rows in passes.rows(stream, passes.selection(())):
            sizes, indexes = rows.sizes.tolist(), rows.kind_indexes.tolist()
            for row, (index, payload) in enumerate(zip(indexes, rows.payloads, strict=True)):
                counts = tally.setdefault(rows.kinds[index].key, Counter())
                counts["payload_bytes"] += sizes[row]
                if not isinstance(payload, RawPayload):
                    counts["tail" if row in rows.tails else "exact"] += 1
                else:
                    counts["short" if row in rows.misfits else "unknown"] += 1
        return Report(
            info=self.info,
            complete=stream.complete,
            kinds={key: KindReport(**tally[key]) for key in sorted(tally)},
            problems=stream.problems.items,
            problem_counts=dict(stream.problems.counts),
            severities={str(kind): n for kind, n in stream.problems.severities.items()},
            losses=tuple(stream.losses),
            lost=stream.lost,
        )

    def summary(self) -> str:
        """What the trace is and holds, as text for a terminal: reads all headers once."""
        return trace_text(self.info, self._passes.scan(raising=False))

    def __repr__(self) -> str:
        return trace_line(self.info)

    def _repr_html_(self) -> str:
        return trace_html(self.info, self._passes.scan(raising=False))


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
    times a second. Raises SourceError when it cannot be read, UnreadableError when it is not a .NET trace.
    """
    return Trace(source, errors=errors, limits=limits, registry=registry, progress=progress)


def passes_of(trace: Trace) -> Passes:
    """What the rooms of this package read a trace with."""
    return trace._passes


def _is_path(source: Openable) -> bool:
    return isinstance(source, str) or hasattr(source, "__fspath__")


def _reopens(source: Openable) -> bool:
    """Whether it can be opened once more: not so files and pipes of the caller's."""
    return _is_path(source) or isinstance(source, bytes)


def _reopen(source: Any, errors: ErrorMode, limits: Limits, registry: Registry) -> Trace:
    return Trace(source, errors=errors, limits=limits, registry=registry)


def _methods_of(source: Any, errors: ErrorMode, limits: Limits, registry: Registry) -> Methods:
    with _reopen(source, errors, limits, registry) as trace:
        return trace.methods


def _asking(trace: weakref.ref[Trace]) -> Callable[[], Methods | None]:
    """Asks a trace for its names, for as long as it is there."""

    def ask() -> Methods | None:
        found = trace()
        return None if found is None else found.methods

    return ask

"""`Trace`: a whole trace, which answers any number of queries in any order.

Holds only what users call; the passes themselves are in `passes`. Each query is one pass in bounded memory, and those
that only need headers share one cached scan. Knows no analysis and prints nothing.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, overload

import attrs

from clrevents._util.offered import offered
from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKey
from clrevents.decode.push_passes import MOST_ROWS, Observer
from clrevents.decode.selection import EventName, FilterOptions, Filters, Selector
from clrevents.decode.stream.losses import Loss
from clrevents.errors import ErrorMode, LimitError, Limits, Problem, TraceError
from clrevents.schema.own_marks import REDACTED
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.sources import Openable, open_source
from clrevents.table.read import Wanted, header_names, header_table
from clrevents.table.table import Listed, Table
from clrevents.trace.display import trace_html, trace_line, trace_text
from clrevents.trace.named_stacks import EARLY_NAMES, LateNames, Stacks
from clrevents.trace.passes import Order, Passes, Progress
from clrevents.trace.reported import Reported
from clrevents.trace.scan import ThreadInfo, nth_trace

if TYPE_CHECKING:
    # Events, names of code, SQL: most questions need none of them, and all take long to import.
    from clrevents.symbols.elf import Folders, SymbolFolders
    from clrevents.symbols.feed import Feed
    from clrevents.symbols.methods import Methods
    from clrevents.symbols.modules import Modules
    from clrevents.trace.batch import Batch
    from clrevents.trace.event import Event
    from clrevents.trace.sql_tables import QueryTables

C = TypeVar("C")

_WITH_PROCESSES: Final = 6
"""From this version of the format on, traces may list processes."""


PROCESS_EVENTS: Final = tuple(
    f"Universal.System/{name}" for name in ("ExistingProcess", "ProcessCreate", "ProcessExit")
)


@frozen
class ProcessLife:
    """One name of a process id."""

    process_id: int
    """The id, which processes may have one after the other."""
    name: str
    """The name, such as `dotnet`."""
    namespace: str
    """The name of its container; `Unknown` where the recorder knows none."""
    started_ns: int | None
    """When it had this name first, in nanoseconds since the session started; None if before that."""
    ended_ns: int | None
    """When it ended, or had another name; None if not before the recording ended."""
    own_id: int | None = None
    """The id that the process has inside its container, which others may have there, too; None if unknown."""


def process_lives(events: Iterable[Any]) -> tuple[ProcessLife, ...]:
    """Those of `PROCESS_EVENTS` in order of time, by the time of their beginning."""
    lives: list[ProcessLife] = []
    last: dict[int, int] = {}
    for event in events:
        process, payload = event.process_id, event.payload
        if process is None:
            continue
        place = last.pop(process, None)
        if place is not None:
            lives[place] = attrs.evolve(lives[place], ended_ns=event.time_ns)
        if payload is not None and event.name != "ProcessExit":
            started = None if event.name == "ExistingProcess" else event.time_ns
            last[process] = len(lives)
            try:
                name, namespace, own = str(payload.Name), str(payload.NamespaceName), int(payload.NamespaceId)
            except (AttributeError, TypeError, ValueError):
                # The trace's own description has other fields.
                name, namespace, own = "", "", 0
            lives.append(ProcessLife(process, name, namespace, started, None, own or None))
    return tuple(lives)


class Trace(Reported):
    """A .NET trace, opened by `clrevents.open`. Using it as a context manager is recommended, not required.

    `event_counts`, `threads`, `duration_ns` and `losses` share one scan of the headers, which reads no payload.
    `events` decodes only the selected events. A trace that was opened by its path can be pickled.

    These parameters mean the same in every method:

    * `selector`, `selectors`: an event class, an `EventKey`, a name, an alias, `Provider/Event` or a glob. Without
      a selector, all events are selected.
    * `filters`: the keywords of `FilterOptions`, which are `provider`, `process_id`, `thread_id`, `start` and `end`.
      An unknown or malformed one raises TypeError or ValueError at once.
    * `order`: "time" sorts by time, "file" keeps the order of the file. Raises ValueError for anything else.
    * `columns`: the names of the columns to make, in this order. None means the default ones.
    * `enum_names`: whether enums become text instead of numbers.
    * `rows`: the largest number of rows in one table, or of events in one batch. Raises ValueError unless positive.

    Methods that read the trace raise DamageError if it is damaged, unless it was opened with `errors="salvage"`, and
    LimitError if it exceeds `Limits`. Iterators first yield everything before that point. After `close`, methods that
    need to read raise SourceError.
    """

    def __init__(
        self,
        source: Openable,
        *,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        progress: Progress | bool | None = None,
        symbols: Folders = (),
        trace: int = 1,
    ) -> None:
        limits, registry = limits or Limits(), registry or DEFAULT
        self._folders = _folders_of(symbols)
        self._opened = source, errors, limits, registry, self._folders, trace
        self._stacks: Stacks | None = None
        self._databases: list[object] = []
        again = functools.partial(_methods_of, *self._opened) if _reopens(source) else None
        self._seen_code: Feed | None = None
        self._seen_modules: Feed | None = None
        self._names = LateNames(_asking(weakref.ref(self)), again)
        opened = open_source(source, limits)
        try:
            opened = nth_trace(opened, trace, limits)
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
        """Close the source and remove temporary copies. Events, tables and reports stay usable.

        Copies made for reading (of gzip, a pipe, anything that cannot seek) are removed, so methods that need them
        again raise SourceError. A plain file and bytes can still be read. So can a file object until the caller closes
        it; this method never does.
        """
        self._passes.source.close()

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[object, ...]]:
        if not _is_path(self._opened[0]):
            raise TypeError("only a trace opened by path can be pickled")
        return _reopen, self._opened

    @property
    def info(self) -> TraceInfo:
        """The contents of the trace's header, which is read on opening."""
        return self._passes.info

    @property
    def duration_ns(self) -> int:
        """Nanoseconds from the start of the session to its last event; 0 without events."""
        return self._passes.duration_ns()

    @property
    def threads(self) -> tuple[ThreadInfo, ...]:
        """The threads that events are about, busiest first."""
        return Listed(self._passes.scan().threads)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Events that were lost while recording, by thread and time window; at most `Limits.problems` of them."""
        return Listed(self._passes.scan().losses)

    @property
    def lost(self) -> int:
        """The number of lost events, which is exact even if `losses` is incomplete."""
        return self._passes.lost

    @property
    def redacted(self) -> bool:
        """Whether it is marked as a copy by `redact`, in which words replace the original texts."""
        return any((key.provider, key.name) == REDACTED.event for key in self._passes.scan().counts)

    @property
    def processes(self) -> tuple[ProcessLife, ...]:
        """The processes in a recording of the Linux recorder, with their names; empty for other recordings.

        Reads the trace once.
        """
        if self.info.version < _WITH_PROCESSES:
            return ()
        return process_lives(self.events(*PROCESS_EVENTS))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the container, then those of the payloads decoded so far. Never raises for damage."""
        return Listed(self._passes.problems)

    @property
    def methods(self) -> Methods:
        """The code loaded at each time, for resolving addresses. The first use reads the trace once.

        For a damaged trace, it covers the events before the damage.
        """
        if self._names.known is None:
            from clrevents.symbols.methods import Methods

            self._names.known = Methods(self._code(), self._folders)
        return self._names.known

    def _code(self, *wanted: Iterable[EventName]) -> Feed:
        """What events about code say, or only some of them."""
        from clrevents.symbols.feed import CodeEvents, Feed
        from clrevents.trace.early_names import early_code

        passes = self._passes
        feed = self._seen_modules if wanted else self._seen_code
        # More is added to what tells modules.
        self._seen_modules = None
        if feed is None:
            feed = Feed(passes.limits)
            with passes.before_damage():
                for rows in passes.code_rows(CodeEvents(passes.registry, *wanted)):
                    feed.take(rows)
        listed = f"{passes.info.path}{EARLY_NAMES}" if _is_path(self._opened[0]) else ""
        if not feed.complete and os.path.isfile(listed):
            for rows in early_code(listed, passes.info, passes.limits, passes.registry):
                feed.take(rows)
        return feed

    @property
    def stacks(self) -> Stacks:
        """The call stacks of all events, by `stack_id`. The first use reads the trace once.

        For a damaged trace, it covers the events before the damage.
        """
        if self._stacks is None:
            self._stacks = Stacks(self._passes.stacks().arrays, self._names)
        return self._stacks

    def event_counts(self) -> dict[EventKey, int]:
        """The number of events of each kind, most frequent first."""
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
        """Iterate over the selected events.

        Uses bounded memory, however long the trace is. Raises UnknownEventError at the end if a selector is a name that
        neither the registry nor the trace knows. With `errors="strict"` a payload that does not fit its layout
        raises PayloadError; otherwise the event has a `RawPayload` and is reported in `problems`.
        """
        from clrevents.trace.batch import hand_out

        return chain.from_iterable(map(hand_out, self.batches(*selectors, order=order, **filters)))

    def batches(
        self, *selectors: Selector, rows: int = MOST_ROWS, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Iterator[Batch]:
        """The events of `events`, in batches of at most `rows` events each, as a `Decoder` gives them.

        Uses bounded memory and raises what `events` raises.
        """
        from clrevents.trace.batch import Batch, BatchTables

        passed = self._passes.event_rows(*selectors, order=order, most=rows, filters=filters)
        tables = BatchTables(self._passes.registry, self._passes.limits)
        return (Batch(part, self._names, tables) for part in passed)

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
        """All selected events of one name, in all their versions, as typed columns.

        The default columns are `time_ns`, `time`, `thread_id`, `stack_id` and the payload's fields. The schema does
        not depend on which rows there are: an event missing from the trace gives an empty table. Events whose payload
        does not fit its layout are left out and reported in `problems`. Raises AmbiguousEventError if the selector
        means several events, UnknownEventError if neither the registry nor the trace knows the name, and
        KeyError for an unknown column.
        """
        wanted = Wanted.of(columns, enum_names)
        return self._passes.table(selector, wanted, Filters.of(filters), order)[0]

    def table_parts(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        rows: int = 1 << 16,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Iterator[Table]:
        """The rows of `table`, in tables of at most `rows` rows each, in bounded memory.

        All of them have the same columns; without any event there is one table without rows. Raises what `table`
        raises, in some cases only when the first table is requested.
        """
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
        """Tables of all selected events in one pass: for each chunk, one table per (provider, name) in it.

        The tables of a chunk have at most `rows` rows in total. All tables of one event have the same columns.
        `columns` selects header columns only; the payload's fields follow them. Raises KeyError for an unknown column.
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
        """The headers of all events that pass the filters, as one table; payloads are not read.

        Raises KeyError for an unknown column.
        """
        passes, wanted = self._passes, header_names(columns)
        selection = passes.selection((), Filters.of(filters))
        chunks = passes.chunks(passes.columns(selection, order, headers=wanted, payloads=False))
        return header_table(chunks, wanted)

    def query(self, sql: str, *, files: bool = False, process_id: int | None = None) -> Any:
        """Run the SQL query `sql` with duckdb and return its relation, which has `.df()`, `.pl()` and more.

        Each event's name is a table: `trace.query("select Reason, count(*) from GCStart group by 1")`. So are
        `headers`, `samples`, `frames` and more; SHOW TABLES lists all (see docs/query.md). Only tables
        named in the query are read. With `process_id`, tables have rows of that process only, except `stacks`.
        Statements without a result return None or a relation without rows.

        Raises PermissionError for SQL that accesses files or changes settings unless `files` is true,
        UnknownEventError for a table that does not exist, AmbiguousEventError for one that may mean several events,
        duckdb's own exceptions for invalid SQL, and ImportError unless duckdb is installed.
        """
        from clrevents.table.query import ask

        tables = tables_in_sql(self, process_id)
        return ask(sql, tables.table, tables.unknown, files, self._databases)

    def summary(self) -> str:
        """The header, the duration, losses and damage, and the most frequent events, as text for a terminal.

        Scans all headers unless that was already done. Never raises for damage.
        """
        return trace_text(self.info, self._passes.scan(raising=False))

    def __repr__(self) -> str:
        return trace_line(self.info)

    def _repr_html_(self) -> str:
        return trace_html(self.info, self._passes.scan(raising=False))


def sample_trace() -> str:
    """The path of a small trace that ships with the package: `clrevents.open(clrevents.sample_trace())`.

    A .NET 10 program of 1.4 seconds in which four threads wait for one lock; `docs/tutorial.md` is about it.
    """
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), "sample.nettrace.gz")


def open(
    source: Openable,
    *,
    errors: ErrorMode = "report",
    limits: Limits | None = None,
    registry: Registry | None = None,
    progress: Progress | bool | None = None,
    symbols: Folders = (),
    trace: int = 1,
) -> Trace:
    """Open a trace and read its header.

    `source` is a path, bytes, a binary file object, or a URL for fsspec, which fetches each byte at most once; gzip is
    recognized. `errors` selects what raises:

    * `"report"`: damage to the container, after every sound event before it. Payloads that do not fit their layout
      become `RawPayload` and are reported in `Trace.problems`.
    * `"strict"`: also a payload that does not fit its layout.
    * `"salvage"`: nothing after the header. Damaged parts are skipped and reported.

    `limits` bounds what may be demanded by a hostile file, `registry` holds the event classes (by default all built-in
    and registered ones). `progress(done_bytes, total_bytes)` is called at most ten times a second in each pass; with
    `progress=True` a pass that takes longer than a second draws a bar, in a notebook or on a terminal's stderr.
    `symbols` is a folder, or several, with ELF files or their debug files, for names of native code that a Linux
    recording does not have (see docs/linux.md). `trace` is the number of the trace to read, where a file holds several
    one after the other; those before it are read to find it.

    Raises SourceError if the source cannot be read or has no such trace, UnreadableError if it is not a .NET trace,
    ValueError for unknown `errors`, a `trace` below 1 or `symbols` that are no folder, and ImportError for a URL or
    `symbols` without the package that reads them.
    """
    return Trace(
        source, errors=errors, limits=limits, registry=registry, progress=progress, symbols=symbols, trace=trace
    )


@contextmanager
def seeing_code(trace: Trace, wanted: bool, modules: bool) -> Iterator[tuple[Observer, ...]]:
    """What has to observe a pass over all events, if names are `wanted`, or those of `modules` alone, so that these
    take no pass of their own.

    If the pass ends early, or there is too much code, names are read as if it had not been.
    """
    if not (wanted or modules) or trace._names.known is not None or trace._seen_code is not None:
        yield ()
        return
    from clrevents.symbols.feed import COMPLETE, MODULES, CodeEvents, Feed

    passes = trace._passes
    feed, too_many = Feed(passes.limits), list[LimitError]()

    def take(rows: DecodedRows) -> None:
        try:
            if not too_many:
                feed.take(rows)
        except LimitError as error:
            too_many.append(error)

    only = () if wanted else ((*MODULES, *COMPLETE),)
    yield (Observer(CodeEvents(passes.registry, *only), take),)
    if feed.taken and not too_many:
        setattr(trace, "_seen_code" if wanted else "_seen_modules", feed)


def modules_of(trace: Trace) -> Modules:
    """The modules of a trace, for less than all of its code if nobody has asked for that."""
    from clrevents.symbols.feed import COMPLETE, MODULES
    from clrevents.symbols.modules import Modules

    known = trace._names.known if trace._seen_code is None else trace.methods
    return Modules(trace._code((*MODULES, *COMPLETE))) if known is None else known.modules


def passes_of(trace: Trace) -> Passes:
    """The passes over a trace, for other parts of this package."""
    return trace._passes


def tables_in_sql(trace: Trace, process_id: int | None = None) -> QueryTables:
    """The tables of a trace that SQL can name, or of one of its processes, for other parts of this package."""
    from clrevents.trace.sql_tables import (
        HEADERS_IN_SQL,
        OF_FRAMES,
        QueryTables,
        frames_table,
        methods_table,
        stacks_table,
        threads_table,
    )

    filters: FilterOptions = {"process_id": process_id}

    def frames() -> Table:
        # The pass for methods leaves out what the scan knows to be absent.
        passes_of(trace).scan(raising=False)
        return frames_table(trace.methods, *passes_of(trace).stacks_and_headers(OF_FRAMES, filters))

    def samples() -> Table:
        read = offered("read_samples")(trace)
        table: Table = (read if process_id is None else read.of_process(process_id)).table()
        return table

    whole = {
        "headers": lambda: trace.headers(columns=HEADERS_IN_SQL, **filters),
        "threads": lambda: threads_table([t for t in trace.threads if process_id in (None, t.process_id)]),
        "methods": lambda: methods_table([m for m in trace.methods if process_id in (None, m.process_id)]),
        "stacks": lambda: stacks_table(trace.stacks.arrays),
        "frames": frames,
        "samples": samples,
        "top_methods": lambda: trace.report("top", process_id=process_id).methods.table,
        "thread_times": lambda: trace.report("threads", process_id=process_id).threads.table,
    }
    return QueryTables(passes_of(trace), whole, process_id)


def _folders_of(symbols: Folders) -> SymbolFolders | None:
    if symbols == ():
        return None
    from clrevents.symbols.elf import folders_of

    return folders_of(symbols)


def _is_path(source: Openable) -> bool:
    return isinstance(source, str) or hasattr(source, "__fspath__")


def _reopens(source: Openable) -> bool:
    """Whether it can be opened again; a caller's file object or pipe cannot."""
    return _is_path(source) or isinstance(source, bytes)


def _reopen(
    source: Any, errors: ErrorMode, limits: Limits, registry: Registry, folders: SymbolFolders | None, number: int
) -> Trace:
    symbols = () if folders is None else folders.folders
    return Trace(source, errors=errors, limits=limits, registry=registry, symbols=symbols, trace=number)


def _methods_of(*opened: Any) -> Methods:
    with _reopen(*opened) as trace:
        return trace.methods


def _asking(trace: weakref.ref[Trace]) -> Callable[[], Methods | None]:
    """Returns the trace's names as long as the trace exists."""

    def ask() -> Methods | None:
        methods = trace()
        return None if methods is None else methods.methods

    return ask

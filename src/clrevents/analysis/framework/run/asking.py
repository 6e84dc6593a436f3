"""Asks a trace, or a decoder, for reports by name: one pass for all of them.

A report is a module or package of `clrevents.analysis.reports`, whose `REPORT` is its declaration. Joins passes of
`trace` with one reading of reports. If a trace is broken, the error carries the answers so far.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, Unpack

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import define
from clrevents._util.words import unknown
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import AnyReport, ReportDeclaration, WindowOptions, parameters_of
from clrevents.analysis.framework.model.needs import (
    KindsOfProcesses,
    SeenKind,
    SeenKinds,
    holes_of,
    stack_holes,
    trace_holes,
)
from clrevents.analysis.framework.run.listing import ROOM
from clrevents.analysis.framework.run.listing import report_names as report_names
from clrevents.analysis.framework.run.report_reading import (
    PROCESSES,
    Asked,
    HoleQueue,
    ReadingEnd,
    ReportReading,
    busiest_processes,
    kinds_of_processes,
    patient,
)
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, TimeWindow
from clrevents.analysis.gathering.groups import Gathered, near_ns
from clrevents.errors import TraceError
from clrevents.table.read import AddressStacks, TableChunk, stacks_of_bytes
from clrevents.table.table import Table, header_fields
from clrevents.trace import (
    Batch,
    DecodedRows,
    Decoder,
    StreamTables,
    Trace,
    TraceInfo,
    modules_of,
    observe,
    pass_of,
    passes_of,
    rows_of,
    seeing_code,
    stream_moment,
    tables_of,
)

if TYPE_CHECKING:
    from clrevents.symbols.async_stacks import AsyncStacks
    from clrevents.symbols.methods import Methods
    from clrevents.symbols.modules import Modules


_ROWS: Final = 1 << 16


Cut: TypeAlias = Callable[[Iterator[TableChunk]], Iterable[TableChunk]]
"""Cuts chunks differently; no answer depends on how."""


def ask(trace: Trace, asked: Sequence[Asked], options: WindowOptions, cut: Cut = iter) -> dict[str, Answer[object]]:
    """The answers of these reports, from one pass over the trace.

    A TraceError that ends the reading has the answers so far as `report`, by name.
    """
    passes = passes_of(trace)
    window = trace_window(trace, options)
    headers: tuple[str, ...] = ()

    def nothing(selector: str) -> Gathered:
        event = passes.one_event(patient(selector))
        fields = passes.fields(event, known=True) if event is not None else ()
        return Gathered.empty(event, Table((*header_fields(headers), *fields)))

    events = {}

    def one_event(selector: str) -> tuple[str, str] | None:
        if selector not in events:
            events[selector] = passes.one_event(patient(selector))
        return events[selector]

    reading = ReportReading(asked, one_event, nothing, options.get("process_id"))
    if reading.selectors and options.get("process_id") is None:
        reading.busiest = busiest_processes(trace, reading.selectors, PROCESSES)
    headers = reading.headers(trace.info)
    reading.awaits = lambda: passes.async_stacks
    holes = HoleQueue(trace_holes(trace))
    stacks: list[Any] = []
    error: TraceError | None = None
    try:
        if reading.selectors:
            with seeing_code(trace, reading.stacks) as observers:
                chunks = passes.table_chunks(
                    *reading.selectors,
                    columns=headers,
                    headers=("time_ns",),
                    stacks=reading.stacks,
                    rows=_ROWS,
                    known=True,
                    observers=observers,
                )
                for chunk in cut(chunks):
                    stacks.append(chunk.stacks)
                    ended = holes.until(int(chunk.headers["time_ns"][-1])) if len(chunk.headers) else []
                    reading.take(chunk, ended, trace.info, window)
    except TraceError as broken:
        error = broken
    answers = reading.finish(_known(trace, _TraceNames(trace, stacks)), window, holes.rest())
    if error is not None:
        error.report = answers
        raise error
    return answers


def trace_window(trace: Trace, options: WindowOptions) -> TimeWindow:
    """The window that the options mean. TypeError for an unknown option, TypeError or ValueError for a bad moment."""
    _check_options(options)
    return TimeWindow.between(options.get("start"), options.get("end"), passes_of(trace).moment_ns)


def _check_options(options: WindowOptions) -> None:
    for name in options:
        if name not in WindowOptions.__annotations__:
            known = ", ".join(WindowOptions.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; a report takes {known}")


def _damaged(read: Any) -> int:
    """Places that are damaged, of what was read of a trace or a stream; what is only missing at its end is not."""
    return 0 if read.missing else read.problems.severities["damage"]


@define(eq=False, slots=False)
class _TraceNames:
    """Names of code and stacks, on demand."""

    trace: Trace
    parts: list[Any]

    @property
    def methods(self) -> Methods:
        return self.trace.methods

    @cached_property
    def modules(self) -> Modules:
        return modules_of(self.trace)

    @cached_property
    def stacks(self) -> AddressStacks:
        stacks = AddressStacks.of(self.parts)
        # Not both: stacks may be a third of a trace.
        self.parts.clear()
        return stacks

    @property
    def awaits(self) -> AsyncStacks | None:
        return passes_of(self.trace).async_stacks


def _known(trace: Trace, names: _TraceNames) -> ReadingEnd:
    scan = passes_of(trace).scan(raising=False)
    return ReadingEnd(
        trace.info,
        scan.duration_ns,
        kinds_of_processes(trace),
        trace_holes(trace),
        stack_holes(scan.stackless),
        _damaged(scan),
        scan.complete,
        FOREVER if scan.complete else near_ns(scan.known_ns),
        names,
        {t.thread_id: t.name for t in scan.threads if t.name},
        passes_of(trace).stopped_ns,
    )


class ReportFeed(Summary):
    """Reports about a stream: have it `observe` a decoder, or give a decoder its `selectors` and pass on the batches;
    and call `finish` at the end.

    Memory is bounded by what the answers contain, not by the stream. Names are those that the decoder knows at the end:
    create it with `symbols=True`. The options are those of a report on a whole trace; a moment in percent raises
    ValueError when the first batch comes.
    """

    def __init__(self, asked: Sequence[Asked], options: WindowOptions | None = None) -> None:
        options = options or {}
        _check_options(options)
        self._names = ", ".join(one.declaration.name for one in asked)
        self._reading = ReportReading(asked, self._one_event, self._nothing, options.get("process_id"))
        self._moments = options.get("start"), options.get("end")
        self._window: TimeWindow | None = None
        self._events: dict[str, tuple[str, str]] = {}
        self._tables: StreamTables | None = None
        self._kinds: Sequence[Any] = ()
        self._holes = HoleQueue()
        self._stacks: dict[int, bytes] = {}
        self._given = [0, 0]

    def __repr__(self) -> str:
        return f"<ReportFeed of {self._names}>"

    @property
    def selectors(self) -> tuple[str, ...]:
        """What the decoder has to select: every event that any of the reports wants."""
        return self._reading.selectors

    def observe(self, decoder: Decoder) -> None:
        """Take from a decoder every event that the reports want, whatever events that selects; instead of `take`."""
        observe(decoder, self.selectors, partial(self._take, decoder))

    def take(self, decoder: Decoder, batches: Iterable[Batch]) -> None:
        """Take the next batches of a decoder, in its order."""
        for batch in batches:
            self._take(decoder, rows_of(batch))

    def _take(self, decoder: Decoder, rows: DecodedRows) -> None:
        info = self._see(decoder)
        assert self._tables is not None
        chunk = self._tables.chunk(rows)
        if self._reading.stacks:
            self._stacks.update(rows.stack_bytes)
        ended = self._holes.until(int(chunk.headers["time_ns"][-1])) if len(chunk.headers) else []
        self._reading.take(chunk, ended, info, self._asked_window(decoder))

    def so_far(self, decoder: Decoder) -> dict[str, Answer[object]]:
        """The answers as if the stream ended here; the feed goes on. This copies everything that the answers hold so
        far.

        Raises ValueError if the decoder has not seen a trace header.
        """
        return copy.deepcopy(self).finish(decoder)

    def finish(self, decoder: Decoder) -> dict[str, Answer[object]]:
        """The answers, by the reports' names. Call it once, after `close`. Raises ValueError if the decoder has not
        seen a trace header."""
        info, reading = self._see(decoder), pass_of(decoder)
        stream = reading.stream
        window = self._asked_window(decoder)
        occurred = [(info.process_id if p is None else p, SeenKind.of(kind)) for p, kind in reading.occurred]
        several = len({process for process, _ in occurred} - {None}) > 1
        kinds = (
            KindsOfProcesses.of(occurred) if several else KindsOfProcesses(SeenKinds.of((k for _, k in occurred), info))
        )
        holes = holes_of(stream.losses, stream.destroyed, stream.lost, stream.missing)
        names = _StreamNames(decoder, self._stacks, info.pointer_size)
        rows = stream.threads.all
        threads = {row.thread_id: row.name for row in rows if row.name and row.thread_id is not None}
        known = reading.known_ns
        reached = ReadingEnd(
            info,
            reading.duration_ns,
            kinds,
            holes,
            stack_holes(stream.stackless),
            _damaged(stream),
            stream.complete,
            FOREVER if known is None else near_ns(known),
            names,
            threads,
            lambda: reading.stopped_ns,
        )
        return self._reading.finish(reached, window, self._holes.rest())

    def _asked_window(self, decoder: Decoder) -> TimeWindow:
        """The window, once the trace's clock is known."""
        if self._window is None:
            self._window = TimeWindow.between(*self._moments, partial(stream_moment, decoder))
        return self._window

    def _see(self, decoder: Decoder) -> TraceInfo:
        """Take note of the header, and of what is missing since the last time."""
        info, stream = decoder.info, pass_of(decoder).stream
        if info is None:
            raise ValueError("the decoder has not seen a trace header yet")
        if self._tables is None:
            self._tables = tables_of(decoder, self._reading.names, self._reading.headers(info))
        self._kinds = stream.kinds.all
        losses, destroyed = stream.losses[self._given[0] :], stream.destroyed[self._given[1] :]
        self._given = [len(stream.losses), len(stream.destroyed)]
        self._holes.add(holes_of(losses, destroyed, 0, 0))
        return info

    def _one_event(self, selector: str) -> tuple[str, str] | None:
        known = self._events.get(selector)
        if known is None and self._tables is not None:
            known = self._tables.one_event(selector)
            if known is not None:
                self._events[selector] = known
        return known

    def _nothing(self, selector: str) -> Gathered:
        assert self._tables is not None
        return Gathered.empty(*self._tables.nothing(selector, self._kinds))


@define(eq=False, slots=False)
class _StreamNames:
    """Names of code and stacks, as far as a decoder knows them."""

    decoder: Decoder
    stack_bytes: dict[int, bytes]
    pointer_size: int

    @cached_property
    def methods(self) -> Methods:
        try:
            return self.decoder.methods
        except ValueError:
            from clrevents.symbols.methods import no_methods

            return no_methods()

    @property
    def modules(self) -> Modules:
        return self.methods.modules

    @cached_property
    def stacks(self) -> AddressStacks:
        return stacks_of_bytes(self.stack_bytes, self.pointer_size)

    @property
    def awaits(self) -> AsyncStacks | None:
        """Of a stream, nothing is known of what a thread has not written yet."""
        return None


P = TypeVar("P")
A = TypeVar("A", bound=Answer[object])


def find_report(report: str | type[Any]) -> AnyReport:
    """The declaration of a report, by its name or the class of its answer. Raises ValueError if there is none."""
    name = report if isinstance(report, str) else getattr(report, "name", repr(report))
    if name not in report_names():
        raise ValueError(unknown("report", name, report_names()))
    declaration: AnyReport = importlib.import_module(f"{ROOM}.{name}").REPORT
    return declaration


def report_of(trace: Trace, report: str | type[Any], window: WindowOptions, parameters: Mapping[str, Any]) -> Any:
    """What `Trace.report` returns: the answer of the report with this name, or with this class of answers."""
    declared = find_report(report)
    given = declared.parameters(**parameters)
    for parameter in parameters_of(declared.parameters):
        if parameter.selector and (selector := getattr(given, parameter.name)) is not None:
            # At once, and not only when events of several names were read.
            passes_of(trace).one_event(selector)
    return ask_one(trace, declared, given, window)


def ask_one(trace: Trace, declaration: ReportDeclaration[P, A], parameters: P, window: WindowOptions) -> A:
    """The answer of one report. A TraceError that ends the reading has the answer so far as `report`."""
    try:
        answers = ask(trace, [Asked(declaration, parameters)], window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = error.report[declaration.name]
        raise
    answer: A = answers[declaration.name]  # type: ignore[assignment]
    return answer


def reports_of(trace: Trace, names: Sequence[str], window: WindowOptions) -> dict[str, Answer[object]]:
    """What `Trace.reports` returns: the answers of these reports (without names, of all), by name."""
    return ask(trace, _asked(names), window)


def feed_reports(*names: str, **window: Unpack[WindowOptions]) -> ReportFeed:
    """Several reports (all of them, unless `names` says which) about the batches of a `Decoder`.

    The window is as in `Trace.reports`. Raises ValueError for an unknown name and, with the first batch, for a moment
    in percent.
    """
    return ReportFeed(_asked(names), window)


def _asked(names: Sequence[str]) -> list[Asked]:
    declared = map(find_report, dict.fromkeys(names or report_names()))
    return [Asked(one, one.parameters()) for one in declared]

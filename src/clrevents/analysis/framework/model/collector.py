"""What the author of a report writes, `Collector`, and what it is given: chunks in order of time, then a context.

A collector sees all events of one process in order, in chunks cut anywhere; its answer must not depend on where. Names
of methods, stacks, the window and all holes come at the end, in the `Context`. `Kept` keeps columns until then, so it
is for kinds with thousands of events, or for few columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from operator import mul
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, CellRanges
from clrevents.analysis.framework.model.needs import (
    NEVER,
    Hole,
    Marks,
    Need,
    SeenKinds,
    Troubles,
    coverage,
    met,
    missing_notes,
    recordable,
)
from clrevents.analysis.framework.vocabulary.answer_values import (
    ALWAYS,
    CODE,
    FOREVER,
    MANY_PROCESSES,
    MISSING,
    Evidence,
    InPart,
    JoinedRun,
    Metric,
    MetricDeclaration,
    Note,
    Question,
    TimeWindow,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, as_columns, columns_of, shape_of
from clrevents.analysis.gathering.groups import Array, Gathered, near_ns
from clrevents.table.read import AddressStacks
from clrevents.table.table import Column, ColumnType, Table
from clrevents.trace import TraceInfo

if TYPE_CHECKING:
    from clrevents.symbols.async_stacks import AsyncStacks
    from clrevents.symbols.frame_tables import ResolvedStacks
    from clrevents.symbols.methods import Methods
    from clrevents.symbols.modules import Modules


_NOBODY: Final = (1 << 64) - 1
"""No thread has this number."""

_UNRECORDED: Final = "not recorded"
_WHOLE: Final = TimeWindow()

R = TypeVar("R")
T = TypeVar("T", bound=Answer[object])
A_co = TypeVar("A_co", bound=Answer[object], covariant=True)


@frozen(eq=False)
class ReportChunk:
    """Consecutive events of one process, as columns by the collector's own selectors, in order of time.

    A selector without events here is not in `events`. `holes` are those that ended since the previous chunk. `window`
    is the requested one, so sums need not wait until the end; events outside it come, too.
    """

    events: Mapping[str, Gathered]
    holes: tuple[Hole, ...] = ()
    window: TimeWindow = _WHOLE
    awaits: Callable[[], AsyncStacks | None] = lambda: None
    """What ran on the threads, for answers that do not keep the times of events."""

    def __len__(self) -> int:
        return sum(map(len, self.events.values()))


@define(eq=False, slots=False)
class ReadingNames:
    """What a context asks after the last event was read: names of code and stacks, each found when it is asked for."""

    find_methods: Callable[[], Methods]
    find_modules: Callable[[], Modules]
    find_stacks: Callable[[], AddressStacks]
    find_awaits: Callable[[], AsyncStacks | None]

    @cached_property
    def methods(self) -> Methods:
        return self.find_methods()

    @cached_property
    def modules(self) -> Modules:
        return self.find_modules()

    @cached_property
    def stacks(self) -> AddressStacks:
        return self.find_stacks()

    @cached_property
    def awaits(self) -> AsyncStacks | None:
        return self.find_awaits()


@frozen(eq=False, slots=False)
class Context:
    """Everything known after the last event was read."""

    question: Question
    process_id: int | None
    info: TraceInfo
    duration_ns: int
    """To the very last event, including those written after tracing stopped."""
    needs: tuple[Need, ...]
    metrics: tuple[MetricDeclaration, ...]
    in_part: Mapping[str, InPart]
    kinds: SeenKinds
    troubles: Troubles
    nothing: Callable[[str], Gathered]
    """The columns of a selector's event, without a row; only header columns if neither the registry nor the trace knows
    it."""
    names: ReadingNames
    thread_names: Mapping[int, str]
    unfit: Mapping[str, int]
    """How many events that the report asks for could not be used, by `Provider/Event`: they are described otherwise, or
    damaged."""
    stopped: Callable[[], int]
    late: bool
    """Whether slow tables are made when somebody reads them, if ever."""

    @property
    def _join(self) -> JoinedRun | None:
        """How the runtime's recording was joined with the kernel's, which lasted for another time."""
        join = self.troubles.join
        return join if join is not None and join.process_id == self.process_id else None

    @cached_property
    def stopped_ns(self) -> int:
        """When tracing stopped, as far as known from events: anything open then lasted at least until then.

        Later events only name code.
        """
        stopped = self.stopped() if self._join is None else self._join.stopped_ns
        return min(near_ns(stopped), self.troubles.part.high)

    @property
    def known_ns(self) -> int:
        """Until when what is open certainly lasted: until tracing stopped or, if the end is missing, until all threads'
        events are there."""
        return min(self.stopped_ns, self.troubles.known_ns)

    @property
    def recorded(self) -> TimeWindow:
        """From when to when the runtime's events were recorded; what names code is written later."""
        if self._join is None:
            return TimeWindow(0, max(self.stopped_ns, 0))
        return TimeWindow(self._join.start_ns, max(self._join.stopped_ns, self._join.start_ns))

    @property
    def uncertainty_ns(self) -> int:
        """By how much times of the runtime's events may be wrong on the clock of the kernel's, either way."""
        return 0 if self.troubles.join is None else self.troubles.join.uncertainty_ns

    @property
    def window(self) -> TimeWindow:
        """The requested window."""
        return self.question.window

    @property
    def methods(self) -> Methods:
        """The code of the trace, to name addresses."""
        return self.names.methods

    @cached_property
    def named(self) -> bool:
        """Whether stacks tell all managed code by name: none is missing, nor anything of the list that is written after
        tracing stopped. Programs that were compiled ahead of time list none."""
        listed = np.array([self.stopped_ns]), np.array([FOREVER])
        complete = self.methods.named and not self.troubles.gaps.touched(*listed)[0]
        return complete and all(hole.cause != "stacks" for hole in self.holes)

    @property
    def stacks(self) -> AddressStacks:
        """The stacks of all events that the collector saw."""
        return self.names.stacks

    @cached_property
    def unknown(self) -> frozenset[str]:
        """The needs, by `what`, for which it is unknown whether anything happened."""
        return frozenset(need.what for need in self.needs if met(need, self.kinds) == "unknown")

    @property
    def holes(self) -> tuple[Hole, ...]:
        """All of them, whatever the window."""
        return self.troubles.holes

    @property
    def has_start(self) -> bool:
        """Whether this is not a part of a trace that was cut off before it."""
        return self.troubles.part.low <= 0

    @property
    def marks(self) -> Marks:
        """The holes, to be asked about spans."""
        return self.troubles.marks

    def table(
        self, row_class: type[R], values: Mapping[str, Cells] | Sequence[R], lossy: Sequence[bool] | None = None
    ) -> ReportTable[R]:
        """Rows of the whole trace → those of the window, marked where they touch a hole.

        `values` are rows, or columns of very many, except `process_id`, `lossy` and `clipped`, which are filled here by
        the class's shape. A row without a start or an end is assumed to reach to that of the trace.

        Rows with neither span nor time all stay: they are made from rows that were already cut. If they bring a `lossy`
        of their own, only that counts; on other rows it counts in addition.
        """
        given: dict[str, Cells] = {**(values if isinstance(values, Mapping) else as_columns(row_class, values))}
        own = given.pop("lossy", lossy)
        count = len(next(iter(given.values()), ()))
        flags = np.zeros(count, dtype=np.bool_)
        given["process_id"] = _repeated(self.process_id, count)
        given["lossy"] = flags
        declared = {c.name for c in columns_of(row_class)}
        if "clipped" in declared:
            given["clipped"] = flags
        table = ReportTable.from_columns(row_class, given)
        if not len(table):
            return table
        shape = shape_of(row_class)
        starts, ends = _times(table)
        touched = self._touched(table, starts, ends, self.marks) | self.troubles.beyond(ends)
        if own is not None:
            timeless = shape.span is None and shape.at is None and shape.since is None
            touched = np.asarray(own, dtype=np.bool_) | (False if timeless else touched)
        changed: dict[str, Any] = {"lossy": touched}
        inside = np.ones(count, dtype=np.bool_)
        if shape.span is not None:
            inside = self.window.meets(starts, ends)
            # What has no begin or no end reaches to that of the trace, and the whole trace clips nothing.
            first, last = np.where(starts == ALWAYS, 0, starts), np.where(ends == FOREVER, self.duration_ns + 1, ends)
            changed["clipped"] = (first < self.window.low) | (last > self.window.high)
        elif shape.at is not None:
            inside = self.window.holds(starts)
        table = table.replaced(**changed)
        return table if inside.all() else table.take(np.flatnonzero(inside))

    def _touched(
        self, rows: ReportTable[object], starts: NDArray[np.int64], ends: NDArray[np.int64], marks: Marks
    ) -> NDArray[np.bool_]:
        """Which rows touch a hole of one of their threads; of any thread, if none of theirs is known."""
        threads = [rows.numbers(name, _NOBODY) for name in shape_of(rows.row_class).threads]
        touched = marks.touched(starts, ends, threads)
        if threads and marks:
            unknown = np.flatnonzero(np.all([column == np.uint64(_NOBODY) for column in threads], axis=0))
            touched[unknown] = marks.touched(starts[unknown], ends[unknown])
        return touched

    def overlap(self, rows: ReportTable[object]) -> NDArray[np.int64]:
        """How much of each row's span lies in the window, in ns; 0 for one without a start or an end."""
        shape = shape_of(rows.row_class)
        assert shape.span is not None
        starts, ends = (rows.column(name) for name in shape.span)
        return np.where(starts.known & ends.known, self.window.overlap(starts.values, ends.values), 0)

    def begun(self, rows: ReportTable[object]) -> NDArray[np.bool_]:
        """Which rows count in the window: those that begin in it (or end in it, if they have no start)."""
        shape = shape_of(rows.row_class)
        assert shape.span is not None or shape.at is not None, "rows without a time do not begin anywhere"
        starts, ends = _times(rows)
        return self.window.holds(np.where(starts == ALWAYS, ends, starts))

    def answer(
        self,
        answer_class: type[T],
        *,
        facts: Any,
        metrics: Mapping[str, int | float | Metric | None],
        notes: Sequence[Note] = (),
        seen: Collection[str] = (),
        lacking: Sequence[Need] = (),
        cannot: Note | None = None,
        left_out: Sequence[Note] = (),
        occurred: Collection[str] = (),
        sample_ns: int | None = None,
        **given: ReportTable[object] | Callable[[], ReportTable[object]],
    ) -> T:
        """The answer, with everything the framework knows about it: coverage, what was not recorded, losses, damage.

        `seen` are the needs, by `what`, that the collector itself found met, if no kind of event shows it: ids in
        events of any provider, for example; `lacking` further ones that it found such a trace to have, unless a kind
        of event shows them. `cannot` says why the trace has no data, if needs do not. `left_out` says
        which part of it the answer does not cover. `occurred` are metrics of whose things the trace has some, in the
        window or not: their 0 is one, whatever was not recorded. `sample_ns` is how much of the
        times one sample tells at the most, where that is known. What makes a slow table may be called later, or never.
        """
        # Metrics may have bounds by the rows of any.
        at_once = not self.late or self._holey or bool(self.troubles.gaps)
        tables = {
            name: one if isinstance(one, ReportTable) else one()
            for name, one in given.items()
            if at_once or isinstance(one, ReportTable)
        }
        needs = [need for need in (*self.needs, *lacking) if need.what not in seen]
        unknown = {need.what for need in needs if met(need, self.kinds) == "unknown"}
        nothing = any(need.essential and need.what in unknown for need in needs)
        covered = coverage(needs, self.kinds)
        if left_out or (covered == "full" and self._holey):
            covered = "partial"
        ranges = CellRanges()
        ranged: dict[str, Any] = {
            name: ranges.table(name, tables[name]) if name in tables else cache(partial(_ranged, name, one))
            for name, one in given.items()
        }
        ranged["facts"] = ranges.facts(facts)
        ranged["metrics"] = {
            declared.name: ranges.metric(
                self._unbridged(
                    self._given(metrics[declared.name], declared, unknown, nothing, occurred, tables, sample_ns),
                    declared,
                    tables,
                )
            )
            for declared in self.metrics
        }
        missing = (*missing_notes(needs, self.kinds), *self._unfit_notes(), *self.troubles.notes)
        return answer_class(
            question=self.question,
            coverage="none" if cannot is not None else covered,
            notes=(*filter(None, [cannot]), *missing, *ranges.notes(), *notes, *left_out),
            **ranged,
        )

    def touched(self, thread_id: int | None = None, since_ns: int | None = None) -> bool:
        """Whether an event may be missing in the window: of this thread, or of any.

        `since_ns` is where to start looking, if before the window.
        """
        low = self.window.low if since_ns is None else min(since_ns, self.window.low)
        high = FOREVER if self.window.high == FOREVER else self.window.high - 1
        threads = () if thread_id is None else (np.array([thread_id], dtype=np.uint64),)
        ends = np.array([high])
        return bool((self.marks.touched(np.array([low]), ends, threads) | self.troubles.beyond(ends))[0])

    @cached_property
    def _holey(self) -> bool:
        """Whether any event may be missing in the window."""
        return bool(self.unfit) or self.touched()

    def _unfit_notes(self) -> tuple[Note, ...]:
        if not self.unfit:
            return ()
        count, (first, *others) = sum(self.unfit.values()), self.unfit
        more = f" and {counted(len(others), 'other kind')}" if others else ""
        text = (
            f"{counted(count, 'event')} ({first}{more}) cannot be used: the trace describes other fields, or their "
            "payloads are damaged; they count as not recorded"
        )
        return (Note("unfit-events", "warning", text, (), {"events": count}, "see what `clrevents check` says"),)

    def summed(self, row_class: type[R], rows: Sequence[R]) -> ReportTable[R]:
        """Rows that sum up the window: all lossy if any event may be missing in it."""
        return self.table(row_class, rows, [self.touched()] * len(rows))

    def resolved(
        self, stack_ids: NDArray[np.int64], times: NDArray[np.int64], running: NDArray[np.int64] | None = None
    ) -> ResolvedStacks:
        """These stacks as of these times, named by code of the process if there may be several.

        With `running`, which async methods ran, each continues with those that await what it runs.
        """
        # Loaded on demand: many reports name no code.
        from clrevents.symbols.frame_tables import resolve_stacks

        processes = None
        if self.info.version >= MANY_PROCESSES:
            number = -1 if self.process_id is None else self.process_id
            processes = np.full(len(stack_ids), number, dtype=np.int64)
        arrays, awaits = self.stacks.arrays, self.names.awaits
        if running is not None and awaits is not None:
            arrays, stack_ids = awaits.joined(self.methods, arrays, stack_ids, times, running, processes)
        return resolve_stacks(self.methods, arrays, stack_ids, times, processes)

    def running(self, times: NDArray[np.int64], threads: Array) -> NDArray[np.int64] | None:
        """Which async methods ran on these threads at these times, for `resolved`; None if the trace has none."""
        awaits = self.names.awaits
        return None if awaits is None else awaits.running(times, threads)

    def metric(
        self,
        name: str,
        value: int | float | None,
        evidence: Evidence | None = None,
        reason: str | None = None,
        least: bool = False,
        most: bool = False,
    ) -> Metric:
        """A metric as declared, with its value, its evidence and why it is null. StopIteration if none has the name.

        With `least`, only a lower bound is known, with `most` an upper one: the value is the bound.
        """
        declared = next(metric for metric in self.metrics if metric.name == name)
        if value is None and reason is None:
            reason = _UNRECORDED
        return Metric(
            value,
            declared.unit,
            declared.better,
            declared.merge,
            low=value if least else None,
            high=value if most else None,
            evidence=evidence or declared.evidence,
            reason=reason,
        )

    def _given(
        self,
        value: int | float | Metric | None,
        declared: MetricDeclaration,
        unknown: Collection[str],
        nothing: bool,
        occurred: Collection[str],
        tables: Mapping[str, ReportTable[object]],
        sample_ns: int | None,
    ) -> Metric:
        """The metric; null instead of a 0 that is one only because `nothing`, or not what it needs, was recorded; a
        bound where events are missing."""
        metric = value if isinstance(value, Metric) else self.metric(declared.name, value)
        lacks = any(self._lacks(what, unknown) for what in declared.needs)
        if metric.value == 0 and metric.low is None and (lacks or nothing) and declared.name not in occurred:
            metric = metric.unknown(_UNRECORDED)
        elif lacks and metric.value and not metric.bounded:
            # A sum over several kinds of things, of which one was not recorded.
            metric = _in_holes(metric, declared, unended=False, why="not all that it depends on was recorded")
        if metric.reason == _UNRECORDED and (never := self._never(declared, unknown)):
            metric = attrs.evolve(metric, reason=f"{NEVER} {never}")
        if self._holey:
            metric = self._of_few(metric, declared, tables, sample_ns) or _in_holes(
                metric, declared, self.window.high > self.troubles.known_ns
            )
        return metric if self.troubles.part.whole else self._of_part(metric, declared.name)

    def _of_few(
        self,
        metric: Metric,
        declared: MetricDeclaration,
        tables: Mapping[str, ReportTable[object]],
        sample_ns: int | None,
    ) -> Metric | None:
        """What a metric is between where few events were lost; None if that is anything."""
        if not self.troubles.few or self.unfit or metric.value is None:
            return None
        if metric.unseen is not None:
            return metric
        if not declared.hides or metric.high is not None or (declared.hides == "sample" and sample_ns is None):
            return None
        if declared.hides == "sample":
            more = sum(hole.count for hole in self.troubles.few) * (sample_ns or 0)
            if metric.low is not None:
                return attrs.evolve(metric.lowered(max(metric.low - more, 0)), unseen=more)
            return attrs.evolve(metric, low=max(metric.value - more, 0), high=metric.value + more, unseen=more)
        table, _, column = declared.hides.partition("/")
        rows = tables[table]
        starts, ends = _times(rows)
        touched = self._touched(rows, starts, ends, self.marks)
        return self.with_few(metric, starts, ends, rows.numbers(column).astype(np.int64), touched, sample_ns)

    def with_few(
        self,
        metric: Metric,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        amounts: NDArray[np.int64],
        touched: NDArray[np.bool_],
        sample_ns: int | None = None,
    ) -> Metric:
        """A time that is the sum, or the maximum, of the `amounts` of spans on threads, between the least and the most
        that it may be where few events were lost, or at least so much; as it is where none were, or many.

        Of spans that are `touched` by a loss, nothing is sure but how far they may reach. Each pair of lost events may
        have been one more, as long as its thread was silent, and each event a sample.
        """
        lost = self.troubles.few
        if not lost or metric.value is None or metric.high is not None:
            return metric
        silent = [hole.end_ns - hole.start_ns if hole.count > 1 else 0 for hole in lost]
        first, last = min(hole.start_ns for hole in lost), max(hole.end_ns for hole in lost)
        # What has no start began in a loss, what has no end ended in one.
        reach = (np.where(ends == FOREVER, last, ends) - np.where(starts == ALWAYS, first, starts))[touched]
        more = sum(hole.count for hole in lost) * (sample_ns or 0)
        if metric.merge == "max":
            sure = amounts[~touched].max(initial=0)
            most = max(*silent, *reach.tolist(), metric.value) + more
        else:
            sure = metric.value - amounts[touched].sum()
            more += int(np.maximum(reach - amounts[touched], 0).sum())
            most = metric.value + more + sum(map(mul, silent, [hole.count // 2 for hole in lost]))
        low, unseen = int(np.clip(sure, 0, metric.value)), most - metric.value
        if metric.low is not None:
            return attrs.evolve(metric.lowered(low), unseen=unseen)
        return attrs.evolve(metric, low=low, high=most, unseen=unseen)

    def _unbridged(
        self, metric: Metric, declared: MetricDeclaration, tables: Mapping[str, ReportTable[object]]
    ) -> Metric:
        """The metric; of a time, or a share of it, not what rows tell that reach over a hole: their begin and their end
        may belong to two different ones. Unknown where it is not told of which rows it is made."""
        timed = declared.unit in ("ns", "ratio") and bool(self.troubles.gaps)
        if not metric.value or metric.high is not None or metric.unseen is not None or not timed:
            return metric
        of, _, column = declared.hides.partition("/")
        for rows in [tables[of]] if column else tables.values():
            if shape_of(rows.row_class).span is None:
                continue
            starts, ends = _times(rows)
            over = self._touched(rows, starts + 1, ends - 1, self.troubles.gaps)
            if not over.any():
                continue
            if not column:
                return metric.unknown(MISSING)
            amounts = rows.numbers(column).astype(np.int64)
            sure = metric.value - amounts[over].sum() if metric.merge == "sum" else amounts[~over].max(initial=0)
            return metric.lowered(int(np.clip(sure, 0, metric.value)))
        return metric

    def _lacks(self, what: str, unknown: Collection[str]) -> bool:
        """Whether this was not recorded."""
        return not self.named if what == CODE else what in unknown

    def _never(self, declared: MetricDeclaration, unknown: Collection[str]) -> str | None:
        """What this needs that no recording of such a program has."""
        lacking = [need for need in self.needs if need.what in unknown]
        needs = [need for need in lacking if need.what in declared.needs] or [n for n in lacking if n.essential]
        needs = needs or lacking
        return needs[0].what if needs and not recordable(needs, self.kinds.native_aot) else None

    def _of_part(self, metric: Metric, name: str) -> Metric:
        """What is known about a metric if whatever came before or after the part is missing."""
        known = self.in_part.get(name, self.in_part.get("*"))
        if known is None or metric.value is None or (known == "from the start" and self.has_start):
            return metric
        if known != "unknown" and known != "from the start":
            return metric.bound(least=known == "at least")
        return metric.unknown("the trace is a part of another and lacks what this needs from before or after")


def _ranged(name: str, make: Any) -> ReportTable[object]:
    return CellRanges().table(name, make())


class Collector(ABC, Generic[A_co]):
    """Takes the chunks of one process and gives one answer. Made anew for each process and each reading."""

    selectors: tuple[str, ...] = ()
    """The events that it wants: names that mean one event each, such as `runtime/GCStart`, and patterns such as
    `My-App/*`. Events that match a pattern are in a chunk under their own names, `Provider/Event`."""
    beside: frozenset[str] = frozenset()
    """Those of them that say nothing without the others: a process that has no others yet has no use for them."""
    headers: tuple[str, ...] = ("time_ns", "thread_id", "stack_id")
    """The header columns that it wants of them."""
    stacks: bool = False
    """Whether it needs the addresses of stacks."""
    modules: bool = False
    """Whether it asks for the names of modules alone."""

    @abstractmethod
    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""

    @abstractmethod
    def finish(self, context: Context) -> A_co:
        """Give the answer. May be called once only."""


def _repeated(number: int | None, count: int) -> Column:
    """A column of the same number, or of nulls."""
    type = ColumnType("int64")
    values = np.full(count, 0 if number is None else number, dtype=np.int64)
    return Column(type, count, values, valid=np.zeros(count, dtype=np.bool_) if number is None else None)


def _times(rows: ReportTable[object]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From when to when each row lies, as losses see it."""
    shape = shape_of(rows.row_class)
    if shape.span is not None:
        return rows.numbers(shape.span[0], ALWAYS), rows.numbers(shape.span[1], FOREVER)
    if shape.at is not None:
        times = rows.numbers(shape.at)
        return times, times
    count = len(rows)
    starts = np.full(count, ALWAYS) if shape.since is None else rows.numbers(shape.since, ALWAYS)
    return starts, np.full(count, FOREVER)


def _in_holes(metric: Metric, declared: MetricDeclaration, unended: bool, why: str = MISSING) -> Metric:
    """What is known of a metric where events are missing: of a share of a time whose end is missing, nothing."""
    if declared.in_holes == "unknown" or (unended and declared.merge == "none" and declared.in_holes == "at least"):
        return metric.unknown(why)
    return metric.bound(least=declared.in_holes == "at least")


class Kept:
    """All events so far. `columns` limits what is kept of an event, by selector."""

    def __init__(self, columns: Mapping[str, Iterable[str]] | None = None) -> None:
        self._columns = {name: tuple(of) for name, of in (columns or {}).items()}
        self._parts: dict[str, list[Gathered]] = {}

    def take(self, chunk: ReportChunk) -> None:
        """Keep what is in a chunk."""
        for selector, events in chunk.events.items():
            wanted = self._columns.get(selector)
            part = events if wanted is None else attrs.evolve(events, table=events.table.select(*wanted))
            self._parts.setdefault(selector, []).append(part)

    def all(self, selectors: Iterable[str], nothing: Callable[[str], Gathered]) -> dict[str, Gathered]:
        """The rows of each selector, with their places among all events; `nothing` gives those of absent events."""
        return {selector: self._joined(selector, nothing) for selector in selectors}

    def _joined(self, selector: str, nothing: Callable[[str], Gathered]) -> Gathered:
        parts = self._parts.get(selector)
        if not parts:
            empty = nothing(selector)
            wanted = self._columns.get(selector)
            return empty if wanted is None else attrs.evolve(empty, table=empty.table.select(*wanted))
        table = Table(parts[0].table.fields, tuple(piece for part in parts for piece in part.table.parts))
        return Gathered(parts[0].event, table, np.concatenate([part.places for part in parts]))


class KeepingCollector(Collector[A_co]):
    """Keeps its events until the end; what of them, each says when it is made."""

    _kept: Kept

    def take(self, chunk: ReportChunk) -> None:
        """Keep the next events."""
        self._kept.take(chunk)


def narrowed(chunk: ReportChunk, columns: Mapping[str, Iterable[str]]) -> ReportChunk:
    """The chunk with these columns of these events; columns that an event's version lacks are left out."""
    return attrs.evolve(
        chunk,
        events={
            name: rows.only(np.arange(len(rows)), [column for column in columns[name] if column in rows.table])
            for name, rows in chunk.events.items()
            if name in columns
        },
    )

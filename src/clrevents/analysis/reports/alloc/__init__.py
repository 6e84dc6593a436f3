"""What was allocated: by type, by stack, by thread and over time.

Chooses the best source in the trace and says which one it was. Names types and stacks once each, after everything is
added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import MY_CODE, RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.recording.recorded import record_line
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, Evidence, Metric, Note, count_of, size_of
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Ints
from clrevents.analysis.gathering.merged_stacks import MergedStacks, is_own, method_stacks, used
from clrevents.analysis.reports.alloc.alloc_sums import SELECTORS, AllocationReading, GroupedAllocations, kind_word
from clrevents.analysis.shared.samples.stack_shapes import StackShape, folded
from clrevents.analysis.shared.weights.allocations import (
    EVENTS,
    NEEDED,
    NEEDED_RARE,
    PARTS,
    Source,
    best_source,
    interval,
)
from clrevents.schema.registry import RUNTIME
from clrevents.table.table import Column, ColumnType, deferred_column, number_column, text_column

_BYTES = "The bytes allocated: exact, estimated or approximate, as the fact `certainty` says."
_LOW = "The lower end of the 95 % confidence interval of `bytes`; null unless the source is `samples`."
_HIGH = "The upper end of the 95 % confidence interval of `bytes`; null unless the source is `samples`."
_LARGE = "How many of the bytes are on the large object heap."

_TYPE = "The type as the runtime writes it; null if its name was not recorded."
_SHARE = "The share of all bytes; null if there are none, or of one thread's where events are missing."
_COUNT = "How many objects these are, estimated for samples; null for ticks, which do not count objects."
_SAMPLES = "How many events of the source this is based on."


@table_row
class AllocatedSums(Row):
    """What every table of sums has."""

    share: cells.Ratio | None = column(_SHARE, share_of=("bytes",), importance=1)
    bytes: cells.Bytes = column(_BYTES, importance=0)
    low_bytes: cells.Bytes | None = column(_LOW)
    high_bytes: cells.Bytes | None = column(_HIGH)
    large_bytes: cells.Bytes = column(_LARGE, hidden=True)
    count: cells.Count | None = column(_COUNT)
    samples: cells.Count = column(_SAMPLES, importance=3)


@table_row
class AllocatedType(AllocatedSums):
    """All allocations of one type."""

    type: cells.CodeName | None = column(_TYPE, importance=0)


@table_row
class AllocatedKind(AllocatedSums):
    """All allocations on one kind of heap."""

    kind: cells.Word | None = column("`small`, `large`, or `pinned` for the pinned object heap; null if unknown.")


@table_row
class AllocatingThread(AllocatedSums):
    """All allocations of one thread."""

    thread_id: cells.ThreadId | None = column("The thread that allocated.")
    thread_name: cells.PrivateText | None = column("The thread's name; null if unknown.")


@table_row
class AllocatingStack(Row):
    """All allocations with one call stack, whichever versions of its methods' code ran."""

    share: cells.Ratio | None = column(_SHARE, share_of=("bytes",))
    bytes: cells.Bytes = column(_BYTES)
    low_bytes: cells.Bytes | None = column(_LOW, hidden=True)
    high_bytes: cells.Bytes | None = column(_HIGH, hidden=True)
    large_bytes: cells.Bytes = column(_LARGE, hidden=True)
    count: cells.Count | None = column(_COUNT, hidden=True)
    samples: cells.Count = column(_SAMPLES)
    method: cells.CodeName = column(
        "The innermost method outside the framework's namespaces; without one, the innermost of all."
    )
    innermost: cells.CodeName = column("The innermost method; if it has no name, the reason in brackets.", hidden=True)
    stack: tuple[cells.CodeName, ...] = column("All methods, innermost first.", hidden=True)
    stack_id: cells.StackId = column("The id of one of the trace's stacks with these methods, 0 for none.", hidden=True)


@table_row
class AllocatedTypeStack(AllocatingStack):
    """All allocations of one type with one call stack."""

    type: cells.CodeName | None = column(_TYPE)


@table_row(span=("start_ns", "end_ns"))
class AllocationInterval(SpanRow):
    """What was allocated in one interval."""

    start_ns: cells.Ns = column(
        "The beginning of the interval. All intervals of a process but the last have the same length."
    )
    end_ns: cells.Ns = column("Its end (exclusive); the last one ends with the trace.")
    bytes: cells.Bytes = column(f"{_BYTES[:-1]}, for the part inside the window.", windowed=True)
    low_bytes: cells.Bytes | None = column(_LOW, windowed=True)
    high_bytes: cells.Bytes | None = column(_HIGH, windowed=True)
    large_bytes: cells.Bytes = column(_LARGE, windowed=True)
    samples: cells.Count = column(_SAMPLES, windowed=True)


@table_row
class AllocationSource(Row):
    """What one source says about all allocations."""

    source: cells.Word = column("`objects`, `samples` or `ticks`.")
    used: cells.Flag = column("Whether the other tables are based on this source.")
    samples: cells.Count = column("How many of its events lie in the window.")
    bytes: cells.Bytes = column("The bytes that they represent in total. Sources are never added up.")
    low_bytes: cells.Bytes | None = column(_LOW)
    high_bytes: cells.Bytes | None = column(_HIGH)


@table_row
class AllocFacts:
    """Where the numbers come from, and how certain they are."""

    source: cells.Word | None = column(
        "What was added up: `objects` (every object), `samples` (random ones) or `ticks`; null if nothing was recorded."
    )
    certainty: cells.Word | None = column(
        "`exact` for objects; `estimated`, with intervals, for samples; `approximate` for ticks, whose total is "
        "about right, but not the numbers of types with few ticks."
    )
    large_by: cells.Word | None = column(
        "How large objects are recognized: by `kind`, as recorded by the runtime, or by `size`, from 85,000 bytes, "
        "its default."
    )


class AllocationTables:
    """The tables of one source's sums."""

    def __init__(
        self, context: Context, reading: AllocationReading, source: Source | None, raw: bool, my_code: bool
    ) -> None:
        self._context = context
        self._reading = reading
        self._source = source
        self._raw = raw
        self._shape = StackShape(my_code=my_code)
        self.sums = GroupedAllocations.nothing() if source is None else reading.sums[source].grouped()
        self._names, self._named = reading.types.numbered(
            lambda ids: context.methods.type_names(ids, context.process_id)
        )

    def types(self) -> ReportTable[AllocatedType]:
        """By type."""
        groups = _ordered(self.sums.by(type=self._type_of()))
        return self._context.table(AllocatedType, {**self._columns(groups), "type": self._types(groups)})

    def kinds(self) -> ReportTable[AllocatedKind]:
        """By kind of heap."""
        groups = _ordered(self.sums.by(kind=self.sums.keys["kind"]))
        words = [kind_word(kind) for kind in groups.keys["kind"].tolist()]
        return self._context.table(AllocatedKind, {**self._columns(groups), "kind": words})

    def threads(self) -> ReportTable[AllocatingThread]:
        """By thread. A loss of another thread's events does not spoil a row."""
        groups = _ordered(self.sums.by(thread=self.sums.keys["thread"]))
        ids = [self._reading.threads[number] for number in groups.keys["thread"].tolist()]
        names = [None if id is None else self._context.thread_names.get(id) for id in ids]
        values = {
            **self._columns(groups),
            "thread_id": ids,
            "thread_name": names,
            "lossy": [*map(self._context.touched, ids)],
        }
        if self._context.touched():
            # It does spoil what all threads allocated.
            values["share"] = [None] * len(ids)
        return self._context.table(AllocatingThread, values)

    def stacks(self) -> ReportTable[AllocatingStack]:
        """By call stack."""
        groups = _ordered(self.sums.by(frames=self._stacked[1]))
        return self._context.table(AllocatingStack, {**self._columns(groups), **self._stacks(groups.keys["frames"])})

    def type_stacks(self) -> ReportTable[AllocatedTypeStack]:
        """By type and call stack."""
        groups = _ordered(self.sums.by(type=self._type_of(), frames=self._stacked[1]))
        values = {**self._columns(groups), **self._stacks(groups.keys["frames"]), "type": self._types(groups)}
        return self._context.table(AllocatedTypeStack, values)

    def timeline(self) -> ReportTable[AllocationInterval]:
        """By time."""
        if self._source is None:
            return self._context.table(AllocationInterval, dict.fromkeys(_TIMELINE, ()))
        starts, ends, values = self._reading.sums[self._source].timeline()
        low, high = self._interval(values)
        return self._context.table(
            AllocationInterval,
            {
                "start_ns": starts,
                # The last one ends with the trace, or a window that holds all of that would clip it.
                "end_ns": np.minimum(ends, self._context.duration_ns + 1),
                "bytes": values["bytes"],
                "low_bytes": low,
                "high_bytes": high,
                "large_bytes": values["large"],
                "samples": values["samples"],
            },
        )

    def lossy(self) -> bool:
        """Whether events may be missing in the window."""
        return self._context.touched()

    def nameless(self) -> int:
        """How many events are of types without a name."""
        return int(self.sums.values["samples"][self._type_of() == 0].sum())

    @property
    def advice(self) -> str | None:
        """What gives names to types that no event names."""
        return self._context.methods.images.advice

    def _type_of(self) -> Ints:
        return self._named[self.sums.keys["type"]]

    def _columns(self, groups: GroupedAllocations) -> dict[str, Cells]:
        """What every table has."""
        total = self.sums.total("bytes")
        low, high = self._interval(groups.values)
        return {
            "share": groups.values["bytes"] / total if total else [None] * len(groups),
            "bytes": groups.values["bytes"],
            "low_bytes": low,
            "high_bytes": high,
            "large_bytes": groups.values["large"],
            "count": self.counts(groups.values["object_parts"]),
            "samples": groups.values["samples"],
            "lossy": np.full(len(groups), self.lossy()),
        }

    def counts(self, parts: Ints) -> list[int | None] | Ints:
        """Whole objects; how many a tick represents is unknown."""
        return [None] * len(parts) if self._source == "ticks" else (parts + PARTS // 2) // PARTS

    def _interval(self, values: Mapping[str, Ints]) -> Sequence[Cells]:
        if self._source != "samples":
            return ([None] * len(values["bytes"]),) * 2
        return interval(values["samples"], values["bytes"], values["variance"], values["seen"])

    @cached_property
    def _stacked(self) -> tuple[dict[str, Column], Ints]:
        """The columns of each stack of methods, and the stack of each sum."""
        # One number for a stack and what ran, -1 for nothing.
        stack, running = self.sums.keys["stack"], self.sums.keys["running"] + 1
        most = int(running.max(initial=0)) + 1
        keys, of = np.unique(stack * most + running, return_inverse=True)
        distinct, running = keys // most, keys % most - 1
        first = np.full(len(distinct), FOREVER, dtype=np.int64)
        np.minimum.at(first, of, self.sums.first)
        merged = folded(method_stacks(self._context.methods, self._context.resolved(distinct, first, running)))
        if self._shape:
            merged = used(self._shape.apply(merged)[0])
        ids = np.zeros(len(merged.offsets) - 1, dtype=np.int64)
        ids[merged.of[::-1]] = distinct[::-1]
        return _stack_columns(merged, ids, self._raw), merged.of[of]

    def _types(self, groups: GroupedAllocations) -> Column:
        return text_column(self._names, groups.keys["type"])

    def _stacks(self, places: Ints) -> dict[str, Column]:
        """The columns about stacks."""
        return {name: column.take(places) for name, column in self._stacked[0].items()}


_TIMELINE: Final = ("start_ns", "end_ns", "bytes", "low_bytes", "high_bytes", "large_bytes", "samples")


def _ordered(groups: GroupedAllocations) -> GroupedAllocations:
    """The most bytes first, then the most events, then what began first."""
    return groups.take(np.lexsort((groups.first, -groups.values["samples"], -groups.values["bytes"])))


def _stack_columns(merged: MergedStacks, ids: Ints, raw: bool) -> dict[str, Column]:
    """Each text is kept once, however many stacks have it."""
    known = merged.frames
    every = np.arange(len(known))
    texts = deferred_column(len(known), lambda place: known[place].raw if raw else known[place].name, every)
    own = np.array([is_own(frame) for frame in merged.frames], dtype=np.bool_)[merged.values]
    starts, stack = merged.offsets[:-1], np.repeat(np.arange(len(ids)), np.diff(merged.offsets))
    # The first of the program's own frames of each stack; where there is none, the innermost.
    method = starts.copy()
    theirs = np.flatnonzero(own)
    method[stack[theirs[::-1]]] = theirs[::-1]
    frames = texts.take(merged.values)
    lists = ColumnType("list", (texts.type,))
    return {
        "stack_id": number_column("int32", ids),
        "method": frames.take(method),
        "innermost": frames.take(starts),
        "stack": Column(lists, len(ids), np.zeros(0, dtype=np.uint8), merged.offsets, (frames,)),
    }


BEST: Final = "best"
SOURCES: Final[tuple[Source, ...]] = tuple(EVENTS)
ENOUGH_TICKS: Final = 30
"""A type's bytes are reliable from this number of ticks on."""

_METRICS: Final = (
    size_of("bytes_total", "The bytes of all allocations.", better="less", quantity="allocated.bytes"),
    size_of("large_total", "How many of them are on the large object heap."),
    # Estimated numbers are rounded, so those of two windows may be one more than that of both.
    count_of("objects", "The number of objects; unknown for ticks.", windows=False),
    count_of("events", "The number of events that all of this is based on."),
)


@parameters
class AllocParameters:
    """What is added up, and how methods are named."""

    source: str = parameter(
        BEST,
        "What to add up: every object, random samples, ticks, or the best of these in the trace.",
        choices=(BEST, *SOURCES),
    )
    raw: bool = RAW
    my_code: bool = MY_CODE


_CHART: Final = ChartDeclaration(
    "rate",
    "How many bytes were allocated in each interval, and how many of them as large objects.",
    (Panel("timeline", "start_ns", "bytes"), Panel("timeline", "start_ns", "large_bytes")),
)


@answer(name="alloc", summary="bytes_total large_total events certainty", charts=(_CHART,))
class AllocReport(Answer[AllocFacts]):
    """How many bytes were allocated, of which types, by which code, on which threads and when.

    A runtime records allocations in three ways, and the report uses the best one in the trace, never two at once.
    *Objects* (GCSampledObjectAllocationHigh) are all of them, one by one: exact, and very costly to record. *Samples*
    (AllocationSampled, .NET 10) are objects picked at random, large ones more often; the numbers they represent are
    unbiased estimates with 95 % confidence intervals. *Ticks* (GCAllocationTick) come about every 100 KB, with the
    number of bytes since the one before. Their total is about right: within 1 % in our traces of .NET 8 and 10, and 8 %
    too high in one of .NET Core 3.1, which discarded more memory at each collection. But all bytes of a tick count for
    the type and the stack of the one object that crossed the threshold, so types with fewer than 30 ticks may be far
    off.

    The fact `source` says which one was used, `certainty` how certain it is, and the table `sources` gives the total of
    each source in the trace.

    Stacks with the same methods are one, whichever tier's code ran. In a window, an allocation counts if its event lies
    inside. The timeline has the same intervals in every window; its numbers cover the part inside.

    Where events were lost, sums are too small, and the rows that this may affect are lossy: a thread's rows if that
    thread lost events, other rows if any thread did.
    """

    types: ReportTable[AllocatedType] = table("Each type, most bytes first.")
    kinds: ReportTable[AllocatedKind] = table("Each kind of heap: small, large and pinned objects.")
    threads: ReportTable[AllocatingThread] = table("Each thread, most bytes first.")
    timeline: ReportTable[AllocationInterval] = table("Intervals from the first event to the last.")
    sources: ReportTable[AllocationSource] = table("What each source in the trace says about all allocations.")
    stacks: ReportTable[AllocatingStack] = table("Each call stack, most bytes first.", bulk=True)
    type_stacks: ReportTable[AllocatedTypeStack] = table("Each type with each call stack.", bulk=True)


class AllocCollector(Collector[AllocReport]):
    """Keeps sums by type, stack and thread, and by time, of each source."""

    selectors = SELECTORS
    stacks = True

    def __init__(self, asked: AllocParameters) -> None:
        if asked.source not in (BEST, *SOURCES):
            raise ValueError(f"source must be {', '.join((BEST, *SOURCES))}, not {asked.source!r}")
        self._asked = asked
        self._reading = AllocationReading()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._reading.take(chunk)

    def finish(self, context: Context) -> AllocReport:
        """Give the answer."""
        reading = self._reading
        source = _chosen(self._asked.source, reading)
        tables = AllocationTables(context, reading, source, self._asked.raw, self._asked.my_code)
        types = tables.types()
        return context.answer(
            AllocReport,
            facts=AllocFacts(source=source, certainty=_certainty(source, reading), large_by=_large_by(source)),
            metrics=_metrics(self._asked.source, source, tables, context),
            notes=_notes(self._asked.source, source, reading, tables, types),
            types=types,
            kinds=tables.kinds(),
            threads=tables.threads(),
            timeline=tables.timeline(),
            sources=_sources(context, reading, source, tables.lossy()),
            stacks=tables.stacks,
            type_stacks=tables.type_stacks,
        )


def _chosen(asked: str, reading: AllocationReading) -> Source | None:
    """The source that was asked for, or the best; None where the trace lacks it. Not by window, so that all agree."""
    return best_source({source: sums.events for source, sums in reading.sums.items() if asked in (BEST, source)})


def _certainty(source: Source | None, reading: AllocationReading) -> str | None:
    match source:
        case "objects":
            return "approximate" if reading.in_groups else "exact"
        case "samples":
            return "estimated"
        case "ticks":
            return "approximate"
        case None:
            return None


def _large_by(source: Source | None) -> str | None:
    return None if source is None else "size" if source == "objects" else "kind"


def _metrics(
    asked: str, source: Source | None, tables: AllocationTables, context: Context
) -> Mapping[str, Metric | int | None]:
    sums = tables.sums
    if source is None and (asked != BEST or NEEDED.what in context.unknown):
        reason = f"the trace has no {asked}" if asked != BEST else "allocations were not recorded"
        return {m.name: context.metric(m.name, None, reason=reason) for m in _METRICS}
    evidence: Evidence = "event" if source == "objects" else "sample"
    objects = None if source in ("ticks", None) else (sums.total("object_parts") + PARTS // 2) // PARTS
    low, high = _bounds(sums) if source == "samples" else (None, None)
    metrics = {
        "bytes_total": attrs.evolve(context.metric("bytes_total", sums.total("bytes"), evidence), low=low, high=high),
        "large_total": context.metric("large_total", sums.total("large"), evidence),
        "objects": context.metric("objects", objects, evidence),
        "events": context.metric("events", sums.total("samples")),
    }
    if objects is None:
        reason = "ticks do not count objects" if source else "no event has objects"
        metrics["objects"] = attrs.evolve(metrics["objects"], reason=reason)
    return metrics


def _bounds(sums: GroupedAllocations) -> tuple[int, int]:
    low, high = interval(*(sums.total(name) for name in ("samples", "bytes", "variance", "seen")))
    return int(low), int(high)


def _sources(
    context: Context, reading: AllocationReading, used: Source | None, lossy: bool
) -> ReportTable[AllocationSource]:
    rows: list[tuple[object, ...]] = []
    for source in SOURCES:
        if reading.sums[source].events:
            sums = reading.sums[source].grouped()
            bounds = _bounds(sums) if source == "samples" else (None, None)
            rows.append((source, source == used, sums.total("samples"), sums.total("bytes"), *bounds))
    names = ("source", "used", "samples", "bytes", "low_bytes", "high_bytes")
    values: dict[str, Sequence[object]] = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return context.table(AllocationSource, {**values, "lossy": [lossy] * len(rows)})


def _notes(
    asked: str,
    source: Source | None,
    reading: AllocationReading,
    tables: AllocationTables,
    types: ReportTable[AllocatedType],
) -> tuple[Note, ...]:
    notes = []
    recorded = [s for s in SOURCES if reading.sums[s].events]
    if source is None and asked != BEST and recorded:
        text = f"the trace has no {asked}; it has {' and '.join(recorded)}"
        notes.append(Note("no-source", "warning", text, ("source",), remedy=f"ask for {recorded[0]}"))
    if source == "ticks" and len(tables.sums):
        few = int((types.numbers("samples") < ENOUGH_TICKS).sum())
        if few:
            text = (
                f"{counted(few, 'type')} with fewer than {ENOUGH_TICKS} ticks may be far off: a tick counts for the "
                "object that crossed the threshold of about 100 KB"
            )
            notes.append(Note("few-ticks", "info", text, ("types", "stacks", "type_stacks"), {"types": few}))
    if source == "objects" and reading.in_groups:
        text = (
            f"{counted(reading.in_groups, 'event stands', 'events stand')} for several objects, all counted for the "
            "stack of one of them; those after a type's last event are missing"
        )
        notes.append(Note("groups", "warning", text, ("types", "stacks", "type_stacks"), {"events": reading.in_groups}))
    nameless = tables.nameless()
    if nameless and tables.advice and source != "objects":
        text = f"{counted(nameless, 'event has', 'events have')} a type whose name was not recorded"
        notes.append(Note("unnamed-types", "info", text, ("type",), {"events": nameless}, tables.advice))
    if nameless and source == "objects":
        line = record_line([(RUNTIME, 0x280000, 4, "")])
        text = f"{counted(nameless, 'object has', 'objects have')} a type whose name was not recorded"
        numbers = {"events": nameless}
        notes.append(Note("unnamed-types", "warning", text, ("type",), numbers, "record type names, too", line))
    if reading.sizeless and source == "samples":
        text = f"{counted(reading.sizeless, 'sample has', 'samples have')} no size; each counts for 102,400 bytes"
        notes.append(Note("no-size", "warning", text, ("bytes", "count"), {"events": reading.sizeless}))
    if reading.impossible:
        text = f"{counted(reading.impossible, 'event')} with an impossible size left out"
        notes.append(Note("impossible-size", "warning", text, ("bytes",), {"events": reading.impossible}))
    if source is not None and tables.lossy():
        notes.append(
            Note(
                "too-small",
                "warning",
                "events were lost and are missing from the sums, so there was more",
                ("bytes_total",),
            )
        )
    return tuple(notes)


REPORT: Final = ReportDeclaration(
    answer=AllocReport,
    question="What was allocated, and by which code?",
    topic="memory",
    needs=(NEEDED, NEEDED_RARE),
    metrics=_METRICS,
    collector=AllocCollector,
    parameters=AllocParameters,
    shown=("share", "bytes", "low_bytes", "high_bytes", "samples", "type"),
    examples=(
        ("Which types are allocated most?", "clrevents alloc app.nettrace"),
        ("Which code allocates most?", "clrevents alloc app.nettrace --table stacks"),
        ("Where does a type come from?", "clrevents alloc app.nettrace --table type_stacks --json | grep Byte"),
        ("How many large objects are there, and how many bytes?", "clrevents alloc app.nettrace --table kinds"),
        ("How much was allocated when?", "clrevents alloc app.nettrace --table timeline"),
        ("As a flame graph, in bytes:", "clrevents flame app.nettrace --by alloc -o alloc.html"),
        ("What is allocated more than before?", "clrevents alloc after.nettrace --against before.nettrace"),
    ),
    against=True,
)

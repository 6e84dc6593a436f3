"""What was allocated: by type, by stack, by thread and over time.

Chooses the best source in the trace and says which one it was. Adds nothing up itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.recording.recorded import ProviderNeed, record_line
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import Evidence, MetricDeclaration, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.alloc.alloc_sums import SELECTORS, AllocationReading, GroupedAllocations
from clrevents.analysis.reports.alloc.alloc_tables import (
    AllocatedKind,
    AllocatedType,
    AllocatedTypeStack,
    AllocatingStack,
    AllocatingThread,
    AllocationInterval,
    AllocationSource,
    AllocationTables,
    AllocFacts,
)
from clrevents.analysis.shared.samples.sample_parameters import MY_CODE
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

BEST: Final = "best"
SOURCES: Final[tuple[Source, ...]] = tuple(EVENTS)
ENOUGH_TICKS: Final = 30
"""A type's bytes are reliable from this number of ticks on."""

_METRICS: Final = (
    MetricDeclaration(
        "bytes_total", "bytes", "The bytes of all allocations.", better="less", quantity="allocated.bytes"
    ),
    MetricDeclaration("large_total", "bytes", "How many of them are on the large object heap."),
    # Estimated numbers are rounded, so those of two windows may be one more than that of both.
    MetricDeclaration("objects", "count", "The number of objects; unknown for ticks.", windows=False),
    MetricDeclaration("events", "count", "The number of events that all of this is based on."),
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


@answer(
    name="alloc",
    summary="bytes_total large_total events certainty",
    charts=(_CHART,),
)
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
            stacks=tables.stacks(),
            type_stacks=tables.type_stacks(),
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


def _metrics(asked: str, source: Source | None, tables: AllocationTables, context: Context) -> dict[str, Any]:
    sums = tables.sums
    if source is None and (asked != BEST or NEEDED.what in context.unknown):
        reason = f"the trace has no {asked}" if asked != BEST else "allocations were not recorded"
        return {m.name: context.metric(m.name, None, reason=reason) for m in _METRICS}
    evidence: Evidence = "event" if source == "objects" else "sample"
    objects = None if source in ("ticks", None) else (sums.total("object_parts") + PARTS // 2) // PARTS
    low, high = _bounds(sums) if source == "samples" else (None, None)
    found = {
        "bytes_total": attrs.evolve(context.metric("bytes_total", sums.total("bytes"), evidence), low=low, high=high),
        "large_total": context.metric("large_total", sums.total("large"), evidence),
        "objects": context.metric("objects", objects, evidence),
        "events": context.metric("events", sums.total("samples")),
    }
    if objects is None:
        reason = "ticks do not count objects" if source else "no event has objects"
        found["objects"] = attrs.evolve(found["objects"], reason=reason)
    return found


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
    found = []
    held = [s for s in SOURCES if reading.sums[s].events]
    if source is None and asked != BEST and held:
        text = f"the trace has no {asked}; it has {' and '.join(held)}"
        found.append(Note("no-source", "warning", text, ("source",), remedy=f"ask for {held[0]}"))
    if source == "ticks" and len(tables.sums):
        few = int((types.numbers("samples") < ENOUGH_TICKS).sum())
        if few:
            text = (
                f"{counted(few, 'type')} with fewer than {ENOUGH_TICKS} ticks may be far off: a tick counts for the "
                "object that crossed the threshold of about 100 KB"
            )
            found.append(Note("few-ticks", "info", text, ("types", "stacks", "type_stacks"), {"types": few}))
    if source == "objects" and reading.in_groups:
        text = (
            f"{counted(reading.in_groups, 'event stands', 'events stand')} for several objects, all counted for the "
            "stack of one of them; those after a type's last event are missing"
        )
        found.append(Note("groups", "warning", text, ("types", "stacks", "type_stacks"), {"events": reading.in_groups}))
    nameless = tables.nameless()
    if nameless and tables.advice and source != "objects":
        text = f"{counted(nameless, 'event has', 'events have')} a type whose name was not recorded"
        found.append(Note("unnamed-types", "info", text, ("type",), {"events": nameless}, tables.advice))
    if nameless and source == "objects":
        line = str(record_line([ProviderNeed(RUNTIME, 0x280000, 4)]))
        text = f"{counted(nameless, 'object has', 'objects have')} a type whose name was not recorded"
        numbers = {"events": nameless}
        found.append(Note("unnamed-types", "warning", text, ("type",), numbers, "record type names, too", line))
    if reading.sizeless and source == "samples":
        text = f"{counted(reading.sizeless, 'sample has', 'samples have')} no size; each counts for 102,400 bytes"
        found.append(Note("no-size", "warning", text, ("bytes", "count"), {"events": reading.sizeless}))
    if reading.impossible:
        text = f"{counted(reading.impossible, 'event')} with an impossible size left out"
        found.append(Note("impossible-size", "warning", text, ("bytes",), {"events": reading.impossible}))
    if source is not None and tables.lossy():
        found.append(
            Note(
                "too-small",
                "warning",
                "events were lost and are missing from the sums, so there was more",
                ("bytes_total",),
            )
        )
    return tuple(found)


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

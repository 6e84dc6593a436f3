"""A trace → what it brings to a comparison: metrics of its reports, and rows of methods, types, locks and the like.

Reports say when something happened in a table of theirs; what adds up to a metric there is counted in blocks of time.
Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.compare.block_statistics import Floats
from clrevents.analysis.compare.measured import Amount, Measured
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.run.catalogue import find_report, report_names, reports_of
from clrevents.analysis.framework.vocabulary.answer_values import Better, Evidence, Metric, MetricDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import numbered
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.trace import Trace

LEFT_OUT: Final[Mapping[str, str]] = {
    "activities": "its activities are requests and tasks",
    "callers": "it is about one method",
    "counters": "its metrics count what was published, not what it said",
    "heap": "snapshots are compared with each other by the report itself",
    "modules": "its metrics depend on where a program was started",
    "startup": "it is about one moment, and its sums are those of other reports",
    "stubs": "stubs are made while a program starts",
    "top": "its metrics are about the sampler; methods are compared as rows",
}
"""Reports whose metrics are not compared, and why."""

MOST_BLOCKS: Final = 256
_SHORTEST_NS: Final = 5_000_000
_LONGEST_NS: Final = 2**63 - 1


@frozen
class Dated:
    """A metric that is the sum of an amount (or the number) of a table's rows, each at a moment of its own.

    A row may have to say something in `where`; rows with an `until` are spread over their time.
    """

    table: str
    at: str = "start_ns"
    amount: str | None = None
    where: tuple[str, str] | None = None
    until: str | None = None


_STATES: Final = (
    *("running", "ready", "native", "lock", "wait", "sleep", "io", "join", "task_wait", "pool_idle"),
    "gc_suspended",
)
DATED: Final[Mapping[tuple[str, str], Dated]] = {
    ("gc", "count"): Dated("collections"),
    ("gc", "pause_total"): Dated("suspensions", amount="pause_ns"),
    ("gc", "promoted_total"): Dated("collections", amount="promoted_bytes"),
    ("jit", "compilations"): Dated("compilations"),
    ("jit", "compile_total"): Dated("compilations", amount="compile_ns"),
    ("exceptions", "count"): Dated("exceptions"),
    ("locks", "count"): Dated("contentions"),
    ("locks", "waited_total"): Dated("contentions", amount="duration_ns", until="end_ns"),
    ("requests", "server_count"): Dated("requests", where=("side", "server")),
    ("requests", "client_count"): Dated("requests", where=("side", "client")),
    **{
        ("threads", f"{state}_total"): Dated("intervals", amount="duration_ns", where=("state", state), until="end_ns")
        for state in _STATES
    },
}
"""By report and metric. Where the rows do not add up to the metric, it has no blocks."""

EXCLUSIVE: Final = "methods"
INCLUSIVE: Final = "methods and callees"
_TABLES: Final[Mapping[str, tuple[str, str, tuple[str, ...], str | None, str, Better]]] = {
    "locks": ("locks", "contentions", ("method",), "duration_ns", "ns", "less"),
    "exceptions": ("exceptions", "exceptions", ("type", "throwing_method"), None, "count", "less"),
    "routes": ("requests", "requests", ("side", "method", "route"), "duration_ns", "ns", "less"),
}
"""Rows: of which report's table, what they are called, what is added up, its unit, and which direction is better."""
_NAMING: Final = ("GCAllocationTick", "AllocationSampled")
"""Events of allocations that name the type; for others the report knows it from elsewhere."""
FAMILY_OF: Final[Mapping[str, str]] = {
    EXCLUSIVE: "threads",
    INCLUSIVE: "threads",
    "types": "alloc",
    "locks": "locks",
    "exceptions": "exceptions",
    "routes": "requests",
}
"""The report that says whether a table's rows are looked at."""


def measured(trace: Trace) -> Measured:
    """Measure a trace for comparing. Raises what `Trace.reports` does."""
    names = [name for name in report_names() if name not in LEFT_OUT]
    answers = reports_of(trace, [*names, "startup"], {})
    samples = read_samples(trace)
    told = answers["alloc"].metrics["bytes_total"].value is not None
    allocated = read_samples(trace, weight="alloc") if told else None
    blocks = _Grid.of(trace, samples)
    metrics = [
        _metric(answers[name], declared, allocated, blocks)
        for name in names
        for declared in find_report(name).metrics
        if declared.better != "neither" or (name, declared.name) in DATED
    ]
    rows = [*_methods(samples, blocks), *_types(trace, answers["alloc"], allocated, blocks)]
    for table, (report, *_) in _TABLES.items():
        rows += _rows(table, answers[report], blocks)
    return Measured(
        answers["gc"].question.trace,
        blocks.count,
        blocks.span,
        _circumstances(trace, answers, samples),
        tuple(metrics),
        tuple(rows),
    )


@frozen
class _Grid:
    """Time from `start` in `count` blocks of equal length."""

    start: int
    span: int
    count: int

    @classmethod
    def of(cls, trace: Trace, samples: Samples) -> _Grid:
        """Those in which threads were sampled, or the whole recording if they were not."""
        # A damaged clock can make a recording longer than any block's number can say.
        start, end = 0, min(max(trace.duration_ns, 1), _LONGEST_NS)
        if len(samples):
            start = max(int(samples.time_ns[0]), 0)
            end = max(min(int((samples.time_ns + samples.weight.astype(np.int64)).max()), end), start + 1)
        return cls(start, end - start, min(MOST_BLOCKS, max((end - start) // _SHORTEST_NS, 1)))

    @property
    def _edges(self) -> Floats:
        """Between the blocks."""
        return (self.start + np.arange(1, self.count) * (self.span / self.count)).astype(np.float64)

    def at(self, moments: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which block each moment lies; what is outside counts as at the edge."""
        return np.searchsorted(self._edges, moments, side="right")

    def sums(self, moments: NDArray[np.int64], amounts: Floats) -> Floats:
        """What came about at these moments, in each block."""
        found: Floats = np.bincount(self.at(moments), amounts, self.count).astype(np.float64)
        return found

    def spread(self, starts: NDArray[np.int64], ends: NDArray[np.int64], amounts: Floats) -> Floats:
        """What took these times, in each block."""
        edges = self._edges
        found = np.zeros(self.count)
        for start, end, amount in zip(starts.tolist(), ends.tolist(), amounts.tolist(), strict=True):
            first, last = np.searchsorted(edges, (start, end), side="right").tolist()
            if first == last or end <= start:
                found[first] += amount
                continue
            cuts = np.concatenate(([start], edges[first:last], [end]))
            found[first : last + 1] += np.diff(cuts) * (amount / (end - start))
        return found


def _metric(found: Answer[Any], declared: MetricDeclaration, allocated: Samples | None, blocks: _Grid) -> Amount:
    metric = found.metrics[declared.name]
    dated = DATED.get((found.name, declared.name))
    held = None if dated is None or metric.value is None else _dated(found, dated, blocks)
    if (found.name, declared.name) == ("alloc", "bytes_total") and allocated is not None:
        held = blocks.sums(allocated.time_ns, allocated.weight.astype(np.float64))
    if held is not None and not _adds_up(held, metric):
        held = None
    record = next((note.record for note in found.notes if note.id == NOT_RECORDED and note.record), None)
    return Amount(
        found.name,
        declared.name,
        declared.unit,
        metric.value,
        declared.better,
        declared.merge == "sum" and declared.windows,
        metric.evidence,
        metric.low is not None or metric.high is not None,
        metric.reason,
        record if metric.value is None else None,
        held,
    )


def _adds_up(held: Floats, metric: Metric) -> bool:
    value = metric.value
    return value is not None and bool(np.isclose(held.sum(), value, rtol=1e-6, atol=1))


def _dated(found: Answer[Any], dated: Dated, blocks: _Grid) -> Floats:
    rows = found.table(dated.table)
    moments = rows.column(dated.at).tolist()
    amounts = [1] * len(rows) if dated.amount is None else rows.column(dated.amount).tolist()
    told = (
        [True] * len(rows)
        if dated.where is None
        else [v == dated.where[1] for v in rows.column(dated.where[0]).tolist()]
    )
    ends = moments if dated.until is None else rows.column(dated.until).tolist()
    kept = [
        (at, at if end is None else end, amount)
        for at, end, amount, mine in zip(moments, ends, amounts, told, strict=True)
        if mine and at is not None and amount is not None
    ]
    starts, stops = (np.array([row[place] for row in kept], dtype=np.int64) for place in (0, 1))
    weights = np.array([row[2] for row in kept], dtype=np.float64)
    return blocks.sums(starts, weights) if dated.until is None else blocks.spread(starts, stops, weights)


def _rows(table: str, found: Answer[Any], blocks: _Grid) -> Iterator[Amount]:
    _, source, names, amount, unit, better = _TABLES[table]
    rows: ReportTable[Any] = found.table(source)
    of, keys = numbered([*zip(*(rows.column(name).tolist() for name in names), strict=True)])
    moments = np.array(rows.column("start_ns").filled(0), dtype=np.int64)
    weights = np.ones(len(rows)) if amount is None else rows.column(amount).filled(0).astype(np.float64)
    yield from _grouped(
        table,
        [" ".join(str(part or "?") for part in key) for key in keys],
        of,
        moments,
        weights,
        unit,
        better,
        "event",
        blocks,
    )


def _grouped(
    family: str,
    names: list[str],
    of: NDArray[np.int64],
    moments: NDArray[np.int64],
    weights: Floats,
    unit: str,
    better: Better,
    evidence: Evidence,
    blocks: _Grid,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Amount]:
    at = blocks.at(moments)
    sums = np.bincount(of * blocks.count + at, weights, len(names) * blocks.count).astype(np.float64)
    held = sums.reshape(len(names), blocks.count)
    for name, mine in zip(names, held, strict=True):
        yield Amount(
            family, name, unit, float(mine.sum()), better, evidence=evidence, blocks=mine, label=labels.get(name)
        )


def _methods(samples: Samples, blocks: _Grid) -> Iterator[Amount]:
    """Time in methods, alone and with what they called, of whatever thread in whatever state."""
    samples = samples.seen()
    if not len(samples):
        return
    of, keys = numbered([frame.raw for frame in samples.frames])
    labels = {frame.raw: frame.name for frame in samples.frames}
    weights = samples.weight.astype(np.float64)
    leaf = of[samples.values[samples.offsets[samples.stack]]]
    yield from _grouped(EXCLUSIVE, keys, leaf, samples.time_ns, weights, "ns", "less", "sample", blocks, labels)
    pairs, place = np.unique(samples.stack * blocks.count + blocks.at(samples.time_ns), return_inverse=True)
    sums = np.bincount(place, weights)
    stack, at = pairs // blocks.count, pairs % blocks.count
    held = np.zeros((len(keys), blocks.count))
    for one in np.unique(stack).tolist():
        mine = stack == one
        methods = np.unique(of[samples.values[samples.offsets[one] : samples.offsets[one + 1]]])
        held[np.ix_(methods, at[mine])] += sums[mine]
    for key, row in zip(keys, held, strict=True):
        value = float(row.sum())
        yield Amount(INCLUSIVE, key, "ns", value, "less", evidence="sample", blocks=row, label=labels[key])


def _types(trace: Trace, found: Answer[Any], allocated: Samples | None, blocks: _Grid) -> Iterator[Amount]:
    """Allocated bytes by type: in blocks where each event of the best source names one, else as the report has them."""
    if allocated is None:
        return
    if allocated.event in _NAMING:
        table = trace.table(allocated.event, columns=["time_ns", "TypeName"])
        if len(table) == len(allocated):
            of, names = numbered(table.column("TypeName").tolist())
            texts = [str(name or "?") for name in names]
            weights = allocated.weight.astype(np.float64)
            yield from _grouped("types", texts, of, allocated.time_ns, weights, "bytes", "less", "sample", blocks)
            return
    types = found.table("types")
    for name, size in zip(types.column("type").tolist(), types.column("bytes").tolist(), strict=True):
        if size is not None:
            yield Amount("types", str(name or "?"), "bytes", size, "less", evidence="sample")


def _circumstances(
    trace: Trace, answers: Mapping[str, Answer[Any]], samples: Samples
) -> dict[str, str | int | float | None]:
    jit = answers["jit"].metrics["compile_total"].value
    return {
        "runtime": answers["startup"].facts.runtime_version,
        "collector": answers["gc"].facts.flavor,
        "processors": trace.info.processors,
        "sampling period": answers["threads"].facts.sampling_period_ns,
        "samples": samples.event if len(samples) else None,
        "allocations": answers["alloc"].facts.source,
        "lost events": trace.lost,
        "compiling": None if jit is None else round(jit / max(trace.duration_ns, 1), 4),
        "providers": " ".join(sorted({key.provider for key in trace.event_counts()})),
    }

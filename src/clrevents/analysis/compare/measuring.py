"""A trace → what it brings to a comparison: metrics of its reports, and rows of methods, types, locks and the like.

Reports say when something happened in a table of theirs; what adds up to a metric there is counted in blocks of time.
Heap snapshots,
published counters and starts of activities become rows here. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Unpack

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.compare.block_statistics import Floats, TimeBlocks
from clrevents.analysis.compare.change import COUNTERS, HEAP_PATHS, HEAP_TYPES, TYPES
from clrevents.analysis.compare.measured import Amount, Measured
from clrevents.analysis.compare.stack_rows import method_rows, processor_rows, state_rows
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.run.asking import find_report, report_names, reports_of
from clrevents.analysis.framework.vocabulary.answer_values import (
    ComparedRows,
    Dated,
    Evidence,
    Metric,
    MetricDeclaration,
    TimeWindow,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import numbered, sum_by
from clrevents.analysis.reports.heap import heap_snapshots
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot
from clrevents.analysis.reports.heap.heap_tables import OTHERS, display_name, dominator_rows
from clrevents.analysis.shared.forest.activity_signals import SignalKind, edge_of
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.trace import FilterOptions, Trace, passes_of


def start_counts(trace: Trace, blocks: TimeBlocks, **part: Unpack[FilterOptions]) -> dict[str, Floats]:
    """The number of events in each block, by `PROVIDER/NAME`. Raises what `Trace.tables` does."""
    edges = {
        kind.key: edge_of(kind.key.provider, kind.key.name, kind.row.opcode or 0)
        for kind in passes_of(trace).scan(raising=False).kinds
    }
    starts = [key for key, edge in edges.items() if edge is not None and edge[0] == SignalKind.BEGIN]
    found: dict[str, Floats] = {}
    for tables in trace.tables(*starts, columns=["time_ns"], **part) if starts else ():
        for event, table in tables.items():
            counts = blocks.sums(table.column("time_ns").values, np.ones(len(table)))
            name = "/".join(event)
            found[name] = found[name] + counts if name in found else counts
    return found


_SMALLEST: Final = 10_000
"""A path that keeps less than this part of everything alive is left out: rows that are compared are far larger."""

_NAMELESS: Final = "[no name]"


def snapshot_rows(trace: Trace, **window: Unpack[WindowOptions]) -> Iterator[Amount]:
    """Bytes by type, and bytes that are kept alive by path. None of a snapshot that is not complete."""
    last: dict[int | None, HeapSnapshot] = {one.process_id: one for one in heap_snapshots(trace, **window)}
    for snapshot in last.values():
        if snapshot.coverage.complete:
            yield from _types(snapshot)
            yield from _paths(snapshot)


def _types(snapshot: HeapSnapshot) -> Iterator[Amount]:
    sizes = sum_by(snapshot.type, snapshot.size.astype(np.int64), len(snapshot.types))
    # By name alone, as growth is: a module may be known on one side only.
    for type, size in zip(snapshot.types, sizes.tolist(), strict=True):
        yield Amount(HEAP_TYPES, type.raw_name or _NAMELESS, "bytes", size, "less", adds=False, label=type.name)


def _paths(snapshot: HeapSnapshot) -> Iterator[Amount]:
    paths: list[str] = []
    for line in dominator_rows(snapshot, display_name, _SMALLEST):
        text = " ".join(line.name.splitlines())
        paths.append(text if line.parent_row is None else f"{paths[line.parent_row]}\n{text}")
        if line.name != OTHERS:
            yield Amount(HEAP_PATHS, paths[-1], "bytes", line.retained_bytes, "less", adds=False, label=paths[-1])


_INCREASES: Final = ("rate", "counter")
_MEASURED: Final = ("mean", "histogram")


def counter_rows(found: Answer[Any], blocks: TimeBlocks) -> Iterator[Amount]:
    """A row for each counter that has a value, by its provider, name and tags."""
    series, values = found.table("series"), found.table("values")
    mine = zip(*(series.column(name).tolist() for name in ("row", "quantile", "other_session")), strict=True)
    wanted = {row for row, quantile, other in mine if quantile is None and not other}
    columns = ("series_row", "time_ns", "provider", "name", "tags", "kind", "unit", "value", "per_second", "count")
    sums: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    for row, time, provider, name, tags, kind, unit, value, rate, count in zip(
        *(values.column(column).tolist() for column in columns), strict=True
    ):
        amount = rate if kind in _INCREASES else value
        weight = (1 if count is None else count) if kind in _MEASURED else 1
        if row in wanted and amount is not None and weight:
            key = f"{provider}/{name}" + (f" {tags}" if tags and kind not in ("rate", "mean") else "")
            unit = f"{unit or 'count'}/s" if kind in _INCREASES else unit or ""
            sums.setdefault((key, unit), []).append((time, float(amount), float(weight)))
    for (key, unit), held in sums.items():
        moments = np.array([time for time, _, _ in held], dtype=np.int64)
        amounts, weights = (np.array(column) for column in ([a * w for _, a, w in held], [w for _, _, w in held]))
        over = blocks.sums(moments, weights)
        yield Amount(
            *(COUNTERS, key, _UNITS.get(unit, unit), float(amounts.sum() / weights.sum())),
            adds=False,
            evidence="sample",
            blocks=blocks.sums(moments, amounts),
            over=over,
        )


_UNITS: Final = {"B": "bytes", "B/s": "bytes/s", "count/s": "/s"}


CIRCUMSTANCES: Final = ("jit", "startup", "gc", "threads", "alloc")
"""Reports that tell what makes recordings differ."""
NAMING: Final = ("GCAllocationTick", "AllocationSampled")
"""Events of allocations that name the type; for others the report knows it from elsewhere."""


def measured(trace: Trace) -> Measured:
    """Measure a trace for comparing. Raises what `Trace.reports` does."""
    names = [name for name in report_names() if not find_report(name).not_compared]
    answers = reports_of(trace, [*names, *CIRCUMSTANCES, "counters"], {})
    samples = read_samples(trace)
    told = answers["alloc"].metrics["bytes_total"].value is not None
    allocated = read_samples(trace, weight="alloc") if told else None
    blocks = TimeBlocks.of(trace.duration_ns, samples, TimeWindow())
    metrics = [
        metric_amount(answers[name], declared, allocated, blocks)
        for name in names
        for declared in compared_metrics(name)
    ]
    rows = [*processor_rows(samples, blocks), *method_rows(samples, blocks), *state_rows(samples, blocks)]
    rows += type_rows(trace, answers["alloc"], allocated, blocks)
    for name in names:
        for declared in find_report(name).compared:
            rows += _rows(declared, answers[name], blocks)
    if answers["heap"].metrics["bytes"].value is not None:
        rows += snapshot_rows(trace)
    rows += counter_rows(answers["counters"], blocks)
    return Measured(
        answers["gc"].question.trace,
        blocks.count,
        blocks.span,
        circumstances(trace, answers, samples),
        tuple(metrics),
        tuple(rows),
        starts=start_counts(trace, blocks),
    )


def compared_metrics(report: str) -> list[MetricDeclaration]:
    """Those metrics of a report of which more or less is better, or which are known in blocks of time."""
    return [one for one in find_report(report).metrics if one.better != "neither" or one.dated is not None]


def metric_amount(
    found: Answer[Any], declared: MetricDeclaration, allocated: Samples | None, blocks: TimeBlocks
) -> Amount:
    """A metric of an answer, in blocks of time if its rows, or the samples of allocations, tell when it came about."""
    known = found.metrics[declared.name].value is not None
    held = _dated(found, declared.dated, blocks) if declared.dated is not None and known else None
    if (found.name, declared.name) == ("alloc", "bytes_total") and allocated is not None:
        held = blocks.sums(allocated.time_ns, allocated.weight.astype(np.float64))
    return amount_of(found, declared, held)


def amount_of(found: Answer[Any], declared: MetricDeclaration, held: Floats | None) -> Amount:
    """A metric of an answer, in these blocks unless they are not all of it."""
    metric = found.metrics[declared.name]
    if held is not None and not _adds_up(held, metric):
        held = None
    record = next((note.record for note in found.notes if note.id == NOT_RECORDED and note.record), None)
    return Amount(
        found.name,
        declared.name,
        metric.unit,
        metric.value,
        declared.better,
        declared.merge == "sum" and declared.windows,
        metric.evidence,
        metric.bounded,
        metric.reason,
        record if metric.value is None else None,
        held,
        since=declared.dated is not None and declared.dated.since,
    )


def _adds_up(held: Floats, metric: Metric) -> bool:
    value = metric.value
    return value is not None and bool(np.isclose(held.sum(), value, rtol=1e-6, atol=1))


def _dated(found: Answer[Any], dated: Dated, blocks: TimeBlocks) -> Floats:
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


def _rows(declared: ComparedRows, found: Answer[Any], blocks: TimeBlocks) -> Iterator[Amount]:
    rows: ReportTable[Any] = found.table(declared.table)
    of, keys = numbered([*zip(*(rows.column(name).tolist() for name in declared.names), strict=True)])
    moments = np.array(rows.column(declared.at).filled(0), dtype=np.int64)
    amount = declared.amount
    weights = np.ones(len(rows)) if amount is None else rows.column(amount).filled(0).astype(np.float64)
    texts = [" ".join(str(part or "?") for part in key) for key in keys]
    yield from _grouped(declared.name, texts, of, moments, weights, declared.unit, "event", blocks)


def _grouped(
    family: str,
    names: list[str],
    of: NDArray[np.int64],
    moments: NDArray[np.int64],
    weights: Floats,
    unit: str,
    evidence: Evidence,
    blocks: TimeBlocks,
) -> Iterator[Amount]:
    for name, mine in zip(names, blocks.grouped(of, len(names), moments, weights), strict=True):
        yield Amount(family, name, unit, float(mine.sum()), "less", evidence=evidence, blocks=mine)


def type_rows(
    trace: Trace, found: Answer[Any], allocated: Samples | None, blocks: TimeBlocks, **part: Unpack[FilterOptions]
) -> Iterator[Amount]:
    """Allocated bytes by type: in blocks where each event of the best source names one, else as the report has them."""
    if allocated is None:
        return
    # Events of NativeAOT programs have no names of types; the report asks the symbols.
    if allocated.event in NAMING and not trace.info.native_aot:
        table = trace.table(allocated.event, columns=["time_ns", "TypeName"], **part)
        if len(table) == len(allocated):
            of, names = numbered(table.column("TypeName").tolist())
            texts = [str(name or "?") for name in names]
            weights = allocated.weight.astype(np.float64)
            yield from _grouped(TYPES, texts, of, allocated.time_ns, weights, "bytes", "sample", blocks)
            return
    types = found.table(TYPES)
    for name, size in zip(types.column("type").tolist(), types.column("bytes").tolist(), strict=True):
        if size is not None:
            yield Amount(TYPES, str(name or "?"), "bytes", size, "less", evidence="sample")


def circumstances(
    trace: Trace, answers: Mapping[str, Answer[Any]], samples: Samples
) -> dict[str, str | int | float | None]:
    """What may make recordings differ though the program is the same, by the answers of `CIRCUMSTANCES`."""
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

"""`compare` and `measure`: recordings before and after, as users ask for them.

A trace brings metrics of its reports, and rows of methods, types, locks and the like. Reports say when something
happened in a table of theirs; what adds up to a metric there is counted in blocks of time, as weighted stacks are. Heap
snapshots, published counters and starts of activities become rows here. Methods of two traces are compared by how the
runtime writes them, and frames without a name by why they have none. Judges nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, Unpack, cast

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.compare import change as row_family
from clrevents.analysis.compare.block_statistics import Floats, TimeBlocks
from clrevents.analysis.compare.change import Per
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.judging import compared
from clrevents.analysis.compare.measured import Amount, Measured, is_saved, saved_measured
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions, parameters_of
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.run.asking import ask, find_report, report_names, reports_of, trace_window
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.framework.vocabulary.answer_values import (
    ComparedRows,
    Dated,
    Evidence,
    Metric,
    MetricDeclaration,
    TimeWindow,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Ints, numbered, sum_by
from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.reports.callers import CallersCollector, CallPaths
from clrevents.analysis.reports.heap import heap_snapshots
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot
from clrevents.analysis.reports.heap.heap_tables import OTHERS, display_name, dominator_rows
from clrevents.analysis.shared.forest.activity_signals import SignalKind, edge_of
from clrevents.analysis.shared.samples.calltree import By, summed_up, without_address
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.analysis.shared.samples.sample_collector import WEIGHTS, SampleCollector
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.trace import FilterOptions, Trace, passes_of
from clrevents.trace import open as open_trace

_MOST_IN_BLOCKS: Final = 20_000
"""Of more paths than this, the lightest have their sums only: each block of each would take memory."""


def method_rows(
    samples: Samples, blocks: TimeBlocks, by: By = "method", unit: str = "ns", evidence: Evidence = "sample"
) -> Iterator[Amount]:
    """What methods, or modules, weigh alone and with what they called, of whatever thread in whatever state."""
    samples = samples.seen()
    if not len(samples):
        return
    frames = [without_address(frame) for frame in samples.frames]
    if by == "method":
        of, keys = numbered([frame.raw for frame in frames])
        labels = _labels(frames)
        families = (row_family.EXCLUSIVE, row_family.INCLUSIVE)
    else:
        of, keys = numbered([frame.module or f"[{frame.reason or 'no module'}]" for frame in frames])
        labels = {key: key for key in keys}
        families = (row_family.MODULES, row_family.MODULES_INCLUSIVE)

    weights = samples.weight.astype(np.float64)
    leaf = of[samples.values[samples.offsets[samples.stack]]]
    alone = blocks.grouped(leaf, len(keys), samples.time_ns, weights)
    yield from _amounts(families[0], keys, alone, unit, evidence, labels)
    totals = np.zeros((len(keys), blocks.count))
    for stack, at, sums in _by_stack(samples, blocks, weights):
        # Each method once, however often it is on the stack.
        methods = np.unique(of[samples.values[samples.offsets[stack] : samples.offsets[stack + 1]]])
        totals[np.ix_(methods, at)] += sums
    yield from _amounts(families[1], keys, totals, unit, evidence, labels)


def processor_rows(samples: Samples, blocks: TimeBlocks) -> Iterator[Amount]:
    """The same of methods in processor time; none where it was not counted."""
    if samples.counted is None:
        return
    renamed = {row_family.EXCLUSIVE: row_family.PROCESSOR, row_family.INCLUSIVE: row_family.PROCESSOR_INCLUSIVE}
    for row in method_rows(samples.by_processor(), blocks, evidence="counted"):
        yield attrs.evolve(row, family=renamed[row.family])


def state_rows(samples: Samples, blocks: TimeBlocks) -> Iterator[Amount]:
    """What methods weigh alone, by what their threads did. None if the samples do not show who runs."""
    samples = samples.seen()
    if samples.state is None or not samples.running_told or not len(samples):
        return
    frames = [without_address(frame) for frame in samples.frames]
    of, keys = numbered([frame.raw for frame in frames])
    labels = _labels(frames)
    leaf = of[samples.values[samples.offsets[samples.stack]]] * len(STATES) + samples.state
    pairs, place = np.unique(leaf, return_inverse=True)
    in_blocks = blocks.grouped(place, len(pairs), samples.time_ns, samples.weight.astype(np.float64))
    for pair, row in zip(pairs.tolist(), in_blocks, strict=True):
        key, state = keys[pair // len(STATES)], STATES[pair % len(STATES)]
        name, label = f"{_line(key)}\n{state}", f"{labels[key]} [{state}]"
        yield Amount(
            row_family.BY_STATE, name, "ns", float(row.sum()), "less", evidence="sample", blocks=row, label=label
        )


def path_rows(
    samples: Samples,
    blocks: TimeBlocks,
    paths: tuple[Ints, CallPaths, CallPaths],
    method: str,
    unit: str,
    evidence: Evidence,
) -> Iterator[Amount]:
    """What paths of callers and of callees weigh, as lines from `method` on; the method itself is the first caller."""
    through, *sides = paths
    frames = [without_address(frame) for frame in samples.frames]
    labels = _labels(frames)
    lines = [(_line(frame.raw), _line(labels[frame.raw])) for frame in frames]
    weights, at = samples.weight.astype(np.float64), blocks.at(samples.time_ns)
    for family, side in zip((row_family.CALLERS, row_family.CALLEES), sides, strict=True):
        node = np.full(len(samples.offsets) - 1, -1, dtype=np.int64)
        node[through] = side.node
        ends = node[samples.stack]
        ending = ends >= 0
        own: Floats = np.bincount(ends[ending], weights[ending], len(side.parent)).astype(np.float64)
        sums: Floats = summed_up(side.parent, own).astype(np.float64)
        table, place = _in_blocks(side, sums, ends[ending], at[ending], weights[ending], blocks.count)
        paths_of: list[tuple[str, str]] = []
        for number, (parent, frame) in enumerate(zip(side.parent.tolist(), side.frame.tolist(), strict=True)):
            line = lines[frame] if number else (_line(method), _line(method))
            above = paths_of[parent] if number else None
            key, label = line if above is None else (f"{above[0]}\n{line[0]}", f"{above[1]}\n{line[1]}")
            paths_of.append((key, label))
            # Of the callees the method is the same row once more.
            if number or family == row_family.CALLERS:
                row = table[place[number]] if place[number] >= 0 else None
                value = float(sums[number])
                yield Amount(family, key, unit, value, "less", evidence=evidence, blocks=row, label=label)


def _in_blocks(side: CallPaths, sums: Floats, ends: Ints, at: Ints, weights: Floats, count: int) -> tuple[Floats, Ints]:
    """The heaviest nodes with everything below them, a row for each, and in which row each node is (-1: in none)."""
    # Of equal ones the first: a caller of all that follow.
    kept = np.sort(np.argsort(-sums, kind="stable")[:_MOST_IN_BLOCKS])
    place = np.full(len(sums), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    nearest = place.copy()
    for number in np.flatnonzero(place < 0).tolist():
        nearest[number] = nearest[side.parent[number]]
    size = len(kept) * count
    table = np.bincount(nearest[ends] * count + at, weights, size).astype(np.float64).reshape(len(kept), count)
    for row in range(len(kept) - 1, 0, -1):
        table[place[side.parent[kept[row]]]] += table[row]
    return table, place


def _by_stack(samples: Samples, blocks: TimeBlocks, weights: Floats) -> Iterator[tuple[int, Ints, Floats]]:
    """Each stack, the blocks that it occurs in, and what it weighs in each."""
    pairs, place = np.unique(samples.stack * blocks.count + blocks.at(samples.time_ns), return_inverse=True)
    sums: Floats = np.bincount(place, weights).astype(np.float64)
    stacks, at = pairs // blocks.count, pairs % blocks.count
    edges = np.flatnonzero(np.diff(stacks, prepend=-1))
    for first, last in zip(edges.tolist(), [*edges[1:].tolist(), len(stacks)], strict=True):
        yield int(stacks[first]), at[first:last], sums[first:last]


def _labels(frames: Sequence[StackFrame]) -> dict[str, str]:
    """Frames' names for people, by how the runtime writes them; which is told where two methods have the same name."""
    names = {frame.raw: frame.name for frame in frames}
    alike = Counter(names.values())
    return {raw: name if alike[name] == 1 else raw for raw, name in names.items()}


def _line(text: str) -> str:
    """A text without line ends, which separate those of a path."""
    return " ".join(text.splitlines())


def start_counts(trace: Trace, blocks: TimeBlocks, **part: Unpack[FilterOptions]) -> dict[str, Floats]:
    """The number of events in each block, by `PROVIDER/NAME`. Raises what `Trace.tables` does."""
    edges = {
        kind.key: edge_of(kind.key.provider, kind.key.name, kind.row.opcode or 0)
        for kind in passes_of(trace).scan(raising=False).kinds
    }
    starts = [key for key, edge in edges.items() if edge is not None and edge[0] == SignalKind.BEGIN]
    by_event: dict[str, Floats] = {}
    for tables in trace.tables(*starts, columns=["time_ns"], **part) if starts else ():
        for event, table in tables.items():
            counts = blocks.sums(table.column("time_ns").values, np.ones(len(table)))
            name = "/".join(event)
            by_event[name] = by_event[name] + counts if name in by_event else counts
    return by_event


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
        yield Amount(
            row_family.HEAP_TYPES, type.raw_name or _NAMELESS, "bytes", size, "less", adds=False, label=type.name
        )


def _paths(snapshot: HeapSnapshot) -> Iterator[Amount]:
    paths: list[str] = []
    for line in dominator_rows(snapshot, display_name, _SMALLEST):
        text = " ".join(line.name.splitlines())
        paths.append(text if line.parent_row is None else f"{paths[line.parent_row]}\n{text}")
        if line.name != OTHERS:
            yield Amount(
                row_family.HEAP_PATHS, paths[-1], "bytes", line.retained_bytes, "less", adds=False, label=paths[-1]
            )


_INCREASES: Final = ("rate", "counter")
_MEASURED: Final = ("mean", "histogram")


def counter_rows(answer: Answer[Any], blocks: TimeBlocks) -> Iterator[Amount]:
    """A row for each counter that has a value, by its provider, name and tags."""
    series, values = answer.table("series"), answer.table("values")
    rows = zip(*(series.column(name).tolist() for name in ("row", "quantile", "other_session")), strict=True)
    wanted = {row for row, quantile, other in rows if quantile is None and not other}
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
    for (key, unit), total in sums.items():
        moments = np.array([time for time, _, _ in total], dtype=np.int64)
        amounts, weights = (np.array(column) for column in ([a * w for _, a, w in total], [w for _, _, w in total]))
        over = blocks.sums(moments, weights)
        yield Amount(
            *(row_family.COUNTERS, key, _UNITS.get(unit, unit), float(amounts.sum() / weights.sum())),
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
    bytes_known = answers["alloc"].metrics["bytes_total"].value is not None
    allocated = read_samples(trace, weight="alloc") if bytes_known else None
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
    answer: Answer[Any], declared: MetricDeclaration, allocated: Samples | None, blocks: TimeBlocks
) -> Amount:
    """A metric of an answer, in blocks of time if its rows, or the samples of allocations, tell when it came about."""
    known = answer.metrics[declared.name].value is not None
    in_blocks = _dated(answer, declared.dated, blocks) if declared.dated is not None and known else None
    if (answer.name, declared.name) == ("alloc", "bytes_total") and allocated is not None:
        in_blocks = blocks.sums(allocated.time_ns, allocated.weight.astype(np.float64))
    return amount_of(answer, declared, in_blocks)


def amount_of(answer: Answer[Any], declared: MetricDeclaration, amounts: Floats | None) -> Amount:
    """A metric of an answer, in these blocks unless they are not all of it."""
    metric = answer.metrics[declared.name]
    if amounts is not None and not _adds_up(amounts, metric):
        amounts = None
    record = next((note.record for note in answer.notes if note.id == NOT_RECORDED and note.record), None)
    return Amount(
        answer.name,
        declared.name,
        metric.unit,
        metric.value,
        declared.better,
        declared.merge == "sum" and declared.windows,
        metric.evidence,
        metric.bounded,
        metric.reason,
        record if metric.value is None else None,
        amounts,
        since=declared.dated is not None and declared.dated.since,
    )


def _adds_up(amounts: Floats, metric: Metric) -> bool:
    value = metric.value
    return value is not None and bool(np.isclose(amounts.sum(), value, rtol=1e-6, atol=1))


def _dated(answer: Answer[Any], dated: Dated, blocks: TimeBlocks) -> Floats:
    rows = answer.table(dated.table)
    moments = rows.column(dated.at).tolist()
    amounts = [1] * len(rows) if dated.amount is None else rows.column(dated.amount).tolist()
    counted = (
        [True] * len(rows)
        if dated.where is None
        else [v == dated.where[1] for v in rows.column(dated.where[0]).tolist()]
    )
    ends = moments if dated.until is None else rows.column(dated.until).tolist()
    kept = [
        (at, at if end is None else end, amount)
        for at, end, amount, is_counted in zip(moments, ends, amounts, counted, strict=True)
        if is_counted and at is not None and amount is not None
    ]
    starts, stops = (np.array([row[place] for row in kept], dtype=np.int64) for place in (0, 1))
    weights = np.array([row[2] for row in kept], dtype=np.float64)
    return blocks.sums(starts, weights) if dated.until is None else blocks.spread(starts, stops, weights)


def _rows(declared: ComparedRows, answer: Answer[Any], blocks: TimeBlocks) -> Iterator[Amount]:
    rows: ReportTable[Any] = answer.table(declared.table)
    of, keys = numbered([*zip(*(rows.column(name).tolist() for name in declared.names), strict=True)])
    moments = np.array(rows.column(declared.at).filled(0), dtype=np.int64)
    amount = declared.amount
    weights = np.ones(len(rows)) if amount is None else rows.column(amount).filled(0).astype(np.float64)
    texts = [" ".join(str(part or "?") for part in key) for key in keys]
    yield from _amounts(declared.name, texts, blocks.grouped(of, len(texts), moments, weights), declared.unit, "event")


def _amounts(
    family: str, keys: list[str], sums: Floats, unit: str, evidence: Evidence, labels: Mapping[str, str] | None = None
) -> Iterator[Amount]:
    """An amount for each key, by its row of blocks; `labels` are its names for people."""
    for key, row in zip(keys, sums, strict=True):
        label = None if labels is None else labels[key]
        yield Amount(family, key, unit, float(row.sum()), "less", evidence=evidence, blocks=row, label=label)


def type_rows(
    trace: Trace, answer: Answer[Any], allocated: Samples | None, blocks: TimeBlocks, **part: Unpack[FilterOptions]
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
            sums = blocks.grouped(of, len(texts), allocated.time_ns, allocated.weight.astype(np.float64))
            yield from _amounts(row_family.TYPES, texts, sums, "bytes", "sample")
            return
    types = answer.table(row_family.TYPES)
    for name, size in zip(types.column("type").tolist(), types.column("bytes").tolist(), strict=True):
        if size is not None:
            yield Amount(row_family.TYPES, str(name or "?"), "bytes", size, "less", evidence="sample")


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


_FARTHEST: Final = 64
"""Paths of calls are followed so far unless `depth` says how far."""


def measured_rows(trace: Trace, report: str, window: WindowOptions, parameters: Mapping[str, Any]) -> Measured:
    """Measure what answers a question. Raises ValueError for a report whose rows are not compared, and what
    `Trace.report` does."""
    declared = find_report(report)
    if not declared.against:
        known = [repr(name) for name in report_names() if find_report(name).against]
        raise ValueError(f"rows are compared of {', '.join(known[:-1])} and {known[-1]}, not of {report!r}")
    if report == "callers" and parameters.get("depth") is None:
        parameters = {**parameters, "depth": _FARTHEST}
    given = declared.parameters(**parameters)
    for parameter in parameters_of(declared.parameters):
        if parameter.selector and (selector := getattr(given, parameter.name)) is not None:
            passes_of(trace).one_event(selector)
    if report == "alloc" and given.source != "best":
        raise ValueError("rows of one source of allocations are not compared: leave source out")
    if report == "heap" and (given.type or given.snapshot or given.baseline):
        raise ValueError("the last snapshots are compared, with all types: leave type, snapshot and baseline out")
    if parameters.get("raw"):
        raise ValueError("names are compared as they are shown: leave raw out")
    collectors: list[Any] = []

    def collector(asked: object) -> Any:
        collectors.append(declared.collector(asked))
        return collectors[-1]

    others = {name: find_report(name) for name in (*CIRCUMSTANCES, "requests") if name != report}
    answers = ask(
        trace,
        [
            Asked(attrs.evolve(declared, collector=collector), given),
            *(Asked(one, one.parameters()) for one in others.values()),
        ],
        window,
    )
    when: Any = {name: window.get(name) for name in ("start", "end")}
    sampled = _only(read_samples(trace, **when), window)
    blocks = TimeBlocks.of(trace.duration_ns, sampled, trace_window(trace, window))
    counts = [one for one in compared_metrics("requests") if one.name.endswith("_count")]
    circumstance = circumstances(trace, answers, sampled)
    answer = answers[report]
    if report == "alloc":
        allocated = None
        if answer.metrics["bytes_total"].value is not None:
            allocated = _only(read_samples(trace, weight="alloc", **when), window)
        amounts = [metric_amount(answer, one, allocated, blocks) for one in compared_metrics(report)]
        rows = [*type_rows(trace, answer, allocated, blocks, **window)]
    elif report == "heap":
        amounts = [metric_amount(answer, one, None, blocks) for one in compared_metrics(report)]
        rows = [*snapshot_rows(trace, **window)]
    else:
        rows = [row for one in collectors if one.collected for row in _stack_rows(one, given, blocks)]
        amounts = [_whole(report, answer, rows)]
        events = {one.collected.samples.event for one in collectors if one.collected and one.collected.unknown is None}
        circumstance = {**circumstance, "samples": ", ".join(sorted(events)) or None}
    asked = {name: value for name, value in {**attrs.asdict(given), **window}.items() if value is not None}
    question = " ".join([report, *(f"{name}={value!r}" for name, value in sorted(asked.items()))])
    metrics = [*amounts, *(metric_amount(answers["requests"], one, None, blocks) for one in counts)]
    return Measured(
        *(answers[report].question.trace, blocks.count, blocks.span, circumstance, tuple(metrics), tuple(rows)),
        question,
        start_counts(trace, blocks, **window),
    )


def _only(samples: Samples, window: WindowOptions) -> Samples:
    process = window.get("process_id")
    return samples if process is None else samples.of_process(process)


def _stack_rows(collector: SampleCollector[Any], given: Any, blocks: TimeBlocks) -> Iterator[Amount]:
    """The rows of one process."""
    collected = collector.collected
    assert collected is not None, "it has answered"
    unit = WEIGHTS[collected.samples.unit][1]
    if isinstance(collector, CallersCollector):
        samples = collected.samples.seen()
        yield from path_rows(samples, blocks, collector.paths(samples), given.method, unit, collected.evidence)
    else:
        by: By = "module" if given.by == "module" else "method"
        if by == "method":
            yield from processor_rows(collected.samples, blocks)
        yield from method_rows(collected.samples, blocks, by, unit, collected.evidence)


def _whole(report: str, answer: Answer[Any], rows: Sequence[Amount]) -> Amount:
    """What the rows are parts of, in blocks if these are."""
    name, families = (
        ("total", (row_family.EXCLUSIVE, row_family.MODULES))
        if report == "top"
        else ("inclusive", (row_family.CALLERS,))
    )
    parts = [row for row in rows if row.family in families and (report == "top" or "\n" not in row.name)]
    in_blocks = [row.blocks for row in parts if row.blocks is not None]
    blocks = sum(in_blocks[1:], in_blocks[0]) if in_blocks and len(in_blocks) == len(parts) else None
    declared = next(one for one in find_report(report).metrics if one.name == name)
    return amount_of(answer, declared, blocks)


Recording: TypeAlias = "str | os.PathLike[str] | Trace | Measured"
"""A trace, open or by its path or URL; or what was measured of one, as a value or saved in a `.json` file."""


def compare(
    base: Recording | Sequence[Recording],
    new: Recording | Sequence[Recording],
    *,
    per: Per | None = None,
    tables: Collection[str] = (),
    confirm: tuple[Recording, Recording] | None = None,
    report: str | None = None,
    **question: Any,
) -> Comparison:
    """What changed from base to new: one recording against one, or groups: four against four, six against three.

    Amounts are divided by the number of `"request"`s, by the `"second"`, by nothing (`"none"`), or by how often a start
    event of the program's own was written (`"OrderStart"`); by default by requests if all recordings have some, else by
    seconds. Rows of `tables`, such as `types`, are compared though no metric of theirs changed. `confirm` takes a
    second recording of each side: what differs is then what differs in both pairs, in the same direction.

    With `report="top"`, `"callers"`, `"alloc"` or `"heap"`, all rows of that report are compared, and nothing else;
    `question` is then its parameters and `start`, `end` and `process_id`, as `Trace.report` takes them.

    Raises ValueError for groups of too few recordings, for an unknown `per`, for requests that were not recorded, for
    groups with `confirm`, for recordings that were measured for different questions, and for a file that is no saved
    measurement; and what `clrevents.open` and `Trace.report` raise.
    """

    def all_of(side: Recording | Sequence[Recording]) -> list[Measured]:
        one = isinstance(side, str | os.PathLike | Trace | Measured)
        recordings = [cast("Recording", side)] if one else cast("Sequence[Recording]", side)
        return [measurement for recording in recordings for measurement in _measured_of(recording, report, question)]

    comparison = compared(all_of(base), all_of(new), per, tables)
    if confirm is None:
        return comparison
    if comparison.groups:
        raise ValueError("second recordings confirm a pair; a group just takes them in")
    return comparison.confirm(compared(all_of(confirm[0]), all_of(confirm[1]), comparison.per, tables))


def measure(recording: Recording, *, report: str | None = None, **question: object) -> Measured:
    """What `compare` compares of one recording: `save_measured` keeps it in a small file, a baseline.

    `report` and `question` are as in `compare`. What is measured already stays what it is.
    """
    if report is None and question:
        raise TypeError(f"{', '.join(sorted(question))}: only with report, whose question they are part of")
    if isinstance(recording, Measured):
        return recording
    if isinstance(recording, Trace):
        if report is None:
            return measured(recording)
        window: WindowOptions = {}
        for name in WindowOptions.__annotations__:
            if name in question:
                window[name] = question.pop(name)  # type: ignore[literal-required]
        return measured_rows(recording, report, window, question)
    path = os.fspath(recording)
    if is_saved(path):
        measurements = saved_measured(path)
        if len(measurements) > 1:
            raise ValueError(f"{path} has {counted(len(measurements), 'recording')}: `compare` takes them as a group")
        return measurements[0]
    with open_trace(path) as trace:
        return measure(trace, report=report, **question)


def _measured_of(recording: Recording, report: str | None, question: Mapping[str, object]) -> list[Measured]:
    if isinstance(recording, str | os.PathLike) and is_saved(path := os.fspath(recording)):
        return saved_measured(path)
    return [measure(recording, report=report, **question)]

"""A trace and a question, such as `top` with its options → the rows that answer it, as a comparison needs them.

The question is the report's own: what it chooses, weighs and shows is what is compared. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from clrevents.analysis.compare.families import CALLERS, EXCLUSIVE, MODULES
from clrevents.analysis.compare.measured import Amount, Measured
from clrevents.analysis.compare.measuring import (
    CIRCUMSTANCES,
    amount_of,
    circumstances,
    compared_metrics,
    metric_amount,
    snapshot_rows,
    start_counts,
    type_rows,
)
from clrevents.analysis.compare.stack_rows import method_rows, path_rows
from clrevents.analysis.compare.time_blocks import TimeBlocks
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions, parameters_of
from clrevents.analysis.framework.run.asking import ask, trace_window
from clrevents.analysis.framework.run.catalogue import find_report, report_names
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.reports.callers.report import CallersCollector
from clrevents.analysis.shared.samples.hot import By
from clrevents.analysis.shared.samples.sample_collector import WEIGHTS, SampleCollector
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.trace import Trace, passes_of

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
    made: list[Any] = []

    def collector(asked: Any) -> Any:
        made.append(declared.collector(asked))
        return made[-1]

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
    told = circumstances(trace, answers, sampled)
    found = answers[report]
    if report == "alloc":
        allocated = None
        if found.metrics["bytes_total"].value is not None:
            allocated = _only(read_samples(trace, weight="alloc", **when), window)
        amounts = [metric_amount(found, one, allocated, blocks) for one in compared_metrics(report)]
        rows = [*type_rows(trace, found, allocated, blocks, **window)]
    elif report == "heap":
        amounts = [metric_amount(found, one, None, blocks) for one in compared_metrics(report)]
        rows = [*snapshot_rows(trace, **window)]
    else:
        rows = [row for one in made if one.collected for row in _stack_rows(one, given, blocks)]
        amounts = [_whole(report, found, rows)]
        events = {one.collected.samples.event for one in made if one.collected and one.collected.unknown is None}
        told = {**told, "samples": ", ".join(sorted(events)) or None}
    asked = {name: value for name, value in {**attrs.asdict(given), **window}.items() if value is not None}
    question = " ".join([report, *(f"{name}={value!r}" for name, value in sorted(asked.items()))])
    metrics = [*amounts, *(metric_amount(answers["requests"], one, None, blocks) for one in counts)]
    return Measured(
        *(answers[report].question.trace, blocks.count, blocks.span, told, tuple(metrics), tuple(rows)),
        question,
        start_counts(trace, blocks, **window),
    )


def _only(samples: Samples, window: WindowOptions) -> Samples:
    process = window.get("process_id")
    return samples if process is None else samples.of_process(process)


def _stack_rows(made: SampleCollector[Any], given: Any, blocks: TimeBlocks) -> Iterator[Amount]:
    """The rows of one process."""
    found = made.collected
    assert found is not None, "it has answered"
    unit = WEIGHTS[found.samples.unit][1]
    if isinstance(made, CallersCollector):
        samples = found.samples.seen()
        yield from path_rows(samples, blocks, made.paths(samples), given.method, unit, found.evidence)
    else:
        by: By = "module" if given.by == "module" else "method"
        yield from method_rows(found.samples, blocks, by, unit, found.evidence)


def _whole(report: str, found: Answer[Any], rows: Sequence[Amount]) -> Amount:
    """What the rows are parts of, in blocks if these are."""
    name, families = ("total", (EXCLUSIVE, MODULES)) if report == "top" else ("inclusive", (CALLERS,))
    parts = [row for row in rows if row.family in families and (report == "top" or "\n" not in row.name)]
    held = [row.blocks for row in parts if row.blocks is not None]
    blocks = sum(held[1:], held[0]) if held and len(held) == len(parts) else None
    declared = next(one for one in find_report(report).metrics if one.name == name)
    return amount_of(found, declared, blocks)

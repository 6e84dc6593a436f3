"""`compare` and `measure`: recordings before and after, as users ask for them. Opens traces and saved measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import attrs

from clrevents._util.outputs import whole_file
from clrevents._util.words import counted
from clrevents.analysis.compare.block_statistics import TimeBlocks
from clrevents.analysis.compare.change import CALLERS, EXCLUSIVE, MODULES, Per
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.judging import compared
from clrevents.analysis.compare.measured import Amount, Measured
from clrevents.analysis.compare.measuring import (
    CIRCUMSTANCES,
    amount_of,
    circumstances,
    compared_metrics,
    measured,
    metric_amount,
    snapshot_rows,
    start_counts,
    type_rows,
)
from clrevents.analysis.compare.stack_rows import method_rows, path_rows, processor_rows
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions, parameters_of
from clrevents.analysis.framework.run.asking import ask, find_report, report_names, trace_window
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.reports.callers import CallersCollector
from clrevents.analysis.shared.samples.calltree import By
from clrevents.analysis.shared.samples.sample_collector import WEIGHTS, SampleCollector
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.errors import SourceError
from clrevents.trace import Trace, passes_of
from clrevents.trace import open as open_trace

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

    def collector(asked: object) -> Any:
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
        if by == "method":
            yield from processor_rows(found.samples, blocks)
        yield from method_rows(found.samples, blocks, by, unit, found.evidence)


def _whole(report: str, found: Answer[Any], rows: Sequence[Amount]) -> Amount:
    """What the rows are parts of, in blocks if these are."""
    name, families = ("total", (EXCLUSIVE, MODULES)) if report == "top" else ("inclusive", (CALLERS,))
    parts = [row for row in rows if row.family in families and (report == "top" or "\n" not in row.name)]
    held = [row.blocks for row in parts if row.blocks is not None]
    blocks = sum(held[1:], held[0]) if held and len(held) == len(parts) else None
    declared = next(one for one in find_report(report).metrics if one.name == name)
    return amount_of(found, declared, blocks)


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
        return [held for recording in recordings for held in _measured_of(recording, report, question)]

    found = compared(all_of(base), all_of(new), per, tables)
    if confirm is None:
        return found
    if found.groups:
        raise ValueError("second recordings confirm a pair; a group just takes them in")
    return found.confirm(compared(all_of(confirm[0]), all_of(confirm[1]), found.per, tables))


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
        held = saved_measured(path)
        if len(held) > 1:
            raise ValueError(f"{path} has {counted(len(held), 'recording')}: `compare` takes them as a group")
        return held[0]
    with open_trace(path) as trace:
        return measure(trace, report=report, **question)


def is_saved(path: str) -> bool:
    """Whether a path is that of a saved measurement, rather than of a trace."""
    return path.endswith(".json")


def save_measured(found: Measured | Sequence[Measured], path: str | os.PathLike[str]) -> None:
    """Write a measurement, or several, as JSON, a line each; the file appears complete or not at all,
    as private as the traces.

    Such files can be put together with `cat`. Raises OSError if writing fails.
    """
    held = [found] if isinstance(found, Measured) else found
    lines = [json.dumps(one.to_dict(), separators=(",", ":"), allow_nan=False) for one in held]
    with whole_file(os.fspath(path), *(one.trace.path for one in held)) as target:
        target.write("\n".join([*lines, ""]).encode())


def saved_measured(path: str) -> list[Measured]:
    """The measurements in a file. Raises SourceError if it cannot be read, ValueError if it is something else."""
    found: list[Measured] = []
    try:
        with open(path, encoding="utf-8") as file:
            rest = file.read().strip()
        while rest or not found:
            data, end = json.JSONDecoder().raw_decode(rest)
            found.append(Measured.from_dict(data))
            rest = rest[end:].lstrip()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no saved measurement: {error}") from None
    return found


def _measured_of(recording: Recording, report: str | None, question: Mapping[str, object]) -> list[Measured]:
    if isinstance(recording, str | os.PathLike) and is_saved(path := os.fspath(recording)):
        return saved_measured(path)
    return [measure(recording, report=report, **question)]

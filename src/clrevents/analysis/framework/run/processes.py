"""The processes of a trace: which kinds of event occur in each, which have the most, and their answers as one.

A fact that differs between processes is null; metrics are merged as they declare it, and nothing is computed anew but
shares, which are of all processes together. Decodes no payload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import KindsOfProcesses, SeenKind, SeenKinds
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES, MISSING, Coverage, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import shape_of, shares_of
from clrevents.errors import TraceError
from clrevents.trace import Trace, passes_of


def seen_kinds(trace: Trace) -> SeenKinds:
    """The kinds of event that occur in a trace."""
    scan = passes_of(trace).scan(raising=False)
    return SeenKinds.of((seen_kind(kind) for kind in scan.kinds if kind.key in scan.counts), trace.info)


def kinds_of_processes(trace: Trace) -> KindsOfProcesses:
    """The same by process, which takes a pass over the headers of a trace that has several."""
    passes = passes_of(trace)
    scan = passes.scan(raising=False)
    if trace.info.version < MANY_PROCESSES or len({thread.process_id for thread in scan.threads} - {None}) < 2:
        return KindsOfProcesses(seen_kinds(trace))
    pass_ = passes.columns(passes.selection(()), headers=("process_id",), payloads=False)
    pairs: set[tuple[int, int]] = set()
    for numbers, chunk_kinds in _processes_and_kinds(passes, pass_):
        pairs |= set(map(tuple, np.unique(np.column_stack((numbers, chunk_kinds)), axis=0).tolist()))
    kinds = pass_.stream.kinds.all
    return KindsOfProcesses.of((None if p < 0 else p, seen_kind(kinds[index])) for p, index in sorted(pairs))


def seen_kind(kind: Any) -> SeenKind:
    return SeenKind(kind.key.provider, kind.key.name, kind.row.keywords, kind.row.level)


def busiest_processes(trace: Trace, selectors: Sequence[str], most: int) -> frozenset[int | None] | None:
    """Those `most` processes that have the most of these events; None if there are no more of them."""
    passes = passes_of(trace)
    threads = passes.scan(raising=False).threads if trace.info.version >= MANY_PROCESSES else ()
    if len({thread.process_id for thread in threads}) <= most:
        return None
    events = Counter[int | None]()
    pass_ = passes.columns(passes.selection(selectors), headers=("process_id",), payloads=False)
    for processes, _ in _processes_and_kinds(passes, pass_):
        numbers, counts = np.unique(processes, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            events[None if number < 0 else number] += count
    return frozenset(process for process, _ in events.most_common(most))


def _processes_and_kinds(passes: Any, pass_: Any) -> Iterator[tuple[Any, Any]]:
    """Of each chunk the events' processes, -1 where unknown, and their kinds.

    What broke the reading is raised by the pass that the answers come from.
    """
    with suppress(TraceError):
        for chunk in passes.chunks(pass_):
            process = chunk.headers["process_id"]
            yield np.where(process.known, process.values, -1), chunk.kinds


_SEVERAL: Final = "there are several processes, and there is no common value for them"


def merged(answers: Sequence[Answer[Any]]) -> Answer[Any]:
    """One answer of at least one, each about another process."""
    first = answers[0]
    if len(answers) == 1:
        return first
    processes = tuple(process for answer in answers for process in answer.question.processes)
    changed: dict[str, Any] = {
        "question": attrs.evolve(first.question, processes=processes),
        "coverage": _coverage([answer.coverage for answer in answers]),
        "notes": _notes(answers, len(processes)),
        "facts": _facts([answer.facts for answer in answers]),
        "metrics": {name: merged_metric([answer.metrics[name] for answer in answers]) for name in first.metrics},
    }
    for declared in first.tables():
        tables = [answer.table(declared.name) for answer in answers]
        changed[declared.name] = _with_shares(ReportTable.joined(declared.row_class, tables))
    return attrs.evolve(first, **changed)


def of_some(answer: Answer[Any]) -> Answer[Any]:
    """An answer of some processes as one of all: sums are lower bounds, and nothing is a share of the whole."""
    sums = {name: one for name, one in answer.metrics.items() if one.merge != "none"}
    bounds = {name: one.bound(least=one.merge != "min") for name, one in sums.items()}
    changed: dict[str, Any] = {"metrics": {**answer.metrics, **bounds}}
    for declared in answer.tables():
        rows = answer.table(declared.name)
        unknown = dict.fromkeys(shares_of(declared.row_class), [None] * len(rows))
        changed[declared.name] = rows.replaced(**unknown) if unknown else rows
    return attrs.evolve(answer, **changed)


def _with_shares(rows: ReportTable[Any]) -> ReportTable[Any]:
    """Rows whose shares are of the whole, heaviest first unless they are a tree."""
    tree = shape_of(rows.row_class).tree
    for share, names in shares_of(rows.row_class).items():
        held = next((rows.column(name) for name in names if rows.column(name).known.any()), None)
        if held is None:
            continue
        weight = held.filled(0).astype(np.float64)
        whole = weight.sum() if tree is None else weight[rows.numbers(tree.depth) == 0].sum()
        rows = rows.replaced(**{share: weight / whole if whole else [None] * len(rows)})
        if tree is None:
            rows = rows.sorted_by(share, descending=True)
    return rows


def _coverage(found: Sequence[Coverage]) -> Coverage:
    if len(set(found)) == 1:
        return found[0]
    return "partial"


def _notes(answers: Sequence[Answer[Any]], processes: int) -> tuple[Note, ...]:
    """Each note once."""
    found = []
    for answer in answers:
        found += [note for note in answer.notes if note not in found]
    several = Note(
        "several-processes",
        "info",
        f"the trace has events of {processes} processes; facts that differ between them are not given",
        ("facts",),
        {"processes": processes},
        "ask for one of them with process_id",
    )
    return (*found, several)


def _facts(found: Sequence[Any]) -> Any:
    """What all agree on."""
    first = found[0]
    differing = {
        field.name: () if isinstance(getattr(first, field.name), tuple) else None
        for field in attrs.fields(type(first))
        if any(getattr(facts, field.name) != getattr(first, field.name) for facts in found)
    }
    return attrs.evolve(first, **differing)


def merged_metric(found: Sequence[Metric], several: str = _SEVERAL) -> Metric:
    """One metric from several of the same name; null, with the reason, if one of them is.

    Also null, with the reason `several`, if its declaration says `none`.
    """
    first = found[0]
    if first.merge == "none":
        return attrs.evolve(first, value=None, low=None, high=None, reason=several)
    values = [metric.value for metric in found if metric.value is not None]
    if len(values) < len(found):
        # One that is unknown may be the largest: neither a sum nor a maximum is known then.
        reason = next(metric.reason for metric in found if metric.value is None)
        return first.unknown(reason)
    merge: Mapping[str, Any] = {"sum": sum, "max": max, "min": min}
    bounds: dict[str, Any] = {}
    for bound in ("low", "high"):
        limits = [getattr(m, bound) if getattr(m, bound) is not None else m.value for m in found]
        known = any(getattr(m, bound) is not None for m in found)
        # One that has only the other bound may be anything on this side.
        known = known and not any(m.bounded and getattr(m, bound) is None for m in found)
        bounds[bound] = merge[first.merge]([limit for limit in limits if limit is not None]) if known else None
    made = attrs.evolve(first, value=merge[first.merge](values), reason=None, **bounds)
    return made if made.bounded or not any(m.bounded for m in found) else made.unknown(MISSING)

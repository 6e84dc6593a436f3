"""Answers about several processes → one: rows of all of them, metrics merged as they declare it.

A fact that differs between processes is null. Nothing is computed anew but shares, which are of all processes together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.vocabulary.answer_values import MISSING, Coverage, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import shape_of, shares_of

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

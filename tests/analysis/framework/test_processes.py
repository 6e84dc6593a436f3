"""Answers about several processes become one: rows of all, metrics as they merge, facts that all agree on."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

import built_pauses
import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import NoParameters
from clrevents.analysis.framework.run.report_reading import merged
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note
from sample_pauses import PauseFacts


def one(process: int, **changed: Any) -> Answer[Any]:
    found = report_laws.whole_answer(pauses.REPORT, NoParameters(), built_pauses.pauses(process_id=process))
    return attrs.evolve(found, **changed)


def metric(*metrics: Metric) -> Metric:
    return merged([one(n + 1, metrics={"m": metric}) for n, metric in enumerate(metrics)]).metrics["m"]


@pytest.mark.parametrize(
    ("merge", "values", "wanted"),
    [
        ("sum", (3, 4), 7),
        ("max", (3, 4), 4),
        ("min", (3, 4), 3),
        ("none", (3, 4), None),
        # With an unknown part all of it is unknown: that part may be the largest.
        ("sum", (3, None), None),
        ("max", (None, 4), None),
        ("min", (3, None), None),
        ("max", (None, None), None),
    ],
)
def test_metrics_merge_as_they_are_declared(merge: Any, values: tuple[int | None, ...], wanted: int | None) -> None:
    found = metric(*(Metric(v, "ns", merge=merge, reason="unseen" if v is None else None) for v in values))
    assert (found.value, found.unit, found.merge) == (wanted, "ns", merge)
    assert (found.reason is None) == (wanted is not None)


def test_an_estimate_and_a_count_make_an_estimate() -> None:
    found = metric(Metric(10, "bytes", low=8, high=12), Metric(5, "bytes"))
    assert (found.low, found.value, found.high) == (13, 15, 17)
    assert metric(Metric(1, "bytes"), Metric(5, "bytes")).low is None


@pytest.mark.parametrize(("first", "second", "wanted"), [(3, 3, 3), (3, 4, None), (None, 4, None)])
def test_facts_that_differ_are_null(first: int | None, second: int | None, wanted: int | None) -> None:
    both = merged([one(1, facts=PauseFacts(unfinished=first)), one(2, facts=PauseFacts(unfinished=second))])
    assert both.facts == PauseFacts(unfinished=wanted)


def test_equal_notes_stand_once_and_others_each() -> None:
    same, mine, yours = Note("a", "info", "x"), Note("b", "info", "y", numbers={"n": 1}), Note("b", "info", "y")
    both = merged([one(1, notes=(same, mine)), one(2, notes=(same, yours))])
    assert both.notes[:-1] == (same, mine, yours)
    assert (both.notes[-1].id, both.notes[-1].numbers) == ("several-processes", {"processes": 2})

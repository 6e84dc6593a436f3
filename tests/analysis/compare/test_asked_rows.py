"""Rows of top, callers and alloc against another trace: the numbers are the reports', the verdicts `compare`'s."""

from __future__ import annotations

import functools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clrevents
from clrevents.analysis.compare.change import Change
from clrevents.analysis.compare.comparison import Comparison, by_table, indented, row_text
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES

GARBAGE = FIXTURES / "net10-garbage.nettrace.gz"
CONVOY = FIXTURES / "net10-convoy.nettrace.gz"
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"report": "top"},
    {"report": "top", "by": "module", "waiting": True},
    {"report": "callers", "method": "System.*"},
    {"report": "alloc", "start": "20%", "end": "70%"},
)


@functools.cache
def shop(share: float, seed: int, price: str = "<Price>b__1_0", more: str | None = None) -> bytes:
    """12 s of one thread below Run: in a lambda of Price for this share of the time, else in Wait, or in `more`."""
    trace = TraceBuilder().thread(7)
    names = ("Run", price, "Wait", more or "Other")
    for place, name in enumerate(names):
        type = "Shop.Orders+<>c" if name.startswith("<") else "Shop.Orders"
        trace.method_load(type, name, address=0x1000 * (place + 1))
    draw = np.random.default_rng(seed).random(12_000)
    for tick, at in enumerate(draw.tolist()):
        leaf = 0x2010 if at < share else 0x4010 if more and at > 0.8 else 0x3010
        trace.at(tick * 1_000_000).sample(leaf, 0x1010)
    return trace.build()


def compared(base: Any, new: Any, **question: Any) -> Comparison:
    opened = [clrevents.open(one) for one in (base, new)]
    try:
        return clrevents.compare(opened[0], opened[1], **question)
    finally:
        for trace in opened:
            trace.close()


def rows_of(found: Comparison, family: str) -> dict[str, Change]:
    return {row.name: row for row in found.rows if row.family == family}


# The numbers are those of the reports. -----------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["method", "module"])
@pytest.mark.parametrize("part", [{}, {"start": "25%", "end": "75%"}, {"waiting": True}])
def test_amounts_of_methods_are_those_of_top(by: str, part: dict[str, Any]) -> None:
    with clrevents.open(GARBAGE) as trace:
        told = clrevents.measure(trace, report="top", by=by, **part)
        methods = trace.report("top", by=by, raw=True, **part).methods
    for family, column in ((f"{by}s", "exclusive_ns"), (f"{by}s and callees", "inclusive_ns")):
        found = {row.name: row.value for row in told.rows if row.family == family}
        names = methods.column("name").tolist()
        expected = dict(zip(names, methods.column(column).tolist(), strict=True))
        expected.pop("[not sampled]", None)
        assert found == expected
        assert all(row.blocks is not None and row.blocks.sum() == row.value for row in told.rows)


@pytest.mark.parametrize("method", ["*", "System.Threading.*", "Nothing"])
def test_amounts_of_paths_are_those_of_callers(method: str) -> None:
    with clrevents.open(GARBAGE) as trace:
        told = clrevents.measure(trace, report="callers", method=method)
        answer = trace.report("callers", method=method, raw=True)
    for family in ("callers", "callees"):
        tree = answer.table(family)
        paths: list[str] = []
        expected: dict[str, float] = defaultdict(float)
        names, above = tree.column("name").tolist(), tree.column("parent_node").tolist()
        for name, parent, value in zip(names, above, tree.column("inclusive_ns").tolist(), strict=True):
            paths.append(method if parent is None else f"{paths[parent]}\n{name}")
            if parent is not None or family == "callers":
                expected[paths[-1]] += value
        found: dict[str, float] = defaultdict(float)
        for row in told.rows:
            if row.family == family:
                found[row.name] += row.value or 0
        assert found == expected
    (whole,) = (one for one in told.metrics if one.name == "inclusive")
    assert whole.value == answer.metrics["inclusive"].value


# The verdicts are those of compare. --------------------------------------------------------------------------------


def test_verdicts_are_those_of_compare() -> None:
    base, new = shop(2 / 3, 1), shop(4 / 5, 3)
    whole, asked = compared(base, new), compared(base, new, report="top")
    assert asked.rows == whole.rows
    assert {row.name: (row.verdict, row.towards) for row in asked.rows} == {
        "Shop.Orders.Price.lambda_1_0()": ("differs", None),
        "Shop.Orders.Wait()": ("differs", None),
        "Shop.Orders.Run()": ("same", None),
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_a_against_a_is_empty_and_b_against_a_is_the_mirror(question: dict[str, Any]) -> None:
    garbage, convoy = (clrevents.measure(path, **question) for path in (GARBAGE, CONVOY))
    same = clrevents.compare(garbage, garbage, **question)
    assert same.rows
    assert same.alarms == ()
    assert all(row.base == row.new for row in same.rows)
    there, back = (clrevents.compare(*pair, **question) for pair in ((garbage, convoy), (convoy, garbage)))
    turned = {(row.family, row.name): row for row in back.rows}
    assert turned.keys() == {(row.family, row.name) for row in there.rows}
    for row in there.rows:
        other = turned[row.family, row.name]
        assert (other.base, other.new, other.verdict) == (row.new, row.base, row.verdict)


def test_gone_and_new_are_rows() -> None:
    found = compared(shop(0.6, 1), shop(0.6, 2, more="Log"), report="top")
    rows = rows_of(found, "methods")
    assert rows["Shop.Orders.Log()"].base == 0
    assert rows["Shop.Orders.Log()"].verdict == "differs"
    back = rows_of(compared(shop(0.6, 2, more="Log"), shop(0.6, 1), report="top"), "methods")
    assert back["Shop.Orders.Log()"].new == 0


def test_a_path_is_a_line_and_a_tree() -> None:
    found = compared(shop(0.6, 1), shop(0.6, 2), report="callers", method="Wait")
    (rows,) = (rows for family, rows in by_table(found.rows) if family == "callers")
    assert list(map(indented, rows)) == ["Wait", "  Shop.Orders.Run()"]
    assert row_text(rows[1]) == "Wait <- Shop.Orders.Run()"
    (callees,) = (rows for family, rows in by_table(compared(shop(0.6, 1), shop(0.6, 2), report="callers").rows[1:]))
    assert [len(text) - len(text.lstrip()) for text in map(indented, callees)] == [0, 2, 2]


# What cannot be compared. ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ({"report": "gc"}, "rows are compared of 'alloc', 'callers', 'heap' and 'top', not of 'gc'"),
        ({"report": "none"}, "no report"),
        ({"report": "top", "raw": True}, "leave raw out"),
        ({"report": "alloc", "source": "ticks"}, "leave source out"),
        ({"report": "top", "by": "size"}, "by must be"),
        ({"start": "1s", "end": "2s"}, "end, start: only with report"),
    ],
)
def test_questions_that_are_not_compared(question: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError if "report" in question else TypeError, match=wrong):
        clrevents.compare(GARBAGE, GARBAGE, **question)


def test_a_saved_answer_is_one_to_its_own_question(tmp_path: Path) -> None:
    saved = tmp_path / "top.json"
    clrevents.save_measured(clrevents.measure(GARBAGE, report="top", waiting=True), saved)
    found = clrevents.compare(saved, CONVOY, report="top", waiting=True)
    assert found.to_dict() == clrevents.compare(GARBAGE, CONVOY, report="top", waiting=True).to_dict()
    with pytest.raises(ValueError, match="measured for different questions"):
        clrevents.compare(saved, CONVOY, report="top")

"""Where each rule turns: every number that a planted case has or a rule reads is moved until it says something else.

`margins.tsv` has both sides of each such place, the last number of the one and the first of the other, with all that
is said. In `tests/`, `PYTHONPATH=support:support/laws python -m analysis.doctor.test_margins` writes it anew, which
takes minutes; look at what `git diff` says of it, and whether the texts of thresholds say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest

from analysis.doctor.test_lookalikes import LOOKALIKES
from analysis.doctor.test_rule_laws import LONG, OTHERS, SIZED, Facts, planted
from clrevents.analysis.doctor.diagnosing import verdict
from clrevents.analysis.doctor.rule import Ailment, Case, Clear, Rule
from clrevents.analysis.doctor.rulebook import RULES
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of

FILE: Final = Path(__file__).with_name("margins.tsv")
WINDOW, LOST, ROWS = "window", "trace.lost", "rows"
TRIED: Final = sorted({0, 1, *(digit * 10**power for power in range(12) for digit in (1, 3))})
"""Between two neighbours that differ, halves find the place; numbers with fractions are thousandths."""


def cases(rule: Rule) -> dict[str, Facts]:
    """Where it finds something, where it is clear, and what it tells apart."""
    if rule.id in SIZED:
        size = rule.threshold.size(planted(SIZED[rule.id](0)))
        sick, well = SIZED[rule.id](math.ceil(size * 1.5)), SIZED[rule.id](int(size * 0.5))
    else:
        sick, well = OTHERS[rule.id]
    # In a moment, shares are large, and what is little in all decides.
    brief = {**sick, WINDOW: LONG // 100}
    alike = {str(one.id): one.values[1] for one in LOOKALIKES if one.values[0] == rule.id}
    return {"sick": sick, "well": well, "brief": brief, **alike}


def moved(facts: Facts, what: str, number: int) -> Case:
    """The case, or one with another number: of the window, a metric, rows of a table, or a column's last row; of all
    its rows, where they are alike."""
    facts = {**facts}
    window = facts.pop(WINDOW, LONG)
    if what == WINDOW:
        return planted(facts, number)
    if what.endswith(f" {ROWS}"):
        table = what.removesuffix(ROWS).strip() + "/"
        less = {place: value[:number] if place.startswith(table) else value for place, value in facts.items()}
        return planted(less, window)
    if "/" not in what:
        return planted({**facts, what: number} if what else facts, window)
    table = what.rpartition("/")[0]
    rows = next(len(values) for place, values in facts.items() if place.rpartition("/")[0] == table)
    values = [*facts.get(what, [0] * rows)]
    value = number / 1000 if any(isinstance(one, float) for one in values) else number
    alike = all(one == values[0] for one in values)
    return planted({**facts, what: [value] * rows if alike else [*values[:-1], value]}, window)


def said(rule: Rule, case: Case) -> tuple[str, str]:
    """What a rule says: to tell two outcomes apart, and in full. Where what is planted contradicts itself, nothing."""
    try:
        one = verdict(case, rule)
    except (ValueError, IndexError, AssertionError, ZeroDivisionError) as contradicted:
        return "contradiction", f"{contradicted}"
    if isinstance(one, Ailment):
        kind = f"{one.impact.side}{one.impact.place}, {one.culprit}, {one.advice or rule.advice_for(case)}"
        share = "" if one.share is None else f" {one.share:.4g}"
        return f"ailment {kind}", f"ailment: {one.title} [{one.impact.value:.15g}{share} {one.span} {kind}]"
    if isinstance(one, Clear):
        return "clear", f"clear: {one.title} [{one.events:.6g} {one.ns:.6g}]"
    return "unknown", f"unknown: {one.reason}"


def margins() -> Iterator[tuple[str, ...]]:
    """Every place where a rule turns, and what it says on both sides."""
    for rule in RULES:
        for name, facts in cases(rule).items():
            for what, tried in sorted(numbers(rule, facts).items()):

                def at(number: int, facts: Facts = facts, what: str = what, rule: Rule = rule) -> tuple[str, str]:
                    return said(rule, moved(facts, what, number))

                for low, high in pairwise(tried):
                    if at(low)[0] != at(high)[0]:
                        turn = first(lambda n, low=low, at=at: at(n)[0] != at(low)[0], low, high)
                        before, after = at(turn - 1), at(turn)
                        if "contradiction" not in (before[0], after[0]):
                            yield rule.id, name, what, f"{turn}", before[1], after[1]


def numbers(rule: Rule, facts: Facts) -> dict[str, list[int]]:
    """What can be moved, to which numbers: what a rule reads of what is planted, and of metrics."""
    case = moved(facts, "", 0)
    metrics: set[str] = set()
    asked: set[tuple[type, str]] = set()
    metric, column = Case.metric, ReportTable.column

    def noted_metric(self: Case, name: str) -> Any:
        metrics.add(name)
        return metric(self, name)

    def noted_column(self: ReportTable[Any], name: str) -> Any:
        asked.add((self.row_class, name))
        return column(self, name)

    with mock.patch.object(Case, "metric", noted_metric), mock.patch.object(ReportTable, "column", noted_column):
        verdict(case, rule)
    known = [name for name in metrics if isinstance(case.value(name), int | float)]
    tried = dict.fromkeys((WINDOW, LOST, *known), TRIED)
    for table, rows in {
        place.rpartition("/")[0]: len(values) for place, values in facts.items() if "/" in place
    }.items():
        report, _, name = table.partition("/")
        shape = case.answers[report].table(name).row_class
        tried[f"{table} {ROWS}"] = [*(number for number in TRIED if number < rows), rows]
        for one in columns_of(shape):
            if (shape, one.name) in asked and one.cell.python in (int, float) and not one.many:
                tried[f"{table}/{one.name}"] = TRIED
    return tried


def first(turned: Callable[[int], bool], low: int, high: int) -> int:
    """The first number that turned, of which `low` did not and `high` did."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turned(middle) else (middle, high)
    return high


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_turns_where_it_did(rule: Rule) -> None:
    lines = [line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()]
    facts = cases(rule)
    own = [line for line in lines if line[0] == rule.id]
    assert {line[1] for line in own} >= {"sick"}, "a new rule: write margins.tsv anew, as the head of this file says"
    for _, name, what, number, before, after in own:
        sides = [said(rule, moved(facts[name], what, int(number) - more))[1] for more in (1, 0)]
        assert (what, number, *sides) == (what, number, before, after)


if __name__ == "__main__":
    FILE.write_text("".join("\t".join(line) + "\n" for line in margins()), encoding="utf-8")

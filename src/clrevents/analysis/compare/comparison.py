"""`Comparison`: the verdicts on two recordings or groups of them, as a value with its texts and conditions.

Made by `judging`; judges nothing itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import attrs

from clrevents._util.notebook_views import Value, html_text
from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents._util.words import safe
from clrevents._util.words import unknown as unknown_name
from clrevents.analysis.compare.change import EXCLUSIVE, FAMILIES, INCLUSIVE, OF_WORK, Change, Per
from clrevents.analysis.compare.comparison_texts import comparison_lines, markdown_lines, relative_text, row_text
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.model.conditions import Condition
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.shared.samples.stack_shapes import NamePattern
from clrevents.table.table import plain

# Amounts are alike if they differ by at most this part of the larger one: chance moves both.
_ALIKE = 0.25


@attrs.frozen
class Proposal(Value):
    """A method that is `gone`, and the method that may have taken its place, or taken it in."""

    kind: Literal["renamed", "inlined"]
    gone: str
    into: str

    def __str__(self) -> str:
        gone, into = safe(self.gone), safe(self.into)
        if self.kind == "renamed":
            return f"perhaps renamed: {gone} is gone, and {into} is new and takes as much time"
        return f"perhaps inlined: {gone} is gone, and {into} takes as much more itself, but not with callees"


def proposals(rows: Sequence[Change]) -> tuple[Proposal, ...]:
    """What may have become of methods whose time differs beyond chance because they are gone. One for each at most,
    and none where several methods could be meant."""
    own = [row for row in rows if row.family == EXCLUSIVE and row.alarm]
    moved = {row.name for row in rows if row.family == INCLUSIVE and row.alarm}
    gone = [row for row in own if row.base and not row.new]
    came = [row for row in own if row.new and not row.base]
    grew = [row for row in own if row.base and (row.change or 0) > 0 and row.name not in moved]
    found = dict(_only((a, b) for a in gone for b in came if _renamed(a, b)))
    taken = dict(_only((a, b) for a in gone if a.name not in found for b in grew if _alike(a.base, b.change)))
    return (
        *(Proposal("renamed", a, b) for a, b in found.items()),
        *(Proposal("inlined", a, b) for a, b in taken.items()),
    )


def _only(pairs: Iterator[tuple[Change, Change]]) -> Iterator[tuple[str, str]]:
    """Pairs of which neither side is in another one."""
    found = [(a.name, b.name) for a, b in pairs]
    for a, b in found:
        if sum(one == a or other == b for one, other in found) == 1:
            yield a, b


def _renamed(gone: Change, came: Change) -> bool:
    """Whether both have the same parameters, and the same type or the same name in another type."""
    (type, name, parameters), (other_type, other_name, others) = _parts(gone.name), _parts(came.name)
    return parameters == others and (type == other_type or name == other_name) and _alike(gone.base, came.new)


def _parts(method: str) -> tuple[str, str, str]:
    """Type, name and parameters of a method."""
    path, bracket, parameters = method.partition("(")
    type, _, name = path.rpartition(".")
    return type, name, bracket + parameters


def _alike(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= _ALIKE * max(one, other)


NOT_CONFIRMED: Final = "the second recordings do not show it"
REGRESSED: Final = "regressed"
"""The condition that nothing got worse."""
_ROWS: Final = re.compile(r"([a-z ]+):(.+?)\s*((?:<=|>=|<|>|==|!=|=)\s*-?[\d_.]+\s*%?)")
_NAMED: Final = 5
_ORDERED: Final = ("<", "<=", ">", ">=")


@frozen(eq=False, repr=False)
class Comparison:
    """All metrics, methods, and other rows of families that moved, of two recordings or groups of them."""

    base: tuple[Measured, ...]
    new: tuple[Measured, ...]
    per: Per
    warnings: tuple[str, ...]
    metrics: tuple[Change, ...]
    rows: tuple[Change, ...]
    confirmed_by: Comparison | None = None
    """What was found in second recordings: alarms here are those of both."""

    def confirm(self, second: Comparison) -> Comparison:
        """The same, with only those differences that second recordings show too, in the same direction."""

        def moved(change: Change) -> tuple[str, bool]:
            return change.key, (change.change or 0) > 0

        shown = set(map(moved, second.alarms))

        def kept(change: Change) -> Change:
            if not change.alarm or moved(change) in shown:
                return change
            return attrs.evolve(change, verdict="cannot tell", reason=NOT_CONFIRMED)

        metrics, rows = (tuple(map(kept, changes)) for changes in (self.metrics, self.rows))
        return attrs.evolve(self, metrics=metrics, rows=rows, confirmed_by=second)

    @property
    def groups(self) -> bool:
        """Whether recordings are what is counted, rather than blocks of time in two of them."""
        return len(self.base) > 1

    @property
    def alarms(self) -> tuple[Change, ...]:
        """What changed, or differs between these recordings."""
        return tuple(change for change in (*self.metrics, *self.rows) if change.alarm)

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What may have become of methods that are gone: renamed, or inlined into a caller."""
        return proposals(self.rows)

    def failing(self, *conditions: str) -> tuple[list[str], list[str]]:
        """Which conditions hold, and which may hold, a sentence for each metric or row.

        `"regressed"` holds for whatever changed beyond chance and for the worse. The others are on relative changes:
        of a metric (`"gc.pause_total>5%"`), or of all rows of a table that fit a pattern (`"methods:Shop.*>5%"`). One
        holds if the change is told from chance and the whole interval lies beyond the limit. Numbers of events are
        exact and have no interval. Where second recordings confirm, it has to hold in these too. Raises ValueError
        for an unknown metric or table, a comparison other than < <= > >=, and a limit that is not a share.
        """
        failed: list[str] = []
        unknown: list[str] = []
        for text in conditions:
            if text.strip() == REGRESSED:
                failed += [f"{one.key} is worse: {relative_text(one)}" for one in self.alarms if one.towards == "worse"]
                aimless = [
                    row.key for row in self.rows if row.alarm and row.family in OF_WORK and row.better == "neither"
                ]
                if aimless and not failed:
                    why = "by the second, less time may be the same work done less often (--per EVENT, request or none)"
                    unknown.append(f"cannot tell whether {', '.join(aimless[:_NAMED])} {REGRESSED}: {why}")
                continue
            condition, changes = self._condition(text)
            if not changes:
                unknown.append(f"cannot tell whether {condition.text}: no row that was compared fits")
            for change in changes:
                self._meet(condition, change, failed, unknown)
        return failed, unknown

    def _condition(self, text: str) -> tuple[Condition, list[Change]]:
        """A condition, and the metric or the rows that it is on."""
        metrics: Mapping[str, Change] = {change.key: change for change in self.metrics}
        table = rows_of(text)
        if table is None:
            condition = Condition.parse(text, metrics)
            changes = [metrics[condition.metric]]
        else:
            pattern, rest = _ROWS.fullmatch(text.strip()).groups()[1:]  # type: ignore[union-attr]
            condition = attrs.evolve(Condition.parse(f"change{rest}", ["change"]), text=text.strip())
            changes = [row for row in self.rows if row.family == table and _fits(NamePattern(pattern), row_text(row))]
        if condition.comparison not in _ORDERED:
            raise ValueError(f"{condition.text!r}: a change is compared by {', '.join(_ORDERED)}")
        return condition, changes

    def _meet(self, condition: Condition, change: Change, failed: list[str], unknown: list[str]) -> None:
        metric, holds = _relative(change), _holds(condition, change)
        told = f"{change.key} changed by {relative_text(change)}" if metric.value is not None else change.key
        second = self.confirmed_by
        again = () if second is None else (one for one in (*second.metrics, *second.rows) if one.key == change.key)
        if holds is None:
            unknown.append(f"cannot tell whether {condition.text}: {metric.reason or change.reason or told}")
        elif holds and second is not None and not any(_holds(condition, one) for one in again):
            unknown.append(f"cannot tell whether {condition.text}: {told}, but not so in the second recordings")
        elif holds:
            failed.append(f"{condition.text}: {told}")

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON types. Keys are only ever added."""
        return {
            "schema": "clrevents.compare/1",
            "clrevents": __version__,
            "base": [plain(one.trace) for one in self.base],
            "new": [plain(one.trace) for one in self.new],
            "per": self.per,
            "warnings": list(self.warnings),
            "metrics": [change.to_dict() for change in self.metrics],
            "rows": [change.to_dict() for change in self.rows],
            "proposals": [plain(one) for one in self.proposals],
            "confirmed_by": None if self.confirmed_by is None else self.confirmed_by.to_dict(),
        }

    def markdown(self) -> str:
        """The comparison as a comment on a pull request."""
        return "\n".join(markdown_lines(self))

    def __repr__(self) -> str:
        return "\n".join(comparison_lines(self))

    def _repr_html_(self) -> str:
        return html_text(repr(self))


def _holds(condition: Condition, change: Change) -> bool | None:
    """Whether a condition holds; None where that cannot be told from chance."""
    metric = _relative(change)
    holds = condition.holds(metric)
    return None if holds and metric.low is not None and not change.alarm else holds


def _fits(pattern: NamePattern, name: str) -> bool:
    """Whether a row's name is meant, with its parameters or without."""
    return any(pattern.match_text(text) is not None for text in (name, name.partition("(")[0]))


def rows_of(condition: str) -> str | None:
    """The table whose rows a condition is on; None for one on a metric. Raises ValueError for an unknown table."""
    match = _ROWS.fullmatch(condition.strip())
    if match is None:
        return None
    if match[1] not in FAMILIES:
        raise ValueError(unknown_name("table", match[1], FAMILIES))
    return match[1]


def _relative(change: Change) -> Metric:
    """The relative change as a metric; null if it is not known how far it can be trusted."""
    if change.base is None or change.new is None or change.change is None:
        return Metric(None, "ratio", reason=change.reason)
    counted = change.unit == "count" and change.evidence == "event"
    if change.low is None and not counted and change.verdict != "same":
        return Metric(None, "ratio", reason=change.reason)
    if not change.base:
        return Metric(math.inf if change.change else 0.0, "ratio")
    low, high = (change.relative(edge) for edge in (change.low, change.high))
    return Metric(change.relative(change.change), "ratio", low=low, high=high)

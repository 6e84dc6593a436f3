"""`Comparison`: the verdicts on two recordings or groups of them, as a value with its texts and conditions.

Made by `judging`; judges nothing itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import attrs

from clrevents._util.html import html_text
from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents.analysis.compare.change import Change, Per
from clrevents.analysis.compare.comparison_texts import comparison_lines, markdown_lines, relative_text
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.compare.proposals import Proposal, proposals
from clrevents.analysis.framework.model.conditions import Condition
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.table.build import plain

NOT_CONFIRMED: Final = "the second recordings do not show it"
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
        """Which conditions on relative changes of metrics hold, such as `"gc.pause_total>5%"`, and which may hold.

        One holds if the change is told from chance and the whole interval lies beyond the limit. Numbers of events are
        exact and have no interval. Where second recordings confirm, it has to hold in these too. Raises ValueError
        for an unknown metric, a comparison other than < <= > >=, and a limit that is not a share.
        """
        known: Mapping[str, Change] = {change.key: change for change in self.metrics}
        parsed = [Condition.parse(text, known) for text in conditions]
        failed, unknown = [], []
        for condition in parsed:
            if condition.comparison not in _ORDERED:
                raise ValueError(f"{condition.text!r}: a change is compared by {', '.join(_ORDERED)}")
            change = known[condition.metric]
            metric = _relative(change)
            holds = condition.holds(metric)
            told = f"{change.key} changed by {relative_text(change)}" if metric.value is not None else ""
            if holds is None or (holds and metric.low is not None and not change.alarm):
                unknown.append(f"cannot tell whether {condition.text}: {metric.reason or change.reason or told}")
            elif holds and self.confirmed_by is not None and not self.confirmed_by.failing(condition.text)[0]:
                unknown.append(f"cannot tell whether {condition.text}: {told}, but not so in the second recordings")
            elif holds:
                failed.append(f"{condition.text}: {told}")
        return failed, unknown

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

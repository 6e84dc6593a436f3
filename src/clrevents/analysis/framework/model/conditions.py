"""Conditions on the metrics of an answer, as people write them: `pause_max<50ms`, `peak <= 2 GiB`, `share < 5%`.

Compares exactly, without rounding. Knows units, but no report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, Self

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Metric, metric_text

_FORM: Final = re.compile(r"\s*([\w.]+)\s*(<=|>=|==|=|!=|<|>)\s*(-?[\d_]+(?:\.\d+)?)\s*(\S*)\s*")
_AMOUNT: Final = re.compile(r"\s*([\d_]+(?:\.\d+)?)\s*(\S*)\s*")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "==": eq,
    "=": eq,
    "!=": ne,
}
_UNITS: Final[Mapping[str, Mapping[str, Fraction]]] = {
    "ns": {unit: Fraction(10**power) for unit, power in (("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9))}
    | {"min": Fraction(60 * 10**9)},
    "bytes": {"": Fraction(1), "B": Fraction(1), "bytes": Fraction(1)}
    | {f"{letter}B": Fraction(1000**power) for power, letter in enumerate("kMGT", 1)}
    | {f"{letter}iB": Fraction(1024**power) for power, letter in enumerate("KMGT", 1)},
    "ratio": {"": Fraction(1), "%": Fraction(1, 100)},
}


@frozen
class Condition:
    """One comparison of a metric with a number; `text` is how it was written."""

    metric: str
    comparison: str
    number: Fraction
    unit: str
    text: str

    @classmethod
    def parse(cls, text: str, metrics: Collection[str]) -> Self:
        """Parse a condition on one of these metrics. ValueError for any other metric or text."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a condition such as 'count<100' or 'pause_max<50ms'")
        name, comparison, number, unit = match.groups()
        if name not in metrics:
            raise ValueError(f"no metric {name!r}; there are {', '.join(metrics)}")
        return cls(name, comparison, Fraction(number), unit, text.strip())

    def limit(self, unit: str) -> Fraction:
        """The number in this unit of the metric. Zero needs no unit. ValueError for a unit that does not fit."""
        units = _UNITS.get(unit, {"": Fraction(1), unit: Fraction(1)})
        if self.unit in units:
            return self.number * units[self.unit]
        if not self.number and not self.unit:
            return Fraction(0)
        known = ", ".join(filter(None, units))
        raise ValueError(f"{self.text!r}: {self.metric} is measured in {unit}, so the limit takes {known}")

    def holds(self, metric: Metric) -> bool | None:
        """Whether the metric is beyond the limit with its whole interval; None if it is not known, or only a part is.

        For < <= > >= only. ValueError for a limit in a unit that does not fit the metric.
        """
        limit = self.limit(metric.unit)
        if metric.value is None:
            return None
        verdicts = {
            _COMPARED[self.comparison](value, limit)
            for value in (metric.value, metric.low, metric.high)
            if value is not None
        }
        return verdicts.pop() if len(verdicts) == 1 else None

    def unmet(self, metric: Metric) -> str | None:
        """Why the metric does not meet the condition, in a sentence; None where it does.

        A metric without a value meets no condition. An estimate meets one only with its whole interval, and a lower
        bound may be exceeded by any amount. ValueError for a limit in a unit that does not fit the metric.
        """
        limit = self.limit(metric.unit)
        if metric.value is None:
            return f"{self.text} is unknown: {metric.reason}"
        low, high = metric.low, metric.high
        if (low is None) != (high is None):
            low, high = (low, math.inf) if high is None else (-math.inf, high)
        compare = _COMPARED[self.comparison]
        if all(compare(value, limit) for value in (Fraction(metric.value), low, high) if value is not None):
            return None
        return f"{self.text} does not hold: {self.metric} is {metric_text(metric)}"


def limit_of(text: str) -> Metric:
    """An amount with its unit: `5%`, `200ms`, `20MB`, or a plain count. ValueError for any other text."""
    match = _AMOUNT.fullmatch(text)
    if match is not None:
        number, unit = Fraction(match[1]), match[2]
        for metric, units in _UNITS.items():
            if unit and unit in units:
                return Metric(float(number * units[unit]), metric)
        if not unit:
            return Metric(float(number), "count")
    raise ValueError(f"{text!r} is not an amount such as 5%, 200ms, 20MB or 100")

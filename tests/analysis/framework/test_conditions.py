"""Conditions on metrics: what they accept, what they refuse, and that a number that is not known meets none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.framework.model.conditions import Condition
from clrevents.analysis.framework.vocabulary.answer_values import Metric

METRICS = ("pause_max", "count")


def why(text: str, metric: Metric) -> str | None:
    return Condition.parse(text, METRICS).unmet(metric)


@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [
        ("count<7ms", "ns", 7_000_000),
        ("count < 1.5 us", "ns", 1500),
        ("count<2min", "ns", 120 * 10**9),
        ("count<3", "bytes", 3),
        ("count<2kB", "bytes", 2000),
        ("count<2KiB", "bytes", 2048),
        ("count<1_000", "count", 1000),
        ("count<1000count", "count", 1000),
        ("count<-4", "count", -4),
    ],
)
def test_limits_have_the_units_of_the_metric(text: str, unit: str, limit: int) -> None:
    assert why(text, Metric(limit - 1, unit)) is None
    assert why(text, Metric(limit, unit)) is not None


@given(st.integers(-(10**18), 10**18), st.integers(-(10**18), 10**18))
def test_every_comparison_is_exact(value: int, limit: int) -> None:
    held = {
        "<": value < limit,
        "<=": value <= limit,
        ">": value > limit,
        ">=": value >= limit,
        "=": value == limit,
        "==": value == limit,
        "!=": value != limit,
    }
    metric = Metric(value, "count")
    assert {form: why(f"count{form}{limit}", metric) is None for form in held} == held


@pytest.mark.parametrize("unit", ["ns", "bytes", "ratio", "count", "bytes/s"])
def test_zero_needs_no_unit(unit: str) -> None:
    assert why("count=0", Metric(0, unit)) is None
    assert why("count<=0", Metric(1, unit)) is not None


def test_an_estimate_meets_a_condition_with_all_of_its_interval() -> None:
    metric = Metric(100, "bytes", low=80, high=130)
    assert why("count<131", metric) is None
    assert why("count<130", metric) == "count<130 does not hold: count is 100 B (between 80 B and 130 B)"
    assert why("count>80", metric) is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pause_max", "'pause_max' is not a condition such as 'count<100' or 'pause_max<50ms'"),
        ("pause_max=<3ms", "is not a condition"),
        ("pause_max<", "is not a condition"),
        ("pause_max<1e3ms", "is measured in ns, so the limit takes ns, us, µs, ms, s, min"),
        ("pause_max<50", "is measured in ns, so the limit takes ns, us, µs, ms, s, min"),
        ("pause_max<50%", "is measured in ns"),
        ("pauses<50ms", "no metric 'pauses'; there are pause_max, count"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        why(text, Metric(1, "ns"))

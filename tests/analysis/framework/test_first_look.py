"""The first look at an answer's parts: a metric with its unit, and the only table without its name."""

from __future__ import annotations

import pytest

import clrevents
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from project_files import fixture


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (Metric(1_780_345_112, "ns"), "1.78 s"),
        (Metric(5_800_000_000, "bytes", low=5_000_000_000, high=6_000_000_000), "5.8 GB (between 5.0 GB and 6.0 GB)"),
        (Metric(4711, "count", low=4711), "at least 4,711"),
        (Metric(None, "ns", reason="<b> was not recorded"), "unknown: <b> was not recorded"),
    ],
)
def test_a_metric_is_a_number_with_its_unit(metric: Metric, text: str) -> None:
    assert repr(metric) == f"<Metric {text}>"
    assert metric._repr_html_() == text.replace("<b>", "&lt;b&gt;")


def test_the_only_table_needs_no_name() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        top, locks = trace.report("top"), trace.report("locks")
    assert top.table() is top.table("methods")
    with pytest.raises(KeyError, match="name a table; there are deadlocks, locks, "):
        locks.table()

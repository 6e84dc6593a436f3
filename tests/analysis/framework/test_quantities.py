"""What is declared to be the same quantity agrees between reports, and no two lines of an answer have one name."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from project_files import SHARED, fixture, fixtures, unpacked
from reading import opened
from tiers import drawn

FAST = [fixture(name) for name in ("net10-exceptions", "net8-method-interop", "net10-garbage")]
QUANTITIES = {"alloc": "allocated.bytes", "exceptions": "exceptions.thrown"}
"""What the total of `top --by` each of these is."""
FOLDERS = ("traces/own", "traces/perfview", "scenarios", "rare")
SHARED_TRACES = [path for folder in FOLDERS for path in sorted((SHARED / folder).glob("*.net*.gz"))]


def declared() -> dict[str, list[tuple[str, str]]]:
    """The metrics of each quantity, as (report, metric)."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in report_names():
        for metric in find_report(name).metrics:
            if metric.quantity:
                found[metric.quantity].append((name, metric.name))
    return found


def agree(data: bytes | Path, windows: tuple[tuple[Any, Any], ...] = ((None, None), ("20%", "70%"))) -> int:
    """How many quantities were compared that are not null."""
    compared = 0
    with opened(data) as trace:
        for start, end in windows:
            answers = trace.reports(start=start, end=end)
            values = {
                quantity: {(name, metric): answers[name].metrics[metric].value for name, metric in places}
                for quantity, places in declared().items()
            }
            for word, quantity in QUANTITIES.items():
                told = trace.report("top", by=word, start=start, end=end)
                values[quantity]["top", word] = told.metrics["total"].value
            for quantity, each in values.items():
                assert len(set(each.values())) == 1, (quantity, each)
                compared += None not in each.values()
    return compared


def test_a_quantity_is_of_two_reports_and_of_one_unit() -> None:
    for quantity, places in declared().items():
        units = {m.unit for name, metric in places for m in find_report(name).metrics if m.name == metric}
        assert len(units) == 1, quantity
        assert len(places) + (quantity in QUANTITIES.values()) > 1, quantity


@pytest.mark.parametrize("path", FAST, ids=lambda path: path.name.partition(".")[0])
def test_reports_agree(path: Path) -> None:
    assert agree(unpacked(path)) > 0


OTHERS = [pytest.param(p) for p in fixtures() if p not in FAST and drawn(2, "quantities", p.name)]
OTHERS += [pytest.param(p, marks=pytest.mark.shared) for p in SHARED_TRACES if drawn(16, "quantities", p.name)]


@pytest.mark.full
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name.partition(".net")[0])
def test_reports_agree_on_every_trace(path: Path) -> None:
    agree(path)


@pytest.mark.parametrize("name", report_names())
def test_no_two_lines_have_one_name(name: str) -> None:
    """As they are shown: a metric `until` and a fact `until_ns` would both be `until`."""
    declaration = find_report(name)
    shown = [metric.name for metric in declaration.metrics]
    shown += [column.name.removesuffix("_ns") for column in columns_of(declaration.answer.facts_class())]
    assert len(shown) == len(set(shown))

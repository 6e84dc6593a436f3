"""What is measured of real and built traces: nothing that reports would not say, and the same again when saved."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.analysis.compare.change import FAMILIES
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from project_files import FIXTURES, SHARED, fixtures, without_shared
from tiers import few

GARBAGE = FIXTURES / "net10-garbage.nettrace.gz"
CONVOY = FIXTURES / "net10-convoy.nettrace.gz"


@pytest.fixture(scope="module")
def garbage() -> Measured:
    return clrevents.measure(GARBAGE)


def test_declarations_are_of_reports() -> None:
    """What a report says of when its metrics came about, and of rows to compare, is of tables and columns that it has;
    one whose metrics are not compared says why, and declares nothing else."""
    for declared in map(find_report, report_names()):
        tables = {table.name: {c.name for c in columns_of(table.row_class)} for table in declared.answer.tables()}
        dated = [metric.dated for metric in declared.metrics if metric.dated is not None]
        for one in dated:
            named = (one.at, one.amount, one.until, None if one.where is None else one.where[0])
            assert tables[one.table] >= {name for name in named if name is not None}, (declared.name, one)
        for rows in declared.compared:
            assert tables[rows.table] >= {*rows.names, rows.at, rows.amount or rows.at}
            family = FAMILIES.get(rows.name)
            assert family is not None, f"{rows.name}: rows are compared by their line in FAMILIES (compare/change.py)"
            assert family.report == declared.name, f"rows of two reports are called {rows.name}"
        assert not (declared.not_compared and (dated or declared.compared))
    assert set(LEFT_OUT) == {name for name in report_names() if find_report(name).not_compared}


LEFT_OUT = ("activities", "callers", "counters", "modules", "startup", "stubs", "top")


@pytest.mark.parametrize("path", few(fixtures(), lambda path: path.name == GARBAGE.name), ids=lambda path: path.name)
def test_metrics_are_those_of_reports_and_blocks_add_up_to_them(path: Path) -> None:
    """Every metric that happens at known times has blocks: no table lacks what its report adds up."""
    with clrevents.open(path) as trace:
        answers, found = trace.reports(), clrevents.measure(trace)
    dated = {name: {m.name for m in find_report(name).metrics if m.dated is not None} for name in report_names()}
    for amount in found.metrics:
        assert amount.value == answers[amount.family].metrics[amount.name].value
        if amount.blocks is not None:
            assert len(amount.blocks) == found.count
            assert amount.blocks.sum() == pytest.approx(amount.value, rel=1e-6, abs=1)
        elif amount.family in dated and amount.name in dated[amount.family]:
            assert amount.value is None or amount.bound, amount


def test_time_is_spread_over_its_blocks(garbage: Measured) -> None:
    """One thread slept for most of the recording: no block holds more than its own length."""
    (slept,) = (amount for amount in garbage.metrics if (amount.family, amount.name) == ("threads", "sleep_total"))
    assert slept.blocks is not None
    length = garbage.span_ns / garbage.count
    # What lies before the first sample counts in the first block.
    assert (slept.blocks[1:-1] <= length + 1).all()
    assert (slept.blocks[1:-1] > 0.99 * length).sum() > garbage.count / 2


def test_a_file_compares_as_its_trace(garbage: Measured, tmp_path: Path) -> None:
    clrevents.save_measured(garbage, tmp_path / "garbage.json")
    found = clrevents.compare(tmp_path / "garbage.json", CONVOY)
    assert found.to_dict() == clrevents.compare(GARBAGE, CONVOY).to_dict()
    assert Comparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert clrevents.compare(garbage, tmp_path / "garbage.json").alarms == ()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "clrevents.gc/1"}', '{"schema": "clrevents.measured/1"}'])
def test_a_file_that_is_something_else(text: str, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(ValueError, match=r"odd\.json is no saved measurement"):
        clrevents.measure(tmp_path / "odd.json")


@pytest.mark.parametrize(
    "changed",
    [
        *({"count": count} for count in (0, -1, 1 << 60, "x", None)),
        *({"span_ns": span} for span in (0, -5, None)),
        {"metrics": [{"family": "gc"}]},
        {"metrics": [None]},
        {"trace": {}},
        {"circumstances": 7},
        {"circumstances": {"runtime": ["8.0"]}},
        *({"rows": [("value", value)]} for value in (float("nan"), float("inf"), 10**400, "x", [1])),
        *({"rows": [("blocks", blocks)]} for blocks in ([[999], [1]], [[0.5], ["x"]], [[0], [float("nan")]], [], 7)),
        {"rows": [("name", 7)]},
        *(
            {"starts": held}
            for held in (7, {"a": 7}, {"a": [[999], [1]]}, {"a": [[0], [-1]]}, {"a": [[0], [float("nan")]]})
        ),
    ],
    ids=str,
)
def test_a_file_that_somebody_changed(changed: dict[str, Any], garbage: Measured) -> None:
    data = garbage.to_dict()
    if isinstance(changed.get("rows", [None])[0], tuple):
        ((name, value),) = changed["rows"]
        changed = {"rows": [{**data["rows"][0], name: value}]}
    with pytest.raises(ValueError, match=r"damaged|not a number|convert|invalid|sequence"):
        Measured.from_dict({**data, **changed})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(clrevents.SourceError, match="cannot read"):
        clrevents.measure(tmp_path / "none.json")


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not SHARED.is_dir(), reason=without_shared("a trace with every allocation"))
def test_types_that_events_do_not_name() -> None:
    path = SHARED / "traces" / "own" / "net10-all.nettrace.gz"
    with clrevents.open(path) as trace:
        types = trace.report("alloc").types
        found = clrevents.measure(trace)
    told = {row.name: row.value for row in found.rows if row.family == "types"}
    assert sum(told.values()) == sum(types.column("bytes").tolist())  # type: ignore[arg-type]
    assert len(told) > 10
    assert clrevents.compare(found, found).alarms == ()


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.skipif(not SHARED.is_dir(), reason=without_shared("one scenario on three runtimes"))
@pytest.mark.parametrize(
    "scenario", ["async", "convoy", "cpu", "exceptions", "garbage", "heap", "starvation", "states", "servergc"]
)
def test_one_scenario_on_three_runtimes(scenario: str) -> None:
    """What one runtime does not tell is not comparable, and nothing differs: neither methods that another compiler
    named in its own way, nor times by state, which .NET Core 3.1 does not tell."""
    traces = (SHARED / "scenarios" / f"{run}.nettrace.gz" for run in (f"net31-{scenario}-44", f"net8-{scenario}-44"))
    newest = SHARED / "scenarios" / f"net10-{scenario}-11.nettrace.gz"
    held = [clrevents.measure(path) for path in (*traces, newest) if path.exists()]
    for old, new in combinations(held, 2):
        found = clrevents.compare(old, new)
        assert any(text.startswith("runtime: ") for text in found.warnings) or scenario == "heap"
        assert found.alarms == ()
        for change in (*found.changes, *found.rows):
            if change.family in {"methods", "methods and callees"}:
                assert change.base is not None
                assert change.new is not None
                continue
            both = [
                side.value
                for one in (old, new)
                for side in (*one.metrics, *one.rows)
                if (side.family, side.label or side.name) == (change.family, change.name)
            ]
            assert (None in both) == (change.verdict == "not comparable"), change.key
        old_runtime = str(old.circumstances["runtime"])
        if old_runtime.startswith("3.1") and scenario not in ("heap", "servergc"):
            assert "threads.running_total" in {c.key for c in found.changes if c.verdict == "not comparable"}

"""What reports say, read as a worker of Spark reads it: tables of all reports, all values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import clrevents
from built_fleet import BuiltFleet, build_fleet
from built_requests import Web
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.fleet.fleet_answer import FleetAnswer
from clrevents.table.table import Table
from local_spark import local_session, plain, rows_of
from project_files import fixture
from tiers import drawn

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("pyspark", reason="needs pyspark")

SUMMARIES = import_module("clrevents.fleet.spark_rows").SUMMARIES

TABLES = [(name, table.name) for name in report_names() for table in find_report(name).answer.tables()]
SAMPLE = [found for found in TABLES if drawn(3, "tables in Spark", *found)]
"""Their columns are of a dozen types; each table is read by itself, from all places."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    yield from local_session()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Traces that together have rows in most tables, and one that is no trace."""
    folder = tmp_path_factory.mktemp("reported")
    web = Web()
    web.whole("/items/1?secret=2", 5, "A")
    web.whole("/items/2", 5, "A", 404)
    (folder / "web.nettrace").write_bytes(web.builder.build())
    (folder / "letter.nettrace").write_text("Dear sirs,")
    named = [str(fixture(name)) for name in ("net10-starvation", "net8-heap")]
    return [*named, str(folder / "web.nettrace"), str(folder / "letter.nettrace")]


@pytest.fixture(scope="module")
def answers(places: list[str]) -> Iterator[dict[str, FleetAnswer]]:
    with clrevents.open_many(places, jobs=1) as traces:
        yield {name: traces.report(name, tables=[t for r, t in SAMPLE if r == name]) for name in report_names()}


def read_here(spark: Any, place: list[str], **options: str) -> tuple[list[str], Counter[tuple[Any, ...]]]:
    """The columns, and the rows that a worker would send; Spark's own check of each batch is done here, too."""
    import json

    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    from clrevents.fleet.spark import NettraceDataSource

    source = NettraceDataSource({"paths": json.dumps(place), **options})
    schema = StructType.fromDDL(source.schema())
    expected = to_arrow_schema(schema, timezone="UTC")
    reader = source.reader(schema)
    rows: Counter[tuple[Any, ...]] = Counter()
    for partition in reader.partitions():
        for batch in reader.read(partition):
            assert batch.schema.equals(expected)
            rows.update(tuple(plain(v) for k, v in row.items() if k != "time") for row in batch.to_pylist())
    return schema.fieldNames(), rows


def check(spark: Any, places: list[str], report: str, table: str, expected: Table) -> None:
    columns, rows = read_here(spark, places, report=report, table=table)
    assert columns == expected.columns
    assert rows == rows_of(expected)


@pytest.mark.parametrize(("report", "table"), SAMPLE)
def test_tables(spark: Any, places: list[str], answers: dict[str, FleetAnswer], report: str, table: str) -> None:
    check(spark, places, report, table, answers[report].table(table))


@pytest.mark.parametrize("report", [name for name in report_names() if drawn(3, "summaries in Spark", name)])
def test_metrics_facts_and_notes(spark: Any, places: list[str], answers: dict[str, FleetAnswer], report: str) -> None:
    answer = answers[report]
    assert len(answer.by_trace) == 3
    check(spark, places, report, "by_trace", answer.by_trace)
    check(spark, places, report, "facts", answer.facts)
    check(spark, places, report, "notes", answer.notes)


def test_metrics_are_those_of_each_trace(places: list[str], answers: dict[str, FleetAnswer]) -> None:
    """Whole numbers where the unit has no fractions, and no number is rounded."""
    for place in places[:3]:
        with clrevents.open(place) as trace:
            for name, answer in trace.reports().items():
                row = next(row for row in answers[name].by_trace.rows() if row["trace"] == place)
                expected = {metric: found.value for metric, found in answer.metrics.items()}
                assert row == {"trace": place, "coverage": answer.coverage, **expected}


def test_most_tables_have_rows(answers: dict[str, FleetAnswer]) -> None:
    filled = sum(len(answers[report].table(table)) > 0 for report, table in SAMPLE)
    assert filled >= len(SAMPLE) * 0.7, f"{filled} of {len(SAMPLE)}"
    assert sum(len(answer.notes) > 0 for answer in answers.values()) >= 10


def test_names_of_summaries_are_free() -> None:
    assert not [found for found in TABLES if found[1] in SUMMARIES]
    assert [found for found in TABLES if found[1] == "problems"] == [("counters", "problems")]


def test_a_reports_own_table_of_problems(spark: Any, places: list[str]) -> None:
    own, _ = read_here(spark, places, report="counters", table="problems")
    row_class = next(t for t in find_report("counters").answer.tables() if t.name == "problems").row_class
    assert own == ["trace", *(column.name for column in columns_of(row_class))]
    of_traces, rows = read_here(spark, places, report="gc", table="problems")
    assert of_traces[:4] == ["trace", "kind", "severity", "message"]
    assert {row[0] for row in rows} >= {places[-1]}


def test_parameters_and_windows(spark: Any, places: list[str]) -> None:
    with clrevents.open_many(places, jobs=1) as traces:
        whole = traces.report("top").table("methods")
        part = traces.report("top", start="20%", end="50%").table("methods")
        mine = traces.report("top", my_code=True).table("methods")
    assert len({len(whole), len(part), len(mine)}) == 3
    window = {"start": "20%", "end": "50%"}
    assert read_here(spark, places, report="top", table="methods", **window)[1] == rows_of(part)
    asked = {"parameters": '{"my_code": true}'}
    assert read_here(spark, places, report="top", table="methods", **asked)[1] == rows_of(mine)


def test_findings(spark: Any, places: list[str]) -> None:
    with clrevents.open_many(places, jobs=1) as traces:
        every, some = traces.doctor(), traces.doctor("pool.*", start="20%")
    columns, rows = read_here(spark, places, table="findings")
    assert columns == every.columns
    assert rows == rows_of(every)
    assert read_here(spark, places, table="findings", parameters='{"rules": ["pool.*"]}', start="20%")[1] == rows_of(
        some
    )
    found = {row[columns.index("rule")] for row in rows if row[columns.index("state")] == "found"}
    assert {"pool.starved", "pool.sync_over_async"} <= found


def test_findings_by_rules_that_do_not_exist(spark: Any, places: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no rule 'pool\.starve'"):
        read_here(spark, places, table="findings", parameters='{"rules": ["pool.starve"]}')


# What is wrong with traces. ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    return build_fleet(tmp_path_factory.mktemp("spark") / "night", 30, damaged=8, empty=1, seed=5)


@pytest.mark.parametrize(
    ("options", "ask"),
    [
        ({"event": "Fleet/Turn"}, lambda traces: traces.table("Fleet/Turn")),
        ({"event": "MethodLoadVerbose"}, lambda traces: traces.table("MethodLoadVerbose")),
        ({"report": "top"}, lambda traces: traces.report("top")),
    ],
)
def test_problems_of_a_question(spark: Any, fleet: BuiltFleet, options: dict[str, str], ask: Any) -> None:
    """What a scan of the headers meets, and what only the question meets."""
    with clrevents.open_many(fleet.folder, jobs=1) as traces:
        traces.event_counts()
        scanned = rows_of(traces.problems)
        ask(traces)
        expected = rows_of(traces.problems)
    assert scanned
    _, found = read_here(spark, fleet.paths, table="problems", **options)
    assert found == expected

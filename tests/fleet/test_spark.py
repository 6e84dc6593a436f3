"""A real Spark says of many traces what `open_many` says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import clrevents
from built_fleet import BuiltFleet, build_fleet
from clrevents import Traces
from local_spark import local_session, needs_spark, plain, rows_of
from project_files import FIXTURES

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    yield from local_session()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    return build_fleet(tmp_path_factory.mktemp("spark") / "night", 20, damaged=3, empty=1)


@pytest.fixture(scope="module")
def traces(fleet: BuiltFleet) -> Iterator[Traces]:
    with clrevents.open_many(fleet.folder, jobs=1) as opened:
        yield opened


def loaded(spark: Any, place: Any, schema: str | None = None, **options: str) -> Any:
    reader = spark.read.format("nettrace").options(**options)
    return (reader if schema is None else reader.schema(schema)).load(place)


def rows_of_spark(frame: Any) -> Counter[tuple[Any, ...]]:
    """All rows, without the columns of times: Spark cuts these off at microseconds."""
    names = [name for name in frame.columns if name != "time"]
    found = [row.asDict(recursive=True) for row in frame.select(*(f"`{name}`" for name in names)).collect()]
    return Counter(tuple(plain(row[name]) for name in names) for row in found)


def test_rows_of_an_event(spark: Any) -> None:
    pattern = str(FIXTURES / "net10-*.nettrace.gz")
    frame = loaded(spark, pattern, event="GCStart")
    with clrevents.open_many(pattern, jobs=1) as traces:
        table = traces.table("GCStart")
    assert frame.columns == table.columns
    assert rows_of_spark(frame) == rows_of(table)
    assert frame.count() == 17
    assert frame.rdd.getNumPartitions() == 1
    types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    assert types["Count"] == "bigint"
    assert types["thread_id"] == "decimal(20,0)"
    assert types["time"] == "timestamp"
    ours = sorted(int(time) // 1000 for time in table["time"].astype("int64"))
    assert [int(row[0]) for row in frame.selectExpr("unix_micros(time) t").sort("t").collect()] == ours


def test_only_the_columns_asked_for(spark: Any) -> None:
    frame = loaded(
        spark, str(FIXTURES / "net10-*.nettrace.gz"), event="GCStart", columns="Reason,time_ns", enumNames="true"
    )
    assert frame.columns == ["trace", "Reason", "time_ns"]
    with clrevents.open_many(str(FIXTURES / "net10-*.nettrace.gz"), jobs=1) as traces:
        table = traces.table("GCStart", columns=["Reason", "time_ns"], enum_names=True)
    assert rows_of_spark(frame) == rows_of(table)
    assert loaded(spark, str(FIXTURES / "net10-*.nettrace.gz"), event="GCStart", columns="trace").count() == 17


def test_problems(spark: Any, fleet: BuiltFleet) -> None:
    with clrevents.open_many(fleet.folder, jobs=1) as traces:
        expected = rows_of(traces.problems)
    assert rows_of_spark(loaded(spark, str(fleet.folder), table="problems")) == expected
    named = {row[0] for row in expected}
    assert {str(fleet.folder / name) for name in fleet.empty | fleet.foreign} <= named


def test_damaged_traces_give_what_they_have(spark: Any, fleet: BuiltFleet, traces: Traces) -> None:
    table = traces.table("sample/ThreadSample")
    assert len(table) > 100
    frame = loaded(spark, str(fleet.folder), event="sample/ThreadSample")
    assert rows_of_spark(frame) == rows_of(table)


def test_the_job_fails_if_damage_is_to_be_an_error(spark: Any, fleet: BuiltFleet) -> None:
    with pytest.raises(Exception, match=r"not a \.NET trace"):
        loaded(spark, [str(fleet.folder / name) for name in fleet.foreign], event="GCStart", errors="strict").count()


def test_several_places(spark: Any) -> None:
    places = [str(FIXTURES / f"net10-{name}.nettrace.gz") for name in ("garbage", "servergc")]
    counts = {row[0]: row[1] for row in loaded(spark, places, event="GCStart").groupBy("trace").count().collect()}
    assert counts == {places[0]: 11, places[1]: 6}
    one = Path(places[0]).as_uri()
    assert loaded(spark, one, event="GCStart").count() == 11


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"event": "GCStart", "colums": "Reason"}, "unknown options: colums"),
        ({}, 'give the option "event"'),
        ({"event": "GCStart", "report": "gc"}, 'give the option "event"'),
        ({"event": "GCStart", "columns": "Nothing"}, "no column 'Nothing'"),
        ({"event": "GCStart", "errors": "never"}, "errors must be one of"),
        ({"event": "GCStart", "enumNames": "yes"}, "must be true or false"),
        ({"event": "Nothing/Nothing"}, "neither the registry nor"),
        ({"report": "gc", "table": "nothing"}, "there are"),
        ({"report": "nothing", "table": "nothing"}, "no report 'nothing'"),
    ],
)
def test_wrong_options(spark: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message):
        loaded(spark, str(FIXTURES / "net10-garbage.nettrace.gz"), **options)


# Filters. ----------------------------------------------------------------------------------------------------------

SAMPLES = "sample/ThreadSample"


def asked_of(filters: list[Any], place: str, **options: str) -> tuple[Any, list[str], int]:
    """What a reader asks of a worker, of which traces, and how many rows a worker then gives Spark."""
    from pyspark.sql.types import DecimalType, LongType, StringType, StructType, TimestampType

    from clrevents.fleet.spark import NettraceDataSource

    schema = StructType().add("trace", StringType()).add("time_ns", LongType())
    schema = schema.add("time", TimestampType()).add("thread_id", DecimalType(20, 0))
    source = NettraceDataSource({"event": SAMPLES, "path": place, "pushFilters": "true", **options})
    reader = source.reader(schema)
    assert list(reader.pushFilters(filters)) == filters
    partitions = reader.partitions()
    rows = sum(batch.num_rows for partition in partitions for batch in reader.read(partition))
    return reader._rows.keywords["filters"], [path for one in partitions for path in one.value or ()], rows


def test_filters_reach_the_reading(traces: Traces, fleet: BuiltFleet) -> None:
    needs_spark()
    from pyspark.sql import datasource as ds

    folder = str(fleet.folder)
    table = traces.table(SAMPLES)
    times, threads = table["time_ns"], table["thread_id"]
    low, high = (int(times.min() * (3 - k) + times.max() * k) // 3 for k in (1, 2))
    time = ds.GreaterThanOrEqual(("time_ns",), low), ds.LessThan(("time_ns",), high)
    found, paths, rows = asked_of([*time, ds.IsNotNull(("time_ns",))], folder)
    assert found == {"start": low, "end": high + 1}
    assert paths == fleet.paths
    assert rows == ((times >= low) & (times <= high)).sum() < len(times)
    found, _, rows = asked_of([ds.In(("thread_id",), (Decimal(1), Decimal(2)))], folder)
    assert found == {"thread_id": (1, 2)}
    assert rows == ((threads == 1) | (threads == 2)).sum() < len(times)
    # What was asked for by an option is never loosened.
    found, _, _ = asked_of([ds.EqualTo(("thread_id",), Decimal(2)), *time], folder, thread_id="1", start="5")
    assert found == {"thread_id": [1], "start": 5, "end": high + 1}
    # What cannot be told of the reading is left to Spark.
    useless = [ds.Not(time[0]), ds.EqualTo(("thread_id", "x"), 1), ds.GreaterThan(("thread_id",), Decimal(1))]
    assert asked_of(useless, folder) == ({}, fleet.paths, len(times))


def test_filters_choose_traces(fleet: BuiltFleet) -> None:
    needs_spark()
    from pyspark.sql import datasource as ds

    paths, folder = fleet.paths, str(fleet.folder)
    assert asked_of([ds.EqualTo(("trace",), paths[3])], folder)[1] == [paths[3]]
    assert asked_of([ds.In(("TRACE",), (paths[3], paths[5], "gone"))], folder)[1] == [paths[3], paths[5]]
    packed = [path for path in paths if path.endswith(".gz")]
    assert asked_of([ds.StringEndsWith(("trace",), ".gz")], folder)[1] == packed
    both = [ds.StringStartsWith(("trace",), folder), ds.StringContains(("trace",), "t00003")]
    assert asked_of(both, folder)[1] == paths[3:4]
    assert asked_of([ds.EqualTo(("trace",), "gone")], folder) == ({}, [], 0)


def test_sql_with_filters(spark: Any, fleet: BuiltFleet, traces: Traces) -> None:
    table = traces.table(SAMPLES)
    moment = sorted(table["time"].astype("int64").tolist())[len(table) // 2] // 1000
    stamp = f"timestamp_micros({moment})"
    frame = loaded(spark, str(fleet.folder), event=SAMPLES, pushFilters="true")
    for condition, expected in (
        (f"time <= {stamp}", sum(t // 1000 <= moment for t in table["time"].astype("int64").tolist())),
        (f"time > {stamp}", sum(t // 1000 > moment for t in table["time"].astype("int64").tolist())),
        (f"time = {stamp}", sum(t // 1000 == moment for t in table["time"].astype("int64").tolist())),
        ("thread_id = 2", int((table["thread_id"] == 2).sum())),
        ("trace like '%.gz' and thread_id in (1, 3)", None),
        ("trace = 'gone'", 0),
    ):
        if expected is None:
            pairs = zip(table["trace"].tolist(), table["thread_id"].tolist(), strict=True)
            expected = sum(path.endswith(".gz") and thread in (1, 3) for path, thread in pairs)
        assert frame.where(condition).count() == expected, condition


# All kinds of tables. -----------------------------------------------------------------------------------------------


def test_an_event_that_only_traces_describe(spark: Any, fleet: BuiltFleet, traces: Traces) -> None:
    table = traces.table("Fleet/Turn")
    sampled = loaded(spark, str(fleet.folder), event="Fleet/Turn", sample="20")
    assert sampled.columns == table.columns
    assert rows_of_spark(sampled) == rows_of(table)
    given = loaded(spark, str(fleet.folder), "number bigint, trace string", event="Fleet/Turn")
    held = zip(table["number"].tolist(), table["trace"].tolist(), strict=True)
    assert rows_of_spark(given) == Counter(held)

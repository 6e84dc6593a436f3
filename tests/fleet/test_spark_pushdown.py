"""What is not read: a real Spark asks a web server, which counts, for the bytes of the traces that a query needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import clrevents
from built_fleet import BuiltFleet, build_fleet
from far_files import Reads, counted_file, served
from local_spark import local_session, plain, rows_of
from project_files import FIXTURES

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]

NAMES = tuple(f"{name}.nettrace.gz" for name in ("net10-garbage", "net10-servergc", "net8-sample", "net8-meters"))


@attrs.frozen
class Night:
    """Traces that a web server has."""

    urls: list[str]
    sizes: dict[str, int]
    asked: Counter[str]
    reads: Reads

    def told(self) -> tuple[set[str], int]:
        """Which traces were asked for since the last time, and how many bytes were given out."""
        found = set(self.asked), self.reads.bytes
        self.asked.clear()
        self.reads.spans.clear()
        return found


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    yield from local_session()


@pytest.fixture(scope="module")
def night() -> Iterator[Night]:
    files = {name: (FIXTURES / name).read_bytes() for name in NAMES}
    asked, reads = Counter[str](), Reads()
    with served(files, reads, lambda name: asked.update([name])) as address:
        urls = [f"{address}/{name}" for name in NAMES]
        yield Night(urls, {name: len(data) for name, data in files.items()}, asked, reads)


def load(spark: Any, place: Any, **options: str) -> Any:
    return spark.read.format("nettrace").options(pushFilters="true", **options).load(place)


def test_planning_reads_nothing(spark: Any, night: Night) -> None:
    night.told()
    frame = load(spark, night.urls, event="MethodLoadVerbose")
    assert "BatchScan nettrace" in frame.where("time_ns > 5")._jdf.queryExecution().executedPlan().toString()
    assert night.told() == (set(), 0)


@pytest.mark.parametrize("options", [{"event": "ModuleDCEnd"}, {"report": "modules", "table": "modules"}])
def test_a_condition_on_the_trace_chooses_files(spark: Any, night: Night, options: dict[str, str]) -> None:
    frame = load(spark, night.urls, **options)
    night.told()
    everything = frame.count()
    assert night.told() == (set(NAMES), sum(night.sizes.values()))
    for condition, wanted in (
        (f"trace = '{night.urls[1]}'", NAMES[1:2]),
        (f"trace in ('{night.urls[0]}', '{night.urls[3]}')", (NAMES[0], NAMES[3])),
        ("trace like '%/net8-%'", NAMES[2:]),
        (f"trace like '{night.urls[0][:-10]}%'", NAMES[:1]),
        ("trace like '%/nothing'", ()),
    ):
        rows = frame.where(condition).count()
        assert night.told() == (set(wanted), sum(night.sizes[name] for name in wanted)), condition
        assert 0 < rows < everything or not wanted


def test_time_threads_and_columns_save_decoding_and_no_reading(spark: Any, night: Night) -> None:
    """A trace is read from its start to its end: its last events may be of any time."""
    whole = {name: night.sizes[name] for name in NAMES[:1]}
    frame = load(spark, night.urls[:1], event="GCStart")
    night.told()
    with clrevents.open(str(FIXTURES / NAMES[0])) as trace:
        table = trace.table("GCStart")
    moment = sorted(table["time_ns"].tolist())[4]
    thread = table["thread_id"].tolist()[0]
    for condition, expected in (
        (f"time_ns < {moment}", 4),
        (f"time_ns >= {moment}", 7),
        (f"thread_id = {thread}", int((table["thread_id"] == thread).sum())),
        (f"thread_id = {thread + 1}", int((table["thread_id"] == thread + 1).sum())),
    ):
        assert frame.where(condition).count() == expected
        assert night.told() == (set(whole), sum(whole.values())), condition
    assert load(spark, night.urls[:1], event="GCStart", columns="trace").count() == 11
    assert night.told() == (set(whole), sum(whole.values()))


def test_a_reader_gives_spark_fewer_rows(night: Night) -> None:
    pytest.importorskip("pyspark", reason="needs pyspark")
    from pyspark.sql import datasource as ds
    from pyspark.sql.types import LongType, StringType, StructType

    from clrevents.fleet.spark import NettraceDataSource

    data = (FIXTURES / NAMES[0]).read_bytes()
    schema = StructType().add("trace", StringType()).add("time_ns", LongType())
    with clrevents.open(data) as trace:
        times = sorted(trace.table("GCStart")["time_ns"].tolist())
    with counted_file("app.nettrace.gz", data) as (url, reads):
        given = []
        for filters in ([], [ds.LessThanOrEqual(("time_ns",), times[4])], [ds.EqualTo(("trace",), "another")]):
            source = NettraceDataSource({"event": "GCStart", "path": url, "pushFilters": "true"})
            reader = source.reader(schema)
            reader.pushFilters(filters)
            rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
            given.append((len(rows), reads.bytes))
            assert not reads.twice
            reads.spans.clear()
    assert given == [(11, len(data)), (5, len(data)), (0, 0)]


# Places, and what one task reads. ------------------------------------------------------------------------------------


def test_urls_give_the_rows_of_files(spark: Any, night: Night) -> None:
    with clrevents.open_many([FIXTURES / name for name in NAMES], jobs=1) as traces:
        expected = Counter(row[1:] for row in rows_of(traces.table("ModuleDCEnd")).elements())
    for place in (night.urls, [(FIXTURES / name).as_uri() for name in NAMES]):
        frame = load(spark, place, event="ModuleDCEnd")
        names = [name for name in frame.columns[1:] if name != "time"]
        assert Counter(tuple(plain(v) for v in row) for row in frame.select(*names).collect()) == expected
    gone = f"{night.urls[0]}.gone"
    problems = load(spark, [*night.urls, gone], table="problems").collect()
    assert [(row["trace"], row["kind"]) for row in problems] == [(gone, "source")]


def test_small_traces_share_a_task() -> None:
    pytest.importorskip("pyspark", reason="needs pyspark")
    from clrevents.fleet.spark.data_source import bundles

    sizes = {"a": 100, "b": 200, "c": 5_000_000, "d": 0, "e": 3_000_000}
    opening = 1 << 18
    assert bundles([*"abcde"], sizes, 0) == [("a",), ("b",), ("c",), ("d",), ("e",)]
    assert bundles([*"abcde"], sizes, 8 << 20) == [("a", "b", "c", "d"), ("e",)]
    assert bundles([*"abcde"], sizes, 300 + 2 * opening) == [("a", "b"), ("c",), ("d",), ("e",)]
    assert bundles([*"abcde"], sizes, 299 + 2 * opening) == [("a",), ("b",), ("c",), ("d",), ("e",)]
    # It may be as large as any.
    assert bundles(["a", "unknown", "b"], sizes, 8 << 20) == [("a",), ("unknown",), ("b",)]
    assert bundles([], sizes, 8 << 20) == []


def test_sizes_are_asked_for_where_that_is_free(tmp_path: Path, night: Night) -> None:
    pytest.importorskip("pyspark", reason="needs pyspark")
    from clrevents.fleet.spark.data_source import known_sizes

    near = tmp_path / "near.nettrace"
    near.write_bytes(b"x" * 1234)
    system = MemoryFileSystem()
    for number in range(3):
        system.pipe(f"/sized/{number}.nettrace", b"x" * (number + 1))
    found = ["memory://sized/0.nettrace", "memory://sized/1.nettrace", "memory://sized/2.nettrace"]
    gone = str(tmp_path / "gone")
    night.told()
    paths = [str(near), gone, *found, *night.urls]
    try:
        known = known_sizes([str(tmp_path), "memory://sized/*.nettrace", *night.urls], paths)
    finally:
        system.rm("/sized", recursive=True)
    normal = {name.replace("memory:///", "memory://"): size for name, size in known.items()}
    assert normal == {str(near): 1234, gone: 0, found[0]: 1, found[1]: 2, found[2]: 3}
    assert night.told() == (set(), 0)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    return build_fleet(tmp_path_factory.mktemp("spark") / "night", 20, damaged=3, empty=1)


@pytest.mark.parametrize(("size", "parts"), [("0", 20), ("600000", 10), (None, 1)])
def test_tasks(spark: Any, fleet: BuiltFleet, size: str | None, parts: int) -> None:
    given = {} if size is None else {"bundleBytes": size}
    frame = load(spark, str(fleet.folder), event="Fleet/Turn", columns="trace", **given)
    assert frame.rdd.getNumPartitions() == parts
    with clrevents.open_many(fleet.folder, jobs=1) as traces:
        expected = Counter(traces.table("Fleet/Turn", columns=["time_ns"])["trace"].tolist())
    assert {row[0]: row[1] for row in frame.groupBy("trace").count().collect()} == expected


def test_one_bad_trace_fails_its_task_if_it_should(spark: Any, fleet: BuiltFleet) -> None:
    """Also from the middle of a bundle."""
    sound = [path for path in fleet.readable if Path(path).name not in fleet.damaged]
    (foreign,) = fleet.foreign
    frame = load(spark, [*sound, str(fleet.folder / foreign), *sound], event="MethodLoadVerbose", errors="report")
    assert frame.rdd.getNumPartitions() == 1
    with pytest.raises(Exception, match=r"not a \.NET trace"):
        frame.count()
    assert load(spark, sound, event="MethodLoadVerbose", errors="report").count() > 50

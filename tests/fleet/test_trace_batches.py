"""Record batches of one trace: the rows of its table in a schema that the registry alone gives, and what was wrong."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import clrevents
from arrow_rows import arrow_rows
from clrevents import UnknownEventError
from clrevents.errors import Limits
from clrevents.fleet.questions import SALVAGING, Opening, TraceProblem
from clrevents.fleet.spark_rows import event_batches, event_rows, event_table
from clrevents.schema.registry import DEFAULT
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked
from tiers import each_fixture

LOADS = "MethodLoadVerbose"


@each_fixture("net8-sample", "net8-method-interop", "net8-netperf3")
def test_rows_of_every_fixture_fit_the_schema(path: Path) -> None:
    like = event_table(LOADS)
    problems: list[TraceProblem] = []
    batches = list(event_batches(str(path), LOADS, like, problems, rows=50))
    with clrevents.open(path) as trace:
        table = trace.table(LOADS).to_arrow()
    assert all(batch.schema.equals(like.to_arrow().schema, check_metadata=False) for batch in batches)
    assert all(batch.num_rows <= 50 for batch in batches)
    assert [{"trace": str(path), **row} for row in arrow_rows(table)] == arrow_rows(*batches)
    assert problems == []


def test_columns_and_filters() -> None:
    path = str(fixture("net8-method-interop"))
    columns = ("MethodName", "process_id", "time_ns")
    like = event_table(LOADS, columns)
    assert like.columns == ["trace", *columns]
    found = arrow_rows(*event_batches(path, LOADS, like, [], columns=columns, filters={"start": "50%"}))
    with clrevents.open(path) as trace:
        expected = arrow_rows(trace.table(LOADS, columns=columns, start="50%").to_arrow())
    assert found == [{"trace": path, **row} for row in expected] != []


def test_the_schema_is_that_of_any_trace() -> None:
    with clrevents.open(fixture("net10-garbage")) as trace:
        for name in ("GCStart", "GCHeapStats", LOADS):
            assert event_table(name).fields[1:] == trace.table(name).fields
            assert event_table(name, enum_names=True).fields[1:] == trace.table(name, enum_names=True).fields
    with pytest.raises(UnknownEventError, match="did you mean GCStart"):
        event_table("GCStrt")
    with pytest.raises(UnknownEventError, match="matches 'Nothing"):
        event_table("Nothing*")
    with pytest.raises(KeyError, match="no column 'x'"):
        event_table("GCStart", ["x"])


def test_spark_gets_signed_numbers_and_microseconds() -> None:
    schema = {"Count": "long", "thread_id": "decimal(20,0)", "time": "timestamp"}
    fields = {"fields": [{"name": name, "type": type} for name, type in schema.items()]}
    path = str(fixture("net10-garbage"))
    (batch,) = event_rows(path, fields, [], selector="GCStart", opening=SALVAGING, columns=[*schema])
    assert [str(field.type) for field in batch.schema] == ["int64", "decimal128(20, 0)", "timestamp[us, tz=UTC]"]


def test_a_newer_version_has_more_than_the_schema(tmp_path: Path) -> None:
    """Fields that only a trace knows are left out; all others are there."""
    path = tmp_path / "newer.nettrace"
    builder = TraceBuilder().described("App", "Turn", {"number": (9, 1), "more": (9, 2)})
    path.write_bytes(builder.build())
    older = tmp_path / "older.nettrace"
    older.write_bytes(TraceBuilder().described("App", "Turn", {"number": (9, 3)}).build())
    with clrevents.open_many(older) as traces:
        like = traces.table("Turn")
    assert [row["number"] for row in arrow_rows(*event_batches(str(path), "Turn", like, []))] == [1]
    with clrevents.open_many(path) as traces:
        like = traces.table("Turn")
    found = arrow_rows(*event_batches(str(older), "Turn", like, []))
    assert [(row["number"], row["more"]) for row in found] == [(3, None)]


def test_damage_and_no_trace(tmp_path: Path) -> None:
    data = unpacked(fixture("net8-method-interop"))
    broken = tmp_path / "broken.nettrace"
    broken.write_bytes(data[: len(data) // 2])
    like = event_table(LOADS)
    whole = len(arrow_rows(*event_batches(str(fixture("net8-method-interop")), LOADS, like, [])))
    salvaged: list[TraceProblem] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        some = []
        for batch in event_batches(str(broken), LOADS, like, salvaged):
            some += arrow_rows(batch)
            warnings.warn("of the reader", UserWarning, stacklevel=1)
    assert {str(warning.message) for warning in warned} == {"of the reader"}
    assert 0 < len(some) < whole
    assert {problem.severity for problem in salvaged} >= {"damage"}
    stopped: list[TraceProblem] = []
    assert arrow_rows(*event_batches(str(broken), LOADS, like, stopped, Opening("report", Limits(), DEFAULT))) == some
    first = stopped[0]
    assert (first.kind, first.severity) == ("damage", "error")
    for name, text in (("letter", b"Dear sirs"), ("empty", b"")):
        (tmp_path / name).write_bytes(text)
        unread: list[TraceProblem] = []
        assert list(event_batches(str(tmp_path / name), LOADS, like, unread)) == []
        assert [(p.kind, p.severity) for p in unread] == [("unreadable", "error")]
    missing: list[TraceProblem] = []
    assert list(event_batches(str(tmp_path / "missing"), LOADS, like, missing)) == []
    assert [p.kind for p in missing] == ["source"]

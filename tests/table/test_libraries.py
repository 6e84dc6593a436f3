"""pandas, polars, pyarrow and duckdb read a table with the types it has; a missing one says what to install."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clrevents
from clrevents.events import BulkType_V0, BulkTypeValue, GCStart_V0, GCStart_V2, MethodILToNativeMap_V0
from clrevents.testing.builder import FieldDescription, TraceBuilder
from clrevents.trace import passes_of
from command_runs import printed
from project_files import fixture

START = datetime(2026, 1, 1, tzinfo=UTC)
BIG = (1 << 64) - 1
NUMBERS = FieldDescription("", 19, FieldDescription("", 9))


@pytest.fixture
def trace() -> Any:
    """Numbers of every width, text, lists, structs, times, GUIDs; nulls where a version lacks a field."""
    types = (BulkTypeValue(1, 2, 3, 4, 5, "A", 2, (6, BIG)), BulkTypeValue(1, 2, 3, 4, 5, "", 0, ()))
    builder = TraceBuilder(start=START, step_ns=1)
    builder.event(GCStart_V2(1, 0, 1, 0, 9, BIG)).event(GCStart_V0(2, 1)).event(BulkType_V0(2, 9, types))
    for maps in ((BIG, 0, 1, 2, (1, 2), (3, 4), 9), (7, 0, 1, 0, (), (), 9)):
        builder.event(MethodILToNativeMap_V0(*maps))
    fields = {
        "Flag": (3, True),
        "Small": (5, -5),
        "Text": (18, "naïve ✓ 😀"),
        "Share": (14, 0.5),
        "Numbers": (NUMBERS, (1, -2)),
    }
    builder.described("My-App", "Order", fields)
    with clrevents.open(builder.build()) as opened:
        yield opened


def test_arrow(trace: clrevents.Trace) -> None:
    table = trace.table("GCStart").to_arrow()
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == {
        "time_ns": pa.int64(),
        "time": pa.timestamp("ns", "UTC"),
        "thread_id": pa.uint64(),
        "stack_id": pa.int32(),
        "Count": pa.uint32(),
        "Depth": pa.uint32(),
        "Reason": pa.uint32(),
        "Type": pa.uint32(),
        "ClrInstanceID": pa.uint16(),
        "ClientSequenceNumber": pa.uint64(),
    }
    assert table["ClientSequenceNumber"].to_pylist() == [BIG, None]
    assert table["Depth"].null_count == 1
    assert table.validate(full=True) is None
    order = trace.table("My-App/Order").to_arrow()
    assert order.schema.field("Numbers").type == pa.list_(pa.int32())
    assert order.schema.field("Text").type == pa.string()
    assert order.schema.field("Flag").type == pa.bool_()
    assert order["Numbers"].to_pylist() == [[1, -2]]
    bulk = trace.table("BulkType").to_arrow()
    inner = bulk.schema.field("Values").type.value_type
    assert pa.types.is_struct(inner)
    assert inner.field("TypeID").type == pa.uint64()
    assert [t["TypeParameters"] for t in bulk["Values"].to_pylist()[0]] == [[6, BIG], []]
    assert pa.table(trace.table("GCStart")).equals(table), "the Arrow stream"


@pytest.mark.full
def test_pandas(trace: clrevents.Trace) -> None:
    import pandas as pd

    frame = trace.table("GCStart").to_pandas()
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        "time_ns": "int64",
        "time": "datetime64[ns, UTC]",
        "thread_id": "UInt64",
        "stack_id": "int32",
        "Count": "uint32",
        "Depth": "UInt32",
        "Reason": "uint32",
        "Type": "UInt32",
        "ClrInstanceID": "UInt16",
        "ClientSequenceNumber": "UInt64",
    }
    assert frame["ClientSequenceNumber"].tolist() == [BIG, pd.NA]
    assert frame["time"][1] == pd.Timestamp(START) + pd.Timedelta(1, "ns")
    order = trace.table("My-App/Order").to_pandas()
    assert order["Flag"].dtype == pd.BooleanDtype()
    assert order["Small"].dtype == pd.Int8Dtype()
    assert order["Share"].dtype == pd.Float64Dtype()
    assert isinstance(order["Text"].dtype, pd.StringDtype)
    assert order["Text"][0] == "naïve ✓ 😀"
    assert list(order["Numbers"][0]) == [1, -2]
    empty = trace.table("GCEnd").to_pandas()
    assert len(empty) == 0
    assert str(empty["time"].dtype) == "datetime64[ns, UTC]"
    assert str(empty["Count"].dtype) == "uint32"


@pytest.mark.full
def test_polars(trace: clrevents.Trace) -> None:
    import polars as pl

    frame = trace.table("GCStart").to_polars()
    assert frame.schema == {
        "time_ns": pl.Int64,
        "time": pl.Datetime("ns", "UTC"),
        "thread_id": pl.UInt64,
        "stack_id": pl.Int32,
        "Count": pl.UInt32,
        "Depth": pl.UInt32,
        "Reason": pl.UInt32,
        "Type": pl.UInt32,
        "ClrInstanceID": pl.UInt16,
        "ClientSequenceNumber": pl.UInt64,
    }
    assert frame["ClientSequenceNumber"].to_list() == [BIG, None]
    assert pl.DataFrame(trace.table("GCStart")).equals(frame), "the Arrow stream"
    order = trace.table("My-App/Order").to_polars()
    assert order.schema["Numbers"] == pl.List(pl.Int32)
    assert order["Text"].to_list() == ["naïve ✓ 😀"]
    bulk = trace.table("BulkType").to_polars()
    assert isinstance(bulk.schema["Values"], pl.List)
    assert [value["Name"] for value in bulk["Values"].to_list()[0]] == ["A", ""]


@pytest.mark.full
def test_duckdb(trace: clrevents.Trace) -> None:
    relation = trace.query("select * from GCStart")
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    assert types["time_ns"] == "BIGINT"
    # Without nanoseconds before duckdb 2.
    assert types["time"] in ("TIMESTAMPTZ_NS", "TIMESTAMP WITH TIME ZONE")
    assert types["thread_id"] == types["ClientSequenceNumber"] == "UBIGINT"
    assert types["Count"] == "UINTEGER"
    assert types["ClrInstanceID"] == "USMALLINT"
    counts = trace.query("select Count, ClientSequenceNumber n from GCStart order by Count desc").fetchall()
    assert counts == [(2, None), (1, BIG)]
    assert str(trace.query('select Numbers from "My-App/Order"').types[0]) == "INTEGER[]"
    assert trace.query("select name, count(*) from headers group by 1 order by 2 desc, 1").fetchall()[0][1] == 2
    joined = "select h.name from headers h join GCStart g on g.time_ns = h.time_ns where g.Count = 1"
    assert trace.query(joined).fetchall() == [("GCStart",)]
    with pytest.raises(clrevents.UnknownEventError):
        trace.query("select * from Nothing")


@pytest.mark.full
def test_parquet_read_back(trace: clrevents.Trace, tmp_path: Path) -> None:
    import polars as pl

    for name in ("GCStart", "BulkType", "My-App/Order", "MethodILToNativeMap"):
        table = trace.table(name).to_arrow()
        path = tmp_path / "x.parquet"
        pq.write_table(table, path)
        again = pq.read_table(path)
        assert again.equals(table)
        assert again.schema.equals(table.schema, check_metadata=True)
        assert pl.read_parquet(path).equals(trace.table(name).to_polars())


@pytest.mark.full
def test_no_integer_becomes_a_float() -> None:
    """In any table of a real trace, in any library."""
    import pandas as pd
    import polars as pl

    with clrevents.open(fixture("net8-method-interop")) as trace:
        for event in passes_of(trace).named():
            table = trace.table("/".join(event))
            frame, polar = table.to_pandas(), table.to_polars()
            for field in table.fields:
                if field.type.kind.startswith(("int", "uint")):
                    assert frame[field.name].dtype.kind in "iu", (event, field.name)
                    assert polar.schema[field.name].is_integer()
                    values = table.column(field.name).tolist()
                    assert [None if v is pd.NA else v for v in frame[field.name].tolist()] == values
                    assert polar[field.name].to_list() == values
                if field.type.kind == "timestamp":
                    assert frame[field.name].dt.tz is not None
                    assert polar.schema[field.name] == pl.Datetime("ns", "UTC")


def test_numpy_is_enough(trace: clrevents.Trace) -> None:
    table = trace.table("GCStart")
    assert np.asarray(table["Count"]).dtype == np.uint32


@pytest.mark.parametrize(
    ("library", "call", "message"),
    [
        ("pyarrow", "table.to_arrow()", "an Arrow table needs pyarrow: pip install 'clrevents[arrow]'"),
        ("pandas", "table.to_pandas()", "a data frame needs pandas: pip install 'clrevents[pandas]'"),
        ("polars", "table.to_polars()", "a polars data frame needs polars: pip install 'clrevents[polars]'"),
        ("duckdb", "trace.query('select 1 from GCStart')", "SQL needs duckdb: pip install 'clrevents[query]'"),
    ],
)
def test_what_to_install(library: str, call: str, message: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"import clrevents\n"
        f"trace = clrevents.open({os.fspath(fixture('net8-sample'))!r})\n"
        f"table = trace.table('GCStart')\n"
        f"assert len(table['Count']) == 0\n"
        f"try: {call}\n"
        f"except ImportError as error: print(error)\n"
    )
    assert printed("-c", code) == message + "\n"

"""`trace.table` and its kin: one schema for every trace, chosen columns, filters, and what they refuse."""

from __future__ import annotations

import pickle
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import clrevents
import hostile
from clrevents.events import GCStart_V0, GCStart_V1, GCStart_V2
from clrevents.export.files.directory import export_table
from clrevents.export.files.tables import Options
from clrevents.schema.registry import DEFAULT
from clrevents.table.event_schema import TableField
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.trace import passes_of
from project_files import FIXTURES, SHARED, fixtures, without_shared
from reading import opened

RUNTIME = "Microsoft-Windows-DotNETRuntime"
FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]
OLD, MIDDLE, NEW = GCStart_V0(1, 2), GCStart_V1(3, 0, 1, 0, 9), GCStart_V2(5, 0, 1, 0, 9, 1 << 63)


def columns_of(fields: tuple[TableField, ...]) -> list[tuple[str, str, bool]]:
    return [(field.name, str(field.type), field.nullable) for field in fields]


# Schema


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("pointer_size", [4, 8])
def test_versions_make_one_schema(format: Format, pointer_size: int) -> None:
    """Whatever the trace has of an event, and if it has none of it."""
    expected = [
        ("time_ns", "int64", False),
        ("time", "timestamp", True),
        ("thread_id", "uint64", True),
        ("stack_id", "int32", False),
        ("Count", "uint32", False),
        ("Depth", "uint32", True),
        ("Reason", "uint32", False),
        ("Type", "uint32", True),
        ("ClrInstanceID", "uint16", True),
        ("ClientSequenceNumber", "uint64", True),
    ]
    for events in ([], [OLD], [NEW], [NEW, OLD, MIDDLE]):
        builder = TraceBuilder(format, pointer_size=pointer_size)
        for event in events:
            builder.event(event)
        with clrevents.open(builder.build()) as trace:
            table = trace.table("GCStart")
            found = columns_of(table.fields)
            assert {name: rest for name, *rest in found} == {name: rest for name, *rest in expected}
            assert len(table) == len(events)
            assert passes_of(trace).schema((RUNTIME, "GCStart")).fields == table.fields
            assert next(trace.table_parts("GCStart")).fields == table.fields
    assert table["ClientSequenceNumber"].tolist() == [1 << 63, None, None]
    assert table["Count"].tolist() == [5, 1, 3]


def test_schemas_of_real_traces_agree() -> None:
    """Every registered event has in every trace the columns that it has in a trace without it."""
    compared = 0
    known = {(e.provider, e.name) for e in DEFAULT.entries()}
    with clrevents.open(TraceBuilder().build()) as empty:
        for path in fixtures():
            with clrevents.open(path) as trace:
                for event in passes_of(trace).named():
                    if event in known:
                        assert passes_of(trace).schema(event).fields == empty.table("/".join(event)).fields, (
                            path.name,
                            event,
                        )
                        compared += 1
    assert compared > 100


def test_unknown_names_and_patterns() -> None:
    with clrevents.open(TraceBuilder().event(NEW).build()) as trace:
        assert len(trace.table("GC/Start")) == 1
        assert len(trace.table("runtime/GCStart")) == 1
        assert len(trace.table("GCSt*")) == 1
        assert len(trace.table(GCStart_V1)) == 1
        assert len(trace.table("Nothing*")) == 0
        with pytest.raises(clrevents.UnknownEventError, match="did you mean"):
            trace.table("GCStort")
        with pytest.raises(clrevents.UnknownEventError, match="did you mean"):
            list(trace.table_parts("GCStort"))


@pytest.mark.skipif(not SHARED.is_dir(), reason=without_shared("traces"))
def test_ambiguous_names_are_refused() -> None:
    with clrevents.open(SHARED / "traces" / "own" / "net10-web.nettrace.gz") as trace:
        for ask in (trace.table, lambda name: list(trace.table_parts(name)), passes_of(trace).one_event):
            with pytest.raises(clrevents.AmbiguousEventError, match=r"System\.Net\.Http/RequestStart"):
                ask("Request/Start")
        assert len(trace.table("System.Net.Http/RequestStart")) > 0
        assert {provider for provider, _ in passes_of(trace).named("Request/Start")} > {"System.Net.Http"}


# Columns


def test_columns_in_the_order_asked_for() -> None:
    with clrevents.open(TraceBuilder().event(NEW).event(OLD).build()) as trace:
        names = ["Count", "event_version", "time_ns", "Reason"]
        table = trace.table("GCStart", columns=names)
        assert table.columns == list(table) == names
        assert table["event_version"].tolist() == [2, 0]
        assert [t.columns for t in trace.table_parts("GCStart", columns=names)] == [names]
        assert table.select("Reason", "Count").columns == ["Reason", "Count"]
        assert "Count" in table
        assert "Depth" not in table
        for ask in (lambda: trace.table("GCStart", columns=["Kount"]), lambda: table["Kount"]):
            with pytest.raises(KeyError, match="Kount"):
                ask()
        with pytest.raises(KeyError, match="Kount"):
            table.select("Kount")
        with pytest.raises(KeyError, match="Kount"):
            list(trace.table_parts("GCStart", columns=["Kount"]))
        with pytest.raises(TypeError, match="a list of names"):
            trace.table("GCStart", columns="Count")
        with pytest.raises(KeyError, match="header column"):
            trace.headers(columns=["Count"])


def test_header_columns_that_may_lack_a_value_say_so() -> None:
    columns = ["time", "thread_id", "process_id", "processor", "opcode", "level", "keywords", "activity_id"]
    columns += ["related_activity_id", "activity_path", "payload_size", "provider", "name", "id"]
    with clrevents.open(TraceBuilder().event(NEW).build()) as trace:
        fields = trace.headers(columns=columns).fields
    assert [field.name for field in fields if field.nullable] == [
        *("time", "thread_id", "process_id", "processor", "activity_id", "related_activity_id", "activity_path"),
    ]


def test_names_of_enums() -> None:
    with clrevents.open(TraceBuilder().event(NEW).event(OLD).build()) as trace:
        plain, named = trace.table("GCStart"), trace.table("GCStart", enum_names=True)
    assert plain["Reason"].tolist() == [1, 2]
    assert named["Reason"].tolist() == ["Induced", "LowMemory"]
    assert [f.name for f in plain.fields] == [f.name for f in named.fields]
    assert {str(f.type) for f in named.fields if f.enum} == {"string"}
    assert named.to_arrow()["Reason"].to_pylist() == ["Induced", "LowMemory"]


ODD = {
    "": (9, 1),
    "class": (9, 2),
    "Time": (9, 3),
    "TIME_NS": (9, 4),
    "a/b": (9, 5),
    "payload.Time": (9, 6),
    "Value": (9, 7),
    "value": (9, 8),
    "x y": (9, 9),
}


def test_names_that_clash() -> None:
    """A header's or another column's name, ignoring case, gets `payload.` in front; no name at all a number."""
    with clrevents.open(TraceBuilder().described("My-App", "Odd", ODD).build()) as trace:
        table = trace.table("My-App/Odd")
        names = {field.wire: field.name for field in table.fields if field.wire is not None}
        assert names == {
            "": "field_0",
            "class": "class",
            "Time": "payload.Time",
            "TIME_NS": "payload.TIME_NS",
            "a/b": "a/b",
            "payload.Time": "payload.payload.Time",
            "Value": "Value",
            "value": "payload.value",
            "x y": "x y",
        }
        assert len({name.casefold() for name in table.columns}) == len(table.columns)
        for wire, name in names.items():
            assert table[name].tolist() == [ODD[wire][1]]
            assert trace.table("My-App/Odd", columns=[name])[name].tolist() == [ODD[wire][1]]
        schema = table.to_arrow().schema
        assert schema.field("payload.Time").metadata == {b"wire_name": b"Time"}
        assert schema.field("time_ns").metadata is None


def test_odd_event_names() -> None:
    builder = TraceBuilder()
    names = ["class", "a/b", "..", "CON", "x y"]
    for number, name in enumerate(names):
        builder.described("My/App", name, {"N": (9, number)}, id=number + 1)
    with clrevents.open(builder.build()) as trace:
        assert {name for _, name in passes_of(trace).named()} == set(names)
        for number, name in enumerate(names):
            assert trace.table(f"My/App/{name}")["N"].tolist() == [number]


def test_activity_ids() -> None:
    """Activity ids are sixteen bytes in the order in which they are written; null without one."""
    stored = bytes(range(16))
    with clrevents.open(TraceBuilder().activity(stored).event(NEW).activity(bytes(16)).event(NEW).build()) as trace:
        table = trace.table("GCStart", columns=["activity_id", "related_activity_id"])
        (first, second) = trace.events("GCStart")
        assert first.activity_id is not None
        assert table["activity_id"].tolist() == [first.activity_id.bytes, None]
        assert second.activity_id is None
        assert table["related_activity_id"].tolist() == [None, None]


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
@pytest.mark.parametrize("year", [1601, 1677, 1678, 1969, 2026, 2262, 9999])
def test_moments_that_no_timestamp_holds(format: Format, year: int) -> None:
    """Null, in tables as in `headers()`; times since the session's start are there all the same."""
    start = datetime(year, 4, 11, 23, 47, 16, tzinfo=UTC)
    later = 10**9 * 3600
    builder = TraceBuilder(format, start=start)
    with clrevents.open(builder.event(NEW).at(later).event(NEW).build()) as trace:
        whole = (start - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
        expected = [ns if abs(ns) < (1 << 63) - 1 else None for ns in (whole, whole + later)]
        for table in (trace.table("GCStart"), trace.headers()):
            assert table.column("time").tolist() == expected
            assert table["time_ns"].tolist() == [0, later]


def test_headers_of_hostile_moments() -> None:
    """Clocks and dates at the ends of their ranges: a table or a TraceError, and what is there is the events' time."""
    seen = 0
    for name, data in hostile.cases():
        if ": started at" not in name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", clrevents.TraceWarning)
            try:
                with clrevents.open(data, errors="salvage") as trace:
                    table = trace.headers(columns=["time_ns", "time"])
                    events = list(trace.events())
            except clrevents.TraceError:
                continue
        most = (1 << 63) - 1
        assert table["time_ns"].tolist() == [min(max(event.time_ns, -most - 1), most) for event in events], name
        for moment, event in zip(table.column("time").tolist(), events, strict=True):
            if moment is not None and event.time is not None:
                assert (event.time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) == moment // 1000
        seen += len(table)
    assert seen > 20


# Rows


def many(count: int) -> bytes:
    builder = TraceBuilder()
    for number in range(count):
        builder.thread(number % 3 + 1).event(GCStart_V2(number, 0, 0, 0, 0, 0))
        if number % 50 == 0:
            builder.sample(1, 2).sequence_point()
    return builder.build()


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_parts_are_the_table_in_pieces(rows: int) -> None:
    with clrevents.open(many(300)) as trace:
        whole = trace.table("GCStart")
        pieces = list(trace.table_parts("GCStart", rows=rows))
        assert all(len(piece) == rows for piece in pieces[:-1])
        assert 0 < len(pieces[-1]) <= rows
        assert [row for piece in pieces for row in piece.rows()] == list(whole.rows())
        assert {piece.fields for piece in pieces} == {whole.fields}
        assert len(list(trace.tables("GCStart", rows=rows))) == len(pieces)
        with pytest.raises(ValueError, match="positive"):
            list(trace.table_parts("GCStart", rows=0))


def test_filters() -> None:
    with clrevents.open(many(300)) as trace:
        events = list(trace.events("GCStart"))
        for options in (
            {"thread_id": 2},
            {"thread_id": [1, 3]},
            {"start": 10_000, "end": 100_000},
            {"start": "50%"},
            {"end": timedelta(microseconds=20)},
            {"provider": "rundown"},
            {"process_id": 4},
            {"process_id": 1234},
        ):
            expected = [e.payload.Count for e in trace.events("GCStart", **options)]  # type: ignore[call-overload]
            assert trace.table("GCStart", **options)["Count"].tolist() == expected
            assert sum(map(len, trace.table_parts("GCStart", **options))) == len(expected)
            assert len(trace.headers(**options)) == sum(1 for _ in trace.events(**options))  # type: ignore[call-overload]
        assert len(events) == 300
        assert trace.table("GCStart", order="file")["Count"].tolist() == list(range(300))


def test_a_payload_that_does_not_fit_is_left_out_and_said() -> None:
    info = GCStart_V1.__event__
    data = TraceBuilder().event(MIDDLE).raw(info.provider, info.id, 1, b"\1\2").event(MIDDLE).build()
    with clrevents.open(data) as trace:
        assert trace.table("GCStart")["Count"].tolist() == [3, 3]
        assert [p.kind for p in trace.problems] == ["short-payload"]
        assert len(trace.headers()) == 3
    with clrevents.open(data, errors="strict") as trace, pytest.raises(clrevents.PayloadError):
        trace.table("GCStart")


def test_what_a_file_of_one_event_lacks_is_counted(tmp_path: Path) -> None:
    info = GCStart_V1.__event__
    data = TraceBuilder().event(MIDDLE).raw(info.provider, info.id, 1, b"\1\2").event(MIDDLE).build()
    with clrevents.open(data) as trace:
        written = export_table(trace, "GCStart", tmp_path / "out.csv", Options("csv"))
    assert (written.rows, written.left_out) == (2, {(info.provider, "GCStart"): 1})


def test_a_table_outlives_its_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(many(50))
    with clrevents.open(path) as trace:
        table, headers = trace.table("GCStart"), trace.headers()
    rows = list(table.rows())
    path.write_bytes(b"")
    again = pickle.loads(pickle.dumps(table))
    assert list(table.rows()) == list(again.rows()) == rows
    assert again.fields == table.fields
    assert again.metadata == table.metadata
    assert len(headers) == 51
    assert table["Count"].flags.owndata or table["Count"].base is not None


def test_metadata_says_what_and_how_good() -> None:
    builder = TraceBuilder().event(NEW)
    builder.lose(3).event(NEW)
    with opened(builder) as trace:
        table = trace.table("GCStart")
        expected = {"provider": RUNTIME, "id": "1", "name": "GCStart", "losses": "3", "problems": "0"}
        assert table.metadata == expected
        assert next(trace.table_parts("GCStart")).metadata == expected
        assert repr(table).startswith("<Table of GCStart, 2 rows>\n  time_ns: int64\n")


def test_lists_of_equal_length_stay_lists() -> None:
    path = FIXTURES / "net8-sample.nettrace.gz"
    with clrevents.open(path) as trace:
        found: Any = trace.table("MethodDCEndILToNativeMap")["ILOffsets"]
        events = [e.payload.ILOffsets for e in trace.events("MethodDCEndILToNativeMap")]
    assert found.shape == (len(events),)
    assert [tuple(item) for item in found] == events

"""`Trace.query`: which tables there are, what is in them, what their names may be, and what SQL must not reach."""

from __future__ import annotations

import tomllib
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.events import GCStart_V0, GCStart_V2
from clrevents.table.query import ask
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES, ROOT

pytestmark = pytest.mark.full

ONE = {"X": (9, 1)}
TWO = {"X": (9, 2)}
GUID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
WHOLE = ["frames", "headers", "methods", "samples", "stacks", "tables", "thread_times", "threads", "top_methods"]


@pytest.fixture
def sample() -> Iterator[clrevents.Trace]:
    with clrevents.open(FIXTURES / "net8-sample.nettrace.gz") as trace:
        yield trace


def build(*events: tuple[str, str, dict[str, Any]]) -> clrevents.Trace:
    builder = TraceBuilder()
    for provider, name, fields in events:
        builder.described(provider, name, fields)
    return clrevents.open(builder.build())


def names(trace: clrevents.Trace) -> list[str]:
    return [row[0] for row in trace.query("show tables").fetchall()]


def test_tables_of_a_real_trace(sample: clrevents.Trace) -> None:
    listed = sample.query("SHOW TABLES;")
    assert listed.columns == ["name", "provider", "event", "events"]
    rows = listed.fetchall()
    assert [row[0] for row in rows[: len(WHOLE)]] == WHOLE
    assert {row[1:] for row in rows[: len(WHOLE)]} == {(None, None, None)}
    counts = Counter[tuple[str, str]]()
    for key, n in sample.event_counts().items():
        counts[key.provider, key.name] += n
    assert {row[1:3]: row[3] for row in rows[len(WHOLE) :]} == counts
    assert ("RequestStart", "Clrevents-Sample", "RequestStart", 100) in rows
    for name, provider, event, _ in rows[len(WHOLE) :]:
        rows_there = len(sample.table(f"{provider}/{event}"))
        assert sample.query(f'select count(*) from "{name}"').fetchall() == [(rows_there,)]
    assert sample.query("select sum(events) from tables").fetchall() == [(1696,)]


def test_threads(sample: clrevents.Trace) -> None:
    found = sample.query("from threads")
    assert found.columns == ["thread_id", "process_id", "name", "events", "first_ns", "last_ns"]
    assert found.fetchall() == [
        (5966, 5966, None, 1496, 642467528, 663277255),
        (5978, 5966, None, 136, 649345296, 656099570),
        (5980, 5966, None, 64, 649553161, 656104252),
    ]
    assert [row[:1] + row[3:4] for row in found.fetchall()] == [(t.thread_id, t.events) for t in sample.threads]


def test_methods(sample: clrevents.Trace) -> None:
    columns = "address, size, module, namespace, name, signature, method, tier, loaded_ns, unloaded_ns, token, native"
    rows = sample.query(f"select {columns}, flags from methods").fetchall()
    assert len(rows) == len(sample.methods)
    assert rows == [
        (
            *(m.address, m.size, m.module, m.namespace, m.name, m.signature, m.display),
            *(str(m.tier), m.begin_ns, m.end_ns, m.token, m.native, int(m.flags)),
        )
        for m in sample.methods
    ]


def test_stacks_and_frames(sample: clrevents.Trace) -> None:
    rows = sample.query("from stacks").fetchall()
    assert rows == [
        (stack, depth, address) for stack in sample.stacks for depth, address in enumerate(sample.stacks[stack])
    ]
    assert len(rows) == 87
    for event in sample.events("AllTypes", "RequestStop"):
        sql = f"select address, method, module, namespace, name, signature, tier, reason from frames \
                where stack_id = {event.stack_id} order by depth"
        assert sample.query(sql).fetchall() == [
            (f.address, str(f), f.module, f.namespace, f.name, f.signature, str(f.tier), f.reason) for f in event.frames
        ]


def test_frames_without_names_and_of_several_times() -> None:
    builder = TraceBuilder()
    builder.method_load("Shop", "Pay", address=0x1000, size=0x100, signature="void  ()")
    builder.at(10).described("P", "A", ONE, stack=[0x1010, 0x9000])
    builder.at(20_000_000).method_unload(0x1000)
    builder.at(50_000_000).described("P", "A", ONE, stack=[0x1010, 0x9000])
    with clrevents.open(builder.build()) as trace:
        found = trace.query("select depth, address, method, module, tier is null, reason from frames").fetchall()
        assert found[0][:3] == (0, 0x1010, "Shop.Pay()")
        assert found[0][5] is None
        first = next(trace.events("A")).frames
        assert found[1] == (1, 0x9000, None, None, True, first[1].reason)
        assert first[1].reason in ("no rundown", "not managed")


def test_activity_ids_are_columns() -> None:
    builder = TraceBuilder()
    builder.activity(GUID.bytes_le).event(GCStart_V2(1, 0, 1, 0, 9, 1))
    builder.activity(bytes(16)).event(GCStart_V0(2, 1))
    with clrevents.open(builder.build()) as trace:
        sql = "select activity_id, related_activity_id from GCStart"
        assert trace.query(sql).fetchall() == [(GUID.bytes, None), (None, None)]
        assert trace.query("select activity_id, related_activity_id from headers").fetchall() == [
            (GUID.bytes, None),
            (None, None),
        ]
        assert "activity_id" not in trace.table("GCStart").columns
        asked = trace.table("GCStart", columns=["activity_id", "Count"])
        assert list(asked.rows()) == [{"activity_id": GUID.bytes, "Count": 1}, {"activity_id": None, "Count": 2}]


def test_only_named_tables_are_read(sample: clrevents.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = type(sample._passes).table

    def table(passes: Any, selector: Any, *rest: Any) -> Any:
        asked.append(selector)
        return real(passes, selector, *rest)

    monkeypatch.setattr(type(sample._passes), "table", table)
    sql = (
        "with Dyn as (select 1 x) select count(*), 'AllTypes' from RequestStart join RequestStop using (thread_id), Dyn"
    )
    assert sample.query(sql).fetchall()[0][1] == "AllTypes"
    assert sorted(asked) == ["Clrevents-Sample/RequestStart", "Clrevents-Sample/RequestStop"]


def test_columns_decide_what_is_meant(sample: clrevents.Trace) -> None:
    """duckdb can only tell the tables of these when they are there."""
    joined = "select count(*) from RequestStart a join RequestStop b using (stack_id, thread_id)"
    both = """select count(*) from RequestStart a, RequestStop b
        where a.stack_id = b.stack_id and a.thread_id = b.thread_id"""
    assert sample.query(joined).fetchall() == sample.query(both).fetchall()
    pivot = sample.query("pivot (select provider, name from headers where name like 'Request%') on name using count(*)")
    assert pivot.fetchall() == [("Clrevents-Sample", 100, 100)]
    assert sample.query("describe threads").fetchall()[0][:2] == ("thread_id", "UBIGINT")
    steps = (
        "create table t as select * from RequestStart; insert into t select * from RequestStart; from t select count(*)"
    )
    assert sample.query(steps).fetchall() == [(200,)]


def test_case_does_not_matter(sample: clrevents.Trace) -> None:
    for name in ("REQUESTstart", '"clrevents-sample/requestSTART"', "Threads"):
        assert sample.query(f"select count(*) from {name}").fetchall() in ([(100,)], [(3,)])
    assert sample.query('select count(*) from "rundown/MethodDCEndVerbose"').fetchall() == [(1361,)]
    assert sample.query("select count(*) from gcstart").fetchall() == [(0,)], "known, but not in the trace"


def test_events_called_like_a_table_of_the_trace() -> None:
    """Or like one of duckdb's own."""
    trace = build(("P", "Headers", ONE), ("P", "tables", TWO), ("P", "Other", TWO), ("P", "pg_class", ONE))
    assert names(trace) == [*WHOLE, "Other", "P/Headers", "P/pg_class", "P/tables"]
    assert trace.query('select X from "P/pg_class"').fetchall() == [(1,)]
    assert trace.query("select count(*) from headers").fetchall() == [(4,)]
    assert trace.query('select X from "P/Headers"').fetchall() == [(1,)]
    assert trace.query('select X from "p/TABLES"').fetchall() == [(2,)]


def test_names_of_several_events() -> None:
    trace = build(("A", "Done", ONE), ("B", "done", TWO), ("P", "x", ONE), ("P", "X", TWO))
    assert names(trace)[len(WHOLE) :] == ["A/Done", "B/done", "P/X (1)", "P/x (2)"]
    for name in ("done", "Done", "x", '"P/x"'):
        with pytest.raises(clrevents.AmbiguousEventError, match="means several events; write one of: "):
            trace.query(f"from {name}")
    assert trace.query('select a.X, b.X from "A/Done" a, "B/done" b').fetchall() == [(1, 2)]
    assert trace.query('select a.X, b.X from "P/X (1)" a, "P/x (2)" b').fetchall() == [(2, 1)]
    with pytest.raises(clrevents.AmbiguousEventError) as caught:
        trace.query("from DONE")
    assert caught.value.reason == '\'DONE\' means several events; write one of: "A/Done", "B/done"'


def test_an_event_of_ones_own_called_like_a_known_one() -> None:
    trace = build(("My-App", "GCStart", ONE))
    assert names(trace)[len(WHOLE) :] == ["My-App/GCStart"]
    assert trace.query('select X from "My-App/GCStart"').fetchall() == [(1,)]
    with pytest.raises(clrevents.AmbiguousEventError, match='"My-App/GCStart"'):
        trace.query("from GCStart")


@pytest.mark.parametrize(
    "name",
    [
        'a"; drop table b; --',
        "a'b",
        "x.csv",
        "/etc/passwd",
        "What?[1]*",
        "a b",
        "naïve ✓",
        "select",
        "with\nline",
        "{}%s",
    ],
)
def test_names_that_look_like_something_else(name: str) -> None:
    trace = build(("P", name, ONE), ("P", "What11", TWO), ("b", "b", TWO))
    quoted = '"' + name.replace('"', '""') + '"'
    assert name in names(trace)
    assert trace.query(f"select X from {quoted}").fetchall() == [(1,)]
    assert trace.query("select X from b").fetchall() == [(2,)]


def test_empty_trace() -> None:
    trace = build()
    assert names(trace) == WHOLE
    for name in WHOLE:
        assert trace.query(f"select count(*) from {name}").fetchall() == [(len(WHOLE) if name == "tables" else 0,)]
    assert "method" in trace.query("from frames").columns


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("from header", "no table 'header'; did you mean headers?"),
        ("from RequestStrat", "no table 'RequestStrat'; did you mean RequestStart or RequestStop?"),
        ("from RequestStart join Thread using (thread_id)", "no table 'Thread'; did you mean threads"),
        ('from "Nobody/knows"', "no table 'Nobody/knows'"),
        ("insert into nothing values (1)", "no table 'nothing'"),
    ],
)
def test_unknown_tables(sample: clrevents.Trace, sql: str, message: str) -> None:
    with pytest.raises(clrevents.UnknownEventError) as caught:
        sample.query(sql)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "sql",
    [
        "select content from read_text('{file}')",
        "select * from '{file}'",
        "copy threads to '{file}.new.csv'",
        "attach '{file}.db'",
        "select * from glob('{file}*')",
    ],
)
def test_files_only_when_asked(sample: clrevents.Trace, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a\n1\n")
    with pytest.raises(PermissionError, match="the query accesses files, which requires files=True"):
        sample.query(sql.format(file=file)).fetchall()
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    relation = sample.query(sql.format(file=file), files=True)
    assert relation is None or relation.fetchall() is not None
    with pytest.raises(Exception, match=r"external.access"):
        sample.query("set enable_external_access = true")


@pytest.mark.parametrize(
    "sql", ["update extensions", "create secret s (type s3)", "from sniff_csv('/etc/passwd')", "set threads = 1"]
)
def test_what_is_refused_is_refused_in_one_way(sample: clrevents.Trace, sql: str) -> None:
    """Before anything of it runs, with the same error, which says what would allow it."""
    with pytest.raises(PermissionError, match="which requires files=True"):
        sample.query(sql)


def test_times_come_to_python(sample: clrevents.Trace) -> None:
    pytest.importorskip("pytz", reason="needs pytz, which the extra query brings")
    ((time,),) = sample.query("select min(time) from headers").fetchall()
    assert time == next(sample.events()).time


def test_the_extra_brings_what_times_need() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert all("pytz" in extras[extra] for extra in ("query", "tables"))


def test_no_variables_of_python(sample: clrevents.Trace) -> None:
    secret = sample.table("Dyn").to_arrow()
    with pytest.raises(clrevents.UnknownEventError, match="no table 'secret'"):
        sample.query("from secret")
    assert secret.num_rows == 0


def test_times_are_utc_to_the_microsecond() -> None:
    start = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    builder = TraceBuilder(start=start).at(1_500_000_999).event(GCStart_V0(1, 1)).at(3_500_000_000)
    with clrevents.open(builder.event(GCStart_V0(2, 1)).build()) as trace:
        sql = """select min(time)::text, max(time) - min(time), date_trunc('day', min(time))::text, min(time_ns)
            from GCStart"""
        assert trace.query(sql).fetchall() == [
            ("2026-02-01 00:00:00.5+00", timedelta(seconds=2), "2026-02-01 00:00:00+00", 1_500_000_999)
        ]


def test_relations_outlive_what_made_them() -> None:
    with clrevents.open(FIXTURES / "net8-sample.nettrace.gz") as trace:
        relation = trace.query("select count(*) from RequestStart").limit(1)
    assert relation.fetchall() == [(100,)], "the trace is closed"


def test_errors_of_sql_are_duckdb_s(sample: clrevents.Trace) -> None:
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(duckdb.ParserException, match="selec"):
        sample.query("selec")
    with pytest.raises(duckdb.BinderException, match="nope"):
        sample.query("select nope from threads")
    with pytest.raises(ValueError, match=r"^the query is empty$"):
        sample.query(" -- nothing")
    made = sample.query("create table t (x int)")
    assert made is None or made.fetchall() == []
    with pytest.raises(duckdb.CatalogException, match="GCStart"):
        sample.query("from GCStart; drop view GCStart; from GCStart")


def test_a_table_is_asked_for_once() -> None:
    trace = build(("P", "A", ONE))
    asked: list[str] = []

    def table(name: str) -> Any:
        asked.append(name)
        return trace.table("A") if name.lower() == "a" else None

    relation = ask("from a join A b using (X), a c", table, lambda name: KeyError(name), False, [])
    assert relation.count("X").fetchall() == [(1,)]
    assert len(asked) == 1

"""`clrevents query`: rows as a table, JSON and CSV, what is cut, and what is said about SQL that cannot be answered."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clrevents.events import GCStart_V0, GCStart_V2
from clrevents.testing.builder import TraceBuilder
from command_runs import Run, python
from project_files import FIXTURES

pytestmark = pytest.mark.full

SAMPLE = FIXTURES / "net8-sample.nettrace.gz"
BIG = 2**64 - 1


@pytest.fixture
def small(tmp_path: Path) -> Path:
    builder = TraceBuilder().at(1_500_000_123).event(GCStart_V2(1, 0, 1, 0, 9, BIG)).event(GCStart_V0(2, 1))
    builder.described("Shop", "Sold", {"What": (18, "a\x1b[31m[b]\n")})
    path = tmp_path / "small.nettrace"
    path.write_bytes(builder.build())
    return path


def test_table(run: Run) -> None:
    result = run("query", SAMPLE, "select name, count(*) n from headers group by all order by n desc, name limit 3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "name                   n",
        "MethodDCEndVerbose  1361",
        "RequestStart         100",
        "RequestStop          100",
    ]
    assert run("query", SAMPLE, "select null a, 'x' b, [1, null] c").stdout.splitlines() == [
        "a  b  c",
        "-  x  [1, null]",
    ]


def test_show_tables(run: Run) -> None:
    lines = run("query", SAMPLE, "show tables").stdout.splitlines()
    assert lines[:2] == [
        "name                       provider                                event                      events",
        "frames                     -                                       -                               -",
    ]
    assert (
        "AllTypes                   Clrevents-Sample                        AllTypes                        2" in lines
    )
    assert len(lines) == 26


def test_json(run: Run, small: Path) -> None:
    sql = "select ClientSequenceNumber n, ClientSequenceNumber::uhugeint * 2 twice, time, time_ns from GCStart"
    lines = run("query", small, sql, "--json").stdout.splitlines()
    assert list(map(json.loads, lines)) == [
        {"n": BIG, "twice": 2 * BIG, "time": "2026-01-01T00:00:01.500000Z", "time_ns": 1_500_000_123},
        {"n": None, "twice": None, "time": "2026-01-01T00:00:01.500001Z", "time_ns": 1_500_001_123},
    ]
    assert str(BIG) in lines[0]
    values = """select 1 a, 2 a, 1.5 d, 0.1234567890123456789 long, (select sum(3)) s, 'nan'::double nan,
        '\\x01\\xff'::blob b,
        {'x': [1, null], 'y': null} g, map {'k': 1} m, null nothing, true t, date '2026-01-31' as day,
        time '01:02:03' tm,
        timestamp '2026-01-31 01:02:03' as local, interval 1500 millisecond i,
        uuid '00112233-4455-6677-8899-aabbccddeeff' u, 'x'::enum ('x', 'y') e, [time] times, null::int[] none
        from GCStart
        order by time desc limit 1"""
    (line,) = run("query", small, values, "--json").stdout.splitlines()
    assert json.loads(line) == {
        "a": 1,
        "a (2)": 2,
        "d": 1.5,
        "long": "0.1234567890123456789",
        "s": 3,
        "nan": "NaN",
        "b": "01ff",
        "g": {"x": [1, None], "y": None},
        "m": {"k": 1},
        "nothing": None,
        "t": True,
        "day": "2026-01-31",
        "tm": "01:02:03",
        "local": "2026-01-31T01:02:03.000000",
        "i": "P0M0DT1.5S",
        "u": "00112233-4455-6677-8899-aabbccddeeff",
        "e": "x",
        "times": ["2026-01-01T00:00:01.500001Z"],
        "none": None,
    }


def test_csv(run: Run) -> None:
    sql = 'select \'a,"b"\' as "x,y", null n, [1, 2] l, true t, 18446744073709551615::ubigint u'
    text = run("query", SAMPLE, sql, "--csv").stdout
    assert text == "x,y,n,l,t,u\n".replace("x,y", '"x,y"') + '"a,""b""",,"[1, 2]",true,18446744073709551615\n'
    rows = list(csv.reader(io.StringIO(run("query", SAMPLE, "from RequestStart", "--csv").stdout)))
    assert len(rows) == 101
    assert rows[0][:6] == ["time_ns", "time", "thread_id", "stack_id", "activity_id", "related_activity_id"]


def test_limit(run: Run) -> None:
    more = "clrevents: more than {}; use --limit N for more, --json for all\n"
    for args, lines, said in (
        ([], 101, more.format("100 rows")),
        (["--limit", 1], 2, more.format("1 row")),
        (["--limit", 1361], 1362, ""),
        (["--json"], 1361, ""),
        (["--json", "--limit", 7], 7, ""),
        (["--csv", "--limit", 7], 8, ""),
        (["--limit", 0, "--json"], 0, ""),
    ):
        result = run("query", SAMPLE, "select time_ns from MethodDCEndVerbose", *args)
        assert (len(result.stdout.splitlines()), result.stderr) == (lines, said), args
    exact = run("query", SAMPLE, "select time_ns from RequestStart")
    assert (len(exact.stdout.splitlines()), exact.stderr) == (101, "")


def test_nothing_reaches_the_terminal_as_a_control(run: Run, small: Path) -> None:
    sql = "select What as \"\x1b[1mW\", repeat('x', 1000) long from Sold"
    assert run("query", small, sql).stdout.splitlines()[1].startswith("a\\x1b[31m[b]\\n  xxx")
    assert "\x1b" not in run("query", small, sql).stdout
    assert f"{'x' * 300}… (1,000 characters)" in run("query", small, sql).stdout
    assert run("query", small, sql, "--json").stdout.count("x") == 1000


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal(on_terminal: Callable[..., tuple[int, str]], columns: int) -> None:
    sql = "select name, signature, module from methods order by length(signature) desc limit 3"
    code, shown = on_terminal("query", SAMPLE, sql, columns=columns)
    lines = shown.splitlines()
    assert code == 0
    assert max(len(line.rstrip()) for line in lines if "\x1b" not in line) <= columns
    # Names and texts give way; a row stays a line, and what all rows share stands below.
    assert len(lines) == 5
    assert "the same in each row: module System.Private.CoreLib" in lines[-1]
    assert any("…" in line for line in lines)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("from header", "clrevents: no table 'header'; did you mean headers?\n"),
        ("selec", 'Error: Parser Error: syntax error at or near "selec"'),
        ("select nope from threads", 'Error: Binder Error: Referenced column "nope" not found in FROM clause!'),
        ("", "Error: the query is empty\n"),
        ("from '/etc/passwd.csv'", "Error: the query accesses files, which requires --files: "),
        ("select 1 / 'x'", "Error: Conversion Error: "),
    ],
)
def test_mistakes(run: Run, sql: str, message: str) -> None:
    result = run("query", SAMPLE, sql)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_ambiguous(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.nettrace"
    path.write_bytes(TraceBuilder().described("A", "Done", {"X": (9, 1)}).described("B", "Done", {"X": (9, 1)}).build())
    result = run("query", path, "from Done")
    said = 'clrevents: \'Done\' means several events; write one of: "A/Done", "B/Done"\n'
    assert (result.exit_code, result.stderr) == (1, said)


def test_forms_exclude_each_other(run: Run) -> None:
    result = run("query", SAMPLE, "select 1", "--json", "--csv")
    assert result.exit_code == 1
    assert "--json and --csv are mutually exclusive" in result.stderr


def test_files_when_asked(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("query", SAMPLE, f"copy (select events from threads) to '{out}'", "--files").exit_code == 0
    assert out.read_text() == "events\n1496\n136\n64\n"


def test_a_process_says_nothing_but_rows() -> None:
    """duckdb's bindings complain when Python ends with objects of theirs."""
    for sql, code in (("select 1 x", 0), ("from nothing", 1)):
        done = python("-m", "clrevents", "query", SAMPLE, sql)
        assert done.returncode == code
        assert done.stderr == ("" if code == 0 else "clrevents: no table 'nothing'\n")


@pytest.mark.parametrize("missing", ["duckdb", "pyarrow"])
def test_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = ['query', {os.fspath(SAMPLE)!r}, 'select 1']\n"
    done = python("-c", code + "from clrevents.cli import main; main()")
    assert done.returncode == 1
    assert f"Error: SQL needs {missing}: pip install 'clrevents[query]'\n" in done.stderr

"""`clrevents spans`: sums and rows as text, everything as JSON, and one sentence for what cannot be paired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clrevents.testing.builder import TraceBuilder
from command_runs import Run

MS = 1_000_000


def begin(builder: TraceBuilder, at: int, number: int) -> TraceBuilder:
    fields = {"Number": (9, number), "Url": (18, f"/{number}\x1b"), "Share": (14, float("nan"))}
    return builder.at(at * MS).described("Shop", "Ask", fields, id=1)


def end(builder: TraceBuilder, at: int, number: int) -> TraceBuilder:
    return builder.at(at * MS).described("Shop", "Answer", {"Number": (9, number), "Code": (9, 200)}, id=2)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    builder = begin(TraceBuilder().thread(7), 1, 1)
    begin(builder.thread(8), 2, 2)
    end(builder.thread(7), 5, 1)
    end(builder.thread(8), 10, 2)
    end(builder, 11, 3)
    path = tmp_path / "shop.nettrace"
    path.write_bytes(builder.build())
    return path


def test_text(run: Run, shop: Path) -> None:
    result = run("spans", shop, "Ask", "Answer", "--on", "thread_id,Number")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "spans      2 from Ask to Answer",
        "paired     by key (thread_id, Number)",
        "time       12.0 ms in total; shortest 4.00 ms, median 4.00 ms, 95 % 8.00 ms, longest 8.00 ms",
        "unmatched  0 begins, 1 end",
        "",
        "duration          at  thread  Url",
        " 8.00 ms    2.000 ms       8  /2\\x1b",
        " 4.00 ms    1.000 ms       7  /1\\x1b",
    ]


def test_rows_and_columns(run: Run, shop: Path) -> None:
    lines = run("spans", shop, "Shop/Ask", "Shop/Answer", "-n", 1, "--columns", "Number, Code").stdout.splitlines()
    assert lines[5:] == [
        "duration          at  thread  Number  Code",
        " 8.00 ms    2.000 ms       8       2   200",
        "and 1 more (-n shows them)",
    ]
    lines = run("spans", shop, "Ask", "Answer", "-n", 0).stdout.splitlines()
    assert lines[:2] == ["spans      2 from Ask to Answer", "paired     by thread (thread_id)"]
    assert len(lines) == 4


def test_json(run: Run, shop: Path) -> None:
    result = run("spans", shop, "Ask", "Answer", "--json", "-n", 1)
    found = json.loads(result.stdout)
    assert next(iter(found)) == "schema"
    assert (found["schema"], found["coverage"], found["notes"]) == ("clrevents.spans/1", "full", [])
    assert found["facts"] == {"begin": "Ask", "end": "Answer", "pairing": "thread", "on": ["thread_id"]}
    assert {name: metric["value"] for name, metric in found["metrics"].items()} == {
        "spans": 2,
        "total": 12 * MS,
        "shortest": 4 * MS,
        "median": 4 * MS,
        "p95": 8 * MS,
        "longest": 8 * MS,
        "unmatched_begins": 0,
        "unmatched_ends": 1,
        "unmatched_by_activity": 0,
        "ambiguous": 0,
        "lossy": 0,
    }
    rows = found["tables"]["spans"]
    assert rows[0] == {
        "start_ns": MS,
        "end_ns": 5 * MS,
        "duration_ns": 4 * MS,
        "thread_id": 7,
        "end_thread_id": 7,
        "stack_id": 0,
        "activity_id": None,
        "Number": 1,
        "Url": "/1\x1b",
        "Share": "NaN",
        "Code": 200,
        "lossy": False,
    }
    assert len(rows) == 2


def test_losses_are_marked_and_said(run: Run, tmp_path: Path) -> None:
    builder = begin(TraceBuilder().thread(7), 1, 1).lose(5)
    path = tmp_path / "lossy.nettrace"
    path.write_bytes(end(builder, 2, 1).build())
    result = run("spans", path, "Ask", "Answer")
    assert result.stdout.splitlines()[-3:] == [
        " 1.00 ms  !  1.000 ms       7  /1\\x1b",
        "",
        "5 events were lost while recording; ! marks rows that may be affected",
    ]
    assert "5 events were lost" in result.stderr
    assert run("spans", path, "Ask", "Answer", "--fail-on", "loss").exit_code == 3


def test_activities_pair_by_themselves(run: Run, tmp_path: Path) -> None:
    builder = TraceBuilder(step_ns=MS)
    one, two = bytes([1] * 16), bytes([2] * 16)
    for thread, id, name in ((7, one, "Start"), (7, two, "Start"), (8, one, "Stop"), (9, two, "Stop")):
        builder.thread(thread).activity(id).raw("Shop", 1 + (name == "Stop"), name=f"Order{name}")
    builder.activity(one).raw("Shop", 1, name="OrderStart").raw("Shop", 1, name="OrderStart")
    builder.raw("Shop", 2, name="OrderStop").raw("Shop", 2, name="OrderStop")
    path = tmp_path / "orders.nettrace"
    path.write_bytes(builder.build())
    lines = run("spans", path, "OrderStart", "OrderStop", "-n", 0).stdout.splitlines()
    assert lines == [
        "spans      4 from OrderStart to OrderStop",
        "paired     by activity (activity_id)",
        "time       8.00 ms in total; shortest 1.00 ms, median 2.00 ms, 95 % 3.00 ms, longest 3.00 ms",
        "unmatched  0 begins, 0 ends",
        "ambiguous  2 spans overlap others with their id and may have another end",
    ]
    by_thread = json.loads(run("spans", path, "OrderStart", "OrderStop", "--on", "thread_id", "--json").stdout)
    assert by_thread["facts"] == {
        **{"begin": "OrderStart", "end": "OrderStop"},
        **{"pairing": "thread", "on": ["thread_id"]},
    }
    assert by_thread["rows"] == {"spans": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Ask", "Ask"), "begin and end are the same event, Shop/Ask"),
        (("Ask", "Answer", "--on", "Url"), "Shop/Answer has no column 'Url'; it has time_ns"),
        (("Ask", "Answer", "--columns", "Nix"), "no column 'Nix'; there are start_ns"),
        (("Ask", "Nix"), "no event 'Nix'"),
        (("A*", "Answer"), "'A*' means several events; write one of: Shop/Answer, Shop/Ask"),
    ],
)
def test_mistakes(run: Run, shop: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("spans", shop, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""

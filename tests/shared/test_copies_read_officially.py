"""What `cut`, `redact`, `join` and the builder write, read by the official reader: its events, times, threads, stacks
and losses are those of the original.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.rewrite import cut, join, redact
from clrevents.schema.own_marks import PROVIDER
from clrevents.testing.builder import TraceBuilder
from official_reader import official_reading, official_stacks
from project_files import unpacked

pytestmark = [needs_shared, pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]

TRACES: Final = (
    "traces/perfview/eventpipe-dotnetcore2.1-linux-x64-objver3.netperf.gz",
    "traces/own/net8-sample.nettrace.gz",
    "traces/own/net10-lossy.nettrace.gz",
    "scenarios/net31-states-44.nettrace.gz",
    "scenarios/net11-states-31.nettrace.gz",
    "linux/net8-states-55.linux.nettrace.gz",
)
"""Of every generation that it reads."""
_HEADERS: Final = ("provider", "id", "version", "ticks", "tid", "pid", "activity")


def headers(rows: list[dict[str, Any]], *more: str) -> list[tuple[Any, ...]]:
    """All that it says of each event but the payload, in which it reads on where one is too short; in any order."""
    names = (*_HEADERS, *more)
    return sorted(tuple(str(row.get(name)) for name in names) for row in rows if row["provider"] != PROVIDER)


@pytest.mark.parametrize("name", TRACES, ids=lambda name: name.rpartition("/")[2].partition(".net")[0])
def test_copies(name: str, tmp_path: Path) -> None:
    original = SHARED / name
    (tmp_path / "original").write_bytes(unpacked(original))
    read, stacks = official_reading(tmp_path / "original", tmp_path), official_stacks(tmp_path / "original", tmp_path)
    assert read.error is None
    with clrevents.open(original) as trace:
        cut(trace, tmp_path / "cut")
        redact(trace, tmp_path / "redacted")
        half = cut(trace, tmp_path / "half", start="30%", end="60%")
    for copy, more in (("cut", ("bytes",)), ("redacted", ())):
        again = official_reading(tmp_path / copy, tmp_path)
        assert (again.error, again.lost) == (None, read.lost)
        assert headers(again.rows, *more) == headers(read.rows, *more)
        assert sorted(row for row in official_stacks(tmp_path / copy, tmp_path) if row[0] != PROVIDER) == sorted(stacks)
    part = official_reading(tmp_path / "half", tmp_path)
    # It does not count what a thread lost before its first number, and counts our marks of the part as events.
    assert (part.error, part.lost <= half.lost) == (None, True)
    assert len(headers(part.rows)) == half.events


def test_a_joined_trace(tmp_path: Path) -> None:
    paths = [SHARED / f"linux/net8-states-55.{which}.nettrace.gz" for which in ("linux", "eventpipe")]
    expected = 0
    for path in paths:
        (tmp_path / "original").write_bytes(unpacked(path))
        expected += official_reading(tmp_path / "original", tmp_path).events
    with clrevents.open(paths[0]) as linux, clrevents.open(paths[1]) as other:
        join(linux, other, tmp_path / "joined")
    joined = official_reading(tmp_path / "joined", tmp_path)
    assert (joined.error, joined.lost, len(headers(joined.rows))) == (None, 0, expected)


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
def test_a_built_trace(format: Any, tmp_path: Path) -> None:
    """Several threads in turn, losses, and a time that is set back."""
    builder = TraceBuilder(format)
    for turn in range(50):
        builder.thread(turn % 3 + 1).at(turn * 1000 - turn % 7 // 6 * 1500).sample(turn + 1)
        if turn % 10 == 9:
            builder.lose(turn)
    (tmp_path / "built").write_bytes(builder.build())
    with clrevents.open(tmp_path / "built") as trace:
        times = [event.time_ns for event in trace.events()]
        read = official_reading(tmp_path / "built", tmp_path)
        assert (read.error, read.lost, read.events) == (None, trace.lost, 50)
        assert [round(row["ms"] * 1e6) for row in read.rows] == times

"""A program with meters and event sources of its own, watched while it runs on .NET 8 and 11, and held against what it
does: a round in 0.1 s, with one order, one cart and one duration."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import AbstractContextManager
from typing import Any

import pytest

from command_runs import environment
from dotnet_runtimes import (
    NET8,
    NET11,
    RUNTIMES,
    Runtime,
    clrevents_command,
    clrevents_run,
    hosted,
    json_lines,
    started,
)
from project_files import without_shared

OWN = RUNTIMES / "apps" / "own" / "Own.dll"

pytestmark = [
    pytest.mark.full,
    pytest.mark.shared,
    pytest.mark.skipif(not OWN.exists(), reason=without_shared("a program of its own sources")),
]
BOTH = pytest.mark.parametrize("runtime", [NET8, NET11], ids=lambda runtime: runtime.name)


def own(runtime: Runtime) -> AbstractContextManager[subprocess.Popen[str]]:
    """The program while it runs."""
    return started(hosted(runtime, OWN, 30))


@BOTH
def test_tail_says_why_a_source_writes_nothing(runtime: Runtime) -> None:
    with own(runtime) as program:
        narrow = clrevents_run("tail", "-p", program.pid, "Own-SameId/A", "Own-Orders/Order", "--json", "--duration=2s")
        whole = clrevents_run("tail", "-p", program.pid, "Own-SameId", "--json", "--duration=1s")
    reason = "clrevents: Own-SameId could not be recorded: Event B has ID 1 which is already in use."
    assert whole.stderr.splitlines() == [reason]
    # At the end it says besides that the event which was asked for never came.
    assert narrow.stderr.splitlines()[0] == reason
    assert {event["name"] for event in json_lines(narrow.stdout)} == {"Order"}
    assert [event["name"] for event in json_lines(whole.stdout)] == ["EventSourceMessage"]


def counters(program: subprocess.Popen[str], *asked: str, seconds: int) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The series by provider, name and tags, but those of quantiles."""
    answer = clrevents_run("counters", "-p", program.pid, *asked, f"--duration={seconds}s", "--json")
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)["tables"]["series"]
    return {(row["provider"], row["name"], row["tags"]): row for row in rows if row["quantile"] is None}


@BOTH
def test_counters_are_those_that_the_program_counts(runtime: Runtime) -> None:
    """Asked for by name, as a meter and as an EventSource. A round takes 0.1 s and a little: 8 to 10 in an interval."""
    with own(runtime) as program:
        found = counters(program, "--provider=Own.Shop", "--provider=Own-Orders", seconds=5)
    # Only from .NET 9 on does the runtime tell meters of one name apart.
    second = "part=b" if runtime is NET11 else ""
    first = [found["Own.Shop", "orders.count", f"region={region}"] for region in ("eu", "us")]
    other = found["Own.Shop", "orders.count", second]
    duration = found["Own.Shop", "orders.duration", ""]
    assert {row["count"] for row in (*first, other, duration)} <= {4, 5}
    rounds = other["total"]
    assert 8 * other["count"] <= rounds <= 10 * other["count"]
    # +2 in each round, for each region in turn.
    assert abs(sum(row["total"] for row in first) - 2 * rounds) <= 2
    assert abs(first[0]["total"] - first[1]["total"]) <= 2
    assert duration["measurements"] == rounds
    # 0.1, 0.2, 0.3 and 0.4 s in turn.
    assert abs(duration["total"] - 0.25 * rounds) <= 0.4
    assert all(8 < row["per_second"] < 10.2 for row in (*first, other, duration))
    assert (duration["p50"], duration["p95"]) == (pytest.approx(0.25, abs=0.051), pytest.approx(0.4, rel=0.002))
    orders, hits, times = (found["Own-Orders", name, ""] for name in ("orders", "hits", "answer-time"))
    assert hits["total"] == 7 * hits["count"]
    assert 8 * orders["count"] <= orders["total"] <= 11 * orders["count"]
    assert abs(times["measurements"] - orders["total"]) <= 10
    assert (times["min"], times["max"]) == (1, 10)


@BOTH
def test_patterns_and_instruments_are_looked_up_in_the_list(runtime: Runtime) -> None:
    """.NET 8 knows neither, .NET 11 no name of an instrument alone."""
    with own(runtime) as program:
        by_pattern = counters(program, "--provider=Own*", seconds=2)
        by_name = counters(program, "--name=orders.dur*", seconds=2)
    names = {"orders.count", "orders.duration", "orders.open", "queue.length"}
    assert {name for _, name, _ in by_pattern} == names
    assert [*by_name] == [("Own.Shop", "orders.duration", "")]


@BOTH
def test_what_there_is_to_record(runtime: Runtime) -> None:
    """Also beside another session, whose values go on."""
    with own(runtime) as program:
        beside = subprocess.Popen(
            clrevents_command("counters", "-p", program.pid, "--provider=Own.Shop", "--duration=6s", "--json"),
            stdout=subprocess.PIPE,
            env=environment(),
        )
        time.sleep(2)
        listed = clrevents_run("counters", "-p", program.pid, "--list", "--json")
        other = json.loads(beside.communicate(timeout=60)[0])
    rows = json_lines(listed.stdout)
    shop = {(row["name"], row["version"]): row for row in rows if row["provider"] == "Own.Shop"}
    assert len(shop) == 5
    assert len(rows) == (5 if runtime is NET8 else 24)
    duration = shop["orders.duration", None]
    assert (duration["kind"], duration["unit"], duration["description"]) == ("Histogram", "s", "time to take an order")
    assert duration["option"] == "--provider Own.Shop --name orders.duration"
    assert max(row["count"] for row in other["tables"]["series"]) >= 5

"""The report on activities, held against the official computer's, and against raw events."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis import spans
from clrevents.analysis.reports.activities import ActivitiesReport

SCENARIO = SHARED / "scenarios/net10-async-11"
WEB = SHARED / "traces/own/net10-web.nettrace.gz"
NO_GUID = "00000000-0000-0000-0000-000000000000"

pytestmark = needs_shared


def official(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    return sorted(found, key=lambda one: one["id"])


def asked(path: Path) -> ActivitiesReport:
    with clrevents.open(path) as trace:
        return trace.report("activities")


@pytest.fixture(scope="module")
def web() -> ActivitiesReport:
    return asked(WEB)


def agree(report: ActivitiesReport, truth: list[dict[str, Any]]) -> None:
    """Id, name, start, duration and parent of each that was stopped; the computer numbers them as rows are."""
    mine = {row.row: row for row in report.activities if row.end_kind == "stop"}
    assert sorted(mine) == [one["id"] for one in truth]
    for one in truth:
        row = mine[one["id"]]
        assert (row.activity_id or NO_GUID) == one["activity"]
        extra = one["ExtraInfo"] or ""
        assert f"{row.name}({row.activity_path or NO_GUID}{extra and f',{extra}'})" == one["Name"]
        assert (row.detail or "") == (extra if row.name == "ExceptionHandling" else extra.partition("=")[2])
        assert row.start_ns == pytest.approx(one["StartTimeRelativeMSec"] * 1e6, abs=1000)
        assert row.duration_ns == pytest.approx(one["DurationMSec"] * 1e6, abs=1000)
        assert (-1 if row.parent_traceevent_row is None else row.parent_traceevent_row) == one["parent"]


def test_async_calls_are_those_of_the_official_computer() -> None:
    truth = official(SCENARIO.with_name("net10-async-11.activities.jsonl.gz"))
    report = asked(SCENARIO.with_name("net10-async-11.nettrace.gz"))
    assert len(truth) == 81
    agree(report, truth)
    # 121 calls and the phase around them; a call that makes others is ended by the first of them, and its own stop
    # has no id.
    assert len(report.activities) == 122
    assert Counter(row.reason for row in report.orphans) == {"no_id": 41}
    assert {row.parent_by for row in report.activities} == {None, "task"}, "each is alone in its flow"
    assert Counter(row.end_kind for row in report.activities)["stop"] == 81
    assert not {"trace_end"} & {row.end_kind for row in report.activities}


@pytest.mark.parametrize("name", ["net11-async-31", "net10-async-11", "net8-async-44", "net31-async-44"])
def test_parents_of_recursive_calls_are_those_of_the_program(name: str) -> None:
    truth = json.loads((SHARED / f"scenarios/{name}.truth.json").read_text())
    with clrevents.open(SHARED / f"scenarios/{name}.nettrace.gz") as trace:
        report = trace.report("activities")
        callers, depths = called(trace)
    rows = list(report.activities)
    by_start = {row.start_ns: row for row in rows}
    assert len(depths) == truth["calls"] == len(rows) - 1
    for start, caller in callers.items():
        parent = by_start[start].parent_row
        assert parent == (None if caller is None else by_start[caller].row)
    parents = Counter(row.parent_row for row in rows if row.parent_row is not None)
    assert set(parents.values()) == {truth["fan"]}
    assert max(depths.values()) == truth["depth"]
    assert report.facts.parents_by_task == truth["calls"] - 1
    assert parents.keys() == {row.row for row in rows if depths.get(row.start_ns, 0) > 0}
    # Before .NET 5, stops may have the ids of others.
    assert any(row.ambiguous for row in rows) == name.startswith("net31")


def called(trace: clrevents.Trace) -> tuple[dict[int, int | None], dict[int, int]]:
    """The caller of each call of the program, and how deep it is to go, by the times at which they start.

    A call writes its start, queues its continuation, and calls others in that.
    """
    callers: dict[int, int | None] = {}
    depths: dict[int, int] = {}
    begun: dict[int, int] = {}
    queued: dict[int, int] = {}
    running: dict[int, int] = {}
    for event in trace.events("PhaseStart", "AwaitTaskContinuationScheduled", "TaskWaitContinuation*"):
        thread, payload = event.thread_id, clrevents.asdict(event.payload)
        if event.name == "PhaseStart":
            if payload["name"] == "tree":
                callers[event.time_ns], depths[event.time_ns] = running.get(thread), payload["number"]
                begun[thread] = event.time_ns
        elif event.name == "AwaitTaskContinuationScheduled":
            if thread in begun:
                queued[payload.get("ContinueWithTaskId", payload.get("ContinuwWithTaskId"))] = begun.pop(thread)
        elif event.name == "TaskWaitContinuationStarted":
            running[thread] = queued[payload["TaskID"]]
        elif running.get(thread) is not None and queued.get(payload["TaskID"]) == running[thread]:
            del running[thread]
    return callers, depths


def test_stops_of_recursive_calls_that_have_ids_of_others_are_ambiguous() -> None:
    """.NET Core 3.1 writes the stop of a call that was ended already with whatever id its thread had before."""
    path = SHARED / "scenarios/net31-async-44.nettrace.gz"
    report = asked(path)
    with clrevents.open(path) as trace:
        payloads = {event.time_ns: event.payload for event in trace.events("PhaseStart", "PhaseStop")}
    wrong = [row for row in report.activities if row.end_ns and payloads[row.start_ns] != payloads[row.end_ns]]
    assert [row.ambiguous for row in wrong] == [True] * 3
    assert {note.id: note.numbers for note in report.notes}["stale-related-ids"] == {"starts": 116}


def test_activities_of_a_web_server_are_those_of_the_official_computer(web: ActivitiesReport) -> None:
    truth = official(SHARED / "oracle/net10-web.activities.jsonl.gz")
    assert len(truth) == 3118
    agree(web, truth)
    rest = [(row.name, row.end_kind) for row in web.activities if row.end_kind != "stop"]
    # Stopped from another flow, so that its stop has no id.
    assert rest == [("Host", "unknown")]
    assert [(row.name, row.reason) for row in web.orphans] == [("Host", "no_id")]


def test_spans_of_requests_are_their_activities(web: ActivitiesReport) -> None:
    hosting = "Microsoft.AspNetCore.Hosting"
    with clrevents.open(WEB) as trace:
        table = spans(trace, f"{hosting}/RequestStart", f"{hosting}/RequestStop")
        by_thread = spans(trace, f"{hosting}/RequestStart", f"{hosting}/RequestStop", on="thread_id")
    assert [table.metadata[key] for key in ("pairing", "ambiguous", "unmatched_begins")] == ["activity", "0", "0"]
    mine = [row for row in web.activities if (row.provider, row.name) == (hosting, "Request")]
    assert [(row["start_ns"], row["end_ns"]) for row in table.rows()] == [(row.start_ns, row.end_ns) for row in mine]
    assert [int(one["duration_ns"].max()) // 1_000_000 for one in (table, by_thread)] == [83, 206]


def test_parents_are_those_of_related_ids(web: ActivitiesReport) -> None:
    rows = {row.row: row for row in web.activities}
    mine = [row for row in web.activities if row.name != "ExceptionHandling"]
    assert Counter(row.parent_row is None for row in mine) == {False: 2722, True: 316}
    assert not any(row.ambiguous for row in web.activities)
    assert Counter(row.parent_by for row in mine) == {"related_id": 2722, None: 316}
    for row in web.activities:
        if row.parent_row is not None:
            parent = rows[row.parent_row]
            assert parent.start_ns <= row.start_ns <= (parent.end_ns or row.start_ns)
            assert row.parent_row == row.parent_traceevent_row or row.name == "ExceptionHandling"


def test_starts_and_stops_are_those_of_the_events(web: ActivitiesReport) -> None:
    starts: list[tuple[int, int, str, str]] = []
    stops: Counter[tuple[int, int]] = Counter()
    with clrevents.open(WEB) as trace:
        for event in trace.events():
            if event.opcode == 1:
                starts.append((event.time_ns, event.thread_id, event.provider, str(event.activity_id)))
            elif event.opcode == 2:
                stops[event.time_ns, event.thread_id] += 1
    mine = [row for row in web.activities if row.name != "ExceptionHandling"]
    assert [(r.start_ns, r.start_thread_id, r.provider, r.activity_id) for r in mine] == starts
    ended = Counter((r.end_ns, r.end_thread_id) for r in mine if r.end_ns is not None)
    assert ended + Counter((r.time_ns, r.thread_id) for r in web.orphans) == stops


def test_self_times_and_sums(web: ActivitiesReport) -> None:
    children: dict[int, list[tuple[int, int]]] = {}
    for row in web.activities:
        if row.parent_row is not None and row.end_ns is not None:
            children.setdefault(row.parent_row, []).append((row.start_ns, row.end_ns))
    for row in web.activities:
        if row.duration_ns is None or row.end_ns is None:
            continue
        left, reach = row.duration_ns, row.start_ns
        for start, end in sorted(children.get(row.row, [])):
            left -= max(min(end, row.end_ns) - max(start, reach), 0)
            reach = max(reach, min(end, row.end_ns))
        assert row.self_ns == left
    assert web.metrics["count"].value == 3119 == sum(row.count for row in web.names)
    assert web.metrics["stopped"].value == 3118 == sum(row.stopped for row in web.names)
    total = sum(row.duration_ns or 0 for row in web.activities)
    assert sum(row.total_ns or 0 for row in web.names) == total
    assert all((row.total_ns is None) == (row.stopped == 0) for row in web.names)

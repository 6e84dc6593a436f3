"""The report on requests on a web server that calls itself, held against loops over raw events."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis import activities_report, requests_report
from clrevents.analysis.requests.report import RequestsReport
from clrevents.analysis.requests.request_rows import RequestRow

WEB = SHARED / "traces/own/net10-web.nettrace.gz"

pytestmark = needs_shared


@pytest.fixture(scope="module")
def report() -> RequestsReport:
    with clrevents.open(WEB) as trace:
        return requests_report(trace)


@pytest.fixture(scope="module")
def rows(report: RequestsReport) -> dict[str, list[RequestRow]]:
    found: dict[str, list[RequestRow]] = {"client": [], "server": []}
    for row in report.requests:
        found[row.side].append(row)
    return found


def test_every_request_is_there_once_with_the_durations_of_its_events(rows: dict[str, list[RequestRow]]) -> None:
    providers = {"client": "System.Net.Http", "server": "Microsoft.AspNetCore.Hosting"}
    for side, provider in providers.items():
        open_, times = {}, []
        with clrevents.open(WEB) as trace:
            for event in trace.events():
                if event.provider == provider and event.name == "RequestStart":
                    assert event.activity_id not in open_
                    open_[event.activity_id] = event.time_ns, event.payload
                elif event.provider == provider and event.name == "RequestStop":
                    start, payload = open_.pop(event.activity_id)
                    path = payload.pathAndQuery if side == "client" else payload.path
                    times.append((start, event.time_ns, path.partition("?")[0]))
        assert not open_
        assert len(times) == 490
        assert [(row.start_ns, row.end_ns, row.url_path) for row in rows[side]] == sorted(times)
        assert all(row.duration_ns == (row.end_ns or 0) - row.start_ns for row in rows[side])


def test_statuses_are_those_of_the_clients_events(rows: dict[str, list[RequestRow]]) -> None:
    client, server = rows["client"], rows["server"]
    assert Counter((row.status, row.status_evidence) for row in client) == {(200, "event"): 410, (500, "event"): 80}
    assert Counter((row.status, row.status_evidence) for row in server) == {(200, "peer"): 410, (500, "peer"): 80}
    assert Counter((row.failed, row.status) for row in server) == {(False, 200): 410, (True, 500): 80}
    assert Counter((row.exceptions, row.route) for row in server if row.exceptions) == {(1, "/fail"): 80}


def test_both_sides_are_tied_by_their_connections(report: RequestsReport, rows: dict[str, list[RequestRow]]) -> None:
    by_row = {row.row: row for row in report.requests}
    assert sum(one.peer_row is not None for one in report.requests) == 980
    connections = defaultdict(set)
    for row in rows["client"]:
        assert row.peer_row is not None
        peer = by_row[row.peer_row]
        assert (peer.peer_row, peer.side, peer.url_path) == (row.row, "server", row.url_path)
        # A server writes its stop after the client may have read everything.
        assert row.start_ns <= peer.start_ns < (row.end_ns or 0)
        connections[row.connection].add(peer.connection)
    assert len(connections) == 32
    assert all(len(others) == 1 for others in connections.values())
    assert Counter(row.connection_reused for row in rows["client"]) == {True: 458, False: 32}


def test_a_chain_lies_in_the_request_that_was_served(report: RequestsReport, rows: dict[str, list[RequestRow]]) -> None:
    by_row = {row.row: row for row in report.requests}
    inner = [row for row in rows["client"] if row.parent_row is not None]
    assert inner
    for row in inner:
        parent = by_row[row.parent_row or 0]
        assert parent.side == "server"
        assert (parent.route, row.route) == ("/chain/{n}", row.route)
        assert parent.start_ns <= row.start_ns
    assert {row.parent_row for row in rows["server"]} == {None}
    # Each request of a chain sends the next one, until the number is 0.
    served = Counter(row.url_path for row in rows["server"] if row.route == "/chain/{n}")
    sending = sum(count for path, count in served.items() if path != "/chain/0")
    assert len(inner) == sending


def test_parts_add_up_without_gaps(report: RequestsReport) -> None:
    by_row = {row.row: row for row in report.requests}
    parts = defaultdict(list)
    for part in report.parts:
        parts[part.request_row].append(part)
    assert set(parts) == {row.row for row in report.requests if row.duration_ns}
    for number, mine in parts.items():
        request = by_row[number]
        assert mine[0].start_ns == request.start_ns
        assert mine[-1].end_ns == request.end_ns
        assert all(one.end_ns == other.start_ns for one, other in pairwise(mine))
        assert sum(part.duration_ns for part in mine) == request.duration_ns
        assert sum(part.duration_ns for part in mine if part.part == "unaccounted") == request.unaccounted_ns
    counts = Counter(part.part for part in report.parts)
    assert counts["request_headers"] == counts["wait"] == counts["response_headers"] == 490
    calls = [part for part in report.parts if part.part == "call"]
    assert all(by_row[part.call_row or 0].parent_row == part.request_row for part in calls)


def test_routes_have_the_percentiles_of_all_durations(report: RequestsReport) -> None:
    # Of the same events, worked out elsewhere, in milliseconds.
    wanted = {"/items/{n}": (80, 83.4), "/chain/{n}": (320, 41.4), "/fail": (80, 13.0), "/slow/{n}": (10, 9.54)}
    found = {row.route: row for row in report.routes if row.side == "server"}
    assert {route: row.count for route, row in found.items()} == {route: n for route, (n, _) in wanted.items()}
    for route, (_, p99) in wanted.items():
        assert (found[route].p99_ns or 0) / 1e6 == pytest.approx(p99, abs=0.06)
    assert sum(row.count for row in report.periods) == 980


def test_activities_are_those_of_the_other_report(report: RequestsReport) -> None:
    with clrevents.open(WEB) as trace:
        activities = {row.row: row for row in activities_report(trace).activities}
    for row in report.requests:
        activity = activities[row.activity_row]
        assert (activity.name, activity.start_ns, activity.end_ns) == ("Request", row.start_ns, row.end_ns)

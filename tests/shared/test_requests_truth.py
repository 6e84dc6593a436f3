"""The report on requests on a web server that calls itself, held against loops over raw events."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis.reports.requests import RequestsReport
from clrevents.analysis.reports.requests.request_tables import RequestRow

WEB = SHARED / "traces/own/net10-web.nettrace.gz"

pytestmark = needs_shared


@pytest.fixture(scope="module")
def report() -> RequestsReport:
    with clrevents.open(WEB) as trace:
        return trace.report("requests")


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
        activities = {row.row: row for row in trace.report("activities").activities}
    for row in report.requests:
        activity = activities[row.activity_row]
        assert (activity.name, activity.start_ns, activity.end_ns) == ("Request", row.start_ns, row.end_ns)


Fallen = list[tuple[int, int, str, int | None]]


@pytest.fixture(scope="module")
def fallen(report: RequestsReport) -> Fallen:
    """Begin, end, kind and request of waits, exceptions and awaits, by hand: ids, which the trace reuses, are followed
    from start to stop."""
    requests = {(row.side, row.start_ns): row.row for row in report.requests}
    sides = {"System.Net.Http": "client", "Microsoft.AspNetCore.Hosting": "server"}
    open_: dict[object, int | None] = {}
    found: Fallen = []
    began: dict[object, tuple[int, int | None]] = {}
    awaits: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
    with clrevents.open(WEB) as trace:
        for event in trace.events():
            owner = open_.get(event.activity_id)
            if event.name == "ExceptionThrown":
                found.append((event.time_ns, event.time_ns, "exception", owner))
            elif event.name == "ContentionStart":
                began["lock", event.thread_id] = event.time_ns, owner
            elif event.name == "ContentionStop":
                start, owner = began.pop(("lock", event.thread_id))
                found.append((start, event.time_ns, "lock", owner))
            elif event.name == "TaskWaitBegin" and int(event.payload.Behavior) == 2:
                awaits[event.payload.TaskID].append((event.time_ns, owner))
            elif event.name == "TaskWaitEnd":
                awaits[event.payload.TaskID].append((event.time_ns, None))
            elif event.provider.startswith(("System.Net", "Microsoft.AspNetCore", "Microsoft-AspNetCore")):
                if event.name.endswith("Start"):
                    inside = open_.get(event.related_activity_id)
                    mine = event.name == "RequestStart" and event.provider in sides
                    own = requests[sides[event.provider], event.time_ns] if mine else inside
                    open_[event.activity_id] = own
                elif event.name.endswith("Stop"):
                    open_.pop(event.activity_id, None)
    # Of three tasks there were several awaits at once, and nobody knows which of them resumed when.
    single = [of for of in awaits.values() if len(of) == 2]
    assert (len(awaits), sum(len(of) > 2 for of in awaits.values())) == (4409, 3)
    found += [(start, end, "await", owner) for (start, owner), (end, _) in single]
    return sorted(one for one in found if one[3] is not None)


def test_what_fell_inside_is_what_a_loop_over_raw_events_finds(report: RequestsReport, fallen: Fallen) -> None:
    told = [
        (row.start_ns, row.end_ns, row.kind, row.request_row)
        for row in report.inside
        if row.kind in ("lock", "exception")
    ]
    assert sorted(told) == [one for one in fallen if one[2] != "await"]
    assert Counter(kind for _, _, kind, _ in told) == {"exception": 80, "lock": 6}
    assert {row.evidence for row in report.inside} == {"activity", "time"}
    assert sum(row.locks or 0 for row in report.requests) == 6
    assert sum(row.lock_ns or 0 for row in report.requests) == sum(
        end - start for start, end, kind, _ in told if kind == "lock" and end is not None
    )
    assert all(row.locks is not None and row.gc_ns is not None for row in report.requests)


def test_pauses_are_those_of_the_report_on_collections(report: RequestsReport) -> None:
    with clrevents.open(WEB) as trace:
        pauses = [(row.start_ns, row.end_ns) for row in trace.report("gc").suspensions]
    assert len(pauses) == 7
    wanted = {}
    for row in report.requests:
        assert row.end_ns is not None
        met = [(max(low, row.start_ns), min(high, row.end_ns)) for low, high in pauses]
        met = [(low, high) for low, high in met if low < high]
        wanted[row.row] = met
        assert (row.gc_pauses, row.gc_ns) == (len(met), sum(high - low for low, high in met))
    listed = defaultdict(list)
    for row in report.inside:
        if row.kind == "gc":
            listed[row.request_row].append((row.start_ns, row.end_ns))
    assert listed == {number: met for number, met in wanted.items() if met}
    assert sum(map(len, wanted.values())) > 100


def test_awaits_lie_in_requests_by_ids(report: RequestsReport, fallen: Fallen) -> None:
    parts: dict[int, Counter[str]] = defaultdict(Counter)
    for part in report.parts:
        parts[part.request_row][part.part] += part.duration_ns
    awaited: Counter[int] = Counter()
    reach: dict[int, int] = {}
    for start, end, kind, request in fallen:
        if kind == "await" and request is not None:
            low, high = max(start, reach.get(request, 0)), min(end, report.requests[request].end_ns or 0)
            awaited[request] += max(high - low, 0)
            reach[request] = max(high, reach.get(request, 0))
    # Where nothing else takes the time.
    alone = [row for row in report.requests if set(parts[row.row]) <= {"await", "unaccounted"}]
    assert {row.row: parts[row.row]["await"] for row in alone} == {row.row: awaited[row.row] for row in alone}
    assert Counter((row.side, row.route) for row in alone if awaited[row.row]) == {
        ("server", "/slow/{n}"): 10,
        ("server", "/items/{n}"): 6,
    }


def test_the_slowest_request_is_laid_out(report: RequestsReport) -> None:
    lines = list(report.waterfall)
    slowest = max(report.requests, key=lambda row: row.duration_ns or 0)
    assert (lines[0].request_row, lines[0].duration_ns, lines[0].depth) == (slowest.row, slowest.duration_ns, 0)
    own = [line for line in lines if line.request_row == slowest.row and line.depth == 1]
    assert [(line.part, line.start_ns, line.end_ns) for line in own] == [
        (part.part, part.start_ns, part.end_ns) for part in report.parts if part.request_row == slowest.row
    ]
    assert sum(line.duration_ns for line in own) == slowest.duration_ns
    served = [line for line in lines if line.part == "server"]
    assert [(line.request_row, line.depth) for line in served] == [(slowest.peer_row, 2)]
    (nearby,) = report.nearby
    assert (nearby.kind, nearby.what) == ("task", "Program.<Main>(string[])")


def test_requests_under_way_over_time_are_counted_from_raw_events(rows: dict[str, list[RequestRow]]) -> None:
    with clrevents.open(WEB) as trace:
        report = trace.report("requests", period_ms=100)
    for side, mine in rows.items():
        for row in report.concurrency:
            if row.side != side:
                continue
            low, high = row.time_ns, row.time_ns + 100_000_000
            starts = [one.start_ns for one in mine if low <= one.start_ns < high]
            assert row.started == len(starts)
            assert row.ended == sum(low <= (one.end_ns or 0) < high for one in mine)
            most = max(sum(one.start_ns <= moment <= (one.end_ns or 0) for one in mine) for moment in (low, *starts))
            assert row.most == most
            assert row.last == sum(one.start_ns < high <= (one.end_ns or 0) for one in mine)
    assert max(row.most for row in report.concurrency) == 32


def test_steps_to_connections_are_all_there(report: RequestsReport) -> None:
    wanted: list[tuple[int, int, str, bool]] = []
    open_: dict[object, tuple[int, str]] = {}
    failed = set()
    with clrevents.open(WEB) as trace:
        for event in trace.events("System.Net.Sockets/*"):
            if event.name.endswith("Start"):
                open_[event.activity_id] = event.time_ns, event.name.removesuffix("Start").lower()
            elif event.name.endswith("Failed"):
                failed.add(event.activity_id)
            else:
                start, kind = open_.pop(event.activity_id)
                wanted.append((start, event.time_ns, kind, event.activity_id in failed))
                failed.discard(event.activity_id)
    assert not open_
    assert [(row.start_ns, row.end_ns, row.kind, row.failed) for row in report.network] == sorted(wanted)
    assert Counter((row.kind, row.failed) for row in report.network) == {
        ("accept", False): 32,
        ("accept", True): 1,
        ("connect", False): 32,
    }
    assert {row.name for row in report.network} == {"127.0.0.1:5177"}
    asked = [row.request_row for row in report.network if row.kind == "connect"]
    assert len(set(asked)) == 32
    assert all(row is not None and report.requests[row].side == "client" for row in asked)


def test_what_requests_await_is_known_from_the_async_profiler() -> None:
    """Delays of a server whose code is all runtime async lie in awaits of their requests, and what ran does not."""
    path = SHARED / "requests" / "net11-shop-async-6"
    with clrevents.open(f"{path}.nettrace.gz") as trace:
        found, start, process = trace.report("requests"), trace.info.sync_qpc, trace.info.process_id
    awaits, served = defaultdict(list), defaultdict(list)
    for part in found.parts:
        if part.part == "await":
            awaits[part.request_row].append((part.start_ns + start, part.end_ns + start))
    for row in found.requests:
        if row.side == "server":
            served[row.url_path].append(row)
    shares = defaultdict(list)
    with gzip.open(f"{path}.truth.jsonl.gz", "rt") as lines:
        truth = [json.loads(line) for line in lines]
    for told in truth:
        if told.get("side") == "server" and told["pid"] == process:
            rows = [row for row in served[told["path"]] if 0 <= told["t0"] - start - row.start_ns < 50_000_000]
            for part in told["parts"] if len(rows) == 1 else ():
                low, high = part["t0"], part["t1"]
                if part["ms"] >= 1 and not part.get("inner"):
                    inside = sum(max(min(end, high) - max(begin, low), 0) for begin, end in awaits[rows[0].row])
                    shares[part["cause"]].append(inside / (high - low))
    assert (len(shares["delay"]), len(shares["semaphore"]), len(shares["cpu"])) == (12, 1, 4)
    assert min(*shares["delay"], *shares["semaphore"]) > 0.98
    assert len(shares["sleep"]) == 8
    others = ("cpu", "sleep", "allocate", "gc_call", "lock", "sync_wait", "sql_write", "sql_open")
    assert {share for cause in others for share in shares[cause]} == {0.0}
    # Calls that no activity tells to be of the request whose code sends them, and the delays between them.
    assert [len(shares[cause]) for cause in ("retry_delay", "when_all")] == [2, 1]
    assert min(*shares["retry_delay"], *shares["when_all"]) > 0.97

"""The report on requests on built streams: ties, parts, failures, and what is not told."""

from __future__ import annotations

import pytest

from built_requests import DOUBLE, HOSTING, HTTP, KESTREL, TEXT, Web
from clrevents.analysis.reports.requests import RequestsReport
from clrevents.analysis.reports.requests.known_requests import KnownRequest
from clrevents.analysis.reports.requests.request_parts import TimedPart, cut_parts
from clrevents.events import ExceptionThrown_V1, ExceptionThrownFlags


def test_two_sides_of_one_connection_are_tied() -> None:
    web = Web()
    web.whole("/items/1?secret=2", 5, "A")
    web.whole("/items/2", 5, "A", 404)
    report = web.asked()
    told = [
        (r.side, r.peer_row, r.url_path, r.route, r.status, r.status_evidence, r.host, r.method)
        for r in report.requests
    ]
    assert told == [
        ("client", 1, "/items/1", "/items/{n}", 200, "event", "shop:80", None),
        ("server", 0, "/items/1", "/items/{n}", 200, "peer", None, "GET"),
        ("client", 3, "/items/2", "/items/{n}", 404, "event", "shop:80", None),
        ("server", 2, "/items/2", "/items/{n}", 404, "peer", None, "GET"),
    ]
    assert [r.connection_reused for r in report.requests if r.side == "client"] == [None, True], "made before the trace"
    assert sum(one.peer_row is not None for one in report.requests) == 4
    assert {name: report.metrics[name].value for name in ("client_count", "server_count", "client_failed")} == {
        "client_count": 2,
        "server_count": 2,
        "client_failed": 0,
    }


def test_a_request_that_cannot_be_laid_out_is_said_to_be_none() -> None:
    web = Web()
    web.whole("/items/1", 5, "A")
    web.client("/items/2")
    for number, why in ((3, "there is no request 3; they are 0 to 2"), (-1, "there is no request -1; they are 0 to 2")):
        report = web.asked(request=number)
        assert [note.message for note in report.notes if note.id == "no-request"] == [why]
        assert len(report.waterfall) == 0
    (note,) = (note for note in web.asked(request=2).notes if note.id == "no-request")
    assert note.message == "request 2 has no stop event and so no waterfall"
    assert not [note for note in web.asked(request=1).notes if note.id == "no-request"]


def test_a_request_is_laid_out_with_the_server_inside_its_wait() -> None:
    web = Web()
    web.whole("/items/1", 5, "A")
    web.whole("/items/2", 5, "A")
    lines = web.asked(request=0).waterfall
    assert [(line.part, line.depth) for line in lines if line.request_row == 1] == [("server", 2), ("unaccounted", 3)]
    assert [(line.part, line.depth) for line in lines if line.request_row == 0] == [
        *(("client", 0), ("unaccounted", 1), ("request_headers", 1), ("wait", 1)),
        *(("response_headers", 1), ("unaccounted", 1)),
    ]


def test_connections_that_carried_other_numbers_are_not_tied() -> None:
    web = Web()
    web.whole("/a", 1, "A")
    web.whole("/a", 1, None)
    report = web.asked()
    assert {r.peer_row for r in report.requests} == {None}
    assert {r.status for r in report.requests if r.side == "server"} == {None}
    (note,) = [note for note in report.notes if note.id == "untied"]
    assert note.numbers == {"requests": 2, "tied": 0}


def parallel(paths: tuple[str, str], served: tuple[str, str]) -> RequestsReport:
    """Two requests at once on connections of their own."""
    web = Web()
    clients = [web.client(path) for path in paths]
    for number, id in enumerate(clients):
        web.send(id, number)
    servers = [web.serve(path, f"S{number}") for number, path in enumerate(served)]
    for ids in servers:
        web.served(ids)
    for id in clients:
        web.receive(id, 200)
        web.done(id, 200)
    return web.asked()


def test_paths_decide_between_connections_that_fit() -> None:
    report = parallel(("/a", "/b"), ("/b", "/a"))
    assert [r.peer_row for r in report.requests] == [3, 2, 1, 0]


def test_requests_that_overlap_on_a_connection_are_not_tied() -> None:
    web = Web()
    clients = [web.client("/a"), web.client("/a")]
    for id in clients:
        web.send(id, 1)
        web.served(web.serve("/a", "A"))
    for id in clients:
        web.receive(id, 200)
        web.done(id, 200)
    assert {r.peer_row for r in web.asked().requests} == {None}


def test_parts_of_a_request() -> None:
    web = Web()
    mine = web.client("/")
    connecting = web.begin("System.Net.Sockets", "Connect", {"address": (TEXT, "…")}, mine)
    web.end("System.Net.Sockets", "Connect", connecting)
    web.builder.activity(mine).described(
        HTTP, "RequestLeftQueue", {"timeOnQueueMilliseconds": (DOUBLE, 0.000015)}, id=6
    )
    web.send(mine, 1)
    web.builder.wait(100)
    web.receive(mine, 200)
    web.done(mine, 200)
    report = web.asked()
    (request,) = report.requests
    assert [(part.part, part.start_ns, part.duration_ns) for part in report.parts] == [
        ("unaccounted", 0, 10),
        ("connect", 10, 10),
        ("queue", 20, 10),
        ("unaccounted", 30, 10),
        ("request_headers", 40, 10),
        ("wait", 50, 110),
        ("response_headers", 160, 10),
        ("unaccounted", 170, 10),
    ]
    assert (request.duration_ns, request.queue_ns, request.headers_ns, request.unaccounted_ns) == (180, 15, 170, 30)


def test_overlapping_parts_are_cut() -> None:
    parts = [TimedPart("a", -5, 4), TimedPart("b", 2, 6), TimedPart("c", 3, 5), TimedPart("d", 8, 30)]
    assert cut_parts(0, 10, parts) == [
        TimedPart("a", 0, 4),
        TimedPart("b", 4, 6),
        TimedPart("unaccounted", 6, 8),
        TimedPart("d", 8, 10),
    ]
    assert cut_parts(0, 10, []) == [TimedPart("unaccounted", 0, 10)]


def test_failures() -> None:
    web = Web()
    failing = web.client("/a")
    web.builder.activity(failing).described(HTTP, "RequestFailed", {}, id=3)
    web.done(failing, -1)
    served = web.serve("/b", "A")
    web.builder.activity(served[1]).described(HOSTING, "UnhandledException", {}, id=5)
    web.served(served)
    report = web.asked()
    assert [(r.side, r.failed, r.status) for r in report.requests] == [("client", True, None), ("server", True, None)]
    assert (report.metrics["client_failed"].value, report.metrics["server_failed"].value) == (1, 1)


def test_a_request_that_is_sent_while_serving_is_inside() -> None:
    web = Web()
    served = web.serve("/a", "A")
    mine = web.client("/b", inside=served[1])
    web.done(mine, 200)
    web.served(served)
    report = web.asked()
    assert [(r.side, r.parent_row) for r in report.requests] == [("server", None), ("client", 0)]
    assert [(p.part, p.call_row) for p in report.parts if p.request_row == 0] == [
        ("unaccounted", None),
        ("call", 1),
        ("unaccounted", None),
    ]


def test_kestrel_alone_tells_of_requests_too() -> None:
    web = Web()
    id = web.begin(KESTREL, "Request", {"connectionId": (TEXT, "A"), "path": (TEXT, "/x"), "method": (TEXT, "PUT")})
    web.end(KESTREL, "Request", id)
    report = web.asked()
    (request,) = report.requests
    assert (request.side, request.method, request.url_path, request.duration_ns) == ("server", "PUT", "/x", 10)
    assert [(row.count, row.failed) for row in report.routes] == [(1, 0)]


def test_a_request_that_goes_on_has_no_duration() -> None:
    web = Web()
    web.client("/a")
    report = web.asked()
    (request,) = report.requests
    assert (request.end_ns, request.duration_ns, request.unaccounted_ns) == (None, None, None)
    assert len(report.parts) == 0
    assert report.metrics["client_p50"].value is None
    assert [(row.count, row.failed) for row in report.routes] == [(1, None)]


def test_requests_under_way_at_once() -> None:
    web = Web()
    ids = [web.client("/a") for _ in range(3)]
    for id in ids:
        web.done(id, 200)
    web.done(web.client("/a"), 200)
    report = web.asked()
    assert report.metrics["client_concurrent"].value == 3
    assert report.metrics["server_concurrent"].value is None, "no server was recorded"
    assert [(row.side, row.started, row.ended, row.most, row.last) for row in report.concurrency] == [
        ("client", 4, 4, 3, 0)
    ]


def test_exceptions_lie_in_the_request_of_their_id() -> None:
    web = Web()
    served = web.serve("/a", "A")
    web.builder.activity(served[1]).event(ExceptionThrown_V1("E", "", 0, 0, ExceptionThrownFlags(0), 0))
    web.served(served)
    web.builder.activity(served[1]).event(ExceptionThrown_V1("E", "", 0, 0, ExceptionThrownFlags(0), 0))
    (request,) = web.asked().requests
    assert request.exceptions == 1


def test_periods_are_as_long_as_asked_for() -> None:
    web = Web()
    for at in (0, 1_500_000, 2_500_000):
        web.builder.at(at)
        web.done(web.client("/a"), 200)
    report = web.asked(period_ms=2)
    assert [(row.period_ns, row.count) for row in report.periods] == [(0, 2), (2_000_000, 1)]
    with pytest.raises(ValueError, match="period_ms"):
        web.asked(period_ms=0)


def test_what_is_left_out_is_said() -> None:
    web = Web()
    for _ in range(3):
        web.done(web.client("/a"), 200)
    report = web.asked(most=2)
    assert (len(report.requests), report.facts.left_out) == (2, 1)
    assert report.metrics["count"].value is None


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/", "/"),
        ("/items/17", "/items/{n}"),
        ("/items/17/parts/3", "/items/{n}/parts/{n}"),
        ("/v2/items", "/v2/items"),
        ("/a/0f8fad5b-d9cb-469f-a165-70867728950e", "/a/{n}"),
        ("/a/deadbeef1", "/a/{n}"),
        ("/a/decade/facade/efface", "/a/decade/facade/efface"),
        ("", ""),
    ],
)
def test_routes_are_paths_without_numbers(path: str, route: str) -> None:
    assert KnownRequest(0, 0, "client", 0, None, False, path=path).route == route

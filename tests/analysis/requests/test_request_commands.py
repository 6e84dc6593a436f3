"""Commands to databases, steps to connections and sizes on built streams.

No trace of a program with a database was at hand: events have the fields that the public sources of SqlClient and of
the bridge from DiagnosticSource declare.
"""

from __future__ import annotations

from typing import Any

import pytest

from built_requests import HOSTING, HTTP, INT, LONG, TEXT, Web
from clrevents.analysis.reports.requests import RequestsReport
from clrevents.analysis.reports.requests.request_connections import endpoint
from clrevents.encode.values import NO_GUID
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.events.diagnostic_source import DiagnosticArgument

MDS, ADO, BRIDGE = (
    "Microsoft.Data.SqlClient.EventSource",
    "Microsoft-AdoNet-SystemData",
    "Microsoft-Diagnostics-DiagnosticSource",
)
EF, LISTENER = "Microsoft.EntityFrameworkCore", "SqlClientDiagnosticListener"
PAIRS = FieldDescription(
    "", 19, FieldDescription("", 1, members=(FieldDescription("Key", 18), FieldDescription("Value", 18)))
)
BOOL = 3


def begin_execute(web: Web, object: int, text: str, provider: str = MDS) -> None:
    database = "database" if provider == MDS else "databaseName"
    fields = {
        "objectId": (INT, object),
        "dataSource": (TEXT, "db1"),
        database: (TEXT, "Shop"),
        "commandText": (TEXT, text),
    }
    if provider == MDS:
        fields["message"] = (TEXT, "…")
    web.builder.described(provider, "BeginExecute", fields, id=1)


def end_execute(web: Web, object: int, state: int = 1, error: int = 0, provider: str = MDS) -> None:
    names = ("compositestate", "sqlExceptionNumber") if provider == MDS else ("compositeState", "sqlExceptionNumber")
    fields = {"objectId": (INT, object), names[0]: (INT, state), names[1]: (INT, error)}
    if provider == MDS:
        fields["message"] = (TEXT, "…")
    web.builder.described(provider, "EndExecute", fields, id=2)


def bridged(web: Web, id: bytes, source: str, event: str, pair: str, inside: bytes = NO_GUID, **told: str) -> None:
    """An event of the bridge; `pair` is such as `Activity2Start`."""
    fields: dict[str, Any] = {"SourceName": (TEXT, source), "EventName": (TEXT, event)}
    fields["Arguments"] = (PAIRS, tuple(DiagnosticArgument(*pair) for pair in told.items()))
    web.builder.activity(id, inside).described(BRIDGE, pair, fields, id=60 + len(pair))


def commands(report: RequestsReport, *names: str) -> list[tuple[object, ...]]:
    return [tuple(getattr(row, name) for name in names) for row in report.commands]


@pytest.mark.parametrize("provider", [MDS, ADO])
def test_a_command_of_sqlclient_lies_in_its_request(provider: str) -> None:
    web = Web()
    served = web.serve("/a", "A")
    web.builder.activity(served[1]).at(100)
    begin_execute(web, 7, "dbo.Orders", provider)
    web.builder.thread(9).activity(NO_GUID).at(180)
    end_execute(web, 7, provider=provider)
    web.builder.at(200)
    web.served(served)
    report = web.asked()
    assert commands(report, "row", "request_row", "source", "start_ns", "end_ns", "duration_ns", "failed", "error") == [
        (0, 0, provider, 100, 180, 80, False, None)
    ]
    assert commands(report, "data_source", "database", "command_text") == [("db1", "Shop", "dbo.Orders")]
    (row,) = report.requests
    assert (row.commands, row.command_ns, row.unaccounted_ns) == (1, 80, 130)
    assert [(part.part, part.duration_ns, part.command_row) for part in report.parts] == [
        ("unaccounted", 100, None),
        ("command", 80, 0),
        ("unaccounted", 30, None),
    ]


def test_a_command_that_is_an_activity_lies_in_the_callers() -> None:
    """Newer versions declare begin and end as a pair of opcodes, so that the begin has an id of its own."""
    web = Web()
    served = web.serve("/a", "A")
    web.builder.activity((77).to_bytes(16, "little"), served[1])
    begin_execute(web, 7, "x")
    end_execute(web, 7)
    web.served(served)
    assert commands(web.asked(), "request_row", "duration_ns") == [(0, 10)]


def test_failures_and_ends_that_are_missing() -> None:
    web = Web()
    begin_execute(web, 1, "a")
    end_execute(web, 1, state=0b10, error=1205)
    begin_execute(web, 2, "b")
    begin_execute(web, 2, "c")
    end_execute(web, 2, state=0b100)
    end_execute(web, 3)
    web.done(web.client("/a"), 200)
    report = web.asked()
    assert commands(report, "command_text", "failed", "error", "request_row") == [
        ("a", True, 1205, None),
        ("b", None, None, None),
        ("c", True, None, None),
    ]
    assert {note.id: note.numbers for note in report.notes if "command" in note.id} == {
        "command-ends": {"ends": 1},
        "open-commands": {"commands": 1},
    }
    assert [row.commands for row in report.requests] == [0]


def test_entity_framework_through_the_bridge() -> None:
    web = Web()
    served = web.serve("/a", "A")
    command, other = (id.to_bytes(16, "little") for id in (50, 51))
    name = f"{EF}.Database.Command"
    said = {"CommandText": "SELECT 1", "Database": "Shop", "DataSource": "db1"}
    bridged(web, command, EF, f"{name}.CommandExecuting", "Activity2Start", served[1], **said)
    web.builder.at(500)
    bridged(web, command, EF, f"{name}.CommandExecuted", "Activity2Stop")
    bridged(web, other, EF, f"{name}.CommandExecuting", "Activity2Start", served[1], CommandText="SELECT 2")
    web.builder.at(600)
    bridged(web, other, EF, f"{name}.CommandError", "Activity2Stop")
    web.served(served)
    report = web.asked()
    assert commands(report, "request_row", "source", "start_ns", "end_ns", "failed", "database", "command_text") == [
        (0, EF, 20, 500, False, "Shop", "SELECT 1"),
        (0, EF, 510, 600, True, None, "SELECT 2"),
    ]
    assert report.requests[0].command_ns == 570


def test_a_command_that_two_sources_tell_of_counts_once() -> None:
    web = Web()
    served = web.serve("/a", "A")
    outer, inner = (id.to_bytes(16, "little") for id in (50, 51))
    bridged(web, outer, EF, f"{EF}.Database.Command.CommandExecuting", "Activity2Start", served[1])
    bridged(web, inner, LISTENER, "Microsoft.Data.SqlClient.WriteCommandBefore", "Activity1Start", outer)
    web.builder.activity(inner)
    begin_execute(web, 1, "SELECT 1")
    end_execute(web, 1)
    bridged(web, inner, LISTENER, "Microsoft.Data.SqlClient.WriteCommandAfter", "Activity1Stop")
    bridged(web, outer, EF, f"{EF}.Database.Command.CommandExecuted", "Activity2Stop")
    web.served(served)
    report = web.asked()
    assert commands(report, "source", "inside_row", "request_row") == [(EF, None, 0), (LISTENER, 0, 0), (MDS, 1, 0)]
    (row,) = report.requests
    assert (row.commands, row.command_ns) == (1, 50)
    assert [part.command_row for part in report.parts if part.part == "command"] == [0]


def test_other_events_of_the_bridge_are_no_commands() -> None:
    web = Web()
    id = (50).to_bytes(16, "little")
    bridged(web, id, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.HttpRequestIn.Start", "Activity1Start")
    bridged(web, id, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop", "Activity1Stop")
    web.done(web.client("/a"), 200)
    report = web.asked()
    assert len(report.commands) == 0
    assert report.requests[0].commands is None, "no command in the trace: perhaps nobody recorded any"


def test_steps_to_connections() -> None:
    web = Web()
    mine = web.client("/a")
    found = web.begin("System.Net.NameResolution", "Resolution", {"hostNameOrAddress": (TEXT, "shop")}, mine)
    web.end("System.Net.NameResolution", "Resolution", found)
    address = {"address": (TEXT, "InterNetwork:16:{20,57,127,0,0,1,0,0,0,0,0,0,0,0}")}
    connect = web.begin("System.Net.Sockets", "Connect", address, mine)
    web.builder.activity(connect).described("System.Net.Sockets", "ConnectFailed", {"error": (INT, 5)}, id=3)
    web.end("System.Net.Sockets", "Connect", connect)
    web.begin("System.Net.Security", "Handshake", {"isServer": (BOOL, True), "targetHost": (TEXT, "shop")})
    web.done(mine, 200)
    report = web.asked()
    assert [
        (row.kind, row.request_row, row.duration_ns, row.failed, row.server, row.name) for row in report.network
    ] == [
        ("dns", 0, 10, False, None, "shop"),
        ("connect", 0, 20, True, None, "127.0.0.1:5177"),
        ("tls", None, None, False, True, "shop"),
    ]


@pytest.mark.parametrize(
    ("dumped", "name"),
    [
        ("InterNetwork:16:{20,57,127,0,0,1,0,0,0,0,0,0,0,0}", "127.0.0.1:5177"),
        ("InterNetworkV6:28:{20,57,0,0,0,0,0,0,0,0,0,0,0,0,0,0,255,255,127,0,0,1,0,0,0,0}", "127.0.0.1:5177"),
        ("InterNetworkV6:28:{0,80,0,0,0,0,32,1,13,184,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0}", "[2001:db8::1]:80"),
        ("Unix:110:{47,116}", "Unix:110:{47,116}"),
        ("InterNetwork:16:{300,57,127,0,0,1}", "InterNetwork:16:{300,57,127,0,0,1}"),
        ("InterNetwork:16:{1,,2}", "InterNetwork:16:{1,,2}"),
        ("", ""),
    ],
)
def test_addresses_of_sockets(dumped: str, name: str) -> None:
    assert endpoint(dumped) == name


def test_the_size_of_what_was_sent() -> None:
    web = Web()
    ids = [web.client("/a"), web.client("/b")]
    content = web.begin(HTTP, "RequestContent", None, ids[0])
    web.end(HTTP, "RequestContent", content, {"contentLength": (LONG, 1234)})
    for id in ids:
        web.done(id, 200)
    assert [row.sent_bytes for row in web.asked().requests] == [1234, None]


def test_events_that_are_described_otherwise_tell_nothing() -> None:
    """A crafted trace may give any type to a field."""
    web = Web()
    mine, served = (id.to_bytes(16, "little") for id in (50, 51))
    wrong = {"host": (INT, 5), "port": (TEXT, "x"), "pathAndQuery": (INT, 3)}
    web.builder.activity(mine).described(HTTP, "RequestStart", wrong, id=1)
    web.builder.activity(served).described(HOSTING, "RequestStart", {"path": (INT, 5), "method": (INT, 1)}, id=3)
    begun = {"objectId": (TEXT, "x"), "commandText": (INT, 1)}
    web.builder.activity(mine).described(MDS, "BeginExecute", begun, id=1)
    web.builder.described(MDS, "EndExecute", {"objectId": (INT, 1)}, id=2)
    inner = (52).to_bytes(16, "little")
    fields = {"SourceName": (PAIRS, ()), "EventName": (INT, 1), "Arguments": (TEXT, "x")}
    web.builder.activity(inner, mine).described(BRIDGE, "Activity2Start", fields, id=6)
    web.builder.activity(inner).described(BRIDGE, "Activity2Stop", {"EventName": (INT, 1)}, id=7)
    web.builder.activity(mine).described(HTTP, "RequestStop", {"statusCode": (TEXT, "200")}, id=2)
    report = web.asked()
    assert [(row.host, row.url_path, row.method, row.status) for row in report.requests] == [(None,) * 4] * 2
    assert len(report.commands) == 0

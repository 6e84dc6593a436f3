"""Services and clients on built streams, each with one ailment, without it, and with what looks like it.

No recording of a web server or a database was at hand. A second is `S` nanoseconds; each service is written as if
nothing else happened in its process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from built_requests import DOUBLE, HTTP, INT, LONG, TEXT, Web

MS, S = 1_000_000, 1_000_000_000
DATABASE: Final = "Microsoft.Data.SqlClient.EventSource"


@attrs.define
class Service:
    """Writes whole requests at given times."""

    web: Web = attrs.Factory(Web)
    now: int = 0
    commands: int = 0

    def wait(self, ns: int) -> None:
        self.now += ns
        self.web.builder.at(self.now)

    def command(self, text: str, ns: int) -> None:
        """One command, in the activity that was set last."""
        self.commands += 1
        fields: dict[str, Any] = {
            "objectId": (INT, self.commands),
            "dataSource": (TEXT, "db1"),
            "database": (TEXT, "Shop"),
            "commandText": (TEXT, text),
            "message": (TEXT, "…"),
        }
        self.web.builder.at(self.now).described(DATABASE, "BeginExecute", fields, id=1)
        self.wait(ns)
        done = {"objectId": (INT, self.commands), "compositestate": (INT, 1), "sqlExceptionNumber": (INT, 0)}
        self.web.builder.described(DATABASE, "EndExecute", {**done, "message": (TEXT, "…")}, id=2)

    def serve(self, path: str, *commands: tuple[str, int], more_ns: int = MS) -> None:
        """One request to this server, with its commands one after the other."""
        self.web.builder.at(self.now)
        ids = self.web.serve(path, "A")
        self.web.builder.activity(ids[1])
        self.wait(1000)
        for text, ns in commands:
            self.command(text, ns)
        self.wait(more_ns)
        self.web.served(ids)

    def ask(self, host: str, connection: int, *, ns: int, queued_ns: int = 0, connects: bool = False) -> None:
        """One request of this client, that waits in the queue for a connection first."""
        self.web.builder.at(self.now)
        fields = {"scheme": (TEXT, "http"), "host": (TEXT, host), "port": (INT, 80), "pathAndQuery": (TEXT, "/a")}
        id = self.web.begin(HTTP, "Request", fields)
        self.wait(queued_ns)
        if connects:
            self.web.builder.activity(id).described(
                HTTP, "ConnectionEstablished", {"connectionId": (LONG, connection)}, id=4
            )
        if queued_ns:
            waited = {"timeOnQueueMilliseconds": (DOUBLE, queued_ns / MS)}
            self.web.builder.activity(id).described(HTTP, "RequestLeftQueue", waited, id=6)
        self.web.send(id, connection)
        self.wait(ns - queued_ns)
        self.web.receive(id, 200)
        self.web.done(id, 200)


def repeats_a_command() -> Service:
    """120 times the same command in one request: 120 x 2 ms."""
    return server(1, lambda _: [("SELECT * FROM Lines WHERE Id = @p", 2 * MS)] * 120)


def asks_three_commands() -> Service:
    return server(40, lambda _: [(f"SELECT {i}", 2 * MS) for i in range(3)])


def many_requests_with_one_command_each() -> Service:
    """The same command 120 times, but in 120 requests."""
    return server(120, lambda _: [("SELECT * FROM Lines WHERE Id = @p", 2 * MS)])


def has_a_slow_command() -> Service:
    """One command of 2.5 s among quick ones."""
    return server(20, lambda i: [(f"EXEC report {i % 3}", 2500 * MS if i == 7 else 3 * MS)])


def has_a_slow_request() -> Service:
    """A request of 2.5 s whose commands are quick."""
    return server(20, lambda _: [("EXEC report", 3 * MS)], lambda i: 2500 * MS if i == 7 else MS)


def queues_for_connections() -> Service:
    """80 requests of 100 ms, each of which waits 50 ms for a connection."""
    return client(80, connections=2, ns=100 * MS, queued_ns=50 * MS, queued=80)


def queues_at_first() -> Service:
    """80 requests of 100 ms; the first two wait for their connections."""
    return client(80, connections=2, ns=100 * MS, queued_ns=50 * MS, queued=2)


def all_queue_at_first() -> Service:
    """500 requests of 100 ms on 25 connections; the first 25 wait for theirs: 2.5 % of all time."""
    return client(500, connections=25, ns=100 * MS, queued_ns=50 * MS, queued=25)


def connects_each_time() -> Service:
    """80 requests to one host, on 80 connections."""
    return client(80, connections=80, ns=20 * MS, queued_ns=10 * MS, queued=80)


def connects_to_many_hosts() -> Service:
    """80 requests to 80 hosts: each first one needs a connection, and waits for it half of its time."""
    return client(80, connections=80, ns=20 * MS, queued_ns=10 * MS, queued=80, host="shop{}")


def shares_a_connection() -> Service:
    return client(80, connections=1, ns=20 * MS)


def server(
    count: int, commands: Callable[[int], list[tuple[str, int]]], more: Callable[[int], int] = lambda _: MS
) -> Service:
    """Requests by their numbers: their commands, and how long each goes on after them."""
    service = Service()
    for i in range(count):
        service.serve("/orders", *commands(i), more_ns=more(i))
    return service


def client(
    count: int, *, connections: int, ns: int, queued_ns: int = 0, queued: int = 0, host: str = "shop"
) -> Service:
    """Requests that take turns on so many connections; the first ones wait for theirs."""
    service = Service()
    for i in range(count):
        waited = queued_ns if i < queued else 0
        service.ask(host.format(i), 1 + i % connections, ns=ns, queued_ns=waited, connects=i < connections)
    return service


# Rule → what has its ailment, and what has it not: healthy first, then what looks like it.
SERVICES: Final[dict[str, tuple[Callable[[], Service], tuple[Callable[[], Service], ...]]]] = {
    "db.repeated": (repeats_a_command, (asks_three_commands, many_requests_with_one_command_each)),
    "db.slow": (has_a_slow_command, (asks_three_commands, has_a_slow_request)),
    "http.queue": (
        queues_for_connections,
        (shares_a_connection, queues_at_first, all_queue_at_first, connects_to_many_hosts),
    ),
    "http.new_connections": (connects_each_time, (shares_a_connection, connects_to_many_hosts)),
}

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
    service = Service()
    service.serve("/orders", *[("SELECT * FROM Lines WHERE Id = @p", 2 * MS)] * 120)
    return service


def asks_three_commands() -> Service:
    service = Service()
    for _ in range(40):
        service.serve("/orders", *[(f"SELECT {i}", 2 * MS) for i in range(3)])
    return service


def many_requests_with_one_command_each() -> Service:
    """The same command 120 times, but in 120 requests."""
    service = Service()
    for _ in range(120):
        service.serve("/orders", ("SELECT * FROM Lines WHERE Id = @p", 2 * MS))
    return service


def has_a_slow_command() -> Service:
    """One command of 2.5 s among quick ones."""
    service = Service()
    for i in range(20):
        service.serve("/report", (f"EXEC report {i % 3}", 2500 * MS if i == 7 else 3 * MS))
    return service


def has_a_slow_request() -> Service:
    """A request of 2.5 s whose commands are quick."""
    service = Service()
    for i in range(20):
        service.serve("/report", ("EXEC report", 3 * MS), more_ns=2500 * MS if i == 7 else MS)
    return service


def queues_for_connections() -> Service:
    """80 requests of 100 ms, each of which waits 50 ms for a connection."""
    service = Service()
    for i in range(80):
        service.ask("shop", 1 + i % 2, ns=100 * MS, queued_ns=50 * MS, connects=i < 2)
    return service


def queues_at_first() -> Service:
    """80 requests of 100 ms; the first two wait for their connections."""
    service = Service()
    for i in range(80):
        service.ask("shop", 1 + i % 2, ns=100 * MS, queued_ns=50 * MS if i < 2 else 0, connects=i < 2)
    return service


def all_queue_at_first() -> Service:
    """500 requests of 100 ms on 25 connections; the first 25 wait for theirs: 2.5 % of all time."""
    service = Service()
    for i in range(500):
        service.ask("shop", 1 + i % 25, ns=100 * MS, queued_ns=50 * MS if i < 25 else 0, connects=i < 25)
    return service


def connects_each_time() -> Service:
    """80 requests to one host, on 80 connections."""
    service = Service()
    for i in range(80):
        service.ask("shop", 1 + i, ns=20 * MS, queued_ns=10 * MS, connects=True)
    return service


def connects_to_many_hosts() -> Service:
    """80 requests to 80 hosts: each first one needs a connection, and waits for it half of its time."""
    service = Service()
    for i in range(80):
        service.ask(f"shop{i}", 1 + i, ns=20 * MS, queued_ns=10 * MS, connects=True)
    return service


def shares_a_connection() -> Service:
    service = Service()
    for i in range(80):
        service.ask("shop", 1, ns=20 * MS, connects=i == 0)
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

"""Requests of clients and servers on built streams."""

from __future__ import annotations

from typing import Any

from clrevents.analysis.reports.requests import RequestsReport
from clrevents.encode.values import NO_GUID
from clrevents.testing.builder import TraceBuilder
from reading import opened

HTTP, HOSTING, KESTREL = "System.Net.Http", "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"
TEXT, INT, LONG, DOUBLE = 18, 9, 11, 14


class Web:
    """Writes the events of requests; each activity has an id of its own."""

    def __init__(self) -> None:
        self.builder = TraceBuilder(step_ns=10)
        self._ids = 0
        self._kinds: dict[str, int] = {}

    def begin(self, provider: str, name: str, fields: dict[str, Any] | None = None, inside: bytes = NO_GUID) -> bytes:
        self._ids += 1
        id = self._ids.to_bytes(16, "little")
        self.builder.activity(id, inside).described(
            provider, f"{name}Start", fields or {}, id=self._kind(f"{name}Start")
        )
        return id

    def end(self, provider: str, name: str, id: bytes, fields: dict[str, Any] | None = None) -> None:
        self.builder.activity(id).described(provider, f"{name}Stop", fields or {}, id=self._kind(f"{name}Stop"))

    def _kind(self, name: str) -> int:
        return self._kinds.setdefault(name, 20 + len(self._kinds))

    def client(self, path: str, inside: bytes = NO_GUID) -> bytes:
        fields = {"scheme": (TEXT, "http"), "host": (TEXT, "shop"), "port": (INT, 80), "pathAndQuery": (TEXT, path)}
        return self.begin(HTTP, "Request", fields, inside)

    def send(self, id: bytes, connection: int) -> None:
        headers = self.begin(HTTP, "RequestHeaders", {"connectionId": (LONG, connection)}, id)
        self.end(HTTP, "RequestHeaders", headers)

    def receive(self, id: bytes, status: int) -> None:
        headers = self.begin(HTTP, "ResponseHeaders", None, id)
        self.end(HTTP, "ResponseHeaders", headers, {"statusCode": (INT, status)})

    def done(self, id: bytes, status: int) -> None:
        self.end(HTTP, "Request", id, {"statusCode": (INT, status)})

    def serve(self, path: str, connection: str) -> tuple[bytes, bytes]:
        host = self.begin(HOSTING, "Request", {"method": (TEXT, "GET"), "path": (TEXT, path)})
        fields = {"connectionId": (TEXT, connection), "path": (TEXT, path), "method": (TEXT, "GET")}
        return host, self.begin(KESTREL, "Request", fields, host)

    def served(self, ids: tuple[bytes, bytes]) -> None:
        self.end(KESTREL, "Request", ids[1])
        self.end(HOSTING, "Request", ids[0])

    def whole(self, path: str, connection: int, server: str | None, status: int = 200) -> None:
        """One request from start to end, with its server's side."""
        mine = self.client(path)
        self.send(mine, connection)
        if server is not None:
            self.served(self.serve(path.partition("?")[0], server))
        self.receive(mine, status)
        self.done(mine, status)

    def asked(self, **more: Any) -> RequestsReport:
        with opened(self.builder.build()) as trace:
            return trace.report("requests", **more)

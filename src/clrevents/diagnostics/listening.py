"""A diagnostic port of ours that runtimes connect to (`DOTNET_DiagnosticPorts=PATH`).

Each connection carries one request; then the runtime connects again. Knows no request but the advertisement.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import time
from typing import Final
from uuid import UUID

import attrs

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import frozen
from clrevents.diagnostics.driving import receive_exactly
from clrevents.diagnostics.faults import DiagnosticsError, unreachable
from clrevents.diagnostics.ipc_values import Malformed
from clrevents.diagnostics.messages import ADVERTISEMENT_BYTES, Advertisement
from clrevents.diagnostics.transports import Connection, SocketConnection, SocketEndpoint, endpoint_at, peer_of

HELLO_SECONDS: Final = 2.0
"""How long a newly connected process may take to identify itself, while others wait."""
_MOST_WAITING: Final = 256
_LONGEST_PATH: Final = 100
"""Of a socket, with some room: systems have 104 or 108."""


class Listener(Summary):
    """Listens at `address`, a path or `HOST:PORT`. A context manager: leaving it closes the port, removes its socket.

    On a path, only processes of this user or of root are accepted.
    """

    def __init__(self, address: str) -> None:
        endpoint = endpoint_at(address.removesuffix(",listen"))
        if not isinstance(endpoint, SocketEndpoint):
            raise DiagnosticsError("listening on a Windows pipe is not supported; connect to the process instead")
        self.endpoint = endpoint
        self._waiting: dict[UUID, Connection] = {}
        self._new: list[Advertisement] = []
        self._met: set[UUID] = set()
        self._identity: tuple[int, int] | None = None
        self.socket = socket.socket(endpoint.family)
        try:
            self._bind(endpoint.address)
            self.socket.listen(64)
        except BaseException:
            self.socket.close()
            raise

    def __repr__(self) -> str:
        return f"<Listener at {self.endpoint}>"

    def _bind(self, address: str | tuple[str, int]) -> None:
        if not isinstance(address, str):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._bound(address)
            return
        if len(os.fsencode(address)) > _LONGEST_PATH:
            raise DiagnosticsError(f"{address} is too long for the path of a socket; use at most {_LONGEST_PATH} bytes")
        _remove_dead(address)
        # Nobody else may dial, not even in the moment before a chmod.
        before = os.umask(0o177)
        try:
            self._bound(address)
        finally:
            os.umask(before)
        status = os.lstat(address)
        self._identity = status.st_dev, status.st_ino

    def _bound(self, address: str | tuple[str, int]) -> None:
        try:
            self.socket.bind(address)
        except OSError as error:
            raise DiagnosticsError(f"cannot listen at {self.endpoint}: {error.strerror or error}") from None

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port. Recordings through it go on until they are stopped."""
        self.socket.close()
        for connection in self._waiting.values():
            connection.close()
        self._waiting.clear()
        if self._identity is not None and isinstance(self.endpoint.address, str):
            with contextlib.suppress(OSError):
                status = os.lstat(self.endpoint.address)
                if (status.st_dev, status.st_ino) == self._identity:
                    os.unlink(self.endpoint.address)

    def wait(self, seconds: float) -> RuntimePort:
        """The next runtime that connects for the first time. Raises DiagnosticsError on timeout."""
        until = time.monotonic() + seconds
        while (port := self.take_new()) is None:
            self._accept(
                until,
                f"no .NET process connected to {self.endpoint} within {seconds:g} s: start it with "
                f"DOTNET_DiagnosticPorts={self.endpoint} (.NET 5 or later)",
            )
        return port

    def connection_of(self, cookie: UUID, seconds: float) -> Connection:
        """The connection that a runtime holds ready. Raises DiagnosticsError on timeout."""
        until = time.monotonic() + seconds
        while (connection := self.take_waiting(cookie)) is None:
            self._accept(until, f"the process did not connect to {self.endpoint} again: is it still running?")
        return connection

    def _accept(self, until: float, why: str) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise DiagnosticsError(why)
        self.socket.settimeout(left)
        try:
            dialled, _ = self.socket.accept()
        except TimeoutError:
            raise DiagnosticsError(why) from None
        except OSError as error:
            raise unreachable(str(self.endpoint), error) from None
        connection = SocketConnection(dialled)
        try:
            hello = receive_exactly(connection, ADVERTISEMENT_BYTES, "who dialled in", time.monotonic() + HELLO_SECONDS)
        except (OSError, DiagnosticsError):
            hello = b""
        self.welcome(connection, hello)

    def welcome(self, connection: SocketConnection, hello: bytes) -> None:
        """Keep a connection with this advertisement; close it if it is not from one of our runtimes."""
        try:
            if not _is_ours(connection.socket):
                raise Malformed("another user's")
            known = Advertisement.of(hello)
        except Malformed:
            connection.close()
            return
        older = self._waiting.pop(known.cookie, None)
        if older is not None:
            older.close()
        while len(self._waiting) >= _MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting))).close()
        self._waiting[known.cookie] = connection
        if known.cookie not in self._met:
            self._met.add(known.cookie)
            self._new.append(known)

    def take_waiting(self, cookie: UUID) -> Connection | None:
        """The connection that a runtime holds ready, if it has one."""
        connection = self._waiting.pop(cookie, None)
        return None if connection is None or _is_gone(connection) else connection

    def take_new(self) -> RuntimePort | None:
        """A runtime that is new, if there is one."""
        if not self._new:
            return None
        known = self._new.pop(0)
        return RuntimePort(self, known.cookie, known.pid)


@frozen
class RuntimePort:
    """The endpoint of a runtime that connects to us: every connection was made by it."""

    listener: Listener = attrs.field(repr=False)
    cookie: UUID
    pid: int

    def connect(self, seconds: float) -> Connection:
        return self.listener.connection_of(self.cookie, seconds)

    def __str__(self) -> str:
        return f"process {self.pid} at {self.listener.endpoint}"


def _remove_dead(path: str) -> None:
    """Remove a socket that a listener left which has ended. Raises DiagnosticsError if there is anything else."""
    try:
        status = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise DiagnosticsError(f"cannot listen at {path}: there is a file with that name; choose another path")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                os.unlink(path)
            return
        except OSError:
            pass
    raise DiagnosticsError(
        f"cannot listen at {path}: another process already listens there; stop it, or choose another path"
    )


def _is_ours(dialled: socket.socket) -> bool:
    peer = peer_of(dialled)
    return peer is None or peer.user in (0, os.getuid())


def _is_gone(connection: Connection) -> bool:
    """Whether the other end has hung up meanwhile."""
    if not isinstance(connection, SocketConnection):
        return False
    connection.socket.setblocking(False)
    try:
        gone = not connection.socket.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        gone = True
    if gone:
        connection.close()
    return gone

"""Ways to a runtime: Unix sockets, TCP, Windows pipes. They move bytes within a time limit and know no message.

An `Endpoint` gives one `Connection` after another, since a connection carries one request. An exceeded limit raises
TimeoutError, any other failure OSError.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import time
from typing import Final, NamedTuple, Protocol

from clrevents._util.value_classes import frozen
from clrevents.diagnostics.faults import DiagnosticsError, unreachable

_NO_TIME: Final = 1e-6
"""0 would mean not to wait at all, which raises another error."""


class Connection(Protocol):
    """Bytes both ways."""

    def send(self, data: bytes, seconds: float) -> None:
        """All of them."""

    def receive_into(self, buffer: memoryview, seconds: float) -> int:
        """What has come; 0 at the end."""

    def close(self) -> None: ...


class Endpoint(Protocol):
    """Where a runtime takes requests."""

    def connect(self, seconds: float) -> Connection: ...


class SocketConnection:
    """A connected socket."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected

    def send(self, data: bytes, seconds: float) -> None:
        # At once: a request in pieces is one that could be cut.
        self.socket.settimeout(max(seconds, _NO_TIME))
        self.socket.sendall(data)

    def receive_into(self, buffer: memoryview, seconds: float) -> int:
        self.socket.settimeout(max(seconds, _NO_TIME))
        return self.socket.recv_into(buffer)

    def close(self) -> None:
        self.socket.close()


@frozen
class SocketEndpoint:
    """A Unix socket by its path, or a TCP port by host and number."""

    address: str | tuple[str, int]
    owner: int | None = None
    """Who must be listening, as a user id, if that is known."""

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET

    def check(self) -> None:
        """Refuse a file that another user may have put at the path. Raises DiagnosticsError."""
        if isinstance(self.address, str):
            try:
                status = os.lstat(self.address)
            except OSError as error:
                raise unreachable(str(self), error) from None
            if not stat.S_ISSOCK(status.st_mode):
                raise DiagnosticsError(f"{self.address} is not a socket: it was not created by a .NET runtime")

    def check_listener(self, connected: socket.socket) -> None:
        """Refuse another user who listens there, where the system tells. Raises DiagnosticsError."""
        peer = None if self.owner is None else peer_of(connected)
        if peer is not None and peer.user != self.owner:
            raise DiagnosticsError(f"{self.address} belongs to user {self.owner}, but user {peer.user} listens there")

    def connect(self, seconds: float) -> Connection:
        self.check()
        try:
            if isinstance(self.address, str):
                connected = socket.socket(socket.AF_UNIX)
                try:
                    connected.settimeout(max(seconds, _NO_TIME))
                    connected.connect(self.address)
                    self.check_listener(connected)
                except BaseException:
                    connected.close()
                    raise
            else:
                connected = socket.create_connection(self.address, max(seconds, _NO_TIME))
        except OSError as error:
            raise unreachable(str(self), error) from None
        return SocketConnection(connected)

    def __str__(self) -> str:
        return self.address if isinstance(self.address, str) else "{}:{}".format(*self.address)


class Peer(NamedTuple):
    """Who is at the other end of a Unix socket: a process as seen from here, 0 if it cannot be seen, and its user."""

    process: int
    user: int
    group: int


_PEER: Final = struct.Struct("3i")


def peer_of(connected: socket.socket) -> Peer | None:
    """None if it is not known."""
    if connected.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return None
    return Peer(*_PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)))


def endpoint_at(text: str) -> Endpoint:
    """Of `HOST:PORT`, the name of a Windows pipe, or the path of a socket."""
    host, colon, port = text.rpartition(":")
    if colon and port.isascii() and port.isdigit() and os.sep not in text:
        return SocketEndpoint((host.strip("[]") or "localhost", int(port)))
    if text.startswith("\\\\.\\pipe\\"):
        return PipeEndpoint(text)
    return SocketEndpoint(text)


@frozen
class PipeEndpoint:
    """A named pipe of Windows. Experimental: written from the documentation, never run."""

    name: str

    def connect(self, seconds: float) -> Connection:
        if sys.platform != "win32":
            raise DiagnosticsError(f"{self.name} is a Windows pipe; on this system a runtime has a socket")
        import _winapi

        until = time.monotonic() + seconds
        while True:
            try:
                handle = _winapi.CreateFile(
                    self.name,
                    _winapi.GENERIC_READ | _winapi.GENERIC_WRITE,
                    0,
                    _winapi.NULL,
                    _winapi.OPEN_EXISTING,
                    _winapi.FILE_FLAG_OVERLAPPED,
                    _winapi.NULL,
                )
                return PipeConnection(handle)
            except OSError as error:
                busy = error.winerror == _winapi.ERROR_PIPE_BUSY
                if not busy or time.monotonic() > until:
                    raise unreachable(self.name, error) from None
                time.sleep(0.02)

    def __str__(self) -> str:
        return self.name


class PipeConnection:
    """An open pipe of Windows, read and written overlapped so that a wait can end."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def send(self, data: bytes, seconds: float) -> None:
        if sys.platform == "win32":
            import _winapi

            pending, _ = _winapi.WriteFile(self._handle, data, overlapped=True)
            self._finish(pending, seconds)

    def receive_into(self, buffer: memoryview, seconds: float) -> int:
        if sys.platform == "win32":
            import _winapi

            try:
                pending, _ = _winapi.ReadFile(self._handle, len(buffer), overlapped=True)
                done = self._finish(pending, seconds)
            except BrokenPipeError:
                return 0
            buffer[:done] = pending.getbuffer()
            return done
        return 0

    if sys.platform == "win32":
        import _winapi

        def _finish(self, pending: _winapi.Overlapped, seconds: float) -> int:
            import _winapi

            waited = _winapi.WaitForMultipleObjects([pending.event], False, max(int(seconds * 1000), 1))
            if waited == _winapi.WAIT_TIMEOUT:
                pending.cancel()
                done, error = pending.GetOverlappedResult(True)
                # What came in just that moment must not be lost.
                if not done or error == _winapi.ERROR_OPERATION_ABORTED:
                    raise TimeoutError
                return done
            done, _ = pending.GetOverlappedResult(True)
            return done

    def close(self) -> None:
        if sys.platform == "win32":
            import _winapi

            _winapi.CloseHandle(self._handle)

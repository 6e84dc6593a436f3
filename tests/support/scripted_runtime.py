"""A runtime played by us: a socket that answers requests of the diagnostic protocol as a test tells it to.

Works in threads of its own, which end with it. Its bytes are written out here and owe nothing to the client's code.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

Answer: TypeAlias = bytes | Callable[[socket.socket, bytes], None]

COLLECT = ((2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (2, 7))
STOP = (2, 1)
SESSION = 7
LIST_SESSION = 8
_ONLY_LIST = struct.pack("<QI", 0x8, 1)
"""In a request for a session that has nothing but the list of code at its end: keywords and level."""


def message(code: tuple[int, int], payload: bytes = b"") -> bytes:
    """A message with its header."""
    return b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), *code, 0) + payload


def ok(payload: bytes = b"") -> bytes:
    """An answer that it worked."""
    return message((0xFF, 0), payload)


def refusal(hresult: int) -> bytes:
    """An answer that it did not."""
    return message((0xFF, 0xFF), struct.pack("<I", hresult))


def text(value: str | None) -> bytes:
    """A text as the protocol has it."""
    if value is None:
        return bytes(4)
    units = f"{value}\0".encode("utf-16-le")
    return struct.pack("<I", len(units) // 2) + units


def pieces(data: bytes, size: int) -> list[bytes]:
    """The same in pieces of a size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


class ScriptedRuntime:
    """Answers `answers` by the code of a request, and every other with that it does not know it.

    A session gets `live` at once, then waits to be stopped, unless it `ends` by itself; then come `rest` and the end.
    `pause` seconds lie between two pieces. `breaks`: the connection is reset instead of closed. A session for nothing
    but the list of code gets `listed`, or is refused; it is not among `requests`.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        live: Iterable[bytes] = (),
        rest: Iterable[bytes] = (),
        ends: bool = False,
        breaks: bool = False,
        pause: float = 0.0,
        answers: dict[tuple[int, int], Answer] | None = None,
        listed: bytes | None = None,
    ) -> None:
        self._listed = listed
        self.lists = 0
        self.requests: list[tuple[tuple[int, int], bytes]] = []
        self.answers = {STOP: self._stop, **dict.fromkeys(COLLECT, self._collect), **(answers or {})}
        self.stopped = threading.Event()
        self._live, self._rest = live, rest
        self._ends, self._breaks, self._pause = ends, breaks, pause
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_INET if path is None else socket.AF_UNIX)
        self._listener.bind(("127.0.0.1", 0) if path is None else str(path))
        self._listener.listen(16)
        self._listener.settimeout(0.05)
        host = self._listener.getsockname()
        self.address = f"{host[0]}:{host[1]}" if path is None else str(path)

    def __enter__(self) -> Self:
        self._start(self._serve)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self.stopped.set()
        for thread in self._threads:
            thread.join(10)
        self._listener.close()
        assert not any(thread.is_alive() for thread in self._threads)

    def _start(self, what: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self._start(self._answer, connection)

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            try:
                header = self._exactly(connection, 20)
                if not header:
                    return
                size, group, command = struct.unpack_from("<HBB", header, 14)
                payload = self._exactly(connection, size - 20)
                code = (group, command)
                if code in COLLECT and _ONLY_LIST in payload:
                    self._list(connection)
                    return
                if code == STOP and payload == struct.pack("<Q", LIST_SESSION):
                    connection.sendall(ok(payload))
                    return
                self.requests.append((code, payload))
                answer = self.answers.get(code, refusal(0x80131385))
                if callable(answer):
                    answer(connection, payload)
                else:
                    connection.sendall(answer)
            except OSError:
                # The client has gone: some tests want it to.
                return

    @staticmethod
    def _exactly(connection: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                return b""
            data += more
        return data

    def _collect(self, connection: socket.socket, payload: bytes) -> None:
        connection.sendall(ok(struct.pack("<Q", SESSION)))
        self._send(connection, self._live)
        if not self._ends:
            self.stopped.wait(30)
        self._send(connection, self._rest)
        if self._breaks:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _list(self, connection: socket.socket) -> None:
        self.lists += 1
        if self._listed is None:
            connection.sendall(refusal(0x80131371))
        else:
            connection.sendall(ok(struct.pack("<Q", LIST_SESSION)) + self._listed)

    def _send(self, connection: socket.socket, data: Iterable[bytes]) -> None:
        for piece in data:
            connection.sendall(piece)
            if self._pause:
                time.sleep(self._pause)

    def _stop(self, connection: socket.socket, payload: bytes) -> None:
        self.stopped.set()
        connection.sendall(ok(payload))


class NumberedSessions(ScriptedRuntime):
    """Numbers its sessions, and notes what is done with them and what they were asked for. Each gets what is `given` to
    its request, and the `rest` once it is stopped."""

    def __init__(
        self,
        given: Callable[[bytes], bytes],
        rest: bytes = b"",
        path: Path | None = None,
        answers: dict[tuple[int, int], Answer] | None = None,
    ) -> None:
        super().__init__(path, answers={**dict.fromkeys(COLLECT, self._begin), STOP: self._end, **(answers or {})})
        self.done: list[str] = []
        self.asked: list[bytes] = []
        self._given, self._left = given, rest
        self._ends: list[threading.Event] = []

    def end(self, number: int) -> None:
        """As if the process had ended."""
        self._ends[number - 1].set()

    def _begin(self, connection: socket.socket, payload: bytes) -> None:
        over = threading.Event()
        self._ends.append(over)
        self.asked.append(payload)
        number = len(self._ends)
        self.done.append(f"begin {number}")
        connection.sendall(ok(struct.pack("<Q", number)) + self._given(payload))
        while not over.wait(0.02):
            if select.select([connection], [], [], 0)[0] and not over.is_set():
                self.done.append(f"closed {number}")
                return
        connection.sendall(self._left)

    def _end(self, connection: socket.socket, payload: bytes) -> None:
        (number,) = struct.unpack("<Q", payload)
        self.done.append(f"stop {number}")
        self.end(number)
        connection.sendall(ok(payload))

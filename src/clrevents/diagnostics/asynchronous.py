"""Does the steps of a request in an event loop, with its own sockets and without threads.

The same steps as `driving.run` does. A pipe of Windows has no such socket: use the blocking classes in a thread there.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, TypeVar

from clrevents.diagnostics.driving import ANSWER_SECONDS, SOME, Open, Send, Step, Steps, Take, TakeSome
from clrevents.diagnostics.faults import DiagnosticsError, broken_off, unanswered, unreachable
from clrevents.diagnostics.listening import HELLO_SECONDS, Listener, RuntimePort
from clrevents.diagnostics.messages import ADVERTISEMENT_BYTES
from clrevents.diagnostics.transports import Connection, Endpoint, SocketConnection, SocketEndpoint

A = TypeVar("A")


async def answered(steps: Steps[A], what: str, seconds: float = ANSWER_SECONDS) -> A:
    """Do the steps. Raises DiagnosticsError, also on timeout."""
    try:
        async with asyncio.timeout(seconds):
            return await _run(steps, what)
    except TimeoutError:
        raise unanswered(what, seconds) from None


async def _run(steps: Steps[A], what: str) -> A:
    result: Any = None
    failed: BaseException | None = None
    while True:
        try:
            step = steps.send(result) if failed is None else steps.throw(failed)
        except StopIteration as done:
            value: A = done.value
            return value
        result, failed = None, None
        try:
            result = await _do(step, what)
        except OSError:
            failed = broken_off(what)
        except BaseException as error:
            # Also when it is cancelled: the steps close what they opened.
            failed = error


async def _do(step: Step, what: str) -> Any:
    loop = asyncio.get_running_loop()
    match step:
        case Open(endpoint):
            return await _connect(endpoint)
        case Send(connection, data):
            return await loop.sock_sendall(socket_of(connection), data)
        case Take(connection, size):
            return await _exactly(socket_of(connection), size, what)
        case TakeSome(connection, seconds):
            return await _some(socket_of(connection), seconds)


def socket_of(connection: Connection) -> socket.socket:
    """The socket of a connection, for an event loop. Raises DiagnosticsError if it has none."""
    if not isinstance(connection, SocketConnection):
        raise DiagnosticsError("an event loop cannot wait for a Windows pipe here; use Session in a thread")
    connection.socket.setblocking(False)
    return connection.socket


async def _some(connected: socket.socket, seconds: float) -> bytes | None:
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.get_running_loop().sock_recv(connected, SOME)
    except TimeoutError:
        return None


async def _exactly(connected: socket.socket, size: int, what: str) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < size:
        came = await loop.sock_recv(connected, size - len(data))
        if not came:
            raise broken_off(what)
        data += came
    return data


async def _connect(endpoint: Endpoint) -> Connection:
    if isinstance(endpoint, RuntimePort):
        while (held := endpoint.listener.take_waiting(endpoint.cookie)) is None:
            await accept(endpoint.listener)
        return held
    if not isinstance(endpoint, SocketEndpoint):
        raise DiagnosticsError("an event loop cannot open a Windows pipe here; use Session in a thread")
    endpoint.check()
    connected = socket.socket(endpoint.family)
    connected.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connected, endpoint.address)
        endpoint.check_listener(connected)
    except OSError as error:
        connected.close()
        raise unreachable(str(endpoint), error) from None
    except BaseException:
        connected.close()
        raise
    return SocketConnection(connected)


async def accept(listener: Listener) -> None:
    """Accept the next process that connects."""
    loop = asyncio.get_running_loop()
    listener.socket.setblocking(False)
    dialled, _ = await loop.sock_accept(listener.socket)
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            hello = await _exactly(dialled, ADVERTISEMENT_BYTES, "who dialled in")
    except (OSError, DiagnosticsError):
        hello = b""
    except BaseException:
        dialled.close()
        raise
    listener.welcome(SocketConnection(dialled), hello)

"""`AsyncSession` and `AsyncProcess`: `Session` and `Process` for an event loop.

Steps are those of `driving`, done with sockets of its own and without threads. A pipe of Windows has no such socket:
use the blocking classes in a thread there. Only what waits is written again; a session's options and what it knows are
in `SessionOptions`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics import runtime_requests as requests
from clrevents.diagnostics.channel import Channel
from clrevents.diagnostics.dotnet_process import DUMP_SECONDS, Process
from clrevents.diagnostics.driving import ANSWER_SECONDS, SOME, Open, Send, Step, Steps, Take, TakeSome, Within, request
from clrevents.diagnostics.faults import DiagnosticsError, broken_off, unanswered, unreachable
from clrevents.diagnostics.listening import HELLO_SECONDS, Listener, RuntimePort
from clrevents.diagnostics.messages import ADVERTISEMENT_BYTES, DisablePerfMap, ResumeRuntime, SetEnvironmentVariable
from clrevents.diagnostics.runtime_requests import RuntimeInfo
from clrevents.diagnostics.session import SessionOptions
from clrevents.diagnostics.transports import Connection, Endpoint, SocketConnection, SocketEndpoint
from clrevents.trace import Batch

A = TypeVar("A")


async def answered(steps: Steps[A], what: str, seconds: float | None = ANSWER_SECONDS) -> A:
    """Do the steps; None leaves limits to them. Raises DiagnosticsError, also on timeout."""
    try:
        async with asyncio.timeout(seconds):
            return await _run(steps, what)
    except TimeoutError:
        raise unanswered(what, seconds or 0) from None


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
        case Within(steps, what, seconds, needed):
            with contextlib.nullcontext() if needed else contextlib.suppress(DiagnosticsError):
                return await answered(steps, what, seconds)


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
        while (connection := endpoint.listener.take_waiting(endpoint.cookie)) is None:
            await accept(endpoint.listener)
        return connection
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


@frozen
class AsyncProcess(Value):
    """What a `Process` can be asked, as coroutines."""

    process: Process
    """The blocking equivalent."""

    @classmethod
    async def dialled(cls, listener: Listener, seconds: float) -> AsyncProcess:
        """The next process that connects to `listener`. Raises DiagnosticsError if none has within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while (port := listener.take_new()) is None:
                    await accept(listener)
        except TimeoutError:
            raise DiagnosticsError(f"no .NET process connected to {listener.endpoint} within {seconds:g} s") from None
        return cls(Process(port.pid, port))

    async def info(self) -> RuntimeInfo:
        """Version, command line and more. .NET 5 or later."""
        return await answered(requests.info(self.process.endpoint), "process information")

    async def environment(self) -> dict[str, str]:
        """Its environment variables; they may hold secrets. .NET 6 or later."""
        return await answered(requests.environment(self.process.endpoint), "its environment")

    async def resume(self) -> None:
        """Resume a process that was started suspended. .NET 5 or later."""
        await answered(request(self.process.endpoint, ResumeRuntime()), "to resume")

    async def set_environment(self, name: str, value: str | None) -> None:
        """Set the environment variable `name` to `value`, or remove it (None). .NET 6 or later."""
        steps = request(self.process.endpoint, SetEnvironmentVariable(name, value))
        await answered(steps, "to set an environment variable")

    async def enable_perf_map(self, kind: str = "perfmap") -> None:
        """Write the names of compiled methods for `perf`; `kind` as for `Process.enable_perf_map`. .NET 8 or later."""
        await answered(requests.enable_perf_map(self.process.endpoint, kind), "a perf map")

    async def disable_perf_map(self) -> None:
        """Stop doing so. .NET 8 or later."""
        await answered(request(self.process.endpoint, DisablePerfMap()), "the end of the perf map")

    async def write_dump(
        self, path: str | os.PathLike[str], kind: str = "heap", *, seconds: float = DUMP_SECONDS
    ) -> None:
        """Have it write a dump of itself; `path`, `kind` and `seconds` as for `Process.write_dump`."""
        await answered(requests.write_dump(self.process.endpoint, os.path.abspath(path), kind), "a dump", seconds)


class AsyncSession(SessionOptions):
    """A `Session` for `async with` and `async for`; takes the same `SessionOptions`."""

    _receiving: asyncio.Future[int] | None = None

    async def __aenter__(self) -> AsyncSession:
        await answered(self._begin(), "a recording", None)
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Stop, and take the remaining events, for the file and for reports."""
        assert self._channel is not None
        try:
            await self.stop()
            async for _ in self:
                pass
        finally:
            await self._give_up(self._channel)
            self._stream.close_file()

    async def stop(self) -> None:
        """Ask the process to end the recording: the remaining events arrive, then iteration ends."""
        if self._channel is not None:
            await answered(self._channel.stop(), "the end of a recording", None)

    async def __aiter__(self) -> AsyncIterator[Batch]:
        channel = self._channel
        if channel is None:
            raise ValueError("use a session with `async with`, which starts it")
        while channel.end is None:
            if self._is_over():
                await self.stop()
            await answered(channel.tend(), "late buffers", None)
            data = None if channel.overdue else await self._receive(channel)
            if channel.overdue:
                await self._give_up(channel)
            if data:
                for batch in self._stream.take(data):
                    yield batch
            elif data is None and self._stream.waits:
                for batch in self._stream.quiet():
                    yield batch
        for batch in self._stream.end():
            yield batch

    async def _receive(self, channel: Channel) -> memoryview | None:
        """The received bytes; None if nothing came for a while, empty at the end."""
        if self._receiving is None:
            receiving = asyncio.get_running_loop().sock_recv_into(socket_of(channel.connection), channel.buffer)
            self._receiving = asyncio.ensure_future(receiving)
        # It goes on when this wait is over: what is cancelled may have taken bytes that nobody gets then.
        done, _ = await asyncio.wait({self._receiving}, timeout=channel.wait(self._wait()))
        if not done:
            return None
        received, self._receiving = self._receiving, None
        try:
            return channel.took(received.result())
        except OSError:
            return channel.took(None)

    async def _give_up(self, channel: Channel) -> None:
        """Take nothing more."""
        receiving, self._receiving = self._receiving, None
        if receiving is not None:
            receiving.cancel()
            await asyncio.wait({receiving})
        channel.abandon()

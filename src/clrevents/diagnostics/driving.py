"""Asks a runtime: opens a connection, sends a request, reads its answer, all within a time limit. Blocks, starts no
threads.

A request and its answer are generators that yield how many bytes they need next; `run` reads them here, `async_session`
in an event loop.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.diagnostics import messages
from clrevents.diagnostics.faults import DiagnosticsError, broken_off, nonsense, refused, unanswered
from clrevents.diagnostics.ipc_values import Malformed, Reader, TextType, read_record
from clrevents.diagnostics.transports import Connection, Endpoint

A = TypeVar("A")

Reading: TypeAlias = Generator[int, bytes, A]
MOST_ENVIRONMENT_BYTES = 16 << 20


def answer_to(command: messages.Command[A]) -> Reading[A]:
    """Reads the answer to a command. Raises DiagnosticsError for a refusal, or for anything but an answer."""
    try:
        header = Reader((yield messages.HEADER_BYTES))
        if (magic := header.take(len(messages.MAGIC))) != messages.MAGIC:
            raise Malformed(f"it begins with {magic!r}")
        size = int.from_bytes(header.take(2), "little")
        code = (header.take(1)[0], header.take(1)[0])
        if size < messages.HEADER_BYTES:
            raise Malformed(f"it claims to have {size} bytes, but its header alone has {messages.HEADER_BYTES}")
        payload = Reader((yield size - messages.HEADER_BYTES) if size > messages.HEADER_BYTES else b"")
        if code == messages.ERROR:
            refusal = read_record(messages.ResultCode, payload)
            raise refused(command.what, command.since, command.advice, refusal.hresult, _message(payload))
        if code != messages.OK:
            raise Malformed(f"its code is {code[0]:#x}, {code[1]:#x}")
        answer: A = read_record(command.answer, payload)
        return answer
    except Malformed as error:
        raise nonsense(command.what, error) from None


def environment_after(follows: messages.EnvironmentFollows) -> Reading[messages.Environment]:
    """Reads what follows the answer to a request for the environment."""
    what = "its environment"
    if follows.size > MOST_ENVIRONMENT_BYTES:
        raise nonsense(what, f"it claims to have {counted(follows.size, 'byte')}")
    try:
        return read_record(messages.Environment, Reader((yield follows.size)))
    except Malformed as error:
        raise nonsense(what, error) from None


def _message(payload: Reader) -> str | None:
    """Newer runtimes say in words why."""
    try:
        text: Any = TextType().read(payload)
    except Malformed:
        return None
    return text or None


ANSWER_SECONDS: Final = 10.0
"""How long an answer may take, except for dumps."""


@frozen
class Open:
    """A connection is needed."""

    endpoint: Endpoint


@frozen
class Send:
    """These bytes have to go out."""

    connection: Connection
    data: bytes


@frozen
class Take:
    """Exactly this many bytes have to come in."""

    connection: Connection
    size: int


@frozen
class TakeSome:
    """Whatever comes in within this time: bytes; None if nothing does; empty at the end."""

    connection: Connection
    seconds: float


@frozen
class Within:
    """Other steps have to be done, within a time limit of their own. Where they are not `needed`, None stands for their
    failure."""

    steps: Steps[Any]
    what: str
    seconds: float = ANSWER_SECONDS
    needed: bool = False


Step: TypeAlias = Open | Send | Take | TakeSome | Within
Steps: TypeAlias = Generator[Step, Any, A]
SOME: Final = 1 << 16


def open_request(endpoint: Endpoint, command: messages.Command[Any]) -> Steps[Connection]:
    """A new connection with the request on it."""
    # What cannot be sent is refused before anything is opened.
    data = command.to_bytes()
    connection: Connection = yield Open(endpoint)
    try:
        yield Send(connection, data)
    except BaseException:
        connection.close()
        raise
    return connection


def take_in(connection: Connection, reading: Reading[A]) -> Steps[A]:
    """What a reading makes of the bytes that it asks for."""
    wanted = next(reading)
    while True:
        data = yield Take(connection, wanted)
        try:
            wanted = reading.send(data)
        except StopIteration as done:
            value: A = done.value
            return value


def request(endpoint: Endpoint, command: messages.Command[A]) -> Steps[A]:
    """The answer to one request."""
    connection = yield from open_request(endpoint, command)
    try:
        return (yield from take_in(connection, answer_to(command)))
    finally:
        connection.close()


def run(steps: Steps[A], what: str, seconds: float = ANSWER_SECONDS) -> A:
    """Do the steps, each with what is left of the time. Raises DiagnosticsError, also on timeout."""
    try:
        return _run(steps, what, seconds)
    finally:
        # Where this was interrupted, they close what they opened.
        steps.close()


def _run(steps: Steps[A], what: str, seconds: float) -> A:
    until = time.monotonic() + seconds
    result: Any = None
    failed: Exception | None = None
    while True:
        try:
            step = steps.send(result) if failed is None else steps.throw(failed)
        except StopIteration as done:
            value: A = done.value
            return value
        result, failed = None, None
        try:
            result = _do(step, what, until)
        except TimeoutError:
            failed = unanswered(what, seconds)
        except OSError:
            failed = broken_off(what)
        except Exception as error:
            failed = error


def attempt(steps: Steps[A], what: str, seconds: float = ANSWER_SECONDS) -> A | None:
    """Do them; None where they fail, and nothing depends on it."""
    with suppress(DiagnosticsError):
        return run(steps, what, seconds)
    return None


def _do(step: Step, what: str, until: float) -> Any:
    match step:
        case Open(endpoint):
            return endpoint.connect(until - time.monotonic())
        case Send(connection, data):
            connection.send(data, until - time.monotonic())
        case Take(connection, size):
            return receive_exactly(connection, size, what, until)
        case TakeSome(connection, seconds):
            return _receive_some(connection, min(seconds, until - time.monotonic()))
        case Within(steps, what, seconds, needed):
            return (run if needed else attempt)(steps, what, seconds)


def _receive_some(connection: Connection, seconds: float) -> bytes | None:
    buffer = bytearray(SOME)
    try:
        return bytes(buffer[: connection.receive_into(memoryview(buffer), seconds)])
    except TimeoutError:
        return None


def receive_exactly(connection: Connection, size: int, what: str, until: float) -> bytes:
    buffer = bytearray(size)
    got = 0
    while got < size:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        came = connection.receive_into(memoryview(buffer)[got:], left)
        if not came:
            raise broken_off(what)
        got += came
    return bytes(buffer)

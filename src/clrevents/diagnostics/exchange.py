"""One request and its answer as steps: which bytes to send, how many to wait for, what they mean.

A generator that yields how many bytes it needs next and returns the answer; its caller does the I/O.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from clrevents._util.words import counted
from clrevents.diagnostics.faults import nonsense, refused
from clrevents.diagnostics.ipc_answers import Environment, EnvironmentFollows, Refusal
from clrevents.diagnostics.ipc_values import Malformed, Reader, TextType, read_record
from clrevents.diagnostics.messages import (
    ERROR,
    HEADER_BYTES,
    MAGIC,
    OK,
    Command,
)

A = TypeVar("A")
Reading: TypeAlias = Generator[int, bytes, A]
MOST_ENVIRONMENT_BYTES = 16 << 20


def answer_to(command: Command[A]) -> Reading[A]:
    """Reads the answer to a command. Raises DiagnosticsError for a refusal, or for anything but an answer."""
    try:
        header = Reader((yield HEADER_BYTES))
        if (magic := header.take(len(MAGIC))) != MAGIC:
            raise Malformed(f"it begins with {magic!r}")
        size = int.from_bytes(header.take(2), "little")
        code = (header.take(1)[0], header.take(1)[0])
        if size < HEADER_BYTES:
            raise Malformed(f"it claims to have {size} bytes, but its header alone has {HEADER_BYTES}")
        payload = Reader((yield size - HEADER_BYTES) if size > HEADER_BYTES else b"")
        if code == ERROR:
            refusal = read_record(Refusal, payload)
            raise refused(command.what, command.since, command.advice, refusal.hresult, _message(payload))
        if code != OK:
            raise Malformed(f"its code is {code[0]:#x}, {code[1]:#x}")
        answer: A = read_record(command.answer, payload)
        return answer
    except Malformed as error:
        raise nonsense(command.what, error) from None


def environment_after(follows: EnvironmentFollows) -> Reading[Environment]:
    """Reads what follows the answer to a request for the environment."""
    what = "its environment"
    if follows.size > MOST_ENVIRONMENT_BYTES:
        raise nonsense(what, f"it claims to have {counted(follows.size, 'byte')}")
    try:
        return read_record(Environment, Reader((yield follows.size)))
    except Malformed as error:
        raise nonsense(what, error) from None


def _message(payload: Reader) -> str | None:
    """Newer runtimes say in words why."""
    try:
        found: Any = TextType().read(payload)
    except Malformed:
        return None
    return found or None

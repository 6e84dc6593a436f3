"""The payloads of a sound NetTrace file by a second, strict and plain reading of its event headers.

Follows the format's text alone and shares nothing with the decoder. Knows compressed headers of NetTrace 4 and 6; of
anything else it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.schema.codes import BlockKind
from mutations import find_blocks

_TRACE_BYTES = 48


class Unsound(Exception):
    """These bytes are not as the format says."""


class Unknown(Exception):
    """Nothing can be said of them here."""


def payloads(data: bytes) -> list[bytes]:
    """The payloads of all events in the order of the file. Raises `Unsound` and `Unknown`."""
    if data[:8] != b"Nettrace":
        raise Unknown
    six = data[8:12] == bytes(4)
    found: list[bytes] = []
    for kind, block in _six(data) if six else _four(data):
        if kind == "EventBlock":
            found += _events(block, six)
        elif kind == "StackBlock":
            _stacks(block)
    return found


def _stacks(block: bytes) -> None:
    """A first id and a count, then of each the size and its bytes."""
    pos = 8
    for _ in range(int.from_bytes(block[4:8], "little")):
        pos += 4 + int.from_bytes(block[pos : pos + 4], "little")
        if pos > len(block):
            raise Unsound("fewer stacks than declared")


def _six(data: bytes) -> Iterator[tuple[str, bytes]]:
    names = {BlockKind.EVENTS: "EventBlock", BlockKind.STACKS: "StackBlock"}
    for size_at, start, end, _ in find_blocks(bytearray(data)):
        yield names.get(data[size_at + 3], ""), data[start:end]  # type: ignore[call-overload]


def _four(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Objects: tags, the versions, the name, and for a block its size, and its bytes on a multiple of four."""
    pos = 32
    while data[pos : pos + 3] == b"\x05\x05\x01":
        length = int.from_bytes(data[pos + 11 : pos + 15], "little")
        pos += 15 + length
        name = data[pos - length : pos].decode("ascii", "replace")
        if data[pos : pos + 1] != b"\x06":
            raise Unsound("a type without an end")
        pos += 1
        if name == "Trace":
            pos += _TRACE_BYTES
        else:
            size = int.from_bytes(data[pos : pos + 4], "little")
            pos += 4 + -(pos + 4) % 4
            yield name, data[pos : pos + size]
            pos += size
        if data[pos : pos + 1] != b"\x06":
            raise Unsound("an object without an end")
        pos += 1


def _events(block: bytes, six: bool) -> Iterator[bytes]:
    pos, flags = int.from_bytes(block[:2], "little"), int.from_bytes(block[2:4], "little")
    if not 20 <= pos <= len(block):
        raise Unsound("no header")
    if not flags & 1:
        raise Unknown

    def number(most: int) -> int:
        nonlocal pos
        value = 0
        for place in range(most):
            if pos >= len(block):
                break
            value |= (block[pos] & 127) << 7 * place
            pos += 1
            if block[pos - 1] < 128:
                return value
        raise Unsound("a number without an end")

    size = 0
    while pos < len(block):
        marks = block[pos]
        pos += 1
        if marks & 1:
            number(5)
        if marks & 2:
            number(5), number(10), number(5)
        if marks & 4:
            number(10)
        if marks & 8:
            number(5)
        number(10)
        if six and marks & 16:
            number(5)
        elif not six:
            pos += 16 * (marks >> 4 & 1) + 16 * (marks >> 5 & 1)
        if marks & 128:
            size = number(5)
        if size > len(block) - pos:
            raise Unsound("a payload beyond its block")
        yield block[pos : pos + size]
        pos += size

"""Changes a stream so that it may cost more: parts repeated, counted on, mixed with those of other streams.

A stream is taken apart into its blocks (records in NetPerf 1 and 2), changed, and put together with sizes and padding
that agree again; what is no block stays as it is. Everything is drawn from a seeded generator. Measures nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import attrs

Shape: TypeAlias = Literal["nettrace6", "nettrace4", "netperf3", "netperf12"]

_NETTRACE4: Final = b"Nettrace\x14\0\0\0!FastSerialization.1"
_NETPERF: Final = b"\x14\0\0\0!FastSerialization.1"
_OLD_NAME: Final = b"Microsoft.DotNet.Runtime.EventPipeFile\6"
_SMALL: Final = (0, 1, 2, 3, 4, 7, 8, 16, 20, 64, 127, 128, 255, 256, 1000, 4095, 4096, 65535)
_TIMES: Final = (2, 2, 3, 4, 8, 16, 30, 100, 300, 1000)


@attrs.define
class Part:
    """A block: what names it in front of its size, and its content. The trace object has no size."""

    head: bytes
    content: bytes
    sized: bool = True


@attrs.define
class Stream:
    """A stream in parts."""

    shape: Shape
    head: bytes
    parts: list[Part]
    tail: bytes


def shape_of(data: bytes) -> Shape | None:
    """The container; None for bytes that do not begin like one."""
    if data[:8] == b"Nettrace" and data[8:12] == bytes(4):
        return "nettrace6"
    if data.startswith(_NETTRACE4):
        return "nettrace4"
    if data.startswith(_NETPERF):
        return "netperf12" if data[39 : 39 + len(_OLD_NAME)] == _OLD_NAME else "netperf3"
    return None


def taken_apart(data: bytes) -> Stream | None:
    """The stream's parts up to the first that is none; None if it does not begin like a trace."""
    shape = shape_of(data)
    match shape:
        case None:
            return None
        case "nettrace6":
            parts, pos = _blocks(data)
            return Stream(shape, data[:20], parts, data[pos:])
        case "netperf12":
            begin = min(39 + len(_OLD_NAME) + 4 + 32, len(data))
            parts, pos = _records(data, begin)
            return Stream(shape, data[:begin], parts, data[pos:])
        case _:
            begin = len(_NETTRACE4 if shape == "nettrace4" else _NETPERF)
            parts, pos = _objects(data, begin)
            return Stream(shape, data[:begin], parts, data[pos:])


def _blocks(data: bytes) -> tuple[list[Part], int]:
    parts, pos = [], 20
    while pos + 4 <= len(data):
        size = int.from_bytes(data[pos : pos + 3], "little")
        if pos + 4 + size > len(data) or data[pos : pos + 4] == bytes(4):
            break
        parts.append(Part(data[pos + 3 : pos + 4], data[pos + 4 : pos + 4 + size]))
        pos += 4 + size
    return parts, pos


def _records(data: bytes, pos: int) -> tuple[list[Part], int]:
    parts = []
    while pos + 4 <= len(data):
        (size,) = struct.unpack_from("<i", data, pos)
        if size <= 0 or pos + 4 + size > len(data):
            break
        parts.append(Part(b"", data[pos + 4 : pos + 4 + size]))
        pos += 4 + size
    return parts, pos


def _objects(data: bytes, pos: int) -> tuple[list[Part], int]:
    parts = []
    while pos + 20 <= len(data) and data[pos] in (4, 5):
        (length,) = struct.unpack_from("<i", data, pos + 11)
        at = pos + 16 + length
        if not 0 < length <= 64 or data[at - 1 : at] != b"\6":
            break
        head, sized = data[pos:at], data[pos + 15 : at - 1] != b"Trace"
        size = 48
        if sized:
            if at + 4 > len(data):
                break
            (size,) = struct.unpack_from("<i", data, at)
            at += 4 + -(at + 4) % 4
        if size < 0 or data[at + size : at + size + 1] != b"\6":
            break
        parts.append(Part(head, data[at : at + size], sized))
        pos = at + size + 1
    return parts, pos


def put_together(stream: Stream) -> bytes:
    """The bytes of a stream in parts: the inverse of `taken_apart`."""
    out, at = [stream.head], len(stream.head)
    for part in stream.parts:
        match stream.shape:
            case "nettrace6":
                content = part.content[: (1 << 24) - 1]
                piece = len(content).to_bytes(3, "little") + part.head + content
            case "netperf12":
                piece = struct.pack("<i", len(part.content)) + part.content
            case _ if part.sized:
                front = part.head + struct.pack("<i", len(part.content))
                piece = front + bytes(-(at + len(front)) % 4) + part.content + b"\6"
            case _:
                piece = part.head + part.content + b"\6"
        out.append(piece)
        at += len(piece)
    return b"".join((*out, stream.tail))


def grown(
    data: bytes,
    others: Sequence[bytes],
    rng: random.Random,
    largest: int,
    bytewise: Sequence[Callable[[bytearray, list[bytes], random.Random], None]],
) -> bytes:
    """A changed copy of at most `largest` bytes. `others` lend their parts, `bytewise` changes single bytes."""
    stream = taken_apart(data)
    if stream is None or not stream.parts or rng.random() < 0.05:
        changed = bytearray(data)
        rng.choice(bytewise)(changed, list(others[:1]), rng)
        return bytes(changed[:largest])
    lenders = [other for other in others if shape_of(other) == stream.shape]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        if not stream.parts:
            break
        room = largest - sum(len(p.content) + len(p.head) + 8 for p in stream.parts)
        rng.choice(_CHANGES)(stream, lenders, rng, max(room, 0), bytewise)
    return put_together(stream)[:largest]


def _times(rng: random.Random, room: int, size: int) -> int:
    """How often something of this size is repeated."""
    most = room // max(size, 1)
    return min(most, rng.choice(_TIMES)) if rng.random() < 0.6 else most


Bytewise: TypeAlias = Sequence[Callable[[bytearray, list[bytes], random.Random], None]]


def _repeat_run(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    at = rng.randrange(len(stream.parts))
    run = stream.parts[at : at + rng.choice((1, 1, 1, 2, 2, 3, 4, 8, 30))]
    times = _times(rng, room, sum(len(p.content) + len(p.head) + 8 for p in run))
    stream.parts[at:at] = run * times


def _alternate(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    chosen = [rng.choice(stream.parts) for _ in range(rng.choice((2, 2, 3, 4)))]
    times = _times(rng, room, sum(len(p.content) + len(p.head) + 8 for p in chosen))
    at = rng.randrange(len(stream.parts) + 1)
    stream.parts[at:at] = chosen * times


def _count_parts(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    """The same part again and again, with a number in it that counts."""
    at = rng.randrange(len(stream.parts))
    run = stream.parts[at : at + rng.choice((1, 1, 2, 3))]
    marks = [_Mark.drawn(rng, len(part.content)) if rng.random() < 0.8 else None for part in run]
    times = _times(rng, room, sum(len(p.content) + len(p.head) + 8 for p in run))
    made = [
        part if mark is None else Part(part.head, mark.put(part.content, number), part.sized)
        for number in range(times)
        for part, mark in zip(run, marks, strict=True)
    ]
    stream.parts[at:at] = made


def _borrow(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    """Some parts of another stream, in one place, or one of them after each of our own."""
    if not lenders:
        return
    other = taken_apart(rng.choice(lenders))
    if other is None or not other.parts:
        return
    first = rng.randrange(len(other.parts))
    run = other.parts[first : first + rng.choice((1, 2, 3, 8, 100))]
    if rng.random() < 0.3:
        stream.parts = [p for i, own in enumerate(stream.parts) for p in (own, run[i % len(run)])]
        return
    at = rng.choice((0, len(stream.parts), rng.randrange(len(stream.parts) + 1)))
    stream.parts[at:at] = run


def _reorder(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    at = rng.randrange(len(stream.parts))
    end = at + rng.choice((2, 5, 30, 1000))
    run = stream.parts[at:end]
    if rng.random() < 0.5:
        run.reverse()
    else:
        rng.shuffle(run)
    stream.parts[at:end] = run


def _drop(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    at = rng.randrange(len(stream.parts))
    del stream.parts[at : at + rng.choice((1, 1, 2, 5, len(stream.parts) // 2))]


def _cross(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    """The content of one part under the name of another."""
    part = rng.choice(stream.parts)
    part.content = rng.choice(stream.parts).content


def _content(stream: Stream, lenders: list[bytes], rng: random.Random, room: int, bytewise: Bytewise) -> None:
    place = rng.randrange(len(stream.parts))
    part = stream.parts[place]
    stream.parts[place] = Part(part.head, rng.choice(_INSIDE)(part.content, rng, room, bytewise), part.sized)


@attrs.frozen
class _Mark:
    """A place in some bytes where a number is written, as a varint of three or as 1 to 8 bytes."""

    at: int
    width: int
    varint: bool
    step: int

    @classmethod
    def drawn(cls, rng: random.Random, size: int) -> _Mark:
        """Anywhere in `size` bytes, or rather near their beginning."""
        within = min(size, rng.choice((8, 24, 64, 1000, 100_000)))
        varint = rng.random() < 0.4
        width = 3 if varint else rng.choice((1, 2, 4, 4, 8))
        return cls(rng.randrange(within) if within else 0, width, varint, rng.choice((1, 1, 1, 2, 8, 4096, -1)))

    def put(self, content: bytes, number: int) -> bytes:
        """The bytes with this number in its place."""
        value = number * self.step
        if self.varint:
            value &= (1 << 21) - 1
            code = bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14))
        else:
            code = (value & (1 << 8 * self.width) - 1).to_bytes(self.width, "little")
        return content[: self.at] + code + content[self.at + self.width :]


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    at = rng.randrange(len(content)) if content else 0
    size = rng.choice((1, 2, 4, 8, 12, 20, 60, 200, 1000, rng.randrange(1, 300)))
    return at, min(at + size, len(content))


def _repeat_span(content: bytes, rng: random.Random, room: int, bytewise: Bytewise) -> bytes:
    at, end = _span(content, rng)
    return content[:end] + content[at:end] * _times(rng, room, end - at) + content[end:]


def _count_span(content: bytes, rng: random.Random, room: int, bytewise: Bytewise) -> bytes:
    at, end = _span(content, rng)
    piece = content[at:end]
    mark = _Mark.drawn(rng, len(piece))
    made = b"".join(mark.put(piece, n) for n in range(min(_times(rng, room, max(end - at, 8)), 50_000)))
    return content[:end] + made + content[end:]


def _number(content: bytes, rng: random.Random, room: int, bytewise: Bytewise) -> bytes:
    """A number becomes a multiple of itself, or one of those where something changes."""
    width = rng.choice((1, 2, 4, 8))
    if len(content) < width:
        return content
    near = rng.choice((24, 100, len(content)))
    at = rng.randrange(min(near, len(content) - width + 1))
    value = int.from_bytes(content[at : at + width], "little")
    value = rng.choice((value * rng.choice(_TIMES), value + 1, value // 2, rng.choice(_SMALL), room // 8))
    return content[:at] + (value & (1 << 8 * width) - 1).to_bytes(width, "little") + content[at + width :]


def _varint(content: bytes, rng: random.Random, room: int, bytewise: Bytewise) -> bytes:
    """A byte becomes a varint, or is padded into a long one of the same value."""
    if not content:
        return content
    at = rng.randrange(min(len(content), rng.choice((40, 400, len(content)))))
    value = rng.choice(
        (content[at] & 127, content[at] * rng.choice(_TIMES), rng.choice(_SMALL), rng.randrange(1 << 20))
    )
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    if rng.random() < 0.2:
        out[-1] |= 128
        out += b"\x80" * rng.randrange(3) + b"\0"
    return content[:at] + bytes(out) + content[at + 1 :]


def _single_bytes(content: bytes, rng: random.Random, room: int, bytewise: Bytewise) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(bytewise)(changed, [content], rng)
    return bytes(changed)


_Change: TypeAlias = Callable[[Stream, list[bytes], random.Random, int, Bytewise], None]
_CHANGES: Final[tuple[_Change, ...]] = (
    _repeat_run,
    _repeat_run,
    _alternate,
    _count_parts,
    _count_parts,
    _borrow,
    _borrow,
    _reorder,
    _drop,
    _cross,
    *[_content] * 8,
)
_INSIDE: Final[tuple[Callable[[bytes, random.Random, int, Bytewise], bytes], ...]] = (
    _repeat_span,
    _repeat_span,
    _count_span,
    _count_span,
    _number,
    _number,
    _varint,
    _single_bytes,
)

"""Changes a stream so that it may cost more: parts repeated, counted on, mixed with those of other streams.

A stream is taken apart into its blocks (records in NetPerf 1 and 2), changed, and put together with sizes and padding
that agree again; what is no block stays as it is. Everything is drawn from a seeded generator. Measures nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import attrs

from stream_blocks import Shape, blocks_of, head_size, shape_of

Bytewise: TypeAlias = Sequence[Callable[[bytearray, list[bytes], random.Random], None]]

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


def taken_apart(data: bytes) -> Stream | None:
    """The stream's parts up to the first that is none; None if it does not begin like a trace."""
    shape = shape_of(data)
    if shape is None:
        return None
    parts, last = [], head_size(data)
    for block in blocks_of(data):
        if block.name == "End":
            break
        head = {"nettrace6": data[block.size_at + 3 : block.content], "netperf12": b""}
        named = head.get(shape, data[block.start : block.size_at])
        parts.append(
            Part(named, data[block.content : block.content_end], block.name != "Trace" or shape == "nettrace6")
        )
        last = block.end
    return Stream(shape, data[: head_size(data)], parts, data[last:])


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


def grown(data: bytes, others: Sequence[bytes], rng: random.Random, largest: int, bytewise: Bytewise) -> bytes:
    """A changed copy of at most `largest` bytes. `others` lend their parts, `bytewise` changes bytes."""
    stream = taken_apart(data)
    if stream is None or not stream.parts or rng.random() < 0.05:
        return _changed(data, rng, bytewise)[:largest]
    lenders = [other for other in others if shape_of(other) == stream.shape]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        if not stream.parts:
            break
        room = largest - sum(len(p.content) + len(p.head) + 8 for p in stream.parts)
        if rng.random() < 0.2:
            place = rng.randrange(len(stream.parts))
            part = stream.parts[place]
            stream.parts[place] = Part(part.head, _changed(part.content, rng, bytewise), part.sized)
        else:
            rng.choice(_CHANGES)(stream, lenders, rng, max(room, 0))
    return put_together(stream)[:largest]


def _changed(content: bytes, rng: random.Random, bytewise: Bytewise) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(bytewise)(changed, [content], rng)
    return bytes(changed)


def _times(rng: random.Random, room: int, size: int) -> int:
    """How often something of this size is repeated."""
    most = room // max(size, 1)
    return min(most, rng.choice(_TIMES)) if rng.random() < 0.6 else most


def _repeat_run(stream: Stream, lenders: list[bytes], rng: random.Random, room: int) -> None:
    at = rng.randrange(len(stream.parts))
    run = stream.parts[at : at + rng.choice((1, 1, 1, 2, 2, 3, 4, 8, 30))]
    times = _times(rng, room, sum(len(p.content) + len(p.head) + 8 for p in run))
    stream.parts[at:at] = run * times


def _count_parts(stream: Stream, lenders: list[bytes], rng: random.Random, room: int) -> None:
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


def _borrow(stream: Stream, lenders: list[bytes], rng: random.Random, room: int) -> None:
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


def _repeat_span(stream: Stream, lenders: list[bytes], rng: random.Random, room: int) -> None:
    """Some bytes of one part again and again, with a number in them that counts or stands still."""
    place = rng.randrange(len(stream.parts))
    content = stream.parts[place].content
    at = rng.randrange(len(content)) if content else 0
    size = rng.choice((1, 2, 4, 8, 12, 20, 60, 200, 1000, rng.randrange(1, 300)))
    piece = content[at : at + size]
    times = min(_times(rng, room, max(len(piece), 8)), 50_000)
    mark = _Mark.drawn(rng, len(piece))
    more = piece * times if rng.random() < 0.5 else b"".join(mark.put(piece, number) for number in range(times))
    part = stream.parts[place]
    stream.parts[place] = Part(part.head, content[: at + size] + more + content[at + size :], part.sized)


_CHANGES: Final = (_repeat_run, _count_parts, _borrow, _repeat_span, _repeat_span)

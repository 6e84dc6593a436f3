"""Blocks, programs and payloads for the kernels: real ones, damaged ones, and what no writer would write.

Everything comes from a seeded `random.Random`. Knows the shape of blocks and programs; compares nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

import attrs

from clrevents.decode.payload.plan import Plan, plan
from clrevents.schema.registry import DEFAULT
from kernel_twins import BASE, Objects, interpreted
from mutations import MUTATIONS, find_blocks
from project_files import ROOT, fixtures, unpacked

PADDING: Final = 96
FIXED, TEXT16, TEXT8, COUNTED, PREFIXED, NUMBER, REST, PREFIXED_REST = range(8)
# All that changes bytes alone; the tool's other mutations know of whole traces.
_MUTATIONS: Final = MUTATIONS[:12]
UNITS: Final = (0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFD, 0xFFFF, 1)


@attrs.frozen
class Block:
    """Headers of events with their payloads, as one call of `scan` gets them."""

    content: bytes
    labels: bool


@attrs.frozen
class Payloads:
    """A program and what it is run over: `buf[starts[i]:ends[i]]`, `repeats[i]` times."""

    program: list[int]
    buf: bytes
    starts: list[int]
    ends: list[int]
    repeats: list[int]


def blocks_of(traces: Iterable[bytes]) -> Iterator[Block]:
    """The content of every block of these traces, taken for events whatever it holds; and what stands in front."""
    for data in traces:
        found = list(find_blocks(bytearray(data)))
        for _, start, end, wide in found:
            size = struct.unpack_from("<H", data, start)[0] if end - start >= 2 else 0
            yield Block(data[start + min(size, end - start) : end], labels=not wide)
        yield from (Block(data[:2000], labels) for labels in (False, True))


def corpus_blocks() -> list[Block]:
    """The blocks of what the fuzzer found."""
    return list(blocks_of(p.read_bytes() for p in sorted((ROOT / "tests" / "corpus").glob("*.bin"))))


def pieces(largest: int = 300) -> list[Block]:
    """Real event blocks cut between two events into pieces that are small enough to be mutated by the million."""
    scanner = interpreted()
    found: dict[bytes, Block] = {}
    for path in fixtures():
        for block in list(blocks_of([unpacked(path)]))[:12]:
            padded = block.content + bytes(PADDING)
            outcome = scanner.scan(padded, 0, len(block.content), block.labels, 4000)[0]
            rows = outcome[1][scanner.scan_module.ROWS]
            begin = 0
            for offset, size in zip(outcome[6][:rows], outcome[7][:rows], strict=True):
                end = offset - BASE + size
                if end - begin >= largest // 4:
                    piece = block.content[begin:end]
                    begin = end
                    if len(piece) <= largest:
                        found.setdefault(piece, Block(piece, block.labels))
    return list(found.values())


def mutated(block: Block, others: list[Block], rng: Random) -> Block:
    """The block after a few changes; with the other meaning of labels, once in a while."""
    data = bytearray(block.content)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        if rng.random() < 0.2:
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.choice((0, 4, 20))] = b"\xff" * rng.randrange(1, 24)
        else:
            rng.choice(_MUTATIONS)(data, [rng.choice(others).content], rng)
    return Block(bytes(data[:600]), block.labels ^ (rng.random() < 0.1))


def registered_programs() -> list[list[int]]:
    """The program of every layout that the registry has, at both pointer sizes, and of what stands in its groups."""
    found: dict[tuple[int, ...], list[int]] = {}
    for info in DEFAULT.events():
        for size in (4, 8):
            made: Plan | None = plan(info.layout.bind(size))
            while made is not None:
                if made.program:
                    found[tuple(made.program)] = made.program
                made = made.rest
    return list(found.values())


def random_program(rng: Random) -> list[int]:
    """As `columns` could make them: a count is inside of what was read before; what a second walk reads is the last."""
    program: list[int] = []
    earlier: list[tuple[int, int]] = []
    steps = rng.randrange(1, 7)
    for slot in range(steps):
        choices = [FIXED, FIXED, TEXT16, TEXT8, PREFIXED, NUMBER, *[COUNTED] * bool(earlier)]
        if slot + 1 == steps:
            choices += [PREFIXED_REST, *[REST] * bool(earlier)]
        op = rng.choice(choices)
        pad = rng.choice((0, 0, 0, 1, 4, 7))
        size = rng.choice((1, 1, 2, 4, 8, 16, 0, 3, 1 << 16, 1 << 31, (1 << 62) + 1))
        if op == FIXED:
            size = rng.choice((1, 2, 4, 8, 9, 16, 24, 0))
            if size:
                earlier.append((slot, size))
        where = (0, 0, 0)
        if op in (COUNTED, REST):
            at, room = rng.choice(earlier)
            wide = rng.choice([w for w in (1, 2, 4, 8) if w <= room])
            where = at, rng.randrange(room - wide + 1), rng.choice((wide, -wide))
        program += [op, pad, size, *where]
    return program


def payload(program: list[int], rng: Random) -> bytes:
    """Bytes that the program more or less fits: counts are small, texts end."""
    out = bytearray()
    for at in range(0, len(program), 6):
        op, pad, size = program[at : at + 3]
        size = min(size, 32)
        out += bytes(pad)
        match op:
            case 0:
                out += bytes(rng.choice((0, 0, 0, 1, 2, 3, 255)) for _ in range(size))
            case 1:
                out += utf16(rng, rng.randrange(5)) + b"\0\0"
            case 2:
                out += bytes(rng.randrange(1, 256) for _ in range(rng.randrange(6))) + b"\0"
            case 5:
                out += bytes(rng.randrange(128, 256) for _ in range(rng.choice((0, 1, 4, 8, 9, 10))))
                out.append(rng.randrange(128))
            case 4 | 7:
                count = rng.choice((0, 1, 2, 5, 65535))
                out += struct.pack("<H", count) + rng.randbytes(min(count, 5) * size)
            case _:
                out += rng.randbytes(rng.randrange(4) * size)
    return bytes(out)


def utf16(rng: Random, units: int) -> bytes:
    """Text of any kind: halves of pairs anywhere, also as the last unit."""
    chosen = (rng.choice(UNITS) if rng.random() < 0.8 else rng.randrange(1, 1 << 16) for _ in range(units))
    return b"".join(unit.to_bytes(2, "little") for unit in chosen)


def payloads(program: list[int], rng: Random, rows: int) -> Payloads:
    """Rows of whole, damaged and random payloads with poison between them; some are read several times in a row."""
    buf, starts, ends, repeats = bytearray(), [], [], []
    for _ in range(rows):
        times = rng.choice((1, 1, 1, 0, 2, 5))
        data = bytearray(b"".join(payload(program, rng) for _ in range(times)))
        kind = rng.random()
        if kind < 0.5:
            rng.choice(_MUTATIONS)(data, [bytes(data)], rng)
        elif kind < 0.6:
            data = bytearray(rng.randbytes(rng.randrange(80)))
        elif kind < 0.65:
            data = bytearray(b"\xff" * rng.randrange(80))
        buf += rng.randbytes(rng.randrange(4))
        starts.append(len(buf))
        buf += data[:400]
        ends.append(len(buf))
        repeats.append(times)
    return Payloads(program, bytes(buf + rng.randbytes(4)), starts, ends, repeats)


def poisoned(given: Payloads, poison: int) -> bytes:
    """The same payloads with other bytes between and behind them."""
    out = bytearray([poison]) * len(given.buf)
    for start, end in zip(given.starts, given.ends, strict=True):
        out[start:end] = given.buf[start:end]
    return bytes(out)


class Plain:
    """Slots and nothing else."""

    __slots__ = ("a", "b", "c", "d", "e")


class Referred(Plain):
    """Slots of a parent, some of its own, and what makes weak references possible."""

    __slots__ = ("__weakref__", "f", "g")


class WithDict(Referred):
    """Room for any attribute beside its slots."""


@attrs.frozen(slots=True, weakref_slot=False)
class Record:
    """As events' records are: no attribute can be set, but slots can."""

    a: Any
    b: Any
    c: Any


class Uncollected:
    """No slots at all: nothing that a collector would have to look at."""

    __slots__ = ()


CLASSES: Final[tuple[type[Any], ...]] = (Plain, Referred, WithDict, Record, Uncollected)


def slots(cls: type[Any]) -> dict[str, Any]:
    """What writes each of its slots, by name."""
    found = {name: vars(c)[name] for c in cls.__mro__ for name in getattr(c, "__slots__", ()) if name in vars(c)}
    return {name: slot for name, slot in found.items() if name != "__weakref__"}


def anything(rng: Random) -> Any:
    """A value as a record may have it: of any type, also an integer that no machine word holds."""
    bits = rng.choice((1, 31, 32, 62, 63, 64, 65, 200))
    number = rng.choice((-1, 1)) * ((1 << bits) + rng.randrange(-2, 3))
    return rng.choice((None, True, number, number, 1.5, float("nan"), "text", b"bytes", (number,), [], Plain))


def objects(rng: Random) -> Objects:
    """Objects of some class: slots from lists and from numbers, in any order; some slots stay empty.

    One in four has a mistake: lists and numbers that are too short, or places that lie outside.
    """
    cls = rng.choice(CLASSES)
    setters = [*slots(cls).values()]
    rng.shuffle(setters)
    del setters[rng.randrange(len(setters) + 1) :]
    rows = rng.choice((0, 1, 2, 7, 40))
    unsigned: list[int] = []
    columns: list[Any] = []
    places: list[int] = []
    for _ in setters:
        if rng.random() < 0.5:
            columns.append([anything(rng) for _ in range(rows)])
            places.append(rng.choice((0, 0, 1 << 40, -5)))
        else:
            columns.append(None)
            places.append(len(unsigned) if rng.random() < 0.5 else -1 - len(unsigned))
            unsigned += [rng.choice((0, 1, 5, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)) for _ in range(rows)]
    first = rng.randrange(rows + 1)
    last = rng.randrange(rows + 1)
    if setters and rng.random() < 0.25:
        at = rng.randrange(len(setters))
        match rng.randrange(6):
            case 0:
                last = rows + 1 + rng.randrange(3)
            case 1:
                del columns[at:]
            case 2:
                del places[at:]
            case 3:
                places[at] = rng.choice((-1, 1)) * rng.choice((1000, 1 << 31, 1 << 40, 1 << 62))
            case 4 if columns[at]:
                del columns[at][rng.randrange(rows) :]
            case _:
                del unsigned[len(unsigned) // 2 :]
    signed = [number - (number >> 63 << 64) for number in unsigned]
    return Objects(cls, setters, columns, places, unsigned, signed, first, last)


def contents(made: Any) -> Any:
    """Of objects: each one's class and what stands in its slots, `...` where nothing does."""
    if not isinstance(made, list):
        return made
    return [(type(one), *(getattr(one, name, ...) for name in slots(type(one)))) for one in made]


def alike(one: Any, other: Any) -> bool:
    """Whether these contents are the same: the very same objects, or equal integers."""
    if not (isinstance(one, list) and isinstance(other, list)):
        return one is other
    return len(one) == len(other) and all(
        len(mine) == len(theirs)
        and all(a is b or (type(a) is type(b) is int and a == b) for a, b in zip(mine, theirs, strict=True))
        for mine, theirs in zip(one, other, strict=True)
    )

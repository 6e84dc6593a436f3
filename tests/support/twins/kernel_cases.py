"""Blocks, programs and payloads for the kernels: real ones, damaged ones, and what no writer would write.

Everything comes from a seeded `random.Random`. Knows the shape of blocks and programs; compares nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from random import Random
from typing import Any, Final

import attrs

from clrevents.decode.payload.column_maker import Plan, plan
from clrevents.schema.registry import DEFAULT
from kernel_twins import BASE, Making, Objects, Reading, interpreted
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


class Pair:
    """As a GUID: a number and something else."""

    __slots__ = ("number", "other")


class Seven:
    """One slot more than an event has."""

    __slots__ = ("a", "b", "c", "d", "e", "f", "g")


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


def filled(rng: Random, count: int) -> Objects:
    """A class and so many of its slots, in any order."""
    cls = rng.choice([cls for cls in CLASSES if len(slots(cls)) >= count])
    return Objects(cls, rng.sample([*slots(cls).values()], count))


# Operations of the kernel of objects, as `slots` numbers them.
(UNSIGNED, SIGNED, CONVERTED, BOOL, REAL, UTF16, BYTE_TEXT, GUID, RAW, VARINT, SPAN, ARRAY, STRUCT) = range(13)
PARTS: Final = (
    Objects(Pair, [*slots(Pair).values()]),
    "unknown",
    hex,
    bytes.hex,
    Objects(Plain, [*slots(Plain).values()][:3]),
    Objects(Uncollected, []),
)


def field_program(rng: Random, fields: int) -> list[int]:
    """Any fields behind each other, and behind them those that are inside; counts mean what may not be there yet."""
    code = [0] * (8 * fields)
    for at in range(0, len(code), 8):
        code[at : at + 8] = _field_code(rng, code, 2)
    return code


def _field_code(rng: Random, code: list[int], depth: int) -> list[int]:
    pad = rng.choice((0, 0, 0, 0, 1, 4))
    width = rng.choice((1, 2, 4, 8, 8, 3))
    keep = rng.choice((-1, 0, 1))
    operation = rng.randrange(13 if depth else 10)
    match operation:
        case 0 | 1 | 2 | 3:
            rest = [width, keep, 2, rng.randrange(2)]
        case 4:
            rest = [rng.choice((4, 8))]
        case 5 | 6:
            rest = [{5: 2, 6: 1}[operation]]
        case 9:
            # From 2 on the number before it counts, too.
            rest = [1, rng.randrange(4)]
        case 7 | 8:
            rest = [16, 0, 0 if operation == 7 else 3, 1]
        case 10:
            units = rng.randrange(3)
            how = rng.choice((0, 1, -1, -2, -5))
            rest = [2 if how == -1 else 0, how, units, units or 1]
        case 11:
            how = rng.choice((0, 1, -1, -2, -5))
            at = len(code)
            code += [0] * 8
            inner = code[at : at + 8] = _field_code(rng, code, depth - 1)
            smallest = max(inner[2] + inner[1], 1)
            rest = [2 if how == -1 else 0, how, at, smallest, int(inner[0] in (0, 1, 2, 3, 4, 7, 8))]
        case _:
            at, (part, count) = len(code), rng.choice(((4, 3), (5, 0)))
            code += [0] * (8 * count)
            for place in range(at, at + 8 * count, 8):
                code[place : place + 8] = _field_code(rng, code, depth - 1)
            rest = [0, part, at, count]
    return [operation, pad, *rest, *[0] * (6 - len(rest))]


def reading(rng: Random) -> Reading:
    """A program and payloads, most of which fit it; one call in eight has a mistake."""
    fields = rng.randrange(6)
    code = field_program(rng, fields)
    sized = rng.random() < 0.2 and all(op in (0, 1, 2, 3, 4, 7, 8) for op in code[: 8 * fields : 8])
    size = sum(code[1 : 8 * fields : 8]) + sum(code[2 : 8 * fields : 8]) if sized else -1
    record = filled(rng, fields)
    if rng.random() < 0.125:
        match rng.randrange(4):
            case 0 if fields:
                record = Objects(record.cls, record.setters[1:])
            case 1:
                del code[rng.randrange(len(code) + 1) :]
            case 2 if fields:
                code[8 * rng.randrange(fields) + rng.randrange(3, 7)] = rng.choice((40, 1 << 40))
            case _:
                fields += rng.choice((1, 1 << 40))
    made = Reading(record, code, [*PARTS], fields, size, b"", [], [])
    lengths = rng.choice((5, 60, 300)), rng.randrange(8)
    return _with_payloads(made, [_drawn_bytes(rng, lengths[0]) for _ in range(lengths[1])], rng)


def _drawn_bytes(rng: Random, most: int) -> bytes:
    """Small numbers above all: as counts they are few, as text they end soon."""
    return bytes(rng.choice((0, 0, 1, 2, 65, rng.randrange(256))) for _ in range(rng.randrange(most)))


def _with_payloads(made: Reading, payloads: list[bytes], rng: Random) -> Reading:
    """The program with these payloads, most of them cut where it comes to its end."""
    engine = interpreted()
    buf, starts, ends = bytearray(), [], []
    for data in payloads:
        place = engine.slots_module.ReadPlace(data, [0] * engine.slots_module.COUNTS, engine.shared())
        with suppress(Exception):
            shape = engine.slots_module.SlottedClass(made.record.cls, made.record.setters)
            engine.program(made).record(place, shape, None, 0, made.fields, len(data))
            if place.pos >= 0 and rng.random() < 0.8:
                data = data[: place.pos]
        buf += rng.randbytes(rng.randrange(3))
        starts.append(len(buf))
        buf += data
        ends.append(len(buf))
    return attrs.evolve(made, buf=bytes(buf + rng.randbytes(2)), starts=starts, ends=ends)


class Named:
    """As a kind of event: its key has a name."""

    def __init__(self, name: str) -> None:
        self.key = self
        self.name = name


def making(rng: Random) -> Making:
    """Events of several kinds and threads, more of both than are recognized at once; one call in eight is wrong."""
    rows = rng.choice((1, 5, 40, 300))
    every = [Named(f"Kind{number}") for number in range(rng.choice((1, 3, 200)))]
    threads = [rng.choice((0, 1, 64, 65, rng.randrange(300), 1 << 40, (1 << 64) - 1)) for _ in range(rows)]
    times = [rng.choice((0, -1, rng.randrange(1 << 62), -(1 << 63), (1 << 63) - 1)) for _ in range(rows)]
    exact = None if rng.random() < 0.7 else [anything(rng) for _ in range(rows)]
    kinds = [rng.randrange(len(every)) for _ in range(rows)]
    first = rng.randrange(rows)
    payloads = [anything(rng) for _ in range(rng.randrange(rows - first + 1))]
    if rng.random() < 0.125:
        match rng.randrange(5):
            case 0:
                payloads += [None] * (rows + 1)
            case 1:
                kinds[rng.randrange(rows)] = 1 << 40
            case 2:
                del times[rows // 2 :]
            case 3:
                del threads[rows // 2 :]
            case _ if exact:
                del exact[rows // 2 :]
    event = Objects(Seven, [*slots(Seven).values()][:6])
    return Making(event, every, kinds, times, exact, threads, rng.random() < 0.5, first, payloads)


def contents(made: Any) -> Any:
    """Of objects, and of those inside: the class and what stands in the slots, `...` where nothing does."""
    if isinstance(made, tuple | list):
        return [contents(one) for one in made]
    if type(made) not in (*CLASSES, Pair, Seven):
        return made
    return (type(made), *(contents(getattr(made, name, ...)) for name in slots(type(made))))


def alike(one: Any, other: Any) -> bool:
    """Whether these contents are the same: the very same objects, or equal ones of the same type."""
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(alike, one, other))
    return one is other or (type(one) is type(other) and repr(one) == repr(other))

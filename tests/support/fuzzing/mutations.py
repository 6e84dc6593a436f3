"""Random changes to a trace: of its bytes, of its structure (blocks and their sizes), and of what it means.

Seeded and fast; knows no reader, and judges nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from clrevents.encode.values import NO_GUID, EventRecord, MetadataStyle
from clrevents.schema.codes import ARRAYS, TypeCode
from clrevents.schema.dynamic import FieldDescription
from plain_headers import lengths
from plain_trace import GENERATIONS, PlainTrace, changed

INTERESTING: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 19, 20, 22, 24, 25, 48, 64, 127, 128, 129, 255)
NUMBERS: Final = (
    0,
    1,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7FFFFFFFFFFFFFFF,
    1 << 63,
    (1 << 64) - 1,
    1 << 24,
    1 << 16,
)


def mutate(data: bytearray, others: list[bytes], rng: random.Random, largest: int) -> bytearray:
    """A few random changes, some of which take the structure of a trace into account."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        if not data:
            data = bytearray(rng.choice(others))
        rng.choice(MUTATIONS)(data, others, rng)
    del data[largest:]
    return data


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _flip(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    if data:
        data[_place(data, rng)] ^= 1 << rng.randrange(8)


def _byte(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    if data:
        data[_place(data, rng)] = rng.choice(INTERESTING) if rng.random() < 0.7 else rng.randrange(256)


def _number(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    width, code = rng.choice(((2, "H"), (4, "I"), (8, "Q")))
    at = _place(data, rng)
    if at + width <= len(data):
        value = rng.choice(NUMBERS) if rng.random() < 0.6 else rng.choice(INTERESTING)
        struct.pack_into("<" + code, data, at, value & ((1 << 8 * width) - 1))


def _add(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    if at + 4 <= len(data):
        (value,) = struct.unpack_from("<I", data, at)
        struct.pack_into("<I", data, at, (value + rng.randrange(-16, 17)) & 0xFFFFFFFF)


def _varint(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    data[at : at + rng.choice((0, 1, 2))] = bytes([0x80 | rng.randrange(128)] * rng.randrange(1, 12)) + b"\x01"


def _length(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    """Something says of itself that it is a little too long or too short, or much."""
    found = lengths(bytes(data))
    if found:
        # Of which there is one is as likely as of which there are many.
        what = rng.choice(sorted({length.what for length in found}))
        _, at, width, end = rng.choice([length for length in found if length.what == what])
        was, left = int.from_bytes(data[at : at + width], "little"), end - at - width
        by = rng.choice((-64, -8, -2, -1, 1, 2, 8, 64))
        new = rng.choice((was + by, was + by, left + by, left, rng.choice(INTERESTING), -1, 1 << 31))
        data[at : at + width] = (new & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def _drop(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    del data[at : at + rng.choice((1, 2, 4, 8, 24, 100, 1000))]


def _insert(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 60)))


def _zero(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    size = min(rng.choice((2, 8, 40, 300)), len(data) - at)
    data[at : at + size] = bytes(size)


def _repeat(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    piece = bytes(data[at : at + rng.choice((4, 30, 200, 1000))])
    to = _place(data, rng)
    data[to:to] = piece


def _splice(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    other = rng.choice(others)
    at = rng.randrange(len(other)) if other else 0
    data[_place(data, rng) :] = other[at:]


def _cut(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    del data[_place(data, rng) :]


def _resize_block(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    """Change the content of one block and adjust its size."""
    blocks = list(find_blocks(data))
    if not blocks:
        return
    size_at, start, end, wide = rng.choice(blocks)
    content = bytearray(data[start:end])
    for _ in range(rng.choice((1, 2, 4))):
        rng.choice(MUTATIONS[:9])(content, others, rng)
    if wide:
        aligned = data[:start]
        rest = bytes(data[end:])
        struct.pack_into("<i", aligned, size_at, len(content))
        data[:] = aligned + content + rest
    else:
        kind = data[size_at + 3]
        data[size_at:end] = struct.pack("<I", (len(content) & 0xFFFFFF) | kind << 24) + content


def _swap_blocks(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    """Replace the content of one block with that of another."""
    blocks = list(find_blocks(data))
    if len(blocks) < 2:
        return
    (_, start, end, _), (size_at, to, stop, wide) = rng.sample(blocks, 2)
    content = data[start:end]
    if wide:
        struct.pack_into("<i", data, size_at, len(content))
        data[to:stop] = content
    else:
        kind = data[rng.choice(blocks)[0] + 3]
        data[size_at:stop] = struct.pack("<I", (len(content) & 0xFFFFFF) | (kind & 0xF) << 24) + content


def find_blocks(data: bytearray) -> Iterator[tuple[int, int, int, bool]]:
    """(position of the size, start and end of the content, whether the size has four bytes) of each valid block."""
    if data[:8] == b"Nettrace" and data[8:12] == bytes(4):
        pos = 20
        while pos + 4 <= len(data):
            size = int.from_bytes(data[pos : pos + 3], "little")
            if pos + 4 + size > len(data):
                return
            yield pos, pos + 4, pos + 4 + size, False
            pos += 4 + size
        return
    pos = data.find(b"Block\x06")
    while pos >= 0:
        size_at = pos + 6
        if size_at + 4 > len(data):
            return
        size = int.from_bytes(data[size_at : size_at + 4], "little", signed=True)
        start = size_at + 4 + -(size_at + 4) % 4
        if size >= 0 and start + size <= len(data):
            yield size_at, start, start + size, True
        pos = data.find(b"Block\x06", pos + 6)


MUTATIONS: Final[tuple[Callable[[bytearray, list[bytes], random.Random], None], ...]] = (
    _flip,
    _byte,
    _byte,
    _number,
    _add,
    _varint,
    _drop,
    _insert,
    _zero,
    _repeat,
    _splice,
    _cut,
    _length,
    _length,
    _length,
    _length,
    _length,
    _length,
    _resize_block,
    _resize_block,
    _resize_block,
    _swap_blocks,
)


def meant(trace: PlainTrace, rng: random.Random) -> bytes:
    """The trace with a few changes of what it says, in some generation of the format."""
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        if trace.events:
            rng.choice(MEANINGS)(trace, rng)
    for generation in rng.sample(GENERATIONS, len(GENERATIONS)):
        try:
            return trace.written(generation)
        except ValueError:
            # What this generation cannot say, another one can.
            continue
    return b""


def _some(trace: PlainTrace, rng: random.Random) -> list[int]:
    """Places of events: one, all of a kind, a stretch, or a few."""
    count = len(trace.events)
    match rng.randrange(4):
        case 0:
            return [rng.randrange(count)]
        case 1:
            kind = rng.choice(trace.events).metadata_id
            return [place for place, event in enumerate(trace.events) if event.metadata_id == kind]
        case 2:
            first = rng.randrange(count)
            return list(range(first, min(first + rng.choice((3, 20, 200)), count)))
        case _:
            return sorted(rng.sample(range(count), min(count, rng.choice((2, 5, 30)))))


def _each(trace: PlainTrace, rng: random.Random, change: Callable[[EventRecord], EventRecord]) -> None:
    for place in _some(trace, rng):
        trace.events[place] = change(trace.events[place])


def _swap_times(trace: PlainTrace, rng: random.Random) -> None:
    """What stopped last starts last: the events of a stretch in reverse, or two of them the other way round."""
    places = _some(trace, rng)
    times = [trace.events[place].time for place in places]
    for place, time in zip(places, reversed(times), strict=True):
        trace.events[place] = changed(trace.events[place], time=time)
    trace.events.sort(key=lambda event: event.time)


def _jump(trace: PlainTrace, rng: random.Random) -> None:
    """The clock jumps, forwards or backwards, for good or for a while."""
    by = rng.choice((1, -1)) << rng.randrange(63)
    _each(trace, rng, lambda event: changed(event, time=(event.time + by + (1 << 63)) % (1 << 64) - (1 << 63)))


def _stand(trace: PlainTrace, rng: random.Random) -> None:
    time = rng.choice(trace.events).time
    _each(trace, rng, lambda event: changed(event, time=time))


def _threads(trace: PlainTrace, rng: random.Random) -> None:
    """Every event on a thread of its own, all on one, or on numbers that no thread has."""
    known = rng.choice(trace.events).thread_id
    draw = rng.choice((lambda: rng.randrange(1 << 31), lambda: known, lambda: rng.choice(NUMBERS)))
    _each(trace, rng, lambda event: changed(event, thread_id=draw()))


def _absent_stack(trace: PlainTrace, rng: random.Random) -> None:
    number = rng.choice((1, 7777, 0x7FFFFFFF, 0xFFFFFFFF))
    _each(trace, rng, lambda event: changed(event, stack_id=number))


def _absent_label(trace: PlainTrace, rng: random.Random) -> None:
    number = rng.choice((1, 4, 7777, 0x7FFFFFFF, 0xFFFFFFFF))
    _each(trace, rng, lambda event: changed(event, label_id=number))


def _stacks(trace: PlainTrace, rng: random.Random) -> None:
    """A stack that repeats itself, that is another's, cut, upside down, or endless."""
    other = rng.choice(trace.events).stack
    word = trace.header.pointer_size

    def turned(stack: bytes) -> bytes:
        words = [stack[at : at + word] for at in range(0, len(stack), word)]
        return b"".join(reversed(words))

    change = rng.choice(
        (lambda s: s * 2, lambda s: other, lambda s: s[: len(s) // 2], turned, lambda s: (s or bytes(8)) * 40)
    )
    _each(trace, rng, lambda event: changed(event, stack=change(bytes(event.stack))[:4096]))


def _field(trace: PlainTrace, rng: random.Random) -> None:
    """A number of the payload becomes an odd one, that of a neighbour in it (its own parent), or another event's."""
    width = rng.choice((2, 4, 4, 8, 8))
    slot, other = rng.randrange(16), rng.randrange(16)
    same = rng.choice((None, None, rng.choice(NUMBERS), rng.choice(INTERESTING)))

    def change(event: EventRecord) -> EventRecord:
        data = bytearray(event.payload)
        at = slot * width
        if at + width > len(data):
            return event
        value = rng.choice((*NUMBERS, *INTERESTING)) if same is None else same
        piece = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        if (mode := rng.randrange(4)) == 0:
            piece = bytes(data[other * width : (other + 1) * width])
        elif mode == 1:
            piece = bytes(rng.choice(trace.events).payload[at : at + width])
        if len(piece) == width:
            data[at : at + width] = piece
        return changed(event, payload=bytes(data))

    _each(trace, rng, change)


def _payload(trace: PlainTrace, rng: random.Random) -> None:
    """A payload is cut, doubled, another event's, or has a byte changed."""

    def change(event: EventRecord) -> EventRecord:
        data = bytearray(event.payload)
        match rng.randrange(4):
            case 0:
                del data[rng.randrange(len(data) + 1) :]
            case 1:
                data += data[:4000]
            case 2:
                data = bytearray(rng.choice(trace.events).payload)
            case _ if data:
                data[rng.randrange(len(data))] = rng.choice(INTERESTING)
        return changed(event, payload=bytes(data))

    _each(trace, rng, change)


def _kind(trace: PlainTrace, rng: random.Random) -> None:
    """Events become those of another kind, or of one that is described nowhere."""
    number = rng.choice((*trace.kinds, 60_000))
    _each(trace, rng, lambda event: changed(event, metadata_id=number))


def _described(trace: PlainTrace, rng: random.Random) -> None:
    """A kind takes the name, id, version or provider of another."""
    if len(trace.kinds) > 1:
        one, other = rng.sample(sorted(trace.kinds), 2)
        name = rng.choice(("provider", "id", "version", "name", "fields", "opcode", "keywords"))
        trace.kinds[one] = replace(trace.kinds[one], **{name: getattr(trace.kinds[other], name)})


def layout(trace: PlainTrace, rng: random.Random) -> None:
    """Kinds are described in the other layout, with bytes that readers skip, or with fields where they had none."""
    told = tuple(FieldDescription(f"f{place}", TypeCode.INT32) for place in range(rng.choice((0, 1, 2))))
    slack = {name: bytes(rng.choice((0, 0, 1, 8))) for name in ("opcode_slack", "field_slack", "parameter_slack")}
    style = MetadataStyle(rng.choice(("auto", "v1", "v2", "v2")), **slack)
    for number in rng.sample(sorted(trace.kinds), min(len(trace.kinds), rng.choice((1, 1000)))):
        described = trace.kinds[number]
        trace.kinds[number] = replace(described, style=style, fields=described.fields or told)


def _lost(trace: PlainTrace, rng: random.Random) -> None:
    """Events are gone."""
    for place in reversed(_some(trace, rng)):
        del trace.events[place]


def _again(trace: PlainTrace, rng: random.Random) -> None:
    """Events happen twice, or many times."""
    places = _some(trace, rng)
    again = [trace.events[place] for place in places] * rng.choice((1, 1, 2, 300 // len(places) + 1))
    at = rng.choice((places[-1] + 1, rng.randrange(len(trace.events) + 1)))
    trace.events[at:at] = again


def _activities(trace: PlainTrace, rng: random.Random) -> None:
    """Activities that are each other's parents, their own, or all the same."""
    one, other = rng.choice(trace.events).activity_id, rng.choice(trace.events).activity_id
    pair = rng.choice(((one, one), (one, other), (other, one), (NO_GUID, one), (one, NO_GUID)))
    _each(trace, rng, lambda event: changed(event, activity_id=pair[0], related_activity_id=pair[1]))


def _processes(trace: PlainTrace, rng: random.Random) -> None:
    for event in trace.events:
        trace.processes[event.thread_id] = rng.choice((1, 2, rng.randrange(1 << 31), 0))


def _header(trace: PlainTrace, rng: random.Random) -> None:
    change: dict[str, int] = rng.choice(
        (
            {"frequency": rng.choice((1, 2, 1000, 10**9, (1 << 62) + 1))},
            {"sync_qpc": rng.choice((0, -(1 << 63), (1 << 63) - 1, rng.choice(trace.events).time))},
            {"pointer_size": 12 - trace.header.pointer_size},
            {rng.choice(("frequency", "process_id", "processors")): rng.choice((*NUMBERS, -1))},
        )
    )
    trace.header = replace(trace.header, **change)  # type: ignore[arg-type]


def _many_kinds(trace: PlainTrace, rng: random.Random) -> None:
    """Each event, many times, of a kind of its own, of which a few or all are described."""
    count = rng.choice((30, 30, 300, 300, 1500))
    like = rng.choice(trace.events)
    described = trace.kinds.get(like.metadata_id)
    first = max((*trace.kinds, 0)) + 1
    share = rng.choice((0.0, 0.5, 1.0))
    odd = rng.randrange(4)
    for number in range(first, first + count):
        if described is not None and rng.random() < share:
            named = {"id": number & 0xFFFF} if odd == 0 else {"name": f"E{number % 200}"} if odd == 1 else {}
            trace.kinds[number] = replace(described, metadata_id=number, **named)
    events = [changed(like, metadata_id=number) for number in range(first, first + count)]
    at = rng.randrange(len(trace.events) + 1)
    trace.events[at:at] = events


def _many_threads(trace: PlainTrace, rng: random.Random) -> None:
    """Events on many threads, of many processes, with gaps in none of them."""
    like, first = rng.choice(trace.events), rng.randrange(1, 1 << 20)
    numbers = range(first, first + rng.choice((20, 200, 1000)))
    many = rng.random() < 0.3
    trace.events += [changed(like, thread_id=number, capture_thread_id=None) for number in numbers]
    for number in numbers if many else ():
        trace.processes[number] = number


def _many_values(trace: PlainTrace, rng: random.Random) -> None:
    """Many events that differ in their stack, their activity, or a number of their payload."""
    like = rng.choice(trace.events)
    word = trace.header.pointer_size
    deep = rng.choice((1, 1, 3, 130, 400))
    base = rng.randbytes(16)
    what = rng.randrange(3)
    slot = 4 * rng.randrange(8)
    for number in range(rng.choice((40, 300, 1000 // deep + 1))):
        event = changed(like, time=like.time + number if like.time < 1 << 62 else like.time)
        if what == 0:
            frames = ((0x10000 + number * deep + at).to_bytes(word, "little") for at in range(deep))
            event = changed(event, stack=b"".join(frames))
        elif what == 1:
            event = changed(event, activity_id=base[:8] + number.to_bytes(8, "little"))
        elif len(event.payload) >= slot + 4:
            payload = event.payload[:slot] + number.to_bytes(4, "little") + event.payload[slot + 4 :]
            event = changed(event, payload=payload)
        trace.events.append(event)


def _large_description(trace: PlainTrace, rng: random.Random) -> None:
    """A description with many fields, deep ones, or long names."""
    number = rng.choice(sorted(trace.kinds)) if trace.kinds else 0
    if not number:
        return
    code = rng.choice((TypeCode.INT32, TypeCode.STRING, TypeCode.UINT8, TypeCode.INT64))
    match rng.randrange(4):
        case 0:
            fields = tuple(FieldDescription(f"f{place}", code) for place in range(rng.choice((10, 40, 300, 4097))))
        case 1:
            fields = (FieldDescription("in", code),)
            for level in range(rng.choice((2, 5, 31, 32, 33))):
                fields = (FieldDescription(f"o{level}", TypeCode.OBJECT, members=fields),)
        case 2:
            fields = (FieldDescription("n" * rng.choice((30, 300, 3000)), code),)
        case _:
            inner = FieldDescription("", code)
            for _ in range(rng.choice((1, 2, 31, 32))):
                inner = FieldDescription("", TypeCode.ARRAY, element=inner)
            fields = (FieldDescription("a", TypeCode.ARRAY, element=inner),)
    names = rng.choice(({}, {"name": "N" * rng.choice((30, 250, 260, 40_000))}, {"provider": "Some-Provider"}))
    trace.kinds[number] = replace(trace.kinds[number], fields=fields, **names)


def _other_types(trace: PlainTrace, rng: random.Random) -> None:
    """A kind that only its description tells of has fields of any types; its payloads may fit them or not."""
    number = rng.choice(trace.events).metadata_id
    if number not in trace.kinds:
        return
    plain = [code for code in TypeCode if code not in (*ARRAYS, TypeCode.OBJECT)]

    def field(name: str) -> FieldDescription:
        code = rng.choice((*plain, *ARRAYS, *ARRAYS))
        if code not in ARRAYS:
            return FieldDescription(name, code)
        return FieldDescription(name, code, element=FieldDescription("", rng.choice(plain)), count=rng.randrange(4))

    fields = tuple(field(f"f{place}") for place in range(rng.choice((1, 2, 2, 5))))
    trace.kinds[number] = replace(trace.kinds[number], provider="Some-Provider", name="Any", fields=fields)
    small = rng.choice((4, 40, 40, 300))
    for place, event in enumerate(trace.events):
        if event.metadata_id == number:
            data = bytes(rng.choice((0, 0, 0, 1, 4, 8, 65, rng.randrange(256))) for _ in range(rng.randrange(small)))
            trace.events[place] = changed(event, payload=data)


def _long_payload(trace: PlainTrace, rng: random.Random) -> None:
    """A payload larger than most blocks, of itself or of one byte."""
    size = rng.choice((1000, 20_000, 65_600))
    fill = bytes((rng.choice((0, 1, 65, 255)),))
    place = rng.randrange(len(trace.events))
    payload = bytes(trace.events[place].payload)
    longer = (payload + fill * size) if rng.random() < 0.5 or not payload else (payload * (size // len(payload) + 1))
    trace.events[place] = changed(trace.events[place], payload=longer[:size])


def beyond(trace: PlainTrace, rng: random.Random) -> None:
    """An event says a number at the edge of what some generation can say, or beyond."""
    edge = 1 << rng.choice((7, 8, 14, 16, 21, 28, 31, 32, 35, 42, 63, 64))
    value = rng.choice((1, -1)) * (edge + rng.randrange(-1, 2))
    place = rng.randrange(len(trace.events))
    event = trace.events[place]
    match rng.randrange(6):
        case 5:
            event = changed(event, label_id=abs(value) | 1 << 13)
        case 0:
            event = changed(event, time=value)
        case 1:
            event = changed(event, thread_id=value)
        case 2:
            number = value
            trace.kinds[number] = replace(trace.kinds[event.metadata_id], metadata_id=number)
            event = changed(event, metadata_id=number)
        case 3:
            event = changed(event, stack=bytes(8 * min(abs(value), 8300)))
        case _:
            name = rng.choice(("id", "version", "opcode", "keywords", "level"))
            described = replace(trace.kinds[event.metadata_id], **{name: value})
            trace.kinds[event.metadata_id] = described
    trace.events[place] = event


MEANINGS: Final[tuple[Callable[[PlainTrace, random.Random], None], ...]] = (
    _swap_times,
    _swap_times,
    _jump,
    _stand,
    _threads,
    _absent_stack,
    _absent_label,
    _stacks,
    _field,
    _field,
    _field,
    _field,
    _payload,
    _kind,
    _described,
    layout,
    _lost,
    _lost,
    _again,
    _activities,
    _processes,
    _header,
    _many_kinds,
    _many_threads,
    _many_values,
    _large_description,
    _other_types,
    _other_types,
    _long_payload,
)

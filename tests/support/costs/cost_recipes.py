"""Streams made of random steps, each in any number: kinds, threads, stacks, labels, and events that reports read.

All containers; the events are those of the registry, with payloads drawn from their layouts. Seeded, small code, and
no trace is needed. Does not know what is costly.
"""

from __future__ import annotations

import functools
import io
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import costly
import costly_containers
import costly_reports
import costly_work
from asked_events import SHAPES, known_events
from clrevents.encode.netperf import NetPerf3Writer, NetPerf12Writer
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.schema.codes import ARRAYS, Forget, LabelKind, TypeCode
from clrevents.schema.dynamic import ClassCache, Variant
from clrevents.schema.registry import DEFAULT, SAMPLE
from clrevents.schema.wire import (
    AnsiZ,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)
from clrevents.testing.builder import Format

_COUNTS: Final = (0, 1, 1, 2, 3, 5, 20, 100, 400)
_CODES: Final = tuple(sorted({*TypeCode} - {TypeCode.NULL}))
_BASE: Final = 0x7F0000000000


def families(rng: random.Random) -> bytes:
    """One of the streams that once cost too much, or of events that are asked for together, in a random size."""
    n = rng.choice((3, 10, 30, 100, 300, 1000))
    m = rng.choice((1, 3, 10, 30, 100))
    if rng.random() < 0.3:
        asked = known_events()[rng.choice(sorted(known_events()))]
        some = rng.sample(asked, min(len(asked), rng.choice((1, 3, 8))))
        return costly_reports.asked_in_turn(some, n, rng.random() < 0.7, rng.random() < 0.5)
    if rng.random() < 0.4:
        return rng.choice(_WORK)(min(n, 300), rng.choice(_BUILT))
    make = rng.choice(_FAMILIES)
    return make(n, m)


_BUILT: Final[tuple[Format, ...]] = ("nettrace4", "nettrace6")
_WORK: Final[tuple[Callable[[int, Format], bytes], ...]] = (
    costly_work.nested_activities,
    costly_work.one_activity_id,
    costly_work.open_activities,
    costly_work.task_chain,
    costly_work.tasks_of_deep_stacks,
    costly_work.awaits_of_one_task,
    costly_work.work_items,
    costly_work.open_requests,
    costly_work.connections,
    costly_work.many_counters,
    lambda n, format: costly_work.many_tags(n // 30, format),
    costly_work.many_texts,
    costly_work.recursive_stacks,
)


_FAMILIES: Final[tuple[Callable[[int, int], bytes], ...]] = (
    lambda n, m: costly.located_fields(min(n, 300), 10 * m),
    lambda n, m: costly.located_array(n, 10 * m),
    lambda n, m: costly.located_in_order(min(n, 300), m),
    lambda n, m: costly.long_override_list(n, 10 * m),
    lambda n, m: costly.long_label_list(n, 10 * m),
    lambda n, m: costly.short_label_lists(10 * n),
    lambda n, m: costly.small_blocks(n),
    lambda n, m: costly.small_blocks_of_four(n),
    lambda n, m: costly.many_threads(10 * n),
    lambda n, m: costly.many_threads_of_four(10 * n),
    lambda n, m: costly.wide_kinds(m, n),
    lambda n, m: costly.equal_names(n),
    lambda n, m: costly.null_columns(n, 10 * m),
    lambda n, m: costly.vast_method(n, 10 * m),
    lambda n, m: costly_containers.unchained_stacks(n),
    lambda n, m: costly_containers.distant_ends(n),
    lambda n, m: costly_containers.doubtful_events(n),
    lambda n, m: costly_containers.broken_records(n),
    lambda n, m: costly_reports.nested_spans(n),
    lambda n, m: costly_reports.crossing_spans(n),
    lambda n, m: costly_reports.equal_ids(n),
    lambda n, m: costly_reports.reversed_times(n),
    lambda n, m: costly_reports.threads_with_turns(n),
    lambda n, m: costly_reports.processes(n),
    lambda n, m: costly_reports.deep_stacks(n),
    lambda n, m: b"".join(costly_containers.endless(m)),
    lambda n, m: b"".join(costly_containers.many_kinds(n, m)),
    lambda n, m: b"".join(costly_containers.many_threads(1000, m)),
    lambda n, m: costly_containers.far([5 * i for i in range(n)]),
)


@functools.cache
def _registered() -> tuple[Any, ...]:
    return tuple(sorted(DEFAULT.events(), key=lambda info: (info.provider, info.id, info.version)))


@functools.cache
def _about_code() -> tuple[Any, ...]:
    """Kinds whose names say that they are about code: what symbols and most reports are made of."""
    words = ("Method", "Module", "Assembly", "Domain", "IL", "Loader", "R2R", "Tier", "Type")
    return tuple(info for info in _registered() if any(word in info.record.__name__ for word in words))


def payload(layout: Any, rng: random.Random, number: int, pointer_size: int = 8) -> bytes:
    """Bytes that fit a layout. `number` is the event's, from which ids and addresses may be made."""
    bound = layout.bind(pointer_size)
    counters = {f.type.counted_by for f in bound.fields if f.type.counted_by is not None}
    counts: dict[str, int] = {}
    out = []
    for field in bound.fields:
        wire = field.type
        if field.name in counters:
            counts[field.name] = rng.choice(_COUNTS) & (1 << 8 * wire.number.size - 1) - 1
            out.append(counts[field.name].to_bytes(wire.number.size, "little"))
        elif wire.counted_by is not None:
            element = getattr(wire, "element", None)
            n = counts[wire.counted_by]
            out.append(bytes(n) if element is None else b"".join(_value(element, rng, number) for _ in range(n)))
        else:
            out.append(bytes(field.pad) + _value(wire, rng, number))
    return b"".join(out)


def _value(wire: WireType, rng: random.Random, number: int) -> bytes:
    if wire.number is not None:
        size = wire.number.size
        value = rng.choice(
            (0, 1, 2, 3, number, number * 16, rng.randrange(64), _BASE + 64 * number, rng.getrandbits(64))
        )
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    match wire:
        case Utf16Z():
            return _text(rng, number).encode("utf-16-le") + b"\0\0"
        case AnsiZ():
            return _text(rng, number).encode() + b"\0"
        case StructType():
            return payload(wire.record.__layout__, rng, number)  # type: ignore[attr-defined]
        case VarIntType():
            return bytes((number & 127 | 128, number >> 7 & 127))
        case PrefixedType():
            n = rng.choice((0, 1, 5, 50))
            return struct.pack("<H", n) + b"".join(_value(wire.element, rng, number) for _ in range(n))
        case FixedArrayType():
            return b"".join(_value(wire.element, rng, number) for _ in range(wire.count))
        case LocatedType() | CountedType():
            return bytes(4)
        case _:
            return number.to_bytes(8, "little") * 2


def _text(rng: random.Random, number: int) -> str:
    return rng.choice(
        ("", "a", f"n{number}", "System.Private.CoreLib", f"/usr/lib/m{number}.dll", "T`1[[x]]" * 9, "<>" * 60)
    )


def _field(rng: random.Random, number: int, depth: int = 0) -> FieldDescription:
    code = rng.choice(_CODES)
    name = rng.choice(("x", f"f{number}", f"f{number}", ""))
    if code == TypeCode.OBJECT:
        members = () if depth > 2 else tuple(_field(rng, i, depth + 1) for i in range(rng.choice((0, 1, 3, 10))))
        return FieldDescription(name, code, None, members)
    if code in ARRAYS:
        element = FieldDescription("", TypeCode.INT32) if depth > 2 else _field(rng, 0, depth + 1)
        return FieldDescription(name, code, element, count=rng.choice((0, 1, 3, 300, 65535)))
    return FieldDescription(name, code)


@functools.cache
def _identity(info: Any) -> tuple[str, int, int]:
    return info.provider, info.id, info.version


@functools.cache
def _described() -> tuple[tuple[str, int, str, tuple[FieldDescription, ...], Any], ...]:
    """These, each with its layout."""
    codes = {"$": TypeCode.STRING, "#": TypeCode.DOUBLE}
    made, classes = [], ClassCache(len(SHAPES))
    for provider, id, name, names in SHAPES:
        fields = tuple(
            FieldDescription(field.lstrip("$#"), codes.get(field[0], TypeCode.INT64)) for field in names.split()
        )
        made.append((provider, id, name, fields, classes.layout(fields, Variant())))
    return tuple(made)


_Piece: TypeAlias = tuple[MetadataRecord, Callable[[random.Random, int], bytes]]


def _kinds(rng: random.Random) -> list[_Piece]:
    """Some kinds of event, each with what makes its payloads."""
    found: list[_Piece] = []
    way = rng.random()
    count = rng.choice((1, 2, 3, 8, 30, 200))
    for number in range(1, count + 1):
        if way < 0.25:
            provider, event_id, name, fields, layout = rng.choice(_described())
            described = MetadataRecord(number, provider, event_id, 0, name, level=4, fields=fields)
            found.append((described, lambda r, n, layout=layout: payload(layout, r, n)))  # type: ignore[misc]
            continue
        if way < 0.8:
            info = rng.choice(_registered() if way < 0.5 else _about_code())
            provider, event_id, version = _identity(info)
            layout = info.record.__layout__
            found.append(
                (
                    MetadataRecord(number, provider, event_id, version, keywords=info.keywords, level=info.level),
                    lambda r, n, layout=layout: payload(layout, r, n),  # type: ignore[misc]
                )
            )
            continue
        fields = tuple(_field(rng, i) for i in range(rng.choice((0, 1, 2, 5, 30, 200))))
        length = rng.choice((0, 1, 8, 40, 1000))
        found.append(
            (
                MetadataRecord(number, f"P{number}", number & 0xFFFF, 0, f"E{number}", fields=fields),
                lambda r, n, length=length: r.randbytes(length) if r.random() < 0.3 else bytes(length),  # type: ignore[misc]
            )
        )
    if rng.random() < 0.5:
        sample = MetadataRecord(count + 1, SAMPLE, 0, 0)
        found.append((sample, lambda r, n: struct.pack("<I", r.choice((1, 2, 2, 0)))))
    return found


def recipe(rng: random.Random, largest: int = 60_000) -> bytes:
    """A new stream of about `largest` bytes at most."""
    make = rng.choice((_six, _six, _four, _four, _netperf3, _netperf12))
    return make(rng, rng.choice((2000, largest // 8, largest)))


def _many(rng: random.Random, room: int, each: int) -> int:
    most = max(room // max(each, 1), 1)
    return min(most, rng.choice((1, 2, 5, 20, 100, 500, 2000, most)))


def _stack(rng: random.Random, number: int) -> list[int]:
    depth = rng.choice((0, 1, 3, 10, 60))
    return [_BASE + 64 * rng.choice((number, depth, i, rng.randrange(1000))) for i in range(depth)]


def _payloads(rng: random.Random, kinds: Sequence[_Piece], count: int, room: int) -> list[tuple[int, bytes]]:
    """Numbers of kinds with payloads: of one kind, or in turn."""
    some = [rng.choice(kinds) for _ in range(rng.choice((1, 1, 2, 5)))]
    fixed = rng.random() < 0.4
    made: list[tuple[int, bytes]] = []
    known: dict[int, bytes] = {}
    for number in range(count):
        described, make = some[number % len(some)]
        data = known.get(described.metadata_id) if fixed else None
        if data is None:
            data = known[described.metadata_id] = make(rng, number)
        room -= len(data) + 6
        if room < 0 and made:
            break
        made.append((described.metadata_id, data[:60_000]))
    return made


def _header(rng: random.Random) -> TraceHeader:
    return TraceHeader(sync_qpc=rng.choice((0, 1, 10**6)), frequency=rng.choice((10**9, 10**7, 1)), process_id=5)


def _six(rng: random.Random, room: int) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink, _header(rng))
    kinds = _kinds(rng)
    writer.metadata(described for described, _ in kinds)
    writer.threads([ThreadRow(1, 1, 5)])
    threads, stacks, labels, tick = 1, 0, 0, 0
    for _ in range(rng.choice((1, 3, 10, 100))):
        left = room - writer.offset
        if left <= 0:
            break
        match rng.choice(("events", "events", "events", "threads", "stacks", "labels", "point", "kinds", "remove")):
            case "events":
                made = _payloads(rng, kinds, _many(rng, left, 8), left)
                step = rng.choice((0, 1, 1, 1000, -1))
                events = []
                for kind, data in made:
                    tick += step
                    thread, stack, label = rng.randint(1, threads), rng.randint(0, stacks), rng.randint(0, labels)
                    events.append(EventRecord(kind, tick, thread, data, stack_id=stack, label_id=label))
                writer.events(events)
            case "threads":
                count = _many(rng, left, 10)
                names = rng.random() < 0.5
                writer.threads(
                    ThreadRow(threads + i, i, rng.choice((5, i)), f"t{i}" if names else None) for i in range(count)
                )
                threads += count - 1
            case "stacks":
                made_stacks = [_stack(rng, i) for i in range(_many(rng, left, 60))]
                writer.stacks(stacks + 1, made_stacks)
                stacks += len(made_stacks)
            case "labels":
                lists = [_labels(rng, i) for i in range(_many(rng, left, 30))]
                writer.labels(labels + 1, lists)
                labels += len(lists)
            case "point":
                numbers = {i: rng.choice((1, 5, i)) for i in range(_many(rng, left, 3))} if rng.random() < 0.5 else None
                flags = rng.choice((Forget.NOTHING, Forget.NOTHING, Forget.THREADS, Forget.METADATA))
                writer.sequence_point(tick, numbers, flags)
                stacks = labels = 0
            case "kinds":
                writer.metadata(described for described, _ in kinds)
            case "remove":
                writer.remove_threads((i, 1) for i in range(1, _many(rng, left, 3)))
    writer.end()
    return sink.getvalue()


def _labels(rng: random.Random, number: int) -> list[Label]:
    every: list[Callable[[], Label]] = [
        lambda: Label(LabelKind.ACTIVITY_ID, number.to_bytes(16, "little")),
        lambda: Label(LabelKind.OPCODE, number & 255),
        lambda: Label(LabelKind.KEYWORDS, number),
        lambda: Label(LabelKind.LEVEL, number & 255),
        lambda: Label(LabelKind.VERSION, number & 255),
        lambda: Label(LabelKind.TEXT, "v" * rng.choice((1, 1, 300)), f"k{rng.randrange(10)}"),
        lambda: Label(LabelKind.NUMBER, number, f"n{number}"),
    ]
    return [rng.choice(every)() for _ in range(rng.choice((1, 1, 2, 5, 40)))]


def _four(rng: random.Random, room: int) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace4Writer(sink, _header(rng))
    kinds = [(_plain(described), make) for described, make in _kinds(rng)]
    writer.metadata([described for described, _ in kinds])
    stacks, tick = 0, 0
    for _ in range(rng.choice((1, 3, 10, 100))):
        left = room - writer.offset
        if left <= 0:
            break
        match rng.choice(("events", "events", "events", "stacks", "point", "kinds")):
            case "events":
                step, threads = rng.choice((0, 1, 1, 1000, -1)), rng.choice((1, 3, 1000))
                events = []
                for kind, data in _payloads(rng, kinds, _many(rng, left, 8), left):
                    tick += step
                    thread, activity = rng.randint(1, threads), rng.choice((0, 0, 1, rng.randrange(1 << 32)))
                    stack = rng.randint(0, stacks)
                    events.append(
                        EventRecord(
                            kind, tick, thread, data, stack_id=stack, activity_id=activity.to_bytes(16, "little")
                        )
                    )
                writer.events(events)
            case "stacks":
                made = [_stack(rng, i) for i in range(_many(rng, left, 60))]
                writer.stacks(stacks + 1, made)
                stacks += len(made)
            case "point":
                numbers = (
                    {i: rng.choice((1, 5, i)) for i in range(_many(rng, left, 12))} if rng.random() < 0.5 else None
                )
                writer.sequence_point(tick, numbers)
                stacks = 0
            case "kinds":
                writer.metadata([described for described, _ in kinds])
    writer.end()
    return sink.getvalue()


def _plain(described: MetadataRecord) -> MetadataRecord:
    """Without fields of a type that only NetTrace 6 describes."""
    fields = tuple(f for f in described.fields if _old(f))
    return MetadataRecord(
        described.metadata_id, described.provider, described.id, described.version, described.name, fields=fields
    )


def _old(field: FieldDescription) -> bool:
    if field.code in ARRAYS and field.code != TypeCode.ARRAY:
        return False
    return all(map(_old, (*field.members, *([] if field.element is None else [field.element]))))


def _simple(described: MetadataRecord) -> MetadataRecord:
    """Without arrays, which NetPerf does not describe."""
    fields = tuple(f for f in described.fields if f.code not in ARRAYS and f.code != TypeCode.OBJECT)
    return MetadataRecord(
        described.metadata_id, described.provider, described.id, described.version, described.name, fields=fields
    )


def _netperf3(rng: random.Random, room: int) -> bytes:
    sink = io.BytesIO()
    return _netperf(rng, room, NetPerf3Writer(sink, _header(rng)), sink)


def _netperf12(rng: random.Random, room: int) -> bytes:
    sink = io.BytesIO()
    return _netperf(rng, room, NetPerf12Writer(sink, 2, _header(rng)), sink)


def _netperf(rng: random.Random, room: int, writer: NetPerf3Writer | NetPerf12Writer, sink: io.BytesIO) -> bytes:
    kinds = [(_simple(described), make) for described, make in _kinds(rng)]
    writer.metadata([described for described, _ in kinds])
    tick = 0
    for _ in range(rng.choice((1, 3, 10, 100))):
        left = room - writer.offset
        if left <= 0:
            break
        step, threads = rng.choice((0, 1, 1, 1000, -1)), rng.choice((1, 3, 1000))
        items: list[EventRecord | MetadataRecord] = []
        for kind, data in _payloads(rng, kinds, _many(rng, left, 60), left):
            tick += step
            items.append(EventRecord(kind, tick, rng.randint(1, threads), data, stack=_stack(rng, kind)))
        if rng.random() < 0.1:
            items = [described for described, _ in kinds for _ in range(rng.choice((1, 3)))]
        writer.events(items)
    writer.end()
    return sink.getvalue()

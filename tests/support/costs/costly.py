"""Streams that once cost far more than their size, each made for a size `n`; a whole trace is returned as bytes.

Small code, no files. Knows how a stream is made costly; what is counted, and how much is too much, is up to the tests.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Final

from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, Label, MetadataRecord, ThreadRow
from clrevents.errors import Limits
from clrevents.schema.codes import BlockKind, LabelKind, TypeCode
from clrevents.testing.builder import TraceBuilder
from in_memory import ended, six

_BLOCK: Final = (1 << 24) - 64
_BYTES: Final = FieldDescription("x", TypeCode.RELLOC, element=FieldDescription("", TypeCode.UINT8))


def _six(*steps: Callable[[NetTrace6Writer], object]) -> bytes:
    return six(lambda w: w.threads([ThreadRow(1, 1)]), *steps)


def _kind(number: int, *fields: FieldDescription) -> MetadataRecord:
    return MetadataRecord(number, "P", number, 0, "E", fields=fields)


def _events(count: int, payload: bytes = b"", label_id: int = 0) -> Callable[[NetTrace6Writer], object]:
    return lambda w: w.events([EventRecord(1, 5, 1, payload, label_id=label_id)] * count)


def located_fields(n: int, shared: int, events: int = 1) -> bytes:
    """Events with `n` located fields that all point at the same `shared` bytes after them."""
    fields = [FieldDescription(f"f{i}", TypeCode.DATALOC, element=_BYTES.element) for i in range(n)]
    payload = struct.pack("<HH", 4 * n, shared) * n + bytes(shared)
    return _six(lambda w: w.metadata([_kind(1, *fields)]), _events(events, payload))


def located_array(n: int, shared: int, events: int = 1) -> bytes:
    """Events with an array of `n` elements that all point at `shared` bytes after the array."""
    element = FieldDescription("", TypeCode.DATALOC, element=_BYTES.element)
    array = FieldDescription("x", TypeCode.ARRAY, element=element)
    payload = struct.pack("<H", n) + struct.pack("<HH", 2 + 4 * n, shared) * n + bytes(shared)
    return _six(lambda w: w.metadata([_kind(1, array)]), _events(events, payload))


def located_in_order(n: int, each: int) -> bytes:
    """As writers do it: `n` located fields of `each` bytes, end to end after the fields."""
    fields = [FieldDescription(f"f{i}", TypeCode.DATALOC, element=_BYTES.element) for i in range(n)]
    places = b"".join(struct.pack("<HH", 4 * n + i * each, each) for i in range(n))
    return _six(lambda w: w.metadata([_kind(1, *fields)]), _events(1, places + bytes(n * each)))


def long_override_list(overrides: int, events: int) -> bytes:
    """`events` events that share one label list with `overrides` opcodes and levels."""
    one = [Label(LabelKind.OPCODE, 7), Label(LabelKind.LEVEL, 3)] * (overrides // 2)
    return _six(lambda w: w.metadata([_kind(1)]), lambda w: w.labels(1, [one]), _events(events, label_id=1))


def long_label_list(pairs: int, events: int) -> bytes:
    """`events` events that share one label list with `pairs` names and numbers."""
    one = [Label(LabelKind.NUMBER, i, f"{i:x}") for i in range(pairs)]
    return _six(lambda w: w.metadata([_kind(1)]), lambda w: w.labels(1, [one]), _events(events, label_id=1))


def short_label_lists(n: int) -> bytes:
    """`n` label lists of two bytes, and an event with the last of them."""
    content = struct.pack("<II", 1, n) + bytes([LabelKind.OPCODE | 0x80, 9]) * n
    assert len(content) <= _BLOCK
    return _six(
        lambda w: w.metadata([_kind(1)]), lambda w: w.raw_block(BlockKind.LABELS, content), _events(1, label_id=n)
    )


def small_blocks(n: int) -> bytes:
    """`n` blocks of one event each, without a sequence point."""
    one = _six(lambda w: w.metadata([_kind(1)]))[:-4]
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink)
    before = len(sink.getvalue())
    writer.events([EventRecord(1, 5, 1)])
    return one + sink.getvalue()[before:] * n + bytes(4)


def small_blocks_of_four(n: int) -> bytes:
    """`n` blocks of one event each in NetTrace 4, without a sequence point."""
    writer = NetTrace4Writer(io.BytesIO())
    writer.metadata([_kind(1)])
    for number in range(n):
        writer.events([EventRecord(1, number, 1)])
    return ended(writer)


def many_threads(n: int) -> bytes:
    """A sequence point of `n` threads that have no rows, in NetTrace 6."""
    content = struct.pack("<qII", 9, 0, n) + b"\2\1" * n
    return _six(lambda w: w.metadata([_kind(1)]), lambda w: w.raw_block(BlockKind.SEQUENCE_POINT, content), _events(1))


def many_threads_of_four(n: int) -> bytes:
    """A sequence point of `n` different threads in NetTrace 4."""
    writer = NetTrace4Writer(io.BytesIO())
    writer.metadata([_kind(1)])
    writer.sequence_point(9, {1000 + i: 1 for i in range(n)})
    writer.events([EventRecord(1, 10, 1)])
    return ended(writer)


def wide_kinds(kinds: int, fields: int, names: int = 1) -> bytes:
    """An event of each of `kinds` kinds, each with `fields` fields of its own names; the events have `names` names."""
    described = [
        MetadataRecord(
            k,
            "P",
            k,
            name=f"E{k % names or ''}",
            fields=tuple(FieldDescription(f"k{k}f{i}", TypeCode.UINT8) for i in range(fields)),
        )
        for k in range(1, kinds + 1)
    ]
    steps = [lambda w, d=d: w.metadata([d]) for d in described]
    payload = bytes(fields)
    return _six(*steps, lambda w: w.events([EventRecord(k, 5, 1, payload) for k in range(1, kinds + 1)]))


def absent_fields(events: int, fields: int) -> bytes:
    """`events` events that end before the first of `fields` fields."""
    described = _kind(1, *(FieldDescription(f"x{i}", TypeCode.UINT8) for i in range(fields)))
    return _six(lambda w: w.metadata([described]), _events(events))


def nested(events: int) -> bytes:
    """`events` events without a byte, whose description has records in records, as deep as one may be."""
    field = FieldDescription("x", TypeCode.UINT32)
    for depth in range(Limits().nesting - 1):
        field = FieldDescription(f"r{depth}", TypeCode.OBJECT, members=(field, FieldDescription("y", TypeCode.UINT32)))
    return _six(lambda w: w.metadata([_kind(1, field)]), _events(events))


def long_names(events: int) -> bytes:
    """`events` events of two kinds without a byte: one has long names, the other a field with one."""
    names = MetadataRecord(1, "P" * 5000, 1, name="E" * 50_000)
    field = MetadataRecord(2, "P", 2, name="F", fields=(FieldDescription("x" * 60_000, TypeCode.UINT8),))
    made = [EventRecord(1, 5, 1), EventRecord(2, 5, 1, b"7")] * (events // 2)
    steps = [lambda w, at=at: w.events(made[at : at + 10_000]) for at in range(0, len(made), 10_000)]
    return _six(lambda w: w.metadata([names]), lambda w: w.metadata([field]), *steps)


def many_tables(kinds: int) -> bytes:
    """An event of each of `kinds` kinds, which have a name of their own and all the same field."""
    described = [
        MetadataRecord(k, "P", k & 0xFFFF, name=f"{k:x}", fields=(FieldDescription("x", TypeCode.UINT8),))
        for k in range(1, kinds + 1)
    ]
    steps = [lambda w, at=at: w.metadata(described[at : at + 1000]) for at in range(0, kinds, 1000)]
    events = [EventRecord(k, 5, 1, b"7") for k in range(1, kinds + 1)]
    return _six(*steps, *(lambda w, at=at: w.events(events[at : at + 1000]) for at in range(0, kinds, 1000)))


def null_columns(events: int, fields: int) -> bytes:
    """`events` events of one byte, whose name four further kinds have, of one event each, with `fields` fields each."""
    described = [
        MetadataRecord(
            k, "P", k, name="E", fields=tuple(FieldDescription(f"k{k}f{i}", TypeCode.UINT8) for i in range(fields))
        )
        for k in range(1, 5)
    ]
    steps = [lambda w, d=d: w.metadata([d]) for d in described]
    wide = [EventRecord(k, 5, 1, bytes(fields)) for k in range(1, 5)]
    tiny = _kind(5, FieldDescription("t", TypeCode.UINT8))
    return _six(*steps, lambda w: w.metadata([tiny]), lambda w: w.events(wide), _many(events))


def _many(events: int) -> Callable[[NetTrace6Writer], object]:
    def step(writer: NetTrace6Writer) -> None:
        for at in range(0, events, 10_000):
            writer.events([EventRecord(5, 6, 1, b"7")] * min(events - at, 10_000))

    return step


def equal_names(n: int) -> bytes:
    """One event whose description names all of its `n` fields alike."""
    fields = [FieldDescription("x", TypeCode.UINT8)] * n
    return _six(lambda w: w.metadata([_kind(1, *fields)]), _events(1, bytes(n)))


def empty_fields(n: int) -> bytes:
    """`n` events that have nothing but 4,000 objects without members."""
    fields = [FieldDescription(f"x{i}", TypeCode.OBJECT) for i in range(4000)]
    return _six(lambda w: w.metadata([_kind(1, *fields)]), _events(n))


def vast_method(methods: int, samples: int) -> bytes:
    """Samples above the last of `methods` small methods; one below claims all addresses up to 4 GiB beyond."""
    trace = TraceBuilder().thread(7).method_load("Vast", "Run", address=0x1000, size=(1 << 32) - 1)
    for n in range(methods):
        trace.method_load("Small", f"M{n}", address=0x100000 + 0x100 * n, size=0x10)
    for n in range(samples):
        trace.sample(0x100000 + 0x100 * (methods - 1 - n % methods) + 0x80)
    return trace.rundown().build()

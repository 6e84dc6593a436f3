"""Payloads of a whole batch → records straight from their bytes, and the events around them: the slots kernel.

A layout becomes a program, by which the kernel makes the same records as `record_decoder`; there is none where it has
no operation for a field. Leaves every inexact fit to `payload_decoder`, which alone decides what is a problem, and by
which the interpreted engine reads every payload.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from threading import RLock
from typing import Any, Final, Generic, TypeAlias, TypeVar
from uuid import UUID, SafeUUID

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.decode.kernels.engine import COMPILED, SLOTS, Ints, given, numbers_room, scratch, zeros
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.payload.record_decoder import converter
from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.wire import (
    ArrayType,
    BytesType,
    ByWriting,
    CountedType,
    FixedArrayType,
    PrefixedType,
    StructType,
    VarIntType,
    WireType,
)

T = TypeVar("T")
_KNOWN: Final[int] = SLOTS.KNOWN
_SHARED: Final[int] = SLOTS.SHARED
_NO_THREAD: Final = (1 << 64) - 1
COUNTS: Final[int] = SLOTS.COUNTS
UNKNOWN_ENTRY: Final[int] = SLOTS.UNKNOWN_ENTRY

# Few enough objects at once that they are still in the processor's cache when they are freed; where Python runs the
# loops, these cost more than the memory.
PORTION: Final = 1 << 8 if COMPILED else 1 << 12


class Slots(Generic[T]):
    """A slotted class whose objects are made without `__init__`."""

    def __init__(self, cls: type[T], names: Sequence[str]) -> None:
        self._cls = cls
        # What writes each slot, wherever in the class's ancestry it was defined.
        setters = [next(vars(c)[name] for c in cls.__mro__ if name in vars(c)) for name in names]
        self.shape: Any = SLOTS.SlottedClass(cls, setters) if COMPILED else None
        self._setters = [setter.__set__ for setter in setters]

    def of(self, count: int, columns: Sequence[Iterable[Any]]) -> list[T]:
        """Objects whose slots have the values of these columns."""
        objects = list(map(object.__new__, repeat(self._cls, count)))
        for setter, column in zip(self._setters, columns, strict=True):
            deque(map(setter, objects, column), maxlen=0)
        return objects


def program(code: list[int], parts: list[Any], fields: int, size: int | None) -> Any:
    """A layout for the kernel that reads payloads: see `slots`."""
    luck, runs = (zeros(len(code) // SLOTS.WIDTH) for _ in range(2))
    return SLOTS.FieldProgram(np.array(code, dtype=np.int64), parts, fields, -1 if size is None else size, luck, runs)


class BatchEvents(Generic[T]):
    """Makes the events of a batch, whose slots are (rows, row, time, thread, name, payload): see `slots`.

    `times` is a list where its numbers may exceed 64 bits. If `missing`, the largest thread id stands for none, which
    is -1.
    """

    def __init__(
        self,
        slots: Slots[T],
        every: list[Any],
        kinds: Ints,
        times: Ints | list[int],
        threads: NDArray[np.uint64],
        missing: bool,
    ) -> None:
        self._slots = slots
        self._every = every
        self._kinds = kinds
        self._times = times
        self._threads, self._missing = threads, missing
        if COMPILED:
            exact = times if isinstance(times, list) else None
            numbers = given(kinds), given(kinds if isinstance(times, list) else times), exact, given(threads), missing
            room = scratch(_KNOWN), scratch(_KNOWN), [None] * _KNOWN, [None] * _KNOWN
            self._kernel = SLOTS.EventFiller(slots.shape, every, *numbers, *room)

    def events(self, rows: object, first: int, payloads: list[Any]) -> list[T]:
        """The events of the rows from `first` on, which are the rows 0, 1, … of `rows`.

        Those of the last that nobody has but this object are filled again.
        """
        if COMPILED:
            events: list[T] = self._kernel.events(rows, first, payloads)
            return events
        count = len(payloads)
        part = slice(first, first + count)
        times, every = self._times[part], self._every
        names = [every[kind].key.name for kind in self._kinds[part].tolist()]
        threads = self._threads[part].tolist()
        if self._missing:
            threads = [-1 if thread == _NO_THREAD else thread for thread in threads]
        columns = (
            *(repeat(rows, count), range(count), times if isinstance(times, list) else times.tolist()),
            *(threads, names, payloads),
        )
        return self._slots.of(count, columns)


_UUIDS: Final = Slots(UUID, ("int", "is_safe"))
_UNITS: Final = {"bytes": 0, "utf-16": 2, "utf-8": 1}
_PREFIXED: Final = -1


class _Inexpressible(Exception):
    """Never leaves this module."""


@define(eq=False)
class _Writer:
    """Writes the fields of one layout, and behind them those of what is inside."""

    pointer_size: int
    code: list[int] = attrs.field(factory=list)
    parts: list[Any] = attrs.field(factory=list)
    counts: int = 0

    def fields(self, fields: tuple[BoundField, ...]) -> int:
        """Returns where they begin."""
        begin = len(self.code)
        self.code += [0] * (SLOTS.WIDTH * len(fields))
        counting = {field.type.counted_by for field in fields} - {None}
        kept: dict[str, int] = {}
        for place, field in enumerate(fields):
            if field.name in counting:
                kept[field.name] = self.counts
                self.counts += 1
            self.put(begin + SLOTS.WIDTH * place, field.type, field.pad, kept.get(field.name, -1), kept)
        return begin

    def put(self, at: int, wire: WireType, pad: int, keep: int, kept: dict[str, int]) -> None:
        """Write one field. Its number is kept at `keep` unless that is -1; `kept` has the places of others."""
        operation, least, *rest = wire.read_by(_Operation(self, keep, kept))
        self.code[at : at + SLOTS.WIDTH] = [operation, pad, least, *rest, *[0] * (SLOTS.WIDTH - 3 - len(rest))]

    def part(self, part: Any) -> int:
        """The place of an object that the kernel needs."""
        self.parts.append(part)
        return len(self.parts) - 1


@frozen
class _Operation(ByWriting[list[int]]):
    """One field: (operation, least size, a, b, …)"""

    writer: _Writer
    keep: int
    kept: dict[str, int]

    def other(self, wire: WireType) -> list[int]:
        raise _Inexpressible

    def plain(self, wire: WireType) -> list[int]:
        part, convert, number = self.writer.part, converter(wire), wire.number
        if wire.kind == "guid":
            return [SLOTS.GUID, 16, 0, part(_UUIDS.shape), part(SafeUUID.unknown)]
        if number is None:
            return [SLOTS.RAW, wire.fixed_size or 0, 0, part(convert)]
        if number.kind == "float":
            return [SLOTS.REAL, number.size]
        if number.kind == "bool":
            return [SLOTS.BOOL, number.size, self.keep]
        if convert is not None:
            return [SLOTS.CONVERTED, number.size, self.keep, part(convert), int(number.signed)]
        return [SLOTS.SIGNED if number.signed else SLOTS.UNSIGNED, number.size, self.keep]

    def terminated(self, unit: int) -> list[int]:
        return [SLOTS.TEXT16 if unit == 2 else SLOTS.TEXT8, unit]

    def varint(self, wire: VarIntType) -> list[int]:
        how = int(wire.signed)
        if wire.delta:
            how, self.writer.counts = 2 + self.writer.counts, self.writer.counts + 1
        return [SLOTS.NUMBER, 1, how]

    def record(self, wire: StructType) -> list[int]:
        if not fillable(wire.record):
            raise _Inexpressible
        fields = wire.layout.bind(self.writer.pointer_size).fields
        return [SLOTS.STRUCT, 0, self.writer.part(shape_of(wire.record)), self.writer.fields(fields), len(fields)]

    def counted(self, wire: CountedType | BytesType) -> list[int]:
        return self._array(wire, self.kept[wire.count])

    def prefixed(self, wire: PrefixedType) -> list[int]:
        return self._array(wire, _PREFIXED)

    def repeated(self, wire: FixedArrayType) -> list[int]:
        return self._array(wire, -2 - wire.count)

    def _array(self, wire: ArrayType | BytesType, how: int) -> list[int]:
        writer, least = self.writer, 2 if how == _PREFIXED else 0
        if isinstance(wire, BytesType) or wire.text:
            return [SLOTS.SPAN, least, how, _UNITS[wire.text], wire.unit_size]
        # At least one byte each, which bounds a declared count.
        smallest = max(wire.element.min_size(writer.pointer_size), 1)
        at = len(writer.code)
        writer.code += [0] * SLOTS.WIDTH
        writer.put(at, wire.element, 0, -1, {})
        return [SLOTS.ARRAY, least, how, at, smallest, int(wire.element.fixed_size == smallest)]


def fillable(record: type[Any]) -> bool:
    """Whether a record is nothing but its slots: its class does not hook into creation."""
    return not hasattr(record, "__attrs_post_init__")


def shape_of(record: Any) -> Any:
    """The slots of a record class for the kernel, which the class keeps: so they are freed with it."""
    known = vars(record).get("__shape__")
    if known is None:
        known = record.__shape__ = Slots(record, record.__fields__).shape
    return known


# Weakly: layouts described by a trace are freed with their trace.
_programs: weakref.WeakKeyDictionary[BoundLayout, Any] = weakref.WeakKeyDictionary()


def record_program(layout: BoundLayout) -> Any:
    """The program of a layout, made once; None if the kernel cannot read it."""
    program = _programs.get(layout, ...)
    if program is ...:
        program = _programs[layout] = _program(layout)
    return program


def _program(layout: BoundLayout) -> Any:
    writer = _Writer(layout.pointer_size)
    try:
        writer.fields(layout.fields)
    except _Inexpressible:
        return None
    if writer.counts > COUNTS:
        return None
    return program(writer.code, writer.parts, len(layout.fields), layout.fixed_size)


Objects: TypeAlias = list[Any]


class DirectRecords:
    """The payloads of a batch, and records of those that fit, read row by row (see `slots`); others are `singles`."""

    def __init__(
        self,
        buf: bytes,
        programs: list[Any],
        shapes: list[Any],
        entries: Any,
        kinds: Ints,
        starts: Ints,
        ends: Ints,
        layouts: dict[int, BoundLayout],
    ) -> None:
        self.fit = np.zeros(len(kinds), dtype=np.uint8)
        self._kinds = kinds
        self._layouts = layouts
        self._singles: dict[int, Any] = {}
        columns = map(given, (kinds, starts, ends))
        numbers, objects = (numbers_room(_SHARED) for _ in range(3)), ([None] * _SHARED for _ in range(2))
        room = SLOTS.SharedValues(*numbers, *objects), numbers_room(COUNTS)
        self._kernel = SLOTS.FittingPayloads(buf, programs, shapes, entries, *columns, self.fit, self._singles, *room)
        self._lock = RLock()

    def check(self, row: int) -> int:
        """Find out which payloads fit, from a row on; ends at the first whose kind is unknown, and returns it."""
        stopped: int = self._kernel.check(row, len(self._kinds))
        return stopped

    def put(self, row: int, payload: Any) -> None:
        """Add a payload that was read by itself; rows must ascend."""
        self._singles[row] = payload

    def read(self, first: int, last: int) -> Objects:
        """The payloads of these rows. Threads take turns: the kernel has one place for their counts."""
        with self._lock:
            payloads: Objects = self._kernel.read(first, last)
        return payloads

    def portions(self) -> Iterator[Objects]:
        """All payloads, in portions large enough to be efficient."""
        for first in range(0, len(self._kinds), PORTION):
            yield self.read(first, min(first + PORTION, len(self._kinds)))

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        """The rows of each kind whose payloads fit a layout exactly, and that layout."""
        fit = np.flatnonzero(self.fit)
        order, groups = arranged(self._kinds.take(fit))
        for index, part in groups:
            yield fit[order[part]], self._layouts[index]

    def singles(self) -> Iterator[tuple[int, Any]]:
        """All other rows, and their payloads."""
        yield from self._singles.items()


_NONE = -1


class RecordReader:
    """Reads records of one trace's events; how is decided when a kind first occurs."""

    def __init__(self, decoder: PayloadDecoder) -> None:
        self._decoder = decoder
        self._programs: list[Any] = []
        self._shapes: list[Any] = []
        self._layouts: dict[int, BoundLayout] = {}
        # By a kind's index: a place in both lists.
        self._entries = np.full(64, UNKNOWN_ENTRY, dtype=np.int64)

    def read(
        self, kinds: list[EventKind], places: Ints, data: bytes, starts: Ints, ends: Ints
    ) -> tuple[DirectRecords, list[int]]:
        """The payloads, and the rows, in ascending order, whose payload is still missing."""
        if len(kinds) > len(self._entries):
            grown = np.full(2 * len(kinds), UNKNOWN_ENTRY, dtype=np.int64)
            grown[: len(self._entries)] = self._entries
            self._entries = grown
        records = DirectRecords(data, self._programs, self._shapes, self._entries, places, starts, ends, self._layouts)
        row, again = 0, []
        while (row := records.check(row)) < len(places):
            index = int(places[row])
            kind = kinds[index]
            if self._decoder.drifted(kind):
                # Until that has been reported.
                again.append(index)
                self._entries[index] = _NONE
            else:
                self._entries[index] = self._entry(kind)
        self._entries[again] = UNKNOWN_ENTRY
        left: list[int] = np.flatnonzero(records.fit == 0).tolist()
        return records, left

    def _entry(self, kind: EventKind) -> int:
        """-1 for what must be read one by one: unknown, newer than the registry, or ambiguous."""
        layouts = [] if kind.newer else self._decoder.layouts(kind)
        if not layouts:
            return _NONE
        bound = layouts[0][0]
        program, record = record_program(bound), self._decoder.record(kind)
        if program is None or record is None or not fillable(record):
            return _NONE
        self._programs.append(program)
        self._shapes.append(shape_of(record))
        self._layouts[kind.index] = bound
        return len(self._programs) - 1

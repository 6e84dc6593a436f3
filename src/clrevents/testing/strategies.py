"""Hypothesis strategies: any record of an event class, and any trace together with the events a reader must find.

Derived from the layouts, so a new event needs no change here. Counts agree with their arrays; enums take any number,
including nameless ones; strings contain anything except NUL. Requires the `hypothesis` package, on use.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import attrs

from clrevents._util.notebook_views import Value
from clrevents.schema import wire as wires
from clrevents.schema.codes import ARRAYS, TypeCode
from clrevents.schema.dynamic import ClassCache, FieldDescription, Variant, described_codes
from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.types import FileTime
from clrevents.schema.wire import WireType
from clrevents.testing.builder import Format, TraceBuilder

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MANY = 5
_FORMATS: Final[tuple[Format, ...]] = ("nettrace4", "nettrace6", "netperf3")
_NO_ACTIVITY: Final = bytes(16)
_SIMPLE: Final = tuple(sorted({*TypeCode} - ARRAYS - {TypeCode.OBJECT, TypeCode.NULL, TypeCode.UTF8}))
"""Type codes of self-described fields that every container can describe."""


@attrs.frozen
class MadeEvent(Value):
    """One event of a `MadeTrace`, as a reader must return it."""

    provider: str
    """The full name of the provider."""
    id: int
    """The event id."""
    version: int
    """The version of the event's layout."""
    time_ns: int
    """The time in nanoseconds since the session started."""
    thread_id: int
    """The thread the event is about."""
    payload: Any
    """The record of the event's class."""
    stack: tuple[int, ...]
    """The code addresses of the call stack, innermost first."""
    activity_id: UUID | None
    """The activity the event belongs to; None if there is none."""


@attrs.frozen
class MadeTrace(Value):
    """A generated trace and the events that a reader must find in it."""

    data: bytes = attrs.field(repr=False)
    """The bytes of the trace."""
    format: Format
    """The container: "nettrace4", "nettrace6" or "netperf3"."""
    pointer_size: int
    """The size of a pointer in the process, in bytes: 4 or 8."""
    events: tuple[MadeEvent, ...]
    """The events in time order."""
    lost: Mapping[int, int]
    """The number of lost events by thread."""


def traces(
    *event_classes: type[Any],
    formats: Sequence[Format] = _FORMATS,
    pointer_sizes: Sequence[int] = (4, 8),
    max_events: int = 12,
) -> SearchStrategy[MadeTrace]:
    """A strategy for small traces with several threads and regions, stacks, activities, losses and various clocks.

    Payloads are records of `event_classes`; if none are given, records of all registered classes but `AsyncEvents`, and
    self-described events. `formats` and `pointer_sizes` (in bytes) are chosen from, and a trace has at most
    `max_events` events. Events of one region may be stored out of time order.
    """
    from hypothesis import strategies as st

    kinds = st.sampled_from(event_classes or _registered())
    if not event_classes:
        kinds |= st.just(_DESCRIBED)
    return st.composite(_draw_trace)(kinds, tuple(formats), tuple(pointer_sizes), max_events)


def _draw_trace(
    draw: Any,
    kinds: SearchStrategy[Any],
    formats: tuple[Format, ...],
    pointer_sizes: tuple[int, ...],
    max_events: int,
) -> MadeTrace:
    from hypothesis import strategies as st

    format = draw(st.sampled_from(formats))
    pointer_size = draw(st.sampled_from(pointer_sizes))
    frequency = draw(st.sampled_from([1_000_000_000, 10_000_000, 2_441_406, 24_000_000]))
    builder = TraceBuilder(format, pointer_size=pointer_size, frequency=frequency, step_ns=0)
    threads = draw(st.lists(st.integers(1, (1 << 32) - 1), min_size=1, max_size=4, unique=True))
    stacks = st.lists(st.integers(0, (1 << 8 * pointer_size) - 1), max_size=4).map(tuple)
    activities = st.just(_NO_ACTIVITY) | st.binary(min_size=16, max_size=16)
    events: list[MadeEvent] = []
    lost: Counter[int] = Counter()
    seen: set[int] = set()
    start = 0
    for count in draw(st.lists(st.integers(0, max_events), min_size=1, max_size=3)):
        # Each thread has its own pace; a region starts when the previous one has ended.
        clocks = dict.fromkeys(threads, start)
        steps = []
        for _ in range(min(count, max_events - len(events))):
            thread = draw(st.sampled_from(threads))
            clocks[thread] += draw(st.sampled_from([0, 0, 1, 999, 123_457, 5_000_000_000]))
            steps.append((clocks[thread], thread))
        if format == "netperf3":
            steps.sort(key=lambda step: step[0])
        region = []
        for now, thread in steps:
            builder.at(now).thread(thread)
            if format != "netperf3" and thread in seen and draw(st.integers(0, 9)) == 0:
                number = draw(st.integers(1, 100_000))
                builder.lose(number)
                lost[thread] += number
            seen.add(thread)
            activity, stack = draw(activities), draw(stacks)
            builder.activity(activity)
            key, payload = _draw_event(draw, builder, draw(kinds), pointer_size, stack)
            ticks = now * frequency // 1_000_000_000
            region.append(
                MadeEvent(
                    *key,
                    ticks * 1_000_000_000 // frequency,
                    thread,
                    payload,
                    stack,
                    None if activity == _NO_ACTIVITY else UUID(bytes_le=activity),
                )
            )
        start = max(clocks.values())
        builder.at(start).sequence_point()
        events += sorted(region, key=lambda event: event.time_ns)
    return MadeTrace(builder.build(), format, pointer_size, tuple(events), dict(lost))


_DESCRIBED: Final = "a self-described event"


def _registered() -> list[type[Any]]:
    from clrevents.schema.async_forms import CARRIER_ID
    from clrevents.schema.registry import ASYNC, DEFAULT

    infos = sorted(DEFAULT.events(), key=lambda info: (info.provider, info.id, info.version))
    # Bytes that are drawn are no buffer of sub-events, and so damage.
    return [info.record for info in infos if (info.provider, info.id) != (ASYNC, CARRIER_ID)]


def _draw_event(
    draw: Any, builder: TraceBuilder, kind: Any, pointer_size: int, stack: tuple[int, ...]
) -> tuple[tuple[str, int, int], Any]:
    """Add one event; its provider, id and version, and its payload."""
    from hypothesis import strategies as st

    if kind != _DESCRIBED:
        record = draw(records(kind, pointer_size))
        builder.event(record, stack)
        info = kind.__event__
        return (info.provider, info.id, info.version), record
    arrays = builder.format != "netperf3"
    several = st.lists(_descriptions(arrays), min_size=1, max_size=4, unique_by=lambda field: field.name)
    fields = draw(several.filter(_read_one_way))
    cache = ClassCache(100)
    layout = cache.layout(tuple(fields), Variant())
    record_class = None if layout is None else cache.get("Made", layout)
    assert record_class is not None
    record = draw(records(record_class, pointer_size))
    provider, id = draw(st.sampled_from(["Made-Up", "Acme.Shop/Orders"])), draw(st.integers(0, 0xFFFF))
    builder.described(provider, "Made", {f.name: (f, record[f.name]) for f in fields}, id=id, stack=stack)
    return (provider, id, 0), record


def _read_one_way(fields: Iterable[FieldDescription]) -> bool:
    """Whether no reader may take a boolean for one byte, or a decimal for eight, as runtimes write some: only where no
    text and no array is there, of another length then, does the payload's size tell."""
    codes = set(described_codes(fields))
    return not (codes & {TypeCode.BOOLEAN, TypeCode.DECIMAL} and codes & {TypeCode.STRING, TypeCode.ARRAY})


def _descriptions(arrays: bool) -> SearchStrategy[FieldDescription]:
    """Any field: simple ones, groups of them and, if the container can describe them, arrays."""
    from hypothesis import strategies as st

    names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
    simple = st.builds(FieldDescription, names, st.sampled_from(_SIMPLE))
    groups = st.builds(
        lambda name, members: FieldDescription(name, TypeCode.OBJECT, None, tuple(members)),
        names,
        st.lists(simple, min_size=1, max_size=3, unique_by=lambda field: field.name),
    )
    if not arrays:
        return simple | groups
    lists = st.builds(
        lambda name, element: FieldDescription(name, TypeCode.ARRAY, attrs.evolve(element, name="")),
        names,
        simple | groups,
    )
    return simple | groups | lists


def records(event_class: type[Any], pointer_size: int = 8) -> SearchStrategy[Any]:
    """A strategy for records of `event_class`, which may also be a class made by `clrevents.types.struct`.

    Values fit a process with pointers of `pointer_size` bytes.
    """
    record: Any = event_class
    return _records(record, pointer_size)


@functools.lru_cache(maxsize=4096)
def _records(event_class: Any, pointer_size: int) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    layout: BoundLayout = event_class.__layout__.bind(pointer_size)
    names = event_class.__fields__

    simple = {field.name: _values(field.type, pointer_size) for field in layout.fields if field.type.counted_by is None}

    @st.composite
    def draw_record(draw: Any) -> Any:
        counts = {c: draw(st.integers(0, _MANY)) for c in _counters(layout)}
        values = []
        for field in layout.fields:
            if field.name in counts:
                values.append(_counter(field, counts[field.name]))
            elif isinstance(field.type, wires.CountedType):
                n = counts[field.type.count]
                elements = st.lists(_values(field.type.element, pointer_size), min_size=n, max_size=n)
                values.append(tuple(draw(elements)))
            elif isinstance(field.type, wires.BytesType):
                n = counts[field.type.count]
                values.append(draw(st.binary(min_size=n, max_size=n)))
            else:
                values.append(draw(simple[field.name]))
        return event_class(**dict(zip(names, values, strict=True)))

    return draw_record()


def _counters(layout: BoundLayout) -> set[str]:
    return {f.type.counted_by for f in layout.fields if f.type.counted_by is not None}


def _counter(field: BoundField, count: int) -> Any:
    return field.type.enum(count) if isinstance(field.type, wires.EnumType) else count


def _values(wire: WireType, pointer_size: int) -> SearchStrategy[Any]:
    """Any value of a wire type."""
    from hypothesis import strategies as st

    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
    match wire:
        case wires.Scalar():
            return _scalar(wire)
        case wires.EnumType():
            return _number(wire.base).map(wire.enum)
        case wires.GuidType():
            return st.uuids()
        case wires.DecimalType():
            return st.decimals(
                allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20
            ).map(Decimal)
        case wires.Utf16Z() | wires.AnsiZ():
            return text
        case wires.VarIntType():
            return st.integers(-(1 << 63), (1 << 63) - 1) if wire.signed else st.integers(0, (1 << 64) - 1)
        case wires.StructType():
            return records(wire.record, pointer_size)
        case wires.PrefixedType() | wires.LocatedType():
            if wire.text:
                return text
            return st.lists(_values(wire.element, pointer_size), max_size=_MANY).map(tuple)
        case wires.FixedArrayType():
            n = wire.count
            if wire.text:
                return st.text("abcdefgh", min_size=n, max_size=n)
            return st.lists(_values(wire.element, pointer_size), min_size=n, max_size=n).map(tuple)
    raise TypeError(f"no values for {wire!r}")


def _scalar(wire: wires.Scalar) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    match wire.kind:
        case "bool":
            return st.booleans()
        case "float":
            return st.floats(width=32 if wire.size == 4 else 64, allow_nan=False)
        case "char":
            return _number(wire).map(chr)
        case "filetime":
            return _number(wire).map(FileTime)
        case _:
            return _number(wire)


def _number(wire: wires.Scalar) -> SearchStrategy[int]:
    from hypothesis import strategies as st

    bits = 8 * wire.size
    if wire.signed:
        return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return st.integers(0, (1 << bits) - 1)

"""One trace against its dump, event by event in one pass: kinds, times, and every field of every event.

Both sides come in time order, but events of equal time in different orders, so that events are paired within
(time, thread, provider, id, version) as multisets.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
from shared_described import DIFFERENT, RENAMED, WITHOUT_FIELDS, Single, official_name
from shared_differences import DIFFERENCES, Fields
from shared_files import Shared, json_lines, unpacked

import clrevents
from clrevents.decode.payload.payload_decoder import NO_FIELDS, RawPayload
from clrevents.decode.stream.stream import Stream
from clrevents.reference import codec
from clrevents.schema.registry import DEFAULT
from clrevents.schema.wire import Scalar

Kind: TypeAlias = tuple[str, int, int]
Stack: TypeAlias = tuple[int, ...]

_SHOWN: Final = 20

# The official decoder gives GCDynamicEvents of one name an id of its own.
_MADE_UP_IDS: Final = {65524: 39}


@attrs.define
class Faults:
    """What should not be: how many, and the first lines."""

    faults: int = 0
    wrong: list[str] = attrs.field(factory=list)

    def fault(self, text: str) -> None:
        self.faults += 1
        if len(self.wrong) < _SHOWN:
            self.wrong.append(text)

    def told(self) -> str:
        return "\n".join((f"{self.faults} differences", *self.wrong))


@attrs.define
class Figures(Faults):
    """By provider: events compared, their fields, and how many of these the reference codec confirms."""

    events: Counter[str] = attrs.field(factory=Counter)
    fields: Counter[str] = attrs.field(factory=Counter)
    proven: Counter[str] = attrs.field(factory=Counter)

    def by_provider(self) -> dict[str, tuple[int, int, int]]:
        return {p: (self.events[p], self.fields[p], self.proven[p]) for p in sorted(self.events)}


@attrs.define
class Comparison(Faults):
    """What came out; its own faults are those of pairing and time.

    `known` counts events of the registry, `described` those that only the trace itself describes.
    """

    ours: Counter[Kind] = attrs.field(factory=Counter)
    theirs: Counter[Kind] = attrs.field(factory=Counter)
    known: Figures = attrs.field(factory=Figures)
    described: Figures = attrs.field(factory=Figures)
    extra: int = 0
    steps_back: int = 0
    warned: list[str] = attrs.field(factory=list)


@attrs.frozen
class _Ours:
    kind: Kind
    pointer_size: int
    thread: int
    payload: Any
    data: bytes
    tail: bytes
    stack: Stack
    name: str
    opcode: int
    level: int
    keywords: int


def our_events(trace: Shared, found: Comparison) -> Iterator[tuple[float, _Ours]]:
    """Our events in the order they are given, each with its time as the official decoder counts it.

    That needs clock ticks, which an event does not show: they come from a second reading of the headers.
    """
    data = unpacked(trace)
    stream = Stream()
    ticks: list[int] = []
    for rows in (*stream.feed(data), *stream.close()):
        ticks += rows.ticks.tolist()
    assert stream.info is not None
    clock, pointer_size = stream.clock, stream.info.pointer_size
    last = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for event, tick in zip(clrevents.open(data).events(), ticks, strict=True):
            delta = tick - clock.sync_qpc
            if event.time_ns != delta * 10**9 // clock.frequency:
                found.fault(f"{event!r} is at tick {delta}, which is not its time")
            if last is not None and event.time_ns < last:
                found.steps_back += 1
            last = event.time_ns
            kind = (event.provider, event.id, event.version)
            found.ours[kind] += 1
            ours = _Ours(
                kind,
                pointer_size,
                event.thread_id,
                event.payload,
                event.payload_bytes,
                event.payload_tail,
                event.stack,
                event.name,
                event.opcode,
                event.level,
                event.keywords,
            )
            yield delta * 1000.0 / clock.frequency, ours
    found.warned = [str(w.message) for w in caught]


def compare(trace: Shared) -> Comparison:
    """Read the trace and its dump side by side."""
    found = Comparison()
    ours = groupby(our_events(trace, found), key=lambda pair: pair[0])
    theirs = groupby(json_lines(trace.dump), key=lambda line: line["ms"])
    end = (math.inf, iter(()))
    our_ms, our_group = next(ours, end)
    ms, their_group = next(theirs, end)
    while our_ms < math.inf or ms < math.inf:
        if our_ms < ms:
            found.extra += sum(1 for _ in our_group)
            our_ms, our_group = next(ours, end)
        elif ms < our_ms:
            for line in their_group:
                found.theirs[_kind(line)] += 1
                found.fault(f"we have no event at {ms} ms: {str(line)[:300]}")
            ms, their_group = _next(theirs, ms, end, found)
        else:
            _pair(found, [e for _, e in our_group], list(their_group))
            our_ms, our_group = next(ours, end)
            ms, their_group = _next(theirs, ms, end, found)
    return found


def _next(theirs: Any, before: float, end: Any, found: Comparison) -> Any:
    """The dump's next time; the comparison leans on its being in time order."""
    ms, group = next(theirs, end)
    if ms < before:
        found.fault(f"the dump steps back from {before} to {ms} ms")
    return ms, group


def _kind(line: dict[str, Any]) -> Kind:
    return line["provider"], _MADE_UP_IDS.get(line["id"], line["id"]), line["version"]


def _pair(found: Comparison, ours: list[_Ours], theirs: list[dict[str, Any]]) -> None:
    """Events of one moment."""
    waiting: dict[tuple[Kind, int], list[_Ours]] = {}
    for event in ours:
        waiting.setdefault((event.kind, event.thread), []).append(event)
    for line in theirs:
        kind = _kind(line)
        found.theirs[kind] += 1
        candidates = waiting.get((kind, line["tid"]))
        if not candidates:
            found.fault(f"we have no such event: {str(line)[:300]}")
            continue
        results = []
        for event in candidates:
            results.append(_compare_fields(event, line))
            if not results[-1].faults:
                break
        best = min(range(len(results)), key=lambda i: len(results[i].faults))
        candidates.pop(best)
        result = results[best]
        provider = kind[0]
        figures = found.described if result.described else found.known
        figures.events[provider] += 1
        figures.fields[provider] += result.fields
        figures.proven[provider] += result.proven
        for text in result.faults:
            figures.fault(f"{kind} at {line['ms']} ms, thread {line['tid']}: {text}")
    found.extra += sum(map(len, waiting.values()))


@attrs.define
class _Fields:
    """How one event came out; `described` when the registry does not know it."""

    faults: list[str] = attrs.field(factory=list)
    described: bool = False
    fields: int = 0
    proven: int = 0


def _compare_fields(event: _Ours, line: dict[str, Any]) -> _Fields:
    result = _Fields()
    if len(event.data) != line["bytes"]:
        result.faults.append(f"payload of {len(event.data)} bytes, {line['bytes']} in the dump")
    provider, id, version = event.kind
    result.described = DEFAULT.best(*event.kind) is None
    if result.described:
        difference = DIFFERENT.get((provider, event.name))
        result.faults += _compare_description(event, line)
    else:
        difference = DIFFERENCES.get((provider, id))
    if isinstance(event.payload, RawPayload):
        _compare_raw(event, event.payload, line, result)
        return result
    ours = described_fields(event.payload, (provider, event.name)) if result.described else fields_of(event.payload)
    shown = ours if difference is None else difference.view(ours, version)
    official = line["payload"]
    if difference is not None:
        assert difference.derived.isdisjoint(shown)
        official = {name: value for name, value in official.items() if name not in difference.derived}
    for name in shown.keys() | official.keys():
        if name not in official:
            result.faults.append(f"{name} is not in the dump, we read {shown[name]!r}")
        elif name not in shown:
            result.faults.append(f"we have no field {name}, the dump has {official[name]!r}")
        elif not same(shown[name], official[name]):
            result.faults.append(f"{name} should show as {shown[name]!r}, the dump has {official[name]!r}")
    if difference is not None:
        result.proven, faults = prove(event.payload, ours, shown, event.data, event.pointer_size)
        result.faults += faults
    result.fields = _count(ours) if result.described else len(ours)
    return result


def _compare_description(event: _Ours, line: dict[str, Any]) -> Iterator[str]:
    """What a described event is called and how it is classed; and nothing may be left of its payload."""
    provider, id, _ = event.kind
    name = official_name(provider, id, event.name, event.opcode)
    if name != line["name"]:
        yield f"the name should show as {name!r}, the dump has {line['name']!r}"
    if (event.level, event.keywords) != (line["level"], int(line["keywords"], 16)):
        yield f"level {event.level}, keywords {event.keywords:x}; {line['level']}, {line['keywords']} in the dump"
    if event.tail:
        yield f"{len(event.tail)} bytes are left over"


def _compare_raw(event: _Ours, payload: RawPayload, line: dict[str, Any], result: _Fields) -> None:
    """A payload without fields: right only where the trace describes none."""
    without = (event.kind[0], event.name) in WITHOUT_FIELDS
    if not result.described or not without or payload.reason != NO_FIELDS or payload.data != event.data:
        result.faults.append(f"not read: {payload.reason}")
    elif line["payload"]:
        result.faults.append(f"the dump has {line['payload']!r}")


def _count(fields: Fields) -> int:
    """Fields of nested objects count one by one."""
    return sum(_count(value) if isinstance(value, dict) else 1 for value in fields.values())


def prove(record: Any, ours: Fields, shown: Fields, data: bytes, pointer_size: int) -> tuple[int, list[str]]:
    """How many fields the official view hides or changes, and what the reference codec reads there instead of ours."""
    hidden = [name for name in ours if name not in shown or shown[name] != ours[name]]
    if not hidden or (type(record).__name__.startswith("AllTypes") and not hasattr(type(record), "__event__")):
        # Of the latter's booleans the bytes are others than the trace describes, which the codec does not know.
        return 0, []
    read = repr(codec(type(record).__layout__, pointer_size, type(record)).parse(data))
    return len(hidden), [] if read == repr(record) else [f"{record!r}, the reference codec reads {read}"]


def fields_of(record: Any) -> Fields:
    """A record's fields, by their names on the wire, as plain values."""
    fields = type(record).__layout__.fields
    # Where the trace chose the names, attributes may have others.
    attributes = getattr(type(record), "__fields__", None) or [field.name for field in fields]
    found = {field.name: plain(getattr(record, name)) for field, name in zip(fields, attributes, strict=True)}
    for field in fields:
        if isinstance(field.type, Scalar) and field.type.format == "f":
            found[field.name] = Single(found[field.name])
    return found


def described_fields(record: Any, event: tuple[str, str]) -> Fields:
    """A self-described record's fields by the names that the dumps have for them."""
    renamed = RENAMED.get(event, {})
    return {renamed.get(name, name): value for name, value in fields_of(record).items()}


def plain(value: Any) -> Any:
    """Enums by number, GUIDs as text, bytes as the dumps write them, groups as dicts."""
    convert = _PLAIN.get(type(value))
    if convert is not None:
        return convert(value)
    if isinstance(value, int):
        return int(value)
    if hasattr(type(value), "__layout__"):
        return fields_of(value)
    return value


_PLAIN: Final[dict[type, Callable[[Any], Any]]] = {
    int: lambda v: v,
    bool: lambda v: v,
    str: lambda v: v,
    UUID: str,
    bytes: lambda v: "0x" + v.hex().upper(),
    tuple: lambda v: [plain(x) for x in v],
    list: lambda v: [plain(x) for x in v],
}


def same(ours: Any, theirs: Any) -> bool:
    """Equal, where the dump may show 32 unsigned bits as a negative number and a constant with its name."""
    if isinstance(theirs, dict) and "$enum" in theirs:
        theirs = theirs["$enum"]
    if ours == theirs:
        return True
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isnan(ours) and math.isnan(theirs)
    return isinstance(theirs, int) and -(1 << 31) <= theirs < 0 and bool(ours == theirs & 0xFFFFFFFF)

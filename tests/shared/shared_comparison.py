"""One trace against its dump, event by event in one pass: kinds, times, and every field of every known event.

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
from shared_differences import DIFFERENCES, Difference, Fields
from shared_files import Shared, json_lines, unpacked

import clrevents
from clrevents.decode.payloads import RawPayload
from clrevents.decode.stream import Stream
from clrevents.schema.registry import DEFAULT

Kind: TypeAlias = tuple[str, int, int]
Stack: TypeAlias = tuple[int, ...]

_SHOWN: Final = 20

# The official decoder gives GCDynamicEvents of one name an id of its own.
_MADE_UP_IDS: Final = {65524: 39}


@attrs.define
class Comparison:
    """What came out. `wrong` holds the first lines of what should not be, `faults` how many there are."""

    ours: Counter[Kind] = attrs.field(factory=Counter)
    theirs: Counter[Kind] = attrs.field(factory=Counter)
    events: Counter[str] = attrs.field(factory=Counter)
    fields: Counter[str] = attrs.field(factory=Counter)
    proven: Counter[str] = attrs.field(factory=Counter)
    extra: int = 0
    steps_back: int = 0
    warned: list[str] = attrs.field(factory=list)
    faults: int = 0
    wrong: list[str] = attrs.field(factory=list)

    def fault(self, text: str) -> None:
        self.faults += 1
        if len(self.wrong) < _SHOWN:
            self.wrong.append(text)


@attrs.frozen
class _Ours:
    kind: Kind
    thread: int
    payload: Any
    data: bytes
    stack: Stack


def our_events(trace: Shared, found: Comparison) -> Iterator[tuple[float, _Ours]]:
    """Our events in the order they are given, each with its time as the official decoder counts it.

    That needs clock ticks, which an event does not show: they come from a second reading of the headers.
    """
    data = unpacked(trace)
    stream = Stream()
    ticks: list[int] = []
    for rows in (*stream.feed(data), *stream.close()):
        ticks += rows.times.tolist()
    clock = stream.clock
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
            ours = _Ours(kind, event.thread_id, event.payload, event.payload_bytes, event.stack)
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
        if result.fields is not None:
            found.events[provider] += 1
            found.fields[provider] += result.fields
            found.proven[provider] += result.proven
        for text in result.faults:
            found.fault(f"{kind} at {line['ms']} ms, thread {line['tid']}: {text}")
    found.extra += sum(map(len, waiting.values()))


@attrs.define
class _Fields:
    """How one event came out; `fields` is None for events that the registry does not know."""

    faults: list[str] = attrs.field(factory=list)
    fields: int | None = None
    proven: int = 0


def _compare_fields(event: _Ours, line: dict[str, Any]) -> _Fields:
    result = _Fields()
    if len(event.data) != line["bytes"]:
        result.faults.append(f"payload of {len(event.data)} bytes, {line['bytes']} in the dump")
    if DEFAULT.best(*event.kind) is None:
        return result
    if isinstance(event.payload, RawPayload):
        result.faults.append(f"not read: {event.payload.reason}")
        return result
    provider, id, version = event.kind
    ours = fields_of(event.payload)
    difference = DIFFERENCES.get((provider, id))
    shown = ours if difference is None else difference.view(ours, version)
    official = line["payload"]
    for name in shown.keys() | official.keys():
        if name not in official:
            result.faults.append(f"{name} is not in the dump, we read {shown[name]!r}")
        elif name not in shown:
            result.faults.append(f"we have no field {name}, the dump has {official[name]!r}")
        elif not same(shown[name], official[name]):
            result.faults.append(f"{name} should show as {shown[name]!r}, the dump has {official[name]!r}")
    if difference is not None:
        result.proven, faults = prove(difference, ours, shown, event.data, version)
        result.faults += faults
    result.fields = len(ours)
    return result


def prove(difference: Difference, ours: Fields, shown: Fields, data: bytes, version: int) -> tuple[int, list[str]]:
    """How many fields the bytes confirm, and what they do not: all that the official view hides or changes."""
    faults = []
    proof = {name: plain(value) for name, value in difference.proof(data, version).items()}
    for name, value in proof.items():
        if ours.get(name) != value:
            faults.append(f"{name} is {ours.get(name)!r}, the bytes say {value!r}")
    for name in ours.keys() - proof.keys():
        if name not in shown or shown[name] != ours[name]:
            faults.append(f"{name} is confirmed neither by the dump nor from the bytes")
    return len(proof), faults


def fields_of(record: Any) -> Fields:
    """A record's fields as plain values."""
    return {field.name: plain(getattr(record, field.name)) for field in type(record).__layout__.fields}


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

"""Traces that describe known events otherwise than they are known, with payloads that fit what is described.

Fields are dropped, added, renamed, put in another order and of other types; one event is described several times; our
own marks have foreign values. Judges nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Final

from asked_events import known_events
from clrevents.encode.values import NO_GUID, EventRecord, MetadataRecord, TraceHeader
from clrevents.schema.codes import ARRAYS, TypeCode
from clrevents.schema.dynamic import ClassCache, FieldDescription, Undescribable, Variant
from clrevents.schema.layout import Layout
from clrevents.schema.own_marks import LACKED, PROVIDER
from drawn_payloads import payload
from plain_trace import GENERATIONS, PlainTrace

_CODES: Final = tuple(sorted({*TypeCode} - {TypeCode.NULL, *ARRAYS, TypeCode.OBJECT}))


def lie(fields: Sequence[FieldDescription], rng: random.Random) -> tuple[FieldDescription, ...]:
    """The fields, described otherwise; at times as they are."""
    made = list(fields)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        place = rng.randrange(len(made) + 1)
        if place == len(made) or rng.random() < 0.1:
            made.insert(place, _field(rng.choice(("Extra", "TaskID", "Count", "x y", "")), rng))
            continue
        match rng.randrange(6):
            case 0:
                del made[place]
            case 1:
                made[place] = _named(made[place], rng.choice(("Renamed", made[place].name.upper(), made[0].name)))
            case 2:
                rng.shuffle(made)
            case 3:
                # All of one type.
                code = rng.choice(_CODES)
                made = [FieldDescription(field.name, code) for field in made]
            case _:
                made[place] = _field(made[place].name, rng)
    return tuple(made)


def _named(field: FieldDescription, name: str) -> FieldDescription:
    return FieldDescription(name, field.code, field.element, field.members, field.count)


def _field(name: str, rng: random.Random) -> FieldDescription:
    way = rng.random()
    if way < 0.15:
        return FieldDescription(name, TypeCode.ARRAY, FieldDescription("", rng.choice(_CODES)))
    if way < 0.2:
        return FieldDescription(name, TypeCode.OBJECT, None, (FieldDescription("inner", rng.choice(_CODES)),))
    return FieldDescription(name, rng.choice(_CODES))


def lying_trace(rng: random.Random) -> bytes:
    """A trace of a few events that something asks for together, most of them described otherwise."""
    events = known_events()
    asked = [events[who] for who in rng.sample(sorted(events), rng.choice((1, 1, 2)))]
    some = [event for every in asked for event in rng.sample(every, min(len(every), rng.choice((1, 3, 8, 30))))]
    if rng.random() < 0.4:
        some += rng.sample(events["names of code"], 3)
    if rng.random() < 0.2:
        some += rng.sample(events["processes and marks"], 2)
    honest = rng.choice((0, 0.3, 0.7, 0.9))
    trace = PlainTrace(TraceHeader(frequency=10**9, process_id=1, pointer_size=8), {}, [])
    kinds: list[tuple[int, Layout]] = []
    for provider, id, version, name, known in some:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            fields = known if rng.random() < honest else lie(known, rng)
            try:
                layout = _layout(fields)
            except Undescribable:
                continue
            number = len(trace.kinds) + 1
            trace.kinds[number] = MetadataRecord(number, provider, id, version, name, (1 << 48) - 1, 5, None, fields)
            kinds.append((number, layout))
    time = 0
    for _ in range(rng.choice((1, 10, 30, 80)) if kinds else 0):
        number, layout = rng.choice(kinds)
        time += rng.choice((0, 1, 1000, 1_000_000, 10_000_000))
        thread = rng.choice((1, 1, 2, 3))
        activity = rng.choice((NO_GUID, NO_GUID, rng.choice((1, 2)).to_bytes(16, "little")))
        stack = b"".join(rng.choice((0x1000, 0x1040, 0x2000)).to_bytes(8, "little") for _ in range(rng.choice((0, 2))))
        data = payload(layout, rng, rng.choice((1, 2, 3)))[:4000]
        trace.events.append(EventRecord(number, time, thread, data, stack=stack, activity_id=activity))
        trace.processes[thread] = rng.choice((1, 1, 2))
    generations = sorted(GENERATIONS, key=lambda _: rng.random())
    if rng.random() < 0.1:
        _lack(trace, rng)
    for generation in generations:
        try:
            return trace.written(generation)
        except ValueError:
            # What this generation cannot describe, another one can.
            continue
    return b""


def _lack(trace: PlainTrace, rng: random.Random) -> None:
    """Marks as if this were a copy, of foreign values and at times described otherwise."""
    fields, number = rng.choice((LACKED.fields, lie(LACKED.fields, rng))), len(trace.kinds) + 1
    trace.kinds[number] = MetadataRecord(number, PROVIDER, LACKED.id, 0, LACKED.name, 0, 5, None, fields)
    values = (-1, 0, 1, 2, 3, 4, 1000, 1 << 62, -(1 << 63), (1 << 63) - 1)
    for _ in range(rng.choice((1, 1, 5))):
        what = rng.choice((1, 2, 3, 3, 4, 5))
        data = struct.pack("<5q", what, *rng.choices(values, k=4))
        trace.events.append(EventRecord(number, 0, 1, data[: rng.choice((40, 40, 40, 17))]))


def _layout(fields: Sequence[FieldDescription]) -> Layout:
    """The layout of what is described, as plainly as that is read; names may be equal, which a layout's may not."""
    distinct = tuple(_named(field, f"f{place}") for place, field in enumerate(fields))
    found = ClassCache(10_000).layout(distinct, Variant())
    assert found is not None
    return found

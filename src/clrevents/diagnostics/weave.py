"""Puts events of our own, in blocks, between the blocks of a NetTrace 4 stream, whose bytes pass as they are.

Finds where objects begin and which times they declare (docs/format.md, "Objects"), no more; of the events knows their
declarations. Sans-IO. Where a stream is not as expected, it passes from there on untouched.
"""

from __future__ import annotations

import struct
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from typing import Final, Literal, NamedTuple, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents.encode.blocks import ObjectWriter, Sequences, event_block
from clrevents.encode.nettrace4 import described_event
from clrevents.encode.values import SHORTEST, EventRecord, FieldDescription, MetadataRecord, utf16z
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE, ObjectName, ObjectTag, TypeCode
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import DEFAULT, OWN

_NAMES: Final = (
    *("ProcessorCounting", "ThreadName", "ProcessorTime", "ThreadEnd", "ProcessProcessorTime", "ProcessFacts"),
    *("ProcessLimits", "MachineProcessorTime", "EventsFiltered"),
)
_IDS: Final = {name: id for id, name in enumerate(_NAMES, 16)}
"""The ids of events (`schema.events.recorder`)."""
_METADATA_IDS: Final = 0x7F000000
"""Added to the id of an event: a runtime's own are small, and the same one twice would stop other readers."""
_BLOCK_VERSION: Final = 2
_CODES: Final = {"q": TypeCode.INT64, "I": TypeCode.UINT32, None: TypeCode.STRING}
HOLD_NS: Final = 250_000_000
"""How long an event waits for its place: in a quiet recording blocks are a second apart."""
_START: Final = NETTRACE + FAST_SERIALIZATION
_HEAD: Final = struct.Struct("<3BiiI")
"""Three tags, two versions, the length of the type's name."""
_LONGEST_NAME: Final = 64
_MOST: Final = _HEAD.size + _LONGEST_NAME + 1 + 48
"""As many bytes of an object as are needed to know what it is."""
_CLOCK: Final = struct.Struct("<16xqqiI")
"""Of a trace's header: the date, its tick, ticks per second, the size of a pointer, the process."""
_TRACE_BYTES: Final = 48
_VERSION: Final = 4


Begun: TypeAlias = Callable[["StreamClock | None"], int | None]
"""Of what a trace's header says: what to add to our own clock's times; None if nothing is to be put into this trace. It
is given None for what is no trace, or not one any more."""


class OwnEvent(NamedTuple):
    """An event as it is written; `time_ns` is of the clock that everybody has (CLOCK_MONOTONIC)."""

    time_ns: int
    id: int
    payload: bytes


@frozen
class StreamClock:
    """What the header of a trace says."""

    ticks: int
    """When it began."""
    frequency: int
    process_id: int


@frozen
class _Object:
    """What follows in the stream: its size with all tags, and the tick up to which other events stand before it."""

    size: int
    until: int | None = None
    kind: Literal["start", "trace", "block", "end", "foreign"] = "block"
    clock: StreamClock | None = None


class Weave:
    """One stream. `begun` judges its header, `last` is called before its end for the events until then."""

    def __init__(self, begun: Begun, last: Callable[[], None]) -> None:
        self.pending: deque[OwnEvent] = deque()
        """Events that wait for their place, in the order of their times; other threads may append to it."""
        self._begun = begun
        self._last = last
        self._shift: int | None = None
        self._began = 0
        self._described = False
        self._sequences = Sequences()
        self._offset = 0
        self._rest = 0
        """How much of the object that has begun is still to come."""
        self._waiting = b""
        """The beginning of one that is not known yet."""
        self._over = False

    def feed(self, data: memoryview) -> list[memoryview]:
        """The next bytes of the stream; what to write in their place."""
        if self._over:
            return [data]
        view = memoryview(self._waiting + bytes(data)) if self._waiting else data
        out: list[memoryview] = []
        at = written = 0
        while at < len(view) and not self._over:
            if self._rest:
                step = min(self._rest, len(view) - at)
                self._rest -= step
                at += step
                continue
            object_ = _object(view[at : at + _MOST], self._offset + at)
            if object_ is None:
                break
            own = self._before(object_, self._offset + at)
            if own:
                out += (view[written:at], memoryview(own))
                written = at
            self._rest = object_.size
        if self._over:
            at = len(view)
        out.append(view[written:at])
        self._waiting = bytes(view[at:])
        self._offset += at
        return out

    @property
    def waits(self) -> bool:
        """Whether an event has waited for long enough."""
        return bool(self.pending) and self.pending[0].time_ns < time.monotonic_ns() - HOLD_NS

    def quiet(self) -> list[memoryview]:
        """Nothing has come for a while: events that have waited for long enough."""
        return self._due(time.monotonic_ns() - HOLD_NS)

    def end(self) -> list[memoryview]:
        """Nothing more comes: what is left, also of a stream that was cut off."""
        out: list[memoryview] = []
        if not self._over:
            self._last()
            out = self._due(None)
            self._over = True
        if self._waiting:
            out.append(memoryview(self._waiting))
            self._waiting = b""
        return out

    def _due(self, until: int | None) -> list[memoryview]:
        """Events until this time, if they may stand here."""
        if self._over or self._rest or self._shift is None:
            return []
        own = self._woven(None if until is None else until + self._shift, self._offset)
        return [memoryview(own)] if own else []

    def _before(self, object_: _Object, offset: int) -> bytes:
        """What to write before an object."""
        match object_.kind:
            case "trace" | "foreign":
                self._began = 0 if object_.clock is None else object_.clock.ticks
                self._shift = self._begun(object_.clock)
                self._over = self._shift is None or object_.kind == "foreign"
            case "end":
                self._last()
                own = self._woven(None, offset)
                self._over = True
                return own
            case "block" if self._shift is not None:
                waited = time.monotonic_ns() - HOLD_NS + self._shift
                return self._woven(waited if object_.until is None else max(object_.until, waited), offset)
        return b""

    def _woven(self, until: int | None, offset: int) -> bytes:
        """The block of all events until this tick; with the first, that of their descriptions.

        None of them promises that later ones are later.
        """
        events = []
        shift = self._shift or 0
        while self.pending and (until is None or self.pending[0].time_ns + shift <= until):
            one = self.pending.popleft()
            tick = max(one.time_ns + shift, self._began)
            events.append(EventRecord(_METADATA_IDS + one.id, tick, OWN_THREAD, one.payload, is_sorted=False))
        if not events:
            return b""
        described = b""
        if not self._described:
            kinds = [described_event(_kind(id)[1]) for id in _IDS.values()]
            described = _block(ObjectName.METADATA, kinds, Sequences(), offset)
        self._described = True
        # Both are as long as whole words, so what follows stands where it stood.
        return described + _block(ObjectName.EVENTS, events, self._sequences, offset)


def _object(head: memoryview, offset: int) -> _Object | None:
    """What begins here, at this offset of the stream; None if that takes more bytes."""
    if not offset:
        if len(head) < len(_START):
            return None if _START.startswith(head) else _Object(0, kind="foreign")
        return _Object(len(_START), kind="start") if head[: len(_START)] == _START else _Object(0, kind="foreign")
    if head[0] == ObjectTag.NULL:
        return _Object(1, kind="end")
    if len(head) < _HEAD.size:
        return None
    *tags, version, _, length = _HEAD.unpack_from(head)
    if tags != [ObjectTag.BEGIN_PRIVATE, ObjectTag.BEGIN_PRIVATE, ObjectTag.NULL] or length > _LONGEST_NAME:
        return _Object(0, kind="foreign")
    start = _HEAD.size + length + 1
    name, body = bytes(head[_HEAD.size : start - 1]), head[start:]
    if len(body) < 4:
        return None
    if name == ObjectName.TRACE.encode():
        if len(body) < _TRACE_BYTES:
            return None
        if version != _VERSION:
            return _Object(0, kind="foreign")
        ticks, frequency, _, process = _CLOCK.unpack_from(body)
        return _Object(start + _TRACE_BYTES + 1, kind="trace", clock=StreamClock(ticks, frequency, process))
    size = int.from_bytes(body[:4], "little", signed=True)
    padding = -(offset + start + 4) % 4
    if size < 0:
        return _Object(0, kind="foreign")
    # Where the latest time of an event block stands, and the time of a sequence point.
    place = {ObjectName.EVENTS.encode(): 12, ObjectName.SEQUENCE_POINT.encode(): 0}.get(name)
    until = None
    if place is not None and size >= place + 8:
        time_bytes = body[4 + padding + place :][:8]
        if len(time_bytes) < 8:
            return None
        until = int.from_bytes(time_bytes, "little", signed=True)
    return _Object(start + 4 + padding + size + 1, until)


def own_event(time_ns: int, name: str, *values: int | str) -> OwnEvent:
    """An event with its values in the order of their declaration; a text can only be the last."""
    id = _IDS[name]
    numbers, _ = _kind(id)
    if isinstance(values[-1], str):
        return OwnEvent(time_ns, id, numbers.pack(*values[:-1]) + utf16z(values[-1], "a text"))
    return OwnEvent(time_ns, id, numbers.pack(*values))


@cache
def _kind(id: int) -> tuple[struct.Struct, MetadataRecord]:
    """How its numbers are packed, and its description."""
    declared = DEFAULT.get(OWN, id, 0)
    assert declared is not None
    fields = declared.layout.bind(8).fields
    described = tuple(FieldDescription(field.name, _CODES[field.code]) for field in fields)
    numbers = struct.Struct("<" + "".join(field.code or "" for field in fields))
    return numbers, MetadataRecord(_METADATA_IDS + id, OWN, id, name=declared.name, fields=described)


def _block(name: str, records: Sequence[EventRecord], sequences: Sequences, offset: int) -> bytes:
    """A block as an object that ends as far from a multiple of four as it begins."""
    content = event_block(records, sequences)
    sequences.keep()
    # The header says its own size, so that more may stand in it.
    size = SHORTEST.header_size
    slack = (offset - 1 - len(content)) % 4
    out = BytesIO()
    writer = ObjectWriter(out, ObjectTag.BEGIN_PRIVATE)
    writer.offset = offset
    padded = (size + slack).to_bytes(2, "little") + content[2:size] + bytes(slack) + content[size:]
    writer.block(name, _BLOCK_VERSION, _BLOCK_VERSION, padded)
    return out.getvalue()

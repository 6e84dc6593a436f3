"""Payload bytes of one event → its record, or a `RawPayload`, and the problem if there is one.

Combines an event kind with its layouts: the registry's, or else those of the trace's own description. Decides what
is a problem; knows neither order nor selection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define, frozen
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import ColumnType, column_type, fits
from clrevents.decode.payload.record_decoder import Decode, Misfit, TextCache, record_decoder
from clrevents.errors import Limits, Problem
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import ClassCache, Undescribable, Variant, described_codes, drift, variants
from clrevents.schema.event import asdict, value_text
from clrevents.schema.layout import BoundLayout, Layout
from clrevents.schema.registry import EventInfo
from clrevents.schema.self_described import MARKS, SELF_DESCRIBED


@frozen
class RawPayload(Value):
    """A payload whose fields could not be read."""

    data: bytes = attrs.field(repr=value_text)
    """The bytes of the payload."""
    reason: str
    """Why its fields could not be read."""
    partial: Mapping[str, Any] = attrs.field(factory=dict, repr=value_text)
    """The fields before the fault, by name."""


UNKNOWN = "unknown event, and the trace does not describe its fields"
TOO_MANY = "the trace describes more kinds of events, or fields of them, than Limits.learned allows"
NO_FIELDS = "the trace describes this event without fields, but it has a payload"


@define(eq=False)
class _LayoutReading:
    """One way to read a kind: with this layout. Its record class and decoder are made on first use."""

    layout: BoundLayout
    fields: Layout
    record: Callable[[], type[Any]]
    make: Callable[[BoundLayout, type[Any]], Decode]
    _decode: Decode | None = None

    @property
    def decode(self) -> Decode:
        """Raises OverflowError if there are too many classes already."""
        if self._decode is None:
            self._decode = self.make(self.layout, self.record())
        return self._decode


@define
class _KindReadings:
    """The ways to read one kind, in the order they are tried; `reason` says why there are none.

    `exact` if a payload with bytes left over does not fit: neither a trace's own description nor a user's layout says
    what these are, and where it omits something (the count of an array), the values before them are wrong too.
    """

    readings: list[_LayoutReading] = attrs.field(factory=list)
    reason: str = UNKNOWN
    without_fields: bool = False
    exact: bool = False
    drift: str = ""
    drift_reported: bool = False


class PayloadDecoder:
    """Reads payloads of any kind of event of one trace; how is decided when a kind first occurs."""

    def __init__(self, pointer_size: int, limits: Limits) -> None:
        self._pointer_size = pointer_size
        self._readings: dict[int, _KindReadings] = {}
        self._limits = limits
        self._fieldless = _KindReadings(reason=NO_FIELDS, without_fields=True)

    @cached_property
    def _texts(self) -> TextCache:
        return TextCache()

    @cached_property
    def _classes(self) -> ClassCache:
        return ClassCache(self._limits.learned)

    def read(self, kind: EventKind, data: bytes, offset: int) -> tuple[Any, bytes, Problem | None]:
        """Returns (payload, tail, problem). `offset` is the stream offset of `data`."""
        known = self._known(kind)
        if not known.readings or (known.without_fields and data):
            return RawPayload(data, known.reason), b"", _unknown(kind, data, offset, known.reason)
        if known is self._fieldless:
            known = self._own(kind)
        try:
            decode = known.readings[0].decode
        except OverflowError:
            known.readings, known.reason = [], TOO_MANY
            return RawPayload(data, TOO_MANY), b"", _unknown(kind, data, offset, TOO_MANY)
        try:
            payload, end = decode(data, 0, len(data))
        except Misfit as misfit:
            return self._other(kind, known, data, offset, misfit)
        if end == len(data) and not kind.newer:
            return payload, b"", _drift(kind, known, offset)
        if end != len(data):
            for reading in known.readings[1:]:
                exact = _exact(reading, data)
                if exact is not None:
                    return exact, b"", _drift(kind, known, offset)
            if known.exact:
                return _too_long(kind, known, payload, data, end, offset)
        return payload, data[end:], _tail(kind, data, end, offset)

    def layouts(self, kind: EventKind) -> list[tuple[BoundLayout, Layout]]:
        """The layouts tried for payloads of this kind, in order; none if they stay bytes."""
        return [(reading.layout, reading.fields) for reading in self._known(kind).readings]

    def record(self, kind: EventKind) -> type[Any] | None:
        """The class of records read by the first of `layouts`; None if there are too many classes already."""
        reading = self._own(kind).readings[0]
        try:
            return reading.record()
        except OverflowError:
            return None

    def drifted(self, kind: EventKind) -> bool:
        """Whether a disagreement between the trace's description and the registry still has to be reported."""
        known = self._known(kind)
        return bool(known.drift) and not known.drift_reported

    def leaves_tails(self, kind: EventKind) -> bool:
        """Whether payloads that fit the first of `layouts` may have bytes left over."""
        known = self._known(kind)
        return kind.newer or (len(known.readings) == 1 and not known.exact)

    def _known(self, kind: EventKind) -> _KindReadings:
        known = self._readings.get(kind.index)
        if known is None:
            known = self._readings[kind.index] = self._make(kind)
        return known

    def _own(self, kind: EventKind) -> _KindReadings:
        """The same, with records of this kind's own class."""
        known = self._known(kind)
        if known is self._fieldless:
            known = self._readings[kind.index] = _KindReadings(reason=NO_FIELDS, without_fields=True)
            self._describe(kind, known)
        return known

    def fits(self, kind: EventKind, data: bytes) -> bool:
        """Whether a payload fits a known layout exactly; kinds without one always fit.

        So do those for which a user's layout overrides the trace's: it may be wrong, and proves no damage.
        """
        if (self._known(kind).exact and kind.info.own) if kind.info is not None else not kind.row.fields:
            return True
        payload, tail, _ = self.read(kind, data, 0)
        return kind.newer or not (tail or isinstance(payload, RawPayload))

    def _other(
        self, kind: EventKind, known: _KindReadings, data: bytes, offset: int, misfit: Misfit
    ) -> tuple[Any, bytes, Problem | None]:
        """Another reading, if one fits the payload exactly; otherwise the first one's fault."""
        for reading in known.readings[1:]:
            exact = _exact(reading, data)
            if exact is not None:
                return exact, b"", _drift(kind, known, offset)
        label = event_label(kind)
        text = (
            f"{label}: {misfit.why} at field {misfit.field!r}: "
            f"needs {misfit.needed} bytes, {misfit.available} available{_hint(known)}"
        )
        problem = Problem(
            "short-payload",
            "payload",
            text,
            offset + misfit.offset,
            misfit.available,
            event=label,
            field=misfit.field,
            impact="this event's fields from here on",
            needed=misfit.needed,
        )
        reason = f"{misfit.why} at field {misfit.field!r}"
        return RawPayload(data, reason, misfit.partial), b"", problem

    def _make(self, kind: EventKind) -> _KindReadings:
        if kind.info is not None and not (kind.info.only_undescribed and kind.row.fields):
            return self._registered(kind, kind.info)
        row = kind.row
        if kind.undefined:
            return _KindReadings(reason="the event's description is missing from the trace")
        if not row.fields and not row.name:
            return _KindReadings()
        if not row.fields:
            # One for all of them until there is a record: a crafted trace may describe very many.
            if not self._fieldless.readings:
                self._describe(kind, self._fieldless)
            return self._fieldless
        try:
            known = _KindReadings(reason=NO_FIELDS)
            self._describe(kind, known)
            known.drift = _unlike(kind, known.readings[0].fields)
            return known
        except Undescribable as error:
            return _KindReadings(reason=f"unusable description: {error}")
        except OverflowError:
            return _KindReadings(reason=TOO_MANY)

    def _registered(self, kind: EventKind, info: EventInfo) -> _KindReadings:
        """By the registry and, if the trace describes the event differently, also by that, which is reported.

        A user's layout is obeyed: the trace's description is only compared with it.
        """
        bound = info.layout.bind(self._pointer_size)
        known = _KindReadings([self._reading(bound, info.layout, lambda: info.record)])
        other: Any = info.otherwise
        if other is not None:
            bound = other.__layout__.bind(self._pointer_size)
            known.readings.append(self._reading(bound, other.__layout__, lambda: other))
        if not kind.row.fields or kind.newer:
            return known
        known.exact = info.own
        try:
            described = self._classes.layout(kind.row.fields, Variant())
            known.drift = "" if described is None else drift(info.layout, described.fields)
            if known.drift and not info.own:
                self._describe(kind, known)
        except (Undescribable, OverflowError):
            pass
        return known

    def _describe(self, kind: EventKind, known: _KindReadings) -> None:
        """Add the readings allowed by the trace's own description."""
        for variant in variants(kind.row.fields, kind.row.provider):
            layout = self._classes.layout(kind.row.fields, variant)
            if layout is None:
                raise OverflowError
            bound = layout.bind(self._pointer_size)
            known.readings.append(self._reading(bound, layout, partial(self._learned, _class_name(kind), layout)))
        # The Linux recorder appends fields to what it describes; and what is located lies behind the last field.
        located = {TypeCode.RELLOC, TypeCode.DATALOC}.intersection(described_codes(kind.row.fields))
        known.exact = not (located or kind.row.provider.startswith("Universal."))

    def _reading(self, bound: BoundLayout, layout: Layout, record: Callable[[], type[Any]]) -> _LayoutReading:
        return _LayoutReading(bound, layout, record, lambda layout, record: record_decoder(layout, record, self._texts))

    def _learned(self, name: str, layout: Layout) -> type[Any]:
        """A class made for this layout. Raises OverflowError if there are too many already."""
        record = self._classes.get(name, layout)
        if record is None:
            raise OverflowError
        return record


def event_label(kind: EventKind) -> str:
    """The event's name and version for messages."""
    return f"{kind.key.name}_V{kind.key.version}"


def _class_name(kind: EventKind) -> str:
    """The name of the learned class, for display only."""
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in kind.key.name)[:80]
    return f"{name or 'Event'}_V{kind.key.version}"


def _exact(reading: _LayoutReading, data: bytes) -> Any:
    """The record, if this reading fits the payload exactly; otherwise None."""
    try:
        payload, end = reading.decode(data, 0, len(data))
    except (Misfit, OverflowError):
        return None
    return payload if end == len(data) else None


def _unknown(kind: EventKind, data: bytes, offset: int, reason: str) -> Problem:
    label = event_label(kind)
    text = f"{label} of {kind.key.provider or 'an unknown provider'}: {reason}"
    return Problem("unknown-event", "note", text, offset, len(data), event=label, impact="its payload stays bytes")


def _drift(kind: EventKind, known: _KindReadings, offset: int) -> Problem | None:
    """Once per kind: the trace's description and the registry disagree."""
    if not known.drift or known.drift_reported:
        return None
    known.drift_reported = True
    label = event_label(kind)
    if (kind.key.provider, kind.key.name) in MARKS:
        text = f"{label}: {known.drift}"
        return Problem("bad-mark", "payload", text, offset, event=label, impact="what the mark says of the trace")
    return Problem(
        "schema-drift",
        "note",
        f"{label}: {known.drift}",
        offset,
        event=label,
        impact="this event's fields, if either is wrong",
    )


def _unlike(kind: EventKind, described: Layout) -> str:
    """How a description differs from what is read of an event that only traces describe; "" if it does not."""
    types = {field.name: column_type(field.type) for field in described}
    for name, type, needed in SELF_DESCRIBED.get((kind.key.provider, kind.key.name), ()):
        if name not in types and needed:
            return f"the trace describes it without the field {name}"
        if name in types and not fits(ColumnType(type), types[name]):
            return f"field {name}: {type} is expected, the trace describes {types[name]}"
    return ""


def _hint(known: _KindReadings) -> str:
    """For a user's layout that does not fit: how the trace describes the event."""
    return f" ({known.drift})" if known.exact and known.drift else ""


def _too_long(
    kind: EventKind, known: _KindReadings, payload: Any, data: bytes, end: int, offset: int
) -> tuple[RawPayload, bytes, Problem]:
    """What a user's layout or the trace's own description leaves over: it does not fit."""
    label, left = event_label(kind), len(data) - end
    reason = f"{left} bytes left after the last field of {type(payload).__name__}"
    text = f"{label}: {reason}{_hint(known)}"
    problem = Problem("long-payload", "payload", text, offset + end, left, event=label, impact="this event's fields")
    return RawPayload(data, reason, asdict(payload)), b"", problem


def _tail(kind: EventKind, data: bytes, end: int, offset: int) -> Problem | None:
    label = event_label(kind)
    left = len(data) - end
    if kind.newer:
        assert kind.info is not None
        text = f"{label}: known only up to version {kind.info.version}; {left} bytes kept as payload_tail"
        return Problem("newer-version", "note", text, offset + end, left, event=label, impact="its newest fields")
    text = f"{label}: {left} bytes after its last field kept as payload_tail"
    return Problem("payload-tail", "note", text, offset + end, left, event=label, impact="the meaning of these bytes")

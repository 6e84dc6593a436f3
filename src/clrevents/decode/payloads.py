"""Payload bytes of one event → its record, or an honest `RawPayload`, and the problem if there is one.

Joins an event kind with its reader. Decides what counts as a problem; knows neither order nor selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from clrevents.decode.records import Misfit, Reader, TextCache, make_reader
from clrevents.decode.tables import EventKind
from clrevents.errors import Problem


@attrs.frozen
class RawPayload:
    """A payload that could not be read as fields: its bytes, why, and the fields in front of the fault."""

    data: bytes
    reason: str
    partial: Mapping[str, Any] = attrs.field(factory=dict)


UNKNOWN = "no schema is known for this event"


class PayloadReader:
    """Reads payloads of any kind of event of one trace; readers are made when a kind is first met."""

    def __init__(self, pointer_size: int) -> None:
        self._pointer_size = pointer_size
        self._readers: dict[int, Reader | None] = {}
        self._texts = TextCache()

    def read(self, kind: EventKind, data: bytes, offset: int) -> tuple[Any, bytes, Problem | None]:
        """(payload, tail, problem). `offset` is where `data` stands in the stream."""
        try:
            reader = self._readers[kind.index]
        except KeyError:
            reader = self._readers[kind.index] = self._make(kind)
        if reader is None:
            return RawPayload(data, UNKNOWN), b"", _unknown(kind, data, offset)
        try:
            payload, end = reader(data, 0, len(data))
        except Misfit as misfit:
            return self._misfit(kind, data, offset, misfit)
        if end == len(data) and not kind.newer:
            return payload, b"", None
        return payload, data[end:], _tail(kind, data, end, offset)

    def _make(self, kind: EventKind) -> Reader | None:
        if kind.info is None:
            return None
        layout = kind.info.layout.bind(self._pointer_size)
        return make_reader(layout, kind.info.record, self._texts)

    def _misfit(self, kind: EventKind, data: bytes, offset: int, misfit: Misfit) -> tuple[RawPayload, bytes, Problem]:
        label = event_label(kind)
        text = (
            f"{label}: {misfit.why} at field {misfit.field}: "
            f"it needs {misfit.needed} bytes, {misfit.available} are there"
        )
        problem = Problem(
            "short-payload",
            "payload",
            text,
            offset + misfit.offset,
            misfit.available,
            event=label,
            field=misfit.field,
            breaks="this event's fields from here on",
        )
        reason = f"{misfit.why} at field {misfit.field}"
        return RawPayload(data, reason, misfit.partial), b"", problem


def event_label(kind: EventKind) -> str:
    """The event's name and version, as messages show it."""
    return f"{kind.key.name}_V{kind.key.version}"


def _unknown(kind: EventKind, data: bytes, offset: int) -> Problem:
    label = event_label(kind)
    text = f"{label} of {kind.key.provider or 'an unknown provider'}: {UNKNOWN}"
    return Problem("unknown-event", "note", text, offset, len(data), event=label, breaks="its payload stays bytes")


def _tail(kind: EventKind, data: bytes, end: int, offset: int) -> Problem | None:
    label = event_label(kind)
    left = len(data) - end
    if kind.newer:
        assert kind.info is not None
        text = f"{label}: only versions up to {kind.info.version} are known; {left} bytes are kept as payload_tail"
        return Problem("newer-version", "note", text, offset + end, left, event=label, breaks="its newest fields")
    text = f"{label}: {left} bytes follow its last field and are kept as payload_tail"
    return Problem("payload-tail", "note", text, offset + end, left, event=label, breaks="what these bytes mean")

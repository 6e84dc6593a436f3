"""An `Event` as one JSON object, with its keys in a fixed order, or as one line of ASCII text.

Integers stay exact integers, and so do FILETIMEs unless names are requested; values without a JSON form become text:
GUIDs, bytes as hex, non-finite floats. Knows record classes only through their layouts; writes to no file.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any, Final, TypeAlias

from clrevents.export.files.json_pieces import finite, json_text
from clrevents.schema.types import FileTime
from clrevents.schema.wire import ArrayType, StructType, WireType
from clrevents.symbols.frame import Frame
from clrevents.trace import Event, EventKey, label_list

_Event: TypeAlias = Event[object]

Convert: TypeAlias = Callable[[Any], object]
Record: TypeAlias = Callable[[object], dict[str, object]]

# How long a list of labels may be that is written with every event, and the room for longer ones, in characters.
_ALWAYS: Final = 1024
_ROOM: Final = 16 << 20


class EventJson:
    """Turns events into JSON objects and lines.

    `names` writes enums and times as text, `stacks` adds each event's stack; together they add the names of its
    frames and, where `continued` gives other frames, `async_frames`. Use one instance per trace: it caches what it
    knows about each record class.

    Events of NetTrace 6 may share a list of labels of any length. One of more than 1,024 characters is written with
    its first event; with later ones as long as there is room: `label_room` characters, and 1,024 more for each event
    with labels. Without room, `labels_omitted` is the number of labels.
    """

    def __init__(
        self,
        *,
        names: bool = False,
        stacks: bool = False,
        label_room: int = _ROOM,
        continued: Callable[[_Event], tuple[Frame, ...]] | None = None,
    ) -> None:
        self._continued = continued
        self._names = names
        self._stacks = stacks
        self._records: dict[type, Record | None] = {}
        self._heads: dict[int, tuple[object, str]] = {}
        self._labels = _LabelRoom(label_room)

    def object(self, event: _Event) -> dict[str, Any]:
        """The event as a dict that `json.dumps` accepts."""
        whole: dict[str, Any] = json.loads(self.line(event))
        return whole

    def line(self, event: _Event) -> str:
        """The event as text, without a newline. Hand-written, because a big trace has millions of lines."""
        thread_id = event.thread_id
        payload = self.payload(event.payload)
        activity, related = event.activity_id, event.related_activity_id
        text = (
            f'{self._head(event.key)}, "time_ns": {event.time_ns}, '
            f'"thread_id": {"null" if thread_id < 0 else thread_id}, '
            f'"process_id": {_number(event.process_id)}, "processor": {_number(event.processor)}, '
            f'"opcode": {event.opcode}, "level": {event.level}, "keywords": {event.keywords}, '
            f'"activity_id": {_quoted(activity)}, "related_activity_id": {_quoted(related)}, '
            f'"payload": {"null" if payload is None else json_text(payload)}'
        )
        extras = self._extras(event, payload)
        return f"{text}, {json_text(extras)[1:]}" if extras else text + "}"

    def payload(self, record: Any) -> dict[str, Any] | None:
        """A record's fields by their wire names; None for a payload whose fields could not be read."""
        try:
            convert = self._records[type(record)]
        except KeyError:
            convert = self._records[type(record)] = self._record(type(record))
        return None if convert is None else convert(record)

    def _extras(self, event: _Event, payload: dict[str, Any] | None) -> dict[str, Any]:
        """The keys that only some events have."""
        extras: dict[str, Any] = {}
        if tail := event.payload_tail:
            extras["payload_tail"] = tail.hex()
        if payload is None:
            extras["payload_bytes"] = event.payload_bytes.hex()
        if event.activity_id is not None and (path := event.activity_path) is not None:
            extras["activity_path"] = path
        if self._stacks:
            extras["stack"] = list(event.stack)
            if self._names:
                frames = event.frames
                extras["frames"] = [frame.label for frame in frames]
                if self._continued is not None and (others := self._continued(event)) != frames:
                    extras["async_frames"] = [frame.label for frame in others]
        if (trace_id := event.trace_id) is not None:
            extras["trace_id"] = trace_id
        if (span_id := event.span_id) is not None:
            extras["span_id"] = span_id
        labels = label_list(event)
        if labels is not None and labels.pairs:
            if self._labels.fits(labels):
                extras["labels"] = dict(labels.by_name)
            else:
                extras["labels_omitted"] = len(labels.by_name)
        return extras

    def _head(self, key: EventKey) -> str:
        """The start of the lines of one kind. The key is kept, so that its `id` is not reused."""
        known = self._heads.get(id(key))
        if known is None:
            head = {"provider": key.provider, "id": key.id, "version": key.version, "name": key.name}
            known = self._heads[id(key)] = key, json_text(head)[:-1]
        return known[1]

    def _record(self, cls: Any) -> Record | None:
        """How to turn records of a class into dicts; None if it has no layout."""
        layout = getattr(cls, "__layout__", None)
        if layout is None:
            return None
        names = tuple(field.name for field in layout.fields)
        if not names:
            return lambda record: {}
        get = attrgetter(*cls.__fields__)
        values = get if len(names) > 1 else lambda record: (get(record),)
        changes = [(f.name, c) for f in layout.fields if (c := self._convert(f.type)) is not None]

        def convert(record: object) -> dict[str, object]:
            # One value for each name: both come from the same layout.
            result = dict(zip(names, values(record)))  # noqa: B905
            for name, change in changes:
                result[name] = change(result[name])
            return result

        return convert

    def _convert(self, wire: WireType) -> Convert | None:
        """How values of a wire type become JSON; None if they already are."""
        if wire.enum is not None:
            return _name if self._names else None
        if isinstance(wire, StructType):
            return self.payload
        if isinstance(wire, ArrayType):
            return self._elements(self._convert(wire.element))
        if wire.kind == "filetime":
            return _moment if self._names else None
        if wire.kind == "float":
            return finite
        return _text if wire.kind in ("guid", "decimal") or wire.column == "binary" else None

    def _elements(self, convert: Convert | None) -> Convert:
        """Arrays become lists. Text is not an array to users, even if it is on the wire."""

        def change(values: object) -> object:
            if not isinstance(values, tuple):
                return _text(values)
            return list(values) if convert is None else [convert(v) for v in values]

        return change


class _LabelRoom:
    """Decides whether labels are written again. Lists are distinguished by identity, and not kept alive."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._known: dict[int, tuple[weakref.ref[object], int]] = {}

    def fits(self, labels: Any) -> bool:
        """Whether an event's labels are to be written."""
        self._room += _ALWAYS
        known = self._known.get(id(labels))
        if known is None:
            size = len(json_text(dict(labels.by_name)))
            key, forget = id(labels), self._known.pop
            self._known[key] = weakref.ref(labels, lambda _: forget(key, None)), size
            return True
        size = known[1]
        if size > _ALWAYS:
            if size > self._room:
                return False
            self._room -= size
        return True


def _number(value: int | None) -> int | str:
    return "null" if value is None else value


def _quoted(guid: object) -> str:
    return "null" if guid is None else f'"{guid}"'


def _moment(value: object) -> object:
    """ISO text; a number if no date can hold it."""
    return str(value) if isinstance(value, FileTime) and value.utc is not None else value


def _name(value: object) -> object:
    return str(value) if isinstance(value, Enum) else value


def _text(value: object) -> object:
    """Bytes as hex, a GUID or a Decimal as text; numbers and None unchanged."""
    if value is None or isinstance(value, str | int | float):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)

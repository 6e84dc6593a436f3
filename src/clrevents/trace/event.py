"""`Event`, a light view of one row, and `EventRows`, some consecutive decoded rows as it reads them.

Time, thread, name and payload belong to the event; other header attributes are computed on access. A column becomes a
list when its first value is read: few rows at once, so that most values are still in the processor's cache. All of them
outlive the trace and can be pickled, because the rows own their data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import attrs

from clrevents._util.value_classes import define
from clrevents._util.words import counted, moment_text, safe
from clrevents.decode.container.blocks import LabelList
from clrevents.decode.container.window import unpack_words
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKey, EventKind
from clrevents.decode.rows import UNKNOWN_THREAD, Guids
from clrevents.schema.activity_path import activity_path
from clrevents.symbols.frame import Frame, FrameSource, Named, nameless
from clrevents.trace.display import event_html


@define(eq=False, repr=False, slots=False)
class EventRows:
    """The `count` rows from `first` on, and the resolver that names the addresses of their stacks, or None."""

    rows: DecodedRows
    resolver: FrameSource | None = None
    first: int = 0
    count: int = 1

    @property
    def _part(self) -> slice:
        return slice(self.first, self.first + self.count)

    @cached_property
    def kinds(self) -> list[EventKind]:
        """The kind of each row."""
        every = self.rows.kinds
        return [every[index] for index in self.rows.kind_indexes[self._part].tolist()]

    @cached_property
    def times(self) -> list[datetime | None]:
        """In UTC."""
        rows = self.rows
        return rows.clock.utc_list(rows.ticks[self._part])

    @cached_property
    def processes(self) -> list[int | None]:
        rows = self.rows
        if rows.process_ids is None:
            return [rows.process_id] * self.count
        return [rows.process_id if own is None else own for own in rows.process_ids[self._part]]

    @cached_property
    def stack_ids(self) -> list[int]:
        return self.rows.stack_ids[self._part].tolist()  # type: ignore[no-any-return]

    @cached_property
    def processors(self) -> list[int]:
        """-1 where unknown."""
        return self.rows.processors_of(self._part)

    @cached_property
    def activities(self) -> list[UUID | None]:
        """The activity id of each row, from its header or its labels."""
        if self.rows.labels is None:
            return self._guids(self.rows.activities)
        labelled = [None if one is None else one.activity_id for one in self.labels]
        return self._labelled_guids(self.rows.activities, labelled)

    @cached_property
    def related_activities(self) -> list[UUID | None]:
        if self.rows.labels is None:
            return self._guids(self.rows.related_activities)
        labelled = [None if one is None else one.related_activity_id for one in self.labels]
        return self._labelled_guids(self.rows.related_activities, labelled)

    @cached_property
    def labels(self) -> list[LabelList | None]:
        """The label list of each row."""
        column = self.rows.labels
        return [None] * self.count if column is None else column[self._part]

    @cached_property
    def _stack_tuples(self) -> dict[int, tuple[int, ...]]:
        return {}

    def _guids(self, column: Guids | None) -> list[UUID | None]:
        """Equal ones are one object."""
        if column is None:
            return [None] * self.count
        places = column.places[self._part].tolist()
        data = {place: column.each[place] for place in {*places} if place >= 0}
        uuids = {one: UUID(bytes_le=one) for one in {*data.values()}}
        by_place: dict[int, UUID | None] = {place: uuids[one] for place, one in data.items()}
        return list(map(by_place.get, places))

    def _labelled_guids(self, column: Guids | None, labelled: list[bytes | None]) -> list[UUID | None]:
        """Equal ones are one object."""
        places = [-1] * self.count if column is None else column.places[self._part].tolist()
        uuids: dict[bytes | None, UUID | None] = {None: None}
        guids = []
        for place, label in zip(places, labelled, strict=True):
            data = label if label is not None or place < 0 or column is None else column.each[place]
            if data is not None and data not in uuids:
                uuids[data] = UUID(bytes_le=data)
            guids.append(uuids[data])
        return guids

    def thread_id(self, row: int) -> int:
        """-1 where NetTrace 6 does not give one."""
        rows = self.rows
        thread = int(rows.thread_ids[self.first + row])
        return -1 if thread == UNKNOWN_THREAD and rows.thread_places is not None else thread

    def time_ns(self, row: int) -> int:
        """Nanoseconds since the session started."""
        rows = self.rows
        return rows.clock.ns(int(rows.ticks[self.first + row]))

    def payload_bytes(self, row: int) -> bytes:
        rows, row = self.rows, self.first + row
        return rows.data[int(rows.starts[row]) : int(rows.ends[row])]

    def payload_tail(self, row: int) -> bytes:
        return self.rows.tails.get(self.first + row, b"")

    def stack(self, row: int) -> tuple[int, ...]:
        """Code addresses, innermost first."""
        stack_id = self.stack_ids[row]
        known = self._stack_tuples.get(stack_id)
        if known is None:
            known = unpack_words(self.rows.stack_bytes.get(stack_id, b""), self.rows.pointer_size)
            self._stack_tuples[stack_id] = known
        return known

    def frames(self, row: int, time_ns: int) -> tuple[Frame, ...]:
        """The same with names, as of the event's time."""
        stack = self.stack(row)
        if self.resolver is None or not stack:
            return nameless(stack)
        return self.resolver.frames(stack, time_ns, self.processes[row])

    def alone(self, row: int) -> EventRows:
        """One row that keeps no others alive."""
        return EventRows(self.rows.only(self.first + row), self.resolver)

    def only(self, row: int) -> EventRows:
        """The same, for pickling an event: with its frames if they are known."""
        named = None
        if self.resolver is not None and self.resolver.ready and self.stack(row):
            named = Named(self.frames(row, self.time_ns(row)))
        return EventRows(self.rows.only(self.first + row), named)

    def __getstate__(self) -> dict[str, object]:
        # A resolver may hold a whole trace; `only` keeps what it knows of one row. Values computed on access are
        # computed again.
        named = self.resolver if isinstance(self.resolver, Named) else None
        return {"rows": self.rows, "resolver": named, "first": self.first, "count": self.count}


P_co = TypeVar("P_co", covariant=True)
_NO_LABELS: Final[Mapping[str, str | int]] = MappingProxyType({})


# Not the project's own `frozen`, because there are too many events for a slot that nobody needs.
@attrs.frozen(eq=False, repr=False, weakref_slot=False)
class Event(Generic[P_co]):
    """One event: its header, and its payload as a record.

    Events are immutable. They can be compared, hashed and pickled, and stay usable after the trace is closed. An event
    that is kept keeps those read together with it; see `detach`. For the meaning of header fields see docs/format.md,
    "What header fields mean" and "Time".
    """

    _rows: EventRows
    _row: int
    time_ns: int
    """Nanoseconds since the session started: `(qpc - sync_qpc) * 10**9 // frequency`."""
    thread_id: int
    """The thread the event is about: for a sample, the sampled thread. -1 if NetTrace 6 does not name it."""
    name: str
    """The event's name without its version; `EventID(303)` if neither the registry nor the trace names it."""
    payload: P_co
    """A record of the event's class, or a `RawPayload` if the fields are unknown or do not fit."""

    @property
    def key(self) -> EventKey:
        """The provider, id, version and name, which all events of one kind share."""
        return self._rows.kinds[self._row].key

    @property
    def provider(self) -> str:
        """The full name of the provider."""
        return self._rows.kinds[self._row].key.provider

    @property
    def id(self) -> int:
        """The event id, which is unique within the provider."""
        return self._rows.kinds[self._row].key.id

    @property
    def version(self) -> int:
        """The version of the event's layout."""
        return self._rows.kinds[self._row].key.version

    @property
    def opcode(self) -> int:
        """The opcode in the file; 0 if there is none."""
        return self._rows.kinds[self._row].row.opcode or 0

    @property
    def level(self) -> int:
        """The level in the file, from 1 (critical) to 5 (verbose); 0 means that it is always logged."""
        return self._rows.kinds[self._row].row.level

    @property
    def keywords(self) -> int:
        """The 64-bit mask in the file, including bits 44 to 47, which belong to the session."""
        return self._rows.kinds[self._row].row.keywords

    @property
    def time(self) -> datetime | None:
        """The time in UTC, rounded down to microseconds; None if the trace does not say when it started."""
        return self._rows.times[self._row]

    @property
    def process_id(self) -> int | None:
        """The process the event is about; None if the trace does not say."""
        return self._rows.processes[self._row]

    @property
    def processor(self) -> int | None:
        """The processor number; None if unknown, as it nearly always is."""
        number = self._rows.processors[self._row]
        return None if number < 0 else number

    @property
    def activity_id(self) -> UUID | None:
        """The activity the event belongs to; None if there is none."""
        return self._rows.activities[self._row]

    @property
    def related_activity_id(self) -> UUID | None:
        """The activity that started the event's activity; None if there is none."""
        return self._rows.related_activities[self._row]

    @property
    def activity_path(self) -> str | None:
        """The numbers in `activity_id`, such as `/#4796/1/130/2/`; None if it has none that the process wrote."""
        guid = self.activity_id
        return None if guid is None else activity_path(guid, self.process_id)

    @property
    def trace_id(self) -> str | None:
        """The W3C trace id as 32 hex digits, in stored order; None if there is none. Only NetTrace 6 has it."""
        labels = self._labels
        return None if labels is None or labels.trace_id is None else labels.trace_id.hex()

    @property
    def span_id(self) -> str | None:
        """The W3C span id as 16 hex digits; None if there is none. Only NetTrace 6 has it."""
        labels = self._labels
        return None if labels is None or labels.span_id is None else f"{labels.span_id:016x}"

    @property
    def labels(self) -> Mapping[str, str | int]:
        """Labels by name, with the last value of a repeated name; read-only. Only NetTrace 6 has them."""
        labels = self._labels
        return _NO_LABELS if labels is None else labels.by_name

    @property
    def _labels(self) -> LabelList | None:
        return self._rows.labels[self._row]

    @property
    def stack_id(self) -> int:
        """The id of the stack in `Trace.stacks`; 0 without a stack, -1 if the trace lacks the stack."""
        return self._rows.stack_ids[self._row]

    @property
    def stack(self) -> tuple[int, ...]:
        """The code addresses of the call stack, innermost first; empty without a stack."""
        return self._rows.stack(self._row)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The stack with names as of the event's time, one frame for each address in `stack`.

        The first use reads `Trace.methods`, which takes one pass over the trace. A pickled event keeps its frames if
        they were already known; otherwise each frame's reason is "no names".
        """
        return self._rows.frames(self._row, self.time_ns)

    @property
    def payload_bytes(self) -> bytes:
        """The payload's bytes as in the file."""
        return self._rows.payload_bytes(self._row)

    @property
    def payload_tail(self) -> bytes:
        """Bytes after the last known field, if the event is newer than the registry; usually empty."""
        return self._rows.payload_tail(self._row)

    def detach(self) -> Event[P_co]:
        """An equal event that keeps nothing of other events in memory.

        Events share the bytes and header columns of up to 131,072 events that were read together, and one kept event
        keeps all of them. Detach the few that are kept for long; that takes longer than reading an event. A detached
        event still names its frames.
        """
        return event_of(self._rows.alone(self._row), self.payload)

    def __repr__(self) -> str:
        return f"<Event {safe(self.name)} at {moment_text(self.time_ns)}, thread {self.thread_id}: {self.payload!r}>"

    def _repr_html_(self) -> str:
        since, time = moment_text(self.time_ns), self.time
        header = [
            ("time", since if time is None else f"{since}, {time:%Y-%m-%dT%H:%M:%S.%f}Z"),
            ("thread", str(self.thread_id)),
            ("provider", self.provider),
        ]
        if self.stack_id:
            header.append(("stack", counted(len(self.stack), "frame")))
        return event_html(self.name, self.version, header, self.payload)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.key, self.time_ns, self.thread_id))

    def _state(self) -> tuple[object, ...]:
        kind = self._rows.kinds[self._row]
        return (
            kind.row,
            kind.key,
            self.time_ns,
            self.thread_id,
            self.process_id,
            self.processor,
            self.activity_id,
            self.related_activity_id,
            self._labels,
            self.stack,
            self.payload_bytes,
            self.payload_tail,
            self.payload,
        )

    def __reduce__(self) -> tuple[Callable[..., Event[Any]], tuple[object, ...]]:
        return event_of, (self._rows.only(self._row), self.payload)


def label_list(event: Event[Any]) -> LabelList | None:
    """The event's labels as the trace has them, the same object for events that share a list."""
    return event._labels


def event_of(rows: EventRows, payload: object) -> Event[Any]:
    """The event of the first of these rows."""
    return Event(rows, 0, rows.time_ns(0), rows.thread_id(0), rows.kinds[0].key.name, payload)


SLOTS = ("_rows", "_row", "time_ns", "thread_id", "name", "payload")
"""The attributes of an event, for making many at once."""

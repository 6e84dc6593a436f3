"""`Event`, a light view of one row.

Header attributes are worked out when they are asked for; the payload is the event's own. Both outlive the trace
and pickle, because its rows own what they show.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from clrevents.decode.container.blocks import LabelList
from clrevents.decode.kinds import EventKey
from clrevents.symbols.frame import Frame
from clrevents.trace.display import event_html
from clrevents.trace.event_rows import EventRows

P_co = TypeVar("P_co", covariant=True)


class Event(Generic[P_co]):
    """One event: who wrote it and when, and its `payload`, which is always a record.

    Source of the header's meaning: docs/format.md, "What header fields mean" and "Time".
    """

    __slots__ = ("_row", "_rows", "payload")

    payload: P_co
    """A typed record of the registry, or `RawPayload`."""

    def __init__(self, rows: EventRows, row: int, payload: P_co) -> None:
        self._rows = rows
        self._row = row
        self.payload = payload

    @property
    def key(self) -> EventKey:
        """(provider, id, version, name): equal for all events of the same kind."""
        return self._rows.kinds[self._row].key

    @property
    def provider(self) -> str:
        return self._rows.kinds[self._row].key.provider

    @property
    def id(self) -> int:
        return self._rows.kinds[self._row].key.id

    @property
    def version(self) -> int:
        return self._rows.kinds[self._row].key.version

    @property
    def name(self) -> str:
        """The event's name without its version; `EventID(303)` when nobody knows one."""
        return self._rows.kinds[self._row].key.name

    @property
    def opcode(self) -> int:
        """As in the file: 0 where it gives none."""
        return self._rows.kinds[self._row].row.opcode or 0

    @property
    def level(self) -> int:
        return self._rows.kinds[self._row].row.level

    @property
    def keywords(self) -> int:
        """As in the file, bits 44 to 47 of the session included."""
        return self._rows.kinds[self._row].row.keywords

    @property
    def time_ns(self) -> int:
        """Nanoseconds since the session started: `(qpc - sync_qpc) * 10**9 // frequency`."""
        return self._rows.times_ns[self._row]

    @property
    def time(self) -> datetime | None:
        """UTC, cut to microseconds; None when the trace does not say when it started."""
        rows = self._rows
        return rows.rows.clock.utc(rows.times_ns[self._row])

    @property
    def thread_id(self) -> int:
        """The thread the event is about: for a sample, the one that was sampled."""
        return self._rows.thread_ids[self._row]

    @property
    def process_id(self) -> int | None:
        """None when the trace does not say."""
        return self._rows.rows.process(self._row)

    @property
    def processor(self) -> int | None:
        """None when unknown, as it nearly always is."""
        number = self._rows.processors[self._row]
        return None if number < 0 else number

    @property
    def activity_id(self) -> UUID | None:
        labels = self._labels
        if labels is not None and labels.activity_id is not None:
            return UUID(bytes_le=labels.activity_id)
        return self._rows.guid(self._rows.activities, self._row)

    @property
    def related_activity_id(self) -> UUID | None:
        labels = self._labels
        if labels is not None and labels.related_activity_id is not None:
            return UUID(bytes_le=labels.related_activity_id)
        return self._rows.guid(self._rows.related_activities, self._row)

    @property
    def trace_id(self) -> str | None:
        """The W3C trace id as 32 hex digits, in stored order; None without one (only NetTrace 6 has them)."""
        labels = self._labels
        return None if labels is None or labels.trace_id is None else labels.trace_id.hex()

    @property
    def span_id(self) -> str | None:
        """The W3C span id as 16 hex digits; None without one (only NetTrace 6 has them)."""
        labels = self._labels
        return None if labels is None or labels.span_id is None else f"{labels.span_id:016x}"

    @property
    def labels(self) -> dict[str, str | int]:
        """Name and value labels; empty but for NetTrace 6. A name given twice keeps its last value."""
        labels = self._labels
        return {} if labels is None else dict(labels.pairs)

    @property
    def _labels(self) -> LabelList | None:
        column = self._rows.rows.labels
        return None if column is None else column[self._row]

    @property
    def stack_id(self) -> int:
        """Unique in the trace; 0 for no stack, -1 when the trace lacks the stack it names."""
        return self._rows.stack_ids[self._row]

    @property
    def stack(self) -> tuple[int, ...]:
        """Code addresses, innermost first."""
        return self._rows.stack(self._row)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The stack with names, as they were true at the event's time: as many as `stack` has addresses.

        The first use reads, in one pass over the trace, the events that tell of code; the rundown is at its end. A
        pickled event keeps its frames if they had been asked of its trace before, else they say "no names".
        """
        return self._rows.frames(self._row)

    @property
    def payload_bytes(self) -> bytes:
        """The payload as it stands in the file."""
        return self._rows.rows.payload_bytes[self._row]

    @property
    def payload_tail(self) -> bytes:
        """Bytes behind the last known field, of an event newer than the registry; usually empty."""
        return self._rows.rows.tails.get(self._row, b"")

    def __repr__(self) -> str:
        return f"<Event {self.name} at {self.time_ns / 1e6:.3f} ms, thread {self.thread_id}: {self.payload!r}>"

    def _repr_html_(self) -> str:
        since, time = f"{self.time_ns / 1e6:.3f} ms", self.time
        header = [
            ("time", since if time is None else f"{since}, {time:%Y-%m-%dT%H:%M:%S.%f}Z"),
            ("thread", str(self.thread_id)),
            ("provider", self.provider),
        ]
        if self.stack_id:
            header.append(("stack", f"{len(self.stack)} frames"))
        return event_html(self.name, self.version, header, self.payload)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.key, self.time_ns, self.thread_id))

    def _state(self) -> tuple[Any, ...]:
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

    def __reduce__(self) -> tuple[Callable[..., Event[Any]], tuple[Any, ...]]:
        return _event_of, (self._rows.only(self._row), self.payload)


def _event_of(rows: EventRows, payload: Any) -> Event[Any]:
    return Event(rows, 0, payload)


SLOTS = ("_rows", "_row", "payload")
"""The attributes of an event, for whoever makes many at once."""

"""`EventRows`: some consecutive decoded rows as `Event` reads them, one Python value at a time.

A column becomes a list when its first value is read: few rows at once, so that most values are still in the
processor's cache when they are read. Knows neither `Event` nor `Batch`.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from clrevents._util.value_classes import define
from clrevents.decode.container.blocks import LabelList
from clrevents.decode.container.window import unpack_words
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import UNKNOWN_THREAD, Guids
from clrevents.symbols.frame import Frame, FrameSource, Named, nameless


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
        made = {one: UUID(bytes_le=one) for one in {*data.values()}}
        found: dict[int, UUID | None] = {place: made[one] for place, one in data.items()}
        return list(map(found.get, places))

    def _labelled_guids(self, column: Guids | None, labelled: list[bytes | None]) -> list[UUID | None]:
        """Equal ones are one object."""
        places = [-1] * self.count if column is None else column.places[self._part].tolist()
        made: dict[bytes | None, UUID | None] = {None: None}
        found = []
        for place, label in zip(places, labelled, strict=True):
            data = label if label is not None or place < 0 or column is None else column.each[place]
            if data is not None and data not in made:
                made[data] = UUID(bytes_le=data)
            found.append(made[data])
        return found

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

    def __getstate__(self) -> dict[str, Any]:
        # A resolver may hold a whole trace; `only` keeps what it knows of one row. Values computed on access are
        # computed again.
        named = self.resolver if isinstance(self.resolver, Named) else None
        return {"rows": self.rows, "resolver": named, "first": self.first, "count": self.count}

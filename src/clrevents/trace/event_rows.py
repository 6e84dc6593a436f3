"""`EventRows`: decoded rows as `Event` reads them, one Python value at a time.

A column becomes a list when its first value is read. Knows neither `Event` nor `Batch`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from uuid import UUID

from clrevents._util.value_classes import define
from clrevents.decode.container.window import unpack_words
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.symbols.frame import Frame, FrameSource, Named, nameless


@define(eq=False, repr=False, slots=False)
class EventRows:
    """Rows, and the resolver that names the addresses of their stacks, or None."""

    rows: DecodedRows
    resolver: FrameSource | None = None

    @cached_property
    def kinds(self) -> list[EventKind]:
        """The kind of each row."""
        every = self.rows.kinds
        return [every[index] for index in self.rows.kind_indexes.tolist()]

    @cached_property
    def times_ns(self) -> list[int]:
        """Nanoseconds since the session started."""
        return self.rows.times_ns

    @cached_property
    def thread_ids(self) -> list[int]:
        """-1 where NetTrace 6 does not give one."""
        ids: list[int] = self.rows.thread_ids.tolist()
        if self.rows.thread_places is None:
            return ids
        return [-1 if thread == UNKNOWN_THREAD else thread for thread in ids]

    @cached_property
    def stack_ids(self) -> list[int]:
        return self.rows.stack_ids.tolist()  # type: ignore[no-any-return]

    @cached_property
    def processors(self) -> list[int]:
        """-1 where unknown."""
        return self.rows.processors.tolist()  # type: ignore[no-any-return]

    @cached_property
    def activities(self) -> list[bytes | None] | None:
        """The activity id of each row, sixteen bytes or None; None if no row has one."""
        return None if self.rows.activities is None else self.rows.activities.all()

    @cached_property
    def related_activities(self) -> list[bytes | None] | None:
        return None if self.rows.related_activities is None else self.rows.related_activities.all()

    @cached_property
    def _stack_tuples(self) -> dict[int, tuple[int, ...]]:
        return {}

    def guid(self, column: list[bytes | None] | None, row: int) -> UUID | None:
        data = None if column is None else column[row]
        return None if data is None else UUID(bytes_le=data)

    def stack(self, row: int) -> tuple[int, ...]:
        """Code addresses, innermost first."""
        stack_id = self.stack_ids[row]
        known = self._stack_tuples.get(stack_id)
        if known is None:
            known = unpack_words(self.rows.stack_bytes.get(stack_id, b""), self.rows.pointer_size)
            self._stack_tuples[stack_id] = known
        return known

    def frames(self, row: int) -> tuple[Frame, ...]:
        """The same with names, as of the event's time."""
        stack = self.stack(row)
        if self.resolver is None or not stack:
            return nameless(stack)
        return self.resolver.frames(stack, self.times_ns[row], self.rows.process(row))

    def only(self, row: int) -> EventRows:
        """One row, for pickling an event: with its frames if they are known."""
        named = None
        if self.resolver is not None and self.resolver.ready and self.stack(row):
            named = Named(self.frames(row))
        return EventRows(self.rows.only(row), named)

    def __getstate__(self) -> dict[str, Any]:
        # A resolver may hold a whole trace; `only` keeps what it knows of one row. Values computed on access are
        # computed again.
        return {"rows": self.rows, "resolver": self.resolver if isinstance(self.resolver, Named) else None}

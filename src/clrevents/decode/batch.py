"""`Batch`: a run of selected events in order, which owns all that its events show.

Header columns are numpy arrays and become Python values when they are asked for. Holds no window of the
stream but where most of it is payloads; knows no layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode import kernels
from clrevents.decode.blocks import LabelList, ThreadRow
from clrevents.decode.bulk import Records
from clrevents.decode.clock import Clock
from clrevents.decode.event import SLOTS, Event
from clrevents.decode.frame import Frame, Named, Resolver, nameless
from clrevents.decode.kinds import EventKind
from clrevents.decode.losses import Loss
from clrevents.decode.payloads import RawPayload
from clrevents.decode.region import Guids, Rows, Runs, joined_windows
from clrevents.decode.select import Selector
from clrevents.decode.tabling import AnyTable, Tabler
from clrevents.decode.window import unpack_words
from clrevents.errors import Problem

Ints: TypeAlias = NDArray[np.int64]

_EVENTS: kernels.Maker[Event[Any]] = kernels.Maker(Event, SLOTS)
# From so many payloads on, copying all windows first is cheaper than cutting out one after the other.
_MANY = 1 << 12
_UNKNOWN_THREAD = (1 << 64) - 1
# As many rows as a reader puts into a batch at most.
MOST_ROWS = 1 << 17


@attrs.define(eq=False, repr=False, slots=False)
class Batch:
    """A run of selected events in order. Iterating gives events; it owns their data.

    `places` are the rows' kinds as indexes into `every_kind`; payloads are `data[starts[i]:ends[i]]`. `runs` tell
    capture threads and processors by `file_rows`; `owners` and (in NetTrace 6) `captures` are places in
    `thread_rows`; `counted` when events carry sequence numbers. `misfits` are the rows whose payload does not
    fit its layout; `problems` and `losses` are those that came up since the batch before it. `resolver` names
    addresses and `tabler` makes tables; decoding sets none.
    """

    every_kind: list[EventKind]
    clock: Clock
    pointer_size: int
    process_id: int | None
    places: Ints
    qpc: Ints
    thread_column: NDArray[np.uint64]
    numbers: Ints
    data: bytes
    starts: Ints
    ends: Ints
    file_rows: Ints
    runs: Runs
    stacks: dict[int, bytes]
    activities: Guids | None = None
    related: Guids | None = None
    counted: bool = True
    owner_column: Ints | None = None
    thread_rows: list[ThreadRow] = attrs.field(factory=list)
    processes: list[int | None] | None = None
    labels: list[LabelList | None] | None = None
    records: list[Any] | Records = attrs.field(factory=list)
    tails: dict[int, bytes] = attrs.field(factory=dict)
    misfits: set[int] = attrs.field(factory=set)
    problems: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()
    resolver: Resolver | None = None
    tabler: Tabler | None = None

    def __len__(self) -> int:
        return len(self.qpc)

    def __iter__(self) -> Iterator[Event[Any]]:
        payloads = self.payloads
        if len(payloads) != len(self):
            payloads = [RawPayload(data, "not asked for") for data in self.raw]
        return iter(self._events(0, payloads))

    def _events(self, first: int, payloads: list[Any]) -> list[Event[Any]]:
        """The events of the rows from `first` on, with these payloads."""
        rows = len(payloads)
        return _EVENTS.of([[self] * rows, np.arange(first, first + rows), payloads])(0, rows)

    @property
    def payloads(self) -> list[Any]:
        """Each row's record, or `RawPayload`; empty where they were not asked for."""
        if not isinstance(self.records, list):
            self.records = self.records.all()
        return self.records

    def table(self, selector: Selector, /, *, columns: Sequence[str] | None = None, names: bool = False) -> AnyTable:
        """The batch's events of one kind as a `clrevents.Table`; columns and errors as for `Trace.table`.

        Of an event that only the trace describes, what was described so far decides on the columns.
        """
        if self.tabler is None:
            raise ValueError("decode.Decoder makes no tables: use clrevents.Decoder")
        return self.tabler.table(self, selector, columns, names)

    def hand_out(self) -> Iterator[Event[Any]]:
        """The events, made while they are taken; the batch no longer keeps their payloads alive."""
        records, self.records = self.records, []
        return chain.from_iterable(self._made(iter([records]) if isinstance(records, list) else records.runs()))

    def _made(self, runs: Iterator[list[Any]]) -> Iterator[list[Event[Any]]]:
        first = 0
        while events := self._next(first, runs):
            first += len(events)
            yield events
            # What is let go before the next run is made leaves it its memory, which is still in the cache.
            del events

    def _next(self, first: int, runs: Iterator[list[Any]]) -> list[Event[Any]]:
        with kernels.collector_paused():
            return self._events(first, next(runs, []))

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} events, {len(self.problems)} problems, {len(self.losses)} losses>"

    @cached_property
    def kinds(self) -> list[EventKind]:
        """The kind of each row."""
        every = self.every_kind
        return [every[place] for place in self.places.tolist()]

    @cached_property
    def ticks(self) -> list[int]:
        """Raw clock ticks."""
        return self.qpc.tolist()  # type: ignore[no-any-return]

    @cached_property
    def times_ns(self) -> list[int]:
        return self.clock.ns_list(self.qpc)

    @cached_property
    def threads(self) -> list[int]:
        """Thread ids, -1 where NetTrace 6 does not give one."""
        ids: list[int] = self.thread_column.tolist()
        if self.owner_column is None:
            return ids
        return [-1 if thread == _UNKNOWN_THREAD else thread for thread in ids]

    @cached_property
    def stack_ids(self) -> list[int]:
        return self.numbers.tolist()  # type: ignore[no-any-return]

    @cached_property
    def raw(self) -> list[bytes]:
        """Each row's payload bytes."""
        data = self.data
        return [data[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    @cached_property
    def owners(self) -> list[int] | None:
        return None if self.owner_column is None else self.owner_column.tolist()

    @cached_property
    def captures(self) -> list[int]:
        """The threads whose buffers the events came from (NetTrace 6: places in `thread_rows`)."""
        return self.runs.captures_of(self.file_rows).tolist()  # type: ignore[no-any-return]

    @cached_property
    def processors(self) -> list[int]:
        """-1 where unknown, also for events about another thread than the writing one."""
        about = self.thread_column if self.owner_column is None else self.owner_column.view(np.uint64)
        return self.runs.processors_of(self.file_rows, about).tolist()  # type: ignore[no-any-return]

    @cached_property
    def _stack_tuples(self) -> dict[int, tuple[int, ...]]:
        return {}

    def kind(self, row: int) -> EventKind:
        return self.kinds[row]

    @cached_property
    def activity_list(self) -> list[bytes | None] | None:
        """The activity id of each row, sixteen bytes or None; None when no row has any."""
        return None if self.activities is None else self.activities.all()

    @cached_property
    def related_list(self) -> list[bytes | None] | None:
        return None if self.related is None else self.related.all()

    def guid(self, column: list[bytes | None] | None, row: int) -> UUID | None:
        data = None if column is None else column[row]
        return None if data is None else UUID(bytes_le=data)

    def stack(self, row: int) -> tuple[int, ...]:
        number = self.stack_ids[row]
        known = self._stack_tuples.get(number)
        if known is None:
            known = unpack_words(self.stacks.get(number, b""), self.pointer_size)
            self._stack_tuples[number] = known
        return known

    def frames(self, row: int, process_id: int | None) -> tuple[Frame, ...]:
        stack = self.stack(row)
        if self.resolver is None or not stack:
            return nameless(stack)
        return self.resolver.frames(stack, self.times_ns[row], process_id)

    def __getstate__(self) -> dict[str, Any]:
        # A resolver may hold a whole trace; what it knows of one row goes along with `only`. What is worked out
        # on access is worked out again.
        names = {a.name for a in attrs.fields(Batch)}
        state = {name: value for name, value in self.__dict__.items() if name in names}
        state["resolver"] = self.resolver if isinstance(self.resolver, Named) else None
        state["records"] = self.payloads
        return state

    def take(self, rows: list[int]) -> Batch:
        """A batch of these rows, in rising order, with their payloads."""
        chosen = np.array(rows, dtype=np.int64)

        def pick(column: list[Any] | None) -> list[Any] | None:
            return None if column is None else [column[row] for row in rows]

        return attrs.evolve(
            self,
            places=self.places[chosen],
            qpc=self.qpc[chosen],
            thread_column=self.thread_column[chosen],
            numbers=self.numbers[chosen],
            starts=self.starts[chosen],
            ends=self.ends[chosen],
            file_rows=self.file_rows[chosen],
            activities=None if self.activities is None else self.activities.take(chosen),
            related=None if self.related is None else self.related.take(chosen),
            owner_column=None if self.owner_column is None else self.owner_column[chosen],
            processes=pick(self.processes),
            labels=pick(self.labels),
            records=[self.payloads[row] for row in rows] if self.payloads else [],
            tails={new: self.tails[old] for new, old in enumerate(rows) if old in self.tails},
            misfits={new for new, old in enumerate(rows) if old in self.misfits},
        )

    def only(self, row: int, process_id: int | None = None) -> Batch:
        """A batch of one row, which is what an event takes along when it is pickled."""
        number = self.stack_ids[row]
        named = None
        if self.resolver is not None and self.resolver.ready and self.stack(row):
            named = Named(self.frames(row, process_id))
        start, end = int(self.starts[row]), int(self.ends[row])
        return attrs.evolve(
            self.take([row]),
            every_kind=[self.kind(row)],
            places=np.zeros(1, dtype=np.int64),
            data=self.data[start:end],
            starts=np.zeros(1, dtype=np.int64),
            ends=np.array([end - start], dtype=np.int64),
            file_rows=np.zeros(1, dtype=np.int64),
            runs=self.runs.only(int(self.file_rows[row])),
            stacks={number: self.stacks[number]} if number in self.stacks else {},
            activities=_one_guid(self.activities, row),
            related=_one_guid(self.related, row),
            thread_rows=[],
            records=[],
            problems=(),
            losses=(),
            resolver=named,
            tabler=None,
        )


def _one_guid(guids: Guids | None, row: int) -> Guids | None:
    data = None if guids is None else guids.get(row)
    return None if data is None else Guids(np.zeros(1, dtype=np.int64), [data])


@attrs.frozen(eq=False)
class Payloads:
    """Where the payloads of rows are: `data[starts[i]:ends[i]]`."""

    data: bytes
    starts: Ints
    ends: Ints

    def slice(self, part: slice) -> Payloads:
        return Payloads(self.data, self.starts[part], self.ends[part])


def payloads_of(rows: Rows) -> Payloads:
    """The payloads of these rows, together with what lies between them unless that is more than they are."""
    size = int(rows.sizes.sum())
    if 2 * size >= sum(map(len, rows.shared.windows)):
        data, _, starts = joined_windows([rows])
        return Payloads(data, starts, starts + rows.sizes)
    # A few events must not keep the windows of many others alive.
    ends = np.cumsum(rows.sizes)
    if len(rows) < _MANY:
        data = b"".join(rows.payloads())
    else:
        joined, _, starts = joined_windows([rows])
        data = kernels.gather(joined, starts, rows.sizes).tobytes()
    return Payloads(data, ends - rows.sizes, ends)


def make_batch(
    rows: Rows, payloads: Payloads, kinds: list[EventKind], clock: Clock, pointer_size: int, process_id: int | None
) -> Batch:
    """What these rows show, without decoding payloads."""
    numbers = rows.stacks
    shared = rows.shared
    return Batch(
        kinds,
        clock,
        pointer_size,
        process_id,
        rows.kinds,
        rows.times,
        rows.threads,
        numbers,
        payloads.data,
        payloads.starts,
        payloads.ends,
        rows.file_rows,
        shared.runs,
        _stacks(rows, numbers),
        rows.activities(),
        rows.related_activities(),
        shared.counted,
        rows.owners,
        shared.thread_rows,
        rows.process_ids(),
        rows.labels(),
    )


def _stacks(rows: Rows, numbers: Ints) -> dict[int, bytes]:
    """The bytes of every stack that a row has, by its number."""
    if not len(numbers):
        return {}
    low = max(int(numbers.min()), 1)
    high = int(numbers.max())
    if high < low:
        return {}
    found: dict[int, bytes] = {}
    if high - low > 4 * len(numbers) + (1 << 16):
        wanted = np.unique(numbers[numbers > 0])
    else:
        mask = np.zeros(high - low + 1, dtype=np.bool_)
        mask[numbers[numbers > 0] - low] = True
        wanted = np.flatnonzero(mask) + low
    for known, window, starts, sizes in rows.shared.stacks.pieces(wanted):
        ends = (starts + sizes).tolist()
        for number, start, end in zip(known.tolist(), starts.tolist(), ends, strict=True):
            found[number] = window[start:end]
    return found

"""`DecodedRows`: selected rows that own all they show: headers, payload bytes, records, stacks.

Header columns stay numpy arrays. Holds no window of the stream unless most of it is payloads; knows no layouts, no
names for addresses, and nothing of how events are shown to users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Generic, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import LabelList, ThreadRow
from clrevents.decode.kernels.engine import Ints, gather
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.record_reader import DirectRecords
from clrevents.decode.rows import Guids, Rows, Runs, joined_stretches, joined_windows, marked_guids
from clrevents.decode.stacks import StackTable
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem
from clrevents.schema.layout import BoundLayout

T = TypeVar("T")

# From this many payloads on, copying whole windows first is cheaper than extracting payloads one by one.
_MANY = 1 << 12
# So many bytes between one payload and the next cost less than to take each by itself.
_APART = 64


class Later(Generic[T]):
    """What few ask for: found when it is asked for, and then kept. `find` may keep only what the rows have anyway."""

    __slots__ = ("_find", "_value")

    def __init__(self, find: Callable[[], T]) -> None:
        self._find: Callable[[], T] | None = find

    def get(self) -> T:
        find = self._find
        if find is not None:
            self._value = find()
            # Only now: another thread may be here, too.
            self._find = None
        return self._value


@define(eq=False, repr=False, slots=False)
class DecodedRows:
    """Rows of selected events in order, with the same column names as `Rows`.

    `kind_indexes` are places in `kinds`; the payload of row i is `data[starts[i]:ends[i]]`. `runs` gives capture
    threads and processors by `file_rows`; `thread_places` and (in NetTrace 6) `capture_threads` are places in
    `thread_rows`; `sequenced` says whether events carry sequence numbers. `stack_bytes` has the addresses of each
    stack by its id. `misfits` are the rows whose payload does not fit its layout, `tails` the leftover bytes;
    `problems` and `losses` are those found since the previous rows.
    """

    kinds: list[EventKind]
    clock: Clock
    pointer_size: int
    process_id: int | None
    kind_indexes: Ints
    ticks: Ints
    thread_ids: NDArray[np.uint64]
    stack_ids: Ints
    data: bytes
    starts: Ints
    ends: Ints
    file_rows: Ints
    runs: Runs
    _stack_bytes: dict[int, bytes] | Later[dict[int, bytes]]
    _activities: Guids | Later[Guids | None] | None = None
    _related_activities: Guids | Later[Guids | None] | None = None
    sequenced: bool = True
    thread_places: Ints | None = None
    thread_rows: list[ThreadRow] = attrs.field(factory=list)
    process_ids: list[int | None] | None = None
    labels: list[LabelList | None] | None = None
    records: list[Any] | DirectRecords = attrs.field(factory=list)
    tails: dict[int, bytes] = attrs.field(factory=dict)
    misfits: set[int] = attrs.field(factory=set)
    problems: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def stack_bytes(self) -> dict[int, bytes]:
        """The addresses of each stack, by its id."""
        stack_bytes = self._stack_bytes
        return stack_bytes.get() if isinstance(stack_bytes, Later) else stack_bytes

    @property
    def activities(self) -> Guids | None:
        activities = self._activities
        return activities.get() if isinstance(activities, Later) else activities

    @property
    def related_activities(self) -> Guids | None:
        activities = self._related_activities
        return activities.get() if isinstance(activities, Later) else activities

    @property
    def sizes(self) -> Ints:
        """The size of each payload in bytes."""
        return self.ends - self.starts

    @property
    def processors(self) -> Ints:
        """-1 where unknown, including events about a thread other than the writing one."""
        about = self.thread_ids if self.thread_places is None else self.thread_places.view(np.uint64)
        return self.runs.processors_of(self.file_rows, about)

    @property
    def capture_threads(self) -> NDArray[np.uint64]:
        """The threads whose buffers the events came from (NetTrace 6: places in `thread_rows`)."""
        return self.runs.captures_of(self.file_rows)

    def processors_of(self, part: slice) -> list[int]:
        """The same of some rows."""
        about = self.thread_ids if self.thread_places is None else self.thread_places.view(np.uint64)
        processors: list[int] = self.runs.processors_of(self.file_rows[part], about[part]).tolist()
        return processors

    @cached_property
    def times_ns(self) -> list[int]:
        """Nanoseconds since the session started."""
        return self.clock.ns_list(self.ticks)

    @cached_property
    def payload_bytes(self) -> list[bytes]:
        """Each row's payload as in the file."""
        data = self.data
        return [data[a:b] for a, b in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    @property
    def payloads(self) -> list[Any]:
        """Each row's record, or `RawPayload`; empty unless requested."""
        if not isinstance(self.records, list):
            self.records = [record for portion in self.records.portions() for record in portion]
        return self.records

    def payload_groups(self) -> Iterator[tuple[list[int], BoundLayout]]:
        """Rows of one kind whose payloads all fit a layout exactly, group by group; makes no records."""
        if not isinstance(self.records, list):
            for rows, layout in self.records.groups():
                yield rows.tolist(), layout

    def single_payloads(self) -> Iterator[tuple[int, Any]]:
        """All other rows, in ascending order, with their record or `RawPayload`."""
        yield from enumerate(self.records) if isinstance(self.records, list) else self.records.singles()

    def kind(self, row: int) -> EventKind:
        """The kind of one row."""
        return self.kinds[int(self.kind_indexes[row])]

    def process(self, row: int) -> int | None:
        """The process of one row: its own, or the trace's; None if the trace does not say."""
        own = self.process_ids[row] if self.process_ids is not None else None
        return self.process_id if own is None else own

    def __getstate__(self) -> dict[str, Any]:
        # Values computed on access are computed again.
        names = {a.name for a in attrs.fields(DecodedRows)}
        state = {name: value for name, value in self.__dict__.items() if name in names}
        state["records"] = self.payloads
        for name, value in state.items():
            if isinstance(value, Later):
                state[name] = value.get()
        return state

    def take(self, rows: list[int]) -> DecodedRows:
        """Some of the rows, in ascending order, with their payloads."""
        chosen = np.array(rows, dtype=np.int64)

        def pick(column: list[Any] | None) -> list[Any] | None:
            return None if column is None else [column[row] for row in rows]

        return attrs.evolve(
            self,
            kind_indexes=self.kind_indexes[chosen],
            ticks=self.ticks[chosen],
            thread_ids=self.thread_ids[chosen],
            stack_ids=self.stack_ids[chosen],
            starts=self.starts[chosen],
            ends=self.ends[chosen],
            file_rows=self.file_rows[chosen],
            activities=None if self.activities is None else self.activities.take(chosen),
            related_activities=None if self.related_activities is None else self.related_activities.take(chosen),
            thread_places=None if self.thread_places is None else self.thread_places[chosen],
            process_ids=pick(self.process_ids),
            labels=pick(self.labels),
            records=[self.payloads[row] for row in rows] if self.payloads else [],
            tails={new: self.tails[old] for new, old in enumerate(rows) if old in self.tails},
            misfits={new for new, old in enumerate(rows) if old in self.misfits},
        )

    def only(self, row: int) -> DecodedRows:
        """One row that keeps none of the others alive; without its payload's record."""
        stack_id = int(self.stack_ids[row])
        start, end = int(self.starts[row]), int(self.ends[row])
        return attrs.evolve(
            attrs.evolve(self, records=[]).take([row]),
            kinds=[self.kind(row)],
            kind_indexes=np.zeros(1, dtype=np.int64),
            data=self.data[start:end],
            starts=np.zeros(1, dtype=np.int64),
            ends=np.array([end - start], dtype=np.int64),
            file_rows=np.zeros(1, dtype=np.int64),
            runs=self.runs.only(int(self.file_rows[row])),
            stack_bytes={stack_id: self.stack_bytes[stack_id]} if stack_id in self.stack_bytes else {},
            activities=_one_guid(self.activities, row),
            related_activities=_one_guid(self.related_activities, row),
            thread_rows=[],
            records=[],
            problems=(),
            losses=(),
        )


def _one_guid(guids: Guids | None, row: int) -> Guids | None:
    data = None if guids is None else guids.get(row)
    return None if data is None else Guids(np.zeros(1, dtype=np.int64), [data])


@frozen(eq=False)
class PayloadPlaces:
    """Where the payloads of rows are: `data[starts[i]:ends[i]]`.

    `base` is where `data` begins in the stream, if it has all the windows of the rows as they are there.
    """

    data: bytes
    starts: Ints
    ends: Ints
    base: int | None = None

    def slice(self, part: slice) -> PayloadPlaces:
        return PayloadPlaces(self.data, self.starts[part], self.ends[part], self.base)


def payloads_of(rows: Rows) -> PayloadPlaces:
    """The payloads of these rows, together with the bytes between them unless those are larger."""
    size = int(rows.sizes.sum())
    if 2 * size >= sum(map(len, rows.release.windows)):
        data, bases, shifts = joined_stretches([rows])
        if len(bases) == 1:
            starts = rows.offsets + shifts[0]
            return PayloadPlaces(data, starts, starts + rows.sizes, -int(shifts[0]))
        starts = rows.offsets + shifts[np.searchsorted(bases, rows.offsets, "right") - 1]
        return PayloadPlaces(data, starts, starts + rows.sizes)
    # A few events must not keep the windows of many others alive.
    ends = np.cumsum(rows.sizes)
    if len(rows) < _MANY:
        if len(rows.release.windows) == 1 and size:
            # Small ones, such as sub-events, lie close together.
            low, high = int(rows.offsets.min()), int((rows.offsets + rows.sizes).max())
            if high - low <= 2 * size + _APART * len(rows):
                begin = int(rows.release.bases[0])
                starts = rows.offsets - low
                return PayloadPlaces(rows.release.windows[0][low - begin : high - begin], starts, starts + rows.sizes)
        data = b"".join(rows.payloads())
    else:
        joined, _, starts = joined_windows([rows])
        data = gather(joined, starts, rows.sizes).tobytes()
    return PayloadPlaces(data, ends - rows.sizes, ends)


def own_rows(
    rows: Rows,
    payloads: PayloadPlaces,
    kinds: list[EventKind],
    clock: Clock,
    pointer_size: int,
    process_id: int | None,
    passing: bool = False,
) -> DecodedRows:
    """The data of these rows, without decoding payloads. `passing` ones are not kept, so that they may hold on to all
    stacks of their release."""
    stack_ids = rows.stack_ids
    release = rows.release
    return DecodedRows(
        kinds=kinds,
        clock=clock,
        pointer_size=pointer_size,
        process_id=process_id,
        kind_indexes=rows.kind_indexes,
        ticks=rows.ticks,
        thread_ids=rows.thread_ids,
        stack_ids=stack_ids,
        data=payloads.data,
        starts=payloads.starts,
        ends=payloads.ends,
        file_rows=rows.file_rows,
        runs=release.runs,
        stack_bytes=_stacks(rows, payloads, stack_ids, passing),
        activities=_guids(rows, payloads, release.activity_rows, release.activity_offsets),
        related_activities=_guids(rows, payloads, release.related_rows, release.related_offsets),
        sequenced=release.sequenced,
        thread_places=rows.thread_places,
        thread_rows=release.thread_rows,
        process_ids=rows.process_ids,
        labels=rows.labels,
    )


def _guids(rows: Rows, payloads: PayloadPlaces, marked: Ints, offsets: Ints) -> Guids | Later[Guids | None] | None:
    """Activity ids, from some rows on at these offsets; later if they are where the payloads are."""
    if not len(marked):
        return None
    data, base, file_rows = payloads.data, payloads.base, rows.file_rows
    if base is None:
        return rows.guids(marked, offsets)

    def read(at: Ints) -> list[bytes]:
        return [data[start : start + 16] for start in (at - base).tolist()]

    return Later(lambda: marked_guids(file_rows, marked, offsets, read))


def _stacks(
    rows: Rows, payloads: PayloadPlaces, numbers: Ints, passing: bool
) -> dict[int, bytes] | Later[dict[int, bytes]]:
    """The bytes of every stack that a row has, by its number; later if they are where the payloads are."""
    if not len(numbers):
        return {}
    low = max(int(numbers.min()), 1)
    high = int(numbers.max())
    if high < low:
        return {}
    table = rows.release.stacks if passing else None
    if payloads.base is not None and not passing:
        table = rows.release.stacks.moved(low, high, rows.release.windows, payloads.data, payloads.base)
    if table is None:
        return _stacks_of(rows.release.stacks, numbers, low, high)
    moved = table
    return Later(lambda: _stacks_of(moved, numbers, low, high))


def _stacks_of(stacks: StackTable, numbers: Ints, low: int, high: int) -> dict[int, bytes]:
    addresses: dict[int, bytes] = {}
    if high - low > 4 * len(numbers) + (1 << 16):
        wanted = np.unique(numbers[numbers > 0])
    else:
        mask = np.zeros(high - low + 1, dtype=np.bool_)
        mask[numbers[numbers > 0] - low] = True
        wanted = np.flatnonzero(mask) + low
    for known, window, starts, sizes in stacks.pieces(wanted):
        ends = (starts + sizes).tolist()
        for number, start, end in zip(known.tolist(), starts.tolist(), ends, strict=True):
            addresses[number] = window[start:end]
    return addresses

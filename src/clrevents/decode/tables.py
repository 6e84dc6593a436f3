"""What the stream remembers between blocks: event kinds, stacks of a region, sequence numbers and losses.

Pure bookkeeping; sees values of `decode.blocks`, never a container's bytes (but those of a stack).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.blocks import InlineStacks, MetadataRow, SequencePoint, Stacks, ThreadRow
from clrevents.decode.clock import Clock
from clrevents.decode.container.base import damage
from clrevents.decode.kernels import HeaderColumns
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import Entry, EventInfo, Registry

_HALF = 1 << 31
_M32 = (1 << 32) - 1
_STRAYS = 1000
_UNKNOWN_THREAD = (1 << 64) - 1


@attrs.frozen(order=True)
class EventKey:
    """What kind of event: the key of `event_counts()` and the most exact selector."""

    provider: str
    id: int
    version: int
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name} (id {self.id}, version {self.version})"


@attrs.define(eq=False)
class EventKind:
    """One event description of the trace, joined with what the registry knows of it.

    `newer` when the trace's version is beyond the registry's; `info` is then the newest that is known.
    `undefined` when events name a description that the trace does not hold. `base` is the kind as described,
    where an event's labels say otherwise.
    """

    index: int
    row: MetadataRow
    key: EventKey
    info: EventInfo | None
    entry: Entry
    newer: bool = False
    undefined: bool = False
    base: EventKind | None = None


class Kinds:
    """Event descriptions by metadata id, and every kind that was ever defined, by index."""

    def __init__(self, registry: Registry, limits: Limits) -> None:
        self._registry = registry
        self._limits = limits
        self._names = {(e.provider, e.id): e for e in registry.entries()}
        self._by_id: dict[int, EventKind] = {}
        self._lookup = np.full(64, -1, dtype=np.int64)
        self._variants: dict[tuple[int, tuple[tuple[str, int], ...]], int] = {}
        self._strays = 0
        self._stray: EventKind | None = None
        self.all: list[EventKind] = []

    def define(self, row: MetadataRow) -> Problem | None:
        """Take a description; a problem when its id already means something else."""
        if row.metadata_id < 0:
            text = f"an event description has the impossible id {row.metadata_id}"
            return damage("bad-metadata", text, row.offset, None, "the events it describes")
        old = self._by_id.get(row.metadata_id)
        if old is not None and not old.undefined and old.row == row:
            return None
        if len(self.all) >= self._limits.metadata:
            return damage(
                "too-many-kinds",
                "more event descriptions than Limits.metadata",
                row.offset,
                None,
                "later kinds",
            )
        kind = self._add(row)
        if old is None or old.undefined:
            return None
        text = f"event description {row.metadata_id} is defined again, as {kind.key} instead of {old.key}"
        return damage("redefined-metadata", text, row.offset, None, "events of either description")

    def forget(self) -> None:
        """Drop all ids (NetTrace 6 may say so at a sequence point); kinds keep their indexes."""
        self._by_id.clear()
        self._lookup.fill(-1)

    def indexes(self, metadata_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
        """Kind indexes of metadata ids, and whether any of them had no description."""
        top = int(metadata_ids.max())
        if top < len(self._lookup):
            found = self._lookup[metadata_ids]
            if int(found.min()) >= 0:
                return found, False
        missing = False
        uniques, inverse = np.unique(metadata_ids, return_inverse=True)
        mapped = []
        for metadata_id in uniques.tolist():
            kind = self._by_id.get(metadata_id)
            if kind is None:
                kind = self._undefined(metadata_id)
            missing = missing or kind.undefined
            mapped.append(kind.index)
        return np.array(mapped, dtype=np.int64)[inverse], missing

    def defined(self, metadata_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these ids have a description; learns nothing from them."""
        uniques, inverse = np.unique(metadata_ids, return_inverse=True)
        kinds = [self._by_id.get(metadata_id) for metadata_id in uniques.tolist()]
        return np.array([k is not None and not k.undefined for k in kinds], dtype=np.bool_)[inverse]

    def overridden(self, index: int, overrides: tuple[tuple[str, int], ...]) -> int:
        """The kind that a description becomes when an event's labels say otherwise."""
        known = self._variants.get((index, overrides))
        if known is None:
            if len(self.all) >= self._limits.metadata:
                return index
            changes: dict[str, Any] = dict(overrides)
            row = attrs.evolve(self.all[index].row, **changes)
            variant = self._make(row, self.all[index].undefined)
            variant.base = self.all[index]
            known = self._variants[index, overrides] = variant.index
        return known

    def _undefined(self, metadata_id: int) -> EventKind:
        """A stand-in for a description that is not there; bounded, because damage invents ids."""
        if self._strays >= _STRAYS and self._stray is not None:
            return self._stray
        self._strays += 1
        self._stray = self._add(MetadataRow(metadata_id, "", metadata_id & 0xFFFF, 0), undefined=True)
        return self._stray

    def _add(self, row: MetadataRow, undefined: bool = False) -> EventKind:
        kind = self._make(row, undefined)
        self._by_id[row.metadata_id] = kind
        if row.metadata_id < 1 << 20:
            if row.metadata_id >= len(self._lookup):
                grown = np.full(2 * row.metadata_id + 1, -1, dtype=np.int64)
                grown[: len(self._lookup)] = self._lookup
                self._lookup = grown
            if row.metadata_id >= 0 and not undefined:
                self._lookup[row.metadata_id] = kind.index
        return kind

    def _make(self, row: MetadataRow, undefined: bool) -> EventKind:
        info = None if undefined else self._registry.best(row.provider, row.id, row.version)
        entry = self._names.get((row.provider, row.id))
        name = f"Undefined({row.metadata_id})" if undefined else row.name or f"EventID({row.id})"
        if entry is not None and not undefined:
            name = entry.name
        if entry is None or undefined:
            entry = Entry(row.provider, row.id, name, opcode_names(name, row.opcode or 0), ())
        kind = EventKind(
            len(self.all),
            row,
            EventKey(row.provider, row.id, row.version, name),
            info,
            entry,
            newer=info is not None and info.version != row.version,
            undefined=undefined,
        )
        self.all.append(kind)
        return kind


_OPCODES = {
    1: ("Start",),
    2: ("Stop",),
    3: ("DCStart", "DataCollectionStart"),
    4: ("DCStop", "DataCollectionStop"),
    5: ("Extension",),
    6: ("Reply",),
    7: ("Resume",),
    8: ("Suspend",),
    9: ("Send", "Transfer"),
    240: ("Receive",),
}


def opcode_names(name: str, opcode: int) -> tuple[str, ...]:
    """Other names of a self-described event, as its opcode or its ending tells: `Request/Start` for `RequestStart`.

    All spellings that are in use: `Wait/Send` and `Wait/Transfer`, `Request/24` and `Request/Opcode(24)`.
    """
    if opcode:
        endings = _OPCODES.get(opcode, (str(opcode), f"Opcode({opcode})"))
    else:
        endings = tuple(e for e in ("Start", "Stop") if name.lower().endswith(e.lower()))
    return tuple(f"{_task(name, ending)}/{ending}" for ending in endings)


def _task(name: str, ending: str) -> str:
    task = name[: -len(ending)] if name.lower().endswith(ending.lower()) else name
    return task or name


@attrs.frozen(eq=False)
class StackLookup:
    """From a region's stack ids to trace-wide numbers, as the ids mean at one moment."""

    firsts: NDArray[np.int64]
    ends: NDArray[np.int64]
    bases: NDArray[np.int64]

    def unique(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Trace-wide stack numbers; 0 for none, -1 where there is no such stack."""
        if not len(self.firsts):
            return np.where(ids == 0, 0, -1)
        at = np.maximum(np.searchsorted(self.firsts, ids, "right") - 1, 0)
        inside = (ids >= self.firsts[at]) & (ids < self.ends[at])
        return np.where(ids == 0, 0, np.where(inside, ids - self.firsts[at] + self.bases[at], -1))


class StackTable:
    """The stacks of one region: from the region's ids to numbers that are unique in the trace, and to bytes.

    Ids mean nothing beyond the next sequence point. Blocks are walked only when a stack is asked for.
    """

    def __init__(self, base: int = 1) -> None:
        self.next = base
        self._blocks: list[tuple[Stacks | InlineStacks, int, int]] = []
        self._firsts: list[int] = []
        self._ends: list[int] = []
        self._bases: list[int] = []
        self._walked: dict[int, tuple[list[int], list[int]]] = {}
        self._lookup: StackLookup | None = None

    def restarts(self, block: Stacks | InlineStacks) -> bool:
        """Whether ids begin anew with this block, without a sequence point (which was damaged)."""
        return bool(self._ends) and block.first_id < self._ends[-1]

    def add(self, block: Stacks | InlineStacks) -> None:
        count = len(block.starts) if isinstance(block, InlineStacks) else block.count
        if not count:
            return
        if self.restarts(block):
            self._firsts, self._ends, self._bases = [], [], []
        self._blocks.append((block, self.next, count))
        self._firsts.append(block.first_id)
        self._ends.append(block.first_id + count)
        self._bases.append(self.next)
        self._lookup = None
        if isinstance(block, InlineStacks):
            self._walked[self.next] = block.starts, block.sizes
        self.next += count

    def successor(self) -> StackTable:
        """The empty table of the next region."""
        return StackTable(self.next)

    def lookup(self) -> StackLookup:
        """What ids mean now."""
        if self._lookup is None:
            columns = (self._firsts, self._ends, self._bases)
            self._lookup = StackLookup(*(np.array(column, dtype=np.int64) for column in columns))
        return self._lookup

    def data(self, number: int) -> bytes | None:
        """The address bytes of a trace-wide stack number; None when the table does not hold it whole."""
        for block, base, count in reversed(self._blocks):
            if base <= number < base + count:
                starts, sizes = self._walk(block, base)
                index = number - base
                if index >= len(starts):
                    return None
                return block.window[starts[index] : starts[index] + sizes[index]]
        return None

    def problems(self) -> Iterator[Problem]:
        """Walk every block and say where one does not hold what it claims."""
        for block, base, count in self._blocks:
            starts, _ = self._walk(block, base)
            if isinstance(block, Stacks) and len(starts) < count:
                text = f"a stack block claims {count} stacks and holds {len(starts)}"
                at = block.base + block.start
                yield damage("bad-stacks", text, at, block.end - block.start, "its last stacks")

    def _walk(self, block: Stacks | InlineStacks, base: int) -> tuple[list[int], list[int]]:
        walked = self._walked.get(base)
        if walked is not None or isinstance(block, InlineStacks):
            return walked or ([], [])
        starts, sizes = [], []
        data, pos, end = block.window, block.start, block.end
        for _ in range(block.count):
            if end - pos < 4:
                break
            size = int.from_bytes(data[pos : pos + 4], "little")
            if size > end - pos - 4:
                break
            starts.append(pos + 4)
            sizes.append(size)
            pos += 4 + size
        self._walked[base] = starts, sizes
        return starts, sizes


class ThreadTable:
    """The threads of NetTrace 6: from the indexes that events use to threads, which may share an index in turn.

    A thread keeps its place in `all`; an index means it from its definition to its removal.
    """

    def __init__(self, limits: Limits) -> None:
        self.all: list[ThreadRow] = []
        self._limits = limits
        self._by_index: dict[int, int] = {}

    def define(self, row: ThreadRow) -> Problem | None:
        """Take a thread; a problem when its index is in use."""
        old = self._by_index.get(row.index)
        if old is not None and self.all[old] == row:
            return None
        if len(self.all) >= self._limits.threads:
            return damage("too-many-threads", "more threads than Limits.threads", row.offset, None, "later threads")
        self._by_index[row.index] = len(self.all)
        self.all.append(row)
        if old is None:
            return None
        text = f"thread index {row.index} is defined again while it is in use"
        return damage("redefined-thread", text, row.offset, None, "which thread these events are about")

    def find(self, index: int) -> int | None:
        """The place of the thread that an index means now."""
        return self._by_index.get(index)

    def remove(self, index: int) -> int | None:
        """Forget an index; the place its thread had."""
        return self._by_index.pop(index, None)

    def forget(self) -> None:
        self._by_index.clear()

    def places(self, indexes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int | None]:
        """Places of many indexes (-1 where undefined), and the first index that nothing defines."""
        uniques, inverse = np.unique(indexes, return_inverse=True)
        found = [self._by_index.get(index, -1) for index in uniques.tolist()]
        places = np.array(found, dtype=np.int64)[inverse]
        missing = np.flatnonzero(places < 0)
        return places, int(missing[0]) if len(missing) else None

    def thread_ids(self, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Operating-system thread ids; all ones where unknown."""
        ids = [_UNKNOWN_THREAD if row.thread_id is None else row.thread_id for row in self.all]
        return np.array([*ids, _UNKNOWN_THREAD], dtype=np.uint64)[places]

    def thread_id(self, place: int) -> int:
        """The operating system's id of one thread; -1 when unknown."""
        known = self.all[place].thread_id
        return -1 if known is None else known


@attrs.frozen
class Loss:
    """Events that a thread tried to write and that never reached the file, and when that was.

    `thread_id` is the thread that wrote them; the window is in nanoseconds since the session started.
    """

    thread_id: int
    count: int
    start_ns: int
    end_ns: int


class SequenceNumbers:
    """The last sequence number of each capture thread; gaps become losses (format §1.12).

    Behind damage the first gap of every thread is put down to the damage: `explained` gets it instead.
    """

    def __init__(
        self,
        limits: Limits,
        lost: Callable[[int, int, int, int], Any],
        explained: Callable[[int, int], Any],
        odd: Callable[[int], Any],
    ) -> None:
        self.starts_at_zero = False
        self._last: dict[int, tuple[int, int]] = {}
        self._suspects: set[int] = set()
        self._limits = limits
        self._lost = lost
        self._explained = explained
        self._odd = odd

    def damaged(self) -> None:
        """Events may be missing here for a reason that is no loss."""
        self._suspects.update(self._last)

    def events(self, columns: HeaderColumns) -> None:
        """Follow one block's runs."""
        times = columns.times
        runs = columns.runs.tolist()
        ends = [run[0] for run in runs[1:]]
        ends.append(len(columns))
        last = self._last
        for (row, thread, sequence, _), end in zip(runs, ends, strict=True):
            known = last.get(thread)
            if known is None and not self.starts_at_zero:
                if len(last) >= self._limits.threads:
                    continue
            else:
                number, tick = known or (0, int(times[row]))
                gap = (sequence - 1 - number) & _M32
                if gap and (number or self.starts_at_zero):
                    self._gap(thread, gap, tick, int(times[row]))
                if thread in self._suspects:
                    self._suspects.discard(thread)
            last[thread] = (sequence + end - row - 1) & _M32, int(times[end - 1])

    def steps_back(self, columns: HeaderColumns) -> Iterator[tuple[int, bool]]:
        """The rows at which a thread's number is not beyond its last, and whether that is one of these rows.

        Learns nothing from them. A last number from behind damage proves nothing.
        """
        last: dict[int, int] = {}
        runs = columns.runs.tolist()
        ends = [run[0] for run in runs[1:]]
        ends.append(len(columns))
        for (row, thread, sequence, _), end in zip(runs, ends, strict=True):
            known = last.get(thread)
            inside = known is not None
            if known is None and thread in self._last and thread not in self._suspects:
                known = self._last[thread][0]
            if known and (sequence - 1 - known) & _M32 >= _HALF:
                yield row, inside
            last[thread] = (sequence + end - row - 1) & _M32

    def sequence_point(self, point: SequencePoint) -> None:
        """Compare with what the writer counted; this finds losses behind a thread's last event."""
        for thread, sequence in point.threads:
            self.check(thread, sequence, point.time)
        if point.forget_threads:
            self._last.clear()
            self._suspects.clear()

    def check(self, thread: int, sequence: int, tick: int) -> None:
        """The writer says that this thread had reached this number by then."""
        known = self._last.get(thread)
        if known is None and not self.starts_at_zero:
            if len(self._last) < self._limits.threads:
                self._last[thread] = sequence, tick
            return
        number, since = known or (0, tick)
        gap = (sequence - number) & _M32
        if gap >= _HALF:
            return
        if gap and (number or self.starts_at_zero):
            self._gap(thread, gap, since, tick)
        self._suspects.discard(thread)
        self._last[thread] = sequence, tick

    def forget(self, thread: int) -> None:
        self._last.pop(thread, None)
        self._suspects.discard(thread)

    def _gap(self, thread: int, gap: int, start: int, end: int) -> None:
        if gap >= _HALF:
            self._odd(thread)
        elif thread in self._suspects:
            self._explained(thread, gap)
        else:
            self._lost(thread, gap, start, end)


def ticks_to_loss(clock: Clock, thread: int, count: int, start: int, end: int) -> Loss:
    """A loss with its window in nanoseconds."""
    return Loss(thread, count, clock.ns(start), clock.ns(end))

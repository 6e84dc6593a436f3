"""What the stream remembers between blocks: event kinds, stacks of a region, sequence numbers and losses.

Pure bookkeeping; sees values of `decode.blocks`, never a container's bytes (but those of a stack).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.blocks import MetadataRow, SequencePoint, Stacks
from clrevents.decode.clock import Clock
from clrevents.decode.container.base import damage
from clrevents.decode.kernels import HeaderColumns
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import Entry, EventInfo, Registry

_HALF = 1 << 31
_M32 = (1 << 32) - 1


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
    `undefined` when events name a description that the trace does not hold.
    """

    index: int
    row: MetadataRow
    key: EventKey
    info: EventInfo | None
    entry: Entry
    newer: bool = False
    undefined: bool = False


class Kinds:
    """Event descriptions by metadata id, and every kind that was ever defined, by index."""

    def __init__(self, registry: Registry, limits: Limits) -> None:
        self._registry = registry
        self._limits = limits
        self._names = {(e.provider, e.id): e for e in registry.entries()}
        self._by_id: dict[int, EventKind] = {}
        self._lookup = np.full(64, -1, dtype=np.int64)
        self.all: list[EventKind] = []

    def define(self, row: MetadataRow) -> Problem | None:
        """Take a description; a problem when its id already means something else."""
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
                kind = self._add(MetadataRow(metadata_id, "", metadata_id & 0xFFFF, 0), undefined=True)
            missing = missing or kind.undefined
            mapped.append(kind.index)
        return np.array(mapped, dtype=np.int64)[inverse], missing

    def _add(self, row: MetadataRow, undefined: bool = False) -> EventKind:
        info = None if undefined else self._registry.best(row.provider, row.id, row.version)
        entry = self._names.get((row.provider, row.id))
        name = f"Undefined({row.metadata_id})" if undefined else row.name or f"EventID({row.id})"
        if entry is not None and not undefined:
            name = entry.name
        if entry is None or undefined:
            entry = Entry(row.provider, row.id, name, (row.name,) if row.name not in ("", name) else (), ())
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
        self._by_id[row.metadata_id] = kind
        if row.metadata_id < 1 << 20:
            if row.metadata_id >= len(self._lookup):
                grown = np.full(2 * row.metadata_id + 1, -1, dtype=np.int64)
                grown[: len(self._lookup)] = self._lookup
                self._lookup = grown
            if row.metadata_id >= 0 and not undefined:
                self._lookup[row.metadata_id] = kind.index
        return kind


class StackTable:
    """The stacks of one region: from the region's ids to numbers that are unique in the trace, and to bytes.

    Ids mean nothing beyond the next sequence point. Blocks are walked only when a stack is asked for.
    """

    def __init__(self, base: int = 1) -> None:
        self.next = base
        self._blocks: list[tuple[Stacks, int]] = []
        self._walked: dict[int, tuple[list[int], list[int]]] = {}

    def add(self, block: Stacks) -> None:
        if block.count:
            self._blocks.append((block, self.next))
            self.next += block.count

    def successor(self) -> StackTable:
        """The empty table of the next region."""
        return StackTable(self.next)

    def unique(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Trace-wide stack numbers; 0 for none, -1 where the region has no such stack."""
        found = np.where(ids == 0, 0, -1)
        for block, base in self._blocks:
            offset = ids - block.first_id
            inside = (offset >= 0) & (offset < block.count) & (ids != 0)
            np.copyto(found, offset + base, where=inside)
        return found

    def data(self, number: int) -> bytes | None:
        """The address bytes of a trace-wide stack number; None when the table does not hold it whole."""
        for block, base in reversed(self._blocks):
            if base <= number < base + block.count:
                starts, sizes = self._walk(block, base)
                index = number - base
                if index >= len(starts):
                    return None
                return block.window[starts[index] : starts[index] + sizes[index]]
        return None

    def problems(self) -> Iterator[Problem]:
        """Walk every block and say where one does not hold what it claims."""
        for block, base in self._blocks:
            starts, _ = self._walk(block, base)
            if len(starts) < block.count:
                text = f"a stack block claims {block.count} stacks and holds {len(starts)}"
                yield damage("bad-stacks", text, block.base + block.start, block.end - block.start, "its last stacks")

    def _walk(self, block: Stacks, base: int) -> tuple[list[int], list[int]]:
        walked = self._walked.get(base)
        if walked is not None:
            return walked
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
    """The last sequence number of each capture thread; gaps become losses (format §1.12)."""

    def __init__(self, limits: Limits, starts_at_zero: bool = False) -> None:
        self._last: dict[int, tuple[int, int]] = {}
        self._limits = limits
        self._starts_at_zero = starts_at_zero

    def events(
        self,
        columns: HeaderColumns,
        lost: Callable[[int, int, int, int], Any],
        odd: Callable[[int, int], Any],
    ) -> None:
        """Follow one block's runs: `lost(thread, count, from tick, to tick)`, `odd(thread, row)` for a step back."""
        rows = len(columns)
        times = columns.times
        runs = columns.runs.tolist()
        ends = [run[0] for run in runs[1:]]
        ends.append(rows)
        last = self._last
        for (row, thread, sequence, _), end in zip(runs, ends, strict=True):
            known = last.get(thread)
            if known is not None:
                gap = (sequence - 1 - known[0]) & _M32
                if gap and (known[0] or self._starts_at_zero):
                    if gap < _HALF:
                        lost(thread, gap, known[1], int(times[row]))
                    else:
                        odd(thread, row)
            elif self._starts_at_zero and 1 < sequence < _HALF:
                lost(thread, sequence - 1, int(times[row]), int(times[row]))
            elif len(last) >= self._limits.threads:
                continue
            last[thread] = (sequence + end - row - 1) & _M32, int(times[end - 1])

    def sequence_point(self, point: SequencePoint, lost: Callable[[int, int, int, int], Any]) -> None:
        """Compare with what the writer counted; this finds losses behind a thread's last event."""
        for thread, sequence in point.threads:
            known = self._last.get(thread)
            if known is not None:
                gap = (sequence - known[0]) & _M32
                if gap and gap < _HALF and (known[0] or self._starts_at_zero):
                    lost(thread, gap, known[1], point.time)
                elif gap >= _HALF:
                    continue
            elif len(self._last) >= self._limits.threads:
                continue
            self._last[thread] = sequence, point.time
        if point.forget_threads:
            self._last.clear()


def ticks_to_loss(clock: Clock, thread: int, count: int, start: int, end: int) -> Loss:
    """A loss with its window in nanoseconds."""
    return Loss(thread, count, clock.ns(start), clock.ns(end))

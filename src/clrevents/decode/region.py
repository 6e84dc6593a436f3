"""Events between two sequence points: gathered block by block, handed on in time order as `Rows`.

Holds columns of integers and the windows they point into; decodes nothing. Order is (time, place in the
file), which is one of the orders the format allows and the only one that does not depend on luck (§1.13).
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.blocks import Events, LabelList, ThreadRow
from clrevents.decode.kernels import HeaderColumns
from clrevents.decode.tables import StackTable

Ints = NDArray[np.int64]

_ACTIVITY, _RELATED = 16, 32
_NO_INTS: Ints = np.empty(0, dtype=np.int64)


@attrs.define(eq=False)
class Shared:
    """What all rows of one release point into. Rows refer to it by `file_rows`, their place in the file."""

    bases: Ints
    windows: list[bytes]
    stacks: StackTable
    run_rows: Ints
    processors: Ints
    captures: NDArray[np.uint64]
    activity_rows: Ints
    activity_offsets: Ints
    related_rows: Ints
    related_offsets: Ints
    label_rows: Ints
    label_places: Ints
    label_lists: list[LabelList]
    thread_rows: list[ThreadRow]
    counted: bool


@attrs.define(eq=False)
class Rows:
    """Event headers, one array an attribute, ready to be filtered; `kinds` are indexes into `Stream.kinds`.

    `times` are raw clock ticks, `stacks` trace-wide stack numbers (0 for none, -1 where the stack is missing),
    `offsets` stream offsets of payloads, `owners` places in the thread table of NetTrace 6 (else None).
    """

    kinds: Ints
    times: Ints
    threads: NDArray[np.uint64]
    stacks: Ints
    offsets: Ints
    sizes: Ints
    file_rows: Ints
    owners: Ints | None
    shared: Shared

    def __len__(self) -> int:
        return len(self.times)

    def take(self, wanted: NDArray[np.bool_] | Ints | slice) -> Rows:
        """The rows of a mask, of indexes or of a slice, in that order."""
        return Rows(
            self.kinds[wanted],
            self.times[wanted],
            self.threads[wanted],
            self.stacks[wanted],
            self.offsets[wanted],
            self.sizes[wanted],
            self.file_rows[wanted],
            None if self.owners is None else self.owners[wanted],
            self.shared,
        )

    def payloads(self) -> list[bytes]:
        """Each row's payload bytes, copied out of the windows."""
        return self._slices(self.offsets, self.sizes)

    def captures(self) -> NDArray[np.uint64]:
        """The thread whose buffer each event came from (NetTrace 6: its place in the thread table)."""
        return self.shared.captures[self._runs()]

    def processors(self) -> Ints:
        """Processor numbers, -1 where unknown (also for events about another thread than the writing one)."""
        run = self._runs()
        about = self.threads if self.owners is None else self.owners.view(np.uint64)
        return np.where(self.shared.captures[run] == about, self.shared.processors[run], -1)

    def activities(self) -> list[bytes | None] | None:
        """Sixteen bytes or None a row; None for all when no row has any."""
        return self._guids(self.shared.activity_rows, self.shared.activity_offsets)

    def related_activities(self) -> list[bytes | None] | None:
        return self._guids(self.shared.related_rows, self.shared.related_offsets)

    def labels(self) -> list[LabelList | None] | None:
        """The label list of each row (NetTrace 6); None for all when no row has any."""
        shared = self.shared
        if not len(shared.label_rows):
            return None
        at = np.searchsorted(shared.label_rows, self.file_rows, "right") - 1
        places = np.where(at >= 0, shared.label_places[at], -1).tolist()
        return [shared.label_lists[place] if place >= 0 else None for place in places]

    def process_ids(self) -> list[int | None] | None:
        """Process ids where the thread table gives them; None for all when there is no such table."""
        if self.owners is None:
            return None
        known = [*(row.process_id for row in self.shared.thread_rows), None]
        return [known[place] for place in self.owners.tolist()]

    def _runs(self) -> Ints:
        return np.searchsorted(self.shared.run_rows, self.file_rows, "right") - 1

    def _guids(self, rows: Ints, offsets: Ints) -> list[bytes | None] | None:
        if not len(rows):
            return None
        at = np.searchsorted(rows, self.file_rows, "right") - 1
        found = np.where(at >= 0, offsets[at], -1)
        has = found >= 0
        if not has.any():
            return None
        result: list[bytes | None] = [None] * len(self)
        where = np.flatnonzero(has)
        guids = self._slices(found[where], np.full(len(where), 16))
        for row, guid in zip(where.tolist(), guids, strict=True):
            if guid != _ZERO_GUID:
                result[row] = guid
        return result

    def _slices(self, offsets: Ints, sizes: Ints) -> list[bytes]:
        windows, bases = self.shared.windows, self.shared.bases
        if len(windows) == 1:
            data = windows[0]
            starts = offsets - bases[0]
            return [data[a:b] for a, b in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
        which = np.searchsorted(bases, offsets, "right") - 1
        starts = offsets - bases[which]
        ends = starts + sizes
        return [windows[w][a:b] for w, a, b in zip(which.tolist(), starts.tolist(), ends.tolist(), strict=True)]


_ZERO_GUID = bytes(16)


class Region:
    """Collects the event blocks of one region until they may be released."""

    def __init__(self) -> None:
        self.stacks = StackTable()
        self._clear()

    def _clear(self) -> None:
        self.events = 0
        self.bytes = 0
        self._start = 0
        self._columns: list[HeaderColumns] = []
        self._kinds: list[Ints] = []
        self._bases: list[int] = []
        self._windows: list[bytes] = []
        self._activity: list[tuple[int, int]] = []
        self._related: list[tuple[int, int]] = []
        self._labels: list[tuple[int, int]] = []
        self._label_lists: list[LabelList] = []
        self._stacks: list[Ints] = []
        self._owners: list[Ints] = []
        self._counted = True

    def add(self, columns: HeaderColumns, kinds: Ints, stacks: Ints, events: Events, first: bool) -> None:
        """Take one piece of a block; `first` says that the block begins here, so that nothing carries over."""
        if not self._windows or self._windows[-1] is not events.window:
            self._windows.append(events.window)
            self._bases.append(events.base)
        for carried in (self._activity, self._related):
            if first and carried and carried[-1][1] >= 0:
                carried.append((self.events, -1))
        for row, flags, place in columns.marks.tolist() if not events.labelled else ():
            offset = place + events.base
            if flags & _ACTIVITY:
                self._activity.append((self.events + row, offset))
                offset += 16
            if flags & _RELATED:
                self._related.append((self.events + row, offset))
        self._counted = events.counted
        self._columns.append(columns)
        self._kinds.append(kinds)
        self._stacks.append(stacks)
        if not self.events:
            self._start = int(columns.offsets[0])
        # What the stream spans, which is about what is held; not the windows, which are as large as what was fed.
        self.bytes = int(columns.offsets[-1] + columns.sizes[-1]) - self._start
        self.events += len(columns)

    def add_labels(self, marks: list[tuple[int, LabelList | None]], first: bool) -> None:
        """The label lists of the piece that is added next: (row, list) where the list changes."""
        if first and self._labels and self._labels[-1][1] >= 0:
            self._labels.append((self.events, -1))
        for row, labels in marks:
            place = -1
            if labels is not None:
                place = len(self._label_lists)
                self._label_lists.append(labels)
            self._labels.append((self.events + row, place))

    def add_owners(self, places: Ints) -> None:
        """The threads of the piece that is added next, as places in the thread table (NetTrace 6)."""
        self._owners.append(places)

    def release(self, in_time_order: bool, threads: list[ThreadRow]) -> Rows | None:
        """All rows gathered so far, or None; stacks stay until `end`."""
        if not self.events:
            return None
        columns = self._columns
        runs, starts, at = [], [], 0
        for c in columns:
            runs.append(c.runs)
            starts.append(c.runs[:, 0].astype(np.int64) + at)
            at += len(c)
        run_table = np.concatenate(runs)
        processors = run_table[:, 3].astype(np.int64)
        processors[processors == 0xFFFFFFFF] = -1
        activity, related, labels = _pairs(self._activity), _pairs(self._related), _pairs(self._labels)
        shared = Shared(
            np.array(self._bases, dtype=np.int64),
            self._windows,
            self.stacks,
            np.concatenate(starts),
            processors,
            np.ascontiguousarray(run_table[:, 1]),
            activity[0],
            activity[1],
            related[0],
            related[1],
            labels[0],
            labels[1],
            self._label_lists,
            threads,
            self._counted,
        )
        rows = Rows(
            np.concatenate(self._kinds),
            np.concatenate([c.times for c in columns]),
            np.concatenate([c.thread_ids for c in columns]),
            np.concatenate(self._stacks),
            np.concatenate([c.offsets for c in columns]),
            np.concatenate([c.sizes for c in columns]),
            np.arange(self.events),
            np.concatenate(self._owners) if self._owners else None,
            shared,
        )
        self._clear()
        if in_time_order and (rows.times[1:] < rows.times[:-1]).any():
            rows = rows.take(np.argsort(rows.times, kind="stable"))
        return rows

    def end(self) -> None:
        """A sequence point: stack ids start anew."""
        self.stacks = self.stacks.successor()


def _pairs(items: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    if not items:
        return _NO_INTS, _NO_INTS
    table = np.array(items, dtype=np.int64)
    return table[:, 0], table[:, 1]

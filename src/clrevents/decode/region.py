"""Events between two sequence points: gathered block by block, handed on in time order as `Rows`.

Holds columns of integers and the windows they point into; decodes nothing. Order is (time, place in the
file), one of those the format allows, and the only one that luck does not decide (docs/format.md, "Order of events").
"""

from __future__ import annotations

from typing import TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.blocks import Events, InlineStacks, LabelList, Stacks, ThreadRow
from clrevents.decode.kernels import PADDING, HeaderColumns, end_to_end, joined
from clrevents.decode.tables import StackLookup, StackTable

Ints = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)

_ACTIVITY, _RELATED = 16, 32
_NOWHERE = -1
_NO_INTS: Ints = np.empty(0, dtype=np.int64)


@attrs.frozen(eq=False)
class Runs:
    """Whose buffer and which processor events are from: run i begins at the `firsts[i]`-th row of a release."""

    firsts: Ints
    captures: NDArray[np.uint64]
    processors: Ints

    def captures_of(self, file_rows: Ints) -> NDArray[np.uint64]:
        """The thread whose buffer each row came from (NetTrace 6: its place in the thread table)."""
        return self.captures[self._of(file_rows)]

    def processors_of(self, file_rows: Ints, about: NDArray[np.uint64]) -> Ints:
        """Processor numbers, -1 where unknown (also for events about another thread than the writing one)."""
        run = self._of(file_rows)
        return np.where(self.captures[run] == about, self.processors[run], -1)

    def only(self, file_row: int) -> Runs:
        """The run of one row, as if nothing stood before it."""
        run = int(np.searchsorted(self.firsts, file_row, "right")) - 1
        one = slice(run, run + 1)
        return Runs(self.firsts[one] * 0, self.captures[one], self.processors[one])

    def _of(self, file_rows: Ints) -> Ints:
        return np.searchsorted(self.firsts, file_rows, "right") - 1


@attrs.define(eq=False)
class Shared:
    """What all rows of one release point into. Rows refer to it by `file_rows`, their place in the file."""

    bases: Ints
    windows: list[bytes]
    stacks: StackTable
    lookup: StackLookup | None
    runs: Runs
    activity_rows: Ints
    activity_offsets: Ints
    related_rows: Ints
    related_offsets: Ints
    label_rows: Ints
    label_places: Ints
    label_lists: list[LabelList]
    thread_rows: list[ThreadRow]
    counted: bool


@attrs.frozen(eq=False)
class Guids:
    """A GUID for some rows: sixteen bytes, `each[places[row]]`; place -1 is for none."""

    places: Ints
    each: list[bytes]

    def get(self, row: int) -> bytes | None:
        place = int(self.places[row])
        return None if place < 0 else self.each[place]

    def take(self, rows: Ints) -> Guids:
        return Guids(self.places[rows], self.each)

    def all(self) -> list[bytes | None]:
        """One item a row."""
        each = [*self.each, None]
        return [each[place] for place in self.places.tolist()]


@attrs.define(eq=False)
class Rows:
    """Event headers, one array an attribute, ready to be filtered; `kinds` are indexes into `Stream.kinds`.

    `times` are raw clock ticks, `stack_ids` are to be taken through `stacks`, `offsets` stream offsets of
    payloads, `owners` places in the thread table of NetTrace 6 (else None).
    """

    kinds: Ints
    times: Ints
    threads: NDArray[np.uint64]
    stack_ids: Ints
    offsets: Ints
    sizes: Ints
    file_rows: Ints
    owners: Ints | None
    shared: Shared

    def __len__(self) -> int:
        return len(self.times)

    def sorted(self) -> Rows:
        """The rows in order of time; those of one time in the order they have."""
        if (self.times[1:] >= self.times[:-1]).all():
            return self
        return self.take(np.argsort(self.times, kind="stable"))

    def take(self, wanted: NDArray[np.bool_] | Ints | slice) -> Rows:
        """The rows of a mask, of indexes or of a slice, in that order."""
        if isinstance(wanted, np.ndarray) and wanted.dtype == np.bool_:
            wanted = np.flatnonzero(wanted)

        def pick(column: NDArray[T]) -> NDArray[T]:
            # Not by an index: that takes half as long again.
            return column[wanted] if isinstance(wanted, slice) else column.take(wanted)

        return Rows(
            pick(self.kinds),
            pick(self.times),
            pick(self.threads),
            pick(self.stack_ids),
            pick(self.offsets),
            pick(self.sizes),
            pick(self.file_rows),
            None if self.owners is None else pick(self.owners),
            self.shared,
        )

    @property
    def stacks(self) -> Ints:
        """Trace-wide stack numbers: 0 for none, -1 where the stack is missing."""
        lookup = self.shared.lookup
        return self.stack_ids if lookup is None else lookup.unique(self.stack_ids)

    def payloads(self) -> list[bytes]:
        """Each row's payload bytes, copied out of the windows."""
        return self._slices(self.offsets, self.sizes)

    def captures(self) -> NDArray[np.uint64]:
        """The thread whose buffer each row came from (NetTrace 6: its place in the thread table)."""
        return self.shared.runs.captures_of(self.file_rows)

    def processors(self) -> Ints:
        """Processor numbers, -1 where unknown (also for events about another thread than the writing one)."""
        about = self.threads if self.owners is None else self.owners.view(np.uint64)
        return self.shared.runs.processors_of(self.file_rows, about)

    def activities(self) -> Guids | None:
        """The activity id of each row; None when no row has any."""
        return self._guids(self.shared.activity_rows, self.shared.activity_offsets)

    def related_activities(self) -> Guids | None:
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

    def _guids(self, rows: Ints, offsets: Ints) -> Guids | None:
        if not len(rows):
            return None
        at = np.searchsorted(rows, self.file_rows, "right") - 1
        used = np.zeros(len(rows) + 1, dtype=np.bool_)
        used[at] = True
        # Position -1 stands for the rows in front of the first mark.
        marks = np.flatnonzero(used[:-1] & (offsets >= 0))
        if not len(marks):
            return None
        places = np.full(len(rows) + 1, -1, dtype=np.int64)
        each = self._slices(offsets[marks], np.full(len(marks), 16))
        places[marks] = np.where([guid != _ZERO_GUID for guid in each], np.arange(len(marks)), -1)
        return Guids(places[at], each)

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


def joined_windows(parts: list[Rows]) -> tuple[bytes, Ints, Ints]:
    """One buffer that holds all payloads, their stream offsets, and where in the buffer each one begins."""
    offsets = end_to_end([rows.offsets for rows in parts])
    held: dict[int, bytes] = {}
    for rows in parts:
        for base, window in zip(rows.shared.bases.tolist(), rows.shared.windows, strict=True):
            if len(window) > len(held.get(base, b"")):
                held[base] = window
    if len(held) == 1:
        (base,) = held
        return held[base], offsets, offsets - base
    # Windows overlap, or all but meet: mostly they are one stretch of the stream. What they end with is padding,
    # or stands in the next one too.
    pieces: list[bytes | memoryview] = []
    stretches: list[tuple[int, int]] = []
    # Far enough in front for the first window to begin a stretch.
    at, size = -2 * PADDING, 0
    for base in sorted(held):
        window = held[base]
        if base > at + PADDING:
            stretches.append((base, size - base))
            at = base
        elif base > at:
            pieces.append(bytes(base - at))
            size += base - at
            at = base
        whole = memoryview(window)[at - base : len(window) - PADDING]
        pieces.append(whole)
        size += len(whole)
        at += len(whole)
    pieces.append(bytes(PADDING))
    bases, shifts = np.array(stretches, dtype=np.int64).T
    if len(stretches) == 1:
        return b"".join(pieces), offsets, offsets + shifts[0]
    return b"".join(pieces), offsets, offsets + shifts[np.searchsorted(bases, offsets, "right") - 1]


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
        self._marks: list[Ints] = []
        self._carrying = False
        self._labels: list[tuple[int, int]] = []
        self._label_lists: list[LabelList] = []
        self._numbered: list[Ints] = []
        self._owners: list[Ints] = []
        self._counted = True

    def add(self, columns: HeaderColumns, kinds: Ints, events: Events, first: bool) -> None:
        """Take one piece of a block; `first` says that the block begins here, so that nothing carries over."""
        if not self._windows or self._windows[-1] is not events.window:
            self._windows.append(events.window)
            self._bases.append(events.base)
        if first and self._carrying:
            self._marks.append(_reset(self.events))
            self._carrying = False
        if len(columns.marks) and not events.labelled:
            marks = columns.marks.copy()
            marks[:, 0] += self.events
            marks[:, 2] += events.base
            self._marks.append(marks)
            self._carrying = True
        self._counted = events.counted
        self._columns.append(columns)
        self._kinds.append(kinds)
        self.count(columns)

    def count(self, columns: HeaderColumns) -> None:
        """Only take note of how much there is."""
        if not self.events:
            self._start = int(columns.offsets[0])
        # What the stream spans, which is about what is held; not the windows, which are as large as what was fed.
        self.bytes = int(columns.offsets[-1] + columns.sizes[-1]) - self._start
        self.events += len(columns)

    def add_stacks(self, block: Stacks | InlineStacks) -> None:
        """Take stacks. Where ids begin anew, those of the events so far get their meaning first."""
        if self.stacks.restarts(block):
            self._number()
        self.stacks.add(block)

    def _number(self) -> None:
        lookup = self.stacks.lookup()
        self._numbered += [lookup.unique(c.stack_ids) for c in self._columns[len(self._numbered) :]]

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
        if not self._columns:
            self._clear()
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
        activity, related = _guid_places(self._marks)
        labels = _pairs(self._labels)
        lookup: StackLookup | None = self.stacks.lookup()
        threads_of, stack_ids, times, offsets, sizes = joined(columns)
        if self._numbered:
            self._number()
            stack_ids, lookup = np.concatenate(self._numbered), None
        shared = Shared(
            np.array(self._bases, dtype=np.int64),
            self._windows,
            self.stacks,
            lookup,
            Runs(np.concatenate(starts), np.ascontiguousarray(run_table[:, 1]), processors),
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
            times,
            threads_of,
            stack_ids,
            offsets,
            sizes,
            np.arange(self.events),
            np.concatenate(self._owners) if self._owners else None,
            shared,
        )
        self._clear()
        return rows.sorted() if in_time_order else rows

    def end(self) -> None:
        """A sequence point: stack ids start anew."""
        self.stacks = self.stacks.successor()


def _reset(row: int) -> Ints:
    """The mark of a block's beginning: no activity carries over."""
    return np.array([[row, _ACTIVITY | _RELATED, _NOWHERE]], dtype=np.int64)


def _guid_places(marks: list[Ints]) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """From marks to (rows, stream offsets) of activity ids and of related ones; -1 where there is none."""
    if not marks:
        return (_NO_INTS, _NO_INTS), (_NO_INTS, _NO_INTS)
    table = np.concatenate(marks)
    rows, flags, places = table[:, 0], table[:, 1], table[:, 2]
    activity, related = (flags & _ACTIVITY) != 0, (flags & _RELATED) != 0
    # The related id stands behind the activity id, where there is one.
    behind = np.where(places == _NOWHERE, _NOWHERE, places + np.where(activity, 16, 0))
    return (rows[activity], places[activity]), (rows[related], behind[related])


def _pairs(items: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    if not items:
        return _NO_INTS, _NO_INTS
    table = np.array(items, dtype=np.int64)
    return table[:, 0], table[:, 1]

"""Events between two sequence points: gathered block by block, handed on in time order as `Rows`.

Holds columns of integers and the windows they point into; decodes nothing. Order is (time, place in the file), which
is one of those that the format allows and the only one that does not depend on luck (docs/format.md, "Order of
events").
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from clrevents.decode.container.blocks import Events, InlineStacks, LabelList, Stacks, ThreadRow
from clrevents.decode.kernels.header_scan import HeaderColumns, joined
from clrevents.decode.rows import Ints, Release, Rows, Runs
from clrevents.decode.stacks import StackLookup, StackTable

T = TypeVar("T", bound=np.generic)

_ACTIVITY, _RELATED = 16, 32
_NOWHERE = -1
_NO_INTS: Ints = np.empty(0, dtype=np.int64)


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
        held = Release(
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
            held,
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

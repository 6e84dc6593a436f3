"""Event headers → rows with resolved ids: descriptions, threads and labels as defined at that moment.

Keeps what labels and thread rows of NetTrace 6 define, and reports undefined ids. Keeps no rows, and knows no order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define
from clrevents.decode.container.blocks import Events, LabelList, LabelLists, Labels, ThreadRow
from clrevents.decode.kernels.engine import Ints
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds, digest
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.decode.stream.salvage import head
from clrevents.errors import Limits, Problem, damage

# Looked up one by one: a trace may have as many blocks as events.
_FEW = 16


class ThreadTable:
    """The threads of NetTrace 6: from the indexes used by events to threads, which may reuse an index.

    A thread keeps its place in `all`; an index refers to it from its definition to its removal. `definitions` counts
    them.
    """

    def __init__(self, limits: Limits) -> None:
        self.all: list[ThreadRow] = []
        self.definitions = 0
        self._limits = limits
        self._by_index: dict[int, int] = {}
        # How many definitions there were before that of each place.
        self._born: list[int] = []
        # Places of threads that no index refers to, by what describes these.
        self._free: dict[bytes, list[int]] = {}
        self._ids = np.full(64, UNKNOWN_THREAD, dtype=np.uint64)

    def define(self, row: ThreadRow) -> Problem | None:
        """Add a thread; returns a problem if its index is in use."""
        old = self._by_index.get(row.index)
        if old is not None and _description(self.all[old]) == _description(row):
            return None
        place = self._take_free(row) if self._free else None
        if place is None:
            place = len(self.all)
            if place >= self._limits.threads:
                return damage("too-many-threads", "more threads than Limits.threads", row.offset, None, "later threads")
            self._add(row)
        self._by_index[row.index] = place
        self._born[place] = self.definitions
        self.definitions += 1
        if old is None:
            return None
        text = f"thread index {row.index} is redefined while in use"
        return damage("redefined-thread", text, row.offset, None, "which thread these events are about")

    def _add(self, row: ThreadRow) -> None:
        place = len(self.all)
        self.all.append(row)
        self._born.append(0)
        if place + 1 == len(self._ids):
            self._ids = np.concatenate((self._ids, np.full_like(self._ids, UNKNOWN_THREAD)))
        if row.thread_id is not None:
            self._ids[place] = row.thread_id

    def _take_free(self, row: ThreadRow) -> int | None:
        key = digest(_description(row))
        places = self._free.get(key)
        if not places:
            return None
        place = places.pop()
        if not places:
            del self._free[key]
        return place

    def _let_go(self, place: int) -> None:
        self._free.setdefault(digest(_description(self.all[place])), []).append(place)

    def born(self, place: int) -> int:
        """How many definitions there were before the last one of the thread at this place."""
        return self._born[place] if place < len(self._born) else self.definitions

    def find(self, index: int) -> int | None:
        """The place of the thread that an index currently refers to."""
        return self._by_index.get(index)

    def remove(self, index: int) -> int | None:
        """Forget an index; returns its thread's place."""
        place = self._by_index.pop(index, None)
        if place is not None:
            self._let_go(place)
        return place

    def forget(self) -> None:
        for place in self._by_index.values():
            self._let_go(place)
        self._by_index = {}

    def places(self, indexes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int | None]:
        """Places of many indexes (-1 if undefined), and the first undefined index."""
        if len(indexes) < _FEW:
            few = [self._by_index.get(index, -1) for index in indexes.tolist()]
            return np.array(few, dtype=np.int64), few.index(-1) if -1 in few else None
        uniques, inverse = np.unique(indexes, return_inverse=True)
        known_places = [self._by_index.get(index, -1) for index in uniques.tolist()]
        places = np.array(known_places, dtype=np.int64)[inverse]
        missing = np.flatnonzero(places < 0)
        return places, int(missing[0]) if len(missing) else None

    def thread_ids(self, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Operating-system thread ids; all ones where unknown."""
        # Place -1, a missing thread, reads the last of them, which is always unknown.
        return self._ids[places]

    def thread_id(self, place: int) -> int:
        """The operating system's id of one thread; -1 if unknown."""
        known = self.all[place].thread_id
        return -1 if known is None else known


def _description(row: ThreadRow) -> tuple[object, ...]:
    """What a row says of the thread itself."""
    return row.thread_id, row.process_id, row.name, row.attributes


LabelChanges: TypeAlias = list[tuple[int, LabelList | None]]
"""Rows from which on events have another label list, and that list; None for no labels."""

# The flag of a mark that holds a label list id.
_HAS_LABELS = 16


# Ids ascend from block to block; this often they may start again before older blocks are forgotten.
_RUNS: Final = 16
# Lists of up to so many bytes are read again rather than kept by id; so many different ones are kept by their bytes.
_SHORT: Final = 64
_KEPT: Final = 4096


class _Run:
    """Blocks whose ids ascend."""

    def __init__(self) -> None:
        self.firsts: list[int] = []
        self.blocks: list[LabelLists] = []
        self.end = 0

    def add(self, block: Labels) -> None:
        self.firsts.append(block.first_id)
        self.blocks.append(block.lists)
        self.end = block.first_id + len(block.lists)

    def find(self, label: int) -> tuple[LabelLists, int] | None:
        """The block that defines an id, and the place in it."""
        at = bisect_right(self.firsts, label) - 1
        if at < 0 or label - self.firsts[at] >= len(self.blocks[at]):
            return None
        return self.blocks[at], label - self.firsts[at]


class LabelTable:
    """The label lists that ids currently refer to, and the list of the last event.

    A list is read once an event has it. Where ids overlap, the newer block counts.
    """

    def __init__(self) -> None:
        self._runs: deque[_Run] = deque(maxlen=_RUNS)
        self._long: dict[int, LabelList] = {}
        self._short: dict[bytes, LabelList] = {}
        self._last: LabelList | None = None

    def __len__(self) -> int:
        """The number of lists that are kept, read or not."""
        return sum(len(lists) for run in self._runs for lists in run.blocks)

    def add(self, block: Labels) -> None:
        if not len(block.lists):
            return
        if not self._runs or block.first_id < self._runs[-1].end:
            self._runs.append(_Run())
            self._long.clear()
        self._runs[-1].add(block)

    def clear(self) -> None:
        """A sequence point: ids restart."""
        self._runs.clear()
        self._long.clear()
        self._short.clear()

    def _list(self, label: int) -> LabelList | None:
        """The list that an id currently refers to."""
        known = self._long.get(label)
        if known is not None:
            return known
        for run in reversed(self._runs):
            labels = run.find(label)
            if labels is not None:
                return self._read(label, *labels)
        return None

    def _read(self, label: int, lists: LabelLists, index: int) -> LabelList:
        """The same object for the same list, and for equal short ones."""
        stored = lists.stored(index)
        if len(stored) > _SHORT:
            labels = self._long[label] = lists[index]
            return labels
        known = self._short.get(stored)
        if known is None:
            if len(self._short) >= _KEPT:
                self._short.clear()
            known = self._short[stored] = lists[index]
        return known

    def all_known(self, columns: HeaderColumns) -> bool:
        """Whether every label list that these rows refer to is there."""
        marks = columns.marks
        labels = set(marks[(marks[:, 1] & _HAS_LABELS) != 0, 2].tolist()) - {0}
        return all(any(run.find(label) for run in reversed(self._runs)) for label in labels)

    def changes(self, columns: HeaderColumns) -> tuple[LabelChanges, list[Problem]]:
        """Where the label list changes, and a problem for each list that is missing."""
        changes: LabelChanges = []
        problems: list[Problem] = []
        marks = columns.marks[(columns.marks[:, 1] & _HAS_LABELS) != 0]
        if not len(marks):
            return changes, problems
        # Writers may name the same list with every event.
        begins = np.flatnonzero(np.append(True, marks[1:, 2] != marks[:-1, 2]))
        for first, limit in zip(begins.tolist(), [*begins[1:].tolist(), len(marks)], strict=True):
            row, _, label = marks[first].tolist()
            labels = self._list(label) if label else None
            changes.append((row, labels))
            if label and labels is None:
                text = f"an event refers to undefined label list {label}"
                for at in columns.offsets[marks[first:limit, 0]].tolist():
                    problems.append(Problem("missing-labels", "note", text, at, impact="the labels of these events"))
        return changes, problems

    def override(self, kind_indexes: Ints, changes: LabelChanges, first: bool, kinds: Kinds) -> Ints:
        """The kinds of events whose labels override the description's opcode, level, version or keywords.

        If the piece is not the `first` of its block, the last list of the previous piece continues.
        """
        spans = [(0, None if first else self._last), *changes]
        self._last = spans[-1][1]
        # No generator: an interrupt while one is closed early would be lost.
        if not [labels for _, labels in spans if labels is not None and labels.overrides]:
            return kind_indexes
        changed = kind_indexes.copy()
        ends = [row for row, _ in changes]
        for (start, labels), end in zip(spans, [*ends, len(changed)], strict=True):
            if labels is not None and labels.overrides:
                for row in range(start, end):
                    changed[row] = kinds.overridden(int(kind_indexes[row]), labels.overrides)
        return changed


@define(eq=False)
class ResolvedRows:
    """Events of one piece of a block. `thread_places` and `label_changes` are for NetTrace 6, otherwise None.

    `problems` are those of these rows. `fault` is the first undefined id, which ends the rows unless in salvage mode;
    it is to be reported after the rows.
    """

    columns: HeaderColumns
    kind_indexes: Ints
    thread_places: Ints | None = None
    label_changes: LabelChanges | None = None
    problems: list[Problem] = attrs.Factory(list)
    fault: Problem | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def cut(self, count: int) -> None:
        """Keep the first `count` rows."""
        self.columns, self.kind_indexes = head(self.columns, count), self.kind_indexes[:count]


class Resolver:
    """Resolves the ids of one stream's events. An undefined id ends the rows, unless in `salvage` mode."""

    def __init__(self, kinds: Kinds, threads: ThreadTable, labels: LabelTable, salvage: bool) -> None:
        self._kinds = kinds
        self._threads = threads
        self._labels = labels
        self._salvage = salvage
        self._reported: set[int] = set()

    def resolve(self, columns: HeaderColumns, block: Events, first: bool) -> ResolvedRows:
        """The rows of one piece of a block; `first` says whether it is the block's first."""
        kind_indexes, missing = self._kinds.indexes(columns.metadata_ids)
        rows = ResolvedRows(columns, kind_indexes)
        if missing:
            self._undefined_kinds(rows)
        if block.labelled and len(rows):
            self._resolve_threads(rows)
            self._resolve_labels(rows, first)
        return rows

    def all_known(self, columns: HeaderColumns, block: Events) -> bool:
        """Whether all ids of these rows are defined, as far as that is quickly seen; changes nothing."""
        if self._kinds.table.take(columns.metadata_ids, mode="clip").min() < 0:
            return False
        if not block.labelled:
            return True
        return self._threads.places(columns.thread_ids)[1] is None and self._labels.all_known(columns)

    def _undefined_kinds(self, rows: ResolvedRows) -> None:
        """Cut before the first event without a description; in salvage mode report each description once."""
        kinds, columns = self._kinds.all, rows.columns
        uniques, firsts = np.unique(rows.kind_indexes, return_index=True)
        first_rows = zip(firsts.tolist(), uniques.tolist(), strict=True)
        undefined = sorted((row, kind) for row, kind in first_rows if kinds[kind].undefined)
        if not self._salvage:
            row = undefined[0][0]
            rows.fault = _undefined_kind(columns, row)
            rows.cut(row)
            return
        new = [(row, kind) for row, kind in undefined if kind not in self._reported]
        self._reported.update(kind for _, kind in new)
        rows.problems += [_undefined_kind(columns, row) for row, _ in new]

    def _resolve_threads(self, rows: ResolvedRows) -> None:
        """From thread indexes to threads: their places in the thread table, and their ids there."""
        places, missing = self._threads.places(rows.columns.thread_ids)
        if missing is not None:
            rows.fault = rows.fault or _undefined_thread(rows.columns, missing)
            if not self._salvage:
                rows.cut(missing)
                places = places[:missing]
        columns = rows.columns
        captures, _ = self._threads.places(columns.runs[:, 1])
        runs = columns.runs.copy()
        runs[:, 1] = captures.astype(np.uint64)
        thread_ids = self._threads.thread_ids(places)
        rows.columns = HeaderColumns(
            columns.metadata_ids,
            thread_ids,
            columns.stack_ids,
            columns.ticks,
            columns.offsets,
            columns.sizes,
            runs,
            columns.marks,
        )
        rows.thread_places = places

    def _resolve_labels(self, rows: ResolvedRows, first: bool) -> None:
        rows.label_changes, problems = self._labels.changes(rows.columns)
        rows.problems += problems
        rows.kind_indexes = self._labels.override(rows.kind_indexes, rows.label_changes, first, self._kinds)


def _undefined_kind(columns: HeaderColumns, row: int) -> Problem:
    return damage(
        "undefined-metadata",
        f"an event refers to undefined description {columns.metadata_ids[row]}",
        int(columns.offsets[row]),
        int(columns.sizes[row]),
        "the kind of this event",
    )


def _undefined_thread(columns: HeaderColumns, row: int) -> Problem:
    return damage(
        "undefined-thread",
        f"an event refers to undefined thread index {columns.thread_ids[row]}",
        int(columns.offsets[row]),
        int(columns.sizes[row]),
        "the thread of this event",
    )

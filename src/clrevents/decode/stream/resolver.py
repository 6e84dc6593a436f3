"""Event headers → rows with resolved ids: descriptions, threads and labels as defined at that moment.

Reports undefined ids. Keeps no rows, and knows no order.
"""

from __future__ import annotations

import attrs
import numpy as np

from clrevents._util.value_classes import define
from clrevents.decode.container.blocks import Events
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.rows import Ints
from clrevents.decode.stream.labels import LabelChanges, LabelTable
from clrevents.decode.stream.salvage import head
from clrevents.decode.stream.thread_table import ThreadTable
from clrevents.errors import Problem, damage


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
        found = zip(firsts.tolist(), uniques.tolist(), strict=True)
        undefined = sorted((row, kind) for row, kind in found if kinds[kind].undefined)
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

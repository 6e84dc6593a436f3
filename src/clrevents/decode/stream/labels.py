"""Labels of NetTrace 6: from label list ids to lists, and the parts of an event's description that labels override.

Ids expire at the next sequence point. Pure bookkeeping of values from `blocks`; sees no bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import Final, TypeAlias

import numpy as np

from clrevents.decode.container.blocks import LabelList, LabelLists, Labels
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.rows import Ints
from clrevents.errors import Problem

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
            found = run.find(label)
            if found is not None:
                return self._read(label, *found)
        return None

    def _read(self, label: int, lists: LabelLists, index: int) -> LabelList:
        """The same object for the same list, and for equal short ones."""
        stored = lists.stored(index)
        if len(stored) > _SHORT:
            made = self._long[label] = lists[index]
            return made
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

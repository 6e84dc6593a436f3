"""Labels of NetTrace 6: from label list ids to lists, and the parts of an event's description that labels override.

Ids expire at the next sequence point. Pure bookkeeping of values from `blocks`; sees no bytes.
"""

from __future__ import annotations

from typing import TypeAlias

from clrevents.decode.container.blocks import LabelList, Labels
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.rows import Ints
from clrevents.errors import Problem

LabelChanges: TypeAlias = list[tuple[int, LabelList | None]]
"""Rows from which on events have another label list, and that list; None for no labels."""

# The flag of a mark that holds a label list id.
_HAS_LABELS = 16


class LabelTable:
    """The label lists that ids currently refer to, and the list of the last event."""

    def __init__(self) -> None:
        self._lists: dict[int, LabelList] = {}
        self._last: LabelList | None = None

    def __len__(self) -> int:
        return len(self._lists)

    def add(self, block: Labels) -> None:
        self._lists.update(enumerate(block.lists, block.first_id))

    def clear(self) -> None:
        """A sequence point: ids restart."""
        self._lists.clear()

    def changes(self, columns: HeaderColumns) -> tuple[LabelChanges, list[Problem]]:
        """Where the label list changes, and a problem for each list that is missing."""
        changes: LabelChanges = []
        problems = []
        for row, flags, label in columns.marks.tolist():
            if flags & _HAS_LABELS:
                changes.append((row, self._lists.get(label)))
                if label and label not in self._lists:
                    text = f"an event refers to undefined label list {label}"
                    at = int(columns.offsets[row])
                    problems.append(Problem("missing-labels", "note", text, at, impact="the labels of these events"))
        return changes, problems

    def override(self, kind_indexes: Ints, changes: LabelChanges, first: bool, kinds: Kinds) -> Ints:
        """The kinds of events whose labels override the description's opcode, level, version or keywords.

        If the piece is not the `first` of its block, the last list of the previous piece continues.
        """
        spans = [(0, None if first else self._last), *changes]
        self._last = spans[-1][1]
        if not any(labels is not None and labels.overrides for _, labels in spans):
            return kind_indexes
        changed = kind_indexes.copy()
        ends = [row for row, _ in changes]
        for (start, labels), end in zip(spans, [*ends, len(changed)], strict=True):
            if labels is not None and labels.overrides:
                for row in range(start, end):
                    changed[row] = kinds.overridden(int(kind_indexes[row]), labels.overrides)
        return changed

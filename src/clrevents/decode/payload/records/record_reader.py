"""Payloads of a whole batch → records straight from their bytes, on demand: for the compiled engine.

Leaves every inexact fit to `payload_decoder`, which alone decides what is a problem, and by which the interpreted
engine reads every payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kernels.objects import PORTION, UNKNOWN_ENTRY, BatchPayloads
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column_values import Ints
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.payload.records.record_program import fillable, record_program, shape_of
from clrevents.schema.layout import BoundLayout

Objects: TypeAlias = list[Any]


class DirectRecords:
    """Payloads that the kernel reads row by row: those that do not fit are `singles`."""

    def __init__(
        self, payloads: BatchPayloads, singles: dict[int, Any], kinds: Ints, layouts: dict[int, BoundLayout]
    ) -> None:
        self._payloads = payloads
        self._singles = singles
        self._kinds = kinds
        self._layouts = layouts

    def put(self, row: int, payload: Any) -> None:
        """Add a payload that was read by itself; rows must ascend."""
        self._singles[row] = payload

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        """The rows of each kind whose payloads fit a layout exactly, and that layout."""
        fit = np.flatnonzero(self._payloads.fit)
        order, groups = arranged(self._kinds.take(fit))
        for index, part in groups:
            yield fit[order[part]], self._layouts[index]

    def singles(self) -> Iterator[tuple[int, Any]]:
        """All other rows, and their payloads."""
        yield from self._singles.items()

    def portions(self, again: bool = False) -> Iterator[Objects]:
        """All payloads, in portions large enough to be efficient.

        With `again`, each portion ends the one before: records that nobody else has by then become others.
        """
        read, count = self._payloads.read, len(self._kinds)
        for first in range(0, count, PORTION):
            yield read(first, min(first + PORTION, count), again)


_NONE = -1


class RecordReader:
    """Reads records of one trace's events; how is decided when a kind first occurs."""

    def __init__(self, decoder: PayloadDecoder) -> None:
        self._decoder = decoder
        self._programs: list[Any] = []
        self._shapes: list[Any] = []
        self._layouts: dict[int, BoundLayout] = {}
        # By a kind's index: a place in both lists.
        self._entries = np.full(64, UNKNOWN_ENTRY, dtype=np.int64)

    def read(
        self, kinds: list[EventKind], places: Ints, data: bytes, starts: Ints, ends: Ints
    ) -> tuple[DirectRecords, list[int]]:
        """The payloads, and the rows, in ascending order, whose payload is still missing."""
        if len(kinds) > len(self._entries):
            grown = np.full(2 * len(kinds), UNKNOWN_ENTRY, dtype=np.int64)
            grown[: len(self._entries)] = self._entries
            self._entries = grown
        singles: dict[int, Any] = {}
        payloads = BatchPayloads(data, self._programs, self._shapes, self._entries, places, starts, ends, singles)
        row, again = 0, []
        while (row := payloads.check(row)) < len(places):
            index = int(places[row])
            kind = kinds[index]
            if self._decoder.drifted(kind):
                # Until that has been reported.
                again.append(index)
                self._entries[index] = _NONE
            else:
                self._entries[index] = self._entry(kind)
        self._entries[again] = UNKNOWN_ENTRY
        left: list[int] = np.flatnonzero(payloads.fit == 0).tolist()
        return DirectRecords(payloads, singles, places, self._layouts), left

    def _entry(self, kind: EventKind) -> int:
        """-1 for what must be read one by one: unknown, newer than the registry, or ambiguous."""
        layouts = [] if kind.newer else self._decoder.layouts(kind)
        if not layouts:
            return _NONE
        bound = layouts[0][0]
        program, record = record_program(bound), self._decoder.record(kind)
        if program is None or record is None or not fillable(record):
            return _NONE
        self._programs.append(program)
        self._shapes.append(shape_of(record))
        self._layouts[kind.index] = bound
        return len(self._programs) - 1

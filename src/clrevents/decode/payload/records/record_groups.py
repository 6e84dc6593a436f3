"""The payloads of one batch: single ones, and those that become records on demand, by themselves or by kind.

Knows rows and portions; how a record is made is up to the kernel or to the groups' functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kernels.objects import PORTION, BatchPayloads
from clrevents.decode.payload.columns.dtypes import Ints
from clrevents.schema.layout import BoundLayout

Objects: TypeAlias = list[Any]


class LazyRecords(Protocol):
    """The payloads of a batch: some read one by one, and others made on demand."""

    def put(self, row: int, payload: Any) -> None:
        """Add a payload that was read by itself; rows must ascend."""

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        """The rows of each kind whose payloads fit a layout exactly, and that layout."""

    def singles(self) -> Iterator[tuple[int, Any]]:
        """All other rows, and their payloads."""

    def portions(self) -> Iterator[Objects]:
        """All payloads, in portions large enough to be efficient. Made anew each time."""

    def portions_in_turn(self) -> Iterator[Objects]:
        """The same, but each ends the one before: records that nobody else has by then become others."""


def all_of(records: LazyRecords) -> Objects:
    """All payloads at once."""
    return [record for portion in records.portions() for record in portion]


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
        self._singles[row] = payload

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        fit = np.flatnonzero(self._payloads.fit)
        order, groups = arranged(self._kinds.take(fit))
        for index, part in groups:
            yield fit[order[part]], self._layouts[index]

    def singles(self) -> Iterator[tuple[int, Any]]:
        yield from self._singles.items()

    def portions(self) -> Iterator[Objects]:
        return self._portions(False)

    def portions_in_turn(self) -> Iterator[Objects]:
        return self._portions(True)

    def _portions(self, again: bool) -> Iterator[Objects]:
        read, count = self._payloads.read, len(self._kinds)
        for first in range(0, count, PORTION):
            yield read(first, min(first + PORTION, count), again)


@frozen(eq=False)
class RecordGroup:
    """Records of one kind: those of the batch's ascending `rows`, whose payloads all fit `layout` exactly.

    `make` makes those from one place to another.
    """

    rows: Ints
    make: Callable[[int, int], Objects]
    layout: BoundLayout


class GroupedRecords:
    """Payloads that become records a kind at a time."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._groups: list[RecordGroup] = []
        self._single: dict[int, Any] = {}

    def add(self, group: RecordGroup) -> None:
        self._groups.append(group)

    def put(self, row: int, payload: Any) -> None:
        self._single[row] = payload

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        for group in self._groups:
            yield group.rows, group.layout

    def singles(self) -> Iterator[tuple[int, Any]]:
        yield from self._single.items()

    def portions_in_turn(self) -> Iterator[Objects]:
        return self.portions()

    def portions(self) -> Iterator[Objects]:
        done = [0] * len(self._groups)
        singles = [*self._single.items()]
        at = 0
        for first in range(0, self._length, PORTION):
            last = min(first + PORTION, self._length)
            made: Objects = [None] * (last - first)
            for index, group in enumerate(self._groups):
                start, stop = done[index], int(group.rows.searchsorted(last))
                done[index] = stop
                if stop - start == last - first:
                    made = group.make(start, stop)
                elif stop > start:
                    records = group.make(start, stop)
                    for row, record in zip((group.rows[start:stop] - first).tolist(), records, strict=True):
                        made[row] = record
            while at < len(singles) and singles[at][0] < last:
                row, payload = singles[at]
                made[row - first] = payload
                at += 1
            yield made

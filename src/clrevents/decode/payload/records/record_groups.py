"""The payloads of one batch: single ones, and groups of one kind that become records on demand.

Knows rows and portions; how a record is made is up to the groups' functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents.decode.kernels.objects import scatter
from clrevents.decode.payload.columns.dtypes import Ints
from clrevents.schema.layout import BoundLayout

Objects: TypeAlias = list[Any]

# Few enough rows at once that they are still in the processor's cache when they are freed.
PORTION: Final = 1 << 12


@frozen(eq=False)
class RecordGroup:
    """Records of one kind: those of the batch's ascending `rows`, whose payloads all fit `layout` exactly.

    `make` makes those from one place to another.
    """

    rows: Ints
    make: Callable[[int, int], Objects]
    layout: BoundLayout


class LazyRecords:
    """The payloads of a batch: some read one by one, and groups made on demand."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._groups: list[RecordGroup] = []
        self._single: dict[int, Any] = {}

    def add(self, group: RecordGroup) -> None:
        self._groups.append(group)

    def put(self, row: int, payload: Any) -> None:
        """Add a payload that belongs to no group; rows must ascend."""
        self._single[row] = payload

    def groups(self) -> Iterator[tuple[Ints, BoundLayout]]:
        """The rows of each group, and the layout that their payloads fit."""
        for group in self._groups:
            yield group.rows, group.layout

    def singles(self) -> Iterator[tuple[int, Any]]:
        """The rows of no group, and their payloads."""
        yield from self._single.items()

    def portions(self) -> Iterator[Objects]:
        """All payloads, in portions large enough to be efficient. Made anew each time."""
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
                    scatter(made, group.rows[start:stop] - first, group.make(start, stop))
            while at < len(singles) and singles[at][0] < last:
                row, payload = singles[at]
                made[row - first] = payload
                at += 1
            yield made

    def all(self) -> Objects:
        """All of them at once."""
        return [record for portion in self.portions() for record in portion]

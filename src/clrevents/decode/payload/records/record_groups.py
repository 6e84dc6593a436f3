"""The payloads of one batch: single ones, and groups of one kind that become records only when they are asked for.

Knows rows and portions; how a record is made is in the groups' functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import attrs

from clrevents.decode.kernels.objects import scatter
from clrevents.decode.payload.columns.dtypes import Ints

Objects: TypeAlias = list[Any]

# So many rows are made at once that they are still in the processor's cache when they are let go.
PORTION: Final = 1 << 12


@attrs.frozen(eq=False)
class RecordGroup:
    """Records of one kind: those of the batch's rows `rows`, which rise. `make` makes so many, from one to another."""

    rows: Ints
    make: Callable[[int, int], Objects]


class LazyRecords:
    """The payloads of a batch: some that were read one by one, and groups that are made when they are asked for."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._groups: list[RecordGroup] = []
        self._single: dict[int, Any] = {}

    def add(self, group: RecordGroup) -> None:
        self._groups.append(group)

    def put(self, row: int, payload: Any) -> None:
        """A payload that belongs to no group; rows rise."""
        self._single[row] = payload

    def portions(self) -> Iterator[Objects]:
        """All payloads, so many at a time that they are worth their calls. Made anew each time."""
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

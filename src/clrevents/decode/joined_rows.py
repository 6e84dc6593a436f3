"""Rows of several releases as one source of header columns.

A trace may release a few rows at a time: what makes columns is then called once for many releases, and not for each.
Knows neither columns nor selections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.arrays import end_to_end
from clrevents.decode.container.blocks import LabelList
from clrevents.decode.rows import Guids, HeaderRows, Rows

Ints: TypeAlias = NDArray[np.int64]
T = TypeVar("T")


def joined_rows(parts: Sequence[Rows]) -> HeaderRows:
    """At least one part of one stream, in order."""
    return parts[0] if len(parts) == 1 else JoinedRows(parts)


@attrs.frozen(eq=False)
class JoinedRows:
    """See `HeaderRows`; each attribute is joined when it is asked for."""

    parts: Sequence[Rows]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def kind_indexes(self) -> Ints:
        return end_to_end([rows.kind_indexes for rows in self.parts])

    @property
    def ticks(self) -> Ints:
        return end_to_end([rows.ticks for rows in self.parts])

    @property
    def thread_ids(self) -> NDArray[np.uint64]:
        return end_to_end([rows.thread_ids for rows in self.parts])

    @property
    def thread_places(self) -> Ints | None:
        places = [rows.thread_places for rows in self.parts if rows.thread_places is not None]
        # Either every part of a stream has them or none.
        return end_to_end(places) if places else None

    @property
    def stack_ids(self) -> Ints:
        return end_to_end([rows.stack_ids for rows in self.parts])

    @property
    def sizes(self) -> Ints:
        return end_to_end([rows.sizes for rows in self.parts])

    @property
    def processors(self) -> Ints:
        return end_to_end([rows.processors for rows in self.parts])

    @property
    def process_ids(self) -> list[int | None] | None:
        return self._listed(rows.process_ids for rows in self.parts)

    @property
    def activities(self) -> Guids | None:
        return self._guids([rows.activities for rows in self.parts])

    @property
    def related_activities(self) -> Guids | None:
        return self._guids([rows.related_activities for rows in self.parts])

    @property
    def labels(self) -> list[LabelList | None] | None:
        return self._listed(rows.labels for rows in self.parts)

    def _listed(self, each: Iterable[list[T | None] | None]) -> list[T | None] | None:
        """One item a row; None if no part has any."""
        joined: list[T | None] = []
        some = False
        for rows, items in zip(self.parts, each, strict=True):
            some = some or items is not None
            joined += [None] * len(rows) if items is None else items
        return joined if some else None

    def _guids(self, each: list[Guids | None]) -> Guids | None:
        if not any(guids is not None for guids in each):
            return None
        places: list[Ints] = []
        found: list[bytes] = []
        for rows, guids in zip(self.parts, each, strict=True):
            if guids is None:
                places.append(np.full(len(rows), -1, dtype=np.int64))
            else:
                places.append(np.where(guids.places < 0, -1, guids.places + len(found)))
                found += guids.each
        return Guids(end_to_end(places), found)

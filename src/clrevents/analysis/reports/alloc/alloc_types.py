"""The type of an allocation: by the name in its event, or by the runtime's id, which other events name.

An id may be reused after its type was unloaded, so a name counts from where it was recorded, and the first one also
before. Knows nothing of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import numbered
from clrevents.table.build import Column

Ints: TypeAlias = NDArray[np.int64]

NAMELESS: Final = 0
"""The number of all types that have no name."""

_NO_IDS: Final = np.zeros(0, dtype=np.uint64)
_NO_PLACES: Final = np.zeros(0, dtype=np.int64)


class AllocatedTypes:
    """Numbers for types, in order of their appearance, whatever the chunks that they come in."""

    def __init__(self) -> None:
        self._names: list[str | None] = [None]
        self._by_name: dict[str, int] = {}
        self._by_id: dict[int, int] = {}

    def numbered(self) -> tuple[tuple[str | None, ...], Ints]:
        """The distinct names, the first of which is None, and for each number given so far its place among them."""
        of, distinct = numbered(self._names)
        return tuple(distinct), of

    def by_name(self, names: Column, ids: NDArray[Any] | None) -> Ints:
        """The numbers of events that name their types; `ids` are the runtime's, which need not be right."""
        if ids is not None and len(ids):
            # Texts cost the most by far, and few differ: one for each id, if all events of an id have the same.
            distinct, first, of = np.unique(ids, return_index=True, return_inverse=True)
            if len(distinct) * 2 < len(ids) and _alike(names, first[of]):
                return np.array([self._named(text) for text in names.take(first).tolist()], dtype=np.int64)[of]
        return np.array([self._named(text) for text in names.tolist()], dtype=np.int64)

    def by_id(self, events: Sequence[Gathered], described: Gathered | None) -> Ints:
        """The numbers of all these events, which have only ids, with the types that were described between them."""
        ids = np.concatenate([_NO_IDS, *(rows.numbers("TypeID") for rows in events)])
        places = np.concatenate([_NO_PLACES, *(rows.places for rows in events)])
        distinct, of = np.unique(ids, return_inverse=True)
        known = distinct.tolist()
        numbers = np.array([self._of(id) for id in known], dtype=np.int64)[of] if known else _NO_PLACES
        index = {id: number for number, id in enumerate(known)}
        # An id that means another type from some place on: (its index, the place, the new number), in order.
        again = [
            (index[id], place, self._by_id[id])
            for id, name, place in _descriptions(described)
            if self._describe(id, name) and id in index
        ]
        if again:
            which, since, new = (np.array(column, dtype=np.int64) for column in zip(*again, strict=True))
            room = int(max(places.max(), since.max())) + 2
            keys = which * room + since
            order = np.argsort(keys, kind="stable")
            last = np.searchsorted(keys[order], of * room + places, side="left") - 1
            changed = np.flatnonzero((last >= 0) & (which[order[last]] == of))
            numbers[changed] = new[order[last[changed]]]
        return numbers

    def _named(self, name: str | None) -> int:
        if not name:
            return NAMELESS
        number = self._by_name.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def _of(self, id: int) -> int:
        number = self._by_id.setdefault(id, len(self._names))
        if number == len(self._names):
            self._names.append(None)
        return number

    def _describe(self, id: int, name: str) -> bool:
        """Give an id a name; whether it means another type from here on."""
        number = self._of(id)
        if self._names[number] is None:
            self._names[number] = name or None
        elif name and self._names[number] != name:
            self._by_id[id] = self._named(name)
            return True
        return False


def _descriptions(described: Gathered | None) -> list[tuple[int, str, int]]:
    """Id, name and place of each described type, in order."""
    if described is None:
        return []
    values = described.column("Values")
    (struct,) = values.children
    fields = dict(zip(struct.type.names, struct.children, strict=True))
    low, high = int(values.offsets[0]), int(values.offsets[-1])
    places = np.repeat(described.places, np.diff(values.offsets))
    ids, names = (fields[name].slice(low, high).tolist() for name in ("TypeID", "Name"))
    return list(zip(ids, names, places.tolist(), strict=True))


def _alike(names: Column, other: Ints) -> bool:
    """Whether each row has the same text as the row `other` says."""
    if names.texts is not None:
        return bool((names.values == names.values[other]).all())
    lengths = np.diff(names.offsets)
    if names.valid is not None and not (names.valid == names.valid[other]).all():
        return False
    if not (lengths == lengths[other]).all():
        return False
    size = int(lengths.sum())
    starts, theirs = names.offsets[:-1], names.offsets[:-1][other]
    within = np.arange(size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    mine = names.values[np.repeat(starts, lengths) + within]
    return bool((mine == names.values[np.repeat(theirs, lengths) + within]).all())

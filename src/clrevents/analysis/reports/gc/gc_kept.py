"""Objects that collections found pinned, and those whose finalizers ran: of which types, and who allocated them.

An object that is pinned lies where it was allocated, in the first collection after that: where an allocation tick has
its address, the tick's stack is the allocation of this very object. Finalizers are known by their type only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import Ints
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import groups

PINNED: Final = "PinObjectAtGCTime"
FINALIZED: Final = "FinalizeObject"
TICK: Final = "GCAllocationTick"
COLUMNS: Final = {
    PINNED: ("ObjectID", "ObjectSize", "TypeName"),
    FINALIZED: ("TypeID",),
    TICK: ("TypeID", "TypeName", "Address"),
}
"""What is kept of each event, beside its headers."""


def kept_rows(
    starts: Ints, pinned: Gathered, finalized: Gathered, ticks: Gathered, named: Callable[[int, int], str | None]
) -> list[dict[str, Any]]:
    """The rows of the table `kept`, most objects of each kind first.

    `starts` are the places of the collections' starts, rising; `named` gives the method of a stack at a time.
    """
    types, stacks, times = ticks.column("TypeName"), ticks.numbers("stack_id"), ticks.numbers("time_ns")

    def row(kind: str, name: str | None, objects: int, size: int | None, told: Ints) -> dict[str, Any]:
        _, first, counts = np.unique(stacks[told], return_index=True, return_counts=True)
        who: Counter[str | None] = Counter()
        for place in np.argsort(first).tolist():
            # Stacks are many fewer than ticks: each is named as it was when it first came.
            tick = told[first[place]]
            who[named(int(stacks[tick]), int(times[tick]))] += int(counts[place])
        samples = who.total()
        del who[None]
        method = max(who, key=lambda name: who[name]) if who else None
        return {"kind": kind, "type": name, "objects": objects, "bytes": size, "method": method, "samples": samples}

    names = pinned.column("TypeName").tolist()
    turn, address = np.searchsorted(starts, pinned.places), pinned.numbers("ObjectID").astype(np.int64)
    # Several handles may pin one object.
    order = np.lexsort((address, turn))
    once = order[np.flatnonzero(np.diff(turn[order], prepend=-1) | np.diff(address[order], prepend=-1))]
    sizes = pinned.numbers("ObjectSize").astype(np.int64)
    objects: Counter[str | None] = Counter()
    bytes_: Counter[str | None] = Counter()
    for i, size in zip(once.tolist(), sizes[once].tolist(), strict=True):
        objects[names[i] or None] += 1
        bytes_[names[i] or None] += size
    places = ticks.numbers("Address").astype(np.int64)
    hits = _among(places, address)
    before = np.searchsorted(starts, ticks.places[hits]) + 1
    seen = _among(address, places[hits]).tolist()
    there = {(int(turn[i]), int(address[i])): names[i] or None for i in seen}
    at: dict[str | None, list[int]] = {}
    for tick, key in zip(hits.tolist(), zip(before.tolist(), places[hits].tolist(), strict=True), strict=True):
        if key in there:
            at.setdefault(there[key], []).append(tick)
    numbers, ids = finalized.numbers("TypeID"), ticks.numbers("TypeID")
    mine = _among(ids, numbers)
    of_type = {number: mine[rows] for number, rows in groups(ids[mine]) if number}
    found = [row("pinned", name, n, bytes_[name], _ints(at.get(name, ()))) for name, n in objects.most_common()]
    for number, n in Counter(numbers.tolist()).most_common():
        told = of_type.get(number, _ints(()))
        type_ = types.take(told[:1]).tolist()[0] or None if len(told) else None
        found.append(row("finalized", type_, n, None, told))
    return found


def _ints(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def _among(values: NDArray[Any], few: NDArray[Any]) -> Ints:
    """The places of those values that are among a few others: these are sorted, not all."""
    known = np.unique(few)
    if not len(known):
        return _ints(())
    nearest = known[np.minimum(np.searchsorted(known, values), len(known) - 1)]
    return np.flatnonzero(nearest == values)

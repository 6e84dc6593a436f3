"""Objects that collections found pinned, and those whose finalizers ran: of which types, and who allocated them.

An object that is pinned lies where it was allocated, in the first collection after that: where an allocation tick has
its address, the tick's stack is the allocation of this very object. Finalizers are known by their type only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import Ints
from clrevents.analysis.gathering.gather import Gathered

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
    types, stacks, times = ticks.column("TypeName").tolist(), ticks.numbers("stack_id"), ticks.numbers("time_ns")

    def row(kind: str, name: str | None, objects: int, size: int | None, told: Iterable[int]) -> dict[str, Any]:
        by_stack: dict[int, list[int]] = {}
        for tick in told:
            by_stack.setdefault(int(stacks[tick]), []).append(tick)
        who: Counter[str | None] = Counter()
        for stack, mine in by_stack.items():
            # Stacks are many fewer than ticks: each is named as it was when it first came.
            who[named(stack, int(times[mine[0]]))] += len(mine)
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
    before, places = np.searchsorted(starts, ticks.places) + 1, ticks.numbers("Address").astype(np.int64)
    seen = np.flatnonzero(np.isin(address, places)).tolist()
    there = {(int(turn[i]), int(address[i])): names[i] or None for i in seen}
    at: dict[str | None, list[int]] = {}
    for tick in np.flatnonzero(np.isin(places, address)).tolist():
        key = int(before[tick]), int(places[tick])
        if key in there:
            at.setdefault(there[key], []).append(tick)
    of_type: dict[int, list[int]] = {}
    for tick, number in enumerate(ticks.numbers("TypeID").tolist()):
        of_type.setdefault(number, []).append(tick)
    found = [row("pinned", name, n, bytes_[name], at.get(name, ())) for name, n in objects.most_common()]
    for number, n in Counter(finalized.numbers("TypeID").tolist()).most_common():
        told = of_type.get(number, []) if number else []
        found.append(row("finalized", types[told[0]] or None if told else None, n, None, told))
    return found

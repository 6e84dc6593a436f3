"""Which filters accepted their exception: no event says so, the place of the catch handler that begins next does.

A filter's handler lies directly after it in the code of its method. Knows addresses only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]


@attrs.frozen
class Handler:
    """Where a handler begins: the runtime's id of its method, and an address."""

    method: int
    entry: int


def accepted(
    catches: Sequence[tuple[Handler | None, Handler]], others: Sequence[Handler], sure: Sequence[bool]
) -> list[bool]:
    """Whether each catch handler was chosen by the filter that ran last before it; the pairs are (filter, catch).

    That is so if no other known handler (`others` are those of filters and finally) begins between the two, unless the
    catch handler was also entered without that filter. `sure` says which pairs cannot lack an event.
    """
    entries: dict[int, set[int]] = {}
    for handler in (*others, *(catch for _, catch in catches)):
        entries.setdefault(handler.method, set()).add(handler.entry)
    ordered = {method: sorted(known) for method, known in entries.items()}
    without: dict[Handler, set[Handler | None]] = {}
    for (before, catch), certain in zip(catches, sure, strict=True):
        if certain:
            without.setdefault(catch, set()).add(before)
    found = []
    for before, catch in catches:
        if before is None or before.method != catch.method:
            found.append(False)
            continue
        known = ordered[before.method]
        place = bisect_right(known, before.entry)
        after = known[place] if place < len(known) else None
        found.append(after == catch.entry and without.get(catch, set()) <= {before})
    return found

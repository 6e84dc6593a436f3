"""Pairing as one would do it by hand: a stack for each key, event after event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Pair = tuple[int, int]


def pairs(rows: Iterable[tuple[Any, bool]]) -> list[Pair]:
    """(key, whether it is a begin) in order of time → places of begins and their ends, in the order of the begins."""
    open_: dict[Any, list[int]] = {}
    found = []
    for place, (key, opens) in enumerate(rows):
        if opens:
            open_.setdefault(key, []).append(place)
        elif open_.get(key):
            found.append((open_[key].pop(), place))
    return sorted(found)

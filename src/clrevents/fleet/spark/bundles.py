"""Which traces one Spark task reads: small ones together, because a task costs more than reading one.

Knows sizes that are free to get: those of files, and of URLs found by a pattern. Opens no trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clrevents.fleet.trace_paths import is_url_pattern
from clrevents.sources import file_system, is_url

BUNDLE_BYTES: Final = 8 << 20
"""Bytes of files, packed or not, that take about a second: the cost of a task is small compared with that."""
_OPENING: Final = 1 << 18
"""What is added to each trace's size: opening a small one, and a report on it, take as long as reading this much."""


def known_sizes(places: Iterable[str], paths: Iterable[str]) -> dict[str, int]:
    """The sizes of the traces that `places` mean, as far as no request for each of them is needed."""
    found: dict[str, int] = {}
    for path in paths:
        if not is_url(path):
            try:
                found[path] = os.stat(path).st_size
            except (OSError, ValueError):
                # Opening it says why.
                found[path] = 0
    for place in places:
        if is_url(place) and is_url_pattern(place):
            system, pattern = file_system(place)
            for name, facts in system.glob(pattern, detail=True).items():
                size = facts.get("size")
                if size is not None:
                    found[system.unstrip_protocol(name)] = int(size)
    return found


def bundles(paths: Sequence[str], sizes: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """The traces in their order, in groups of up to `most` bytes. One of unknown size is alone."""
    found: list[tuple[str, ...]] = []
    bundle: list[str] = []
    held = 0
    for path in paths:
        size = sizes.get(path, most) + _OPENING
        if bundle and held + size > most:
            found.append(tuple(bundle))
            bundle, held = [], 0
        bundle.append(path)
        held += size
    if bundle:
        found.append(tuple(bundle))
    return found

"""Stretches of one kind that may overlap → lanes, in each of which they lie inside each other or apart.

Time is that of sorting, whatever the stretches are. Knows no report.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Final

from clrevents.export.timeline.timeline_items import Item, Placed, Stretch, Track

_NEVER: Final = 1 << 64
_NESTING: Final = 4
"""Lanes in which stretches may lie inside each other. Further ones hold one at a time, so that finding one is cheap."""


def placed(track: Track, items: Iterable[Item], nesting: bool = False) -> Iterator[Placed]:
    """The items, in order of their start, each with its lane of the track.

    With `nesting`, what lies in another stretch is shown inside of it: right for what one thread does. Otherwise
    stretches that overlap at all are in different lanes. What is no stretch is in the first.
    """
    nests: list[list[int]] = [[] for _ in range(_NESTING if nesting else 0)]
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    tracks = [track]
    first = len(nests)
    for item in items:
        if not isinstance(item, Stretch):
            yield track, item
            continue
        start, end = item.start_ns, _NEVER if item.end_ns is None else item.end_ns
        lane = _nest(nests, start, end)
        if lane is None:
            while busy and busy[0][0] <= start:
                heapq.heappush(free, heapq.heappop(busy)[1])
            lane = heapq.heappop(free) if free else first + len(busy)
            heapq.heappush(busy, (end, lane))
        while len(tracks) <= lane:
            tracks.append(track._replace(lane=len(tracks)))
        yield tracks[lane], item


def _nest(nests: list[list[int]], start: int, end: int) -> int | None:
    """The first lane in which a stretch lies inside of all that are open; it is put there."""
    for lane, open_ in enumerate(nests):
        while open_ and open_[-1] <= start:
            open_.pop()
        if not open_ or end <= open_[-1]:
            open_.append(end)
            return lane
    return None

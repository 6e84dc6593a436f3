"""A trace as it would be if the runtime had dropped some of its events: what is left, and the gaps in the numbers.

Only events that name code stay, whoever wrote them. Knows no reports.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable

from clrevents.decode.selection import Filters, Selection
from clrevents.rewrite.copy import Copier
from clrevents.rewrite.cut import CONTEXT
from clrevents.schema.registry import DEFAULT
from clrevents.trace import Loss, passes_of
from reading import opened


def with_losses(data: bytes, seed: int, share: float) -> bytes:
    """The trace without this share of its events, chosen by chance, each of them a loss of its thread."""
    rng = random.Random(seed)
    return without(data, lambda place, name: rng.random() < share)


def with_one_lost(data: bytes, seed: int, name: str | None = None) -> bytes:
    """The trace without one event that is chosen by chance, of this name or of any."""
    places: list[int] = []

    def seen(place: int, of: str) -> bool:
        if name in (None, of):
            places.append(place)
        return False

    without(data, seen)
    chosen = random.Random(seed).choice(places)
    return without(data, lambda place, of: place == chosen)


def without(data: bytes, lost: Callable[[int, str], bool]) -> bytes:
    """The trace without those of its events, by place and name, that are `lost`."""
    out = io.BytesIO()
    naming = Selection(CONTEXT, Filters(), DEFAULT)
    kept, losses = [], []
    last: dict[int, int] = {}
    open_since: dict[int, tuple[int, int]] = {}
    place = 0
    with opened(data) as trace:
        for rows in passes_of(trace).event_rows(decode=False, filters={}):
            chosen = []
            for row, (thread, time) in enumerate(zip(rows.capture_threads.tolist(), rows.times_ns, strict=True)):
                place += 1
                kind = rows.kind(row)
                # What a thread loses before its first event cannot be told.
                if thread in last and not naming.means(kind) and lost(place, kind.key.name):
                    since, count = open_since.get(thread, (last[thread], 0))
                    open_since[thread] = since, count + 1
                    continue
                if thread in open_since:
                    since, count = open_since.pop(thread)
                    losses.append(Loss(thread, count, since, time))
                last[thread] = time
                chosen.append(row)
            kept.append(rows.take(chosen))
        copier = Copier(out, trace.info, losses)
        for rows in kept:
            copier.add(rows)
        copier.finish()
    return out.getvalue()

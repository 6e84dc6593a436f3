"""Deadlocks: threads that, when tracing stopped, waited in a cycle, each for a lock held by the next one.

A lock's holder is known from its last event: the owner when a thread began to wait, or the thread that had waited and
got it. A waiting thread releases no lock, so a cycle cannot have ended before. Names nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clrevents.analysis.shared.events.contention_spans import ContentionSpans, Ints


def deadlocks(found: ContentionSpans, locks: Ints) -> list[list[tuple[int, int]]]:
    """Each deadlock: its contentions and the owners for which they wait, in the order of who waits for whom.

    `locks` are numbers of the locks, one for each contention.
    """
    waits = np.flatnonzero(found.spans.open & ~found.native & (found.lock != 0)).tolist()
    owners = _owners(found, locks) if len(waits) > 1 else {}
    waits_of = {int(found.thread[row]): row for row in waits}
    blocked_by = {thread: owners.get(int(locks[row]), 0) for thread, row in waits_of.items()}
    circles, done = [], set[int]()
    for thread in blocked_by:
        way: list[int] = []
        while thread in blocked_by and thread not in done:
            done.add(thread)
            way.append(thread)
            thread = blocked_by[thread]
        if thread in way and way[-1] != thread:
            circle = way[way.index(thread) :]
            circles.append([(waits_of[one], blocked_by[one]) for one in circle])
    return circles


def _owners(found: ContentionSpans, locks: Ints) -> Mapping[int, int]:
    """The last known owner of each lock, 0 where that is unknown."""
    spans = found.spans
    begun, ended = np.flatnonzero(spans.begun), np.flatnonzero(spans.ended)
    times = np.concatenate((spans.start_ns[begun], spans.end_ns[ended]))
    rows, owners = np.concatenate((begun, ended)), np.concatenate((found.owner[begun], found.thread[ended]))
    order = np.argsort(times, kind="stable")
    return dict(zip(locks[rows[order]].tolist(), owners[order].tolist(), strict=True))

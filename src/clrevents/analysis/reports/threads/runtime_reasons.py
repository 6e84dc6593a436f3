"""Why the runtime made threads wait where the kernel knows a futex: locks, handles, tasks, and stops of all threads.

Matches times off the processor with what events prove; takes nothing from them where the kernel saw a thread run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.threads.thread_events import Blocked
from clrevents.analysis.reports.threads.tiling import Doing, Piece, Stops, proven
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, of_sampling
from clrevents.analysis.shared.samples.leaf_states import WAITING, ThreadState

SAMPLER: Final = "sample profiler"
"""The reason of threads that it stopped."""
_TURN_NS: Final = 20_000_000
"""A thread that is let go again waits at most so long for its turn on a processor."""
_RANKS: Final = 3
"""Locks, handles and tasks; the rank after them is work."""


@attrs.frozen
class RuntimeReasons:
    """`waits` are what events prove of each thread, without overlap. `stops` are when who stopped all threads: those
    for collections, and those for samples. Times of events are right within `uncertainty_ns` on the kernel's clock.
    """

    waits: Mapping[int, Sequence[Piece]] = attrs.field(factory=dict)
    collections: Mapping[int, Stops] = attrs.field(factory=dict)
    samplings: Mapping[int, Stops] = attrs.field(factory=dict)
    uncertainty_ns: int = 0

    def told(self, thread: int, start: int, end: int, doing: Doing, managed: bool) -> Doing:
        """What a thread does that is off the processor so long, if the kernel knows no more than `doing`."""
        if doing.state not in WAITING or doing.system_call != "futex":
            return doing
        wait = self._waits(thread, start, end)
        if wait is not None:
            own = wait.doing
            return attrs.evolve(
                own, stack_id=doing.stack_id, system_call=doing.system_call, alike=doing.alike, evidence="event"
            )
        if doing.reason != "futex" or not managed:
            return doing
        if self._stopped(self.collections, thread, start, end):
            return attrs.evolve(doing, state="gc_suspended", reason=None)
        if self._stopped(self.samplings, thread, start, end):
            return attrs.evolve(doing, reason=SAMPLER)
        return doing

    def _waits(self, thread: int, start: int, end: int) -> Piece | None:
        """The wait that covers most of a stretch, if at least half of it."""
        pieces = self.waits.get(thread, ())
        place = max(bisect_right(pieces, start, key=lambda piece: piece.start) - 1, 0)
        best, most = None, (end - start) // 2 - 2 * self.uncertainty_ns
        while place < len(pieces) and pieces[place].start < end:
            common = min(pieces[place].end, end) - max(pieces[place].start, start)
            if common > max(most, 0):
                best, most = pieces[place], common
            place += 1
        return best

    def _stopped(self, stops: Mapping[int, Stops], thread: int, start: int, end: int) -> bool:
        """Whether another thread's stop made this one wait from `start` on, and until its turn came after it."""
        sure = self.uncertainty_ns
        return any(
            low <= start + sure and end <= high + _TURN_NS
            for by, mine in stops.items()
            if by != thread
            for low, high in mine.around(start - sure, start + sure + 1)
        )


def waits_of(
    blocked: Iterable[Blocked], states: Iterable[tuple[ThreadState, str]], stopped_ns: int
) -> dict[int, list[Piece]]:
    """What events prove of each thread; a wait without an end lasts until tracing stopped."""
    found: dict[int, list[list[Piece]]] = {}
    for one, (state, event) in zip(blocked, states, strict=True):
        low, high = one.start or 0, stopped_ns if one.end is None else one.end
        if one.rank >= _RANKS or high <= low:
            continue
        doing = Doing(
            state,
            "event",
            event,
            lock_id=one.lock_id,
            object_address=one.object_address,
            owner_thread_id=one.owner_thread_id,
            task_id=one.task_id,
            open=one.end is None,
        )
        found.setdefault(one.thread, [[] for _ in range(_RANKS)])[one.rank].append(Piece(low, high, doing))
    return {thread: proven(kinds) for thread, kinds in found.items()}


def stops_by(begins: Gathered, ends: Gathered) -> tuple[dict[int, Stops], dict[int, Stops]]:
    """When each thread stopped the others: for collections, and for samples. Stops without an end are left out."""
    if not len(begins) or not len(ends):
        return {}, {}
    kinds = np.where(np.isin(begins.numbers("Reason").astype(np.int64), FOR_GC), 0, np.where(of_sampling(begins), 1, 2))
    thread, time = (
        np.concatenate([rows.numbers(name).astype(np.int64) for rows in (begins, ends)])
        for name in ("thread_id", "time_ns")
    )
    kind = np.concatenate((kinds, np.full(len(ends), 3)))
    order = np.lexsort((np.concatenate((begins.places, ends.places)), thread))
    thread, time, kind = thread[order], time[order], kind[order]
    whole = np.flatnonzero((thread[1:] == thread[:-1]) & (kind[:-1] < 3) & (kind[1:] == 3))
    found: tuple[dict[int, Stops], dict[int, Stops]] = ({}, {})
    for which, stops in enumerate(found):
        mine = whole[kind[whole] == which]
        for by in np.unique(thread[mine]).tolist():
            rows = mine[thread[mine] == by]
            stops[by] = Stops(zip(time[rows].tolist(), time[rows + 1].tolist(), strict=True))
    return found

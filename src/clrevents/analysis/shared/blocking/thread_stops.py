"""When a thread stopped all others, for a collection or for samples, and which times off the processor that explains.

A stopped thread sits in a futex and shows no method that waits; the kernel cannot tell why. Knows no other waits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, ReportChunk
from clrevents.analysis.framework.model.kept import Kept, narrowed
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, RESTARTED, SUSPENDING, of_sampling

StopWord: TypeAlias = Literal["collection", "sampler"]
STOP_EVENTS: Final = (SUSPENDING, RESTARTED)
_KEPT: Final = {SUSPENDING: ("time_ns", "thread_id", "Reason", "Count"), RESTARTED: ("time_ns", "thread_id")}
_BY_PROCESS: Final = "process_id"
"""A column of recordings that may have the kernel's events."""
_TURN_NS: Final = 20_000_000
"""A thread that is let go again waits at most so long for its turn on a processor."""
_COLLECTION, _SAMPLER, _OTHER, _END = range(4)


class Stops:
    """When all threads were stopped: spans, in order and without overlap."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted(spans):
            if self.ends and start < self.ends[-1]:
                self.ends[-1] = max(end, self.ends[-1])
            elif end > start:
                self.starts.append(start)
                self.ends.append(end)

    def around(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Those of which a part lies between two moments."""
        place = max(bisect_right(self.starts, start) - 1, 0)
        while place < len(self.starts) and self.starts[place] < end:
            if self.ends[place] > start:
                yield self.starts[place], self.ends[place]
            place += 1

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The same, cut there."""
        for low, high in self.around(start, end):
            yield max(low, start), min(high, end)

    def total(self, start: int, end: int) -> int:
        """How long threads were stopped between two moments."""
        return sum(high - low for low, high in self.within(start, end))


@frozen
class ThreadStops:
    """When each thread stopped the others, for collections and for samples; times are right within `uncertainty_ns` on
    the kernel's clock."""

    collections: Mapping[int, Stops] = attrs.field(factory=dict)
    samplings: Mapping[int, Stops] = attrs.field(factory=dict)
    uncertainty_ns: int = 0

    def of(self, thread: int, start: int, end: int) -> StopWord | None:
        """What a thread with managed code was stopped for that waited so long, by a futex and no method that waits."""
        if self._stopped(self.collections, thread, start, end):
            return "collection"
        return "sampler" if self._stopped(self.samplings, thread, start, end) else None

    def _stopped(self, stops: Mapping[int, Stops], thread: int, start: int, end: int) -> bool:
        """Whether another thread's stop made this one wait from `start` on, and until its turn came after it."""
        sure = self.uncertainty_ns
        return any(
            end <= high + _TURN_NS
            for by, mine in stops.items()
            if by != thread
            for _, high in mine.around(start - sure, start + sure + 1)
        )


class StopFeed:
    """Takes the chunks of a collector that selects `STOP_EVENTS`, and leaves its other events alone."""

    def __init__(self) -> None:
        self._kept = Kept()

    def take(self, chunk: ReportChunk) -> None:
        """See the next events; keeps none of a recording that has no kernel."""
        if any(name in chunk.events and _BY_PROCESS in chunk.events[name].table for name in STOP_EVENTS):
            self._kept.take(narrowed(chunk, _KEPT))

    def found(self, context: Context) -> ThreadStops:
        """All stops that have an end."""
        kept = self._kept.all(STOP_EVENTS, context.nothing)
        return ThreadStops(*_by_thread(kept[SUSPENDING], kept[RESTARTED]), context.uncertainty_ns)


def _by_thread(begins: Gathered, ends: Gathered) -> tuple[dict[int, Stops], dict[int, Stops]]:
    """When each thread stopped the others: for collections, and for samples."""
    found: tuple[dict[int, Stops], dict[int, Stops]] = ({}, {})
    if not len(begins) or not len(ends):
        return found
    for_gc = np.isin(begins.numbers("Reason").astype(np.int64), FOR_GC)
    kinds = np.where(for_gc, _COLLECTION, np.where(of_sampling(begins), _SAMPLER, _OTHER))
    thread, time = (
        np.concatenate([rows.numbers(name).astype(np.int64) for rows in (begins, ends)])
        for name in ("thread_id", "time_ns")
    )
    kind = np.concatenate((kinds, np.full(len(ends), _END)))
    order = np.lexsort((np.concatenate((begins.places, ends.places)), thread))
    thread, time, kind = thread[order], time[order], kind[order]
    whole = np.flatnonzero((thread[1:] == thread[:-1]) & (kind[:-1] != _END) & (kind[1:] == _END))
    for which, stops in zip((_COLLECTION, _SAMPLER), found, strict=True):
        mine = whole[kind[whole] == which]
        for by in np.unique(thread[mine]).tolist():
            rows = mine[thread[mine] == by]
            stops[by] = Stops(zip(time[rows].tolist(), time[rows + 1].tolist(), strict=True))
    return found

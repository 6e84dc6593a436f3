"""What the sample profiler cost, worked out one event at a time and one suspension against every other.

The long way round `recording_cost`, to compare with. Shares only the class of the answer with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import Literal

import attrs

from clrevents.analysis.shared.events.gc_suspensions import RecordingCost

ANY_COUNT = -1


@attrs.frozen
class Suspending:
    """One event about a suspension: `kind` 0 to 3, in the order in which the runtime writes them."""

    time: int
    thread: int
    kind: int
    reason: int = 0
    count: int = ANY_COUNT


@attrs.frozen
class Sampled:
    """One sample."""

    time: int
    thread: int


@attrs.frozen
class Lost:
    """A window in which a thread lost events; -1 for any thread."""

    thread_id: int
    start_ns: int
    end_ns: int


@attrs.frozen
class Whole:
    thread: int
    reason: int
    count: int
    begin: int
    suspended: int
    restarting: int
    end: int

    def lossy(self, losses: Iterable[Lost]) -> bool:
        return any(
            loss.start_ns < self.end and loss.end_ns > self.begin
            for loss in losses
            if loss.thread_id in (-1, self.thread)
        )


def whole_ones(events: Iterable[Suspending]) -> tuple[list[Whole], int, int]:
    """Suspensions in order of their begin; begins and ends that belong to none."""
    found, begins, ends = [], 0, 0
    waiting: dict[int, list[Suspending]] = {}
    for event in events:
        before = waiting.pop(event.thread, [])
        if event.kind == 0:
            begins += bool(before)
            waiting[event.thread] = [event]
        elif event.kind != len(before):
            begins += bool(before)
            ends += event.kind == 3
        elif event.kind < 3:
            waiting[event.thread] = [*before, event]
        else:
            first, second, third = before
            times = (first.time, second.time, third.time, event.time)
            found.append((first, Whole(event.thread, first.reason, first.count, *times)))
    begins += len(waiting)
    return [whole for _, whole in sorted(found, key=lambda item: item[0].time)], begins, ends


def percentile(values: Iterable[int], percent: int) -> int:
    """By nearest rank."""
    values = sorted(values)
    return values[ceil(percent * len(values) / 100) - 1]


def slow_cost(
    events: Sequence[Suspending],
    samples: Sequence[Sampled],
    duration: int,
    losses: Sequence[Lost] = (),
    profilers: set[int] | None = None,
) -> RecordingCost:
    """The same answer. `profilers` are the sample profiler's threads, where they are known from elsewhere."""
    whole, begins, ends = whole_ones(events)
    sure = [one for one in whole if not one.lossy(losses)]
    alike = [one for one in sure if one.reason == 0 and one.count == ANY_COUNT]
    if profilers is None:
        profilers = {s.thread for s in alike if any(s.suspended <= sample.time <= s.restarting for sample in samples)}
    mine = [one for one in alike if one.thread in profilers]
    others = [one for one in sure if one.thread not in profilers or one.reason != 0 or one.count != ANY_COUNT]
    held = [
        one.end - max([one.begin, *(other.restarting for other in others if other.restarting <= one.suspended)])
        for one in mine
    ]
    stopped = sum(one.restarting - one.suspended for one in mine)
    period: int | None = None
    source: Literal["stops", "samples"] | None = None
    if len(mine) > 1:
        period, source = percentile((b.begin - a.begin for a, b in pairwise(mine)), 50), "stops"
    else:
        last: dict[int, int] = {}
        distances = []
        for sample in samples:
            if sample.thread in last:
                distances.append(sample.time - last[sample.thread])
            last[sample.thread] = sample.time
        if distances:
            period, source = percentile(distances, 50), "samples"
    if mine:
        reason = None
    elif not samples:
        reason = "there are no samples"
    else:
        reason = "no complete suspension has a sample in it" if events else "suspensions were not recorded"
    return RecordingCost(
        samples=len(samples),
        stops=len(mine),
        stopped_ns=stopped if mine else None,
        held_ns=sum(held) if mine else None,
        share_low=stopped / duration if mine and duration else None,
        share_high=sum(held) / duration if mine and duration else None,
        longest_ns=max(held) if mine else None,
        p50_ns=percentile(held, 50) if mine else None,
        p95_ns=percentile(held, 95) if mine else None,
        period_ns=period,
        period_from=source,
        pause_ns=percentile([b.begin - a.end for a, b in pairwise(mine)], 50) if len(mine) > 1 else period,
        own_stops=sum(one.reason == 0 for one in others),
        other_stops=sum(one.reason != 0 for one in others),
        unmatched_begins=begins,
        unmatched_ends=ends,
        lossy=len(whole) - len(sure),
        reason=reason,
    )

"""What the runtime says of times of which the kernel knows a futex: locks, handles, tasks, and stops of all threads.

Matches times off the processor with what events prove; takes nothing from them where the kernel saw a thread run. Where
the two say different things of the same time of a thread, notes say how much: both are right in their own words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.analysis.reports.threads.lives import ThreadLife, doing_of
from clrevents.analysis.reports.threads.thread_events import Blocked
from clrevents.analysis.reports.threads.tiling import Doing, Piece, proven, without
from clrevents.analysis.shared.events.gc_suspensions import ThreadStops
from clrevents.analysis.shared.samples.leaf_states import WAITING, ThreadState
from clrevents.analysis.shared.weights.sample_runs import MANAGED, SampleRuns, stretches

SAMPLER: Final = "sample profiler"
"""The reason of threads that it stopped."""
_RANKS: Final = 3
"""Locks, handles and tasks; the rank after them is work."""


@frozen
class RuntimeReasons:
    """`waits` are what events prove of each thread, without overlap; `managed`, threads that samples were taken of.
    Times of events are right within `uncertainty_ns` on the kernel's clock.
    """

    waits: Mapping[int, Sequence[Piece]] = attrs.field(factory=dict)
    stops: ThreadStops = attrs.field(factory=ThreadStops)
    managed: Set[int] = frozenset()
    uncertainty_ns: int = 0

    def told(self, thread: int, start: int, end: int, doing: Doing, managed: bool) -> Doing:
        """What a thread, that runs managed code or not, does that is off the processor so long, if the kernel knows no
        more than `doing`."""
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
        stop = self.stops.of(thread, start, end)
        if stop == "collection":
            return attrs.evolve(doing, state="gc_suspended", reason=None)
        return doing if stop is None else attrs.evolve(doing, reason=SAMPLER)

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


def waits_of(
    blocked: Iterable[Blocked], states: Iterable[tuple[ThreadState, str]], stopped_ns: int
) -> dict[int, list[Piece]]:
    """What events prove of each thread; a wait without an end lasts until tracing stopped."""
    found: dict[int, list[list[Piece]]] = {}
    for one, (state, event) in zip(blocked, states, strict=True):
        low, high = one.start or 0, stopped_ns if one.end is None else one.end
        if one.rank >= _RANKS or high <= low:
            continue
        doing = doing_of(attrs.evolve(one, state=state, event=event), "event", one.end is None)
        found.setdefault(one.thread, [[] for _ in range(_RANKS)])[one.rank].append(Piece(low, high, doing))
    return {thread: proven(kinds) for thread, kinds in found.items()}


_STATES: Final = ("states", "intervals")


def disagreements(
    lives: Sequence[ThreadLife], reasons: RuntimeReasons, runs: SampleRuns, stopped_ns: int
) -> list[Note]:
    """The notes on the threads of a process; samples count until tracing stopped."""
    return [*_spinning(lives, reasons), *_sampled(lives, runs, stopped_ns)]


def _spinning(lives: Sequence[ThreadLife], reasons: RuntimeReasons) -> list[Note]:
    waited = ran = 0
    for life in lives:
        waits = reasons.waits.get(life.thread_id, ())
        off = [piece for piece in life.pieces if piece.doing.state not in ("running", "unknown")]
        for wait in waits:
            waited += wait.end - wait.start
            ran += sum(left.end - left.start for left in without(wait, off))
    if not ran:
        return []
    text = (
        f"events say that threads waited for {duration_text(waited)}, during {duration_text(ran)} of which they had a "
        "processor: they spun first, or were on their way; that time is `running`"
    )
    return [Note("waits-on-processor", "info", text, _STATES, {"waited_ns": waited, "running_ns": ran})]


def _sampled(lives: Sequence[ThreadLife], runs: SampleRuns, stopped_ns: int) -> list[Note]:
    threads = {life.thread_id: life for life in lives}
    lows, highs = stretches(runs, stopped_ns)
    sampled = off = by_sampler = 0
    kept: dict[int, tuple[list[Piece], list[Piece]]] = {}
    columns = (runs.thread.tolist(), runs.type.tolist(), lows.tolist(), highs.tolist())
    for thread, type, low, high in zip(*columns, strict=True):
        life = threads.get(thread)
        if type != MANAGED or life is None or high <= low:
            continue
        if thread not in kept:
            known = [piece for piece in life.pieces if piece.doing.state != "unknown"]
            kept[thread] = (
                [piece for piece in known if piece.doing.state == "running"],
                [piece for piece in known if piece.doing.reason == SAMPLER],
            )
        ran, stopped = kept[thread]
        whole = Piece(max(low, life.start), min(high, life.end), life.pieces[0].doing)
        if whole.end <= whole.start:
            continue
        sampled += whole.end - whole.start
        off += sum(left.end - left.start for left in without(whole, ran))
        by_sampler += (whole.end - whole.start) - sum(left.end - left.start for left in without(whole, stopped))
    if not off:
        return []
    text = (
        f"the sample profiler saw threads run managed code for {duration_text(sampled)}, during {duration_text(off)} "
        f"of which they had no processor ({duration_text(by_sampler)} because it had stopped them)"
    )
    numbers = {"sampled_ns": sampled, "off_processor_ns": off, "stopped_ns": by_sampler}
    return [Note("sampled-off-processor", "info", text, _STATES, numbers)]

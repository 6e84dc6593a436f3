"""One thread's life → pieces without gaps or overlaps: what events prove, what samples saw, and what is unknown.

Decides what holds between two samples and how far. Knows no events by name and no stacks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import attrs

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Evidence
from clrevents.analysis.gathering.groups import Stretches
from clrevents.analysis.shared.samples.leaf_states import WAITING, ThreadState
from clrevents.analysis.shared.weights.sample_runs import HELD


@frozen
class Doing:
    """What a thread does in a piece of its life; `alike` tells pieces apart that are otherwise the same."""

    state: ThreadState
    evidence: Evidence
    reason: str | None = None
    stack_id: int = 0
    lock_id: int | None = None
    object_address: int | None = None
    owner_thread_id: int | None = None
    task_id: int | None = None
    system_call: str | None = None
    alike: int = -1
    open: bool = False
    """Whether it is a wait that went on when tracing stopped."""


UNKNOWN = Doing("unknown", "inferred")
"""Where the trace says nothing about a thread."""
BETWEEN = Doing("running", "inferred")
"""Between two waits in close succession."""


@frozen
class Piece:
    """From when to when a thread does something, in ns since the session started.

    In a `soft` one it may run for a while, where samples say so.
    """

    start: int
    end: int
    doing: Doing
    soft: bool = False


@frozen
class Seen:
    """What samples say from `first` to `last`. A `mark` is an event: what was before ends there.

    What is `lasting` holds until something else is known; the rest, for as long as samples usually are apart.
    """

    first: int
    last: int
    doing: Doing
    mark: bool = False
    lasting: bool = False


def without(piece: Piece, taken: Sequence[Piece]) -> Iterator[Piece]:
    """What is left of a piece; `taken` are in order and without overlap."""
    at = piece.start
    place = max(bisect_right(taken, piece.start, key=lambda other: other.start) - 1, 0)
    while place < len(taken) and taken[place].start < piece.end:
        other = taken[place]
        if other.start > at:
            yield Piece(at, other.start, piece.doing, piece.soft)
        at = max(at, other.end)
        place += 1
    if at < piece.end:
        yield Piece(at, piece.end, piece.doing, piece.soft)


def proven(kinds: Sequence[Sequence[Piece]]) -> list[Piece]:
    """Pieces of several kinds → pieces without overlap: where some overlap, the kind that comes first counts."""
    proved: list[Piece] = []
    for pieces in kinds:
        parts: list[Piece] = []
        reach = None
        for piece in sorted(pieces, key=lambda one: (one.start, one.end)):
            start = piece.start if reach is None else max(piece.start, reach)
            if start < piece.end:
                own = Piece(start, piece.end, piece.doing, piece.soft) if start > piece.start else piece
                parts += without(own, proved) if proved else [own]
                reach = piece.end
        proved = sorted([*proved, *parts], key=lambda one: one.start)
    return proved


@frozen
class Tiler:
    """Makes the pieces of the threads of a process. `period` is that of samples, 0 where there are none.

    While threads were stopped, or the sampler was `late`, no thread could be sampled: that time separates no samples.
    """

    period: int
    stops: Stretches
    late: Stretches
    between: Doing = BETWEEN
    """What a thread does between two waits in close succession."""

    def life(
        self, start: int, end: int, events: Sequence[Piece], seen: Sequence[Seen], work: Sequence[Piece] = ()
    ) -> list[Piece]:
        """All of a life from `start` to `end`: `events` are without overlap, as is `work`, and all are in order."""
        tiles: list[Piece] = []
        at, place = start, 0
        for event in (*events, None):
            until = end if event is None else min(max(event.start, at), end)
            while place < len(seen) and seen[place].last < at:
                place += 1
            inside = []
            here = place
            while here < len(seen) and seen[here].first < until:
                inside.append(seen[here])
                here += 1
            if until > at:
                between = event is not None and (at > start)
                tiles += self._sampled(at, until, inside, between)
            if event is not None:
                low, high = max(event.start, at), min(event.end, end)
                if low < high:
                    tiles += self._waiting(Piece(low, high, event.doing, event.soft), seen, place)
                    at = high
        return self._stopped(_with_work(tiles, work) if work else tiles)

    def _waiting(self, event: Piece, seen: Sequence[Seen], place: int) -> list[Piece]:
        """What an event proves. A thread that waits for a task may run it, or another one, itself meanwhile."""
        if not event.soft:
            return [event]
        inside = []
        while place < len(seen) and seen[place].first < event.end:
            one = seen[place]
            if one.last >= event.start:
                inside.append(one if one.doing.state == "running" else attrs.evolve(one, doing=event.doing))
            place += 1
        if not any(one.doing.state == "running" for one in inside):
            return [event]
        pieces = self._sampled(event.start, event.end, inside, False)
        return [attrs.evolve(p, doing=event.doing) if p.doing.state == "unknown" else p for p in pieces]

    def _sampled(self, start: int, end: int, seen: Sequence[Seen], between: bool) -> list[Piece]:
        """What samples say of a part that no event covers, `between` two of them or not."""
        reach = HELD * self.period
        seen = [one for one in seen if not self._is_around(one, start, end)]
        if not seen:
            short = self.period > 0 and end - start - self.late.total(start, end) <= reach
            return [Piece(start, end, self.between if between and short else UNKNOWN)]
        tiles: list[Piece] = []
        at = start
        before: Seen | None = None
        for one in seen:
            first = max(one.first, at)
            last = start if before is None else before.last
            apart = first - last - (self.late.total(last, first) if first - last > reach else 0)
            if apart <= reach or (before is not None and before.lasting):
                border = first if one.mark or (before is not None and before.lasting and not self.period) else None
                if border is None:
                    border = start if before is None else max(last, at) + (first - max(last, at)) // 2
                if border > at:
                    tiles.append(Piece(at, border, UNKNOWN if before is None else before.doing))
                    at = border
            else:
                known = at if before is None else min(max(last + reach // 2, at), first)
                if before is not None and known > at:
                    tiles.append(Piece(at, known, before.doing))
                again = first if one.mark else max(first - reach // 2, known)
                if again > known:
                    tiles.append(Piece(known, again, UNKNOWN))
                at = max(again, at)
            before = one
        assert before is not None
        last = min(max(before.last, at), end)
        apart = end - last - (self.late.total(last, end) if end - last > reach else 0)
        known = end if apart <= reach or before.lasting else min(last + reach // 2, end)
        if known > at:
            tiles.append(Piece(at, known, before.doing))
        if end > max(known, at):
            tiles.append(Piece(max(known, at), end, UNKNOWN))
        return tiles

    def _is_around(self, one: Seen, start: int, end: int) -> bool:
        """Whether samples were the same before and after a part so short that none was taken in it."""
        return one.first < start and one.last >= end and end - start < self.period

    def _stopped(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The same with what ran cut where all threads were stopped; equal neighbours are one."""
        tiles: list[Piece] = []
        for piece in pieces:
            if piece.doing.state != "running":
                _add(tiles, piece)
                continue
            at = piece.start
            for low, high in self.stops.within(piece.start, piece.end):
                stopped = Doing("gc_suspended", piece.doing.evidence, None, piece.doing.stack_id)
                if low > at:
                    _add(tiles, Piece(at, low, piece.doing))
                _add(tiles, Piece(low, high, stopped))
                at = high
            if piece.end > at:
                _add(tiles, Piece(at, piece.end, piece.doing))
        return tiles


def _with_work(pieces: Sequence[Piece], work: Sequence[Piece]) -> list[Piece]:
    """The same with what a thread does for the runtime: no sample tells that, and none what it did instead."""
    parts: list[Piece] = []
    starts = [one.start for one in work]
    for piece in pieces:
        if piece.doing.evidence == "event" and piece.doing.state != "native":
            parts.append(piece)
            continue
        at = piece.start
        place = max(bisect_right(starts, at) - 1, 0)
        while place < len(work) and starts[place] < piece.end:
            one = work[place]
            low, high = max(one.start, at), min(one.end, piece.end)
            if low < high:
                parts += [Piece(at, low, piece.doing, piece.soft)] if at < low else []
                parts.append(Piece(low, high, one.doing))
                at = high
            place += 1
        if at < piece.end:
            parts.append(Piece(at, piece.end, piece.doing, piece.soft) if at > piece.start else piece)
    return parts


def _add(tiles: list[Piece], piece: Piece) -> None:
    if tiles and tiles[-1].end == piece.start and _same(tiles[-1].doing, piece.doing):
        tiles[-1] = Piece(tiles[-1].start, piece.end, tiles[-1].doing)
    else:
        tiles.append(piece)


def _same(one: Doing, other: Doing) -> bool:
    """Whether two neighbours are one. Where a thread ran changes all the time; waits are distinguished by what they
    wait for."""
    if one.state != other.state or one.evidence != other.evidence:
        return False
    if one.state not in WAITING:
        return one.reason == other.reason
    return attrs.evolve(one, stack_id=0) == attrs.evolve(other, stack_id=0)

"""The threads of a process, each with its life and its pieces: one for every use of an id of the system.

Joins what events, samples and the names of code say about one thread, decides how far open pieces can reach, and what
the thread is for; then its life is cut into pieces without gaps or overlaps: what events prove, what samples saw, and
what is unknown. Asks for names once, for all stacks together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, Evidence
from clrevents.analysis.gathering.groups import Stretches
from clrevents.analysis.gathering.merged_stacks import merged_stacks
from clrevents.analysis.reports.threads.thread_events import Blocked, Creation, Doing
from clrevents.analysis.shared.samples.leaf_states import STATES, WAITING, StackStates, ThreadState, stack_states
from clrevents.analysis.shared.weights.sample_runs import EXTERNAL, HELD, MANAGED, SampleRuns

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


def meeting(pieces: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    """Those of which a part may lie in a stretch of time; `pieces` are in order and without overlap."""
    place = max(bisect_right(pieces, start, key=lambda one: one.start) - 1, 0)
    while place < len(pieces) and pieces[place].start < end:
        yield pieces[place]
        place += 1


def without(piece: Piece, taken: Sequence[Piece]) -> Iterator[Piece]:
    """What is left of a piece; `taken` are in order and without overlap."""
    at = piece.start
    for other in meeting(taken, piece.start, piece.end):
        if other.start > at:
            yield Piece(at, other.start, piece.doing, piece.soft)
        at = max(at, other.end)
    if at < piece.end:
        yield piece if at == piece.start else Piece(at, piece.end, piece.doing, piece.soft)


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
    for piece in pieces:
        if piece.doing.evidence == "event" and piece.doing.state != "native":
            parts.append(piece)
            continue
        inside = (
            Piece(max(one.start, piece.start), min(one.end, piece.end), one.doing)
            for one in meeting(work, piece.start, piece.end)
            if one.end > piece.start
        )
        parts += sorted([*without(piece, work), *inside], key=lambda one: one.start)
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


_KINDS: Final = 4


@define
class ThreadTrail:
    """Everything in the trace about one id of the system, in order of time."""

    seen: list[Seen] = attrs.field(factory=list)
    blocked: list[Blocked] = attrs.field(factory=list)
    idle: list[int] = attrs.field(factory=list)
    moments: list[int] = attrs.field(factory=list)
    """When it wrote other events."""
    work: Sequence[Piece] = ()
    """What it did for the runtime."""
    creations: list[Creation] = attrs.field(factory=list)
    listed: tuple[int, int] | None = None
    """The runtime's number and flags of a thread that was there at the end."""
    roles: set[str] = attrs.field(factory=set)


@frozen
class ThreadLife:
    """One thread: `creation` is None where the trace does not have it."""

    thread_id: int
    start: int
    end: int
    end_evidence: Evidence
    creation: Creation | None
    pieces: Sequence[Piece]


@frozen
class Lives:
    """Makes lives of trails.

    `stopped` is when tracing stopped, `ended` when threads ended, by the runtime's pointer; `unseen` says whether
    samples show that a thread ended after a moment.
    """

    tiler: Tiler
    stopped: int
    ended: Mapping[int, Sequence[int]]
    unseen: Callable[[int, int], bool]

    def of(self, thread_id: int, trail: ThreadTrail) -> list[ThreadLife]:
        """The threads that had this id, one after the other."""
        creations: list[Creation | None] = list(trail.creations)
        known = [one.first for one in trail.seen] + [one.moment for one in trail.blocked] + trail.idle
        if not creations or (known and min(known) < trail.creations[0].time):
            creations.insert(0, None)
        bounds = [ALWAYS if n == 0 else (one.time if one else ALWAYS) for n, one in enumerate(creations)]
        parts = [ThreadTrail(work=trail.work) for _ in creations]
        for seen in trail.seen:
            parts[bisect_right(bounds, seen.first) - 1].seen.append(seen)
        for one in trail.blocked:
            parts[bisect_right(bounds, one.moment) - 1].blocked.append(one)
        for time in trail.idle:
            parts[bisect_right(bounds, time) - 1].idle.append(time)
        for time in trail.moments:
            parts[bisect_right(bounds, time) - 1].moments.append(time)
        lives = []
        for creation, part, high in zip(creations, parts, [*bounds[1:], FOREVER], strict=True):
            life = self._life(thread_id, creation, part, high)
            if life is not None:
                lives.append(life)
        return lives

    def _life(self, thread_id: int, creation: Creation | None, trail: ThreadTrail, high: int) -> ThreadLife | None:
        reach = HELD * self.tiler.period // 2
        exact = [*trail.moments, *trail.idle, *([] if creation is None else [creation.time])]
        for one in trail.blocked:
            exact += [time for time in (one.start, one.end) if time is not None]
        sampled = [one.first for one in trail.seen]
        if not exact and not sampled:
            return None
        start = creation.time if creation is not None else min([*exact, *sampled])
        limit = min(high, max(self.stopped, *exact, *(one.last for one in trail.seen)))
        gone = None if creation is None else self._ended(creation, limit)
        blocked, reached, began = self._bounded(
            thread_id, trail, start, limit if gone is None else gone, creation is not None
        )
        start = min(start, began)
        last = max([*exact, *reached, *(min(one.last + reach, limit) for one in trail.seen), start])
        end = gone if gone is not None else min(last, limit)
        end = max(end, start)
        events = proven([[one for rank, one in blocked if rank == kind] for kind in range(_KINDS)])
        pieces = self.tiler.life(start, end, events, self._with_idle(trail), trail.work)
        return ThreadLife(thread_id, start, end, "inferred" if gone is None else "event", creation, pieces)

    def _ended(self, creation: Creation, limit: int) -> int | None:
        ended = _after(self.ended.get(creation.managed_id, ()), creation.time)
        return ended if ended is not None and ended <= limit else None

    def _bounded(
        self, thread_id: int, trail: ThreadTrail, start: int, limit: int, created: bool
    ) -> tuple[list[tuple[int, Piece]], list[int], int]:
        """Waits with both ends, how far open ones reach, and where the first may have begun."""
        running = sorted(one.first for one in trail.seen if one.doing.state == "running")
        waits = sorted(one.moment for one in trail.blocked if one.rank == 0)
        idle = sorted(trail.idle)
        bounded: list[tuple[int, Piece]] = []
        reached: list[int] = []
        began = start
        for one in trail.blocked:
            low, high, open = one.start, one.end, False
            evidence: Evidence = "event"
            if low is None:
                # It waited since before the trace, if nothing else is known from before.
                assert high is not None
                if created or start < high or high <= 0:
                    continue
                low, evidence = 0, "inferred"
            if low < start and not created:
                began = min(began, max(low, 0))
                low = max(low, 0)
            if high is None:
                others = (running, idle, waits if one.rank == 1 else ())
                stops = [time for other in others if (time := _after(other, low)) is not None]
                if not stops and trail.seen and self.unseen(thread_id, low):
                    # It lasted as long as samples show, and nobody saw how it ended.
                    stops = [max(low, min(trail.seen[-1].last + HELD * self.tiler.period // 2, limit))]
                high, evidence, open = (min(stops) if stops else limit), "inferred", not stops
                reached.append(high)
            if high > low:
                bounded.append(
                    (one.rank, Piece(low, high, attrs.evolve(one.doing, evidence=evidence, open=open), one.rank == 2))
                )
        return _in_tasks(bounded), reached, began

    def _with_idle(self, trail: ThreadTrail) -> list[Seen]:
        """Samples, and the moments from which a worker has nothing to do."""
        if not trail.idle:
            return trail.seen
        none = self.tiler.period == 0
        doing = Doing("pool_idle", "inferred" if none else "sample", "ThreadPoolWorkerThreadWait")
        marks = [Seen(time, time, doing, mark=True, lasting=none) for time in trail.idle]
        seen: list[Seen] = []
        for one in sorted([*trail.seen, *marks], key=lambda s: (s.first, s.last)):
            # What was sampled alike before and after a mark is in both parts.
            if seen and seen[-1].last > one.first:
                before = seen[-1]
                seen[-1] = attrs.evolve(before, last=one.first)
                seen += [one, Seen(one.first, before.last, before.doing)]
            else:
                seen.append(one)
        for place, one in enumerate(seen[:-1]):
            if one.mark and seen[place + 1].doing.state == doing.state:
                seen[place] = attrs.evolve(one, doing=seen[place + 1].doing)
        return seen


def _after(times: Sequence[int], moment: int) -> int | None:
    place = bisect_right(times, moment)
    return times[place] if place < len(times) else None


def _in_tasks(pieces: Iterable[tuple[int, Piece]]) -> list[tuple[int, Piece]]:
    """Turns waits for a handle that implement a wait for a task into waits for the task."""
    listed = list(pieces)
    tasks = sorted((piece for rank, piece in listed if rank == 2), key=lambda piece: piece.start)
    starts = [piece.start for piece in tasks]
    changed = []
    for rank, piece in listed:
        if rank == 1 and piece.doing.state in WAITING and tasks:
            place = bisect_left(starts, piece.start + 1) - 1
            if place >= 0 and tasks[place].end > piece.start and piece.doing.state in ("wait", "task_wait"):
                doing = attrs.evolve(piece.doing, state="task_wait", task_id=tasks[place].doing.task_id)
                piece = attrs.evolve(piece, doing=doing)
        changed.append((rank, piece))
    return changed


_SPECIAL, _FINALIZER, _POOL = 1, 2, 4
_MAIN = 1
_SECOND = 2
"""The runtime creates the finalizer's thread next after the main one, and .NET 10 does not flag it."""


@frozen
class NamedTrails:
    """What is known about each run and each wait (its state and reason), and the roles of threads according to
    stacks."""

    seen: Sequence[Seen]
    waits: Sequence[tuple[ThreadState, str | None]]
    roles: Sequence[tuple[int, str]]


def named(context: Context, runs: SampleRuns, waits: Sequence[Blocked], running_told: bool) -> NamedTrails:
    """Name the stacks of all runs and waits.

    Unless it was recorded (`running_told`) whether a thread ran, only known waits are known.
    """
    begun = np.array([one.moment for one in waits], dtype=np.int64)
    stack_ids = np.concatenate([runs.stack_id, np.array([one.doing.stack_id for one in waits], dtype=np.int64)])
    times = np.concatenate([runs.first, begun])
    if len(times):
        merged = merged_stacks(context.methods, context.resolved(stack_ids, times))
        states, of = stack_states(merged.frames, merged.offsets, merged.values), merged.of
    else:
        none = np.zeros(0, dtype=np.int64)
        states, of = StackStates(none, none, none, (), ()), none
    count = len(runs)
    doings: dict[tuple[int, int], Doing] = {}
    seen = []
    for stack, type, first, last, stack_id in zip(
        of[:count].tolist(),
        runs.type.tolist(),
        runs.first.tolist(),
        runs.last.tolist(),
        runs.stack_id.tolist(),
        strict=True,
    ):
        doing = doings.get((stack, type))
        if doing is None:
            doing = doings[stack, type] = _doing(states, stack, type, stack_id, running_told)
        seen.append(Seen(first, last, doing))
    trails_named = []
    for one, stack in zip(waits, of[count:].tolist(), strict=True):
        state, reason = one.doing.state, one.doing.reason
        if states.reason[stack] >= 0:
            leaf = STATES[states.leaf_state[stack]]
            if leaf in WAITING:
                reason = states.reasons[states.reason[stack]]
                # The same event tells of waits of every kind; contention and tasks have their own.
                state = leaf if one.rank == 1 else state
        trails_named.append((state, reason))
    roles = set()
    threads = [*runs.thread.tolist(), *(one.thread for one in waits)]
    for thread, role in zip(threads, states.role[of].tolist(), strict=True):
        if role >= 0:
            roles.add((thread, role))
    return NamedTrails(seen, trails_named, [(thread, states.roles[role]) for thread, role in sorted(roles)])


def _doing(states: StackStates, stack: int, type: int, stack_id: int, running_told: bool) -> Doing:
    """What a sample says. One in managed code runs, also if it spins before it waits."""
    waits = type == EXTERNAL and states.leaf_state[stack] >= 0 and STATES[states.leaf_state[stack]] in WAITING
    if not running_told and not waits:
        return Doing("unknown", "sample", None, stack_id)
    if type == MANAGED:
        return Doing("running", "sample", None, stack_id)
    if type != EXTERNAL:
        return UNKNOWN
    if states.leaf_state[stack] < 0:
        return Doing("native", "sample", None, stack_id)
    state = STATES[states.leaf_state[stack]]
    return Doing(state, "sample", states.reasons[states.reason[stack]], stack_id, alike=stack)


def role_of(
    trail: ThreadTrail,
    life: ThreadLife,
    sampling: Set[int],
    collecting: Set[int],
    main: int | None = None,
) -> str:
    """What a thread is for: according to its stacks and events, then according to the runtime; `main` is the id of the
    main thread, where only that is known of it."""
    creation = life.creation
    known = None if creation is None else (creation.managed_index, creation.flags)
    index, flags = known or trail.listed or (0, 0)
    # Before .NET 6 workers of the pool compile in the background, too.
    for role in ("pool_gate", "pool_io", "pool_wait", "timer", "finalizer", "pool_worker", "tiering"):
        if role in trail.roles and not (role == "tiering" and flags & _POOL):
            return role
    if flags & _FINALIZER:
        return "finalizer"
    if index == _MAIN or (not index and "main" in trail.roles) or life.thread_id == main:
        return "main"
    if flags & _POOL:
        return "pool_worker"
    if not trail.seen and life.thread_id in sampling:
        return "sampler"
    if index == _SECOND and not trail.seen:
        return "finalizer"
    if flags & _SPECIAL or (not trail.seen and life.thread_id in collecting):
        return "gc"
    return "other"

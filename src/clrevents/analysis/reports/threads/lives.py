"""The threads of a process, each with its life and its pieces: one for every use of an id of the system.

Joins what events, samples and the names of code say about one thread, decides how far open pieces can reach, and what
the thread is for. Asks for names once, for all stacks together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, Evidence
from clrevents.analysis.gathering.merged_stacks import merged_stacks
from clrevents.analysis.reports.threads.thread_events import Blocked, Creation
from clrevents.analysis.reports.threads.tiling import UNKNOWN, Doing, Piece, Seen, Tiler, proven
from clrevents.analysis.shared.samples.leaf_states import STATES, WAITING, StackStates, ThreadState, stack_states
from clrevents.analysis.shared.weights.sample_runs import EXTERNAL, HELD, MANAGED, SampleRuns
from clrevents.symbols.frame_tables import resolve_stacks

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
                bounded.append((one.rank, Piece(low, high, doing_of(one, evidence, open), one.rank == 2)))
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


def doing_of(one: Blocked, evidence: Evidence, open: bool) -> Doing:
    """What a thread does that waits so; `open` says that it went on when tracing stopped."""
    what = one.stack_id, one.lock_id, one.object_address, one.owner_thread_id, one.task_id
    return Doing(one.state, evidence, one.event, *what, open=open)


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
    waits: Sequence[tuple[ThreadState, str]]
    roles: Sequence[tuple[int, str]]


def named(
    context: Context, runs: SampleRuns, waits: Sequence[Blocked], process_id: int | None, running_told: bool
) -> NamedTrails:
    """Name the stacks of all runs and waits. `process_id` is None where a trace has only one.

    Unless it was recorded (`running_told`) whether a thread ran, only known waits are known.
    """
    begun = np.array([one.moment for one in waits], dtype=np.int64)
    stack_ids = np.concatenate([runs.stack_id, np.array([one.stack_id for one in waits], dtype=np.int64)])
    times = np.concatenate([runs.first, begun])
    processes = None if process_id is None else np.full(len(times), process_id, dtype=np.int64)
    if len(times):
        merged = merged_stacks(
            context.methods, resolve_stacks(context.methods, context.stacks.arrays, stack_ids, times, processes)
        )
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
        state, reason = one.state, one.event
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

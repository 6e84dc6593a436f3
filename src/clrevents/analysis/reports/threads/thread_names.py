"""What code names say about samples and waits: the state of each, why, and what its thread is for.

Asks for names once, for all stacks together.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.merged_stacks import merged_stacks
from clrevents.analysis.reports.threads.lives import ThreadLife, ThreadTrail
from clrevents.analysis.reports.threads.thread_events import Blocked
from clrevents.analysis.reports.threads.tiling import UNKNOWN, Doing, Seen
from clrevents.analysis.shared.samples.leaf_states import STATES, WAITING, StackStates, ThreadState, stack_states
from clrevents.analysis.shared.weights.sample_runs import SampleRuns
from clrevents.symbols.frame_tables import resolve_stacks

_EXTERNAL, _MANAGED = 1, 2
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
    context: Context, runs: SampleRuns, waits: Sequence[Blocked], process_id: int | None, told: bool
) -> NamedTrails:
    """Name the stacks of all runs and waits. `process_id` is None where a trace has only one.

    Unless it was recorded (`told`) whether a thread ran, only known waits are known.
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
            doing = doings[stack, type] = _doing(states, stack, type, stack_id, told)
        seen.append(Seen(first, last, doing))
    found = []
    for one, stack in zip(waits, of[count:].tolist(), strict=True):
        state, reason = one.state, one.event
        if states.reason[stack] >= 0:
            leaf = STATES[states.leaf_state[stack]]
            if leaf in WAITING:
                reason = states.reasons[states.reason[stack]]
                # The same event tells of waits of every kind; contention and tasks have their own.
                state = leaf if one.rank == 1 else state
        found.append((state, reason))
    roles = set()
    threads = [*runs.thread.tolist(), *(one.thread for one in waits)]
    for thread, role in zip(threads, states.role[of].tolist(), strict=True):
        if role >= 0:
            roles.add((thread, role))
    return NamedTrails(seen, found, [(thread, states.roles[role]) for thread, role in sorted(roles)])


def _doing(states: StackStates, stack: int, type: int, stack_id: int, told: bool) -> Doing:
    """What a sample says. One in managed code runs, also if it spins before it waits."""
    waits = type == _EXTERNAL and states.leaf_state[stack] >= 0 and STATES[states.leaf_state[stack]] in WAITING
    if not told and not waits:
        return Doing("unknown", "sample", None, stack_id)
    if type == _MANAGED:
        return Doing("running", "sample", None, stack_id)
    if type != _EXTERNAL:
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

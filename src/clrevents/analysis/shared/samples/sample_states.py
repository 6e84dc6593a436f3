"""Samples by what their thread did, and stacks without artefacts of sampling.

Asks the table of leaves. A sample is judged alone: what events tell of the same moment is for the report `threads`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.merged_stacks import MergedStacks, distinct_stacks
from clrevents.analysis.shared.samples.leaf_states import (
    OFF_PROCESSOR,
    SAMPLED,
    STATES,
    WAITING,
    ThreadState,
    artefact_frames,
    stack_states,
)
from clrevents.analysis.shared.samples.stack_shapes import without_frames

Ints: TypeAlias = NDArray[np.int64]
StateCodes: TypeAlias = NDArray[np.int8]

UNTELLABLE: Final = ("running", "native", "gc_suspended")
"""The states that are unknown if samples do not show whether a thread ran."""

_EXTERNAL: Final = 1
_MANAGED: Final = 2
_RUNNING, _NATIVE, _UNKNOWN = (STATES.index(name) for name in ("running", "native", "unknown"))


def sampled_states(merged: MergedStacks, types: Ints, running_told: bool = True) -> StateCodes:
    """The place in `STATES` of each sample's state. In managed code a thread runs, also if it spins before it waits.

    Unless samples show whether a thread ran, only known waits are known.
    """
    told = stack_states(merged.frames, merged.offsets, merged.values).leaf_state[merged.of]
    outside = np.where(told < 0, _NATIVE, told)
    if not running_told:
        waits = np.isin(told, [STATES.index(state) for state in WAITING]) & (types == _EXTERNAL)
        return np.where(waits, told, _UNKNOWN).astype(np.int8)
    found = np.where(types == _MANAGED, _RUNNING, np.where(types == _EXTERNAL, outside, _UNKNOWN))
    return found.astype(np.int8)


def chosen_states(
    running: bool, waiting: bool, state: str | None, away: bool = False
) -> tuple[ThreadState, ...] | None:
    """The requested states; None for all. Raises ValueError for an unknown one, or for several at once.

    Times off a processor are in other states than samples of the profiler: those are for `away`.
    """
    if running + waiting + (state is not None) > 1:
        raise ValueError("give only one of running, waiting and state")
    known = OFF_PROCESSOR if away else SAMPLED
    if running and away:
        raise ValueError("threads off a processor do not run")
    if running:
        return ("running",)
    if waiting:
        return tuple(name for name in WAITING if name in known)
    if state is None:
        return None
    found = tuple(name for name in known if name == state)
    if not found:
        raise ValueError(f"no state {state!r}; there are {', '.join(known)}")
    return found


def tellable(states: Sequence[ThreadState]) -> bool:
    """Whether samples show all of these states although they do not show whether a thread ran."""
    return not any(state in UNTELLABLE for state in states)


def in_states(codes: StateCodes, states: Sequence[ThreadState]) -> NDArray[np.bool_]:
    """Which samples are in one of these states."""
    found: NDArray[np.bool_] = np.isin(codes, [STATES.index(state) for state in states])
    return found


def folded(merged: MergedStacks) -> MergedStacks:
    """Stacks without artefacts, so that callers stand in their place; one of nothing else stays."""
    artefact = artefact_frames(merged.frames)
    if not artefact.any():
        return merged
    kept = ~artefact[merged.values]
    owner = np.repeat(np.arange(len(merged.offsets) - 1), np.diff(merged.offsets))
    nothing = np.bincount(owner[kept], minlength=len(merged.offsets) - 1) == 0
    return used(without_frames(merged, ~(kept | nothing[owner])))


def used(merged: MergedStacks) -> MergedStacks:
    """The same without stacks and frames that nobody uses; stacks that are alike are one."""
    of, ends, values = distinct_stacks(merged.of, merged.offsets, merged.values)
    there = np.zeros(len(merged.frames), dtype=np.bool_)
    there[values] = True
    place = np.cumsum(there, dtype=merged.values.dtype) - 1
    frames = tuple(frame for frame, mine in zip(merged.frames, there.tolist(), strict=True) if mine)
    return MergedStacks(of, ends, place[values] if len(values) else values, frames)

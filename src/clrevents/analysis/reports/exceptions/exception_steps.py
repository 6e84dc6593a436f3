"""The runtime's events of exceptions → steps: one column for each thing that any of them tells, in order.

Knows the events' fields. Follows no exception from one step to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.gather import Gathered
from clrevents.symbols.stacks import ResolvedStacks

Ints: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.uint64]

THROWN, CATCH, FILTER, FINALLY, CATCH_STOP, FILTER_STOP, FINALLY_STOP, DONE = range(8)
"""Kinds of steps. The first four come from events with fields, of which three say which handler begins."""

HEADERS: Final = ("time_ns", "thread_id", "stack_id")
_HANDLER: Final = ("EntryEIP", "MethodID", "MethodName")
KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "runtime/ExceptionThrown": (
        *("ExceptionType", "ExceptionMessage", "ExceptionEIP", "ExceptionHRESULT", "ExceptionFlags"),
    ),
    "runtime/ExceptionCatchStart": _HANDLER,
    "runtime/ExceptionFilterStart": _HANDLER,
    "runtime/ExceptionFinallyStart": _HANDLER,
    "runtime/ExceptionCatchStop": (),
    "runtime/ExceptionFilterStop": (),
    "runtime/ExceptionFinallyStop": (),
    "runtime/ExceptionThrownStop": (),
}
"""The events, in order of their kinds, with what is kept of each beside its headers."""
EVENTS: Final = tuple(KEPT)

_NOBODY: Final = (1 << 64) - 1


@frozen(eq=False)
class ExceptionSteps:
    """All steps in order of time. `row` is the step's row among the events of its kind.

    `depth` counts the frames up to that of the method which the handler is in, from the outermost; 0 if unknown.
    `entry` is the address of a handler and `method` the runtime's id of its method, 0 for other steps.
    """

    kind: Ints
    row: Ints
    time: Ints
    thread: Numbers
    depth: Ints
    entry: Numbers
    method: Numbers

    def __len__(self) -> int:
        return len(self.kind)


def thrown_stacks(context: Context, rows: Mapping[str, Gathered]) -> tuple[ResolvedStacks, Ints]:
    """The named stacks of what was thrown and of filters and finally handlers; where each kind's uses begin."""
    held = [rows[EVENTS[kind]] for kind in (THROWN, FILTER, FINALLY)]
    stacks = np.concatenate([signed(events, "stack_id") for events in held])
    times = np.concatenate([signed(events, "time_ns") for events in held])
    return context.resolved(stacks, times), np.cumsum([0, *map(len, held)])


def exception_steps(
    context: Context, rows: Mapping[str, Gathered], stacks: ResolvedStacks, begins: Ints
) -> ExceptionSteps:
    """All events as steps. `stacks` and `begins` are what `thrown_stacks` gives."""
    held = [rows[name] for name in EVENTS]
    order = np.argsort(np.concatenate([events.places for events in held]), kind="stable")
    none = [np.zeros(len(events), dtype=np.uint64) for events in held]
    entry, method = list(none), list(none)
    for kind in (CATCH, FILTER, FINALLY):
        entry[kind] = held[kind].numbers("EntryEIP").astype(np.uint64)
        method[kind] = held[kind].numbers("MethodID").astype(np.uint64)
    depth = [np.zeros(len(events), dtype=np.int64) for events in held]
    # The innermost frame of these is that of the handler; filters and finally handlers run above what was thrown.
    depth[CATCH] = _sizes(context, signed(held[CATCH], "stack_id"))
    depth[FILTER] = _depths(context, stacks, stacks.of[begins[1] : begins[2]], method[FILTER])
    depth[FINALLY] = _depths(context, stacks, stacks.of[begins[2] : begins[3]], method[FINALLY])
    threads = [np.where(e.column("thread_id").known, e.numbers("thread_id"), np.uint64(_NOBODY)) for e in held]
    return ExceptionSteps(
        kind=np.repeat(np.arange(len(held)), [len(events) for events in held])[order],
        row=np.concatenate([np.arange(len(events)) for events in held])[order],
        time=np.concatenate([signed(events, "time_ns") for events in held])[order],
        thread=np.concatenate(threads)[order].astype(np.uint64),
        depth=np.concatenate(depth)[order],
        entry=np.concatenate(entry)[order],
        method=np.concatenate(method)[order],
    )


def signed(events: Gathered, name: str) -> Ints:
    """A column of numbers, 0 where it is null."""
    return events.numbers(name).astype(np.int64)


def _sizes(context: Context, stack_ids: Ints) -> Ints:
    """How many frames each stack has; 0 for one that the trace lacks."""
    held = context.stacks.arrays
    if not len(held.ids):
        return np.zeros(len(stack_ids), dtype=np.int64)
    at = np.minimum(np.searchsorted(held.ids, stack_ids), len(held.ids) - 1)
    return np.where(held.ids[at] == stack_ids, held.offsets[at + 1] - held.offsets[at], 0).astype(np.int64)


def _depths(context: Context, stacks: ResolvedStacks, of: Ints, method: Numbers) -> Ints:
    """The depth of the innermost frame of each use's method in its stack; 0 where it is not there."""
    found = np.zeros(len(of), dtype=np.int64)
    known: dict[tuple[int, int], int] = {}
    for place, (stack, wanted) in enumerate(zip(of.tolist(), method.tolist(), strict=True)):
        if stack < 0:
            continue
        if (stack, wanted) not in known:
            low, high = int(stacks.offsets[stack]), int(stacks.offsets[stack + 1])
            indexes = stacks.table.method[stacks.values[low:high]].tolist()
            mine = (n for n, index in enumerate(indexes) if index >= 0 and context.methods[index].method_id == wanted)
            at = next(mine, None)
            known[stack, wanted] = 0 if at is None else high - low - at
        found[place] = known[stack, wanted]
    return found

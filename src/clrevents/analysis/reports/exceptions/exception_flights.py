"""Events of exceptions → steps → flights: each exception from its throw to the end of what handled it.

A thread has a stack of exceptions in flight: one thrown while another is being handled lies on top of it. Knows no
names and no windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.groups import Gathered, Ints
from clrevents.schema.runtime_flags import ExceptionThrownFlags
from clrevents.symbols.frame_tables import ResolvedStacks

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
    by_kind = [rows[EVENTS[kind]] for kind in (THROWN, FILTER, FINALLY)]
    stacks = np.concatenate([signed(events, "stack_id") for events in by_kind])
    times = np.concatenate([signed(events, "time_ns") for events in by_kind])
    return context.resolved(stacks, times), np.cumsum([0, *map(len, by_kind)])


def exception_steps(
    context: Context, rows: Mapping[str, Gathered], stacks: ResolvedStacks, begins: Ints
) -> ExceptionSteps:
    """All events as steps. `stacks` and `begins` are what `thrown_stacks` gives."""
    by_kind = [rows[name] for name in EVENTS]
    order = np.argsort(np.concatenate([events.places for events in by_kind]), kind="stable")
    none = [np.zeros(len(events), dtype=np.uint64) for events in by_kind]
    entry, method = list(none), list(none)
    for kind in (CATCH, FILTER, FINALLY):
        entry[kind] = by_kind[kind].numbers("EntryEIP").astype(np.uint64)
        method[kind] = by_kind[kind].numbers("MethodID").astype(np.uint64)
    depth = [np.zeros(len(events), dtype=np.int64) for events in by_kind]
    # The innermost frame of these is that of the handler; filters and finally handlers run above what was thrown.
    depth[CATCH] = _sizes(context, signed(by_kind[CATCH], "stack_id"))
    depth[FILTER] = _depths(context, stacks, stacks.of[begins[1] : begins[2]], method[FILTER])
    depth[FINALLY] = _depths(context, stacks, stacks.of[begins[2] : begins[3]], method[FINALLY])
    threads = [np.where(e.column("thread_id").known, e.numbers("thread_id"), np.uint64(_NOBODY)) for e in by_kind]
    return ExceptionSteps(
        kind=np.repeat(np.arange(len(by_kind)), [len(events) for events in by_kind])[order],
        row=np.concatenate([np.arange(len(events)) for events in by_kind])[order],
        time=np.concatenate([signed(events, "time_ns") for events in by_kind])[order],
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
    arrays = context.stacks.arrays
    if not len(arrays.ids):
        return np.zeros(len(stack_ids), dtype=np.int64)
    at = np.minimum(np.searchsorted(arrays.ids, stack_ids), len(arrays.ids) - 1)
    return np.where(arrays.ids[at] == stack_ids, arrays.offsets[at + 1] - arrays.offsets[at], 0).astype(np.int64)


def _depths(context: Context, stacks: ResolvedStacks, of: Ints, method: Numbers) -> Ints:
    """The depth of the innermost frame of each use's method in its stack; 0 where it is not there."""
    depths = np.zeros(len(of), dtype=np.int64)
    known: dict[tuple[int, int], int] = {}
    for place, (stack, wanted) in enumerate(zip(of.tolist(), method.tolist(), strict=True)):
        if stack < 0:
            continue
        if (stack, wanted) not in known:
            low, high = int(stacks.offsets[stack]), int(stacks.offsets[stack + 1])
            indexes = stacks.table.method[stacks.values[low:high]].tolist()
            fit = (n for n, index in enumerate(indexes) if index >= 0 and context.methods[index].method_id == wanted)
            at = next(fit, None)
            known[stack, wanted] = 0 if at is None else high - low - at
        depths[place] = known[stack, wanted]
    return depths


Outcome: TypeAlias = Literal["caught", "replaced", "rejected", "handling", "in_flight", "unseen"]

_NOTHING: Final = -1
_NESTED: Final = int(ExceptionThrownFlags.Nested)
_RETHROWN: Final = int(ExceptionThrownFlags.ReThrown)
_STOPPED: Final = CATCH_STOP
_ENDS: Final = {CATCH_STOP: (CATCH,), FILTER_STOP: (FILTER,), FINALLY_STOP: (FINALLY,), DONE: (_STOPPED, CATCH)}
"""What may be running when something ends."""


@define(eq=False)
class Flight:
    """One exception. `thrown` is the row of its ExceptionThrown, -1 if that is not in the trace; -1 for `caught_by`
    (the row of its last catch handler's begin) likewise."""

    number: int
    step: int
    thread: int
    thrown: int
    type: int
    """The number of its type; -1 if unknown."""
    start_ns: int | None
    last_ns: int
    nested: bool = False
    below: Flight | None = None
    """What was being handled when this one was thrown."""
    rethrown: int = 0
    filters: int = 0
    finallys: int = 0
    caught_ns: int | None = None
    """When the first catch handler began."""
    caught_by: int = -1
    end_ns: int | None = None
    outcome: Outcome | None = None
    running: int = _NOTHING
    """The kind of handler that is running."""
    depth: int = 0
    entry: int = 0
    """Where that handler is."""
    handlers: list[tuple[int, int]] = attrs.field(factory=list)
    """Depth and entry of the catch handlers that have not ended: `throw;` may be caught inside of one."""
    left_ns: int | None = None
    """When another handler of its method began, inside of its own or instead of it: only the next event tells."""
    filter: int = -1
    """The row of the last filter of the dispatch that goes on."""


@frozen(eq=False)
class FilteredCatch:
    """A catch handler that began: its row, that of the last filter before it (-1 for none), and whose it is."""

    flight: Flight
    filter: int
    catch: int


@define(eq=False)
class FlightLog:
    """All flights in order of their first step, and whose time it was: of the innermost exception of each thread.

    `shares` are (flight, whether a handler had caught it, from, to); those of a thread never overlap. `unmatched`
    are the times of ends that belong to no begin.
    """

    flights: list[Flight] = attrs.field(factory=list)
    catches: list[FilteredCatch] = attrs.field(factory=list)
    shares: list[tuple[int, bool, int, int]] = attrs.field(factory=list)
    unmatched: list[int] = attrs.field(factory=list)


def flights(steps: ExceptionSteps, flags: Ints, known: NDArray[np.bool_], types: Ints) -> FlightLog:
    """Follow all exceptions. `flags`, whether they are `known`, and `types` have a value for each ExceptionThrown."""
    log = FlightLog()
    threads: dict[int, _ThreadFlights] = {}
    handled = bool(np.any(steps.kind != THROWN))
    flag_list: Sequence[int | None] = np.where(known, flags, -1).tolist()
    type_list = types.tolist()
    rows = zip(
        steps.kind.tolist(),
        steps.row.tolist(),
        steps.time.tolist(),
        steps.thread.tolist(),
        steps.depth.tolist(),
        steps.entry.tolist(),
        strict=True,
    )
    for step, (kind, row, time, thread, depth, entry) in enumerate(rows):
        follower = threads.get(thread)
        if follower is None:
            follower = threads[thread] = _ThreadFlights(thread, log, handled)
        if kind == THROWN:
            follower.thrown(step, row, time, flag_list[row], type_list[row])
        elif kind < CATCH_STOP:
            follower.handler(step, kind, row, time, depth, entry)
        else:
            follower.stop(step, kind, time)
    for follower in threads.values():
        follower.close()
    return log


class _ThreadFlights:
    """The exceptions in flight on one thread, the innermost last. `handled` says whether handlers were recorded."""

    def __init__(self, thread: int, log: FlightLog, handled: bool) -> None:
        self._thread = thread
        self._log = log
        self._handled = handled
        self._stack: list[Flight] = []
        self._since = 0
        self._any = False

    def thrown(self, step: int, row: int, time: int, flags: int | None, type: int) -> None:
        """An exception was thrown, or again by `throw;` where that raises an event."""
        stack = self._stack
        self._any = True
        if flags is not None and flags >= 0 and flags & _RETHROWN:
            running = (CATCH,) if self._handled else (_NOTHING,)
            again = [place for place, f in enumerate(stack) if f.running in running and f.type in (type, -1)]
            while again and len(stack) - 1 > again[-1]:
                self._unseen(time)
            flight = stack[-1] if again else self._push(step, -1, type, time)
            flight.rethrown += 1
            flight.running = _NOTHING
            flight.last_ns = time
            return
        handling = bool(stack and stack[-1].running >= 0 and stack[-1].left_ns is None)
        nested = handling if flags is None or flags < 0 else bool(flags & _NESTED)
        # The runtime dispatches one exception at a time: another one comes from a handler, or the first is over.
        while stack and (not nested or stack[-1].running in (_NOTHING, _STOPPED)):
            self._unseen(time)
        self._push(step, row, type, time, nested)

    def handler(self, step: int, kind: int, row: int, time: int, depth: int, entry: int) -> None:
        """A catch, filter or finally handler begins."""
        self._settle(kind, time, depth, entry)
        flight = self._stack[-1] if self._stack else self._push(step, -1, -1, time)
        if flight.running == _STOPPED:
            self._unseen(time)
            flight = self._stack[-1] if self._stack else self._push(step, -1, -1, time)
        if flight.running == CATCH:
            # Where `throw;` raises no event of its own, a handler without a new exception shows it.
            flight.rethrown += 1
        flight.left_ns = None
        if kind == CATCH:
            if flight.caught_ns is None:
                self._turn(time)
                flight.caught_ns = time
            flight.caught_by = row
            while flight.handlers and _outside(depth, entry, *flight.handlers[-1]):
                flight.handlers.pop()
            flight.handlers.append((depth, entry))
            self._log.catches.append(FilteredCatch(flight, flight.filter, row))
            flight.filter = -1
        elif kind == FILTER:
            flight.filters += 1
            flight.filter = row
        else:
            flight.finallys += 1
        flight.running, flight.depth, flight.entry, flight.last_ns = kind, depth, entry, time

    def stop(self, step: int, kind: int, time: int) -> None:
        """A handler, or all handling of an exception, ended."""
        wanted, stack = _ENDS[kind], self._stack
        at = len(stack) - 1
        while at >= 0 and stack[at].running not in wanted:
            at -= 1
        if at < 0 and kind == DONE:
            at = len(stack) - 1
        if at < 0:
            if self._any:
                self._log.unmatched.append(time)
                return
            # It was thrown before the trace began.
            self._any = True
            at = 0
            self._push(step, -1, -1, time)
        escaped: Outcome = "rejected"
        while len(stack) - 1 > at:
            if kind == FILTER_STOP:
                # The innermost one left the filter, and with it the handlers of all others inside.
                self._end(escaped, time)
                escaped = "replaced"
            else:
                self._unseen(time)
        flight = stack[-1]
        flight.last_ns = time
        if kind == DONE:
            if flight.handlers:
                flight.handlers.pop()
            if flight.handlers:
                flight.running, (flight.depth, flight.entry) = CATCH, flight.handlers[-1]
            else:
                self._end("caught", time)
        else:
            flight.running = _STOPPED if kind == CATCH_STOP else _NOTHING

    def close(self) -> None:
        """The trace ended. Without any handler event, the outcomes are unknown."""
        for flight in self._stack:
            if flight.running == _STOPPED:
                flight.outcome, flight.end_ns = "caught", flight.last_ns
            elif flight.left_ns is not None:
                flight.outcome, flight.end_ns = "replaced", flight.left_ns
            elif self._handled:
                flight.outcome = "in_flight" if flight.caught_ns is None else "handling"
        if not self._handled:
            for flight in self._log.flights:
                if flight.thread == self._thread:
                    flight.outcome = None
        self._stack = []

    def _settle(self, kind: int, time: int, depth: int, entry: int) -> None:
        """Take away what can no longer be in flight when a handler begins at this depth of the stack."""
        stack = self._stack
        while depth and len(stack) > 1 and stack[-2].depth:
            below = stack[-2]
            outside = _outside(depth, entry, below.depth, below.entry)
            if below.running == FILTER and depth <= below.depth:
                self._end("rejected", time)
            elif below.running in (CATCH, FINALLY) and outside and kind != FILTER:
                if below.running == CATCH and depth == below.depth and len(stack) == 2 and len(below.handlers) == 1:
                    # Since .NET 11, handlers inside of another may lie after it. If it was left, it has no end.
                    below.left_ns = time
                    return
                while below.handlers and _outside(depth, entry, *below.handlers[-1]):
                    below.handlers.pop()
                if below.handlers:
                    # It was thrown again inside of a handler of its own, which still runs.
                    below.running, (below.depth, below.entry) = CATCH, below.handlers[-1]
                    return
                below.outcome, below.end_ns = "replaced", time
                del stack[-2]
            else:
                return

    def _push(self, step: int, row: int, type: int, time: int, nested: bool = False) -> Flight:
        self._turn(time)
        log = self._log
        below = self._stack[-1] if self._stack else None
        start = None if row < 0 else time
        flight = Flight(len(log.flights), step, self._thread, row, type, start, time, nested, below)
        log.flights.append(flight)
        self._stack.append(flight)
        return flight

    def _end(self, outcome: Outcome, time: int) -> None:
        """The innermost one is over."""
        self._turn(time)
        flight = self._stack.pop()
        flight.outcome, flight.end_ns = outcome, time

    def _unseen(self, time: int) -> None:
        """The innermost one is over, at an unknown time."""
        flight = self._stack[-1]
        self._turn(flight.last_ns)
        self._since = time
        self._stack.pop()
        if flight.running == _STOPPED:
            flight.outcome, flight.end_ns = "caught", flight.last_ns
        elif flight.left_ns is not None:
            flight.outcome, flight.end_ns = "replaced", flight.left_ns
        else:
            flight.outcome = "unseen"

    def _turn(self, time: int) -> None:
        """What passed so far was the innermost one's."""
        if self._stack and time > self._since:
            top = self._stack[-1]
            self._log.shares.append((top.number, top.caught_ns is not None, self._since, time))
        self._since = max(self._since, time)


def _outside(depth: int, entry: int, of_depth: int, of_entry: int) -> bool:
    """Whether a handler is outside the running one, or this is unknown.

    Handlers of a method lie in order: those inside of a handler before it (until .NET 10), those around it after it.
    """
    if not depth or not of_depth:
        return True
    return depth < of_depth or (depth == of_depth and entry >= of_entry)

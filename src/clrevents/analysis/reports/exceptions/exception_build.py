"""Exception events → flights, each from its throw to the end of what handled it → the columns of the report's table.

A thread has a stack of exceptions in flight: one thrown while another is being handled lies on top of it. Flights are
joined with messages, filters and the names of the methods that threw and caught. Which filters accepted their exception
is not recorded; it follows from the catch handler that begins next: a filter's handler lies directly after it in the
code of its method. Sees the whole trace; what a window cuts off is for later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER
from clrevents.analysis.gathering.groups import NONE, Gathered, Interned, Ints, Mask, numbered, sum_by
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.schema.runtime_flags import ExceptionThrownFlags
from clrevents.symbols.async_stacks import AWAITERS
from clrevents.symbols.display_names import display_name, raw_name
from clrevents.symbols.frame_tables import ResolvedStacks
from clrevents.table.table import Column, from_values, number_column, text_column

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


_DISPATCH: Final = "System.Runtime.EH"
"""The type whose methods have searched for handlers since .NET 9; they lie above the throwing method."""
_CAPTURE: Final = "System.Runtime.ExceptionServices.ExceptionDispatchInfo"


@frozen
class Thrower:
    """Who threw. `captured`: an exception that was captured before is thrown on; `awaited`: an awaiter threw."""

    name: str | None
    captured: bool = False
    awaited: bool = False


@frozen
class _Named:
    name: str
    type: str
    resolved: bool


class ThrowerNames:
    """Names for stacks of throws. With `my_code` the innermost method that is not the framework's, if there is one."""

    def __init__(self, context: Context, stacks: ResolvedStacks, raw: bool, my_code: bool) -> None:
        self._context = context
        self._stacks = stacks
        self._raw = raw
        self._my_code = my_code
        self._frames: dict[int, _Named] = {}
        self._known: dict[tuple[int, bool], Thrower] = {}

    def thrower(self, stack: int, managed: bool) -> Thrower:
        """Who threw, by the stack's place; `managed` says that managed code looked for handlers."""
        key = stack, managed
        if key not in self._known:
            self._known[key] = self._thrower(stack, managed)
        return self._known[key]

    def _thrower(self, stack: int, managed: bool) -> Thrower:
        if stack < 0:
            return Thrower(None)
        low, high = int(self._stacks.offsets[stack]), int(self._stacks.offsets[stack + 1])
        places = self._stacks.values[low:high].tolist()
        frames = (self._frame(place) for place in places)
        own_frames = [frame for frame in frames if frame.type != _DISPATCH]
        if managed and len(own_frames) == len(places) and own_frames and not own_frames[0].resolved:
            # The innermost frame is the dispatcher's, and the trace does not name it.
            own_frames = own_frames[1:]
        if not own_frames:
            return Thrower(None)
        own = (frame for frame in own_frames if frame.resolved and is_own_name(frame.name))
        chosen = next(own, own_frames[0]) if self._my_code else own_frames[0]
        return Thrower(chosen.name, own_frames[0].type == _CAPTURE, own_frames[0].type.startswith(AWAITERS))

    def _frame(self, place: int) -> _Named:
        if place not in self._frames:
            index = int(self._stacks.table.method[place])
            self._frames[place] = (
                _Named(str(self._stacks.table.frame(place)), "", False)
                if index < 0
                else _Named(method_text(self._context, index, self._raw), self._context.methods[index].namespace, True)
            )
        return self._frames[place]


def method_text(context: Context, index: int, raw: bool) -> str:
    """The name of a piece of code, as C# would write it or as the runtime does."""
    method = context.methods[index]
    return raw_name(method.namespace, method.name, method.signature) if raw else method.display


def catching_methods(
    context: Context, entries: NDArray[np.uint64], times: Ints, texts: Column, raw: bool
) -> tuple[Ints, list[str | None]]:
    """The methods of catch handlers, as places in a list of names: by their address, or as their event says, where no
    code is known there."""
    index, _ = context.methods.find(entries, times, context.process_id)
    names: Interned[str | None] = Interned()
    known, of = np.unique(index, return_inverse=True)
    methods = context.methods
    handler_names = [method_text(context, n, raw) if n >= 0 and methods[n].name else None for n in known.tolist()]
    named = names.of(handler_names)[of]
    nameless = np.flatnonzero(np.array([name is None for name in handler_names], dtype=np.bool_)[of])
    places: dict[str | None, int] = {}
    for row, text in zip(nameless.tolist(), texts.take(nameless).tolist(), strict=True):
        if text not in places:
            places[text] = names.setdefault(handler_name(text, raw) if text else None, len(names))
        named[row] = places[text]
    return named, list(names)


def handler_name(text: str, raw: bool = False) -> str:
    """What events of handlers call their method, written as other methods are.

    >>> handler_name("instance void [App] My.Shop+<Buy>d__2::MoveNext()")
    'My.Shop.Buy(...)'
    """
    head, between, tail = text.partition("::")
    name, bracket, arguments = tail.partition("(")
    if not between or not bracket:
        return text
    result, _, owner = head.rpartition("] ")
    result = result.rpartition("[")[0].strip()
    if not owner or not result:
        return text
    signature = f"{result}  ({arguments}"
    return raw_name(owner, name, signature) if raw else display_name(owner, name, signature)


Flags: TypeAlias = NDArray[np.bool_]


@frozen
class Handler:
    """Where a handler begins: the runtime's id of its method, and an address."""

    method: int
    entry: int


def accepted(
    catches: Sequence[tuple[Handler | None, Handler]], others: Sequence[Handler], sure: Sequence[bool]
) -> list[bool]:
    """Whether each catch handler was chosen by the filter that ran last before it; the pairs are (filter, catch).

    That is so if no other known handler (`others` are those of filters and finally) begins between the two, unless the
    catch handler was also entered without that filter. `sure` says which pairs cannot lack an event.
    """
    entries: dict[int, set[int]] = {}
    for handler in (*others, *(catch for _, catch in catches)):
        entries.setdefault(handler.method, set()).add(handler.entry)
    ordered = {method: sorted(known) for method, known in entries.items()}
    without: dict[Handler, set[Handler | None]] = {}
    for (before, catch), certain in zip(catches, sure, strict=True):
        if certain:
            without.setdefault(catch, set()).add(before)
    accepts = []
    for before, catch in catches:
        if before is None or before.method != catch.method:
            accepts.append(False)
            continue
        known = ordered[before.method]
        place = bisect_right(known, before.entry)
        after = known[place] if place < len(known) else None
        accepts.append(after == catch.entry and without.get(catch, set()) <= {before})
    return accepts


_INNER: Final = int(ExceptionThrownFlags.HasInnerException)
_UNKNOWN_THREAD: Final = (1 << 64) - 1


@frozen(eq=False)
class Distinct:
    """Texts, each held once: row i has `texts[of[i]]`."""

    of: Ints
    texts: Sequence[str | None]

    def column(self) -> Column:
        """As a column of a table."""
        return text_column(self.texts, self.of)

    def at(self, rows: Ints) -> Distinct:
        """The texts of these rows, null for -1."""
        return Distinct(np.where(rows < 0, len(self.texts), np.append(self.of, 0)[rows]), [*self.texts, None])


@frozen(eq=False)
class BuiltExceptions:
    """All exceptions of a trace in order of their first event.

    `columns` are those of their table; `texts` those of them with few distinct values. Each share of time is (row,
    whether a handler had caught it, from, to), as columns. `rethrows_by` is what shows `throw;`.
    """

    columns: Mapping[str, Any]
    texts: Mapping[str, Distinct]
    share_row: Ints
    share_caught: Mask
    share_start: Ints
    share_end: Ints
    unmatched: Ints
    rethrows_by: str | None


def built(context: Context, rows: Mapping[str, Gathered], handled: bool, raw: bool, my_code: bool) -> BuiltExceptions:
    """Follow and name all exceptions. `handled` says whether handlers were recorded."""
    thrown, catch = rows[EVENTS[THROWN]], rows[EVENTS[CATCH]]
    stacks, begins = thrown_stacks(context, rows)
    steps = exception_steps(context, rows, stacks, begins)
    types = _distinct(thrown.cells("ExceptionType"))
    flags = signed(thrown, "ExceptionFlags")
    detailed = thrown.column("ExceptionFlags").known
    log = flights(steps, flags, detailed, types.of)
    managed = signed(thrown, "ExceptionEIP") == 0
    # The address is that of the code that threw; since .NET 9, where managed code looks for handlers, there is none.
    rethrows_by = ("handlers" if managed[detailed].all() else "events") if detailed.any() else None
    if context.info.native_aot:
        rethrows_by = None
    moments = signed(thrown, "time_ns")
    running = context.running(moments, thrown.numbers("thread_id"))
    shown = stacks if running is None else context.resolved(signed(thrown, "stack_id"), moments, running)
    names, of = ThrowerNames(context, shown, raw, my_code), shown.of[begins[THROWN] : begins[THROWN + 1]].tolist()
    throwers = [names.thrower(stack, here) for stack, here in zip(of, managed.tolist(), strict=True)]
    # Programs that were compiled ahead of time write no stacks with exceptions.
    bare = np.flatnonzero(~managed & np.array([thrower.name is None for thrower in throwers], dtype=np.bool_))
    code = thrown.numbers("ExceptionEIP").astype(np.uint64)[bare]
    threw, _ = context.methods.find(code, moments[bare], context.process_id)
    for place, index in zip(bare.tolist(), threw.tolist(), strict=True):
        if index >= 0:
            throwers[place] = Thrower(method_text(context, index, raw))
    times, entries = signed(catch, "time_ns"), catch.numbers("EntryEIP").astype(np.uint64)
    catchers = Distinct(*catching_methods(context, entries, times, catch.column("MethodName"), raw))
    followed = log.flights
    row, caught_by = _ints(f.thrown for f in followed), _ints(f.caught_by for f in followed)
    start, end = _times(f.start_ns for f in followed), _times(f.end_ns for f in followed)
    caught = np.array([f.caught_ns is not None for f in followed], dtype=np.bool_)
    nested = np.array([f.nested for f in followed], dtype=np.bool_)
    inside = _ints(f.below.number if f.nested and f.below else NONE for f in followed)
    by_await, repeats = _repeated(followed, throwers, types.of.tolist(), thrown.cells("ExceptionMessage"))
    shares = np.array(log.shares, dtype=np.int64).reshape(-1, 4)
    share_row, share_caught = shares[:, 0], shares[:, 1] > 0
    length = shares[:, 3] - shares[:, 2]
    own = [sum_by(share_row[caught], length[caught], len(followed)) for caught in (~share_caught, share_caught)]
    began, ended, has_row = start != ALWAYS, end != ALWAYS, row >= 0
    hresults = _distinct([f"{number:#010x}" for number in signed(thrown, "ExceptionHRESULT").tolist()])
    thread = np.array([f.thread for f in followed], dtype=np.uint64)
    tells = handled or rethrows_by == "events"
    detailed_here = has_row & np.append(detailed, False)[row]
    texts = {
        "type": types.at(row),
        "hresult": hresults.at(np.where(detailed_here, row, NONE)),
        "throwing_method": _distinct([thrower.name for thrower in throwers]).at(row),
        "catching_method": catchers.at(caught_by),
        "outcome": _distinct([f.outcome for f in followed]),
    }
    columns = {
        "row": np.arange(len(followed)),
        "start_ns": number_column("int64", start, began),
        "end_ns": number_column("int64", end, ended),
        "duration_ns": number_column(
            "int64", np.where(began & ended, end - np.where(began, start, 0), 0), began & ended
        ),
        "dispatch_ns": number_column("int64", own[0], began & (caught | ended)),
        "handling_ns": number_column("int64", own[1], caught & ended),
        "thread_id": number_column("uint64", thread, thread != np.uint64(_UNKNOWN_THREAD)),
        **{name: text.column() for name, text in texts.items()},
        "message": _messages(thrown, row),
        "nested": nested,
        "nested_in_row": number_column("int64", inside, inside >= 0),
        "by_await": by_await,
        "repeats_row": number_column("int64", repeats, repeats >= 0),
        "rethrown": number_column("int64", _ints(f.rethrown for f in followed), np.full(len(followed), tells)),
        "filters": number_column("int64", _ints(f.filters for f in followed), np.full(len(followed), handled)),
        "filtered": number_column("int64", _ints(_filtered(context, log, rows)), np.full(len(followed), handled)),
        "finallys": number_column("int64", _ints(f.finallys for f in followed), np.full(len(followed), handled)),
        "inner": number_column("bool", np.append(flags & _INNER > 0, False)[row], detailed_here),
        "stack_id": np.append(thrown.numbers("stack_id"), 0)[row].astype(np.int32),
    }
    unmatched = np.array(log.unmatched, dtype=np.int64)
    return BuiltExceptions(columns, texts, share_row, share_caught, shares[:, 2], shares[:, 3], unmatched, rethrows_by)


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _times(values: Iterable[int | None]) -> Ints:
    """Times, `ALWAYS` for those that are not known."""
    return _ints(ALWAYS if value is None else value for value in values)


def _messages(thrown: Gathered, rows: Ints) -> Column:
    messages = thrown.column("ExceptionMessage")
    if not len(rows) or rows.min() >= 0:
        return messages.take(rows)
    texts = [*messages.tolist(), None]
    return from_values(messages.type, [texts[row] for row in rows.tolist()])


def _distinct(texts: Sequence[str | None]) -> Distinct:
    return Distinct(*numbered(texts))


def _repeated(
    exceptions: Sequence[Flight], throwers: Sequence[Thrower], types: Sequence[int], messages: Sequence[str | None]
) -> tuple[Mask, Ints]:
    """Which exceptions had been captured, and the last one before it that was caught and is like it; -1 for none.

    An awaiter throws a new exception for a task that was cancelled, and only one like another for others.
    """
    last: dict[tuple[int, str | None], Flight] = {}
    captured = np.zeros(len(exceptions), dtype=np.bool_)
    repeats = np.full(len(exceptions), NONE, dtype=np.int64)
    for flight in exceptions:
        if flight.thrown < 0:
            continue
        like = types[flight.thrown], messages[flight.thrown]
        thrower = throwers[flight.thrown]
        if thrower.captured or thrower.awaited:
            before = last.get(like)
            # What was captured had been caught by then.
            if before and before.caught_ns is not None and before.caught_ns <= (flight.start_ns or 0):
                repeats[flight.number] = before.number
            captured[flight.number] = thrower.captured or repeats[flight.number] >= 0
        last[like] = flight
    return captured, repeats


def _filtered(context: Context, log: FlightLog, rows: Mapping[str, Gathered]) -> list[int]:
    """How many filters accepted each exception."""
    counts = [0] * len(log.flights)
    if not len(rows[EVENTS[FILTER]]):
        return counts
    handlers = {kind: _handlers(rows[EVENTS[kind]]) for kind in (CATCH, FILTER, FINALLY)}
    pairs = [
        (None if one.filter < 0 else handlers[FILTER][one.filter], handlers[CATCH][one.catch]) for one in log.catches
    ]
    whole = _whole(context, log)
    sure = [whole[one.flight.number] for one in log.catches]
    for one, chosen in zip(log.catches, accepted(pairs, handlers[FILTER] + handlers[FINALLY], sure), strict=True):
        counts[one.flight.number] += chosen
    return counts


def _handlers(events: Gathered) -> list[Handler]:
    return [
        Handler(method, entry)
        for method, entry in zip(events.numbers("MethodID").tolist(), events.numbers("EntryEIP").tolist(), strict=True)
    ]


def _whole(context: Context, log: FlightLog) -> list[bool]:
    """Which exceptions have a throw and no lost event of their thread."""
    starts = np.array([ALWAYS if f.start_ns is None else f.start_ns for f in log.flights], dtype=np.int64)
    ends = np.array([FOREVER if f.end_ns is None else f.end_ns for f in log.flights], dtype=np.int64)
    threads = np.array([f.thread for f in log.flights], dtype=np.uint64)
    touched = context.marks.touched(starts, ends, [threads])
    whole: list[bool] = ((starts != ALWAYS) & ~touched).tolist()
    return whole

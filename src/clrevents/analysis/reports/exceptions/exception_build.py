"""Exception events → the columns of the table of single exceptions, and the exception that each stretch of time
belongs to.

Joins flights with messages, filters and the names of the methods that threw and caught. Sees the whole trace; what a
window cuts off is for later.

Which filters accepted their exception is not recorded; it follows from the catch handler that begins next: a filter's
handler lies directly after it in the code of its method.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER
from clrevents.analysis.gathering.groups import NONE, Array, Gathered, Interned, Ints, Mask, numbered, sum_by
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.analysis.reports.exceptions.exception_flights import (
    CATCH,
    EVENTS,
    FILTER,
    FINALLY,
    THROWN,
    Flight,
    FlightLog,
    exception_steps,
    flights,
    signed,
    thrown_stacks,
)
from clrevents.schema.runtime_flags import ExceptionThrownFlags
from clrevents.symbols.async_stacks import AWAITERS
from clrevents.symbols.display_names import display_name, raw_name
from clrevents.symbols.frame_tables import ResolvedStacks
from clrevents.table.table import Column, ColumnType, from_values, text_column

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
    types = _distinct(_texts(thrown, "ExceptionType"))
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
    by_await, repeats = _repeated(followed, throwers, types.of.tolist(), _texts(thrown, "ExceptionMessage"))
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
        "start_ns": _nullable(start, began),
        "end_ns": _nullable(end, ended),
        "duration_ns": _nullable(np.where(began & ended, end - np.where(began, start, 0), 0), began & ended),
        "dispatch_ns": _nullable(own[0], began & (caught | ended)),
        "handling_ns": _nullable(own[1], caught & ended),
        "thread_id": _nullable(thread, thread != np.uint64(_UNKNOWN_THREAD), "uint64"),
        **{name: text.column() for name, text in texts.items()},
        "message": _messages(thrown, row),
        "nested": nested,
        "nested_in_row": _nullable(inside, inside >= 0),
        "by_await": by_await,
        "repeats_row": _nullable(repeats, repeats >= 0),
        "rethrown": _nullable(_ints(f.rethrown for f in followed), np.full(len(followed), tells)),
        "filters": _nullable(_ints(f.filters for f in followed), np.full(len(followed), handled)),
        "filtered": _nullable(_ints(_filtered(context, log, rows)), np.full(len(followed), handled)),
        "finallys": _nullable(_ints(f.finallys for f in followed), np.full(len(followed), handled)),
        "inner": _nullable(np.append(flags & _INNER > 0, False)[row], detailed_here, "bool"),
        "stack_id": np.append(thrown.numbers("stack_id"), 0)[row].astype(np.int32),
    }
    unmatched = np.array(log.unmatched, dtype=np.int64)
    return BuiltExceptions(columns, texts, share_row, share_caught, shares[:, 2], shares[:, 3], unmatched, rethrows_by)


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _times(values: Iterable[int | None]) -> Ints:
    """Times, `ALWAYS` for those that are not known."""
    return _ints(ALWAYS if value is None else value for value in values)


def _nullable(values: Array, known: Mask, kind: str = "int64") -> Column:
    type = ColumnType(kind)
    return Column(type, len(values), values.astype(type.dtype), valid=known)


def _messages(thrown: Gathered, rows: Ints) -> Column:
    messages = thrown.column("ExceptionMessage")
    if not len(rows) or rows.min() >= 0:
        return messages.take(rows)
    texts = [*messages.tolist(), None]
    return from_values(messages.type, [texts[row] for row in rows.tolist()])


def _texts(events: Gathered, name: str) -> list[str | None]:
    cells: list[str | None] = events.column(name).tolist()
    return cells


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

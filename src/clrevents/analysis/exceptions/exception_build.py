"""Events of exceptions → the columns of the table of single exceptions, and whose time it was.

Joins flights with names, messages and filters. Sees the whole trace; what a window cuts off is for later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.exceptions.accepted_filters import Handler, accepted
from clrevents.analysis.exceptions.exception_flights import Flight, FlightLog, flights
from clrevents.analysis.exceptions.exception_names import Thrower, ThrowerNames, catching_methods
from clrevents.analysis.exceptions.exception_steps import (
    CATCH,
    EVENTS,
    FILTER,
    FINALLY,
    THROWN,
    exception_steps,
    signed,
    thrown_stacks,
)
from clrevents.analysis.framework.answer_values import ALWAYS, FOREVER
from clrevents.analysis.framework.collector import Context
from clrevents.analysis.gather import Gathered
from clrevents.schema.events.exception import ExceptionThrownFlags

Ints: TypeAlias = NDArray[np.int64]

_INNER: Final = int(ExceptionThrownFlags.HasInnerException)
_UNKNOWN_THREAD: Final = (1 << 64) - 1


@attrs.frozen(eq=False)
class BuiltExceptions:
    """All exceptions of a trace in order of their first event.

    `columns` are those of their table. Each share of time is (row, whether a handler had caught it, from, to), as
    columns. `rethrows_by` is what shows `throw;`.
    """

    columns: Mapping[str, Sequence[Any]]
    share_row: Ints
    share_caught: NDArray[np.bool_]
    share_start: Ints
    share_end: Ints
    unmatched: Ints
    rethrows_by: str | None


def built(context: Context, rows: Mapping[str, Gathered], handled: bool, raw: bool, my_code: bool) -> BuiltExceptions:
    """Follow and name all exceptions. `handled` says whether handlers were recorded."""
    thrown, catch = rows[EVENTS[THROWN]], rows[EVENTS[CATCH]]
    stacks, begins = thrown_stacks(context, rows)
    steps = exception_steps(context, rows, stacks, begins)
    types = _texts(thrown, "ExceptionType")
    flags = signed(thrown, "ExceptionFlags")
    known = thrown.column("ExceptionFlags").known
    log = flights(steps, flags, known, _numbered(types))
    by_events = _managed(thrown, known)
    rethrows_by = None if by_events is None else "handlers" if by_events else "events"
    names = ThrowerNames(context, stacks, raw, my_code)
    # The address is that of the code that threw; since .NET 9 there is none.
    managed = (signed(thrown, "ExceptionEIP") == 0).tolist()
    of = stacks.of[begins[THROWN] : begins[THROWN + 1]].tolist()
    throwers = [names.thrower(stack, here) for stack, here in zip(of, managed, strict=True)]
    messages = _texts(thrown, "ExceptionMessage")
    times, entries = signed(catch, "time_ns"), catch.numbers("EntryEIP").astype(np.uint64)
    catchers = catching_methods(context, entries, times, _texts(catch, "MethodName"), raw)
    repeated = _repeated(log.flights, throwers, types, messages)
    filtered = _filtered(context, log, rows)
    hresults = [f"{number:#010x}" for number in signed(thrown, "ExceptionHRESULT").tolist()]
    tells = handled or rethrows_by == "events"
    dispatch, handling = _own_times(log)
    stack_ids = signed(thrown, "stack_id").tolist()
    inner = (flags & _INNER > 0).tolist()
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    known_flags = known.tolist()
    for flight, share, handled_ns, accepting in zip(log.flights, dispatch, handling, filtered, strict=True):
        row, start, end = flight.thrown, flight.start_ns, flight.end_ns
        told = row >= 0
        thrower = throwers[row] if told else None
        by_await = told and repeated[flight.number] is not None
        caught = flight.caught_ns is not None
        values = (
            flight.number,
            start,
            end,
            None if start is None or end is None else end - start,
            share if start is not None and (caught or end is not None) else None,
            handled_ns if caught and end is not None else None,
            None if flight.thread == _UNKNOWN_THREAD else flight.thread,
            types[row] if told else None,
            messages[row] if told else None,
            hresults[row] if told and known_flags[row] else None,
            thrower.name if thrower else None,
            catchers[flight.caught_by] if flight.caught_by >= 0 else None,
            flight.outcome,
            flight.nested,
            flight.below.number if flight.nested and flight.below else None,
            by_await,
            (repeated[flight.number] if by_await and repeated[flight.number] != _UNSEEN else None),
            flight.rethrown if tells else None,
            flight.filters,
            accepting,
            flight.finallys,
            inner[row] if told and known_flags[row] else None,
            stack_ids[row] if told else 0,
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    shares = np.array(log.shares, dtype=np.int64).reshape(-1, 4)
    return BuiltExceptions(
        columns,
        shares[:, 0],
        shares[:, 1] > 0,
        shares[:, 2],
        shares[:, 3],
        np.array(log.unmatched, dtype=np.int64),
        rethrows_by,
    )


_COLUMNS: Final = (
    *("row", "start_ns", "end_ns", "duration_ns", "dispatch_ns", "handling_ns", "thread_id", "type", "message"),
    *("hresult", "throwing_method", "catching_method", "outcome", "nested", "nested_in_row", "by_await"),
    *("repeats_row", "rethrown", "filters", "filtered", "finallys", "inner", "stack_id"),
)
_UNSEEN: Final = -1
"""The exception that another one repeats is not in the trace."""


def _texts(events: Gathered, name: str) -> list[str | None]:
    found: list[str | None] = events.column(name).tolist()
    return found


def _numbered(texts: Sequence[str | None]) -> Ints:
    known: dict[str | None, int] = {}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def _managed(thrown: Gathered, known: NDArray[np.bool_]) -> bool | None:
    """Whether managed code handles exceptions, as since .NET 9; None if no throw tells."""
    if not known.any():
        return None
    return not bool(np.any(thrown.numbers("ExceptionEIP")[known]))


def _repeated(
    found: Sequence[Flight], throwers: Sequence[Thrower], types: Sequence[str | None], messages: Sequence[str | None]
) -> list[int | None]:
    """For each exception that had been captured, the last one before it that was caught and is like it.

    An awaiter throws a new exception for a task that was cancelled, and only one like another for others.
    """
    last: dict[tuple[str | None, str | None], Flight] = {}
    repeats: list[int | None] = []
    for flight in found:
        if flight.thrown < 0:
            repeats.append(None)
            continue
        like = types[flight.thrown], messages[flight.thrown]
        thrower, before = throwers[flight.thrown], last.get(like)
        # What was captured had been caught by then.
        caught = before is not None and before.caught_ns is not None and before.caught_ns <= (flight.start_ns or 0)
        if thrower.captured or (thrower.awaited and caught):
            repeats.append(before.number if before is not None and caught else _UNSEEN)
        else:
            repeats.append(None)
        last[like] = flight
    return repeats


def _filtered(context: Context, log: FlightLog, rows: Mapping[str, Gathered]) -> list[int]:
    """How many filters accepted each exception."""
    found = [0] * len(log.flights)
    if not len(rows[EVENTS[FILTER]]):
        return found
    handlers = {kind: _handlers(rows[EVENTS[kind]]) for kind in (CATCH, FILTER, FINALLY)}
    pairs = [
        (None if one.filter < 0 else handlers[FILTER][one.filter], handlers[CATCH][one.catch]) for one in log.catches
    ]
    whole = _whole(context, log)
    sure = [whole[one.flight.number] for one in log.catches]
    for one, chosen in zip(log.catches, accepted(pairs, handlers[FILTER] + handlers[FINALLY], sure), strict=True):
        found[one.flight.number] += chosen
    return found


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
    found: list[bool] = ((starts != ALWAYS) & ~touched).tolist()
    return found


def _own_times(log: FlightLog) -> tuple[list[int], list[int]]:
    """How long each exception was the innermost of its thread, before and after a handler had caught it."""
    dispatch, handling = [0] * len(log.flights), [0] * len(log.flights)
    for number, caught, start, end in log.shares:
        (handling if caught else dispatch)[number] += end - start
    return dispatch, handling

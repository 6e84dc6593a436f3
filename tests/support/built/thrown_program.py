"""Random programs that throw and catch: runs them, writes the events that a runtime would, and keeps the truth.

`managed` runtimes (since .NET 9) raise no event for `throw;`. Knows no report.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import attrs

from clrevents.events import (
    ExceptionCatchStart_V0,
    ExceptionCatchStop_V0,
    ExceptionFilterStart_V0,
    ExceptionFilterStop_V0,
    ExceptionFinallyStart_V0,
    ExceptionFinallyStop_V0,
    ExceptionThrown_V1,
    ExceptionThrownFlags,
    ExceptionThrownStop_V0,
)
from clrevents.testing.builder import TraceBuilder

_DISPATCH: Final = 0x500
_SIZE: Final = 0x1000
_NONE, _NESTED, _RETHROWN = (ExceptionThrownFlags(flag) for flag in (0, 2, 4))


@attrs.define
class Thrown:
    """One exception, and what really became of it; moments count events."""

    message: str
    nested: bool
    start: int
    end: int | None = None
    outcome: str = "in_flight"
    rethrown: int = 0
    filters: int = 0
    accepted: int = 0
    finallys: int = 0
    caught_by: str | None = None


@attrs.define(eq=False)
class _Try:
    """A try statement whose handler is at `entry`; `takes` says whether it catches what comes by."""

    body: list[Any]
    handler: list[Any]
    kind: str
    takes: bool
    entry: int = 0
    filter_entry: int = 0
    filter_body: list[Any] | None = None
    """What the filter's condition calls."""


@attrs.define(eq=False)
class _Method:
    number: int
    statements: list[Any] = attrs.field(factory=list)
    handlers: int = 0


class _Unwind(Exception):
    def __init__(self, thrown: Thrown, target: object, frames: list[_Method]) -> None:
        self.thrown = thrown
        self.target = target
        self.frames = frames


class ThrowingProgram:
    """A program made by a seed; `run` it to have its trace, `thrown` is then what it threw, in order."""

    def __init__(self, seed: int, managed: bool) -> None:
        self.thrown: list[Thrown] = []
        self._managed = managed
        self._random = random.Random(seed)
        self._builder = TraceBuilder()
        self._methods: list[_Method] = []
        self._builder.method_load("System.Runtime.EH", "DispatchEx", address=_DISPATCH, size=0x100)
        self._events = 0
        self._tries: list[tuple[_Try, list[_Method]]] = []
        self._active: list[Thrown] = []

    def run(self) -> bytes:
        """The trace. Main catches everything."""
        main = self._method(0)
        guard = _Try(main.statements, [], "catch", True)
        main.statements = [guard]
        self._numbered(main, guard)
        for method in self._methods:
            self._builder.method_load("App", f"M{method.number}", address=_address(method), size=_SIZE)
        before = len(self._methods) + 1
        self._block(main.statements, [main], None)
        assert not self._active
        for one in self.thrown:
            one.start += before
            one.end = None if one.end is None else one.end + before
        return self._builder.rundown().build()

    def _method(self, depth: int) -> _Method:
        method = _Method(len(self._methods) + 1)
        self._methods.append(method)
        method.statements = self._statements(method, depth, 0, False)
        return method

    def _statements(self, method: _Method, depth: int, nesting: int, in_catch: bool) -> list[Any]:
        found: list[Any] = []
        for _ in range(self._random.randrange(3 if nesting else 4)):
            choice = self._random.random()
            if choice < 0.3 and depth < 4:
                found.append(self._method(depth + 1))
            elif choice < 0.65 and nesting < 3:
                found.append(self._try(method, depth, nesting, in_catch))
            elif choice < 0.75 and in_catch:
                found.append("again")
                break
            elif choice < 0.95:
                found.append("throw")
                break
        return found

    def _try(self, method: _Method, depth: int, nesting: int, in_catch: bool) -> _Try:
        kind = self._random.choice(("catch", "catch", "finally", "filter"))
        made = _Try(
            self._statements(method, depth, nesting + 1, in_catch),
            self._statements(method, depth, nesting + 1, kind != "finally"),
            kind,
            self._random.random() < 0.7,
        )
        if kind == "filter" and depth < 4:
            made.filter_body = [self._method(depth + 1)] if self._random.random() < 0.5 else []
        self._numbered(method, made)
        return made

    def _numbered(self, method: _Method, made: _Try) -> None:
        """Handlers inside of others lie before them, a filter directly before its handler."""
        if made.kind == "filter":
            method.handlers += 1
            made.filter_entry = _address(method) + 0x10 * method.handlers
        method.handlers += 1
        made.entry = _address(method) + 0x10 * method.handlers

    def _block(self, statements: Sequence[Any], frames: list[_Method], current: Thrown | None) -> None:
        for statement in statements:
            if isinstance(statement, _Method):
                self._block(statement.statements, [statement, *frames], None)
            elif isinstance(statement, _Try):
                self._run_try(statement, frames, current)
            elif statement == "again":
                assert current is not None
                current.rethrown += 1
                flags = _RETHROWN | _NESTED if len(self._active) > 1 else _RETHROWN
                if not self._managed:
                    self._throw_event(current, frames, flags)
                raise _Unwind(current, self._target(current, frames), frames)
            else:
                one = Thrown(f"no {len(self.thrown)}", bool(self._active), self._events)
                self.thrown.append(one)
                self._throw_event(one, frames, _NESTED if one.nested else _NONE)
                raise _Unwind(one, self._target(one, frames), frames)

    def _run_try(self, one: _Try, frames: list[_Method], current: Thrown | None) -> None:
        mine = (one, frames)
        self._tries.append(mine)
        try:
            self._block(one.body, frames, current)
        except _Unwind as unwind:
            assert self._tries.pop() is mine
            thrown = unwind.thrown
            if one.kind == "finally":
                thrown.finallys += 1
                self._handler(ExceptionFinallyStart_V0, one.entry, frames, unwind.frames if self._managed else frames)
                self._inside(thrown, one.handler, frames, None)
                self._event(ExceptionFinallyStop_V0())
            if unwind.target is not mine:
                raise
            thrown.caught_by = f"App.M{frames[0].number}()"
            self._handler(ExceptionCatchStart_V0, one.entry, frames, frames)
            self._inside(thrown, one.handler, frames, thrown)
            self._event(ExceptionCatchStop_V0())
            if thrown not in self._active:
                thrown.outcome, thrown.end = "caught", self._events
            self._event(ExceptionThrownStop_V0())
            return
        assert self._tries.pop() is mine
        if one.kind == "finally":
            self._block(one.handler, frames, None)

    def _inside(self, thrown: Thrown, statements: Sequence[Any], frames: list[_Method], current: Thrown | None) -> None:
        """Run a handler of an exception; another one that leaves it replaces the first."""
        self._active.append(thrown)
        try:
            self._block(statements, frames, current)
        except _Unwind as unwind:
            self._active.pop()
            if unwind.thrown is not thrown and thrown not in self._active:
                thrown.outcome, thrown.end = "replaced", None
            raise
        self._active.pop()

    def _target(self, thrown: Thrown, frames: list[_Method]) -> object:
        """The first pass: who takes it, with filters on the way."""
        held = self._tries
        for place in range(len(held) - 1, -1, -1):
            one, at = held[place]
            if one.kind == "catch" and one.takes:
                return held[place]
            if one.kind == "filter":
                thrown.filters += 1
                self._handler(ExceptionFilterStart_V0, one.filter_entry, at, frames if self._managed else at)
                self._tries = []
                self._active.append(thrown)
                rejects = False
                try:
                    self._block(one.filter_body or [], at, None)
                except _Unwind as unwind:
                    unwind.thrown.outcome, unwind.thrown.end = "rejected", self._events
                    rejects = True
                self._active.pop()
                self._tries = held
                self._event(ExceptionFilterStop_V0())
                if one.takes and not rejects:
                    thrown.accepted += 1
                    return held[place]
        return None

    def _throw_event(self, one: Thrown, frames: list[_Method], flags: ExceptionThrownFlags) -> None:
        top = [_DISPATCH + 4] if self._managed else []
        address = 0 if self._managed else 0x7F00
        stack = [*top, *(_address(frame) + 4 for frame in frames)]
        self._event(ExceptionThrown_V1("App.Bad", one.message, address, 0x80131500, flags, 1), stack)

    def _handler(self, record: Any, entry: int, frames: list[_Method], stack: list[_Method]) -> None:
        method = _address(frames[0])
        name = f"void [App] App::M{frames[0].number}()"
        self._event(record(entry, method, name, 1), [_address(frame) + 4 for frame in stack])

    def _event(self, record: Any, stack: Sequence[int] = ()) -> None:
        self._events += 1
        self._builder.event(record, stack)


def _address(method: _Method) -> int:
    return 0x10000 + _SIZE * method.number

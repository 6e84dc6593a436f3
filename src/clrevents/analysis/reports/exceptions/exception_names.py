"""Which methods threw and caught: frames of stacks and addresses of handlers → names.

The runtime's own frames around a throw are left out. Decides nothing about exceptions.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.groups import Interned
from clrevents.analysis.gathering.merged import is_own_name
from clrevents.symbols.method_names import display_name, raw_name
from clrevents.symbols.stacks import ResolvedStacks
from clrevents.table.build import Column

Ints: TypeAlias = NDArray[np.int64]

_DISPATCH: Final = "System.Runtime.EH"
"""The type whose methods have searched for handlers since .NET 9; they lie above the throwing method."""
_CAPTURE: Final = "System.Runtime.ExceptionServices.ExceptionDispatchInfo"
_AWAITERS: Final = (
    "System.Runtime.CompilerServices.TaskAwaiter",
    "System.Runtime.CompilerServices.ConfiguredTaskAwaitable",
    "System.Runtime.CompilerServices.ValueTaskAwaiter",
    "System.Runtime.CompilerServices.ConfiguredValueTaskAwaitable",
)


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
        found = [frame for frame in frames if frame.type != _DISPATCH]
        if managed and len(found) == len(places) and found and not found[0].resolved:
            # The innermost frame is the dispatcher's, and the trace does not name it.
            found = found[1:]
        if not found:
            return Thrower(None)
        own = (frame for frame in found if frame.resolved and is_own_name(frame.name))
        chosen = next(own, found[0]) if self._my_code else found[0]
        return Thrower(chosen.name, found[0].type == _CAPTURE, found[0].type.startswith(_AWAITERS))

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
    made = [method_text(context, n, raw) if n >= 0 and methods[n].name else None for n in known.tolist()]
    found = names.of(made)[of]
    nameless = np.flatnonzero(np.array([name is None for name in made], dtype=np.bool_)[of])
    said: dict[str | None, int] = {}
    for row, text in zip(nameless.tolist(), texts.take(nameless).tolist(), strict=True):
        if text not in said:
            said[text] = names.setdefault(handler_name(text, raw) if text else None, len(names))
        found[row] = said[text]
    return found, list(names)


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

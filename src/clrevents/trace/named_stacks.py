"""`Stacks`: the call stacks of a trace with names, as rows; and how events get names for theirs, even after the trace
is gone.

Combines addresses with what the trace knows about code; decides nothing about either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import define, frozen
from clrevents.decode.stacks import StackArrays
from clrevents.errors import SourceError
from clrevents.table.read import AddressStacks
from clrevents.table.table import Column, ColumnType, Table, TableField, number_column, text_column

if TYPE_CHECKING:
    from clrevents.symbols.frame import Frame
    from clrevents.symbols.methods import Methods


@define(eq=False)
class LateNames:
    """Names that are read when an event first asks for them.

    `of_trace` returns the trace's methods without keeping the trace alive, or None when it is gone; `again` reopens
    the trace, if possible.
    """

    of_trace: Callable[[], Methods | None]
    again: Callable[[], Methods] | None
    known: Methods | None = None

    @property
    def ready(self) -> bool:
        """Whether it can answer without reading the trace."""
        return self.known is not None

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        """The frames of one stack, innermost first."""
        methods = self.methods()
        if methods is None:
            from clrevents.symbols.frame import nameless

            return nameless(addresses)
        return methods.frames(addresses, time_ns, process_id)

    def methods(self) -> Methods | None:
        """All names; None if the trace is gone and cannot be reopened."""
        # Not `or`: a trace without methods is empty, but known.
        return self._read() if self.known is None else self.known

    def _read(self) -> Methods | None:
        try:
            self.known = self.of_trace()
        except SourceError:
            if self.again is None:
                raise
        if self.known is None and self.again is not None:
            self.known = self.again()
        return self.known


EARLY_NAMES: Final = ".names"
"""What the name of a file adds to a recording's, if it has the list of code that was made when the recording began. Not
the ending of a trace, so folders of traces skip it."""
_TEXTS: Final = ("module", "method", "tier")
STACK_FIELDS: Final = (
    TableField("stack_id", ColumnType("int32")),
    TableField("depth", ColumnType("int32")),
    TableField("address", ColumnType("uint64"), address=True),
)
"""One address of a stack; depth 0 is the innermost."""
_FIELDS: Final = (*STACK_FIELDS, *(TableField(name, ColumnType("string"), True) for name in _TEXTS))


@frozen(eq=False, repr=False)
class Stacks(Summary, AddressStacks):
    """The stacks that a trace's events name: `trace.stacks[event.stack_id]` are its addresses, innermost first."""

    _names: LateNames | None = None

    def table(self, process_id: int | None = None) -> Table:
        """A row for each frame: `stack_id`, `depth` (0 is the innermost), `address`, `module`, `method`, `tier`.

        A stack has no time, and events at different times may share it. An address therefore gets the last name it had
        in the trace, even if that code was unloaded later; `Event.frames` uses the names at the event's time. Without
        a name, `method` and `tier` are null, and so is an unknown `module`. `process_id` matters only for traces of
        several processes. Names are read on first use, in one pass; pickled stacks have none.
        """
        arrays = self.arrays
        if not len(arrays.addresses):
            return Table(_FIELDS)
        distinct, places = np.unique(arrays.addresses, return_inverse=True)
        texts = self._texts(distinct, process_id)
        columns = (
            *stack_columns(arrays),
            *(text_column([row[i] for row in texts], places) for i in range(len(_TEXTS))),
        )
        return Table(_FIELDS, (columns,))

    def _texts(self, addresses: Any, process_id: int | None) -> list[tuple[str | None, str | None, str | None]]:
        """Module, method and tier of each address."""
        methods = None if self._names is None else self._names.methods()
        if methods is None:
            return [(None, None, None)] * len(addresses)
        texts = []
        index, reason = methods.find(addresses, None, process_id)
        for address, number, why in zip(addresses.tolist(), index.tolist(), reason.tolist(), strict=True):
            frame = methods.frame(address, number, why, process_id=process_id)
            tier = None if frame.tier is None else str(frame.tier)
            texts.append((frame.module or None, frame.label if frame.resolved else None, tier))
        return texts

    def __reduce__(self) -> tuple[Callable[..., Stacks], tuple[object, ...]]:
        return Stacks, (self.arrays,)


def stack_columns(arrays: StackArrays) -> tuple[Column, ...]:
    """The columns of `STACK_FIELDS`: a row for each address of each stack."""
    lengths = np.diff(arrays.offsets)
    depth = np.arange(len(arrays.addresses)) - np.repeat(arrays.offsets[:-1], lengths)
    return (
        number_column("int32", np.repeat(arrays.ids, lengths)),
        number_column("int32", depth),
        number_column("uint64", arrays.addresses),
    )

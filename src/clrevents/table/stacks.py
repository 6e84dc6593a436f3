"""`AddressStacks`: the call stacks of a trace by number, and as a table of their addresses, which exports write.

Holds addresses only; `trace.methods` names them. Opens nothing: it receives a trace's stacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.payload.columns.column import Column, ColumnType
from clrevents.decode.stacks import StackArrays, join
from clrevents.table.event_schema import TableField
from clrevents.table.table import Table

_ADDRESSES = ColumnType("list", (ColumnType("uint64"),))
STACK_FIELDS = (TableField("stack_id", ColumnType("int32")), TableField("addresses", _ADDRESSES, address=True))
"""The columns of every table of stacks."""


DEEPEST: Final = (100, 512)
"""How many frames of a stack runtimes write, the innermost ones: up to .NET 10, and later."""


def cut_stacks(depths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of a trace's stacks with so many frames lack their outermost ones: none where deeper ones were written."""
    deepest = int(depths.max()) if len(depths) else 0
    return depths == deepest if deepest in DEEPEST else np.zeros(len(depths), dtype=np.bool_)


@frozen(eq=False, repr=False)
class AddressStacks:
    """The call stacks of a trace by number: `stacks[event.stack_id]` is a tuple of addresses, innermost first.

    Owns its data. `stack_id in stacks` tests whether any event has this stack.
    """

    arrays: StackArrays
    """All stacks as numpy arrays, in ascending order of their ids."""

    def __len__(self) -> int:
        """The number of stacks."""
        return len(self.arrays)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the ids, in ascending order."""
        return iter(self.arrays.ids.tolist())

    def __contains__(self, stack_id: object) -> bool:
        return isinstance(stack_id, int) and self._place(stack_id) is not None

    def __getitem__(self, stack_id: int) -> tuple[int, ...]:
        """The addresses of the stack `stack_id`, innermost first.

        Empty for 0 (no stack) and -1 (a stack that the trace lacks). Raises KeyError for an id that no event has.
        """
        if stack_id not in (0, -1) and self._place(stack_id) is None:
            raise KeyError(f"no event of this trace has the stack {stack_id!r}")
        return self.of_event(stack_id)

    def of_event(self, stack_id: int) -> tuple[int, ...]:
        """The same for an id that stands in an event, which in a damaged trace may be that of no stack: then empty."""
        place = self._place(stack_id)
        return () if place is None else self.arrays.stack(place)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'stack')}>"

    def _place(self, stack_id: int) -> int | None:
        ids = self.arrays.ids
        place = int(np.searchsorted(ids, stack_id))
        return place if place < len(ids) and ids[place] == stack_id else None


def stack_table(arrays: StackArrays) -> Table:
    """Stacks as a table of `stack_id` (int32) and `addresses` (list of uint64, innermost first)."""
    none = np.zeros(0, dtype=np.uint8)
    ids = Column(ColumnType("int32"), len(arrays), arrays.ids.astype(np.int32))
    inner = Column(ColumnType("uint64"), len(arrays.addresses), arrays.addresses)
    addresses = Column(_ADDRESSES, len(arrays), none, arrays.offsets, (inner,))
    return Table(STACK_FIELDS, ((ids, addresses),) if len(arrays) else ())


def stacks_of(tables: Iterable[Table]) -> AddressStacks:
    """The stacks of tables that `stack_table` made, no stack in two of them."""
    parts = []
    for table in tables:
        for ids, addresses in table.parts:
            parts.append(StackArrays(ids.values.astype(np.int64), addresses.offsets, addresses.children[0].values))
    return AddressStacks(join(parts))


def stacks_of_bytes(stacks: Mapping[int, bytes], pointer_size: int) -> AddressStacks:
    """Stacks by number, each as the bytes of its addresses; those at an end that make no address do not count."""
    held = sorted((number, data) for number, data in stacks.items() if number > 0)
    sizes = np.array([len(data) // pointer_size for _, data in held], dtype=np.int64)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    whole = b"".join(data[: size * pointer_size] for (_, data), size in zip(held, sizes.tolist(), strict=True))
    addresses = np.frombuffer(whole, dtype=f"<u{pointer_size}").astype(np.uint64)
    ids = np.array([number for number, _ in held], dtype=np.int64)
    return AddressStacks(StackArrays(ids, offsets, addresses))

"""Many stacks as three arrays: what tables of stacks and flame graphs are made from.

Copies addresses out of the windows, so that the arrays outlive them. Knows neither events nor names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode import kernels
from clrevents.decode.column import offsets_of, ragged
from clrevents.decode.tables import StackTable

Ints: TypeAlias = NDArray[np.int64]
Addresses: TypeAlias = NDArray[np.uint64]


@attrs.frozen(eq=False)
class StackArrays:
    """`addresses[offsets[i]:offsets[i + 1]]` is the stack of number `ids[i]`, innermost first; ids rise."""

    ids: Ints
    offsets: Ints
    addresses: Addresses

    def __len__(self) -> int:
        return len(self.ids)

    def stack(self, index: int) -> tuple[int, ...]:
        """The addresses of the stack at a place."""
        return tuple(self.addresses[self.offsets[index] : self.offsets[index + 1]].tolist())


def stack_arrays(table: StackTable, numbers: Ints, pointer_size: int) -> StackArrays:
    """Stacks of one region; `numbers` are trace-wide and in rising order. What the trace does not hold is left out."""
    ids, lengths, data = [], [], []
    for found, window, starts, sizes in table.pieces(numbers):
        # A cut stack's last bytes are no address.
        sizes = sizes - sizes % pointer_size
        ids.append(found)
        lengths.append(sizes // pointer_size)
        data.append(kernels.gather(window, starts, sizes).view(f"<u{pointer_size}").astype(np.uint64))
    return _made(ids, lengths, data)


def join(parts: Sequence[StackArrays]) -> StackArrays:
    """One of many, in the order of their numbers."""
    ids = [part.ids for part in parts]
    joined = _made(ids, [np.diff(part.offsets) for part in parts], [part.addresses for part in parts])
    if not (np.diff(joined.ids) < 0).any():
        return joined
    order = np.argsort(joined.ids, kind="stable")
    lengths = np.diff(joined.offsets)[order]
    places = ragged(joined.offsets[:-1][order], lengths)
    return StackArrays(joined.ids[order], offsets_of(lengths), joined.addresses[places])


def _made(ids: list[Ints], lengths: list[Ints], data: list[Addresses]) -> StackArrays:
    none: Ints = np.zeros(0, dtype=np.int64)
    addresses = np.concatenate([np.zeros(0, dtype=np.uint64), *data])
    return StackArrays(np.concatenate([none, *ids]), offsets_of(np.concatenate([none, *lengths])), addresses)

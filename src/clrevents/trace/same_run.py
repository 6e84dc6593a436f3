"""Two recordings of one run: whether they are that, and how far apart their clocks began.

Aligns by what both say of the time at which they began, which is accurate to a millisecond. Reads no event.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import timedelta
from typing import Final

import attrs

from clrevents.decode.container.blocks import TraceInfo

_ACCURACY_NS: Final = 1_000_000
"""Each start is rounded down to a millisecond, so that their difference is right within one."""


@attrs.frozen
class NamedBy:
    """Another recording of the same run, from which names of code were taken."""

    path: str | None
    """The path that it was opened by; None if it was not opened by path."""
    process_id: int
    """The process that it is of."""
    shift_ns: int
    """How much later it began; what is added to its times."""
    uncertainty_ns: int
    """By how much that may be wrong, either way."""

    def __str__(self) -> str:
        began, sure = self.shift_ns // 1_000_000, self.uncertainty_ns // 1_000_000
        file = os.path.basename(self.path or "") or "another trace"
        return f"process {self.process_id} is named by {file}, which began at {began} ms ± {sure} ms of this one"


def named_by(mine: TraceInfo, processes: Collection[int | None], duration_ns: int, other: TraceInfo) -> NamedBy:
    """How another recording fits to one of these processes, so long. ValueError unless they are of one run, as far as
    their headers tell."""
    if other.process_id is None:
        raise ValueError("the other trace does not say which process it is of")
    if other.process_id not in processes:
        raise ValueError(f"the other trace is of process {other.process_id}, which is not in this one")
    if mine.start is None or other.start is None:
        raise ValueError("one of the traces does not say when it began")
    shift = other.start - mine.start
    shift_ns = shift // timedelta(microseconds=1) * 1000
    if not 0 <= shift_ns + _ACCURACY_NS <= duration_ns + 2 * _ACCURACY_NS:
        raise ValueError(f"the other trace began {shift} after this one, so that they are not of one run")
    return NamedBy(other.path, other.process_id, shift_ns, _ACCURACY_NS)

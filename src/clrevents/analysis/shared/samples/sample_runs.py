"""Samples of the profiler, one after the other → runs: what was the same several times in a row is one.

Keeps a row for each change, not for each sample. Knows numbers of stacks and no names.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import changes

Ints: TypeAlias = NDArray[np.int64]

HELD: Final = 3
"""For how many periods of the profiler a sample may be followed by none, before nobody knows what its thread did."""
_FIRST: Final = 1 << 14
"""So many samples tell the period, and only then are runs made, so that it does not matter where chunks end."""


@attrs.frozen(eq=False)
class SampleRuns:
    """In order of thread, then time: a thread had this stack and type at its samples from `first` to `last`."""

    thread: NDArray[np.uint64]
    first: Ints
    last: Ints
    stack_id: Ints
    type: Ints
    period_ns: int
    """The median time between two samples of a thread; 0 where no thread has two."""
    samples: int

    def __len__(self) -> int:
        return len(self.first)


class RunMaker:
    """Takes samples in order of time and makes runs of them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[NDArray[np.uint64], Ints, Ints, Ints]] = []
        self._count = 0
        self._period: int | None = None
        self._parts: list[SampleRuns] = []
        self._open: SampleRuns | None = None
        self._samples = 0

    def take(self, thread: NDArray[np.uint64], time: Ints, stack_id: Ints, type: Ints) -> None:
        """The next samples."""
        self._waiting.append((thread, time, stack_id, type))
        self._count += len(time)
        self._samples += len(time)
        if self._period is not None or self._count >= _FIRST:
            self._make()

    def runs(self) -> SampleRuns:
        """All of them."""
        self._make()
        parts = [*self._parts, *([self._open] if self._open is not None else [])]
        return _joined(parts, self._period or 0, self._samples)

    def _make(self) -> None:
        if not self._count:
            return
        thread, time, stack_id, type = (np.concatenate(column) for column in zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        if self._period is None:
            self._period = _period(thread[:_FIRST], time[:_FIRST])
        held = HELD * self._period
        single = SampleRuns(thread, time, time, stack_id, type, self._period, 0)
        known = single if self._open is None else _joined([self._open, single], self._period, 0)
        order = np.lexsort((known.first, known.thread))
        thread, first, last = known.thread[order], known.first[order], known.last[order]
        stack_id, type = known.stack_id[order], known.type[order]
        begins = changes(thread, stack_id, type)
        begins[1:] |= first[1:] - last[:-1] > held
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], len(order)) - 1
        made = SampleRuns(
            thread[starts], first[starts], last[ends], stack_id[starts], type[starts], self._period, self._samples
        )
        # The last run of each thread may go on.
        done = np.zeros(len(made), dtype=np.bool_)
        done[:-1] = made.thread[1:] == made.thread[:-1]
        self._parts.append(_some(made, done))
        self._open = _some(made, ~done)


def _period(thread: NDArray[np.uint64], time: Ints) -> int:
    order = np.lexsort((time, thread))
    gaps = np.diff(time[order])[thread[order][1:] == thread[order][:-1]]
    gaps = np.sort(gaps[gaps > 0])
    return int(gaps[(len(gaps) - 1) // 2]) if len(gaps) else 0


def _some(runs: SampleRuns, which: NDArray[np.bool_]) -> SampleRuns:
    return attrs.evolve(
        runs,
        thread=runs.thread[which],
        first=runs.first[which],
        last=runs.last[which],
        stack_id=runs.stack_id[which],
        type=runs.type[which],
    )


def _joined(parts: list[SampleRuns], period_ns: int, samples: int) -> SampleRuns:
    none = np.zeros(0, dtype=np.int64)
    thread = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.thread for part in parts)])
    columns = [
        np.concatenate([none, *(getattr(part, name) for part in parts)])
        for name in ("first", "last", "stack_id", "type")
    ]
    order = np.lexsort((columns[0], thread))
    first, last, stack_id, type = (column[order] for column in columns)
    return SampleRuns(thread[order], first, last, stack_id, type, period_ns, samples)

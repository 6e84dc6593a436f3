"""The runtime's own work: when threads compiled methods or loaded types, and which samples lie in that, as frames.

Events mark both ends of each on its thread. What lost one of them is not seen, nor what was not recorded; what runs
inside, as code that finds an assembly for the JIT, stands above the work's frame in no stack, so it counts as the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from clrevents.analysis.gathering.groups import Interned, Ints, groups, numbered, offsets, pair
from clrevents.analysis.gathering.merged_stacks import MergedStacks, StackFrame, used
from clrevents.analysis.shared.samples.leaf_states import ThreadState
from clrevents.table.table import Table

_WORK: Final = {
    "[jit]": ("MethodID", "runtime/MethodJittingStarted", "runtime/MethodLoad", "runtime/MethodLoadVerbose"),
    "[type load]": ("TypeLoadStartID", "runtime/TypeLoadStart", "runtime/TypeLoadStop"),
}
"""By name of the frame: the field by which an end belongs to a begin of its thread, the begin and the ends."""
FRAMES: Final[Mapping[ThreadState, str]] = {"jit": "[jit]", "type_load": "[type load]"}
"""The name of the frame by the state of the thread."""
WORK_EVENTS: Final = tuple(event for _, *events in _WORK.values() for event in events)
_NONE: Final = -1


class RuntimeWork:
    """All of it in one trace."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Ints, Ints, Ints]]] = {}

    def take(self, event: str, table: Table) -> None:
        """Take the next events of one of `WORK_EVENTS`; described with other fields, they tell nothing."""
        key = next(key for key, *events in _WORK.values() if event in events)
        names = ("time_ns", "thread_id", key)
        if all(name in table for name in names):
            columns = [table.column(name).filled() for name in names]
            if all(column.dtype.kind in "iu" for column in columns):
                time, thread, id = (column.astype(np.int64) for column in columns)
                self._rows.setdefault(event, []).append((time, thread, id))

    def inside(self, time: Ints, thread: Ints) -> Ints:
        """For each kind of work, a row each, since when each moment of a thread lies in some; -1 for not at all."""
        begins = np.full((len(_WORK), len(time)), _NONE, dtype=np.int64)
        for row, work in enumerate(_WORK.values()):
            of_thread = dict(groups(thread)) if any(event in self._rows for event in work) else {}
            whose, begin, end = self._spans(*work) if of_thread else (time[:0],) * 3
            for number, rows in groups(whose):
                uses = of_thread.get(number)
                if uses is None:
                    continue
                rows = rows[np.argsort(begin[rows], kind="stable")]
                reach = np.maximum.accumulate(end[rows])
                # Where one begins that lies in no other of its kind.
                outer = np.append(True, begin[rows][1:] > reach[:-1])
                since = np.maximum.accumulate(np.where(outer, begin[rows], 0))
                place = np.searchsorted(begin[rows], time[uses], "right") - 1
                covered = (place >= 0) & (time[uses] < reach[place])
                begins[row, uses] = np.where(covered, since[place], _NONE)
        return begins

    def spans(self, name: str) -> tuple[Ints, Ints, Ints]:
        """The thread, begin and end of each work with this name of a frame."""
        return self._spans(*_WORK[name])

    def _spans(self, _key: str, begin: str, *ends: str) -> tuple[Ints, Ints, Ints]:
        """The thread, begin and end of each that has both."""
        nothing = (np.zeros(0, dtype=np.int64),) * 3
        sides = [self._rows.get(begin, [nothing]), [rows for end in ends for rows in self._rows.get(end, [nothing])]]
        time, thread, id = (np.concatenate([rows[n] for side in sides for rows in side]) for n in range(3))
        opens = np.arange(len(time)) < sum(len(rows[0]) for rows in sides[0])
        order = np.lexsort((~opens, time))
        time, thread, id, opens = time[order], thread[order], id[order], opens[order]
        group, _ = numbered(list(zip(thread.tolist(), id.tolist(), strict=True)))
        first, last = pair(group, opens)
        return thread[first], time[first], time[last]


def with_work(merged: MergedStacks, inside: Ints) -> MergedStacks:
    """The stacks of uses with the work that each lies in on top, what began last innermost."""
    kinds = [StackFrame(name, name, name) for name in _WORK]
    stacks: Interned[tuple[int, tuple[int, ...]]] = Interned()
    of = merged.of.copy()
    order = np.argsort(-inside, axis=0, kind="stable")
    for use in np.flatnonzero((inside != _NONE).any(axis=0)).tolist():
        on_top = tuple(kind for kind in order[:, use].tolist() if inside[kind, use] != _NONE)
        of[use] = len(merged.offsets) - 1 + stacks[int(merged.of[use]), on_top]
    pieces = [merged.values]
    for stack, on_top in stacks:
        pieces += [
            np.array(on_top, dtype=np.int64) + len(merged.frames),
            merged.values[merged.offsets[stack] : merged.offsets[stack + 1]],
        ]
    sizes = [
        *np.diff(merged.offsets).tolist(),
        *(len(a) + len(b) for a, b in zip(pieces[1::2], pieces[2::2], strict=True)),
    ]
    return used(MergedStacks(of, offsets(sizes), np.concatenate(pieces), (*merged.frames, *kinds)))

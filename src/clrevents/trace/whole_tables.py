"""Tables of a whole trace for SQL: threads, methods, stacks and frames, one row for each.

Arranges what the trace already knows; naming frames is the job of `symbols`. Reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.payload.columns.column import STRING, Column
from clrevents.decode.payload.columns.column_values import from_values
from clrevents.decode.stacks import StackArrays
from clrevents.symbols.frame import Frame
from clrevents.symbols.method import Method
from clrevents.symbols.methods import Methods
from clrevents.symbols.stacks import ResolvedStacks, resolve_stacks
from clrevents.table.build import UInt64, row_table
from clrevents.table.event_schema import TableField
from clrevents.table.table import Table
from clrevents.trace.scan import ThreadInfo
from clrevents.trace.stacks import STACK_FIELDS, stack_columns


@frozen
class ThreadRow:
    thread_id: UInt64 | None
    process_id: int | None
    name: str | None
    events: int
    first_ns: int
    last_ns: int


@frozen
class MethodRow:
    address: UInt64
    size: UInt64
    module: str
    namespace: str
    name: str
    signature: str
    method: str
    tier: str | None
    loaded_ns: int | None
    unloaded_ns: int | None
    process_id: int | None
    method_id: UInt64
    module_id: UInt64
    token: int
    flags: int
    rejit_id: UInt64
    native: bool


_FRAME_TEXTS: dict[str, Callable[[Frame], str | None]] = {
    "method": lambda frame: frame.label if frame.resolved else None,
    "module": lambda frame: frame.module or None,
    "namespace": lambda frame: frame.namespace if frame.resolved else None,
    "name": lambda frame: frame.name if frame.resolved else None,
    "signature": lambda frame: frame.signature if frame.resolved else None,
    "tier": lambda frame: None if frame.tier is None else str(frame.tier),
    "reason": lambda frame: frame.reason,
}
_FRAME_FIELDS = (*STACK_FIELDS, *(TableField(name, STRING, True) for name in _FRAME_TEXTS))


def threads_table(threads: Iterable[ThreadInfo]) -> Table:
    """A row for each thread, as in `Trace.threads`; an unknown thread has no number."""
    rows = (
        ThreadRow(t.thread_id if t.thread_id >= 0 else None, t.process_id, t.name, t.events, t.first_ns, t.last_ns)
        for t in threads
    )
    return row_table(ThreadRow, rows)


def methods_table(methods: Iterable[Method]) -> Table:
    """A row for each piece of code, as in `Trace.methods`."""
    rows = (
        MethodRow(
            m.address,
            m.size,
            m.module,
            m.namespace,
            m.name,
            m.signature,
            m.display,
            None if m.tier is None else str(m.tier),
            m.begin_ns,
            m.end_ns,
            m.process_id,
            m.method_id,
            m.module_id,
            m.token,
            int(m.flags),
            m.rejit_id,
            m.native,
        )
        for m in methods
    )
    return row_table(MethodRow, rows)


def stacks_table(stacks: StackArrays) -> Table:
    """A row for each address of each stack; depth 0 is innermost."""
    return Table(STACK_FIELDS, (stack_columns(stacks),) if len(stacks.addresses) else ())


def frames_table(methods: Methods, stacks: StackArrays, headers: Table) -> Table:
    """The same rows with the names the addresses had when the first event with that stack was written.

    `headers` has every event's `stack_id`, `time_ns` and `process_id` in order of time.
    """
    if not len(stacks.addresses):
        return Table(_FRAME_FIELDS)
    ids, first = np.unique(np.asarray(headers["stack_id"]), return_index=True)
    processes = np.ma.filled(np.ma.asarray(headers["process_id"]), -1)[first]
    found = resolve_stacks(methods, stacks, ids.astype(np.int64), headers["time_ns"][first], processes)
    places = _places(found, [found.of[k] for k in np.searchsorted(ids, stacks.ids).tolist()])
    frames = [found.table.frame(index) for index in range(len(found.table))]
    texts = []
    for text in _FRAME_TEXTS.values():
        values = [text(frame) for frame in frames]
        known = np.array([value is not None for value in values], dtype=np.bool_)[places]
        column = Column(STRING, len(places), places, texts=from_values(STRING, [value or "" for value in values]))
        texts.append(attrs.evolve(column, valid=None if known.all() else known))
    return Table(_FRAME_FIELDS, ((*stack_columns(stacks), *texts),))


def _places(found: ResolvedStacks, of: Sequence[int]) -> NDArray[np.int64]:
    """The frame numbers of the stacks, concatenated."""
    return np.concatenate([found.values[found.offsets[k] : found.offsets[k + 1]] for k in of])

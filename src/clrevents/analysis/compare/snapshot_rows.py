"""Heap snapshots → rows: what is on the heap by type, and what keeps it alive, as paths of types from the roots on.

Of the last snapshot of each process, in bytes, never divided by time. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Unpack

import numpy as np

from clrevents.analysis.compare.families import HEAP_PATHS, HEAP_TYPES
from clrevents.analysis.compare.measured import Amount
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot
from clrevents.analysis.reports.heap.heap_tables import OTHERS, display_name, dominator_columns
from clrevents.analysis.reports.heap.report import heap_snapshots
from clrevents.trace import Trace

_SMALLEST: Final = 10_000
"""A path that keeps less than this part of everything alive is left out: rows that are compared are far larger."""

_NAMELESS: Final = "[no name]"


def snapshot_rows(trace: Trace, **window: Unpack[WindowOptions]) -> Iterator[Amount]:
    """Bytes by type, and bytes that are kept alive by path. None of a snapshot that is not complete."""
    last: dict[int | None, HeapSnapshot] = {one.process_id: one for one in heap_snapshots(trace, **window)}
    for snapshot in last.values():
        if snapshot.coverage.complete:
            yield from _types(snapshot)
            yield from _paths(snapshot)


def _types(snapshot: HeapSnapshot) -> Iterator[Amount]:
    sizes = sum_by(snapshot.type, snapshot.size.astype(np.int64), len(snapshot.types))
    # By name alone, as growth is: a module may be known on one side only.
    for type, size in zip(snapshot.types, sizes.tolist(), strict=True):
        yield Amount(HEAP_TYPES, type.raw_name or _NAMELESS, "bytes", size, "less", adds=False, label=type.name)


def _paths(snapshot: HeapSnapshot) -> Iterator[Amount]:
    lines = dominator_columns(snapshot, display_name, _SMALLEST)
    paths: list[str] = []
    for name, parent, size in zip(lines["name"], lines["parent_row"], lines["retained_bytes"], strict=True):
        line = " ".join(str(name).splitlines())
        paths.append(line if parent is None else f"{paths[parent]}\n{line}")
        if name != OTHERS:
            yield Amount(HEAP_PATHS, paths[-1], "bytes", size, "less", adds=False, label=paths[-1])

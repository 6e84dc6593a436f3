"""The snapshots of a trace themselves, for notebooks and exports: read as the report reads them, without its tables."""

from __future__ import annotations

from typing import Unpack

import attrs

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.catalogue import ask_one
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot
from clrevents.analysis.reports.heap.report import ANYTHING, REPORT, HeapCollector, HeapReport, heap_answer
from clrevents.trace import Trace


def heap_snapshots(trace: Trace, **window: Unpack[WindowOptions]) -> tuple[HeapSnapshot, ...]:
    """The heap snapshots of a trace, in order of time, as arrays of objects, references and roots.

    `start`, `end` and `process_id` choose a part of the trace. Raises TypeError or ValueError for a bad moment, and
    TraceError for damage.
    """
    found: list[HeapSnapshot] = []
    ask_one(trace, attrs.evolve(REPORT, collector=lambda _: _SnapshotKeeper(found)), ANYTHING, window)
    return tuple(found)


class _SnapshotKeeper(HeapCollector):
    """Keeps the snapshots; its answer has no rows."""

    def __init__(self, found: list[HeapSnapshot]) -> None:
        super().__init__(ANYTHING)
        self._found = found

    def finish(self, context: Context) -> HeapReport:
        self._found += self.snapshots(context)
        return heap_answer(context, ANYTHING, [])

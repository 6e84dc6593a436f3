"""Rows of EventPipe's recording → rows as the Linux recorder's has them: on its clock, and threads with their process.

Changes no payload, no description and no stack. Does not know how far apart the clocks are.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import LabelList, ThreadRow, TraceInfo
from clrevents.decode.decoded import DecodedRows

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


class ShiftedRows:
    """Turns rows of one process into rows of `info`'s clock, `shift_ns` later."""

    def __init__(self, info: TraceInfo, process_id: int, shift_ns: int) -> None:
        self._info = info
        self._process = process_id
        self._shift = shift_ns
        self._threads: list[ThreadRow] = []
        self._places: dict[int, int] = {}
        self._labels: dict[tuple[bytes | None, bytes | None], LabelList] = {}

    def of(self, rows: DecodedRows) -> DecodedRows:
        """The same rows in NetTrace 6."""
        ticks = self._ticks(rows)
        if rows.thread_places is not None:
            theirs = [attrs.evolve(row, process_id=self._process) for row in rows.thread_rows]
            return attrs.evolve(rows, ticks=ticks, thread_rows=theirs)
        runs = attrs.evolve(rows.runs, captures=self._of_threads(rows.runs.captures).astype(np.uint64))
        return attrs.evolve(
            rows,
            ticks=ticks,
            runs=runs,
            thread_places=self._of_threads(rows.thread_ids),
            thread_rows=self._threads,
            labels=self._labelled(rows),
            activities=None,
            related_activities=None,
        )

    def _ticks(self, rows: DecodedRows) -> NDArray[np.int64]:
        mine, theirs = self._info, rows.clock
        if mine.frequency == theirs.frequency == 1_000_000_000:
            return rows.ticks - theirs.sync_qpc + (mine.sync_qpc + self._shift)
        times = ((time + self._shift) * mine.frequency // 1_000_000_000 + mine.sync_qpc for time in rows.times_ns)
        return np.array([min(max(time, _LOWEST), _HIGHEST) for time in times], dtype=np.int64)

    def _of_threads(self, ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The places of threads by their ids."""
        known, which = np.unique(ids, return_inverse=True)
        places = []
        for thread in known.tolist():
            if thread not in self._places:
                self._places[thread] = len(self._threads)
                self._threads.append(ThreadRow(len(self._threads) + 1, thread, self._process))
            places.append(self._places[thread])
        return np.array(places, dtype=np.int64)[which]

    def _labelled(self, rows: DecodedRows) -> list[LabelList | None] | None:
        """Activities, which NetTrace 6 has in label lists: equal ones in the same list."""
        own, related = rows.activities, rows.related_activities
        if own is None and related is None:
            return None
        none = [None] * len(rows)
        pairs = zip(none if own is None else own.all(), none if related is None else related.all(), strict=True)
        return [None if pair == (None, None) else self._labels.setdefault(pair, LabelList(*pair)) for pair in pairs]

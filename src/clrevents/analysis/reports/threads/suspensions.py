"""When all threads were stopped, from events as they come: for each collection a row, for samples a sum by thread.

A stop lasts from GCSuspendEEBegin to the next GCRestartEEEnd on its thread, so one that is for no collection may
include a wait for another suspension to end; one without an end is dropped. Which thread is the sampler's is decided
elsewhere.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import groups
from clrevents.analysis.shared.events.gc_suspensions import COLLECTION, END, SAMPLER, steps_of, whole_stops

_BEFORE = -1
"""The place of a step that was in an earlier chunk."""


class StopMaker:
    """Takes the two events of a process in order of time."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        """From when to when threads were stopped for a collection."""
        self.collecting: set[int] = set()
        """The threads that stopped the others for a collection."""
        self.sampling: set[int] = set()
        """The same for samples."""
        self.held = Counter[int]()
        """For how long each of these did, in stops that have an end; of those that have any."""
        self.moments: dict[int, tuple[int, int]] = {}
        """The first and the last moment of each thread that stopped the others."""
        self._steps = steps_of(None, None)
        """The stops that may still end."""

    def take(self, begins: Gathered | None, ends: Gathered | None) -> None:
        """The next events."""
        steps = steps_of(begins, ends, self._steps)
        thread, time, kind, place = steps
        whole = whole_stops(steps)
        start, end = time[whole], time[whole + 1]
        lasting = (kind[whole] == COLLECTION) & (end > start)
        self.spans += zip(start[lasting].tolist(), end[lasting].tolist(), strict=True)
        for by, rows in groups(thread[whole], np.flatnonzero(kind[whole] == SAMPLER)):
            self.held[by] += int((end - start)[rows].sum())
        self.collecting.update(thread[kind == COLLECTION].tolist())
        self.sampling.update(thread[kind == SAMPLER].tolist())
        for by, rows in groups(thread, np.flatnonzero((kind != END) & (place != _BEFORE))):
            first, last = int(time[rows[0]]), int(time[rows[-1]])
            self.moments[by] = min(first, self.moments.get(by, (first, last))[0]), last
        self._steps = steps[:, (kind != END) & np.append(thread[1:] != thread[:-1], True)[: len(kind)]]
        self._steps[3] = _BEFORE

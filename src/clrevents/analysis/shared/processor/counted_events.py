"""The events of the recorder's counts, and what they say together: windows and names of threads, and the process's own
clock.

Knows their fields; what was counted is divided among samples elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.shared.processor.thread_windows import NO_THREAD, ThreadWindows, portion
from clrevents.schema.registry import OWN
from clrevents.table.table import Table

Ints: TypeAlias = NDArray[np.int64]

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "ProcessorTime": ("OSThreadID", "IntervalNs", "ProcessorNs", "ReadyNs"),
    "ThreadName": ("OSThreadID", "Name"),
    "ThreadEnd": ("OSThreadID", "IntervalNs"),
    "ProcessorCounting": ("AllowedProcessors",),
    "ProcessProcessorTime": ("IntervalNs", "ProcessorNs"),
    "ProcessFacts": ("IntervalNs", "ResidentBytes"),
    "ProcessLimits": (
        *("IntervalNs", "QuotaNs", "PeriodNs", "Periods", "ThrottledPeriods", "ThrottledNs", "MemoryLimitBytes"),
    ),
    "MachineProcessorTime": ("IntervalNs", "Processors", "BusyNs", "StolenNs"),
}
COUNT_EVENTS: Final = tuple(f"{OWN}/{name}" for name in _COLUMNS)
_MOST: Final = 1 << 48
"""What damaged counts are cut to, so that sums of them do not overflow."""


@frozen(eq=False)
class Counts:
    """What was counted of a process. `sums` are amounts of the whole process, each from a time to a time."""

    windows: ThreadWindows
    names: Mapping[int, str]
    """The last name of each thread."""
    begun: Mapping[int, int]
    """When each thread was first listed."""
    ended: Mapping[int, int]
    """When it was first found missing."""
    until: int
    """The last reading."""
    processors: int | None
    """How many processors the process may use; None if unknown."""
    sums: Mapping[str, tuple[Ints, Ints, Ints]]
    limit: float | None
    """How many processors the limit of its control group is; None without one."""
    ended_windows: ThreadWindows
    """What threads took with them that ended between two readings, those that were never read, too; of no thread."""
    unread: Mapping[int, int]
    """Since when what a thread used is among that, of threads that were read and ended."""

    def since(self, threads: Sequence[int]) -> Ints:
        """Since when each of these threads was not read: always, if it never was."""
        read = {*self.windows.thread.tolist(), *self.names}
        last = int(self.windows.end.max())
        # The process is read after its threads.
        last = min([one for one in self.ended_windows.end.tolist() if one >= last], default=last)
        return np.array([self.unread.get(one, last) if one in read else 0 for one in threads], dtype=np.int64)

    def total(self, name: str, window: TimeWindow) -> int | None:
        """An amount in a window: `ProcessProcessorTime.ProcessorNs`, for example. None if it is unknown."""
        start, end, amount = self.sums[name]
        known = amount >= 0
        return int(portion(start, end, amount, window)[known].sum()) if known.any() else None

    def used(self, window: TimeWindow) -> int:
        """What all threads had of processors in a window, also those that nobody saw."""
        rows = self.windows
        seen = int(portion(rows.start, rows.end, rows.processor, window).sum())
        return max(self.total("ProcessProcessorTime.ProcessorNs", window) or 0, seen)

    def peak(self, name: str, window: TimeWindow) -> int | None:
        """The largest reading of a number in a window; None if there is none."""
        _, end, amount = self.sums[name]
        read = amount[(amount > 0) & (end >= window.low) & (end < window.high)]
        return int(read.max()) if len(read) else None

    def limited_ready(self) -> Ints:
        """The ready time of each window of threads that a limit explains: it stopped the process in that second."""
        _, end, stops = self.sums["ProcessLimits.ThrottledPeriods"]
        rows = self.windows
        if not len(end):
            return np.zeros(len(rows), dtype=np.int64)
        # What was not read at the end was as in the last second.
        place = np.minimum(np.searchsorted(end, rows.end, side="left"), len(end) - 1)
        return np.where(stops[place] > 0, rows.ready, 0)

    def read_ns(self, window: TimeWindow) -> int:
        """For how long counts were read there."""
        start, end, _ = self.sums["ProcessProcessorTime.ProcessorNs"]
        return int(window.overlap(start, end).sum())


def counted_window(context: Context) -> TimeWindow:
    """The window of counts: a part of a trace has those of the interval that its beginning lies in, so that the parts
    of a whole add up."""
    window = context.window
    return TimeWindow(None, window.end_ns) if window.low <= context.troubles.part.low else window


class CountFeed:
    """Keeps the events of one process."""

    def __init__(self) -> None:
        self._tables: dict[str, list[Table]] = {name: [] for name in _COLUMNS}

    def take(self, chunk: ReportChunk) -> None:
        """The next events; others are left alone."""
        for event in COUNT_EVENTS:
            if event in chunk.events:
                self.add(event, chunk.events[event].table)

    def add(self, event: str, table: Table) -> None:
        """More of one of `COUNT_EVENTS`."""
        name = event.partition("/")[2]
        if len(table):
            self._tables[name].append(table.select("time_ns", *_COLUMNS[name]))

    def found(self) -> Counts | None:
        """Everything; None where nothing was counted."""
        if not self._tables["ProcessorTime"]:
            return None
        columns = {name: self._numbers(name) for name in _COLUMNS}
        used, named, gone, limits, process = (
            columns[name]
            for name in ("ProcessorTime", "ThreadName", "ThreadEnd", "ProcessLimits", "ProcessProcessorTime")
        )
        texts = [text for table in self._tables["ThreadName"] for text in table.column("Name").tolist()]
        begun: dict[int, int] = {}
        for thread, time in zip(named["OSThreadID"].tolist(), named["time_ns"].tolist(), strict=True):
            begun.setdefault(thread, time)
        sums: dict[str, tuple[Ints, Ints, Ints]] = {}
        for name, held in columns.items():
            if "IntervalNs" in held:
                end = held["time_ns"]
                start = end - np.clip(held["IntervalNs"], 0, _MOST)
                sums |= {f"{name}.{field}": (start, end, amount) for field, amount in held.items()}
        allowed = columns["ProcessorCounting"]["AllowedProcessors"]
        allowed = allowed[allowed > 0]
        limited = np.flatnonzero((limits["QuotaNs"] > 0) & (limits["PeriodNs"] > 0))
        windows = ThreadWindows.of(
            *(used[name] for name in ("OSThreadID", "time_ns", "IntervalNs", "ProcessorNs", "ReadyNs"))
        )
        ended = gone["OSThreadID"].tolist()
        return Counts(
            windows,
            dict(zip(named["OSThreadID"].tolist(), texts, strict=True)),
            begun,
            dict(zip(ended, gone["time_ns"].tolist(), strict=True)),
            max([int(windows.end.max()), *process["time_ns"].tolist()]),
            int(allowed[0]) if len(allowed) else None,
            sums,
            float(limits["QuotaNs"][limited[-1]] / limits["PeriodNs"][limited[-1]]) if len(limited) else None,
            _ended(used, process),
            dict(zip(ended, sums["ThreadEnd.IntervalNs"][0].tolist(), strict=True)),
        )

    def _numbers(self, name: str) -> dict[str, Ints]:
        """The columns of numbers of an event."""
        found = {}
        for column in ("time_ns", *(column for column in _COLUMNS[name] if column != "Name")):
            parts = [table.column(column).filled(-1).astype(np.int64) for table in self._tables[name]]
            values = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            found[column] = values if column == "time_ns" else np.clip(values, -1, _MOST)
        return found


def _ended(threads: Mapping[str, Ints], process: Mapping[str, Ints]) -> ThreadWindows:
    """What the process used between two readings, and no thread that was read."""
    end = process["time_ns"]
    read = np.searchsorted(end, threads["time_ns"])
    ahead = np.cumsum(np.maximum(process["ProcessorNs"], 0) - sum_by(read, threads["ProcessorNs"], len(end) + 1)[:-1])
    # Threads are read before their process, so that it may be ahead of them for a while; those that ended it stays.
    taken = np.diff(np.maximum(np.minimum.accumulate(ahead[::-1])[::-1], 0), prepend=0)
    start = np.maximum(end - np.maximum(process["IntervalNs"], 0), np.append(end[:1] * 0, end[:-1]))
    return ThreadWindows(np.full_like(end, NO_THREAD), start, end, taken, np.zeros_like(taken))

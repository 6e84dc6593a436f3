"""What the operating system counted of a process: the recorder's events, and what they say together.

The windows of a thread follow one another without gaps: from when to when it used so much processor time, and was ready
for so long. Ready time is credited when a thread gets a processor, and a running thread's time with a tick, so what
does not fit into a window belongs before it. What was counted is divided among samples elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import digits, duration_text, share_text
from clrevents.analysis.framework.model.collector import Context, ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import groups, sum_by
from clrevents.schema.registry import OWN
from clrevents.table.table import Table

Ints: TypeAlias = NDArray[np.int64]

COMPILERS: Final = ".NET Tiered"
"""How the names of threads that compile in the background begin."""
SLOWER: Final = (
    "samples each 10 ms are enough: start the program with DOTNET_EventPipeThreadSamplingRate=10 "
    "(.NET 11 and late versions of 10)"
)
"""What to do about a sampler that holds threads for long."""
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
_LARGEST: Final = 1 << 48
"""What damaged counts are cut to, so that sums of them do not overflow."""
NO_THREAD: Final = -2
"""What stands for a thread where windows are of many."""
_MOST: Final = 1 << 40
"""No thread uses more in one window: damaged counts must not overflow."""


@frozen(eq=False)
class ThreadWindows:
    """In order of thread, then time. `ready` is 0 where it is unknown."""

    thread: Ints
    start: Ints
    end: Ints
    processor: Ints
    ready: Ints
    ready_known: bool = True

    @classmethod
    def of(cls, thread: Ints, end: Ints, interval: Ints, processor: Ints, ready: Ints) -> ThreadWindows:
        """Of readings at `end` that say what was used within an `interval` before; -1 is unknown."""
        order = np.lexsort((end, thread))
        thread, end = thread[order], end[order]
        used, wanted = (np.clip(column[order], 0, _MOST) for column in (processor, ready))
        # What was used since a reading before the trace began counts in the trace, as far back as it must.
        start = np.minimum(np.maximum(end - np.clip(interval[order], 0, _MOST), 0), end - used)
        start = np.minimum(start, end)
        same = np.zeros(len(thread), dtype=np.bool_)
        same[1:] = thread[1:] == thread[:-1]
        before = np.where(same, np.roll(end, 1), start)
        # Where nothing was read, nothing had changed.
        gap = np.flatnonzero(start > before)
        columns = (
            (thread, thread[gap]),
            (np.maximum(start, before), before[gap]),
            (end, start[gap]),
            (used, 0),
            (wanted, 0),
        )
        thread, start, end, used, wanted = (np.insert(column, gap, added) for column, added in columns)
        return cls(thread, start, end, used, wanted, bool((ready >= 0).all()))._fitted()

    def __len__(self) -> int:
        return len(self.thread)

    def and_(self, more: ThreadWindows) -> ThreadWindows:
        """These, and more after them."""
        names = ("thread", "start", "end", "processor", "ready")
        columns: dict[str, Any] = {name: np.concatenate((getattr(self, name), getattr(more, name))) for name in names}
        return attrs.evolve(self, **columns)

    def by_thread(self) -> Iterator[tuple[int, Ints]]:
        """The rows of each thread."""
        return groups(self.thread)

    def _fitted(self) -> ThreadWindows:
        """The same with what does not fit into a window in the ones before it.

        Ready time that does not fit into the first one was before it.
        """
        length, used, wanted = (column.tolist() for column in (self.end - self.start, self.processor, self.ready))
        for _, rows in self.by_thread():
            first, more, later = int(rows[0]), 0, 0
            for row in reversed(rows.tolist()):
                used[row] += more
                more = max(used[row] - length[row], 0) if row > first else 0
                used[row] -= more
                wanted[row] += later
                later = max(wanted[row] - max(length[row] - used[row], 0), 0)
                wanted[row] -= later
        return attrs.evolve(self, processor=np.array(used, dtype=np.int64), ready=np.array(wanted, dtype=np.int64))


def portion(start: Ints, end: Ints, amount: Ints, window: TimeWindow) -> Ints:
    """How much of each amount, spread evenly from its start to its end, lies in a window."""

    length = np.maximum(end - start, 1)

    def until(moment: int) -> Ints:
        found: Ints = np.floor(amount * ((np.clip(moment, start, end) - start) / length)).astype(np.int64)
        return np.where(moment <= start, 0, np.where(moment >= end, amount, found))

    return until(window.high) - until(window.low)


@frozen(eq=False)
class Counts:
    """What was counted of a process."""

    windows: ThreadWindows
    ended_windows: ThreadWindows
    """What threads took with them that ended between two readings, those that were never read, too; of no thread."""
    columns: Mapping[str, Mapping[str, Ints]]
    """The numbers of the events by their names; -1 is unknown."""
    names: Mapping[int, str]
    """The last name of each thread."""
    begun: Mapping[int, int]
    """When each thread was first listed."""
    ended: Mapping[int, int]
    """When it was first found missing."""

    @property
    def until(self) -> int:
        """The last reading."""
        return int(max(self.windows.end.max(), self.ended_windows.end.max(initial=0)))

    @property
    def processors(self) -> int | None:
        """How many processors the process may use; None if unknown."""
        allowed = self.columns["ProcessorCounting"]["AllowedProcessors"]
        return next((count for count in allowed.tolist() if count > 0), None)

    @property
    def limit(self) -> float | None:
        """How many processors the limit of its control group is; None without one."""
        quota, period = (self.columns["ProcessLimits"][name] for name in ("QuotaNs", "PeriodNs"))
        limited = np.flatnonzero((quota > 0) & (period > 0))[-1:]
        return float(quota[limited[0]] / period[limited[0]]) if len(limited) else None

    def since(self, threads: Sequence[int]) -> Ints:
        """Since when each of these threads was not read: always, if it never was."""
        gone = self.columns["ThreadEnd"]
        unread = dict(zip(gone["OSThreadID"].tolist(), self.amounts("ThreadEnd.IntervalNs")[0].tolist(), strict=True))
        read = {*self.windows.thread.tolist(), *self.names}
        last = int(self.windows.end.max())
        # The process is read after its threads.
        last = min([one for one in self.ended_windows.end.tolist() if one >= last], default=last)
        return np.array([unread.get(one, last) if one in read else 0 for one in threads], dtype=np.int64)

    def amounts(self, name: str) -> tuple[Ints, Ints, Ints]:
        """From when to when each reading was that counted `ProcessProcessorTime.ProcessorNs`, for example, and this."""
        event, _, field = name.partition(".")
        columns = self.columns[event]
        return columns["time_ns"] - np.maximum(columns["IntervalNs"], 0), columns["time_ns"], columns[field]

    def total(self, name: str, window: TimeWindow) -> int | None:
        """An amount in a window; None if it is unknown."""
        start, end, amount = self.amounts(name)
        known = amount >= 0
        return int(portion(start, end, amount, window)[known].sum()) if known.any() else None

    def used(self, window: TimeWindow) -> int:
        """What all threads had of processors in a window, also those that nobody saw."""
        rows = self.windows
        seen = int(portion(rows.start, rows.end, rows.processor, window).sum())
        return max(self.total("ProcessProcessorTime.ProcessorNs", window) or 0, seen)

    def peak(self, name: str, window: TimeWindow) -> int | None:
        """The largest reading of a number in a window; None if there is none."""
        _, end, amount = self.amounts(name)
        read = amount[(amount > 0) & (end >= window.low) & (end < window.high)]
        return int(read.max()) if len(read) else None

    def limited_ready(self) -> Ints:
        """The ready time of each window of threads that a limit explains: it stopped the process in that second."""
        _, end, stops = self.amounts("ProcessLimits.ThrottledPeriods")
        rows = self.windows
        if not len(end):
            return np.zeros(len(rows), dtype=np.int64)
        # What was not read at the end was as in the last second.
        place = np.minimum(np.searchsorted(end, rows.end, side="left"), len(end) - 1)
        return np.where(stops[place] > 0, rows.ready, 0)

    def read_ns(self, window: TimeWindow) -> int:
        """For how long counts were read there."""
        start, end, _ = self.amounts("ProcessProcessorTime.ProcessorNs")
        return int(window.overlap(start, end).sum())

    def use_text(self, window: TimeWindow, samplers: Collection[int]) -> str:
        """`11.6 of 20 processor-seconds (58 %), compilation 9 %, the sampler 11 %; threads waited 37 s for a processor`

        `samplers` are the threads that take samples. Shares are of what was used.
        """
        rows = self.windows
        used, ready = (portion(rows.start, rows.end, column, window) for column in (rows.processor, rows.ready))
        whole = self.used(window)
        text = f"{digits(whole / 1e9, 3)} processor-seconds"
        available = (self.processors or 0) * self.read_ns(window)
        if available:
            shown = f"{digits(whole / 1e9, 3)} of {digits(available / 1e9, 3)}"
            text = f"{shown} processor-seconds ({share_text(whole / available)})"
        compilers = [thread for thread, name in self.names.items() if name.startswith(COMPILERS)]
        for what, threads in (("compilation", compilers), ("the sampler", [*samplers])):
            mine = np.isin(rows.thread, threads)
            if whole and mine.any():
                text += f", {what} {share_text(int(used[mine].sum()) / whole)}"
        if rows.ready_known:
            text += f"; threads waited {duration_text(int(ready.sum()))} for a processor"
        return text


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
        used, named, gone = (columns[name] for name in ("ProcessorTime", "ThreadName", "ThreadEnd"))
        threads, listed = named["OSThreadID"].tolist(), named["time_ns"].tolist()
        texts = [text for table in self._tables["ThreadName"] for text in table.column("Name").tolist()]
        of = (used[name] for name in ("OSThreadID", "time_ns", "IntervalNs", "ProcessorNs", "ReadyNs"))
        return Counts(
            ThreadWindows.of(*of),
            _ended(used, columns["ProcessProcessorTime"]),
            columns,
            dict(zip(threads, texts, strict=True)),
            dict(zip(reversed(threads), reversed(listed), strict=True)),
            dict(zip(gone["OSThreadID"].tolist(), gone["time_ns"].tolist(), strict=True)),
        )

    def _numbers(self, name: str) -> dict[str, Ints]:
        """The columns of numbers of an event."""
        found = {}
        for column in ("time_ns", *(column for column in _COLUMNS[name] if column != "Name")):
            parts = [table.column(column).filled(-1).astype(np.int64) for table in self._tables[name]]
            values = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            found[column] = values if column == "time_ns" else np.clip(values, -1, _LARGEST)
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

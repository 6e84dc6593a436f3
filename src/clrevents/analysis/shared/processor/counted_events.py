"""What the operating system counted of a process, by the recorder's events, and its division among samples.

The windows of a thread follow one another without gaps. Ready time is credited when a thread gets a processor, and a
running thread's time with a tick, so what does not fit into a window belongs before it. A sample's part of its window
is an estimate with an interval, whose sum is exact: samples in managed code had a processor for a fraction of their
time, those in native code for one that depends on the method; the fractions are those that explain all windows best.
Where every sample of a window waits, those share it; where there is none, its time is nobody's.
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
from clrevents.analysis.gathering.groups import Ints, changes, groups, sum_by
from clrevents.schema.registry import OWN
from clrevents.table.table import Table

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
        amounts: Ints = np.floor(amount * ((np.clip(moment, start, end) - start) / length)).astype(np.int64)
        return np.where(moment <= start, 0, np.where(moment >= end, amount, amounts))

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
            of_threads = np.isin(rows.thread, threads)
            if whole and of_threads.any():
                text += f", {what} {share_text(int(used[of_threads].sum()) / whole)}"
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

    def finish(self) -> Counts | None:
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
        numbers = {}
        for column in ("time_ns", *(column for column in _COLUMNS[name] if column != "Name")):
            parts = [table.column(column).filled(-1).astype(np.int64) for table in self._tables[name]]
            values = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            numbers[column] = values if column == "time_ns" else np.clip(values, -1, _LARGEST)
        return numbers


def _ended(threads: Mapping[str, Ints], process: Mapping[str, Ints]) -> ThreadWindows:
    """What the process used between two readings, and no thread that was read."""
    end = process["time_ns"]
    read = np.searchsorted(end, threads["time_ns"])
    ahead = np.cumsum(np.maximum(process["ProcessorNs"], 0) - sum_by(read, threads["ProcessorNs"], len(end) + 1)[:-1])
    # Threads are read before their process, so that it may be ahead of them for a while; those that ended it stays.
    taken = np.diff(np.maximum(np.minimum.accumulate(ahead[::-1])[::-1], 0), prepend=0)
    start = np.maximum(end - np.maximum(process["IntervalNs"], 0), np.append(end[:1] * 0, end[:-1]))
    return ThreadWindows(np.full_like(end, NO_THREAD), start, end, taken, np.zeros_like(taken))


Floats: TypeAlias = NDArray[np.float64]

MANAGED, WAITING, NOTHING = -1, -2, -3
"""What stands for a method of native code where a sample is of managed code, of a wait, or none."""
_FITTED: Final = 63
"""So many methods of native code, those with the most samples, have a fraction of their own; the rest share one,"""
_RUNNING, _NONE = _FITTED + 1, _FITTED + 2
"""and managed code has one. Other samples have none."""
_SWEEPS: Final = 200
_BLOCK: Final = 1 << 14
_WIDTH: Final = 1.645
"""So many standard deviations to each side hold the truth in 90 % of cases."""


@frozen(eq=False)
class Divided:
    """Pieces of samples, one for each window that a sample lies in, in order of windows.

    `sample` is its place among the samples, `start` and `end` where the piece lies, `processor` and `ready` its time in
    ns. `window` is a row of `windows`, which are all of the process. `idle` says that all samples of its window wait.
    `before` and `after` is what the time between this sample and its neighbours had of a processor, in ns: only
    somewhere in there did the thread go from one to the other. `fitted` is what it may have more or less because the
    fraction of its kind of sample is not known better, by one standard deviation.
    """

    sample: Ints
    start: Ints
    end: Ints
    processor: Ints
    ready: Ints
    window: Ints
    idle: NDArray[np.bool_]
    before: Ints
    after: Ints
    fitted: Ints
    windows: ThreadWindows
    loose: Floats
    """Of each window, how much of its processor time may have been at another moment in it, from 0 to 1."""

    def only(self, kept: Ints, count: int) -> Divided:
        """Those of some of `count` samples, which are `kept` in this order."""
        place = np.full(count, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        rows = np.flatnonzero(place[self.sample] >= 0)
        part = attrs.evolve(self, **{name: getattr(self, name)[rows] for name in _OF_PIECES})
        return attrs.evolve(part, sample=place[part.sample])

    def within(self, window: TimeWindow) -> Divided:
        """What lies in a window of time."""
        used, wanted = (portion(self.start, self.end, column, window) for column in (self.processor, self.ready))
        return attrs.evolve(self, processor=used, ready=wanted)

    def of_samples(self, count: int) -> tuple[Ints, Ints]:
        """The processor and the ready time of each sample."""
        return sum_by(self.sample, self.processor, count), sum_by(self.sample, self.ready, count)

    def spread(self, pieces: Ints, of: Ints, count: int) -> Ints:
        """By how much the processor time of each of `count` things may be wrong: piece `pieces[i]` is of `of[i]`.

        Nothing says which of a window's samples had the processor, or had none if that is less: if in one turn, a
        thing with the share p has p(1 - p) of the turn's square as variance. Where a thread goes from one thing to
        another between two samples, any moment is as likely, which is a twelfth of the square of what that time had.
        The error of a fraction is the same in all windows, as far as others share these. Where all samples wait, all of
        it may have been another's, in every window.
        """
        pairs = self.window[pieces] * max(count, 1) + of
        keys, part = np.unique(pairs, return_inverse=True)
        window, thing = keys // max(count, 1), keys % max(count, 1)
        amounts = sum_by(part, self.processor[pieces], len(keys))
        whole = self.windows.processor[window]
        others = np.maximum(whole - amounts, 0)
        variance = np.zeros(count) + np.bincount(thing, self.loose[window] ** 2 * amounts * others, count)
        fitted = sum_by(part, self.fitted[pieces], len(keys)) * (others / np.maximum(whole, 1))
        variance = variance + np.bincount(thing, fitted, count) ** 2
        places = of * (len(self.sample) + 1) + pieces
        for step, doubt in ((-1, self.before), (1, self.after)):
            edge = ~np.isin(places + step, places)
            variance = variance + np.bincount(of[edge], doubt[pieces[edge]] ** 2.0, count) / 12
        doubted = np.bincount(of, self.processor[pieces] * self.idle[pieces], count)
        errors: Ints = np.ceil(_WIDTH * np.sqrt(variance) + doubted).astype(np.int64)
        return errors


_OF_PIECES: Final = ("sample", "start", "end", "processor", "ready", "window", "idle", "before", "after", "fitted")


def divided(
    windows: ThreadWindows, ended: ThreadWindows, thread: Ints, since: Ints, start: Ints, end: Ints, method: Ints
) -> Divided:
    """Divide the windows' times among samples: each lasts from `start` to `end`, those of a thread without overlap.

    What the threads used that `ended` goes to samples `since` their threads were not read any more. `method` is the
    number of the innermost one in native code, or `MANAGED`, `WAITING` or `NOTHING`.
    """
    every = windows.and_(ended)
    sample, window, low, high = _pieces(every, thread, since, start, end)
    took = (high - low).astype(np.float64)
    method = method[sample]
    native = np.flatnonzero(method >= 0)
    known, count = np.unique(method[native], return_counts=True)
    rank = np.minimum(np.argsort(np.argsort(-count, kind="stable")), _FITTED)
    group = np.where(method == MANAGED, _RUNNING, _NONE)
    group[native] = rank[np.searchsorted(known, method[native])] if len(native) else 0
    fractions, errors = (np.append(column, 0) for column in _fractions(windows.processor, window, group, took))
    busy = took * fractions[group]
    alone = every.thread != NO_THREAD
    room = sum_by(window, (high - low) * (group != _NONE), len(every))
    # Of many threads no more than their samples last, others have none; of one, what waits may have had it.
    amount = np.where(alone, every.processor, np.minimum(every.processor, room))
    idle = (sum_by(window, busy, len(every))[window] <= 0) & (method != NOTHING) & alone[window]
    busy[idle] = took[idle]
    some = np.flatnonzero(sum_by(window, busy, len(every))[window] > 0)
    sample, window, low, high = (column[some] for column in (sample, window, low, high))
    used, wanted = (_shared(window, busy[some], whole) for whole in (amount, every.ready))
    rate = np.minimum(used / (high - low), 1)
    goes = (thread[sample][1:] == thread[sample][:-1]) & (sample[1:] != sample[:-1]) & (low[1:] == high[:-1])
    between = np.where(goes, np.maximum(rate[1:], rate[:-1]) * (end - start)[sample[:-1]], 0).astype(np.int64)
    loose = np.where(alone, np.clip((room - amount) / np.maximum(amount, 1), 0, 1), 1)
    edges = np.append(0, between), np.append(between, 0)
    total = sum_by(window, busy[some], len(every))
    fitted = (took[some] * errors[group[some]] * (amount / np.maximum(total, 1))[window]).astype(np.int64)
    every = attrs.evolve(every, processor=amount)
    return Divided(sample, low, high, used, wanted, window, idle[some], *edges, fitted, every, loose)


def _pieces(windows: ThreadWindows, thread: Ints, since: Ints, start: Ints, end: Ints) -> tuple[Ints, ...]:
    """The samples cut at the borders of windows: sample, window, and from when to when; in order of windows."""
    windows_of_thread = dict(groups(thread))
    none = np.zeros(0, dtype=np.int64)
    pieces: list[tuple[Ints, ...]] = [(none, none, none)]
    for number, rows in windows.by_thread():
        own = number != NO_THREAD
        samples = windows_of_thread.get(number, none) if own else np.flatnonzero(since < end)
        begin = start[samples] if own else np.maximum(start, since)[samples]
        first = np.searchsorted(windows.end[rows], begin, side="right")
        last = np.minimum(np.searchsorted(windows.start[rows], end[samples], side="left"), len(rows))
        size = np.maximum(last - first, 0)
        place = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
        pieces.append((np.repeat(samples, size), rows[place], np.repeat(begin, size)))
    sample, window, begin = (np.concatenate([part[side] for part in pieces]) for side in (0, 1, 2))
    low, high = np.maximum(begin, windows.start[window]), np.minimum(end[sample], windows.end[window])
    order = np.lexsort((low, window))
    order = order[high[order] > low[order]]
    return sample[order], window[order], low[order], high[order]


def _fractions(used: Ints, window: Ints, group: Ints, took: Floats) -> tuple[Floats, Floats]:
    """For which part of its time each group of samples had a processor: least squares between 0 and 1; and the standard
    error of each.

    The pieces are in order of windows, of which `used` is the processor time.
    """
    squares, product, whole, count = np.zeros((_NONE, _NONE)), np.zeros(_NONE), 0.0, 0
    for low in range(0, len(used), _BLOCK):
        height = min(_BLOCK, len(used) - low)
        part = slice(*np.searchsorted(window, (low, low + height)).tolist())
        matrix = np.zeros((height, _NONE + 1))
        np.add.at(matrix, (window[part] - low, group[part]), took[part])
        matrix = matrix[:, :_NONE]
        seen = matrix.any(axis=1)
        squares += matrix[seen].T @ matrix[seen]
        amount = used[low : low + _BLOCK][seen].astype(np.float64)
        product += matrix[seen].T @ amount
        whole, count = whole + float(amount @ amount), count + len(amount)
    fractions = np.ones(_NONE)
    for _ in range(_SWEEPS):
        for place in np.flatnonzero(squares.diagonal() > 0).tolist():
            step = (product[place] - squares[place] @ fractions) / squares[place, place]
            fractions[place] = min(max(fractions[place] + step, 0.0), 1.0)
    some = np.flatnonzero(squares.diagonal() > 0)
    left = whole - 2 * fractions @ product + fractions @ squares @ fractions
    error = np.zeros(_NONE)
    inverse = np.linalg.pinv(squares[np.ix_(some, some)])
    error[some] = np.sqrt(np.maximum(inverse.diagonal() * left / max(count - len(some), 1), 0))
    return fractions, error


def _shared(window: Ints, share: Floats, amount: Ints) -> Ints:
    """The amount of each window by the shares of its pieces, in whole ns whose sum it is."""
    amounts = np.zeros(len(window), dtype=np.int64)
    some = np.flatnonzero(share > 0)
    if not len(some):
        return amounts
    window, share = window[some], share[some]
    first = changes(window)
    before = np.cumsum(share) - share
    # From where in its window a piece's part reaches: the next one's begins there, or it is the last.
    part = (before - before[first][np.cumsum(first) - 1]) / sum_by(window, share, len(amount))[window]
    low = np.floor(amount[window] * np.clip(part, 0, 1)).astype(np.int64)
    last = np.append(first[1:], True)
    amounts[some] = np.maximum(np.where(last, amount[window], np.append(low[1:], 0)) - low, 0)
    return amounts

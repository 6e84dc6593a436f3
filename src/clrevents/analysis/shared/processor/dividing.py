"""Counts of a thread's windows, divided among its samples in them: an estimate with an interval, whose sum is exact.

Samples in managed code had a processor for a fraction of their time, those in native code for one that depends on the
method: the fractions that explain best, over all windows, how long threads had a processor. In a window, processor and
ready time are shared in proportion to them. Where every sample of a window waits, those share it; where there is none,
its time is nobody's.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import changes, groups, sum_by
from clrevents.analysis.shared.processor.counted_events import NO_THREAD, ThreadWindows, portion

Ints: TypeAlias = NDArray[np.int64]
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
        made = attrs.evolve(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})
        return attrs.evolve(made, sample=place[made.sample])

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
        mine = sum_by(part, self.processor[pieces], len(keys))
        whole = self.windows.processor[window]
        others = np.maximum(whole - mine, 0)
        variance = np.zeros(count) + np.bincount(thing, self.loose[window] ** 2 * mine * others, count)
        fitted = sum_by(part, self.fitted[pieces], len(keys)) * (others / np.maximum(whole, 1))
        variance = variance + np.bincount(thing, fitted, count) ** 2
        places = of * (len(self.sample) + 1) + pieces
        for step, doubt in ((-1, self.before), (1, self.after)):
            edge = ~np.isin(places + step, places)
            variance = variance + np.bincount(of[edge], doubt[pieces[edge]] ** 2.0, count) / 12
        doubted = np.bincount(of, self.processor[pieces] * self.idle[pieces], count)
        found: Ints = np.ceil(_WIDTH * np.sqrt(variance) + doubted).astype(np.int64)
        return found


_COLUMNS: Final = ("sample", "start", "end", "processor", "ready", "window", "idle", "before", "after", "fitted")


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
    mine = dict(groups(thread))
    none = np.zeros(0, dtype=np.int64)
    found: list[tuple[Ints, ...]] = [(none, none, none)]
    for number, rows in windows.by_thread():
        own = number != NO_THREAD
        samples = mine.get(number, none) if own else np.flatnonzero(since < end)
        begin = start[samples] if own else np.maximum(start, since)[samples]
        first = np.searchsorted(windows.end[rows], begin, side="right")
        last = np.minimum(np.searchsorted(windows.start[rows], end[samples], side="left"), len(rows))
        size = np.maximum(last - first, 0)
        place = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
        found.append((np.repeat(samples, size), rows[place], np.repeat(begin, size)))
    sample, window, begin = (np.concatenate([part[side] for part in found]) for side in (0, 1, 2))
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
    found = np.ones(_NONE)
    for _ in range(_SWEEPS):
        for place in np.flatnonzero(squares.diagonal() > 0).tolist():
            step = (product[place] - squares[place] @ found) / squares[place, place]
            found[place] = min(max(found[place] + step, 0.0), 1.0)
    some = np.flatnonzero(squares.diagonal() > 0)
    left = whole - 2 * found @ product + found @ squares @ found
    error = np.zeros(_NONE)
    inverse = np.linalg.pinv(squares[np.ix_(some, some)])
    error[some] = np.sqrt(np.maximum(inverse.diagonal() * left / max(count - len(some), 1), 0))
    return found, error


def _shared(window: Ints, share: Floats, amount: Ints) -> Ints:
    """The amount of each window by the shares of its pieces, in whole ns whose sum it is."""
    found = np.zeros(len(window), dtype=np.int64)
    some = np.flatnonzero(share > 0)
    if not len(some):
        return found
    window, share = window[some], share[some]
    first = changes(window)
    before = np.cumsum(share) - share
    # From where in its window a piece's part reaches: the next one's begins there, or it is the last.
    part = (before - before[first][np.cumsum(first) - 1]) / sum_by(window, share, len(amount))[window]
    low = np.floor(amount[window] * np.clip(part, 0, 1)).astype(np.int64)
    last = np.append(first[1:], True)
    found[some] = np.maximum(np.where(last, amount[window], np.append(low[1:], 0)) - low, 0)
    return found

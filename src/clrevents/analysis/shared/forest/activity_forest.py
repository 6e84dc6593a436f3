"""`ActivityForest`: begins, ends and tasks → activities with their parents, in one pass and bounded memory.

An id names an activity only as long as that is open: runtimes reuse ids, and some give one id to several activities at
once. Where more than one open activity has an id, there is no parent, and an end goes to the likeliest and says that it
is `ambiguous`. If ids give no parent, `TaskFlows` may: code belongs to the activity in which its task was scheduled or
awaited, unless the id may mean several. Never pairs by time or thread what has an id. Knows no window and no losses.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Final, NamedTuple
from uuid import UUID

import attrs

from clrevents._util.value_classes import define
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.shared.forest.activity_signals import ActivitySource, FlowKey, FlowKind, Signal, SignalKind
from clrevents.schema.activity_path import PathDigits, cannot_lie_in, path_digits

UNKNOWN: Final = -2
"""Some activity or none: unknown."""
_MOST_INSIDE: Final = 1000
"""How many pieces of work a thread may run inside one another."""
_TASK, _WAIT = "task", "wait"
_OTHERS: Final = ("work", "io", "framework", "transfer")
"""Work of the pool itself, which says nothing about tasks."""


class Carried(NamedTuple):
    """The row of an activity, NONE or UNKNOWN, and since when that depends on no event that may be missing."""

    row: int
    since_ns: int


_UNKNOWN: Final = Carried(UNKNOWN, 0)


@define
class _Creator:
    """Work that was handed over and does not run yet; `count` times with the same key."""

    carried: Carried
    count: int = 1


class _TaskPiece(NamedTuple):
    """Work that a thread runs."""

    task: bool
    id: int
    carried: Carried


@define
class _Worker:
    """What a thread runs, innermost last, and the tasks that it is blocked on."""

    running: deque[_TaskPiece] = attrs.field(factory=lambda: deque(maxlen=_MOST_INSIDE))
    blocked: deque[int] = attrs.field(factory=lambda: deque(maxlen=_MOST_INSIDE))


class TaskFlows:
    """Sees each signal about work. At most `most` pieces that do not run yet are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._creators: OrderedDict[FlowKey, _Creator] = OrderedDict()
        self._workers: dict[int, _Worker] = {}
        self.complete = False
        """Whether it was recorded when awaits resume and when the resumed code returns (events of level 5)."""
        self.overflowed = False
        """Whether work was forgotten, so nothing is known any more."""

    def inside(self, thread: int) -> Carried:
        """What the code that the thread runs belongs to."""
        if self.overflowed:
            return _UNKNOWN
        worker = self._workers.get(thread)
        return worker.running[-1].carried if worker is not None and worker.running else Carried(NONE, 0)

    def work(self, signal: Signal, activity: int) -> None:
        """Work is handed over, begins or ends. `activity` is the row of the activity that is current, or UNKNOWN."""
        if signal.kind == SignalKind.IDLE:
            self._workers.pop(signal.thread_id, None)
            return
        if signal.key is None or signal.key[0] in _OTHERS:
            return
        worker = self._workers.setdefault(signal.thread_id, _Worker())
        space, id = signal.key
        match signal.kind:
            case SignalKind.CREATE if signal.flow == FlowKind.WAIT:
                worker.blocked.append(id)
            case SignalKind.CREATE:
                carried = Carried(activity, signal.time_ns)
                self._create(signal.key, carried if activity != NONE else self.inside(signal.thread_id))
            case SignalKind.RUN if space == _WAIT and id in worker.blocked:
                self._release(worker, signal)
            case SignalKind.RUN | SignalKind.RESUME:
                is_task = signal.kind == SignalKind.RUN and space == _TASK
                worker.running.append(_TaskPiece(is_task, id, self._take(signal.key)))
                if space == _WAIT:
                    # The continuation of an await may have been queued, by the id of the task.
                    self._take((_TASK, id))
            case SignalKind.DONE | SignalKind.RETURN:
                self.complete |= signal.kind == SignalKind.RETURN
                _end(worker, signal.kind == SignalKind.DONE, id)
            case _:
                raise AssertionError(signal.kind)

    def _create(self, key: FlowKey, carried: Carried) -> None:
        creator = self._creators.get(key)
        if creator is None:
            self._creators[key] = _Creator(carried)
            if len(self._creators) > self._most:
                self._creators.popitem(last=False)
                self.overflowed = True
            return
        creator.count += 1
        if creator.carried.row != carried.row:
            creator.carried = _UNKNOWN

    def _take(self, key: FlowKey) -> Carried:
        """What the work with this key belongs to, which begins to run."""
        creator = self._creators.get(key)
        if creator is None:
            return _UNKNOWN
        creator.count -= 1
        if not creator.count:
            del self._creators[key]
        return creator.carried

    def _release(self, worker: _Worker, signal: Signal) -> None:
        """A wait that blocked ends, unless it is an await of the same task that goes on. Its end is told once more."""
        assert signal.key is not None
        worker.blocked.remove(signal.key[1])
        carried = self.inside(signal.thread_id) if signal.key not in self._creators else _UNKNOWN
        worker.running.append(_TaskPiece(False, signal.key[1], carried))


def _end(worker: _Worker, task: bool, id: int) -> None:
    """The last such piece has ended, and whatever began inside it."""
    running = worker.running
    if any(piece.task == task and piece.id == id for piece in running):
        while (piece := running.pop()).task != task or piece.id != id:
            pass


_DEEPEST: Final = 100
"""How deep the runtime nests activities."""


@define
class _Alike:
    """Open activities with one id and one name, the last one last. The lists may still have some that ended."""

    count: int = 0
    rows: list[int] = attrs.field(factory=list)
    by_thread: dict[int, list[int]] = attrs.field(factory=dict)


@define
class _Holders:
    """The open activities with one id. Of a single one, `total` is the row."""

    count: int = 0
    total: int = 0
    by_source: dict[ActivitySource, _Alike] = attrs.field(factory=dict)


class ActivityForest:
    """Grows with each signal. Rows are numbered in order of their begins, from 0.

    At most `most` activities, which are counted beyond that, and the same number of ends without a start are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.start = array("q")
        self.end = array("q")
        """Of those that were never stopped, what `ended` says counts."""
        self.thread = array("Q")
        self.end_thread = array("Q")
        self.parent = array("q")
        self.source: list[ActivitySource] = []
        self.activity: list[bytes | None] = []
        self.detail: list[str | None] = []
        self.ended = bytearray()
        self.ambiguous = bytearray()
        self.catching = bytearray()
        self.followed = bytearray()
        """Whether the same flow began the same activity again while this one was open."""
        self.orphans: list[Signal] = []
        self.left_out = 0
        self.by_task: dict[int, int] = {}
        """The activities whose parent is known from tasks, and since when that depends on no lost event."""
        self._again: dict[int, list[int]] = {}
        """By an activity that another of its name seems to have ended without an event: those."""
        self.contradicted = 0
        """How many related ids are not those of what made the activity, as its path shows."""
        self.flows = TaskFlows(most)
        self.last_idless: dict[ActivitySource, int] = {}
        """When an end of this activity last came without an id."""
        self._open: dict[bytes, _Holders] = {}
        self._catches: defaultdict[int, list[int]] = defaultdict(list)
        self._latest: dict[tuple[int, int, ActivitySource], int] = {}
        self._alike: set[int] = set()
        """Activities that were open together with another one of their id and name, so that either may have ended."""
        self._closed: dict[bytes, int] = {}
        """The last activity of each id that has ended."""
        self._over: set[int] = set()
        """Activities that another one ended, and whose own stop, without an id, came in their own work."""
        self._dead: set[int] = set()
        """Activities that were current when another began in them, and yet not open for the runtime."""

    def __len__(self) -> int:
        return len(self.start)

    def take(self, signal: Signal) -> int:
        """Take the next signal. Returns the row that it begins or ends; -1 for none."""
        match signal.kind:
            case SignalKind.BEGIN:
                return self._begin(signal)
            case SignalKind.END:
                return self._end(signal)
            case SignalKind.CATCH:
                return self._catch(signal)
            case SignalKind.CAUGHT:
                return self._caught(signal)
            case _:
                self.flows.work(signal, self._open_with(signal.activity))
                return NONE

    def unconfirmed(self) -> list[int]:
        """The activities whose parent by tasks depends on their having ended another one, for which there is no other
        sign.

        Activities that began in that one afterwards, without its id, would be such a sign. An activity ends once.
        """
        activities: list[int] = []
        for outer, rows in self._again.items():
            activities += [] if outer in self._dead and len(rows) == 1 else rows
        return activities

    def _begin(self, signal: Signal) -> int:
        """A new activity. Returns its row; -1 where there are too many."""
        assert signal.source is not None
        row = self._add(signal)
        if row == NONE:
            return row
        fits = self._fits(signal)
        parent = self._only(signal.related, row) if fits else NONE
        self.parent[row] = parent
        if signal.related is None or not fits:
            self.parent[row] = self._cause(signal, row)
            self.contradicted += not fits
            self.ambiguous[row] |= not fits and self.parent[row] == NONE
        if signal.activity is not None:
            self._hold(row, signal.activity, signal)
        key = (parent, 0 if parent != NONE else signal.thread_id, signal.source)
        before = self._latest.get(key, NONE)
        if before != NONE and not self.ended[before]:
            self.followed[before] = True
        self._latest[key] = row
        return row

    def _end(self, signal: Signal) -> int:
        """An activity ends. Returns its row; -1 where nothing of its id and name is open."""
        row = self._stopped(signal)
        if row == NONE:
            self._orphan(signal)
        else:
            assert signal.activity is not None
            self._close(row, signal)
            self._doubt(row)
            holders = self._open[signal.activity]
            self._closed[signal.activity] = row
            holders.count -= 1
            holders.total -= row
            holders.by_source[self.source[row]].count -= 1
            if not holders.count:
                del self._open[signal.activity]
        return row

    def _catch(self, signal: Signal) -> int:
        """A handler of an exception begins, inside the activity whose id it has."""
        row = self._add(signal)
        if row != NONE:
            self.catching[row] = True
            self.parent[row] = self._only(signal.activity, row)
            self._catches[signal.thread_id].append(row)
        return row

    def _caught(self, signal: Signal) -> int:
        """The last handler of the thread ends."""
        rows = self._catches.get(signal.thread_id)
        if not rows:
            self._orphan(signal)
            return NONE
        row = rows.pop()
        # A handler that an exception left writes no end, so that with several the last may be the wrong one.
        self.ambiguous[row] |= bool(rows)
        self._close(row, signal)
        return row

    def _add(self, signal: Signal) -> int:
        if len(self.start) >= self._most:
            self.left_out += 1
            return NONE
        assert signal.source is not None
        self.start.append(signal.time_ns)
        self.end.append(0)
        self.thread.append(signal.thread_id)
        self.end_thread.append(0)
        self.parent.append(NONE)
        self.source.append(signal.source)
        self.activity.append(signal.activity)
        self.detail.append(signal.detail)
        for flags in (self.ended, self.ambiguous, self.catching, self.followed):
            flags.append(False)
        return len(self.start) - 1

    def _close(self, row: int, signal: Signal) -> None:
        self.end[row] = signal.time_ns
        self.end_thread[row] = signal.thread_id
        self.ended[row] = True

    def _hold(self, row: int, id: bytes, signal: Signal) -> None:
        """Note that an activity is open, and, if another one of the same name has its id, that both are ambiguous."""
        assert signal.source is not None
        holders = self._open.setdefault(id, _Holders())
        alike = holders.by_source.setdefault(signal.source, _Alike())
        if alike.count:
            # Of more than two, all others are marked already.
            for one in (row, _last_open(alike.rows, self.ended)):
                self.ambiguous[one] = True
                self._alike.add(one)
        alike.rows.append(row)
        alike.by_thread.setdefault(signal.thread_id, []).append(row)
        alike.count += 1
        holders.count += 1
        holders.total += row

    def _only(self, id: bytes | None, row: int) -> int:
        """The open activity with this id, if there is surely one only; the row says if there may be others."""
        holders = self._open.get(id) if id is not None else None
        if holders is None:
            return NONE
        if holders.count > 1 or holders.total in self._alike:
            self.ambiguous[row] = True
            return NONE
        return holders.total

    def _open_with(self, id: bytes | None) -> int:
        """The open activity with this id; NONE, or UNKNOWN if there are several."""
        holders = self._open.get(id) if id is not None else None
        if holders is None:
            return NONE
        return holders.total if holders.count == 1 and holders.total not in self._alike else UNKNOWN

    def _fits(self, signal: Signal) -> bool:
        """Whether the related id may be that of what made the activity, by the path.

        Up to .NET Core 3.1 it may be that of whatever the thread ran before, where all that made it is over.
        """
        if signal.activity is None or signal.related is None:
            return True
        return not cannot_lie_in(UUID(bytes=signal.activity), UUID(bytes=signal.related))

    def _cause(self, signal: Signal, row: int) -> int:
        """The parent by the tasks that brought the thread here, if the path of the activity was made in it.

        An activity that was ended by another of its name, without an event, is that one's sibling by the path. Still it
        is where that one began.
        """
        if signal.activity is None:
            return NONE
        cause, since = self.flows.inside(signal.thread_id)
        if cause < 0 or self.ended[cause] or cause in self._over or cause in self._alike:
            return NONE
        own, around = path_digits(UUID(bytes=signal.activity)), self._digits(cause)
        if own is None or around is None:
            return NONE
        if own.maker == around.whole:
            self._dead.add(cause)
        else:
            outer = self._ended_by(cause, signal.source, own.maker)
            if outer == NONE:
                return NONE
            self.followed[outer] = True
            self._again.setdefault(outer, []).append(row)
        self.by_task[row] = since
        return cause

    def _ended_by(self, row: int, source: ActivitySource | None, maker: str) -> int:
        """Which of an activity and its ancestors one of this source and path ended; -1 for none."""
        for _ in range(_DEEPEST):
            if row == NONE:
                break
            digits = self._digits(row)
            if self.source[row] == source and not self.ended[row] and digits is not None and digits.maker == maker:
                return row
            row = self.parent[row]
        return NONE

    def _digits(self, row: int) -> PathDigits | None:
        id = self.activity[row]
        return None if id is None or self.catching[row] else path_digits(UUID(bytes=id))

    def _doubt(self, row: int) -> None:
        """An activity has an end that others seemed to have ended: either it is not its own, or they did not."""
        again = self._again.pop(row, ())
        if row in self._dead:
            self.ambiguous[row] |= bool(again)
            return
        for other in again:
            self.parent[other] = NONE
            self.ambiguous[other] = True
            self.by_task.pop(other, None)

    def _stopped(self, signal: Signal) -> int:
        """Which activity an end ends: one with its id and name, of several that of its thread, the last of these."""
        holders = self._open.get(signal.activity) if signal.activity is not None else None
        if holders is None:
            return NONE
        assert signal.source is not None
        alike = holders.by_source.get(signal.source)
        if alike is not None and alike.count:
            row = _last_open(alike.by_thread.get(signal.thread_id, []), self.ended)
            return row if row != NONE else _last_open(alike.rows, self.ended)
        # Events with names of their own, such as `JobBegun` and `JobDone`, have only the id in common.
        alone = holders.total if holders.count == 1 and not signal.suffixed else NONE
        return alone if alone != NONE and self.source[alone].provider == signal.source.provider else NONE

    def _orphan(self, signal: Signal) -> None:
        assert signal.source is not None
        if signal.activity is None:
            self.last_idless[signal.source] = signal.time_ns
            self._end_around(signal)
        elif (row := self._closed.get(signal.activity, NONE)) != NONE and self.source[row] == signal.source:
            # Two ends claim one activity.
            self.ambiguous[row] = True
        # Once begins are left out, nobody knows whose ends these are.
        if len(self.orphans) < self._most and not self.left_out:
            self.orphans.append(signal)

    def _end_around(self, signal: Signal) -> None:
        """A stop without an id is that of the innermost activity of its name around it, which another one ended."""
        row, _ = self.flows.inside(signal.thread_id)
        inner = []
        for _ in range(_DEEPEST):
            if row < 0:
                break
            inner.append(row)
            if self.source[row] == signal.source and row not in self._over:
                self._over.update(inner)
                break
            row = self.parent[row]


def _last_open(rows: list[int], ended: bytearray) -> int:
    """The last row that has not ended; -1 if all have. Drops what ended behind it."""
    while rows and ended[rows[-1]]:
        rows.pop()
    return rows[-1] if rows else NONE

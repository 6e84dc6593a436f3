"""`TaskFlows`: which activity the code that a thread runs belongs to, by the tasks and awaits that carried it there.

Work belongs to the activity in which it was scheduled or awaited, or else to that of the work that did it. If an id may
mean several pieces of work with different activities, nothing is known. Looks at no start or stop. Bounded: anything
forgotten is unknown.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final, NamedTuple

import attrs

from clrevents._util.value_classes import define
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.shared.forest.activity_signals import FlowKey, FlowKind, Signal, SignalKind

UNKNOWN: Final = -2
"""Some activity or none: unknown."""
_DEEPEST: Final = 1000
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
class _Made:
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

    running: deque[_TaskPiece] = attrs.field(factory=lambda: deque(maxlen=_DEEPEST))
    blocked: deque[int] = attrs.field(factory=lambda: deque(maxlen=_DEEPEST))


class TaskFlows:
    """Sees each signal about work. At most `most` pieces that do not run yet are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[FlowKey, _Made] = OrderedDict()
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
        made = self._made.get(key)
        if made is None:
            self._made[key] = _Made(carried)
            if len(self._made) > self._most:
                self._made.popitem(last=False)
                self.overflowed = True
            return
        made.count += 1
        if made.carried.row != carried.row:
            made.carried = _UNKNOWN

    def _take(self, key: FlowKey) -> Carried:
        """What the work with this key belongs to, which begins to run."""
        made = self._made.get(key)
        if made is None:
            return _UNKNOWN
        made.count -= 1
        if not made.count:
            del self._made[key]
        return made.carried

    def _release(self, worker: _Worker, signal: Signal) -> None:
        """A wait that blocked ends, unless it is an await of the same task that goes on. Its end is told once more."""
        assert signal.key is not None
        worker.blocked.remove(signal.key[1])
        carried = self.inside(signal.thread_id) if signal.key not in self._made else _UNKNOWN
        worker.running.append(_TaskPiece(False, signal.key[1], carried))


def _end(worker: _Worker, task: bool, id: int) -> None:
    """The last such piece has ended, and whatever began inside it."""
    running = worker.running
    if any(piece.task == task and piece.id == id for piece in running):
        while (piece := running.pop()).task != task or piece.id != id:
            pass

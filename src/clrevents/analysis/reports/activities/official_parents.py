"""`OfficialParents`: the parents as the official implementation (TraceEvent) computes them, by its own rules.

It follows work from thread to thread, and gives an activity without a related one the parent that was last current in
its work, which is often not what caused it. Only for comparison with TraceEvent. Bounded: once more work is open than
is kept, no later parent is known.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from clrevents._util.value_classes import define
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.shared.forest.activity_signals import FlowKey, FlowKind, Signal, SignalKind

_DEEPEST: Final = 1000
"""How many pieces of work a thread may have begun inside one another."""
_NO_ID: Final = bytes(16)
_WAITS: Final = (FlowKind.WAIT, FlowKind.AWAIT)


@define(eq=False)
class _Carried:
    """Something that a thread carries on, and the activity that is current in it."""

    current: int = NONE
    flow: FlowKind = FlowKind.OTHER


class OfficialParents:
    """Sees each signal, and the row of each activity that begins.

    `parent` has an item for each row. `counts` says whether TraceEvent counts an id: whether it is a path. At most
    `most` pieces of work are kept.
    """

    def __init__(self, most: int, counts: Callable[[bytes], bool]) -> None:
        self._most = most
        self._counts = counts
        self.parent = array("q")
        self.overflowed = False
        """Whether something was forgotten, so that no later parent is known."""
        self._removed = bytearray()
        self._id: list[bytes] = []
        # A step towards the first ancestor that is not removed.
        self._up = array("q")
        self._live: dict[bytes, int] = {}
        self._threads: dict[int, deque[_Carried]] = {}
        self._cut: set[int] = set()
        self._scheduled: OrderedDict[FlowKey, _Carried] = OrderedDict()
        self._deferred: tuple[int, _Carried] | None = None

    def begin(self, signal: Signal, row: int) -> None:
        """An activity of this row begins; rows come in order. -1 for one that is not kept."""
        id = signal.activity or _NO_ID
        counted = signal.kind == SignalKind.CATCH or (signal.activity is not None and self._counts(id))
        if row == NONE:
            self.overflowed |= counted
            return
        parent = NONE
        if counted and not self.overflowed:
            self._remove()
            work = self._work(signal.thread_id)
            parent = self._live.get(signal.related, NONE) if signal.related is not None else NONE
            if parent == NONE:
                parent = self._left(work.current)
            self._live[id] = work.current = row
        self.parent.append(parent)
        self._up.append(parent)
        self._id.append(id)
        self._removed.append(False)

    def end(self, signal: Signal) -> None:
        """An activity ends. It stays current until the next begin or end, so that this event is in it."""
        id = signal.activity or _NO_ID
        if self.overflowed or not (signal.kind == SignalKind.CAUGHT or self._counts(id)):
            return
        self._remove()
        row = self._live.get(id, NONE)
        if row != NONE:
            self._deferred = row, self._work(signal.thread_id)

    def work(self, signal: Signal) -> None:
        """Work is handed over, begins or ends."""
        if self.overflowed:
            return
        thread = signal.thread_id
        if signal.kind == SignalKind.IDLE:
            self._push(thread, _Carried())
        elif signal.kind == SignalKind.DONE:
            self._pop(thread)
        elif signal.key is not None and signal.kind == SignalKind.CREATE:
            self._create(signal, signal.key)
        elif signal.key is not None:
            if signal.flow in _WAITS and self._work(thread).flow in _WAITS:
                self._pop(thread)
            begun = self._scheduled.pop(signal.key, None) or _Carried()
            if begun.flow != FlowKind.WAIT:
                self._push(thread, begun)

    def _create(self, signal: Signal, key: FlowKey) -> None:
        if signal.flow == FlowKind.SCHEDULED and key in self._scheduled:
            return
        self._scheduled.pop(key, None)
        self._scheduled[key] = _Carried(self._work(signal.thread_id).current, signal.flow)
        if len(self._scheduled) > self._most:
            self._scheduled.popitem(last=False)
            self.overflowed = True

    def _work(self, thread: int) -> _Carried:
        """What the thread carries on."""
        return self._stack(thread)[-1]

    def _stack(self, thread: int) -> deque[_Carried]:
        stack = self._threads.get(thread)
        if stack is None:
            stack = self._threads[thread] = deque((_Carried(),), _DEEPEST)
        return stack

    def _push(self, thread: int, work: _Carried) -> None:
        stack = self._stack(thread)
        if len(stack) == _DEEPEST:
            self._cut.add(thread)
        stack.append(work)

    def _pop(self, thread: int) -> None:
        stack = self._stack(thread)
        if len(stack) > 1:
            stack.pop()
        else:
            # Of a thread that goes on with what was forgotten, nothing more is known.
            self.overflowed |= thread in self._cut

    def _remove(self) -> None:
        """What ended before is over now."""
        if self._deferred is None:
            return
        row, work = self._deferred
        self._deferred = None
        self._removed[row] = True
        id, parent = self._id[row], self.parent[row]
        if self._live.get(id, NONE) == row:
            del self._live[id]
        work.current = self._left(parent)
        if parent != NONE and self._id[parent] == id and not self._removed[parent]:
            self._live[id] = parent

    def _left(self, row: int) -> int:
        """The first that is not over of an activity and its ancestors."""
        top = row
        while top != NONE and self._removed[top]:
            top = self._up[top]
        # What is over stays over, so that next time the way is short.
        while row != NONE and self._removed[row]:
            above = self._up[row]
            self._up[row] = top
            row = above
        return top

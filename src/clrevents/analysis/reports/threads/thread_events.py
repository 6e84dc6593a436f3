"""Events that prove what a thread did: waits for locks, handles and tasks, compilations in the background.

Pairs starts with ends on their thread. Anything without an end, or without a start, stays open; whether a thread can
have been in it that long is decided where its whole life is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.contention_spans import CONTENDED as CONTENDED
from clrevents.analysis.shared.events.contention_spans import ENTERED as ENTERED
from clrevents.analysis.shared.events.thread_ids import whole_of
from clrevents.analysis.shared.samples.leaf_states import ThreadState

CREATED: Final = "runtime/ThreadCreated"
TERMINATED: Final = "runtime/ThreadTerminated"
LISTED: Final = "rundown/ThreadDC"
WAITED: Final = "runtime/WaitHandleWaitStart"
SIGNALED: Final = "runtime/WaitHandleWaitStop"
TASK_BEGIN: Final = "tpl/TaskWaitBegin"
TASK_END: Final = "tpl/TaskWaitEnd"
IDLE: Final = "runtime/ThreadPoolWorkerThreadWait"
WORKER: Final = "runtime/ThreadPoolWorkerThreadStart"
RETIRED: Final = "runtime/ThreadPoolWorkerThreadStop"
COMPILING: Final = "runtime/TieredCompilationBackgroundJitStart"
COMPILED: Final = "runtime/TieredCompilationBackgroundJitStop"
FINALIZING: Final = "runtime/GCFinalizersBegin"

HEADERS: Final = ("time_ns", "thread_id", "stack_id")
KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    CREATED: (*HEADERS, "ManagedThreadID", "Flags", "ManagedThreadIndex", "OSThreadID"),
    TERMINATED: (*HEADERS, "ManagedThreadID"),
    LISTED: (*HEADERS, "Flags", "ManagedThreadIndex", "OSThreadID"),
    CONTENDED: (*HEADERS, "ContentionFlags", "LockID", "AssociatedObjectID", "LockOwnerThreadID"),
    ENTERED: (*HEADERS, "ContentionFlags", "DurationNs"),
    WAITED: (*HEADERS, "AssociatedObjectID"),
    SIGNALED: HEADERS,
    TASK_BEGIN: (*HEADERS, "TaskID", "Behavior"),
    TASK_END: (*HEADERS, "TaskID"),
    IDLE: HEADERS,
    WORKER: HEADERS,
    RETIRED: HEADERS,
    COMPILING: HEADERS,
    COMPILED: HEADERS,
    FINALIZING: HEADERS,
}
"""What is kept of each event."""

_NATIVE: Final = 1
_SYNCHRONOUS: Final = 1


@frozen
class Blocked:
    """A thread waits, or works for the runtime; `start` or `end` is None if the event is not in the trace.

    `rank` is 0 for the kind that counts where several overlap.
    """

    thread: int
    start: int | None
    end: int | None
    state: ThreadState
    event: str
    rank: int
    stack_id: int = 0
    lock_id: int | None = None
    object_address: int | None = None
    owner_thread_id: int | None = None
    task_id: int | None = None


class EventColumns:
    """Columns of one event as numbers; a field that this version of the event lacks is 0 everywhere."""

    def __init__(self, events: Gathered) -> None:
        self._events = events
        self._names = {field.name for field in events.table.fields}
        self.places = events.places

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def ints(self, name: str) -> list[int]:
        """A column; 0 where it is null."""
        if name not in self._names or not len(self):
            return [0] * len(self)
        values = self._events.numbers(name)
        if values.dtype.kind == "f":
            values = np.nan_to_num(values, posinf=0, neginf=0).clip(-(2.0**62), 2.0**62)
        found: list[int] = values.astype(values.dtype if values.dtype.kind in "iu" else np.int64).tolist()
        return found

    def known(self, name: str) -> NDArray[np.bool_]:
        """Where a column is not null."""
        if name not in self._names:
            return np.zeros(len(self), dtype=np.bool_)
        return self._events.column(name).known


def blocked(events: Mapping[str, EventColumns], task_ends: bool) -> tuple[list[Blocked], int]:
    """All waits and background work, and how many starts or ends have no counterpart in between.

    Without `task_ends` the ends of waits for tasks were not recorded, so none of them is known to last.
    """
    found: list[Blocked] = []
    lost = 0
    tasks = _tasks(events) if task_ends else ([], 0)
    for made, unmatched in (_locks(events), _handles(events), tasks, _compilations(events)):
        found += made
        lost += unmatched
    return found, lost


Pairs = list[tuple[int, int]]
_NO_ROW: Final = -1


def _pairs(begins: EventColumns, ends: EventColumns, begin_keys: list[Any], end_keys: list[Any]) -> tuple[Pairs, int]:
    """Rows of starts with rows of ends of the same key, -1 for one that is missing at the start or the end of all.

    A start followed by another start of its key, and an end that follows an end, lost their counterpart: they are
    counted.
    """
    places = np.concatenate([begins.places, ends.places])
    order = np.argsort(places, kind="stable").tolist()
    count = len(begins)
    open_rows: dict[Any, int] = {}
    heard: set[Any] = set()
    found: Pairs = []
    lost = 0
    for row in order:
        if row < count:
            key = begin_keys[row]
            lost += key in open_rows
            open_rows[key] = row
        else:
            key = end_keys[row - count]
            begin = open_rows.pop(key, _NO_ROW)
            if begin != _NO_ROW or key not in heard:
                found.append((begin, row - count))
            else:
                lost += 1
        heard.add(key)
    found += [(row, _NO_ROW) for row in open_rows.values()]
    return found, lost


def _locks(events: Mapping[str, EventColumns]) -> tuple[list[Blocked], int]:
    begins, ends = events[CONTENDED], events[ENTERED]
    begin_thread, end_thread = begins.ints("thread_id"), ends.ints("thread_id")
    begin_flag, end_flag = begins.ints("ContentionFlags"), ends.ints("ContentionFlags")
    begin_time, end_time = begins.ints("time_ns"), ends.ints("time_ns")
    stack, lock, thing, owner = (
        begins.ints(name) for name in ("stack_id", "LockID", "AssociatedObjectID", "LockOwnerThreadID")
    )
    took = ends.ints("DurationNs")
    owner = whole_of(owner, {*begin_thread, *end_thread})
    pairs, lost = _pairs(
        begins,
        ends,
        list(zip(begin_thread, begin_flag, strict=True)),
        list(zip(end_thread, end_flag, strict=True)),
    )
    found = []
    for begin, end in pairs:
        flag = begin_flag[begin] if begin >= 0 else end_flag[end]
        if flag == _NATIVE:
            continue
        if begin >= 0:
            found.append(
                Blocked(
                    begin_thread[begin],
                    begin_time[begin],
                    end_time[end] if end >= 0 else None,
                    "lock",
                    "ContentionStart",
                    0,
                    stack[begin],
                    lock[begin] or None,
                    thing[begin] or None,
                    owner[begin] or None,
                )
            )
        else:
            start = end_time[end] - took[end] if took[end] > 0 else None
            found.append(Blocked(end_thread[end], start, end_time[end], "lock", "ContentionStop", 0))
    return found, lost


def _handles(events: Mapping[str, EventColumns]) -> tuple[list[Blocked], int]:
    begins, ends = events[WAITED], events[SIGNALED]
    begin_thread, end_thread = begins.ints("thread_id"), ends.ints("thread_id")
    begin_time, end_time = begins.ints("time_ns"), ends.ints("time_ns")
    stack, thing = begins.ints("stack_id"), begins.ints("AssociatedObjectID")
    pairs, lost = _pairs(begins, ends, begin_thread, end_thread)
    found = []
    for begin, end in pairs:
        finish = end_time[end] if end >= 0 else None
        if begin >= 0:
            waiter, start, address = begin_thread[begin], begin_time[begin], thing[begin] or None
            found.append(
                Blocked(waiter, start, finish, "wait", "WaitHandleWaitStart", 1, stack[begin], object_address=address)
            )
        else:
            found.append(Blocked(end_thread[end], None, finish, "wait", "WaitHandleWaitStop", 1))
    return found, lost


def _tasks(events: Mapping[str, EventColumns]) -> tuple[list[Blocked], int]:
    """Waits that block a thread; an await (the other behavior) blocks none."""
    begins, ends = events[TASK_BEGIN], events[TASK_END]
    begin_thread, end_thread = begins.ints("thread_id"), ends.ints("thread_id")
    begin_task, end_task = begins.ints("TaskID"), ends.ints("TaskID")
    begin_time, end_time = begins.ints("time_ns"), ends.ints("time_ns")
    behavior, stack = begins.ints("Behavior"), begins.ints("stack_id")
    pairs, _ = _pairs(
        begins,
        ends,
        list(zip(begin_thread, begin_task, strict=True)),
        list(zip(end_thread, end_task, strict=True)),
    )
    found = []
    for begin, end in pairs:
        # An end without a begin may be that of an await, which another thread ends.
        if begin >= 0 and behavior[begin] == _SYNCHRONOUS:
            finish = end_time[end] if end >= 0 else None
            thread, start, task = begin_thread[begin], begin_time[begin], begin_task[begin]
            found.append(Blocked(thread, start, finish, "task_wait", "TaskWaitBegin", 2, stack[begin], task_id=task))
    return found, 0


def _compilations(events: Mapping[str, EventColumns]) -> tuple[list[Blocked], int]:
    begins, ends = events[COMPILING], events[COMPILED]
    begin_thread, begin_time, end_time = begins.ints("thread_id"), begins.ints("time_ns"), ends.ints("time_ns")
    pairs, _ = _pairs(begins, ends, begin_thread, ends.ints("thread_id"))
    return [
        Blocked(begin_thread[b], begin_time[b], end_time[e], "native", "TieredCompilationBackgroundJitStart", 3)
        for b, e in pairs
        if b >= 0 and e >= 0
    ], 0


@frozen
class Creation:
    """A thread begins: its id, the runtime's number and pointer for it, and its flags."""

    time: int
    thread: int
    managed_id: int
    managed_index: int
    flags: int


def creations(events: Mapping[str, EventColumns], headers: Iterable[int]) -> list[Creation]:
    """The threads that began, in order of time; `headers` are the ids that headers of other events have."""
    rows = events[CREATED]
    found = []
    for time, by, system, managed, index, flags in zip(
        rows.ints("time_ns"),
        rows.ints("thread_id"),
        whole_of(rows.ints("OSThreadID"), [*headers, *rows.ints("thread_id")]),
        rows.ints("ManagedThreadID"),
        rows.ints("ManagedThreadIndex"),
        rows.ints("Flags"),
        strict=True,
    ):
        found.append(Creation(time, system or by, managed, index, flags))
    return sorted(found, key=lambda one: one.time)


def terminations(events: Mapping[str, EventColumns]) -> dict[int, list[int]]:
    """When threads ended, by the runtime's pointer."""
    rows = events[TERMINATED]
    found: dict[int, list[int]] = {}
    for time, managed in zip(rows.ints("time_ns"), rows.ints("ManagedThreadID"), strict=True):
        found.setdefault(managed, []).append(time)
    return found

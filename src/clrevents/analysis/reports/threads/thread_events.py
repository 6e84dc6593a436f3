"""Events that prove what a thread did: waits for locks, handles and tasks, compilations in the background.

Pairs starts with ends on their thread. Anything without an end, or without a start, stays open; whether a thread can
have been in it that long is decided where its whole life is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.contention_spans import CONTENDED as CONTENDED
from clrevents.analysis.shared.events.contention_spans import ENTERED as ENTERED
from clrevents.analysis.shared.events.contention_spans import OWNER_COLUMNS, LockOwners, whole_of
from clrevents.analysis.shared.events.wait_events import field_numbers
from clrevents.analysis.shared.samples.leaf_states import ThreadState
from clrevents.trace import TraceInfo

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
    **{name: (*HEADERS, *columns) for name, columns in OWNER_COLUMNS.items()},
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

    @property
    def moment(self) -> int:
        """A moment of it that the trace has."""
        return next((moment for moment in (self.start, self.end) if moment is not None), 0)


def ints(events: Gathered, name: str) -> list[int]:
    """A column of numbers; 0 where it is null, or where no version of the event has it."""
    found: list[int] = field_numbers(events, name).tolist()
    return found


def blocked(events: Mapping[str, Gathered], task_ends: bool, info: TraceInfo) -> tuple[list[Blocked], int]:
    """All waits and background work, and how many starts or ends have no counterpart in between.

    Without `task_ends` the ends of waits for tasks were not recorded, so none of them is known to last.
    """
    found: list[Blocked] = []
    lost = 0
    tasks = _tasks(events) if task_ends else ([], 0)
    for made, unmatched in (_locks(events, info), _handles(events), tasks, _compilations(events)):
        found += made
        lost += unmatched
    return found, lost


Pairs = list[tuple[int, int]]
_NO_ROW: Final = -1


def _pairs(begins: Gathered, ends: Gathered, begin_keys: list[Any], end_keys: list[Any]) -> tuple[Pairs, int]:
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


def _locks(events: Mapping[str, Gathered], info: TraceInfo) -> tuple[list[Blocked], int]:
    begins, ends = events[CONTENDED], events[ENTERED]
    begin_thread, end_thread = ints(begins, "thread_id"), ints(ends, "thread_id")
    begin_flag, end_flag = ints(begins, "ContentionFlags"), ints(ends, "ContentionFlags")
    begin_time, end_time = ints(begins, "time_ns"), ints(ends, "time_ns")
    stack, lock, thing, owner = (
        ints(begins, name) for name in ("stack_id", "LockID", "AssociatedObjectID", "LockOwnerThreadID")
    )
    took = ints(ends, "DurationNs")
    waiters = np.array([*begin_thread, *end_thread], dtype=np.uint64)
    times = np.array(begin_time, dtype=np.int64)
    owners = LockOwners.of(events, info).threads(np.array(owner, dtype=np.uint64), times, waiters)
    owner = whole_of(owners.tolist(), waiters.tolist())
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
            # A damaged duration is no time.
            start = end_time[end] - int(took[end]) if 0 < took[end] < 1 << 62 else None
            found.append(Blocked(end_thread[end], start, end_time[end], "lock", "ContentionStop", 0))
    return found, lost


def _handles(events: Mapping[str, Gathered]) -> tuple[list[Blocked], int]:
    begins, ends = events[WAITED], events[SIGNALED]
    begin_thread, end_thread = ints(begins, "thread_id"), ints(ends, "thread_id")
    begin_time, end_time = ints(begins, "time_ns"), ints(ends, "time_ns")
    stack, thing = ints(begins, "stack_id"), ints(begins, "AssociatedObjectID")
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


def _tasks(events: Mapping[str, Gathered]) -> tuple[list[Blocked], int]:
    """Waits that block a thread; an await (the other behavior) blocks none."""
    begins, ends = events[TASK_BEGIN], events[TASK_END]
    begin_thread, end_thread = ints(begins, "thread_id"), ints(ends, "thread_id")
    begin_task, end_task = ints(begins, "TaskID"), ints(ends, "TaskID")
    begin_time, end_time = ints(begins, "time_ns"), ints(ends, "time_ns")
    behavior, stack = ints(begins, "Behavior"), ints(begins, "stack_id")
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


def _compilations(events: Mapping[str, Gathered]) -> tuple[list[Blocked], int]:
    begins, ends = events[COMPILING], events[COMPILED]
    begin_thread, begin_time, end_time = ints(begins, "thread_id"), ints(begins, "time_ns"), ints(ends, "time_ns")
    pairs, _ = _pairs(begins, ends, begin_thread, ints(ends, "thread_id"))
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


def creations(events: Mapping[str, Gathered], headers: Iterable[int]) -> list[Creation]:
    """The threads that began, in order of time; `headers` are the ids that headers of other events have."""
    rows = events[CREATED]
    found = []
    for time, by, system, managed, index, flags in zip(
        ints(rows, "time_ns"),
        ints(rows, "thread_id"),
        whole_of(ints(rows, "OSThreadID"), [*headers, *ints(rows, "thread_id")]),
        ints(rows, "ManagedThreadID"),
        ints(rows, "ManagedThreadIndex"),
        ints(rows, "Flags"),
        strict=True,
    ):
        found.append(Creation(time, system or by, managed, index, flags))
    return sorted(found, key=lambda one: one.time)


def terminations(events: Mapping[str, Gathered]) -> dict[int, list[int]]:
    """When threads ended, by the runtime's pointer."""
    rows = events[TERMINATED]
    found: dict[int, list[int]] = {}
    for time, managed in zip(ints(rows, "time_ns"), ints(rows, "ManagedThreadID"), strict=True):
        found.setdefault(managed, []).append(time)
    return found

"""The task events of one process, as columns in order of time, for everything that asks who started what.

Knows which event is a start and which an end, and which waits block; follows nothing.

The runtime names tasks by their ids (TraceOperationBegin). An id with several names was reused, and then it is unknown
which one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.groups import Gathered, Ints, pair
from clrevents.analysis.gathering.merged_stacks import ASYNC
from clrevents.analysis.shared.events.async_awaits import AWAIT_COLUMNS, AsyncAwaits, Thrown, async_awaits
from clrevents.analysis.shared.events.event_spans import (
    CONTINUATION_ID,
    TASK_BEGIN,
    TASK_END,
    WaitSpans,
    blocking,
    field_numbers,
    task_wait_spans,
)

OPERATION_BEGIN: Final = "tpl/TraceOperationBegin"
OPERATION_COLUMNS: Final = ("TaskID", "OperationName")

_ASYNC_METHOD: Final = re.compile(r"Async: (?:.*[.+])?<([^<>]+)>d(?:__\d+)?(?:`\d+)?")
"""How a name says that a task is that of an async method: by the type of its state machine."""


def task_names(begins: Gathered, raw: bool) -> Mapping[int, str]:
    """The name of each task that has one. Unless `raw`, async methods are called as in the program: `async Work`."""
    names: dict[int, str | None] = {}
    ids = field_numbers(begins, "TaskID").tolist()
    for id, name in zip(ids, begins.cells("OperationName"), strict=True):
        if name and names.setdefault(id, name) != name:
            names[id] = None
    return {id: name if raw else _readable(name) for id, name in names.items() if name is not None}


def _readable(name: str) -> str:
    method = _ASYNC_METHOD.fullmatch(name)
    return name if method is None else f"{ASYNC}{method[1]}"


SCHEDULED, STARTED, COMPLETED, AWAITED, BLOCKED, RESUMED, RELEASED, QUEUED, RUN, RUN_ENDED, IDLE = range(11)
"""What an event records: of a task, that it was scheduled, started, completed; of an await, that it began and that it
resumed; of a wait that blocks, that it began and ended; of a continuation, that it was queued and began to run, or that
it, or what an await resumed, ended; and of a thread, that it has nothing to do."""
CHAIN_SUSPENDED, CHAIN_CONTINUED, CHAIN_RETURNED = range(11, 14)
"""Of an await that the async profiler recorded, that it began, that it resumed, and that what it resumed ended or
awaits again; `id` is its number."""
UNTOLD: Final = -1
"""The origin of what does not record which task was current."""
_OF_AWAITS: Final = (AWAITED, RESUMED, QUEUED, RUN, RUN_ENDED)

_ORIGIN: Final = "OriginatingTaskID"
_EVENTS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "tpl/TaskScheduled": (SCHEDULED, ("TaskID", _ORIGIN)),
    "tpl/TaskStarted": (STARTED, ("TaskID",)),
    "tpl/TaskCompleted": (COMPLETED, ("TaskID", "IsExceptional")),
    TASK_BEGIN: (AWAITED, ("TaskID", "Behavior", "ContinueWithTaskID", _ORIGIN)),
    TASK_END: (RESUMED, ("TaskID",)),
    "tpl/AwaitTaskContinuationScheduled": (QUEUED, (*CONTINUATION_ID, _ORIGIN)),
    "tpl/TaskWaitContinuationStarted": (RUN, ("TaskID",)),
    "tpl/TaskWaitContinuationComplete": (RUN_ENDED, ("TaskID",)),
    "runtime/ThreadPoolWorkerThreadWait": (IDLE, ()),
}
"""What each event records, and the fields that say of what."""
TASK_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: ("time_ns", "thread_id", "stack_id", *fields) for name, (_, fields) in _EVENTS.items()},
    OPERATION_BEGIN: OPERATION_COLUMNS,
    **AWAIT_COLUMNS,
}
"""What is needed of each event, by selector."""


@frozen(eq=False)
class TaskEvents:
    """One row for each event, in order of time. `id` is that of the task or continuation, 0 where there is none.

    `next` is, of an await, the task of the method that awaits; `origin` the task that was current on the thread.
    `failed` is 1 of a task that ended with an exception. `runs` says which queued continuations an event shows running.
    `blocking` are the waits that block, and `blocked` their rows here. `awaits` are those that the async profiler
    recorded: where it did, those of the events of tasks are left out, which describe some of the same; `begins_told`
    whether it recorded when they began.
    """

    code: Ints
    time: Ints
    thread: NDArray[np.uint64]
    stack: Ints
    id: Ints
    next: Ints
    origin: Ints
    failed: Ints
    runs: NDArray[np.bool_]
    blocking: WaitSpans
    blocked: Ints
    awaits: AsyncAwaits | None = None
    begins_told: bool = True

    def __len__(self) -> int:
        return len(self.code)

    @classmethod
    def of(cls, events: Mapping[str, Gathered], context: Context, thrown: Thrown | None = None) -> TaskEvents:
        """From all events, by the selectors of `TASK_COLUMNS`, and exceptions."""
        sides = [(code, events[name]) for name, (code, _) in _EVENTS.items()]
        places = np.concatenate([side.places for _, side in sides])
        order = np.argsort(places, kind="stable")
        places = places[order]

        def joined(*names: str) -> Ints:
            parts = [sum(field_numbers(side, name).astype(np.int64) for name in names) for _, side in sides]
            values: Ints = np.concatenate(parts)[order]
            return values

        waits = task_wait_spans(events[TASK_BEGIN], events[TASK_END], context)
        code = np.concatenate([np.full(len(side), code, dtype=np.int64) for code, side in sides])[order]
        id = joined("TaskID", *CONTINUATION_ID)
        runs = np.zeros(len(code), dtype=np.bool_)
        rows = np.flatnonzero((code == QUEUED) | (code == RUN))
        begins, _ = pair(np.unique(id[rows], return_inverse=True)[1], code[rows] == QUEUED)
        runs[rows[begins]] = True
        blocked = np.searchsorted(places, blocking(events[TASK_BEGIN]).places)
        code[blocked] = BLOCKED
        code[np.searchsorted(places, events[TASK_END].places[waits.end[waits.ended]])] = RELEASED
        thread = np.concatenate([field_numbers(side, "thread_id").astype(np.uint64) for _, side in sides])[order]
        task_events = cls(
            code,
            joined("time_ns"),
            thread,
            joined("stack_id"),
            id,
            joined("ContinueWithTaskID"),
            joined(_ORIGIN),
            joined("IsExceptional"),
            runs,
            waits,
            blocked[waits.begin],
        )
        awaits = async_awaits(events, thrown)
        if np.isin(code, _OF_AWAITS).any() and (awaits is None or not awaits.begun):
            return task_events
        if awaits is None:
            # What an earlier session left says nothing about this recording.
            return attrs.evolve(task_events, begins_told=not any(len(events[name]) for name in AWAIT_COLUMNS))
        return task_events._with(awaits)

    def _with(self, awaits: AsyncAwaits) -> TaskEvents:
        """Together with awaits that the async profiler recorded, instead of those that are here."""
        kept = np.flatnonzero(~np.isin(self.code, _OF_AWAITS))
        order = np.argsort(np.concatenate((self.time[kept], awaits.time)), kind="stable")
        place = np.zeros(len(self), dtype=np.int64)
        place[kept] = np.argsort(order)[: len(kept)]
        other = {
            "code": np.array([CHAIN_SUSPENDED, CHAIN_CONTINUED, CHAIN_RETURNED])[awaits.what],
            "time": awaits.time,
            "thread": awaits.thread,
            "id": awaits.number,
            "origin": np.full(len(awaits.what), UNTOLD),
        }
        columns: dict[str, Any] = {}
        for name in (*other, "stack", "next", "failed", "runs"):
            values = getattr(self, name)[kept]
            others = other.get(name, np.zeros(len(awaits.what), dtype=values.dtype))
            columns[name] = np.concatenate((values, others))[order]
        return attrs.evolve(self, **columns, blocked=place[self.blocked], awaits=awaits, begins_told=awaits.begun)

"""Events that prove what a thread did: waits for locks, handles and tasks, background compilations, and stops of all.

Pairs starts with ends on their thread. Anything without an end, or without a start, stays open; whether a thread can
have been in it that long is decided where its whole life is known. A stop lasts to the next restart on its thread, so
one that is for no collection may include a wait for another suspension to end; one without an end is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Evidence
from clrevents.analysis.gathering.groups import Array, Gathered, groups, nulled, picked
from clrevents.analysis.shared.events.event_spans import CONTENDED as CONTENDED
from clrevents.analysis.shared.events.event_spans import ENTERED as ENTERED
from clrevents.analysis.shared.events.event_spans import (
    OWNER_COLUMNS,
    SYNCHRONOUS,
    TASK_BEGIN,
    TASK_END,
    LockOwners,
    WaitSpans,
    field_numbers,
    wait_spans,
    whole_of,
)
from clrevents.analysis.shared.events.gc_suspensions import COLLECTION, END, SAMPLER, steps_of, whole_stops
from clrevents.analysis.shared.samples.leaf_states import ThreadState
from clrevents.trace import TraceInfo

CREATED: Final = "runtime/ThreadCreated"
TERMINATED: Final = "runtime/ThreadTerminated"
LISTED: Final = "rundown/ThreadDC"
WAITED: Final = "runtime/WaitHandleWaitStart"
SIGNALED: Final = "runtime/WaitHandleWaitStop"
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


@frozen
class Doing:
    """What a thread does in a piece of its life; `alike` tells pieces apart that are otherwise the same."""

    state: ThreadState
    evidence: Evidence
    reason: str | None = None
    stack_id: int = 0
    lock_id: int | None = None
    object_address: int | None = None
    owner_thread_id: int | None = None
    task_id: int | None = None
    system_call: str | None = None
    alike: int = -1
    open: bool = False
    """Whether it is a wait that went on when tracing stopped."""


@frozen
class Blocked:
    """A thread waits, or works for the runtime; `start` or `end` is None if the event is not in the trace.

    `rank` is 0 for the kind that counts where several overlap.
    """

    thread: int
    start: int | None
    end: int | None
    rank: int
    doing: Doing
    """What it does then, with the event as its reason."""

    @property
    def moment(self) -> int:
        """A moment of it that the trace has."""
        return next((moment for moment in (self.start, self.end) if moment is not None), 0)


def ints(events: Gathered, name: str) -> list[int]:
    """A column of numbers; 0 where it is null, or where no version of the event has it."""
    numbers: list[int] = field_numbers(events, name).tolist()
    return numbers


def blocked(events: Mapping[str, Gathered], task_ends: bool, info: TraceInfo) -> tuple[list[Blocked], int]:
    """All waits and background work, and how many starts or ends have no counterpart in between.

    Without `task_ends` the ends of waits for tasks were not recorded, so none of them is known to last.
    """
    locks, lost_locks = _spans(events, CONTENDED, ENTERED, "ContentionFlags")
    waits = _locks(locks.only(locks.either("ContentionFlags") != _NATIVE), events, info)
    handles, lost_handles = _spans(events, WAITED, SIGNALED)
    names = "WaitHandleWaitStart", "WaitHandleWaitStop"
    waits += _waits(handles, "wait", names, 1, object_address=handles.at_begin("AssociatedObjectID"))
    if task_ends:
        tasks, _ = _spans(events, TASK_BEGIN, TASK_END, "TaskID")
        # An await blocks no thread; an end without a begin may be that of one, which another thread ends.
        tasks = tasks.only(tasks.begun & (tasks.at_begin("Behavior") == SYNCHRONOUS))
        waits += _waits(tasks, "task_wait", ("TaskWaitBegin",) * 2, 2, task_id=tasks.at_begin("TaskID"))
    work, _ = _spans(events, COMPILING, COMPILED)
    compiled = _waits(work.only(work.begun & work.ended), "native", ("TieredCompilationBackgroundJitStart",) * 2, 3)
    compiled = [attrs.evolve(one, doing=attrs.evolve(one.doing, stack_id=0)) for one in compiled]
    return [*waits, *compiled], lost_locks + lost_handles


def _spans(events: Mapping[str, Gathered], begin: str, end: str, *more: str) -> tuple[WaitSpans, int]:
    """Each start with the next end of its thread, and of the same `more`; and how many are left out.

    A start followed by another start of its key, and an end that follows an end, lost their counterpart.
    """
    keys = ("thread_id", *more)
    spans = wait_spans(events[begin], events[end], keys)
    _, first = np.unique([spans.either(key).astype(np.uint64) for key in keys], axis=1, return_index=True)
    kept = np.where(spans.begun, spans.ended | spans.last, np.isin(np.arange(len(spans)), first))
    return spans.only(kept), len(spans) - int(kept.sum())


def _waits(spans: WaitSpans, state: ThreadState, names: tuple[str, str], rank: int, **more: Array) -> list[Blocked]:
    """What each span says, by the name of its start or, without that, of its end; 0 in `more` is nothing."""
    columns = (
        spans.thread.tolist(),
        nulled(spans.start_ns, spans.begun),
        nulled(spans.end_ns, spans.ended),
        spans.at_begin("stack_id").tolist(),
    )
    fields: list[dict[str, Any]] = [
        {name: values[row].item() or None for name, values in more.items()} for row in range(len(spans))
    ]
    return [
        Blocked(thread, start, end, rank, Doing(state, "event", names[start is None], stack, **details))
        for thread, start, end, stack, details in zip(*columns, fields, strict=True)
    ]


def _locks(spans: WaitSpans, events: Mapping[str, Gathered], info: TraceInfo) -> list[Blocked]:
    begins = events[CONTENDED]
    waiters = np.concatenate(
        [field_numbers(events[name], "thread_id").astype(np.uint64) for name in (CONTENDED, ENTERED)]
    )
    owners = LockOwners.of(events, info).threads(
        field_numbers(begins, "LockOwnerThreadID").astype(np.uint64), field_numbers(begins, "time_ns"), waiters
    )
    whole = np.array(whole_of(owners.tolist(), waiters.tolist()), dtype=np.uint64)
    waits = _waits(
        spans,
        "lock",
        ("ContentionStart", "ContentionStop"),
        0,
        lock_id=spans.at_begin("LockID"),
        object_address=spans.at_begin("AssociatedObjectID"),
        owner_thread_id=picked(whole, spans.begin),
    )
    # Of a wait without a start the end says how long it was; a damaged duration is no time.
    return [
        attrs.evolve(one, start=one.end - int(took))
        if one.start is None and one.end is not None and 0 < took < 1 << 62
        else one
        for one, took in zip(waits, spans.at_end("DurationNs").tolist(), strict=True)
    ]


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
    threads = []
    for time, by, system, managed, index, flags in zip(
        ints(rows, "time_ns"),
        ints(rows, "thread_id"),
        whole_of(ints(rows, "OSThreadID"), [*headers, *ints(rows, "thread_id")]),
        ints(rows, "ManagedThreadID"),
        ints(rows, "ManagedThreadIndex"),
        ints(rows, "Flags"),
        strict=True,
    ):
        threads.append(Creation(time, system or by, managed, index, flags))
    return sorted(threads, key=lambda one: one.time)


_BEFORE = -1
"""The place of a step that was in an earlier chunk."""


class StopMaker:
    """Takes the two events of a process in order of time."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        """From when to when threads were stopped for a collection."""
        self.collecting: set[int] = set()
        """The threads that stopped the others for a collection."""
        self.sampling: set[int] = set()
        """The same for samples."""
        self.lengths = Counter[int]()
        """For how long each of these did, in stops that have an end; of those that have any."""
        self.moments: dict[int, tuple[int, int]] = {}
        """The first and the last moment of each thread that stopped the others."""
        self._steps = steps_of(None, None)
        """The stops that may still end."""

    def take(self, begins: Gathered | None, ends: Gathered | None) -> None:
        """The next events."""
        steps = steps_of(begins, ends, self._steps)
        thread, time, kind, place = steps
        whole = whole_stops(steps)
        start, end = time[whole], time[whole + 1]
        lasting = (kind[whole] == COLLECTION) & (end > start)
        self.spans += zip(start[lasting].tolist(), end[lasting].tolist(), strict=True)
        for by, rows in groups(thread[whole], np.flatnonzero(kind[whole] == SAMPLER)):
            self.lengths[by] += int((end - start)[rows].sum())
        self.collecting.update(thread[kind == COLLECTION].tolist())
        self.sampling.update(thread[kind == SAMPLER].tolist())
        for by, rows in groups(thread, np.flatnonzero((kind != END) & (place != _BEFORE))):
            first, last = int(time[rows[0]]), int(time[rows[-1]])
            self.moments[by] = min(first, self.moments.get(by, (first, last))[0]), last
        self._steps = steps[:, (kind != END) & np.append(thread[1:] != thread[:-1], True)[: len(kind)]]
        self._steps[3] = _BEFORE

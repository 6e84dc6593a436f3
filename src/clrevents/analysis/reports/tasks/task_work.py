"""Events of tasks → pieces of work, and which of them was running when each was made: a pass in order of time.

A creator is what its thread was running at that moment. If lost or unrecorded events leave that open, the creator is
unknown: it is never guessed from ids alone, because an await has the id of what it awaits. For the same reason
`OpenAwaits` decides which of several awaits of one task resumes. The runtime names tasks by their ids
(TraceOperationBegin); an id with several names was reused, and then it is unknown which one is meant.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.needs import Hole
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import NONE, Gathered, Ints, pair
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


TASK, CONTINUATION, AWAIT = range(3)
"""The kinds of work."""
NOBODY: Final = -1
"""The creator of whatever code outside all tasks made."""
UNKNOWN: Final = -2


class WorkPieces:
    """Columns of `TaskWork` while they grow."""

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.id: list[int] = []
        self.created: list[int] = []
        self.started: list[int] = []
        self.ended: list[int] = []
        self.parent: list[int] = []

    def make(self, kind: int, id: int, created: int, parent: int) -> int:
        """One more; its number."""
        self.kind.append(kind)
        self.id.append(id)
        self.created.append(created)
        self.started.append(NONE)
        self.ended.append(NONE)
        self.parent.append(parent)
        return len(self.kind) - 1


class OpenAwaits:
    """Awaits that have not resumed, and resumptions that could be any of several awaits of one task.

    The awaiting method is known by its task: a resumption belongs to it if it then awaits something else itself, or
    completes that task.

    `surplus` are the tasks of which more resumes than awaits; `missing` says whether events may be missing between a
    row and now, so that another await may be, too.
    """

    def __init__(self, pieces: WorkPieces, surplus: frozenset[int], missing: Callable[[int], bool]) -> None:
        self._pieces = pieces
        self._surplus = surplus
        self._missing = missing
        self.open: dict[int, dict[int, int]] = {}
        """By the awaited task, and the task of the method that awaits."""
        self.shared: dict[int, dict[int, None]] = {}
        """What resumed, by the awaited task."""
        self.same: dict[int, int] = {}
        """What turned out to be the resumption of an await."""
        self.queued: dict[int, int] = {}
        """Where the continuation of an await was queued."""
        self._unqueued: dict[int, dict[int, None]] = {}
        """Those of the open ones that may yet be queued, by the awaited task."""

    def begin(self, task: int, method: int, piece: int) -> None:
        """A method awaits a task."""
        self.open.setdefault(task, {})[method or -piece - 1] = piece
        self._unqueued.setdefault(task, {})[piece] = None

    def queue(self, task: int, row: int) -> int | None:
        """A continuation of the task is queued: the await that it belongs to, None if it may be one of several."""
        waiting = self._unqueued.pop(task, {})
        if len(waiting) != 1:
            return None
        if self._missing(0):
            # An await that began before this one may be missing, whose continuation it is.
            return None
        (piece,) = waiting
        self.queued[piece] = row
        return piece

    def resume(self, task: int) -> int:
        """What resumes when the task is done: an await, or a piece of its own where several may be meant."""
        waiting = self.open.get(task)
        if waiting and len(waiting) == 1 and task not in self._surplus and not self.shared.get(task):
            (method,) = waiting
            if not self._missing(self._pieces.created[waiting[method]]):
                piece = waiting.pop(method)
                self._unqueued.get(task, {}).pop(piece, None)
                return piece
        piece = self._pieces.make(AWAIT, task, NONE, UNKNOWN)
        if waiting:
            self.shared.setdefault(task, {})[piece] = None
        return piece

    def identify(self, piece: int, method: int) -> None:
        """This piece is now known to be of the method with this task, if that awaited what it resumed from."""
        task = self._pieces.id[piece]
        waiting, shared = self.open.get(task), self.shared.get(task)
        if not waiting or not shared or piece not in shared or method not in waiting:
            return
        self._join(piece, method, waiting, shared)
        if len(waiting) == len(shared) == 1 and task not in self._surplus:
            (method,), (piece,) = waiting, shared
            if not self._missing(self._pieces.created[waiting[method]]):
                self._join(piece, method, waiting, shared)

    def _join(self, piece: int, method: int, waiting: dict[int, int], shared: dict[int, None]) -> None:
        pieces = self._pieces
        if pieces.created[waiting[method]] < pieces.started[piece]:
            piece_of_method = self.same[piece] = waiting.pop(method)
            self._unqueued.get(pieces.id[piece], {}).pop(piece_of_method, None)
            del shared[piece]


@frozen(eq=False)
class TaskWork:
    """Pieces of work in the order in which they are first heard of.

    `created`, `queued`, `started` and `ended` are rows of the events, -1 where the trace does not have one. `parent` is
    another piece, or NOBODY, or UNKNOWN. `shared` says that several awaits of one task resumed, and not which this is.
    `blocked_in` is the same as `parent`, of the waits that block.
    """

    kind: Ints
    id: Ints
    created: Ints
    queued: Ints
    started: Ints
    ended: Ints
    parent: Ints
    shared: NDArray[np.bool_]
    blocked_in: Ints
    unmatched: int
    """How many ends have no start in the trace."""
    unclear: int
    """How many continuations were queued for an unknown await."""
    by_thread: bool
    """Whether it was recorded what each thread runs, so creators are known outside tasks, too."""

    def __len__(self) -> int:
        return len(self.kind)


def task_work(events: TaskEvents, holes: Iterable[Hole]) -> TaskWork:
    """Follow the events. `holes` are where some are missing."""
    return _Follower(events, holes).work()


class _Thread:
    """What one thread runs, innermost last; None stands for work that lost events may have begun or ended."""

    __slots__ = ("bare", "losses", "released", "running", "tasks", "there")

    def __init__(self) -> None:
        self.running: list[int | None] = []
        self.there = Counter[tuple[bool, int]]()
        """How often each id is in `running`, those of tasks apart."""
        self.tasks: list[int] = []
        """The ids of tasks in `running`."""
        self.bare: list[int] = []
        """What was created while it seemed to run nothing, until that is certain."""
        self.released = 0
        """The task whose wait has just ended."""
        self.losses = 0
        """How many of the losses of unknown threads it has heard of."""

    @property
    def current(self) -> int:
        """The id of the innermost task, 0 for none."""
        return self.tasks[-1] if self.tasks else 0

    def lose(self) -> None:
        """From here on it is unknown what it runs, except for what it ran before and still ends."""
        if not self.running or self.running[-1] is not None:
            self.running.append(None)

    def idle(self) -> None:
        """It certainly runs nothing."""
        self.running.clear()
        self.there.clear()
        self.tasks.clear()
        self.bare.clear()


class _Follower:
    """The state of all threads at one moment."""

    def __init__(self, events: TaskEvents, holes: Iterable[Hole]) -> None:
        self._events = events
        code = events.code
        begun = np.isin(code, (RESUMED, RUN)).any(), (code == CHAIN_CONTINUED).any()
        ended = (code == RUN_ENDED).any(), (code == CHAIN_RETURNED).any()
        self._by_thread = bool((begun[0] and ended[0]) or (begun[1] and ended[1]))
        self._holes = sorted(holes, key=lambda hole: hole.end_ns)
        self._blind = min((hole.start_ns for hole in self._holes if hole.end_ns == FOREVER), default=FOREVER)
        self._begins = sorted(hole.start_ns for hole in self._holes)
        self._past = 0
        """How many of the holes have ended."""
        self._now = 0
        self._losses = 0
        self._threads: dict[int, _Thread] = {}
        self._pieces = WorkPieces()
        self._awaited, resumed = (Counter[int](events.id[code == wanted].tolist()) for wanted in (AWAITED, RESUMED))
        surplus = frozenset(id for id, count in resumed.items() if 0 < self._awaited[id] < count)
        self._awaits = OpenAwaits(self._pieces, surplus, self._missing)
        self._tasks: dict[int, int] = {}
        self._continuations: dict[int, int] = {}
        self._suspended: dict[int, int] = {}
        """Those that were scheduled and did not start, by id, and awaits of the async profiler, by number."""
        self._running: dict[int, int] = {}
        """Tasks that run now, by id."""
        self._inlined: set[int] = set()
        """Awaits that resumed inside the task that they awaited."""
        self._doubtful: set[int] = set()
        """Awaits whose continuation may be another one, of the task itself, unless they resume."""
        self._blocked_in: dict[int, int] = {}
        self._unmatched = self._unclear = 0

    def work(self) -> TaskWork:
        """Go through all events."""
        events, holes = self._events, self._holes
        columns = (events.code, events.time, events.thread, events.id, events.next, events.origin)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, (code, time, number, id, method, origin) in enumerate(rows):
            self._now = time
            while self._past < len(holes) and holes[self._past].end_ns <= time:
                self._lose(holes[self._past])
                self._past += 1
            thread = self._thread(number)
            released, thread.released = thread.released, 0
            if code == RUN_ENDED:
                # The end of a wait that blocks is told twice.
                if released != id:
                    self._end(thread, id, row)
            elif code == RESUMED:
                self._identify(thread, id)
                piece = self._awaits.resume(id)
                if thread.current == id:
                    self._inlined.add(piece)
                self._begin(thread, piece, row)
            elif code == AWAITED:
                self._identify(thread, method)
                self._awaits.begin(id, method, self._new_piece(thread, AWAIT, row, self._creator(thread, origin, time)))
            elif code == CHAIN_SUSPENDED:
                self._suspended[id] = self._new_piece(thread, AWAIT, row, self._creator(thread, origin, time))
            elif code == CHAIN_CONTINUED:
                self._begin(thread, self._known(self._suspended, AWAIT, id), row)
            elif code == CHAIN_RETURNED:
                self._end(thread, id, row)
            elif code == QUEUED:
                if self._is_continuation(thread, row):
                    creator = self._creator(thread, origin, time)
                    self._continuations[id] = self._new_piece(thread, CONTINUATION, row, creator)
            elif code == RUN:
                self._begin(thread, self._known(self._continuations, CONTINUATION, id), row)
            elif code == SCHEDULED:
                self._tasks[id] = self._new_piece(thread, TASK, row, self._creator(thread, origin, time))
            elif code == STARTED:
                piece = self._running[id] = self._known(self._tasks, TASK, id)
                self._begin(thread, piece, row)
            elif code == COMPLETED:
                self._end(thread, id, row, task=True)
                self._running.pop(id, None)
            elif code == BLOCKED:
                self._blocked_in[row] = self._creator(thread, origin, time)
            elif code == RELEASED:
                thread.released = id
            else:
                assert code == IDLE
                thread.idle()
        return self._result()

    # Threads. -------------------------------------------------------------------------------------------------------

    def _thread(self, number: int) -> _Thread:
        thread = self._threads.get(number)
        if thread is None:
            thread = self._threads[number] = _Thread()
        if thread.losses < self._losses:
            thread.losses = self._losses
            thread.lose()
        return thread

    def _lose(self, hole: Hole) -> None:
        if hole.thread_id is None:
            self._losses += 1
        else:
            self._thread(hole.thread_id).lose()

    def _missing(self, row: int) -> bool:
        """Whether events of any thread may be missing between a row and now."""
        past = self._past
        if past and self._holes[past - 1].end_ns >= self._events.time[row]:
            return True
        return bisect_right(self._begins, self._now) > past

    def _creator(self, thread: _Thread, origin: int, time: int) -> int:
        """What makes something on the thread now. `origin` is the task that the runtime says is current."""
        if not self._by_thread:
            # A task is current in its own code only, while what awaits resume has none.
            return self._running.get(origin, UNKNOWN) if origin else UNKNOWN
        if time >= self._blind:
            return UNKNOWN
        top = thread.running[-1] if thread.running else NOBODY
        if top is None:
            return UNKNOWN
        if top != NOBODY and self._pieces.kind[top] == TASK:
            return top if origin in (UNTOLD, self._pieces.id[top]) else UNKNOWN
        return top if origin in (UNTOLD, 0, thread.current) else UNKNOWN

    def _begin(self, thread: _Thread, piece: int, row: int) -> None:
        pieces = self._pieces
        pieces.started[piece] = row
        task, id = pieces.kind[piece] == TASK, pieces.id[piece]
        thread.running.append(piece)
        thread.there[task, id] += 1
        if task:
            thread.tasks.append(id)

    def _end(self, thread: _Thread, id: int, row: int, task: bool = False) -> None:
        pieces = self._pieces
        if not thread.there[task, id]:
            self._unmatched += 1
            if not thread.running:
                # It began before the trace, so what was made meanwhile was made in it.
                for piece in thread.bare:
                    pieces.parent[piece] = UNKNOWN
                thread.bare.clear()
            return
        while True:
            last = thread.running.pop()
            if last is None:
                continue
            ended = pieces.kind[last] == TASK, pieces.id[last]
            thread.there[ended] -= 1
            if ended[0]:
                thread.tasks.pop()
            if ended == (task, id):
                pieces.ended[last] = row
                return

    # Pieces of work. ------------------------------------------------------------------------------------------------

    def _new_piece(self, thread: _Thread, kind: int, row: int, creator: int) -> int:
        piece = self._pieces.make(kind, int(self._events.id[row]), row, creator)
        if creator == NOBODY:
            thread.bare.append(piece)
        return piece

    def _known(self, scheduled: dict[int, int], kind: int, id: int) -> int:
        """What was scheduled with this id; a piece without a start if nothing was."""
        piece = scheduled.pop(id, NONE)
        return piece if piece != NONE else self._pieces.make(kind, id, NONE, UNKNOWN)

    def _identify(self, thread: _Thread, method: int) -> None:
        """What the thread runs awaits something in the method with this task, or completes it."""
        if method and thread.running and thread.running[-1] is not None:
            self._awaits.identify(thread.running[-1], method)

    def _is_continuation(self, thread: _Thread, row: int) -> bool:
        """Whether a continuation is one on its own; if not, it is that of an await, whose task has just completed."""
        origin = int(self._events.origin[row])
        if self._events.runs[row] or origin == 0:
            return True
        if self._by_thread and self._awaited[origin]:
            piece = self._awaits.queue(origin, row)
            if piece is not None and thread.current == origin:
                self._doubtful.add(piece)
            return False
        if not self._awaited[origin] and thread.current == origin:
            return True
        self._unclear += 1
        return False

    def _result(self) -> TaskWork:
        pieces, same = self._pieces, self._awaits.same
        count = len(pieces.kind)
        kept = np.ones(count, dtype=np.bool_)
        for piece, of in same.items():
            kept[piece] = False
            pieces.started[of], pieces.ended[of] = pieces.started[piece], pieces.ended[piece]
            if piece in self._inlined:
                self._inlined.add(of)
        shared = np.zeros(count, dtype=np.bool_)
        for task, resumed in self._awaits.shared.items():
            if resumed:
                shared[[*resumed, *self._awaits.open[task].values()]] = True
        queued = np.full(count, NONE, dtype=np.int64)
        for piece, row in self._awaits.queued.items():
            sure = piece not in self._doubtful or pieces.started[piece] > row
            queued[piece] = row if sure and piece not in self._inlined else NONE
        # The two places beyond the end are those of NOBODY and UNKNOWN.
        number = np.concatenate((np.cumsum(kept) - 1, (UNKNOWN, NOBODY)))
        for piece, of in same.items():
            number[piece] = number[of]
        blocked = [self._blocked_in[row] for row in self._events.blocked.tolist()]
        columns = (pieces.kind, pieces.id, pieces.created, pieces.started, pieces.ended, pieces.parent)
        kind, id_, created, started, ended, parent = (np.array(column, dtype=np.int64)[kept] for column in columns)
        queued = np.where(kind == AWAIT, queued[kept], created)
        return TaskWork(
            kind=kind,
            id=id_,
            created=created,
            queued=queued,
            started=started,
            ended=ended,
            parent=number[parent],
            shared=shared[kept],
            blocked_in=number[np.array(blocked, dtype=np.int64)],
            unmatched=self._unmatched,
            unclear=self._unclear,
            by_thread=self._by_thread,
        )

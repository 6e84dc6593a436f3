"""Events of tasks, to build traces of, and programs made by chance that know what created what."""

from __future__ import annotations

import random
from collections.abc import Sequence

import attrs

from clrevents.schema.registry import TPL
from clrevents.testing.builder import Format, TraceBuilder

_INT, _BOOL = 9, 3


def _event(builder: TraceBuilder, id: int, name: str, stack: Sequence[int], **numbers: int) -> TraceBuilder:
    fields = {field: (_BOOL if field == "IsExceptional" else _INT, value) for field, value in numbers.items()}
    return builder.described(TPL, name, fields, id=id, stack=stack)


def _headed(builder: TraceBuilder, id: int, name: str, stack: Sequence[int], current: int, **rest: int) -> TraceBuilder:
    numbers = {"OriginatingTaskSchedulerID": 1, "OriginatingTaskID": current, **rest}
    return _event(builder, id, name, stack, **numbers)


def scheduled(builder: TraceBuilder, task: int, current: int = 0, stack: Sequence[int] = ()) -> TraceBuilder:
    """A task is queued; `current` is the one that runs on the thread."""
    rest = {"TaskID": task, "CreatingTaskID": 0, "TaskCreationOptions": 0, "appDomain": 1}
    return _headed(builder, 7, "TaskScheduled", stack, current, **rest)


def started(builder: TraceBuilder, task: int, stack: Sequence[int] = ()) -> TraceBuilder:
    """It begins to run."""
    return _headed(builder, 8, "TaskStarted", stack, 0, TaskID=task)


def completed(builder: TraceBuilder, task: int, failed: bool = False) -> TraceBuilder:
    """It ends."""
    return _headed(builder, 9, "TaskCompleted", (), 0, TaskID=task, IsExceptional=int(failed))


def awaits(
    builder: TraceBuilder, task: int, method: int = 0, current: int = 0, stack: Sequence[int] = ()
) -> TraceBuilder:
    """A method, whose own task is `method`, awaits a task."""
    rest = {"TaskID": task, "Behavior": 2, "ContinueWithTaskID": method}
    return _headed(builder, 10, "TaskWaitBegin", stack, current, **rest)


def blocks(builder: TraceBuilder, task: int, current: int = 0, stack: Sequence[int] = ()) -> TraceBuilder:
    """One wait that blocks a thread until a task is done."""
    rest = {"TaskID": task, "Behavior": 1, "ContinueWithTaskID": 0}
    return _headed(builder, 10, "TaskWaitBegin", stack, current, **rest)


def resumes(builder: TraceBuilder, task: int, stack: Sequence[int] = ()) -> TraceBuilder:
    """What awaits a task resumes, or what is blocked by it goes on."""
    return _headed(builder, 11, "TaskWaitEnd", stack, 0, TaskID=task)


def queued(builder: TraceBuilder, continuation: int, current: int = 0, stack: Sequence[int] = ()) -> TraceBuilder:
    """A continuation is queued: of `Task.Yield`, or of what awaits the task `current`, which is done."""
    return _headed(
        builder, 12, "AwaitTaskContinuationScheduled", stack, current, **{"ContinueWithTaskId": continuation}
    )


def runs(builder: TraceBuilder, continuation: int, stack: Sequence[int] = ()) -> TraceBuilder:
    """That of `Task.Yield` begins to run."""
    return _event(builder, 19, "TaskWaitContinuationStarted", stack, TaskID=continuation)


def returns(builder: TraceBuilder, id: int) -> TraceBuilder:
    """A continuation, or what resumed, ends."""
    return _event(builder, 13, "TaskWaitContinuationComplete", (), TaskID=id)


@attrs.define(eq=False)
class _Work:
    """A piece of work of a program: `method` is the task of the async method that it is of, 0 for none."""

    kind: str
    id: int
    made_at: int
    parent: _Work | None
    method: int = 0
    began_at: int | None = None
    suspended: bool = False


@attrs.define
class Program:
    """A trace, and what its program did. A piece of work is known by the moment when it was created.

    `parents` has the one that created it, None for code outside all tasks; `began`, for each moment when one began to
    run, which that was; `queued` when the continuation of an await was queued, if it was.
    """

    data: bytes
    parents: dict[int, int | None]
    began: dict[int, int]
    queued: dict[int, int]


class _Run:
    """A program that chance makes, which obeys what the runtime's own code allows."""

    def __init__(self, seed: int, format: Format, losing: float, sharing: float, threads: int, ids: int) -> None:
        self.rng = random.Random(seed)
        self.builder = TraceBuilder(format)
        self.losing, self.sharing = losing, sharing
        self.stacks: dict[int, list[_Work]] = {number: [] for number in range(11, 11 + threads)}
        self.ready: list[_Work] = []
        self.waiting: dict[int, list[_Work]] = {}
        self.ids = 0
        self.again = ids
        self.now = 0
        self.program = Program(b"", {}, {}, {})
        for number in self.stacks:
            self.builder.thread(number).wait(1).sample()
        self.now = self.builder._now_ns

    def new(self) -> int:
        """An id; one of few that nothing has now, if there are to be few."""
        taken = {id for work in self.alive() for id in (work.id, work.method)} if self.again else set()
        free = [id for id in range(1, 1 + self.again) if id not in taken]
        if free:
            return self.rng.choice(free)
        self.ids += 1
        return self.again + self.ids

    def tell(self, thread: int, write: object, *arguments: object) -> int:
        """Write an event, or lose it; its moment."""
        self.now += 10
        self.builder.thread(thread).at(self.now)
        if self.rng.random() < self.losing:
            self.builder.lose(1)
        else:
            write(self.builder, *arguments)  # type: ignore[operator]
        return self.now

    def make(self, thread: int, kind: str, id: int, at: int, method: int = 0) -> _Work:
        top = self.stacks[thread][-1] if self.stacks[thread] else None
        self.program.parents[at] = None if top is None else top.made_at
        return _Work(kind, id, at, top, method)

    def current(self, thread: int) -> int:
        stack = self.stacks[thread]
        return stack[-1].id if stack and stack[-1].kind == "task" else 0

    def begin(self, thread: int, work: _Work) -> None:
        write = {"task": started, "continuation": runs, "await": resumes}[work.kind]
        at = self.tell(thread, write, work.id)
        self.program.began[at] = work.made_at
        self.stacks[thread].append(work)

    def end(self, thread: int) -> None:
        work = self.stacks[thread][-1]
        if work.kind != "task" and work.method and not work.suspended:
            # Its method is done, which completes its task.
            self.complete(thread, work.method, inline=self.rng.random() < 0.6)
            work.suspended = True
            if self.stacks[thread][-1] is not work:
                return
        self.tell(thread, completed if work.kind == "task" else returns, work.id)
        self.stacks[thread].pop()

    def complete(self, thread: int, task: int, inline: bool) -> None:
        """What awaits a task is queued, but for one that may be called at once."""
        waiting = self.waiting.pop(task, [])
        called = waiting.pop(self.rng.randrange(len(waiting))) if waiting and inline else None
        for work in waiting:
            self.program.queued[work.made_at] = self.tell(thread, queued, self.new(), task)
            self.ready.append(work)
        if called is not None:
            self.begin(thread, called)

    def step(self) -> None:
        thread = self.rng.choice(list(self.stacks))
        stack = self.stacks[thread]
        top = stack[-1] if stack else None
        choice = self.rng.randrange(9)
        if top is not None and (top.suspended or choice < 2):
            self.end(thread)
        elif choice in (2, 3) and self.ready and top is None:
            self.begin(thread, self.ready.pop(self.rng.randrange(len(self.ready))))
        elif choice == 4:
            id, current = self.new(), self.current(thread)
            self.ready.append(self.make(thread, "task", id, self.tell(thread, scheduled, id, current)))
        elif choice == 5:
            id, current = self.new(), self.current(thread)
            self.ready.append(self.make(thread, "continuation", id, self.tell(thread, queued, id, current)))
        elif choice == 6:
            id, current = self.new(), self.current(thread)
            self.tell(thread, blocks, id, current)
            self.tell(thread, resumes, id)
            self.tell(thread, returns, id)
        elif choice == 7 and self.waiting:
            promises = [task for task in self.waiting if all(work.method != task for work in self.alive())]
            if promises and top is None:
                self.complete(thread, self.rng.choice(promises), inline=self.rng.random() < 0.5)
        else:
            self.suspend(thread, top)

    def alive(self) -> list[_Work]:
        return [
            *(work for stack in self.stacks.values() for work in stack),
            *self.ready,
            *(work for works in self.waiting.values() for work in works),
        ]

    def suspend(self, thread: int, top: _Work | None) -> None:
        """The method that runs awaits something, or one that it calls does."""
        own = top is not None and top.method != 0 and self.rng.random() < 0.5
        method = top.method if top is not None and own else self.new()
        if self.waiting and self.rng.random() < self.sharing:
            task = self.rng.choice(list(self.waiting))
        else:
            methods = {work.method for work in self.alive()} - {0, method, *self.waiting}
            if top is not None:
                methods -= {top.method}
            task = self.rng.choice(sorted(methods)) if methods and self.rng.random() < 0.5 else self.new()
        if any(work.method == task for stack in self.stacks.values() for work in stack):
            # It may be done before it is awaited.
            task = self.new()
        at = self.tell(thread, awaits, task, method, self.current(thread))
        self.waiting.setdefault(task, []).append(self.make(thread, "await", task, at, method))
        if top is not None and own:
            top.suspended = True


def program(
    seed: int,
    *,
    steps: int = 150,
    losing: float = 0.0,
    sharing: float = 0.0,
    threads: int = 3,
    ids: int = 0,
    format: Format = "nettrace6",
) -> Program:
    """A program of so many steps.

    `losing` is the share of events that are lost, `sharing` that of awaits of a task that is awaited already. So many
    `ids` are given again when nothing has them any more.
    """
    made = _Run(seed, format, losing, sharing, threads, ids)
    for _ in range(steps):
        made.step()
    for number in made.stacks:
        made.builder.thread(number).at(made.now + 10).sample()
    made.program.data = made.builder.build()
    return made.program

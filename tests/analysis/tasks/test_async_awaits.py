"""Awaits as .NET 11's async profiler records them: who awaits whom, across suspensions, exceptions and other chains."""

from __future__ import annotations

from typing import Any

from built_tasks import awaits, completed, resumes, returns, scheduled, started
from clrevents.events import (
    AppendStateMachineAsyncCallstack_V1,
    CompleteRuntimeAsyncContext_V1,
    CompleteRuntimeAsyncMethod_V1,
    CompleteStateMachineAsyncContext_V1,
    CompleteStateMachineAsyncMethod_V1,
    CreateRuntimeAsyncCallstack_V1,
    CreateRuntimeAsyncContext_V1,
    CreateStateMachineAsyncContext_V1,
    ExceptionThrown_V1,
    ResetAsyncThreadContext_V1,
    ResumeRuntimeAsyncCallstack_V1,
    ResumeRuntimeAsyncContext_V1,
    ResumeRuntimeAsyncMethod_V1,
    ResumeStateMachineAsyncCallstack_V1,
    ResumeStateMachineAsyncContext_V1,
    ResumeStateMachineAsyncMethod_V1,
    SuspendRuntimeAsyncCallstack_V1,
    SuspendRuntimeAsyncContext_V1,
    SuspendStateMachineAsyncContext_V1,
    UnwindRuntimeAsyncException_V1,
)
from clrevents.schema.events.async_profiler import RuntimeAsyncFrame, StateMachineAsyncFrame
from clrevents.testing.builder import TraceBuilder
from reading import asked, numbers_of

SIZE = 0x100
NAMES = ("Leaf", "Inner", "Outer", "Main")
AT = {name: 0x10000 + SIZE * place for place, name in enumerate(NAMES)}
GO, DONE = ResumeRuntimeAsyncMethod_V1(), CompleteRuntimeAsyncMethod_V1()
MGO, MDONE = ResumeStateMachineAsyncMethod_V1(), CompleteStateMachineAsyncMethod_V1()


def trace(*events: Any, thread: int = 7) -> TraceBuilder:
    """These events, a microsecond apart; a number is the thread of what follows."""
    built = TraceBuilder("nettrace6")
    for name in NAMES:
        built.method_load("App", name, address=AT[name], size=SIZE)
    built.thread(thread)
    for at, event in enumerate(events, 1):
        built.at(at * 1000)
        built.thread(event) if isinstance(event, int) else built.event(event)
    return built


def frames(*names: str | None) -> tuple[RuntimeAsyncFrame, ...]:
    return tuple(RuntimeAsyncFrame(0 if name is None else AT[name] + 20) for name in names)


def created(id: int, *names: str | None, parent: int = 0) -> list[Any]:
    stack = frames(*names)
    return [
        CreateRuntimeAsyncContext_V1(parent, id),
        CreateRuntimeAsyncCallstack_V1(0, 0, len(stack), parent, id, stack),
    ]


def resumed(id: int, *names: str | None) -> list[Any]:
    stack = frames(*names)
    return [ResumeRuntimeAsyncContext_V1(id), ResumeRuntimeAsyncCallstack_V1(0, 0, len(stack), id, stack)]


def suspended(id: int, *names: str | None) -> list[Any]:
    stack = frames(*names)
    return [SuspendRuntimeAsyncCallstack_V1(0, 0, len(stack), id, stack), SuspendRuntimeAsyncContext_V1()]


def machines(id: int, *names: str) -> list[Any]:
    stack = tuple(StateMachineAsyncFrame(AT[name], place) for place, name in enumerate(names))
    return [ResumeStateMachineAsyncContext_V1(id), ResumeStateMachineAsyncCallstack_V1(0, 0, len(stack), id, stack)]


def told(built: TraceBuilder) -> Any:
    return asked("tasks", built.rundown().build())


def short(row: Any) -> tuple[Any, ...]:
    """The method, and in µs when it began to await, resumed and ended; and whose row awaits it."""
    times = (None if ns is None else ns // 1000 for ns in (row.created_ns, row.started_ns, row.completed_ns))
    name = row.method and row.method.partition("(")[0].removeprefix("App.")
    return (name, *times, row.awaiter_row)


def test_a_caller_awaits_once_however_often_what_it_awaits_suspends() -> None:
    first = [*created(1, None, "Inner", "Main"), *resumed(1, None, "Inner", "Main"), GO, DONE, GO]
    again = [*suspended(1, None, "Inner", "Main"), *resumed(1, None, "Inner", "Main"), GO, DONE, GO, DONE, GO]
    found = told(trace(*first, *again, DONE, CompleteRuntimeAsyncContext_V1()))
    assert [short(row) for row in found.tasks] == [
        ("Inner", 2, 7, 9, 1),
        ("Main", 2, 16, 17, None),
        ("Inner", 8, 14, 15, 1),
    ]
    assert [row.parent_row for row in found.tasks] == [None, None, 0]
    assert [row.native_offset for row in found.tasks] == [20, 20, 20]
    assert numbers_of(found, "awaits", "tasks", "blocking_count", "unstarted") == (3, None, None, 0)
    assert (found.metrics["count"].low, found.metrics["count"].high) == (3, None)


def test_an_exception_passes_through_methods_that_resume_only_for_it() -> None:
    events = [*created(1, None, "Leaf", "Inner", "Outer"), *resumed(1, None, "Leaf", "Inner", "Outer"), GO, DONE, GO]
    thrown = ExceptionThrown_V1("System.InvalidOperationException", "", 0, 0, 0, 0)
    found = told(trace(*events, thrown, UnwindRuntimeAsyncException_V1(2), GO, DONE, CompleteRuntimeAsyncContext_V1()))
    assert [short(row) for row in found.tasks] == [
        ("Leaf", 2, 7, 9, 1),
        ("Inner", 2, 9, 9, 2),
        ("Outer", 2, 10, 11, None),
    ]
    assert [row.outcome for row in found.tasks] == ["result", "faulted", "faulted"]
    assert [row.exceptional for row in found.tasks] == [True, True, False]


def test_a_machine_that_completes_inside_another_chain_does_not_end_that() -> None:
    below = [CreateStateMachineAsyncContext_V1(0, 5), *machines(5, "Leaf"), MGO]
    above = [*resumed(1, None, "Inner", "Main"), GO, DONE, GO, MDONE, DONE, GO, DONE]
    ends = [CompleteRuntimeAsyncContext_V1(), CompleteStateMachineAsyncContext_V1()]
    found = told(trace(*created(1, None, "Inner", "Main"), *below, *above, *ends))
    assert [short(row) for row in found.tasks] == [
        ("Inner", 2, 11, 13, 1),
        ("Main", 2, 14, 15, None),
        ("Leaf", 3, 6, 17, None),
    ]


def test_callers_of_a_machine_go_with_it_to_another_dispatcher() -> None:
    first = [CreateStateMachineAsyncContext_V1(0, 1), *machines(1, "Inner", "Main"), MGO]
    # Inner awaits Leaf, which suspends in a chain of its own; so does something that nobody awaits.
    more = [CreateStateMachineAsyncContext_V1(1, 2), CreateStateMachineAsyncContext_V1(1, 3)]
    alone = [*machines(2, "Leaf"), MGO, MDONE, CompleteStateMachineAsyncContext_V1()]
    chain = [*machines(3, "Leaf", "Inner", "Main"), MGO, MDONE, MGO, MDONE, MGO, MDONE]
    chain[1] = ResumeStateMachineAsyncCallstack_V1(
        0,
        0,
        3,
        3,
        tuple(StateMachineAsyncFrame(AT[name], state) for name, state in (("Leaf", 0), ("Inner", 4), ("Main", 1))),
    )
    events = [
        *first,
        *more,
        CompleteStateMachineAsyncContext_V1(),
        *alone,
        *chain,
        CompleteStateMachineAsyncContext_V1(),
    ]
    found = told(trace(*events))
    assert [(short(row), row.state) for row in found.tasks] == [
        (("Inner", 1, 4, 7, 1), 0),
        (("Main", 1, 19, 20, None), 1),
        (("Leaf", 5, 10, 11, None), 0),
        (("Leaf", 6, 15, 16, 4), 0),
        (("Inner", 6, 17, 18, 1), 4),
    ]
    (note,) = [note for note in found.notes if note.id == "awaits-since"]
    assert note.numbers == {"awaits": 2}


def test_tasks_stay_and_their_awaits_are_not_counted_twice() -> None:
    built = trace(*created(1, None, "Inner"), *resumed(1, None, "Inner"), GO, DONE, GO)
    scheduled(built.at(8000), 3)
    awaits(built.at(9000), 3, method=4)
    built.at(10000).event(DONE).at(11000).event(CompleteRuntimeAsyncContext_V1())
    completed(started(built.thread(8).at(12000), 3).at(13000), 3)
    resumes(built.at(14000), 3)
    returns(built.at(15000), 3)
    found = told(built)
    assert [(row.kind, row.parent_row) for row in found.tasks] == [("await", None), ("task", 0)]
    assert numbers_of(found, "count", "tasks", "awaits") == (2, 1, 1)


def test_methods_of_the_framework_are_their_callers_with_my_code() -> None:
    built = trace(*created(1, None, "Leaf", "Inner", "Main"), *resumed(1, None, "Leaf", "Inner", "Main"))
    built.method_load("System.Net", "Send", address=AT["Leaf"] + SIZE * 16, size=SIZE)
    stack = (0, AT["Leaf"] + SIZE * 16 + 5, AT["Leaf"] + SIZE * 16 + 9, AT["Main"] + 3)
    made = tuple(RuntimeAsyncFrame(address) for address in stack)
    built.event(CreateRuntimeAsyncContext_V1(0, 2)).event(CreateRuntimeAsyncCallstack_V1(0, 0, 4, 0, 2, made))
    data = built.rundown().build()
    assert [row.method for row in asked("tasks", data).tasks][3:] == [*["System.Net.Send()"] * 2, "App.Main()"]
    assert [row.method for row in asked("tasks", data, my_code=True).tasks][3:] == ["App.Main()"] * 3


def test_resumptions_alone_do_not_replace_events_of_tasks() -> None:
    built = trace(ResumeRuntimeAsyncCallstack_V1(0, 0, 1, 1, frames("Inner")))
    awaits(built.at(2000), 3, method=4)
    resumes(built.at(3000), 3)
    returns(built.at(4000), 3)
    (row,) = told(built).tasks
    assert (row.task_id, row.created_ns, row.started_ns, row.completed_ns) == (3, 2000, 3000, 4000)


def test_what_is_uncertain_or_absurd_stays_unknown() -> None:
    most = (1 << 64) - 1
    reset = [*created(1, None, "Inner"), *resumed(1, None, "Inner"), GO, DONE, GO, ResetAsyncThreadContext_V1(), DONE]
    found = told(trace(*reset))
    assert [short(row) for row in found.tasks] == [("Inner", 2, 7, None, None)]
    absurd = [*created(most, "Inner"), *resumed(most, "Inner"), GO, UnwindRuntimeAsyncException_V1(most), DONE, GO]
    found = told(trace(*absurd, CompleteRuntimeAsyncContext_V1(), CompleteRuntimeAsyncContext_V1()))
    assert [short(row) for row in found.tasks] == [("Inner", 2, 5, 6, None)]
    late = AppendStateMachineAsyncCallstack_V1(0, 0, 1, 1, (StateMachineAsyncFrame(AT["Main"], 2),))
    events = [CreateStateMachineAsyncContext_V1(0, 1), *machines(1, "Leaf"), MGO, late, MDONE, MGO, MDONE]
    found = told(trace(*events, CompleteStateMachineAsyncContext_V1(), CreateStateMachineAsyncContext_V1(0, 2)))
    assert [short(row) for row in found.tasks] == [
        ("Leaf", 1, 4, 6, 1),
        ("Main", None, 7, 8, None),
        (None, 10, None, None, None),
    ]
    paused = [
        CreateStateMachineAsyncContext_V1(0, 1),
        *machines(1, "Leaf"),
        MGO,
        SuspendStateMachineAsyncContext_V1(),
        MDONE,
    ]
    found = told(trace(*paused))
    assert [short(row) for row in found.tasks] == [("Leaf", 1, 4, 5, None), (None, 5, None, None, None)]

"""Stacks across tasks and awaits: own frames, then where what runs was created, and so on."""

from __future__ import annotations

import pytest

import clrevents
from built_tasks import awaits, completed, queued, resumes, returns, runs, scheduled, started
from clrevents.analysis import read_samples
from clrevents.analysis.shared.samples.logical_stacks import DEEPEST
from clrevents.testing.builder import TraceBuilder

MAIN, WORK, LEAF, START, RESUME, DISPATCH, MACHINE, OTHER, YIELDED, BUILDER = (0x1000 * n for n in range(1, 11))
POOL = (START, DISPATCH)
AWAITED = (RESUME, DISPATCH)
TASKS, COMPILER = "System.Threading.Tasks.Task", "System.Runtime.CompilerServices"


@pytest.fixture
def builder() -> TraceBuilder:
    builder = TraceBuilder().method_load("App", "Main", address=MAIN).method_load("App", "Work", address=WORK)
    builder.method_load("App", "Leaf", address=LEAF).method_load(TASKS, "ExecuteWithThreadLocal", address=START)
    builder.method_load(f"{COMPILER}.TaskAwaiter+<>c", "<OutputWaitEtwEvents>b__12_0", address=RESUME)
    builder.method_load("System.Threading.ThreadPoolWorkQueue", "Dispatch", address=DISPATCH)
    builder.method_load("App+<Run>d__1", "MoveNext", address=MACHINE)
    builder.method_load("App+<Other>d__2", "MoveNext", address=OTHER)
    name = f"{COMPILER}.YieldAwaitable+YieldAwaiter+<>c"
    builder.method_load(name, "<OutputCorrelationEtwEvent>b__6_0", address=YIELDED)
    return builder.method_load(f"{COMPILER}.AsyncTaskMethodBuilder", "AwaitUnsafeOnCompleted", address=BUILDER)


def stacks(builder: TraceBuilder, logical: bool = True) -> list[list[str]]:
    """The names of each sample's frames, without arguments."""
    with clrevents.open(builder.rundown().build()) as trace:
        found = read_samples(trace, logical=logical)
    names = [frame.name.partition("(")[0] for frame in found.frames]
    return [[names[frame] for frame in found.frame_ids(stack)] for stack in found.stack.tolist()]


def test_a_task_goes_on_where_it_was_scheduled(builder: TraceBuilder) -> None:
    scheduled(builder.thread(5).at(1000), 7, stack=(WORK, MAIN))
    builder.at(1500).sample(WORK, MAIN)
    started(builder.thread(6).at(2000), 7, stack=POOL)
    builder.at(3000).sample(LEAF, *POOL)
    completed(builder.at(4000), 7)
    builder.at(5000).sample(DISPATCH)
    # An end that another thread's work has, so that the trace tells what threads run.
    returns(runs(queued(builder.thread(8).at(6000), 1).at(6100), 1).at(6200), 1)
    found = stacks(builder)
    assert found[0] == ["App.Work", "App.Main"]
    assert found[1] == ["App.Leaf", "App.Work", "App.Main"]
    assert found[2] == ["System.Threading.ThreadPoolWorkQueue.Dispatch"]


def test_what_awaits_is_one_frame_wherever_it_goes_on(builder: TraceBuilder) -> None:
    """A loop of awaits grows no stack, and a method that another one awaits is under it."""
    awaits(builder.thread(5).at(1000), 20, method=1, stack=(BUILDER, MACHINE, MAIN))
    for turn in range(5):
        at = 10_000 * (turn + 1)
        resumes(builder.thread(6).at(at), 20 + turn, stack=AWAITED)
        builder.at(at + 1000).sample(LEAF, MACHINE, *AWAITED)
        awaits(builder.at(at + 2000), 21 + turn, method=1, stack=(BUILDER, MACHINE, *AWAITED))
        returns(builder.at(at + 3000), 20 + turn)
    awaits(resumes(builder.at(90_000), 25).at(91_000), 50, method=2, stack=(BUILDER, OTHER, MACHINE, *AWAITED))
    returns(builder.at(92_000), 25)
    resumes(builder.at(93_000), 50)
    builder.at(94_000).sample(LEAF, OTHER, *AWAITED)
    returns(builder.at(95_000), 50)
    # Between two turns nothing was sampled for longer than the period.
    found = [stack for stack in stacks(builder) if stack != ["[not sampled]"]]
    assert found[:5] == [["App.Leaf", "async App.Run", "App.Main"]] * 5
    assert found[5] == ["App.Leaf", "async App.Other", "async App.Run", "App.Main"]


def test_recursion_is_cut_and_what_does_not_repeat_is_limited(builder: TraceBuilder) -> None:
    many = [0x100000 + 0x1000 * number for number in range(DEEPEST + 50)]
    for number, address in enumerate(many):
        builder.method_load("App", f"Step{number}", address=address)
    queued(builder.thread(5).at(1000), 1, stack=(MACHINE, MAIN))
    builder.thread(6)
    now = 2000
    for task, address in enumerate([*[WORK] * 10, *many], 1):
        runs(builder.at(now), task, stack=(YIELDED, DISPATCH))
        if task == 11:
            builder.at(now + 100).sample(LEAF, YIELDED, DISPATCH)
        queued(builder.at(now + 200), task + 1, stack=(address, YIELDED, DISPATCH))
        returns(builder.at(now + 300), task)
        now += 1000
    runs(builder.at(now), len(many) + 11, stack=(YIELDED, DISPATCH))
    builder.at(now + 100).sample(LEAF, YIELDED, DISPATCH)
    returns(builder.at(now + 200), len(many) + 11)
    found = stacks(builder)
    assert found[0] == ["App.Leaf", "App.Work", "async App.Run", "App.Main"]
    assert len(found[1]) == DEEPEST + 1
    assert found[1][-3:] == ["App.Work", "async App.Run", "App.Main"]


def test_code_outside_tasks_stays_as_it_is(builder: TraceBuilder) -> None:
    started(scheduled(builder.thread(5).at(1000), 7, stack=(MAIN,)).thread(6).at(2000), 7, stack=POOL)
    # No frame tells where the task begins.
    builder.at(2500).sample(LEAF, WORK)
    completed(builder.at(3000), 7)
    builder.at(3500).sample(LEAF, *POOL)
    returns(runs(queued(builder.thread(8).at(6000), 1).at(6100), 1).at(6200), 1)
    assert stacks(builder) == [["App.Leaf", "App.Work"], ["App.Leaf", f"{TASKS}.ExecuteWithThreadLocal", DISPATCHED]]


DISPATCHED = "System.Threading.ThreadPoolWorkQueue.Dispatch"

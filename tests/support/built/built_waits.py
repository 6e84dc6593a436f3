"""Events of waits, to build traces of: contentions, waits for handles, waits for tasks."""

from __future__ import annotations

import random
from typing import Any

from clrevents.events import (
    ContentionFlags,
    ContentionStart_V1,
    ContentionStart_V2,
    ContentionStop_V0,
    ContentionStop_V1,
    WaitHandleWaitSource,
    WaitHandleWaitStart_V0,
    WaitHandleWaitStop_V0,
)
from clrevents.schema.registry import TPL
from clrevents.testing.builder import Format, TraceBuilder

USER, ENTER, CALLBACK = 0x1000, 0x2000, 0x3000
"""Addresses in a program's method, in Monitor.Enter, and in the outermost method of a thread."""
_INT = 9


def named(builder: TraceBuilder) -> TraceBuilder:
    """The methods at these addresses."""
    builder.method_load("App.Program", "Work", address=USER)
    builder.method_load("System.Threading.Monitor", "Enter", address=ENTER)
    return builder.method_load("System.Threading.Thread", "StartCallback", address=CALLBACK)


def start(lock: int = 0x70, owner: int = 0, *, native: bool = False, thing: int = 1, runtime: int = 0) -> Any:
    """A thread begins to wait for a lock."""
    return ContentionStart_V2(ContentionFlags(int(native)), runtime, lock, thing, owner)


def start_v1(native: bool = False) -> Any:
    """The same, of a runtime that tells no lock."""
    return ContentionStart_V1(ContentionFlags(int(native)), 0)


def stop(duration_ns: float, *, native: bool = False, runtime: int = 0) -> Any:
    """It enters the lock."""
    return ContentionStop_V1(ContentionFlags(int(native)), runtime, duration_ns)


def stop_v0() -> Any:
    """The same, of a runtime that tells no length."""
    return ContentionStop_V0(ContentionFlags(0), 0)


def waiting(source: int = 0) -> Any:
    """A thread begins to wait for a handle, or (1) for a monitor's signal."""
    return WaitHandleWaitStart_V0(WaitHandleWaitSource(source), 0, 0)


def signaled() -> Any:
    """It goes on."""
    return WaitHandleWaitStop_V0(0)


def task_wait(builder: TraceBuilder, task: int, behavior: int, stack: tuple[int, ...] = ()) -> TraceBuilder:
    """A thread begins to wait for a task (behavior 1), or awaits it (2)."""
    numbers = {"OriginatingTaskSchedulerID": 1, "OriginatingTaskID": 0, "TaskID": task, "Behavior": behavior}
    fields = {name: (_INT, value) for name, value in numbers.items()}
    return builder.described(TPL, "TaskWaitBegin", fields, id=10, stack=stack)


def task_done(builder: TraceBuilder, task: int) -> TraceBuilder:
    """It goes on."""
    numbers = {"OriginatingTaskSchedulerID": 1, "OriginatingTaskID": 0, "TaskID": task}
    return builder.described(TPL, "TaskWaitEnd", {name: (_INT, value) for name, value in numbers.items()}, id=11)


def by_chance(format: Format, seed: int, events: int = 80) -> bytes:
    """Begins and ends of waits of all kinds in an order that chance made, with samples, some of them lost."""
    rng = random.Random(seed)
    builder = named(TraceBuilder(format))
    for _ in range(events):
        builder.thread(rng.choice((5, 6, 7))).wait(rng.choice((0, 10, 5000)))
        if rng.random() < 0.05 and format != "netperf3":
            builder.lose(rng.randrange(1, 4))
        native, lock, stack = rng.random() < 0.2, rng.choice((0x70, 0x80)), (ENTER, USER, CALLBACK)
        match rng.randrange(7):
            case 0:
                builder.event(start(lock, rng.choice((0, 5, 6)), native=native), stack)
            case 1:
                builder.event(stop(rng.choice((0.0, 900.0)), native=native))
            case 2:
                builder.event(waiting(rng.randrange(2)), stack)
            case 3:
                builder.event(signaled())
            case 4:
                task_wait(builder, rng.randrange(3), rng.choice((1, 2)), (USER, CALLBACK))
            case 5:
                task_done(builder, rng.randrange(3))
            case _:
                builder.sample(*rng.choice((stack, (USER, CALLBACK))), kind=rng.choice((1, 2)))
        if rng.random() < 0.1:
            builder.sequence_point()
    return builder.thread(5).rundown().build()

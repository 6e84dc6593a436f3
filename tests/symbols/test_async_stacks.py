"""Stacks of threads that run async methods, continued with what awaits these: where, and where not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import clrevents
from clrevents.analysis import read_samples
from clrevents.events import (
    AppendStateMachineAsyncCallstack_V1,
    AsyncBuffer_V1,
    CompleteRuntimeAsyncContext_V1,
    ResetAsyncContinuationWrapperIndex_V1,
    ResetAsyncThreadContext_V1,
    ResumeRuntimeAsyncCallstack_V1,
    ResumeRuntimeAsyncContext_V1,
    ResumeStateMachineAsyncCallstack_V1,
)
from clrevents.schema.events.async_profiler import RuntimeAsyncFrame, StateMachineAsyncFrame
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of

SIZE = 0x100
WRAPPERS = "System.Runtime.CompilerServices.AsyncProfiler+ContinuationWrapper"
BUILDER = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1"
METHODS = [
    *[("App", name) for name in ("Burn", "Leaf", "Inner", "Outer", "Main")],
    *[(WRAPPERS, f"Continuation_Wrapper_{n}") for n in range(4)],
    ("System.Runtime.CompilerServices.AsyncHelpers", "DispatchContinuations"),
    ("System.Threading.ThreadPoolWorkQueue", "Dispatch"),
    ("System.Runtime.CompilerServices.RuntimeAsyncTaskContinuation", "ResumeTaskContinuation"),
    (f"{BUILDER}+AsyncStateMachineBox`1[System.Int32,App]", "MoveNext"),
    (f"{BUILDER}+AsyncProfilerAsyncStateMachineBox`1[System.Int32,App]", "MoveNextAsDispatcher"),
    ("System.Threading.Tasks.Task", "RunContinuations"),
]
AT = {name: 0x10000 + SIZE * place for place, (_, name) in enumerate(METHODS)}
W1, W2 = "Continuation_Wrapper_1", "Continuation_Wrapper_2"
DISPATCH = ("DispatchContinuations", "Dispatch")
RUNNING = ("Burn", "Inner", W1, *DISPATCH)


def resumed(dispatcher: int, *names: str | None) -> ResumeRuntimeAsyncCallstack_V1:
    frames = tuple(RuntimeAsyncFrame(0 if name is None else AT[name] + 20) for name in names)
    return ResumeRuntimeAsyncCallstack_V1(0, 0, len(frames), dispatcher, frames)


def machines(dispatcher: int, *names: str) -> ResumeStateMachineAsyncCallstack_V1:
    frames = tuple(StateMachineAsyncFrame(AT[name], 0) for name in names)
    return ResumeStateMachineAsyncCallstack_V1(0, 0, len(frames), dispatcher, frames)


def sampled(
    build: Callable[[TraceBuilder], object], *stack: str, artefacts: bool = False, until: int = 2**62
) -> list[str]:
    """The names in the stack of a sample, after these events, which are all until a tick; one event alone has the
    same."""
    built = TraceBuilder().thread(7)
    for namespace, name in METHODS:
        built.method_load(namespace, name, address=AT[name], size=SIZE)
    build(built)
    built.thread(7).event(AsyncBuffer_V1(1, 37, 107, 7, 0, 0, until))
    data = built.thread(7).sample(*(AT[name] + 9 for name in stack)).rundown().build()
    with clrevents.open(data) as trace:
        samples = read_samples(trace, artefacts=artefacts)
        frames = samples.values[samples.offsets[samples.stack[-1]] : samples.offsets[samples.stack[-1] + 1]]
        names = [samples.frames[frame].name for frame in frames.tolist()]
        left = any("Continuation_Wrapper" in name or "MoveNextAsDispatcher" in name for name in names)
        assert (samples.unawaited is not None) == (left and not artefacts)
        awaits = passes_of(trace).async_stacks
        if awaits is not None and not artefacts:
            (event,) = trace.events("ThreadSample")
            one = awaits.frames(trace.methods, event.stack, event.time_ns, event.thread_id, event.process_id)
            assert [frame.label for frame in one] == names
    return [name.partition("(")[0].rpartition(".")[2] for name in names]


def test_awaiting_methods_follow_the_running_one() -> None:
    found = sampled(lambda b: b.event(resumed(3, None, "Inner", "Outer", None, "Main")), *RUNNING)
    assert found == ["Burn", "Inner", "Outer", "Main"]


def test_nothing_is_known_of_what_was_not_written() -> None:
    found = sampled(lambda b: b.event(resumed(3, None, "Inner", "Outer", None, "Main")), *RUNNING, until=0)
    assert found == [*RUNNING]


def test_methods_follow_the_awaited_operation_itself() -> None:
    def awaited(built: TraceBuilder) -> object:
        return built.event(resumed(3, None, "Inner", "Main"))

    completes = "ResumeTaskContinuation", "Continuation_Wrapper_0", *DISPATCH
    assert sampled(awaited, "Burn", *completes) == ["Burn", "ResumeTaskContinuation", "Inner", "Main"]
    assert sampled(awaited, "Inner", *completes[1:]) == ["Inner", *completes[1:]]


def test_artefacts_are_as_recorded() -> None:
    found = sampled(lambda b: b.event(resumed(3, None, "Inner", "Main")), *RUNNING, artefacts=True)
    assert found == [*RUNNING]


@pytest.mark.parametrize(
    "events",
    [
        [],
        [resumed(3, None, "Leaf", "Main")],
        [resumed(3, "Inner")],
        [resumed(3, None, "Inner", "Main"), ResetAsyncThreadContext_V1()],
        [resumed(3, None, "Inner", "Main"), CompleteRuntimeAsyncContext_V1()],
        [resumed(3, None, "Inner", "Main"), ResumeRuntimeAsyncContext_V1(4)],
        [machines(3, "Inner", "Main")],
    ],
)
def test_what_is_uncertain_stays_as_it_was(events: list[object]) -> None:
    assert sampled(lambda b: [b.event(event) for event in events], *RUNNING) == [*RUNNING]


def test_a_context_that_ends_inside_another_gives_it_back() -> None:
    def nested(built: TraceBuilder) -> None:
        built.event(ResumeRuntimeAsyncContext_V1(1)).event(resumed(1, None, "Inner", "Outer"))
        built.event(ResumeRuntimeAsyncContext_V1(2)).event(resumed(2, None, "Inner", "Main"))
        built.event(CompleteRuntimeAsyncContext_V1())

    assert sampled(nested, "Inner", W1, *DISPATCH) == ["Inner", "Outer"]


def test_another_threads_contexts_are_not_of_this_one() -> None:
    found = sampled(lambda b: b.thread(8).event(resumed(1, None, "Inner", "Main")), *RUNNING)
    assert found == [*RUNNING]


def test_wrappers_begin_again_after_thirty_two() -> None:
    long = resumed(1, *[None] * 34, "Inner", "Main")
    found = sampled(lambda b: b.event(long).event(ResetAsyncContinuationWrapperIndex_V1()), "Inner", W2, *DISPATCH)
    assert found == ["Inner", "Main"]
    assert sampled(lambda b: b.event(long), "Inner", W2, *DISPATCH) == ["Inner", W2, *DISPATCH]


def test_state_machines_that_completed_inline_are_counted_by_groups_of_frames() -> None:
    resumed_, more = machines(1, "Leaf", "Inner"), machines(1, "Main").Frames
    box = ("MoveNext", "RunContinuations")
    stack = "Burn", "Inner", *box, "Leaf", "MoveNext", "MoveNextAsDispatcher", *box, "Outer"
    assert sampled(lambda b: b.event(resumed_), *stack) == ["Burn", "Inner"]
    appended = AppendStateMachineAsyncCallstack_V1(0, 0, 1, 1, more)
    assert sampled(lambda b: b.event(resumed_).event(appended), *stack) == ["Burn", "Inner", "Main"]

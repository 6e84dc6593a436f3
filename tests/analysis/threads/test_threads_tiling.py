"""States tile every thread of traces that hypothesis builds, and of damaged copies of them."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.threads.test_threads_report import MS, SLEEP, WAIT, WORK, begun, contends, created, enters, sampled
from clrevents.events import (
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V1,
    GCSuspendEEReason,
    ThreadPoolWorkerThreadWait_V0,
    ThreadTerminated_V0,
    WaitHandleWaitSource,
    WaitHandleWaitStart_V0,
    WaitHandleWaitStop_V0,
)
from clrevents.testing.builder import TraceBuilder
from reading import opened
from thread_tiles import tiles

ACTS = (
    *("run", "run", "run", "sleep", "wait", "native", "contend", "enter", "handle", "signal"),
    *("create", "end", "suspend", "restart", "stop", "idle", "lose"),
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from([7, 8, 9]), st.integers(0, 12)), max_size=60)


def acted(steps: list[tuple[str, int, int]]) -> bytes:
    """A trace in which threads do any of these things, each so many milliseconds after the one before."""
    builder, at = begun(), 1
    for act, thread, gap in steps:
        at += gap
        _act(builder, act, thread, at)
    return builder.thread(99).at((at + 5) * MS).event(GCRestartEEEnd_V1(0)).build()


def _act(builder: TraceBuilder, act: str, thread: int, at: int) -> None:
    leaves = {"run": (WORK, 2), "sleep": (SLEEP, 1), "wait": (WAIT, 1), "native": (WORK, 1)}
    events = {
        "handle": WaitHandleWaitStart_V0(WaitHandleWaitSource.Unknown, 0xABC, 0),
        "signal": WaitHandleWaitStop_V0(0),
        "end": ThreadTerminated_V0(1000, 1, 0),
        "suspend": GCSuspendEEBegin_V1(GCSuspendEEReason(1), 1, 0),
        "stop": GCSuspendEEBegin_V1(GCSuspendEEReason(0), -1, 0),
        "restart": GCRestartEEEnd_V1(0),
        "idle": ThreadPoolWorkerThreadWait_V0(3, 0, 0),
    }
    if act in leaves:
        leaf, kind = leaves[act]
        sampled(builder, thread, at, leaf=leaf, kind=kind)
    elif act == "contend":
        contends(builder, thread, at)
    elif act == "enter":
        enters(builder, thread, at, 1)
    elif act == "create":
        created(builder, at, thread, index=thread)
    elif act == "lose":
        builder.thread(thread).lose(3)
    else:
        builder.thread(thread).at(at * MS).event(events[act])


@settings(max_examples=20, deadline=None)
@given(STEPS)
def test_states_tile_built_traces(steps: list[tuple[str, int, int]]) -> None:
    with opened(acted(steps)) as trace:
        tiles(trace.report("threads"))


@settings(max_examples=20, deadline=None)
@given(STEPS.filter(lambda steps: len(steps) > 10), st.integers(0, 1 << 32))
def test_states_tile_damaged_copies(steps: list[tuple[str, int, int]], seed: int) -> None:
    rng, data = random.Random(seed), bytearray(acted(steps))
    for _ in range(5):
        at = rng.randrange(200, len(data))
        data[at : at + 8] = rng.randbytes(len(data[at : at + 8]))
    with opened(bytes(data)) as trace:
        tiles(trace.report("threads"))

"""What the two ends of a stack say: of its state the innermost frames with names, of its thread the root."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.samples.leaf_states import LEAVES, ROOTS, STATES, stack_states
from clrevents.events import ThreadCreated_V0, ThreadFlags
from clrevents.table.read import cut_stacks
from clrevents.testing.builder import TraceBuilder

MS = 1_000_000
POOL = "System.Threading.PortableThreadPool"
START, PRODUCER, QUEUE, CREATE, GATE, STUB, NATIVE, IDLE, WORKER = (0x1000 * n for n in range(1, 10))
METHODS = (
    (START, "System.Threading.Thread", "StartCallback"),
    (PRODUCER, "Shop", "Produce"),
    (QUEUE, "System.Threading.ThreadPool", "QueueUserWorkItem"),
    (CREATE, f"{POOL}+GateThread", "CreateGateThread"),
    (GATE, f"{POOL}+GateThread", "GateThreadStart"),
    (NATIVE, "System.Threading.LowLevelLifoSemaphore", "WaitNative"),
    (IDLE, "System.Threading.LowLevelLifoSemaphore", "Wait"),
    (WORKER, f"{POOL}+WorkerThread", "WorkerThreadStart"),
)


def begun() -> TraceBuilder:
    builder = TraceBuilder().thread(7)
    for address, owner, name in METHODS:
        builder.method_load(owner, name, address=address)
    return builder


def frames(*names: str) -> list[StackFrame]:
    return [StackFrame(f"{name}()", name) if name else StackFrame("[unresolved]", "", reason="x") for name in names]


def told(*names: str) -> tuple[str | None, str | None]:
    """The state and the role of one stack, innermost first; an empty name is of a frame without one."""
    found = stack_states(frames(*names), np.array([0, len(names)]), np.arange(len(names)))
    state, role = int(found.leaf_state[0]), int(found.role[0])
    return STATES[state] if state >= 0 else None, found.roles[role] if role >= 0 else None


def test_a_thread_that_starts_the_gate_is_not_the_gate() -> None:
    builder = begun()
    for at in range(1, 9):
        builder.thread(7).at(at * MS).sample(*((CREATE, QUEUE) if at == 4 else ()), PRODUCER, START)
        builder.thread(8).at(at * MS).sample(GATE, START)
    with clrevents.open(builder.build()) as trace:
        roles = {row.thread_id: row.role for row in trace.report("threads").threads}
    assert roles == {7: "other", 8: "pool_gate"}


@pytest.mark.parametrize(
    "call", ["[native] under System.Net.Sockets.SocketAsyncEngine.EventLoop", "Interop.Sys.WaitForSocketEvents"]
)
def test_a_socket_engine_waits_in_one_call_of_its_loop(call: str) -> None:
    loop = "System.Net.Sockets.SocketAsyncEngine.EventLoop"
    assert told(call, loop) == ("wait", "pool_io")
    assert told("", loop) == told("Interop.Sys.CloseSocketEventPort", loop) == ("native", "pool_io")


def test_a_task_that_is_run_by_who_waits_for_it_is_no_wait() -> None:
    waits = ("System.Threading.Tasks.Task.InternalWait", "Shop.Main")
    assert told("", *waits)[0] == "task_wait"
    assert told("", "System.Threading.Tasks.Task.InnerInvoke", *waits)[0] is None
    assert told("", "System.Threading.ExecutionContext.RunInternal", *waits)[0] is None


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (("Shop.Work", "Shop.Main"), "main"),
        (("Shop.Work", "Shop.Main", "System.Environment.CallEntryPoint"), "main"),
        (("Shop.Main", "System.Threading.Thread.StartCallback"), None),
        (("Shop.Main", "Shop.Run"), None),
        (("Shop.Work", "System.GC.RunFinalizers", ""), "finalizer"),
        (("x", f"{POOL}.WaitThread.WaitThreadStart", "System.Threading.ThreadHelper.ThreadStart"), "pool_wait"),
        ((f"{POOL}.WorkerThread.MaybeAddWorkingWorker", "System.Threading.TimerQueue.TimerThread"), "timer"),
    ],
)
def test_the_root_tells_the_role(names: tuple[str, ...], role: str | None) -> None:
    assert told(*names)[1] == role


def test_a_stack_that_was_cut_has_no_known_root() -> None:
    root = f"{POOL}.WorkerThread.WorkerThreadStart"
    assert told(*["Shop.Down"] * 98, root)[1] == "pool_worker"
    assert told(*["Shop.Down"] * 99, root)[1] is None
    for depths, cut in (([3, 100, 100], [1, 2]), ([100, 101], []), ([100, 512], [1]), ([], [])):
        assert np.flatnonzero(cut_stacks(np.array(depths, dtype=np.int64))).tolist() == cut


NAMES = st.sampled_from(
    [
        *("", "Shop.Work", "Shop.Main", "System.Threading.Thread.StartCallback", "System.Threading.Thread.PollGC"),
        *("System.Threading.Tasks.Task.InnerInvoke", "Interop.Sys.Poll"),
        *(rule.method.removesuffix("*") for rule in LEAVES),
        *(method.removesuffix("*") for method, _ in ROOTS),
    ]
)


@given(st.lists(NAMES, max_size=9), st.lists(NAMES, max_size=3))
def test_what_a_programs_method_calls_never_tells_a_role(callees: list[str], starts: list[str]) -> None:
    """Only what starts threads stands outside of their root."""
    outer = [name for name in starts if name in ("", "System.Threading.Thread.StartCallback")]
    assert told(*callees, "Shop.Produce", *outer)[1] is None


def test_the_lower_half_of_a_threads_id_is_the_same_thread() -> None:
    long = 0x1_70A9_0000
    builder = begun().thread(long).event(ThreadCreated_V0(9, 1, ThreadFlags.ThreadPoolWorker, 5, long & 0xFFFF_FFFF, 0))
    for at in range(1, 9):
        builder.at(at * MS).sample(PRODUCER)
    with clrevents.open(builder.build()) as trace:
        (row,) = trace.report("threads").threads
    assert (row.thread_id, row.role) == (long, "pool_worker")

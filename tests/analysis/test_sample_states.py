"""What samples say that threads did, and which frames fold into their callers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import clrevents
from clrevents.analysis import hottest, read_samples
from clrevents.analysis.shared.samples import leaf_states
from clrevents.analysis.shared.samples.leaf_states import SAMPLED
from clrevents.testing.builder import TraceBuilder

MS = 1_000_000
METHODS = (
    ("Shop", "Main"),
    ("Shop", "Work"),
    ("System.Threading.Thread", "Sleep"),
    ("System.Threading.Thread", "PollGC"),
    ("System.Threading.Monitor", "Wait"),
    ("System.Threading.ManualResetEventSlim", "Wait"),
    ("System.Threading.Tasks.Task", "InternalWait"),
    ("System.Runtime.EH", "DispatchEx"),
    ("Shop.Gate", "Enter"),
    ("System.Threading.SemaphoreSlim", "WaitAsync"),
)
MAIN, WORK, SLEEP, POLL, MONITOR, SLIM, TASK, DISPATCH, GATE, ASYNC = (0x1000 * n for n in range(1, 11))
STACKS = (
    ((POLL, WORK, MAIN), 2, "running", "Shop.Work()"),
    ((SLEEP, MAIN), 1, "sleep", "System.Threading.Thread.Sleep()"),
    # The outermost of the most specific kind tells.
    ((MONITOR, SLIM, TASK, MAIN), 1, "task_wait", "System.Threading.Monitor.Wait()"),
    ((MONITOR, SLIM, MAIN), 1, "wait", "System.Threading.Monitor.Wait()"),
    # A method that a waiting thread calls is not a wait; and in managed code nobody waits.
    ((WORK, TASK, MAIN), 1, "native", "Shop.Work()"),
    ((MONITOR, MAIN), 2, "running", "System.Threading.Monitor.Wait()"),
    ((WORK, DISPATCH, MAIN), 1, "native", "Shop.Work()"),
    ((ASYNC, MAIN), 1, "native", "System.Threading.SemaphoreSlim.WaitAsync()"),
    ((GATE, MAIN), 1, "native", "Shop.Gate.Enter()"),
    ((MAIN,), 0, "unknown", "Shop.Main()"),
    ((POLL,), 2, "running", "System.Threading.Thread.PollGC()"),
)


def built() -> bytes:
    builder = TraceBuilder().thread(7)
    for place, (owner, name) in enumerate(METHODS):
        builder.method_load(owner, name, address=0x1000 * (place + 1))
    for place, (stack, kind, _, _) in enumerate(STACKS):
        builder.at(MS * (10 + place)).sample(*stack, kind=kind)
    return builder.at(MS * (10 + len(STACKS))).sample(MAIN, kind=2).build()


@pytest.fixture
def trace() -> Iterator[clrevents.Trace]:
    with clrevents.open(built()) as opened:
        yield opened


def test_states_and_innermost_methods(trace: clrevents.Trace) -> None:
    table = read_samples(trace).table()
    found = [(row["state"], row["leaf"]) for row in table.rows()][:-1]
    assert found == [(state, leaf) for _, _, state, leaf in STACKS]


def test_artefacts_fold_into_their_callers(trace: clrevents.Trace) -> None:
    folded, raw = read_samples(trace), read_samples(trace, artefacts=True)
    shown, there = ([row["stack"].split("\n") for row in samples.table().rows()] for samples in (folded, raw))
    assert there[0] == ["System.Threading.Thread.PollGC()", "Shop.Work()", "Shop.Main()"]
    assert shown[0] == ["Shop.Work()", "Shop.Main()"]
    assert there[6] == ["Shop.Work()", "System.Runtime.EH.DispatchEx()", "Shop.Main()"]
    assert shown[6] == shown[0]
    assert folded.total == raw.total == len(STACKS) * MS
    names = {frame.name for frame in folded.frames}
    assert "System.Runtime.EH.DispatchEx()" not in names
    # It is all that there is of one stack.
    assert "System.Threading.Thread.PollGC()" in names
    assert hottest(folded)[0].name == "Shop.Work()"


def test_some_states_of_samples(trace: clrevents.Trace) -> None:
    samples = read_samples(trace)
    parts = [samples.in_states(state) for state in SAMPLED]
    assert sum(len(part) for part in parts) == len(samples)
    assert sum(part.total for part in parts) == samples.total
    asleep = samples.in_states("sleep")
    assert {frame.name for frame in asleep.frames} == {"System.Threading.Thread.Sleep()", "Shop.Main()"}
    assert len(samples.in_states("gc_suspended").table()) == 0
    with pytest.raises(ValueError, match="no state 'busy'"):
        samples.in_states("busy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="have no state"):
        read_samples(trace, "MethodLoadVerbose").in_states("running")


def test_top_by_state(trace: clrevents.Trace) -> None:
    whole = {row.name: (row.exclusive_ns, row.running_ns, row.waiting_ns) for row in trace.report("top").methods}
    assert whole["Shop.Work()"] == (3 * MS, 1 * MS, 0)
    assert whole["System.Threading.Monitor.Wait()"] == (3 * MS, 1 * MS, 2 * MS)
    running, waiting = trace.report("top", running=True), trace.report("top", waiting=True)
    assert {row.name: row.exclusive_ns for row in waiting.methods if row.samples} == {
        "System.Threading.Monitor.Wait()": 2 * MS,
        "System.Threading.Thread.Sleep()": MS,
    }
    assert {row.waiting_ns for row in running.methods} == {0}
    assert running.metrics["total"].value == 3 * MS
    assert trace.report("top", state="task_wait").metrics["total"].value == MS
    for wrong in ({"running": True, "waiting": True}, {"state": "busy"}, {"running": True, "weight": "alloc"}):
        with pytest.raises(ValueError, match=r"only one of running|no state|only profiler samples"):
            trace.report("top", **wrong)  # type: ignore[arg-type]


def test_users_add_their_own(trace: clrevents.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_states, "LEAVES", [*leaf_states.LEAVES])
    monkeypatch.setattr(leaf_states, "ARTEFACTS", [*leaf_states.ARTEFACTS])
    leaf_states.add_leaf("Shop.Gate.*", "lock")
    leaf_states.add_artefact("Shop.Gate.Enter")
    assert len(read_samples(trace).in_states("lock")) == 0
    leaf_states.ARTEFACTS.pop()
    locked = read_samples(trace).in_states("lock")
    assert locked.total == MS
    with pytest.raises(ValueError, match="no state 'busy'"):
        leaf_states.add_leaf("Shop.Gate.*", "busy")  # type: ignore[arg-type]

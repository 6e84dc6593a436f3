"""Small traces that were answered wrongly once: what stacks say, whose threads and methods are whose, whose bound."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from clrevents.analysis import read_samples
from clrevents.errors import TraceError
from dotnet_runtimes import clrevents_run

pytestmark = needs_shared

FINDS = SHARED / "finds"
REQUESTS = SHARED / "requests"
_LARGEST = 2_000_000
TRACES = [t for t in traces("traces/own", "traces/perfview", "scenarios") if t.path.stat().st_size < _LARGEST]
CUT = 59_059_000
ROOT_OF = {
    "pool_gate": "System.Threading.PortableThreadPool.GateThread.GateThreadStart",
    "pool_wait": "System.Threading.PortableThreadPool.WaitThread.WaitThreadStart",
    "timer": "System.Threading.TimerQueue.TimerThread",
}
"""The method with which a thread of the runtime's own begins."""


@contextmanager
def find(name: str) -> Iterator[clrevents.Trace]:
    with clrevents.open(FINDS / f"{name}.nettrace", errors="salvage") as trace:
        yield trace


def test_an_idle_worker_under_a_stub() -> None:
    with find("idle-worker-under-stub") as trace:
        (row,) = trace.report("threads").threads
        assert (row.role, row.native_ns, row.pool_idle_ns) == ("pool_worker", None, 398_199_000)
        assert trace.report("waits").metrics["idle_total"].value == 398_203_000
        assert [one.state for one in trace.doctor("trace.names")] == ["clear"]


def test_native_calls_of_a_web_service() -> None:
    """A loop that waits for sockets is no code without a name."""
    loop = "System.Net.Sockets.SocketAsyncEngine.EventLoop()"
    with clrevents.open(REQUESTS / "net10-shop-samples-4.nettrace.gz") as trace:
        samples = read_samples(trace)
        rows = {row.name: row for row in trace.report("top").methods}
    frames = [[samples.frames[frame] for frame in samples.frame_ids(s)] for s in range(len(samples.offsets) - 1)]
    called = [a for stack in frames for a, b in itertools.pairwise(stack) if a.reason == "not managed" and not b.reason]
    assert {frame.name.partition(" under ")[0] for frame in called} == {"[native]"}
    assert rows[f"[native] under {loop}"].waiting_ns == pytest.approx(3.62e9, rel=0.01)


def test_one_thread_of_a_long_id() -> None:
    with find("thread-id-over-32-bit") as trace:
        assert [row.thread_id for row in trace.report("threads").threads] == [6_185_070_592]


def test_stacks_that_the_runtime_cut_are_counted() -> None:
    with find("stacks-of-100-frames") as trace:
        samples = read_samples(trace)
        for name in ("top", "callers"):
            report = trace.report(name)
            (note,) = (note for note in report.notes if note.id == "cut-stacks")
            assert (note.numbers, report.metrics["cut_total"].value) == ({"stacks": 60, "weight": CUT}, CUT), name
        (finding,) = trace.doctor("trace.stacks").found
        assert trace.report("threads").threads[0].role == "main"
    shown = clrevents_run("info", FINDS / "stacks-of-100-frames.nettrace", "--json")
    assert [json.loads(shown.stdout)["metrics"][name]["value"] for name in ("stacks", "stacks_cut")] == [2, 1]
    assert (samples.cut_total, samples.in_states("running").cut_total) == (CUT, CUT)
    assert samples.shaped(fold="P.Down").cut_total == CUT
    assert samples.cut_text is not None
    assert "the runtime cut 60 stacks (74.7 % of the weight)" in samples.cut_text
    assert (finding.impact_ns, finding.share) == (CUT, CUT / samples.total)


def test_sleep_of_net_core_3_is_unknown_where_it_may_be_hidden() -> None:
    """The scripted thread slept for 509 ms, of which no sample says anything."""
    with clrevents.open(SHARED / "scenarios" / "net31-states-44.nettrace.gz") as trace:
        report = trace.report("threads")
        idle = trace.report("waits").metrics["idle_total"]
    row = next(row for row in report.threads if row.lock_ns)
    assert (row.sleep_ns, row.join_ns, row.wait_ns, row.unknown_ns) == (None, None, 505_261_946, 781_941_157)
    assert {role.role: role.sleep_ns for role in report.roles}["pool_worker"] is None
    assert idle.value is None


def test_methods_without_names_are_those_of_their_modules() -> None:
    with find("same-token-two-modules") as trace:
        rows = trace.report("top").methods
        samples = read_samples(trace)
    assert sorted(row.name for row in rows) == [
        "module 0xaaaa!0x06000001",
        "module 0xaaaa!method 0x7f0000003000",
        "module 0xbbbb!0x06000001",
        "module 0xbbbb!method 0x7f0000004000",
    ]
    assert {row.samples for row in rows} == {10}
    assert len({frame.raw for frame in samples.frames}) == 4


def test_methods_of_mono() -> None:
    with find("mono-method-names") as trace:
        rows = trace.report("top").methods
    assert {row.name: row.samples for row in rows} == dict.fromkeys(
        (
            "Shop.Cart.Pay(int)",
            "Shop.Cart.Pay(string, List<int>)",
            "Shop.Cart.Load(...)",
            "Shop.Cart.Sum.lambda_0(int)",
            "System.Collections.Generic.List<int>.Add(int)",
            "System.Collections.Generic.Dictionary<__Canon, __Canon>.Enumerator.MoveNext()",
            "System.Collections.Generic.List<__Canon>.Add(__Canon)",
        ),
        5,
    )


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_no_root_contradicts_a_role(shared: Shared) -> None:
    """A thread of the runtime begins with its own method in every sample, and no other thread ever does."""
    with clrevents.open(shared.path, errors="salvage") as trace:
        try:
            roles = {row.thread_id: row.role for row in trace.report("threads").threads}
            table = read_samples(trace, "sample/ThreadSample", artefacts=True).table()
        except TraceError:
            return
    for row in table.rows():
        names = [name.partition("(")[0] for name in reversed(row["stack"].split("\n")) if not name.startswith("[")]
        own = [name for name in names if not name.startswith(("System.Threading.Thread", "System.Threading.Exec"))]
        role = roles.get(row["thread_id"])
        for other, root in ROOT_OF.items():
            if own:
                assert (own[0] == root) == (role == other), (row["thread_id"], role, own)

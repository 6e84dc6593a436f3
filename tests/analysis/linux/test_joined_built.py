"""Two built recordings of one run, joined: what each state of a thread is made of, with the reason of each.

One thread waits for a lock, is stopped for a collection, and waits for something that only the kernel saw.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.events import (
    ContentionStart_V2,
    ContentionStop_V1,
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V1,
    ProcessMapping_V0,
    ProcessSymbol_V0,
)
from clrevents.rewrite import JoinResult, join
from clrevents.schema.codes import TypeCode
from clrevents.testing.builder import TraceBuilder

START = datetime(2026, 11, 24, tzinfo=UTC)
MS = 1_000_000
PROCESS, WORKER, COLLECTOR, OWNER = 4, 7, 8, 9
KERNEL = 0xFFFFFFFF81000000
FRAMES = ("__schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64")
SHIFT = 5_400_000
"""How much later EventPipe's recording began; its header says 5 ms."""
LOCKED, STOPPED, UNKNOWN = (10 * MS, 4 * MS), (20 * MS, 3 * MS), (30 * MS, 40 * MS)
TURNS = [(80 * MS + n * 1_300_000 + n * n * 17_000, 900_000) for n in range(12)]
"""When the collector's thread was off the processor, and how long."""


def recorder() -> TraceBuilder:
    trace = TraceBuilder("nettrace6", process_id=PROCESS, start=START).thread(WORKER)
    trace.event(ProcessMapping_V0(1, KERNEL, (1 << 64) - 1, 0, "vmlinux", 0))
    for place, name in enumerate(FRAMES):
        trace.event(ProcessSymbol_V0(place + 1, 1, KERNEL + place * 0x100, KERNEL + place * 0x100 + 0xFF, name))
    away = [(start, took, WORKER) for start, took in (LOCKED, STOPPED, UNKNOWN)]
    for start, took, thread in sorted([*away, *((start, took, COLLECTOR) for start, took in TURNS)]):
        stack = [KERNEL + place * 0x100 + 8 for place in range(len(FRAMES))]
        trace.thread(thread).at(start)
        trace.described("Universal.Events", "cswitch", {"Value": (TypeCode.INT64, took)}, id=40, stack=stack)
    return trace


def runtime(shift: int = SHIFT) -> TraceBuilder:
    trace = TraceBuilder(process_id=PROCESS, start=START + timedelta(milliseconds=shift // MS), sync_qpc=77)
    events: list[tuple[int, int, Any]] = [
        (LOCKED[0] - 4_000, WORKER, ContentionStart_V2(0, 0, 0xCAFE, 0, OWNER)),
        (sum(LOCKED) + 6_000, WORKER, ContentionStop_V1(0, 0, 4.01e6)),
        (15 * MS, WORKER, None),
        (STOPPED[0] - 40_000, COLLECTOR, GCSuspendEEBegin_V1(1, 1, 0)),
        (sum(STOPPED) - 50_000, COLLECTOR, GCRestartEEEnd_V1(0)),
    ]
    for start, took in TURNS:
        events += [(start - 3_000, COLLECTOR, b""), (start + took + 5_000, COLLECTOR, b"")]
    for time, thread, what in sorted(events, key=lambda event: event[:2]):
        trace.thread(thread).at(time - shift)
        if what is None:
            trace.sample(0x1000)
        elif what == b"":
            trace.raw("My-App", 1)
        else:
            trace.event(what)
    return trace


def joined(path: Path, other: bytes) -> JoinResult:
    with clrevents.open(recorder().build()) as linux, clrevents.open(other) as beside:
        return join(linux, beside, path)


def test_states_have_the_runtimes_reasons(tmp_path: Path) -> None:
    run = joined(tmp_path / "both.nettrace", runtime().build()).same_run
    assert (run.shift_ns, run.uncertainty_ns) == (SHIFT + 1_000 - 2_000, 4_000)
    assert (run.compared, run.contradicting, run.error_ns) == (27, 0, 0)
    with clrevents.open(tmp_path / "both.nettrace") as trace:
        rows: Any = [row for row in trace.report("threads").table("intervals") if row.thread_id == WORKER]
        assert [
            (r.state, r.start_ns, r.duration_ns, r.reason) for r in rows if r.state not in ("running", "unknown")
        ] == [
            ("lock", *LOCKED, "ContentionStart"),
            ("gc_suspended", *STOPPED, None),
            ("wait", *UNKNOWN, "futex"),
        ]
        lock = next(row for row in rows if row.state == "lock")
        assert (lock.lock_id, lock.owner_thread_id, lock.system_call) == (0xCAFE, OWNER, "futex")
        (contention,) = trace.report("locks").table("contentions")
        assert (contention.duration_ns, contention.away_ns) == (4_010_000, 4 * MS)
        halves = [trace.report("locks", end=12 * MS), trace.report("locks", start=12 * MS)]
        assert [row.away_ns for half in halves for row in half.table("locks")] == [2 * MS, 2 * MS]
        waits = [(w.kind, w.duration_ns) for w in trace.report("waits").table("waits") if w.thread_id == WORKER]
        # No stack of the last one shows managed code.
        assert waits == [("lock", 4_010_000), ("idle", 40 * MS)]
        (note,) = [note for note in trace.report("waits").notes if note.id == "stopped"]
        assert note.numbers == {"stopped_ns": 3 * MS}


def test_the_clock_may_begin_with_the_other_recording(tmp_path: Path) -> None:
    run = joined(tmp_path / "both.nettrace", runtime(-SHIFT).build()).same_run
    assert run.shift_ns == pytest.approx(-SHIFT, abs=5_000)
    with clrevents.open(tmp_path / "both.nettrace") as trace:
        assert trace.info.start == START - timedelta(milliseconds=6)
        (contention,) = trace.report("locks").table("contentions")
        assert contention.start_ns == LOCKED[0] - 4_000 - 1_000 + 6 * MS
        assert contention.away_ns == 4 * MS


def test_without_switches_the_starts_align(tmp_path: Path) -> None:
    linux = TraceBuilder("nettrace6", process_id=PROCESS, start=START).thread(WORKER).at(90 * MS).raw("My-App", 2)
    with clrevents.open(linux.build()) as mine, clrevents.open(runtime().build()) as other:
        out = BytesIO()
        run = join(mine, other, out).same_run
    assert (run.shift_ns, run.uncertainty_ns, run.compared, run.error_ns) == (5 * MS, MS, 0, None)
    with clrevents.open(out.getvalue()) as trace:
        (note,) = [note for note in trace.report("gc").notes if note.id == "joined"]
        assert "by the starts of both recordings" in note.message


def test_losses_of_both_stay(tmp_path: Path) -> None:
    other = runtime().thread(WORKER).at(200 * MS).lose(3).at(210 * MS).raw("My-App", 1)
    with pytest.warns(clrevents.TraceWarning):
        assert joined(tmp_path / "both.nettrace", other.build()).lost == 3
    with clrevents.open(tmp_path / "both.nettrace") as trace:
        with pytest.warns(clrevents.TraceWarning):
            (loss,) = trace.losses
        assert (loss.thread_id, loss.count) == (WORKER, 3)
        assert loss.end_ns == pytest.approx(210 * MS + SHIFT, abs=10_000)

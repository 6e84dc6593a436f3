"""Two built recordings of one run, joined: what each state of a thread is made of, with the reason of each."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import clrevents
from built.built_pair import LOCKED, MS, OWNER, PROCESS, SHIFT, START, STOPPED, UNKNOWN, WORKER, recorder, runtime
from clrevents.rewrite import JoinResult, join
from clrevents.schema.codes import TypeCode
from clrevents.testing.builder import TraceBuilder


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


def test_strange_switches_are_refused(tmp_path: Path) -> None:
    linux = TraceBuilder("nettrace6", process_id=PROCESS, start=START).thread(WORKER).at(90 * MS)
    linux.described("Universal.Events", "cswitch", {"Value": (TypeCode.STRING, "long")}, id=40)
    with clrevents.open(linux.build()) as mine, clrevents.open(runtime().build()) as other:
        with pytest.raises(ValueError, match="described in another way"):
            join(mine, other, tmp_path / "both.nettrace")
        damaged = TraceBuilder(process_id=PROCESS, start=START).at((1 << 63) - 1).raw("My-App", 1)
        with clrevents.open(damaged.build()) as far, clrevents.open(recorder().build()) as sound:
            assert join(sound, far, tmp_path / "far.nettrace").same_run.compared == 0

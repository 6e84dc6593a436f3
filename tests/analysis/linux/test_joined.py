"""Two recordings of one run in one trace: clocks within microseconds, states by the kernel, reasons by the runtime.

Runtime reports answer as on EventPipe's trace alone, sums of the kernel are as on the Linux recorder's alone.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import clrevents
from built.built_user_events import user_events
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.look import Look
from clrevents.export.timeline.report_items import read_timeline
from clrevents.rewrite import JoinResult, cut, join
from clrevents.rewrite.copy import Copier
from clrevents.schema.codes import TypeCode
from clrevents.schema.own_marks import JOINED
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import EventRows, SameRun, passes_of
from processor_counts import with_counts
from project_files import SHARED, without_shared

LINUX = SHARED / "linux"
pytestmark = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))
ALIGNED = {
    "states": SameRun(27628, 1_006_385_840, 4_514, 16_860, 0, 0),
    "convoy": SameRun(27656, 1_006_211_072, 5_550, 7_567, 0, 0),
    "cpu": SameRun(27609, 1_002_559_652, 4_082, 18_276, 0, 0),
    "garbage": SameRun(27677, 1_010_433_584, 5_316, 4_713, 0, 0),
    "async": SameRun(27751, 996_563_682, 5_050, 5_953, 0, 0),
    "exceptions": SameRun(27734, 1_001_572_243, 4_674, 5_079, 0, 0),
    # The recorder says of one thread that it was off the processor for 13 ms, in which it wrote 199 events.
    "starvation": SameRun(27695, 1_006_002_545, 4_108, 37_632, 199, 6_470_814),
}
ALL = ["states", "convoy", *(pytest.param(name, marks=pytest.mark.full) for name in list(ALIGNED)[2:])]
BY_KERNEL = {"threads", "waits", "top", "callers"}
"""The reports that the kernel's part answers."""
SCRIPTED = 27640


def half(name: str, which: str) -> clrevents.Trace:
    return clrevents.open(LINUX / f"net8-{name}-55.{which}.nettrace.gz")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Opens a joined pair by its name, and says how it was joined."""
    folder = tmp_path_factory.mktemp("joined")
    opened = []

    @functools.cache
    def made(name: str) -> tuple[clrevents.Trace, JoinResult]:
        out = folder / f"{name}.nettrace"
        with half(name, "linux") as linux, half(name, "eventpipe") as other:
            done = join(linux, other, out)
        opened.append(clrevents.open(out))
        return opened[-1], done

    yield made
    for trace in opened:
        trace.close()


@pytest.mark.parametrize("name", ALL)
def test_clocks_are_aligned_within_microseconds(both: Any, name: str) -> None:
    assert both(name)[1].same_run == ALIGNED[name]
    (note,) = [note for note in both(name)[0].report("gc").notes if note.id == "joined"]
    assert note.numbers == {key: v for key, v in attrs.asdict(ALIGNED[name]).items() if key != "process_id"}
    assert note.severity == ("warning" if name == "starvation" else "info")


@pytest.mark.parametrize(("name", "stops", "late_ns"), [("states", 7, 60_000), ("convoy", 12, 60_000)])
def test_alignment_holds_on_edges_that_did_not_align(name: str, stops: int, late_ns: int) -> None:
    """The sampler's events align the clocks; then a thread that gets its lock says so just after it has a processor."""
    inner = importlib.import_module("clrevents.trace.alignment")
    with half(name, "linux") as linux, half(name, "eventpipe") as other:
        process, shift = inner._by_starts(linux, other)
        times, threads = inner._written(other)
        away, starts, ends = inner._away(linux, process)
        ids, counts = np.unique(threads, return_counts=True)
        edges = inner.edges_between(times + shift, threads, away, starts, ends)
        low, high = edges.of(threads == ids[counts.argmax()]).best()
        assert high - low < 20_000
        assert low <= ALIGNED[name].shift_ns - shift <= high
        late = []
        for event in other.events("ContentionStop"):
            assert event.thread_id != ids[counts.argmax()]
            at = event.time_ns + shift + (low + high) // 2
            after = at - ends[away == event.thread_id]
            late.append(int(after[np.abs(after).argmin()]))
    assert len(late) == stops
    assert min(late) >= 0
    assert sorted(late)[len(late) * 3 // 4] < late_ns
    assert max(late) < 500_000


@pytest.mark.parametrize("name", ALL)
def test_every_event_is_there_once(both: Any, name: str) -> None:
    trace, done = both(name)
    with half(name, "linux") as linux, half(name, "eventpipe") as other:
        counts = trace.event_counts()
        # How it was joined, and that the recorder numbers no events.
        for mark in ((3, 0, "Joined"), (4, 0, "Lacked")):
            assert counts.pop(clrevents.EventKey("clrevents", *mark)) == 1
        assert counts == linux.event_counts() | other.event_counts()
        assert done.events == sum(counts.values())
        shift = done.same_run.shift_ns
        theirs = [(e.time_ns + shift, e.name, e.thread_id, e.payload, e.stack, e.activity_id) for e in other.events()]
        names = {key.name for key in other.event_counts()}
        ours = [(e.time_ns, e.name, e.thread_id, e.payload, e.stack, e.activity_id) for e in trace.events(*names)]
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs))
        assert {e.process_id for e in trace.events(*names)} == {other.info.process_id}
        assert trace.duration_ns == max(linux.duration_ns, other.duration_ns + shift)
    assert {problem.kind for problem in trace.check().problems} - {"payload-tail"} == {"unseen-losses"}


@pytest.mark.parametrize("name", ALL)
def test_runtime_reports_answer_as_on_the_other_trace(both: Any, name: str) -> None:
    trace, done = both(name)
    with half(name, "eventpipe") as other:
        alone, joined = other.reports(), trace.reports()
    assert alone["gc"].metrics["count"].value == (27 if name == "garbage" else 0)
    shift = done.same_run.shift_ns
    for report in sorted(set(alone) - BY_KERNEL):
        assert joined[report].metrics == alone[report].metrics, report
        assert joined[report].coverage == alone[report].coverage, report
        for table in joined[report].tables():
            mine, theirs = joined[report].table(table.name), alone[report].table(table.name)
            assert len(mine) == len(theirs), (report, table.name)
            # The timeline is cut at whole milliseconds of the trace.
            for column in ("start_ns", "time_ns", "end_ns") if table.name != "timeline" else ():
                if len(mine) and column in {c.name for c in columns_of(mine.row_class)}:
                    moved = [None if t is None else t + shift for t in theirs.column(column).tolist()]
                    assert mine.column(column).tolist() == moved, (report, table.name)


@pytest.mark.parametrize("name", ALL)
def test_sums_of_the_kernel_are_as_on_the_recorders_trace(both: Any, name: str) -> None:
    trace, _ = both(name)
    with half(name, "linux") as linux:
        alone, joined = linux.report("threads"), trace.report("threads")
        mine = {row.thread_id: row for row in joined.table("threads")}
        assert len(mine) == len(alone.table("threads"))
        for row in alone.table("threads"):
            ours = mine[row.thread_id]
            for column in ("life_ns", "running_ns", "ready_ns", "io_ns", "unknown_ns", "cpu_samples_ns"):
                assert getattr(ours, column) == getattr(row, column)
            assert ours.waiting_ns + (ours.gc_suspended_ns or 0) == row.waiting_ns
        for report in ("top", "callers"):
            assert trace.report(report).metrics["total"] == linux.report(report).metrics["total"]


def test_waits_are_what_the_program_says(both: Any) -> None:
    script = json.loads((LINUX / "net8-states-55.truth.json").read_text())["script"]
    told = [(kind, ms) for kind, _, ms in script if kind != "burn"]
    trace, _ = both("states")
    kinds = {"sleep": "sleep", "event": "handle", "lock": "lock"}
    waits = [w for w in trace.report("waits").table("waits") if w.thread_id == SCRIPTED and w.duration_ns > 20_000_000]
    assert [wait.kind for wait in waits] == [kinds[kind] for kind, _ in told]
    for wait, (_, ms) in zip(waits, told, strict=True):
        assert wait.duration_ns / 1e6 <= ms
        assert wait.duration_ns / 1e6 == pytest.approx(ms, rel=0.25)
    assert {wait.method for wait in waits} == {"Scenarios.States.lambda_0()"}
    states = {"sleep": "sleep", "event": "wait", "lock": "lock"}
    long = [
        row
        for row in trace.report("threads").table("intervals")
        if row.thread_id == SCRIPTED and row.duration_ns > 20_000_000 and row.state not in ("running", "ready")
    ]
    assert [row.state for row in long] == [states[kind] for kind, _ in told]
    locks = [row for row in long if row.state == "lock"]
    assert {row.system_call for row in locks} == {"futex"}
    assert all(row.lock_id and row.owner_thread_id for row in locks)
    assert all(row.reason is not None for row in long)


def test_what_the_sample_profiler_cost(both: Any) -> None:
    answer = both("cpu")[0].report("threads")
    rows = {row.role: row for row in answer.table("threads")}
    assert rows["sampler"].thread_id == 27618
    assert answer.facts.sampler_running_ns == rows["sampler"].running_ns == 597_063_047
    assert answer.facts.sampler_stopped_ns == 876_367_499
    (note,) = [note for note in answer.notes if note.id == "sampled-off-processor"]
    # It saw BurnA and BurnB run for a fifth more than they had processors.
    assert note.numbers["sampled_ns"] / 1e6 == pytest.approx(5_060, abs=10)
    assert note.numbers["off_processor_ns"] / 1e6 == pytest.approx(832, abs=10)
    assert note.numbers["stopped_ns"] <= note.numbers["off_processor_ns"]


UNNAMED = {
    **{"states": (471, 0), "convoy": (28, 0), "cpu": (4_219, 3), "garbage": (92, 1)},
    **{"async": (27, 1), "exceptions": (21, 0), "starvation": (46, 3)},
}


@pytest.mark.parametrize("name", ALL)
def test_what_has_no_name_is_no_method(both: Any, name: str) -> None:
    """Managed code without a name is among compiled code: no method that the runtime lists covers it. One method was
    used first after the runtime had listed all."""
    trace, _ = both(name)
    samples = read_samples(trace)
    managed = {place for place, frame in enumerate(samples.frames) if frame.kind == "managed"}
    bad = {place for place in managed if samples.frames[place].reason is not None}
    held = [stack for stack in (set(samples.frame_ids(stack)) for stack in samples.stack.tolist()) if stack & managed]
    assert (len(held), sum(bool(stack & bad) for stack in held)) == UNNAMED[name]
    names = {samples.frames[place].name for place in bad}
    late = {"[unresolved in System.Private.CoreLib.dll]"} if name == "starvation" else set()
    assert names - late <= {"[unresolved in memfd:doublemapper (deleted)]"}
    listed = trace.events("MethodDCEndVerbose", "MethodLoadVerbose", "MethodUnloadVerbose")
    spans = [(e.payload.MethodStartAddress, e.payload.MethodStartAddress + e.payload.MethodSize) for e in listed]
    for event in trace.events("Universal.Events/cpu"):
        for address, frame in zip(event.stack, event.frames, strict=True):
            if frame.reason == "native" and "doublemapper" in frame.module:
                assert not any(low <= address < high for low, high in spans)


STUBS = {"convoy": 4, "async": 3, "starvation": 4, "states": 1}


@pytest.mark.parametrize("name", ALL)
def test_stubs_are_stubs(both: Any, name: str) -> None:
    """No method is where only stubs should be. Each of them has 24 bytes; threads are interrupted where one of its
    instructions begins (by chance, that would be one in three times), and it calls nothing."""
    trace, _ = both(name)
    found = []
    for event in trace.events("Universal.Events/*"):
        for place, (address, frame) in enumerate(zip(event.stack, event.frames, strict=True)):
            if frame.reason == "runtime stub":
                found.append(address)
                assert address % 0x8000 % 24 in (0, 6, 7, 10, 12, 13, 18)
                assert place == 0 or event.stack[place - 1] >> 63
    assert len(found) == STUBS.get(name, 0)
    native = trace.methods.native
    lives = native.mappings.lives
    stubs = lives.start[native._stubs[lives.row]].tolist()
    assert len(stubs) >= 42
    methods = [method.address for method in trace.methods if not method.native]
    assert len(methods) > 900
    assert not [address for address in methods for start in stubs if 0 <= address - start < 0x4000]


SKIPPED = {"cpu": 5_747, "states": 563, "garbage": 75}


@pytest.mark.parametrize("name", ALL)
def test_callers_that_the_unwinder_skipped(both: Any, name: str) -> None:
    """Wherever the recorder saw code that had replaced other code on the stack, the other recording of the run says
    that it had another caller: in every one of its samples."""
    trace, _ = both(name)
    marked: set[tuple[str, str]] = set()
    count = 0
    for weight in (None, "off-cpu"):
        samples = read_samples(trace, weight=weight)
        for stack in samples.stack.tolist():
            frames = [samples.frames[place] for place in samples.frame_ids(stack)]
            for place, frame in enumerate(frames):
                if frame.reason == "skipped caller":
                    count += 1
                    marked.add((frames[place - 1].name, frames[place + 1].name))
    assert count == SKIPPED.get(name, 0)
    callers: dict[str, set[tuple[str, str]]] = {}
    for sample in trace.events("ThreadSample"):
        for upper, caller, above in zip(sample.frames, sample.frames[1:], (*sample.frames[2:], None), strict=False):
            if str(upper.tier) == "OptimizedTier1OSR":
                callers.setdefault(upper.display, set()).add((caller.display, above.display if above else ""))
    for method, beyond in marked:
        # Never called by itself; what the recorder has beyond is the caller of the caller, or no managed code.
        assert callers[method]
        assert method not in {caller for caller, _ in callers[method]}
        assert beyond in {above for _, above in callers[method]} or beyond.startswith("[unresolved in libcoreclr.so")


def test_a_part_says_that_it_is_of_two(both: Any, tmp_path: Path) -> None:
    trace, done = both("convoy")
    cut(trace, tmp_path / "part.nettrace", start="1.5s")
    with clrevents.open(tmp_path / "part.nettrace") as part:
        (note,) = [note for note in part.report("locks").notes if note.id == "joined"]
        assert note.numbers["shift_ns"] == done.same_run.shift_ns
    with half("convoy", "eventpipe") as other, pytest.raises(ValueError, match="joined with another one already"):
        join(trace, other, tmp_path / "again.nettrace")
    assert os.listdir(tmp_path) == ["part.nettrace"]


def test_only_of_one_run(tmp_path: Path) -> None:
    out = tmp_path / "both.nettrace"
    with half("states", "linux") as trace:
        with half("cpu", "eventpipe") as other, pytest.raises(ValueError, match="27609, which is not in this one"):
            join(trace, other, out)
        with half("cpu", "linux") as other, pytest.raises(ValueError, match="which process"):
            join(trace, other, out)
    with half("states", "eventpipe") as trace, pytest.raises(ValueError, match="only a recording of the Linux"):
        join(trace, trace, out)
    assert not out.exists()


def test_the_convoy_with_real_time_off_the_processor(both: Any) -> None:
    trace, _ = both("convoy")
    answer = trace.report("locks")
    (lock,) = answer.table("locks")
    assert (lock.lock_id, lock.count, lock.threads, lock.most_waiters) == (140421741157560, 12, 4, 3)
    assert (lock.waited_ns, lock.away_ns) == (861_715_163, 858_794_509)
    (convoy,) = answer.table("convoys")
    assert (convoy.waited_ns, convoy.away_ns, convoy.handovers) == (861_715_163, 858_794_509, 8)
    assert {row.thread_id: row.away_ns for row in answer.table("threads")} == {
        27671: 316_878_752,
        27670: 288_439_800,
        27669: 246_401_605,
        27668: 7_074_352,
    }
    # The same as `threads` says, which takes whole times off the processor: none reaches beyond its contention.
    locked = [row for row in trace.report("threads").table("intervals") if row.state == "lock"]
    assert sum(row.duration_ns for row in locked) == lock.away_ns
    assert {row.lock_id for row in locked} == {lock.lock_id}
    owners = {(row.thread_id, row.owner_thread_id) for row in answer.table("contentions")}
    assert {(row.thread_id, row.owner_thread_id) for row in locked} == owners
    with half("convoy", "eventpipe") as other:
        assert {row.away_ns for row in other.report("locks").table("contentions")} == {None}


def _for_gc(payload: bytes) -> bytes:
    """A GCSuspendEEBegin with the reason 1 instead of 0, which is its first number."""
    assert payload[:4] == bytes(4)
    return (1).to_bytes(4, "little") + payload[4:]


def test_a_thread_stopped_for_a_collection_sits_in_a_futex(tmp_path: Path) -> None:
    """No program of the pairs runs managed code on another thread while it collects. So the sample profiler's stops are
    said to be for collections: what it stopped is then `gc_suspended`, and nothing else changes."""
    with half("cpu", "linux") as linux, half("cpu", "eventpipe") as other:
        join(linux, other, tmp_path / "as-recorded.nettrace")
        for_gc = tmp_path / "for-gc.nettrace"
        with open(for_gc, "wb") as file:
            copier = Copier(file, other.info)
            for rows in passes_of(other).event_rows(decode=False):
                kinds = EventRows(rows, count=len(rows)).kinds
                payloads = zip(kinds, rows.payload_bytes, strict=True)
                stops = {"GCSuspendEEBegin"}
                copier.add(rows, [_for_gc(data) if kind.key.name in stops else data for kind, data in payloads])
            copier.finish()
        with clrevents.open(for_gc) as changed:
            join(linux, changed, tmp_path / "for-gc.both.nettrace")
    names = ("as-recorded.nettrace", "for-gc.both.nettrace")
    with clrevents.open(tmp_path / names[0]) as trace, clrevents.open(tmp_path / names[1]) as gc:
        before, after = trace.report("threads"), gc.report("threads")
    assert before.metrics["gc_suspended_total"].value == 0
    assert after.metrics["gc_suspended_total"].value == before.facts.sampler_stopped_ns == 876_367_499
    assert after.facts.sampler_stopped_ns == 0
    suspended = {row.thread_id: row.gc_suspended_ns for row in after.table("threads") if row.gc_suspended_ns}
    assert suspended.keys() >= {27621, 27622}
    assert suspended[27621] + suspended[27622] > 0.95 * 876_367_499
    for name in ("running_total", "ready_total", "sleep_total", "join_total", "io_total"):
        assert after.metrics[name] == before.metrics[name]
    rows = [row for row in after.table("intervals") if row.state == "gc_suspended"]
    assert {row.system_call for row in rows} == {"futex"}


def test_one_timeline_has_exceptions_and_processors(both: Any) -> None:
    trace, done = both("exceptions")
    timeline = read_timeline(trace, Look("both", "test", True, False, trace.info.start))
    items: dict[str, list[Any]] = {}
    for track, item in timeline.items():
        items.setdefault(track.name, []).append((track, item))
    with half("exceptions", "eventpipe") as other:
        thrown = [row.start_ns + done.same_run.shift_ns for row in other.report("exceptions").table("exceptions")]
    assert sorted(item.start_ns for _, item in items["exceptions"]) == sorted(thrown)
    levels = [item for _, item in items["processors in use"]]
    assert {track.process_id for track, _ in items["processors in use"]} == {done.same_run.process_id}
    assert min(level.value for level in levels) == levels[-1].value == 0
    used = sum(a.value * (b.start_ns - a.start_ns) for a, b in pairwise(levels))
    assert used == trace.report("threads").metrics["running_total"].value
    # A thread that throws has a processor: so says the kernel.
    moments = np.array([level.start_ns for level in levels])
    at = np.searchsorted(moments, np.array(thrown), side="right") - 1
    assert min(levels[place].value for place in at.tolist()) >= 1
    with half("exceptions", "eventpipe") as other:
        alone = read_timeline(other, Look("alone", "test", True, False, None))
        assert "processors in use" not in {track.name for track, _ in alone.items()}


@pytest.mark.parametrize("name", ["convoy", *(pytest.param(n, marks=pytest.mark.full) for n in ("garbage", "states"))])
def test_a_file_with_both_and_no_mark_answers_the_same(both: Any, name: str, tmp_path: Path) -> None:
    """As a recorder on a kernel with user events may write it: nobody joined anything, and there is one clock."""
    trace, _ = both(name)
    with open(tmp_path / "one.nettrace", "wb") as file:
        copier = Copier(file, trace.info)
        for rows in passes_of(trace).event_rows(decode=False):
            kept = [row for row, kind in enumerate(EventRows(rows, count=len(rows)).kinds) if kind.key.name != "Joined"]
            copier.add(rows.take(kept))
        copier.finish()
    with clrevents.open(tmp_path / "one.nettrace") as one:
        marked, plain = trace.reports(), one.reports()
    for report, answer in marked.items():
        assert {note.id for note in answer.notes} - {note.id for note in plain[report].notes} == {"joined"}, report
        assert plain[report].coverage == answer.coverage, report
        # The runtime's part lasts as long as the recording, then; and its times are taken to be exact.
        differing = {key for key in answer.metrics if answer.metrics[key] != plain[report].metrics[key]}
        if report not in BY_KERNEL:
            assert differing <= {"paused"}, report
        for key in differing - {"paused"}:
            assert plain[report].metrics[key].value == pytest.approx(answer.metrics[key].value, rel=0.005), (
                report,
                key,
            )


PROOF_BY_KEYWORDS = {"starved_total", "blocked_total", "blocked_workers", "adjustments", "raises"}
PROOF_BY_KEYWORDS |= {"items", "items_before", "items_never"}
PROOF_BY_KEYWORDS |= {"count", "tasks", "continuations", "exceptional"}
"""What did not occur is known to be recorded by the keywords of other events, and the recorder writes none."""


@pytest.mark.parametrize(
    "name", ["convoy", *(pytest.param(n, marks=pytest.mark.full) for n in ("garbage", "async", "exceptions"))]
)
def test_runtime_events_in_the_recorders_layout(both: Any, name: str) -> None:
    """Versions, opcodes and activities are labels there, and descriptions have neither names nor fields."""
    trace, _ = both(name)
    data = user_events(trace)
    with clrevents.open(data) as one:
        counts = trace.event_counts()
        del counts[clrevents.EventKey("clrevents", 3, 0, "Joined")]
        assert one.event_counts() == counts
        assert {problem.kind for problem in one.check().problems} - {"payload-tail"} == {"unseen-losses"}
        kept = [event for event in trace.events() if event.name != "Joined"]
        for mine, theirs in zip(one.events(), kept, strict=True):
            assert (mine.name, mine.version, mine.payload) == (theirs.name, theirs.version, theirs.payload)
            assert (mine.process_id, mine.thread_id) == (theirs.process_id, theirs.thread_id)
            assert (mine.activity_id, mine.related_activity_id) == (theirs.activity_id, theirs.related_activity_id)
        marked, plain = trace.reports(), one.reports()
    for report, answer in marked.items():
        differing = {key for key in answer.metrics if answer.metrics[key] != plain[report].metrics[key]}
        notes = {note.id for note in answer.notes} ^ {note.id for note in plain[report].notes}
        if report in ("pool", "tasks"):
            assert differing <= PROOF_BY_KEYWORDS
            for metric in (plain[report].metrics[key] for key in differing):
                assert metric.value is None or (metric.low is not None and metric.high is None)
            continue
        assert plain[report].coverage == answer.coverage, report
        assert notes == {"joined"}, report
        # The runtime's part lasts as long as the recording: what nobody waited for in the end is longer.
        assert differing <= {"waits": {"idle_total"}, "gc": {"paused"}}.get(report, set()), report
        for table in answer.tables() if report != "waits" else ():
            assert len(answer.table(table.name)) == len(plain[report].table(table.name)), (report, table.name)
    mine, joined = (found["waits"].metrics["idle_total"].value for found in (plain, marked))
    assert mine == pytest.approx(joined, rel=0.001)


@pytest.mark.parametrize("names", [("ProcessID",), (*JOINED.names, "More")])
@pytest.mark.parametrize("value", [-(1 << 63), 0, (1 << 63) - 1])
def test_a_strange_mark_is_harmless(names: tuple[str, ...], value: int) -> None:
    builder = TraceBuilder("nettrace6", process_id=4).thread(7)
    builder.described("clrevents", "Joined", dict.fromkeys(names, (TypeCode.INT64, value)), id=3)
    with clrevents.open(builder.sample(0x1000).build()) as trace:
        for answer in trace.reports().values():
            expected = "joined" if len(names) > 1 and value >= 0 else "unfit-events"
            assert {note.id for note in answer.notes} & {"joined", "unfit-events"} == {expected}


def test_counts_keep_their_sums_in_a_joined_trace(tmp_path: Path) -> None:
    """They come with the runtime's half; the kernel says when each thread had a processor, so reports ask it."""
    with half("states", "linux") as linux, half("states", "eventpipe") as plain:
        thread, began = next(plain.events("ThreadSample")).thread_id, plain.info.sync_qpc
        lines = [
            {
                "t0": began + 10**8 * n,
                "t1": began + 10**8 * n,
                "names": [[thread, "Main"]],
                "threads": [[thread, n, 0, 1]],
            }
            for n in (1, 3, 7, 20)
        ]
        with clrevents.open(with_counts(plain, lines)) as counted:
            join(linux, counted, tmp_path / "joined.nettrace")
            before = counted.table("clrevents/ProcessorTime")
            assert sum(before["ProcessorNs"]) == 20
    with clrevents.open(tmp_path / "joined.nettrace") as joined:
        after = joined.table("clrevents/ProcessorTime")
        assert after["ProcessorNs"].tolist() == before["ProcessorNs"].tolist()
        assert after["OSThreadID"].tolist() == before["OSThreadID"].tolist()
        assert {row.processor_ns for row in joined.report("threads").threads} == {None}

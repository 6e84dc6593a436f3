"""Time off a processor by stack: the same sums as in `threads` and `waits`, in every view and every format."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import clrevents
from clrevents.analysis.shared.samples.leaf_states import OFF_PROCESSOR, STATES
from clrevents.analysis.shared.samples.off_processor import kernel_entry
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.cli import root
from clrevents.export.page.page_flames import PageStacks, page_flames
from project_files import SHARED, fixture, linux_recording, without_shared

LINUX = SHARED / "linux"
NO_THREAD = 0xFFFFFFFF
needs_shared = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))
NAMES = ("async", "convoy", "cpu", "exceptions", "garbage", "starvation", "states", "two")
ALL = ["fixture", *(pytest.param(n, marks=[needs_shared, pytest.mark.full]) for n in NAMES)]


def by_state(samples: Samples) -> Counter[str]:
    found: Counter[str] = Counter()
    for state, weight in zip(samples.state.tolist(), samples.weight.tolist(), strict=True):  # type: ignore[union-attr]
        found[STATES[state]] += weight
    return found


@pytest.mark.parametrize("name", ALL)
def test_stacks_of_threads_off_processors_add_up_to_threads_and_waits(name: str, tmp_path: Path) -> None:
    with clrevents.open(linux_recording(name)) as trace:
        samples = read_samples(trace, weight="off-cpu")
        exits = {
            (row.process_id, row.thread_id, row.end_ns)
            for row in trace.report("threads").table("threads")
            if row.end_evidence == "event"
        }
        wanted = sum(
            event.payload.Value
            for event in trace.events("Universal.Events/cswitch")
            if event.thread_id != NO_THREAD
            and (event.process_id, event.thread_id, event.time_ns) not in exits
            and (None, event.thread_id, event.time_ns) not in exits
        )
        assert samples.total == wanted > 0
        states: Counter[str] = Counter()
        for row in trace.report("threads").table("states"):
            if row.state in OFF_PROCESSOR and row.state != "unknown":
                states[row.state] += row.total_ns
        assert by_state(samples) == states
        waits = trace.report("waits")
        waited = waits.metrics["waited_total"].value + waits.metrics["idle_total"].value  # type: ignore[operator]
        assert samples.total - states["ready"] == waited
        top = trace.report("top", by="off-cpu")
        assert top.metrics["total"].value == sum(row.exclusive_ns for row in top.table("methods")) == wanted
        assert top.metrics["total"].evidence == "event"
        for state in states:
            assert trace.report("top", by="off-cpu", state=state).metrics["total"].value == states[state]
        assert (
            sum(r.inclusive_ns for r in trace.report("callers", by="off-cpu").table("callees") if not r.depth) == wanted
        )
        for suffix in ("folded", "speedscope.json", "html", "pb.gz"):
            samples.write(tmp_path / f"a.{suffix}")
        assert sum(int(line.rpartition(" ")[2]) for line in (tmp_path / "a.folded").read_text().splitlines()) == wanted
        profiles = json.loads((tmp_path / "a.speedscope.json").read_text())["profiles"]
        assert sum(sum(profile["weights"]) for profile in profiles) == wanted
        folded = samples.shaped(fold_kernel=True)
        assert folded.total == wanted
        assert by_state(folded) == states


@pytest.mark.parametrize("name", ["fixture", pytest.param("cpu", marks=needs_shared)])
def test_the_page_draws_it_too(name: str) -> None:
    with clrevents.open(linux_recording(name)) as trace:
        pictures = {picture["name"]: picture for picture in page_flames(PageStacks.of(trace))}
        total = read_samples(trace, weight="off-cpu").total
    assert sum(pictures["off a processor"]["own"]) == total
    told = {state: sum(weights) for state, _, weights in pictures["off a processor"]["states"]}
    assert sum(told.values()) == total
    assert {"ready", "wait", "sleep", "io"} == set(told)


def test_windows_add_up_and_threads_too() -> None:
    with clrevents.open(fixture("net8-linux")) as trace:
        whole = read_samples(trace, weight="off-cpu")
        parts = [read_samples(trace, weight="off-cpu", **part) for part in ({"end": "60%"}, {"start": "60%"})]  # type: ignore[arg-type]
        assert sum(part.total for part in parts) == whole.total
        assert parts[1].time_ns.min() >= parts[0].time_ns.max()
        threads = [thread.thread_id for thread in whole.threads]
        each = [trace.report("top", by="off-cpu", thread_id=thread).metrics["total"].value for thread in threads]
        assert sum(filter(None, each)) == whole.total
        assert sum(read_samples(trace, weight="off-cpu", thread_id=thread).total for thread in threads) == whole.total


@pytest.mark.parametrize("weight", [None, "off-cpu"])
@pytest.mark.parametrize("name", ["fixture", pytest.param("states", marks=needs_shared)])
def test_folded_stacks_have_one_frame_of_the_kernel(name: str, weight: str | None) -> None:
    with clrevents.open(linux_recording(name)) as trace:
        samples = read_samples(trace, weight=weight)
        folded = samples.shaped(fold_kernel=True)
        for before, after in zip(samples.stack.tolist(), folded.stack.tolist(), strict=True):
            one = [samples.frames[frame] for frame in samples.frame_ids(before)]
            other = [folded.frames[frame] for frame in folded.frame_ids(after)]
            kernel = [frame for frame in one if frame.kind == "kernel"]
            assert one[: len(kernel)] == kernel
            assert other == [*other[: bool(kernel)], *one[len(kernel) :]]
            assert all(frame.kind == "kernel" for frame in other[: bool(kernel)])
            if any(frame.name == "__x64_sys_futex" for frame in kernel):
                assert other[0].name == "[system call futex]"
        for report in ("top", "callers"):
            answer: Any = trace.report(report, fold_kernel=True, weight=weight)
            assert answer.metrics["total"].value == samples.total


def test_what_the_kernel_was_entered_for() -> None:
    assert kernel_entry(["schedule", "__x64_sys_futex", "do_syscall_64"]) == "[system call futex]"
    assert kernel_entry(["schedule", "exit_to_user_mode_loop", "do_syscall_64"]) == "[system call]"
    assert kernel_entry(["io_schedule", "exc_page_fault", "asm_exc_page_fault"]) == "[page fault]"
    assert kernel_entry(["schedule", "asm_sysvec_apic_timer_interrupt"]) == "[interrupt]"
    assert kernel_entry(["ret_from_fork"]) == "[kernel]"


def test_the_command(tmp_path: Path) -> None:
    path, out = str(fixture("net8-linux")), str(tmp_path / "off.folded")
    with clrevents.open(path) as trace:
        wanted = read_samples(trace, weight="off-cpu")
    done = CliRunner().invoke(root, ["flame", path, "--off-cpu", "-o", out])
    assert done.exit_code == 0
    assert "1,023 times off a processor of 9 threads" in done.output
    assert sum(int(line.rpartition(" ")[2]) for line in Path(out).read_text().splitlines()) == wanted.total
    done = CliRunner().invoke(root, ["flame", path, "--off-cpu", "--state", "ready", "-o", out])
    assert sum(int(line.rpartition(" ")[2]) for line in Path(out).read_text().splitlines()) == by_state(wanted)["ready"]
    for wrong, text in (
        (["--off-cpu", "--by", "alloc"], "--off-cpu is a weight of its own"),
        (["--off-cpu", "--running"], "threads off a processor do not run"),
        (["--off-cpu", "--state", "native"], "no state 'native'"),
    ):
        done = CliRunner().invoke(root, ["flame", path, *wrong, "-o", out])
        assert done.exit_code != 0
        assert text in done.output
    done = CliRunner().invoke(root, ["flame", str(fixture("net10-convoy")), "--off-cpu", "-o", out])
    assert done.exit_code == 1
    assert "collect-linux" in done.output

"""A Linux recording with names from EventPipe's trace of the same run: nearly all managed code has them, and waits say
what the program says of itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

import clrevents
from clrevents.analysis.shared.samples.samples import read_samples
from project_files import SHARED, without_shared

LINUX = SHARED / "linux"
pytestmark = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))
SCENARIOS = ["cpu", "states"]
SCRIPTED = 27640


def opened(name: str, half: str = "linux") -> clrevents.Trace:
    return clrevents.open(LINUX / f"net8-{name}-55.{half}.nettrace.gz")


def nameless(trace: clrevents.Trace) -> float:
    """The share of samples with managed code on their stack that hold some of a file without its name."""
    samples = read_samples(trace)
    bad = {place for place, frame in enumerate(samples.frames) if frame.kind == "managed" and frame.reason is not None}
    managed = {place for place, frame in enumerate(samples.frames) if frame.kind == "managed"}
    stacks = [set(samples.frame_ids(stack)) for stack in samples.stack.tolist()]
    held = [stack for stack in stacks if stack & managed]
    return sum(bool(stack & bad) for stack in held) / len(held)


@pytest.mark.parametrize("name", SCENARIOS)
def test_at_most_one_percent_of_managed_samples_lack_a_name(name: str) -> None:
    with opened(name) as trace, opened(name, "eventpipe") as other:
        before, total = nameless(trace), read_samples(trace).total
        found = trace.name_by(other)
        assert nameless(trace) <= 0.01
        assert nameless(trace) < before
        assert read_samples(trace).total == total
        assert found.process_id == other.info.process_id
        assert found.uncertainty_ns == 1_000_000
        assert other.info.start is not None
        assert trace.info.start is not None
        assert found.shift_ns == round((other.info.start - trace.info.start).total_seconds() * 1e9)


def test_the_scripts_waits_have_their_kinds_and_lengths() -> None:
    """.NET 8 shows no frame where it waits for a lock: that stays a futex."""
    script = json.loads((LINUX / "net8-states-55.truth.json").read_text())["script"]
    told = [(kind, ms) for kind, _, ms in script if kind != "burn"]
    with opened("states") as trace, opened("states", "eventpipe") as other:
        trace.name_by(other)
        answer = trace.report("waits")
        states: Any = trace.report("threads").table("intervals")
        waits = [w for w in answer.table("waits") if w.thread_id == SCRIPTED and w.duration_ns > 20_000_000]
        kinds = {"sleep": "sleep", "event": "handle", "lock": "futex"}
        assert [wait.kind for wait in waits] == [kinds[kind] for kind, _ in told]
        for wait, (_, ms) in zip(waits, told, strict=True):
            assert wait.duration_ns / 1e6 <= ms
            assert wait.duration_ns / 1e6 == pytest.approx(ms, rel=0.25)
        assert {wait.method for wait in waits} == {"Scenarios.States.lambda_0()"}
        named = [row for row in states if row.thread_id == SCRIPTED and row.duration_ns > 20_000_000]
        waiting = [row.state for row in named if row.state not in ("running", "ready")]
        assert waiting == [{"sleep": "sleep", "handle": "wait", "futex": "wait"}[wait.kind] for wait in waits]
        (note,) = [note for note in answer.notes if note.id == "named-by"]
        assert note.numbers == {"shift_ns": 1_006_000_000, "uncertainty_ns": 1_000_000}


def test_names_are_of_the_same_run_only() -> None:
    with opened("states") as trace:
        with opened("cpu", "eventpipe") as other, pytest.raises(ValueError, match="27609, which is not in this one"):
            trace.name_by(other)
        with opened("cpu") as other, pytest.raises(ValueError, match="which process"):
            trace.name_by(other)
        assert trace.named_by is None

"""What was thrown as weighted stacks, and stacks under a text of their event."""

from __future__ import annotations

from collections import Counter

import numpy as np

import clrevents
from clrevents.analysis import read_samples
from clrevents.analysis.gathering.merged_stacks import MergedStacks, StackFrame
from clrevents.analysis.shared.weights.weight_fields import under_texts
from clrevents.events import ExceptionThrown_V1
from project_files import fixture

THROWN = fixture("net10-exceptions")


def raw_types() -> Counter[str]:
    with clrevents.open(THROWN) as trace:
        return Counter(event.payload.ExceptionType for event in trace.events(ExceptionThrown_V1))


def test_stacks_under_the_type_of_their_exception() -> None:
    with clrevents.open(THROWN) as trace:
        plain = read_samples(trace, weight="exceptions")
        typed = read_samples(trace, weight="ExceptionType")
        named = read_samples(trace, "ExceptionThrown", "ExceptionType")
        tree = trace.report("callers", method="Scenarios.Main", by="ExceptionType")
    found = Counter[str]()
    for stack, weight in zip(typed.stack.tolist(), typed.weight.tolist(), strict=True):
        found[typed.frames[typed.frame_ids(stack)[-1]].name] += weight
    assert found == raw_types()
    assert sorted(found.values()) == [16, 16, 16, 17]
    below = [[plain.frames[frame].name for frame in plain.frame_ids(stack)] for stack in plain.stack.tolist()]
    assert below == [[typed.frames[f].name for f in typed.frame_ids(s)[:-1]] for s in typed.stack.tolist()]
    assert [plain.thread.tolist(), plain.time_ns.tolist()] == [typed.thread.tolist(), typed.time_ns.tolist()]
    assert named.table().column("stack").tolist() == typed.table().column("stack").tolist()
    assert {row.name: row.samples for row in tree.callers if row.depth} == raw_types()


def test_a_trace_without_exceptions_says_how_to_record_some() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:
        report = trace.report("top", by="exceptions")
    assert (report.coverage, report.metrics["total"].value) == ("none", None)
    (note,) = report.notes
    assert (note.id, note.record) == ("not-recorded", "Microsoft-Windows-DotNETRuntime:0x200008000:2")


def test_no_frame_for_no_text() -> None:
    frames = tuple(StackFrame(name, name) for name in "ab")
    stacks = MergedStacks(np.array([0, 1, 0, 0]), np.array([0, 2, 3]), np.array([0, 1, 1]), frames)
    made = under_texts(stacks, np.array([0, 0, 1, 2]), ("X", None, "a"))
    shown = ["".join(made.frames[f].name for f in made.values[made.offsets[s] : made.offsets[s + 1]]) for s in made.of]
    assert shown == ["abX", "bX", "ab", "aba"]
    # A text that reads as a method does is a frame like it.
    assert len(made.frames) == 3
    empty = under_texts(MergedStacks(stacks.of[:0], stacks.offsets[:1], stacks.values[:0], ()), stacks.of[:0], ())
    assert (len(empty.of), empty.frames) == (0, ())

"""Hints at who was late for a suspension: the samples before it, one after the other."""

from __future__ import annotations

from typing import Any

import clrevents
from project_files import fixture

GARBAGE = fixture("net10-garbage")
NEAR_NS = 20_000_000


def expected() -> list[tuple[int, int, int]]:
    """By hand: the start of each suspension for a collection, a thread, and how long before it was in managed code."""
    last: dict[int, tuple[int, int]] = {}
    found: list[tuple[int, int, int]] = []
    with clrevents.open(GARBAGE) as trace:
        for event in trace.events("sample/ThreadSample", "runtime/GCSuspendEEBegin"):
            payload: Any = event.payload
            if event.name == "ThreadSample":
                assert event.thread_id is not None
                last[event.thread_id] = event.time_ns, int(payload.Type)
            elif payload.Reason in (1, 6):
                found += [
                    (event.time_ns, thread, event.time_ns - time)
                    for thread, (time, kind) in last.items()
                    if kind == 2 and event.time_ns - time <= NEAR_NS
                ]
    return sorted(found)


def test_hints_are_the_last_samples_before() -> None:
    with clrevents.open(GARBAGE) as trace:
        report = trace.report("gc", hints=True)
        plain = trace.report("gc")
    # There are eleven suspensions, fewer than are shown.
    assert sorted((h.start_ns, h.thread_id, h.before_ns) for h in report.hints) == expected()
    assert len(report.hints) == 7
    suspensions = {s.start_ns: s for s in report.suspensions}
    for hint in report.hints:
        of = suspensions[hint.start_ns]
        assert (hint.suspend_ns, hint.number, hint.end_ns) == (of.suspend_ns, of.number, of.stopped_ns)
    assert {h.method for h in report.hints} == {
        "System.Array.Copy(Array, int, Array, int, int)",
        "Scenarios.Garbage(Random)",
    }
    assert len(plain.hints) == 0
    assert report.collections == plain.collections
    assert report.metrics == plain.metrics


def test_without_samples_there_is_no_hint() -> None:
    with clrevents.open(fixture("net10-servergc")) as trace:
        report = trace.report("gc", hints=True)
    assert len(report.suspensions) == 7
    assert len(report.hints) == 0

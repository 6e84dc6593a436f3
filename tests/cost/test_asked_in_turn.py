"""Events that a report asks for, one after the other with ids and threads of their own: four times as much of them is
about four times the work, counted in calls and in numbers that pass between functions."""

from __future__ import annotations

from typing import Any, Final

import pytest

import clrevents
from asked_events import known_events
from clrevents.analysis.framework.run.asking import report_names
from clrevents.events import ContentionStart_V2, ContentionStop_V1, ThreadCreated_V0
from clrevents.testing.builder import TraceBuilder
from costly_reports import asked_in_turn
from counting import elements, lines
from tiers import few

FEW: Final = 40
MANY: Final = 160
WAYS: Final = ((True, True), (True, False), (False, True), (False, False))


def newest(report: str) -> list[Any]:
    """The events of a report, each in its newest version."""
    return [*{(event[0], event[3]): event for event in known_events()[report]}.values()]


def work(report: str, count: int, ids: bool, threads: bool) -> int:
    with clrevents.open(asked_in_turn(newest(report), count, ids, threads), errors="salvage") as trace:
        trace.event_counts()
        list(trace.methods)
        return elements(lambda: trace.report(report))


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("report", few(report_names(), lambda report: report == "locks"))
def test_work_grows_with_what_is_asked_for(report: str) -> None:
    # What any trace costs, and what is imported for the first.
    nothing = [work(report, 1, True, True) for _ in range(2)][1]
    for ids, threads in WAYS:
        less, more = (work(report, count, ids, threads) - nothing for count in (FEW, MANY))
        assert more < 6 * max(less, 0) + 20_000, f"{report} {ids} {threads}: {less} → {more}"


def test_an_id_that_many_threads_had_one_after_the_other() -> None:
    """What is known of an id is looked through once, not for each thread that had it."""
    counts = []
    for count in (50, 100, 400):
        trace = TraceBuilder().thread(7)
        for number in range(count):
            trace.event(ThreadCreated_V0(number, 1, 0, number, 7, 0))
            trace.event(ContentionStart_V2(0, 0, 1, 2, 3)).event(ContentionStop_V1(0, 0, 5.0))
        with clrevents.open(trace.build()) as found:
            found.event_counts()
            counts.append(lines(lambda found=found: found.report("threads")))  # type: ignore[misc]
    # The first pays for what is loaded once.
    assert counts[2] < 4.4 * counts[1]

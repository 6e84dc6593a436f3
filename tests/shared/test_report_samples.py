"""The sample reports say of real traces what others found in them, which shows what the frame can carry."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import report_laws
from report_slices import activities, states

pytestmark = needs_shared


def activities_of(name: str) -> activities.ActivityReport:
    found = report_laws.whole_answer(activities.REPORT, activities.ActivityParameters(), trace(name))
    assert isinstance(found, activities.ActivityReport)
    return found


def trace(name: str) -> bytes:
    return gzip.decompress((SHARED / f"{name}.nettrace.gz").read_bytes())


def test_activities_of_requests_have_the_parents_that_their_events_name() -> None:
    found = activities_of("traces/own/net10-web")
    rows = list(found.activities)
    assert Counter(row.end_kind for row in rows) == {"stop": 3037, "trace_end": 1}
    assert [row.name for row in rows if row.end_kind == "trace_end"] == ["Microsoft.AspNetCore.Hosting/Host"]
    assert sum(row.parent_row is not None for row in rows) == 2722
    for row in rows:
        assert row.parent_row is None or rows[row.parent_row].start_ns <= row.start_ns


def test_recursive_activities_are_never_stopped() -> None:
    found = activities_of("scenarios/net10-async-11")
    assert (found.metrics["count"].value, found.facts.orphans) == (122, 41)
    assert Counter(row.end_kind for row in found.activities) == {"stop": 81, "trace_end": 41}


SCRIPTED = {"lock": 662.9, "sleep": 279.5, "wait": 433.2}
"""How long the scripted thread was in each state by its own events, in ms."""


def test_states_of_a_scripted_thread_are_those_of_its_script() -> None:
    found: Any = report_laws.whole_answer(states.REPORT, states.NoParameters(), trace("scenarios/net10-states-11"))
    (mine,) = [row for row in found.threads if row.lock_ns]
    for state, ms in SCRIPTED.items():
        assert getattr(mine, f"{state}_ns") / 1e6 == pytest.approx(ms, rel=0.03)


def test_states_tile_each_thread() -> None:
    found: Any = report_laws.whole_answer(states.REPORT, states.NoParameters(), trace("scenarios/net10-states-11"))
    rows = list(found.intervals)
    assert len(found.threads) == 14
    for one in found.threads:
        mine = [row for row in rows if row.thread_id == one.thread_id]
        assert all(a.end_ns == b.start_ns for a, b in pairwise(mine))
        assert one.life_ns == mine[-1].end_ns - mine[0].start_ns

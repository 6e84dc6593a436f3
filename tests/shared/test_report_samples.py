"""The sample reports say of real traces what others found in them, which shows what the frame can carry."""

from __future__ import annotations

import gzip
from collections import Counter

from shared_files import SHARED, needs_shared

import report_laws
from report_slices import activities

pytestmark = needs_shared


def activities_of(name: str) -> activities.ActivityReport:
    data = gzip.decompress((SHARED / f"{name}.nettrace.gz").read_bytes())
    found = report_laws.whole_answer(activities.REPORT, activities.ActivityParameters(), data)
    assert isinstance(found, activities.ActivityReport)
    return found


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

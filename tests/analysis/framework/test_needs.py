"""What a trace shows of what a report needs: seen, recorded but quiet, or unknown; and what would record it."""

from __future__ import annotations

import pytest

from clrevents.analysis.framework.model.needs import Need, SeenKind, SeenKinds, coverage, met, missing_notes
from clrevents.schema.registry import OWN, RUNTIME

GC, JIT, LOADER = 0x1, 0x10, 0x8
PAUSES = Need("pauses", ("GCSuspendEEBegin", "GCRestartEEEnd"), GC, essential=True)
METHODS = Need("methods", ("MethodJittingStarted",), JIT, level=5)
TASKS = Need("tasks", ("TaskScheduled",), 0x2, provider="Tasks")


def seen(name: str, keywords: int = GC, level: int = 4, provider: str = RUNTIME) -> SeenKind:
    return SeenKind(provider, name, keywords, level)


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([], "unknown"),
        ([seen("GCRestartEEEnd")], "seen"),
        ([seen("GCStart")], "quiet"),
        # Seen goes before quiet, wherever it stands.
        ([seen("GCStart"), seen("GCSuspendEEBegin")], "seen"),
        ([seen("GCSuspendEEBegin", provider="Another")], "unknown"),
        ([seen("GCStart", provider="Another")], "unknown"),
        # Recorded for this keyword or for the other one: it proves neither.
        ([seen("ModuleLoad", GC | LOADER)], "unknown"),
        ([seen("ModuleLoad", LOADER)], "unknown"),
        # An event of less detail says nothing about more.
        ([seen("GCStart", level=3)], "unknown"),
        ([seen("GCHeap", level=5)], "quiet"),
        # Events without keywords are recorded with any.
        ([seen("Anything", 0)], "unknown"),
        # The session's own bits say nothing about what was recorded.
        ([seen("GCStart", GC | 0xF << 44)], "quiet"),
        ([seen("Anything", 0xF << 44)], "unknown"),
    ],
)
def test_what_is_known_of_a_need(kinds: list[SeenKind], state: str) -> None:
    assert met(PAUSES, SeenKinds(kinds)) == state


LEFT_OUT = seen("EventsFiltered", 0, provider=OWN)


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([seen("GCStart"), LEFT_OUT], "unknown"),
        # What is not there may have been left out, which makes what is there a part.
        ([seen("GCSuspendEEBegin"), LEFT_OUT], "unknown"),
        ([seen("GCSuspendEEBegin"), seen("GCRestartEEEnd"), LEFT_OUT], "seen"),
        ([seen("GCStart"), seen("EventsFiltered", 0, provider="Another")], "quiet"),
    ],
)
def test_nothing_is_quiet_where_events_were_left_out(kinds: list[SeenKind], state: str) -> None:
    assert met(PAUSES, SeenKinds(kinds)) == state


def test_only_proof_proves_where_a_need_has_it() -> None:
    need = Need("both", ("Missing",), GC | JIT, proof=JIT)
    assert met(need, SeenKinds([seen("GCStart", GC)])) == "unknown"
    assert met(need, SeenKinds([seen("GCStart", JIT)])) == "quiet"
    assert met(Need("both", ("Missing",), GC | JIT), SeenKinds([seen("GCStart", GC)])) == "quiet"


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ([], "none"),
        ([seen("MethodJittingStarted", JIT, 5)], "none"),
        ([seen("GCStart")], "partial"),
        ([seen("GCStart"), seen("MethodLoad", JIT, 5)], "full"),
    ],
)
def test_coverage_is_by_essential_needs_first(kinds: list[SeenKind], wanted: str) -> None:
    assert coverage((PAUSES, METHODS), SeenKinds(kinds)) == wanted
    assert coverage((), SeenKinds(kinds)) == "full"


def test_each_unknown_need_has_a_note_that_says_what_to_record() -> None:
    first, second = missing_notes((PAUSES, METHODS, TASKS), SeenKinds([seen("x", 0x2, 4, "Tasks")]))
    assert (first.id, first.severity, first.touches) == ("not-recorded", "warning", ("pauses",))
    assert first.record == "Microsoft-Windows-DotNETRuntime:0x1:4"
    assert "GCSuspendEEBegin" in first.message
    assert (second.severity, second.record) == ("info", "Microsoft-Windows-DotNETRuntime:0x10:5")


def test_an_event_of_any_provider_meets_a_need() -> None:
    need = Need("counters", ("*/Counters",), 0, provider="Mine", proof=0, argument="Interval=1")
    assert met(need, SeenKinds([seen("Counters", provider="Another")])) == "seen"
    assert met(need, SeenKinds([seen("Gauges", provider="Another")])) == "unknown"
    assert missing_notes((need,), SeenKinds([]))[0].record == "Mine:0x0:4:Interval=1"

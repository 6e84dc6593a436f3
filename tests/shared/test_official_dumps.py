"""Every shared trace against the official decoder's dump: the same events, at the same times, with the same fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import pytest
from shared_comparison import Comparison, Kind, compare
from shared_described import DIFFERENT, RENAMED, WITHOUT_FIELDS
from shared_files import SUMMED_ONLY, Shared, dumped, needs_shared, params, traces, unpacked

import clrevents
from clrevents.schema.registry import DEFAULT

# What the official decoder drops of the queue it holds at a cut.
DROPPED_AT_THE_CUT = {"net8-killed": 731}
WARNED = {"net10-lossy"}

# The oldest NetPerf.
REFUSED = "eventpipe-dotnetcore2.0-linux-objver2.netperf"

# Events that only the trace itself describes.
DESCRIBED = {
    "eventpipe-dotnetcore2.1-linux-x64-objver3.netperf": 1,
    "eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf": 12,
    "eventpipe-dotnetcore5.0-win-x64-arraytypes": 3,
    "net10-all": 4_561,
    "net10-web": 24_049,
    "net31-rundown": 84_972,
    "net8-all": 4_547,
    "net8-counters": 138,
    "net8-sample": 205,
}


# Of module scope, so that all tests of one trace run one after the other and share its comparison.
@pytest.fixture(scope="module", params=params(dumped()))
def trace(request: pytest.FixtureRequest) -> Shared:
    found: Shared = request.param
    return found


@lru_cache(maxsize=2)
def compared(trace: Shared) -> Comparison:
    return compare(trace)


def test_same_events_by_kind(trace: Shared) -> None:
    found = compared(trace)
    dropped = DROPPED_AT_THE_CUT.get(trace.short, 0)
    assert found.theirs - found.ours == Counter()
    assert (found.ours - found.theirs).total() == dropped
    assert found.extra == dropped
    assert found.ours.total() == found.theirs.total() + dropped


def test_same_fields_at_the_same_times(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    found = compared(trace)
    assert not found.faults, found.told()
    assert not found.known.faults, found.known.told()
    record_property("compared", found.known.by_provider())
    # Nothing may slip through uncompared: every event of a kind that the registry knows was paired and read.
    known = Counter({kind: n for kind, n in found.theirs.items() if DEFAULT.best(*kind) is not None})
    assert found.known.events.total() == known.total()


def test_same_fields_of_events_that_describe_themselves(
    trace: Shared, record_property: Callable[[str, object], None]
) -> None:
    """Names, levels, keywords and every field of what the registry does not know."""
    found = compared(trace)
    assert not found.faults, found.told()
    assert not found.described.faults, found.described.told()
    record_property("described", found.described.by_provider())
    unknown = Counter({kind: n for kind, n in found.theirs.items() if DEFAULT.best(*kind) is None})
    assert found.described.events == _by_provider(unknown)
    assert unknown.total() == DESCRIBED.get(trace.short, 0)


def _by_provider(kinds: Counter[Kind]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (provider, _, _), n in kinds.items():
        found[provider] += n
    return found


def test_time_never_steps_back(trace: Shared) -> None:
    found = compared(trace)
    assert found.steps_back == 0
    assert bool(found.warned) == (trace.short in WARNED), found.warned


@needs_shared
def test_every_difference_of_described_events_is_one_of_a_trace() -> None:
    places = set()
    for trace in dumped():
        if trace.short in DESCRIBED:
            places |= {(key.provider, key.name) for key in clrevents.open(trace.path).event_counts()}
    assert DIFFERENT.keys() | WITHOUT_FIELDS | RENAMED.keys() <= places
    by_name = {trace.short: trace for trace in dumped()}
    for name, short in (("ContinuwWithTaskId", "net31-rundown"), ("ContinueWithTaskId", "net10-web")):
        assert f"\0{name}\0".encode("utf-16-le") in unpacked(by_name[short])


@needs_shared
def test_only_these_have_no_dump() -> None:
    without = {t.name for t in traces("traces/own", "traces/perfview")} - {t.name for t in dumped()}
    assert without == {f"{name}.nettrace" for name in SUMMED_ONLY} | {REFUSED}


@needs_shared
def test_what_the_official_decoder_refuses() -> None:
    """Nothing to compare with: every payload must fit its layout, in time order."""
    (trace,) = (t for t in traces("traces/perfview") if t.name == REFUSED)
    with clrevents.open(trace.path) as opened:
        report = opened.check()
        assert report.ok, report.verdict
        assert report.events == 272_332
        last = None
        for event in opened.events():
            assert last is None or event.time_ns >= last
            last = event.time_ns

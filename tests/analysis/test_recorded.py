"""What a trace proves of its session: real traces against their headers, event by event, and each rule on its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import clrevents
from clrevents.analysis.framework.recording.recorded import RecordedProvider, proves, recorded
from clrevents.events import GCReason, GCStart_V2, GCType, RuntimeKeyword
from clrevents.schema.registry import RUNTIME, SAMPLE, provider_name
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, fixtures

SESSION = 0xF << 44
EACH = pytest.mark.parametrize("path", fixtures(), ids=lambda p: p.name.partition(".")[0])
GC, JIT, LOADER, NGEN = (
    int(k) for k in (RuntimeKeyword.GC, RuntimeKeyword.Jit, RuntimeKeyword.Loader, RuntimeKeyword.NGen)
)

STARTED = GCStart_V2(1, 0, GCReason(0), GCType(0), 0, 0)


def shown(providers: tuple[RecordedProvider, ...], provider: str, keywords: int, level: int) -> bool:
    """Whether an event of a provider proves that it was recorded so."""
    own = [one for one in providers if one.provider == provider_name(provider)]
    return any(proves(*seen, keywords, level) for one in own for seen, events in one.seen.items() if events)


@EACH
def test_as_each_events_header_says(path: Path) -> None:
    """Counted one event at a time, from the columns of all headers."""
    counts: Counter[tuple[str, int, int]] = Counter()
    with clrevents.open(path) as trace:
        headers = trace.headers(columns=["provider", "keywords", "level"])
        for provider, keywords, level in zip(*(headers[name] for name in headers.columns), strict=True):
            counts[provider, int(keywords) & ~SESSION, int(level)] += 1
        found = recorded(trace)
    assert {(p.provider, *seen): events for p in found for seen, events in p.seen.items() if events} == counts
    for provider in found:
        mine = {key: n for key, n in counts.items() if key[0] == provider.provider}
        assert provider.events == sum(mine.values())
        assert provider.level == max(level for _, _, level in mine)
        for keyword in provider.keywords:
            alone = [level for _, keywords, level in mine if keywords == keyword.bit]
            assert keyword.proved == bool(alone)
            assert keyword.level == max(alone, default=None)


@pytest.mark.parametrize(
    ("provider", "keywords", "level", "proved"),
    [
        (RUNTIME, JIT, 5, True),
        ("runtime", JIT, 4, True),
        ("runtime", LOADER, 4, True),
        # Its events are of level 4 all.
        ("runtime", LOADER, 5, False),
        # Its events have Jit as well.
        ("runtime", NGEN, 1, False),
        ("runtime", JIT | NGEN, 5, True),
        ("runtime", NGEN | LOADER, 5, False),
        ("runtime", GC, 1, False),
        ("runtime", GC | JIT, 5, True),
        ("runtime", JIT | SESSION, 5, True),
        ("runtime", SESSION, 4, True),
        # RuntimeInformationStart, of level 4.
        ("runtime", 0, 4, True),
        ("runtime", 0, 5, False),
        ("rundown", 0x20000, 5, True),
        (SAMPLE, 0, 0, False),
        ("no such provider", 0, 0, False),
    ],
)
def test_what_a_real_trace_proves(provider: str, keywords: int, level: int, proved: bool) -> None:
    with clrevents.open(fixture("net10-method-interop")) as trace:
        assert shown(recorded(trace), provider, keywords, level) is proved


def test_an_event_without_keywords_proves_none() -> None:
    found = (RecordedProvider(SAMPLE, {(0, 4): 10}),)
    assert shown(found, "sample", 0, 4)
    assert not shown(found, "sample", 1, 4)
    assert (found[0].events, found[0].level, found[0].keywords) == (10, 4, ())


def test_what_stands_before_the_damage() -> None:
    builder = TraceBuilder().event(STARTED).sequence_point().sample(1, 2, 3)
    with clrevents.open(builder.damage(lambda data: data[:-200]).build()) as trace:
        with pytest.warns(clrevents.TraceWarning, match="damaged"):
            found = recorded(trace)
        assert [p.provider for p in found] == [RUNTIME]
        assert shown(found, "runtime", GC, 4)

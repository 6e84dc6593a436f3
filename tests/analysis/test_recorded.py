"""What a trace proves of its session: real traces against their headers, event by event, and each rule on its own."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path

import attrs
import numpy as np
import pytest

import clrevents
from clrevents.analysis.framework.recording.recorded import (
    Recorded,
    RecordedProvider,
    SeenEvents,
    recorded,
)
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.events import GCReason, GCStart_V2, GCType, RuntimeKeyword
from clrevents.schema.codes import LabelKind
from clrevents.schema.registry import RUNTIME, SAMPLE
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from project_files import fixture, fixtures

SESSION = 0xF << 44
EACH = pytest.mark.parametrize("path", fixtures(), ids=lambda p: p.name.partition(".")[0])
GC, JIT, LOADER, NGEN = (
    int(k) for k in (RuntimeKeyword.GC, RuntimeKeyword.Jit, RuntimeKeyword.Loader, RuntimeKeyword.NGen)
)

STARTED = GCStart_V2(1, 0, GCReason(0), GCType(0), 0, 0)


@attrs.frozen
class Row:
    provider: str
    keywords: int
    level: int


@attrs.frozen
class Kind:
    row: Row
    undefined: bool = False


def of(*kinds: tuple[str, int, int, int]) -> Recorded:
    """Provider, keywords, level and number of events of each kind."""
    return Recorded.of((Kind(Row(provider, keywords, level)), count) for provider, keywords, level, count in kinds)


@EACH
def test_as_each_events_header_says(path: Path) -> None:
    """Counted one event at a time, from the columns of all headers."""
    counts: Counter[tuple[str, int, int]] = Counter()
    with clrevents.open(path) as trace:
        headers = trace.headers(columns=["provider", "keywords", "level"])
        for provider, keywords, level in zip(*(headers[name] for name in headers.columns), strict=True):
            counts[provider, int(keywords) & ~SESSION, int(level)] += 1
        found = recorded(trace)
    seen = {(p.provider, s.keywords, s.level): s.events for p in found.providers for s in p.seen}
    assert seen == counts
    assert found.events == counts.total()
    for provider in found.providers:
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
        assert recorded(trace).proves(provider, keywords, level) is proved


def test_an_event_without_keywords_proves_none() -> None:
    found = of((SAMPLE, 0, 4, 10))
    assert found.proves("sample", 0, 4)
    assert not found.proves("sample", 1, 4)
    assert found.providers == (RecordedProvider(SAMPLE, 10, 4, (SeenEvents(0, 4, 10),)),)
    assert found.providers[0].keywords == ()


def test_bits_of_sessions_are_no_keywords() -> None:
    found = of(("App", SESSION | 0x4, 4, 3), ("App", 0x4, 4, 2), ("App", SESSION, 5, 1))
    (app,) = found.providers
    assert app.seen == (SeenEvents(0, 5, 1), SeenEvents(4, 4, 5))
    assert (app.proved, app.possible, app.level) == (0x4, 0, 5)
    assert not found.proves("App", 0x4, 5)


@pytest.mark.parametrize("mask", [(1 << 64) - 1, ((1 << 64) - 1) & ~SESSION, -1])
def test_a_sources_description_of_itself_comes_with_any_keyword(mask: int) -> None:
    found = of(("App", mask, 0, 1), ("App", 0x3, 4, 2))
    (app,) = found.providers
    assert (app.events, app.proved, app.possible) == (3, 0, 0x3)
    assert [k.events for k in app.keywords] == [2, 2]
    assert not found.proves("App", (1 << 64) - 1, 5)
    assert found.proves("App", (1 << 64) - 1, 4)
    assert not of(("App", mask, 0, 1)).proves("App", (1 << 64) - 1, 0)


def test_most_events_first_and_kinds_without_description_left_out() -> None:
    kinds = [(Kind(Row("", 7, 5), undefined=True), 100), (Kind(Row("B", 1, 4)), 2), (Kind(Row("A", 1, 4)), 2)]
    found = Recorded.of([*kinds, (Kind(Row("C", 1, 4)), 1), (Kind(Row("C", 1, 4)), 2)])
    assert [(p.provider, p.events) for p in found.providers] == [("C", 3), ("A", 2), ("B", 2)]
    assert Recorded.of([]) == Recorded()


def test_labels_say_another_level() -> None:
    """Kinds of one key stay apart: an event whose label says level 5 does not lend it to one of level 2."""
    sink = BytesIO()
    writer = NetTrace6Writer(sink, TraceHeader(process_id=1))
    writer.metadata([MetadataRecord(1, RUNTIME, 1, 2, keywords=0x1, level=2), MetadataRecord(2, "App", 1)])
    writer.threads([ThreadRow(0, 7)])
    writer.labels(1, [[Label(LabelKind.LEVEL, 5), Label(LabelKind.KEYWORDS, 0x4000)]])
    writer.events([EventRecord(1, 10), EventRecord(1, 20, label_id=1), EventRecord(1, 30, label_id=1)])
    writer.end()
    with clrevents.open(sink.getvalue()) as trace:
        found = recorded(trace)
        assert [count for _, count in trace.event_counts().items()] == [3]
    runtime = found.provider("runtime")
    assert runtime is not None
    assert runtime.seen == (SeenEvents(0x1, 2, 1), SeenEvents(0x4000, 5, 2))
    assert not found.proves("runtime", 0x1, 5)
    assert found.providers[1] == RecordedProvider("App", 0, None, (SeenEvents(0, 0, 0),))


def test_descriptions_after_the_last_event() -> None:
    """More of them than there are events and places in the tally."""
    sink = BytesIO()
    writer = NetTrace6Writer(sink, TraceHeader(process_id=1))
    writer.metadata([MetadataRecord(1, RUNTIME, 1, 2, keywords=0x1, level=4)])
    writer.threads([ThreadRow(0, 7)])
    writer.events([EventRecord(1, 10)])
    writer.metadata([MetadataRecord(n, "App", n, level=5) for n in range(2, 600)])
    writer.end()
    with clrevents.open(sink.getvalue()) as trace:
        assert recorded(trace) == Recorded(
            (
                RecordedProvider(RUNTIME, 1, 4, (SeenEvents(0x1, 4, 1),)),
                RecordedProvider("App", 0, None, (SeenEvents(0, 5, 0),)),
            )
        )


def test_from_rows_as_they_arrive() -> None:
    """Batch by batch, as a live stream has them: the same as of the whole."""
    with clrevents.open(fixture("net8-sample")) as trace:
        kinds = []
        for rows in passes_of(trace).event_rows(decode=False):
            counts = np.bincount(rows.kind_indexes, minlength=len(rows.kinds)).tolist()
            kinds += [(kind, count) for kind, count in zip(rows.kinds, counts, strict=True) if count]
        assert Recorded.of(kinds) == recorded(trace)


def test_what_stands_before_the_damage() -> None:
    builder = TraceBuilder().event(STARTED).sequence_point().sample(1, 2, 3)
    with clrevents.open(builder.damage(lambda data: data[:-200]).build()) as trace:
        with pytest.warns(clrevents.TraceWarning, match="damaged"):
            found = recorded(trace)
        assert [p.provider for p in found.providers] == [RUNTIME]
        assert found.proves("runtime", GC, 4)

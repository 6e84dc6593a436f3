"""The third-party traces against their baselines: how many events each name has, when the first is and of which thread.

For the oldest trace, NetPerf 2, which the official decoder of today refuses, these are the only reference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Final, TypeAlias

import attrs
import pytest
from shared_files import SHARED, Shared, needs_shared, traces, unpacked

from clrevents.decode.kinds import EventKind
from clrevents.decode.stream.stream import Stream
from clrevents.schema.registry import DEFAULT, PRIVATE, RUNDOWN, RUNTIME, SAMPLE, TPL

Id: TypeAlias = tuple[str, int]

BASELINES: Final = [
    t for t in traces("traces/perfview") if (SHARED / "traces" / "perfview" / f"{t.name}.baseline.txt").exists()
]

OWN_NAMES: Final[dict[Id, str]] = {
    (SAMPLE, 0): "Thread/Sample",
    (RUNTIME, 202): "GC/MarkWithType",
    (RUNTIME, 200): "GC",
    (RUNTIME, 201): "GC",
    (TPL, 7): "TaskScheduled/Send",
    (TPL, 8): "TaskExecute/Start",
    (TPL, 9): "TaskExecute/Stop",
    (TPL, 10): "TaskWait/Send",
    (TPL, 11): "TaskWait/Stop",
    (TPL, 12): "AwaitTaskContinuationScheduled/Send",
}
"""What the baselines call events that nothing else names so: samples have no name at all, memory pressure goes by
its task's, tasks have a manifest of their own there, and for 202 the manifest's notes have a newer name."""

SUPPRESSED: Final[dict[Id, str]] = {
    (RUNTIME, 190): "the converter that made the baselines uses up the maps from IL to native code",
    (RUNDOWN, 144): "likewise the methods of the rundown",
    (RUNDOWN, 150): "likewise the maps of the rundown",
}
"""Events that no baseline shows, and why."""

_ROW: Final = re.compile(r'(.+?), (\d+), <Event MSec=\s*"([\d.]+)".*? TID=\s*"(\d+)"')


@attrs.frozen
class First:
    """How many events go by one name, and the first of them."""

    count: int
    ms: str
    thread: int

    def and_(self, later: First) -> First:
        return attrs.evolve(self, count=self.count + later.count)


def baseline(trace: Shared) -> dict[str, First]:
    text = (SHARED / "traces" / "perfview" / f"{trace.name}.baseline.txt").read_text("utf-8-sig")
    found = {}
    for line in text.splitlines():
        row = _ROW.match(line)
        assert row is not None, line
        found[row[1]] = First(int(row[2]), row[3], int(row[4]))
    return found


@cache
def manifest_names() -> dict[Id, frozenset[str]]:
    """The official decoder's names as the manifest's notes have them."""
    found: dict[Id, set[str]] = {}
    for provider in json.loads((SHARED / "reference" / "manifest.json").read_text())["providers"]:
        for event in provider["events"]:
            if event.get("traceEventName"):
                found.setdefault((provider["name"], event["id"]), set()).add(event["traceEventName"])
    return {key: frozenset(names) for key, names in found.items()}


def names(kind: EventKind) -> set[str]:
    """Every name that the baselines may have for a kind of event."""
    key = kind.key.provider, kind.key.id
    if key in OWN_NAMES:
        return {OWN_NAMES[key]}
    return {kind.key.name, *kind.entry.aliases, *manifest_names().get(key, ())}


@cache
def first_events(trace: Shared) -> list[tuple[EventKind, First]]:
    """For each kind of event how many there are, and the first in time order."""
    stream = Stream()
    counts: dict[int, int] = {}
    firsts: dict[int, tuple[int, int]] = {}
    data = unpacked(trace)
    for rows in (*stream.feed(data), *stream.close()):
        for kind, tick, thread in zip(
            rows.kind_indexes.tolist(), rows.ticks.tolist(), rows.thread_ids.tolist(), strict=True
        ):
            counts[kind] = counts.get(kind, 0) + 1
            firsts.setdefault(kind, (tick, thread))
    clock = stream.clock
    found = []
    for kind, (tick, thread) in sorted(firsts.items(), key=lambda item: item[1][0]):
        ms = f"{(tick - clock.sync_qpc) * 1000.0 / clock.frequency:.4f}"
        found.append((stream.kinds.all[kind], First(counts[kind], ms, thread)))
    return found


def by_name(trace: Shared) -> Iterator[tuple[str, First]]:
    """Our events under the name that the baseline has for them; unnamed where it has none."""
    rows = baseline(trace)
    for kind, first in first_events(trace):
        known = {f"{kind.key.provider}/{name}" for name in names(kind)}
        here = known & rows.keys()
        assert len(here) <= 1, (kind.key, here)
        if here:
            yield here.pop(), first
        else:
            assert (kind.key.provider, kind.key.id) in SUPPRESSED, f"{kind.key} is not in the baseline"


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in BASELINES])
def test_as_the_baseline_says(trace: Shared) -> None:
    ours: dict[str, First] = {}
    for name, first in by_name(trace):
        ours[name] = ours[name].and_(first) if name in ours else first
    assert ours == baseline(trace)


@needs_shared
def test_every_name_and_reason_is_used() -> None:
    assert len(BASELINES) == 7
    kinds = {(kind.key.provider, kind.key.id) for trace in BASELINES for kind, _ in first_events(trace)}
    assert SUPPRESSED.keys() <= kinds
    assert OWN_NAMES.keys() <= kinds
    rows = [row for trace in BASELINES for row in baseline(trace)]
    assert len(rows) == 121


@needs_shared
@pytest.mark.parametrize("provider", [RUNTIME, RUNDOWN, PRIVATE])
def test_names_of_known_events_are_aliases(provider: str) -> None:
    """What the baselines call an event that the registry knows selects that event."""
    for trace in BASELINES:
        rows = baseline(trace)
        for kind, _ in first_events(trace):
            key = kind.key.provider, kind.key.id
            if key[0] != provider or not kind.entry.versions or key in OWN_NAMES:
                continue
            for name in names(kind):
                if f"{provider}/{name}" in rows:
                    assert key in {(e.provider, e.id) for e in DEFAULT.named(name)}, name

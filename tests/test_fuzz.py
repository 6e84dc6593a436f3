"""The fuzzer, as far as CI has time: all that is made of a trace, made of damaged and hostile ones by a fixed seed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import Final

import pytest

import clrevents
import fuzz_runs
from asked_events import known_events
from clrevents.schema.registry import RUNDOWN, RUNTIME, TPL
from hostile import cases
from lying import lying_trace
from project_files import FIXTURES

EXECUTIONS: Final = int(os.environ.get("CLREVENTS_FUZZ_EXECUTIONS", "600"))
"""Counted, not timed: every machine tries the same, a minute of a quiet one."""
SEED: Final = int(os.environ.get("CLREVENTS_FUZZ_SEED", "1"))

CONTENTION: Final = 81
LIES: Final = int(os.environ.get("CLREVENTS_FUZZ_LIES", "60"))
FOUND: Final = {
    6: "reports",
    7: "reports",
    13: "reports",
    36: "reports",
    30: "doctor",
    255: "reports cut anywhere",
    328: "export firefox",
    476: "compare another",
    536: "joined",
    674: "export firefox",
    694: "reports",
}
"""Seeds of lies, and what once ended with something else than an answer."""


@pytest.mark.full
def test_nothing_is_found() -> None:
    campaign = fuzz_runs.Campaign(list(fuzz_runs.seeds([FIXTURES])), random.Random(SEED), [data for _, data in cases()])
    found = []
    while campaign.done.total() < EXECUTIONS:
        found += campaign.step()
    assert not found, "\n".join(f"{find.place}\n{find.text}" for find in found)
    assert len(campaign.done) == len(campaign.families)


def lied_to(seed: int, families: Iterable[str]) -> list[str]:
    """What is wrong with what is made of a trace whose descriptions lie."""
    data = lying_trace(random.Random(seed))
    finds = [fuzz_runs.attempted(family, data) for family in families]
    return [f"{seed}: {find.place}\n{find.text}" for find in finds if find is not None]


def test_descriptions_that_lied_get_answers() -> None:
    assert not [find for seed, family in FOUND.items() for find in lied_to(seed, [family])]


@pytest.mark.full
def test_descriptions_that_lie_get_answers() -> None:
    """Each through some of all that is made of a trace, so that all of it is made of some."""
    rest = sorted(set(fuzz_runs.product.FAMILIES) - {"reports"})
    found = []
    for seed in range(LIES):
        found += lied_to(seed, ("reports", *(rest[(4 * seed + step) % len(rest)] for step in range(4))))
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_lies_are_of_all_that_is_asked_for() -> None:
    """Of every report, of names of code and of marks; and most of what lies can be read as it is described."""
    asked = {(event[0], event[3]) for events in known_events().values() for event in events}
    assert {("clrevents", "Cut"), (RUNTIME, "GCStart"), (TPL, "TaskWaitEnd"), (RUNDOWN, "ModuleDCEnd")} <= asked
    met: set[tuple[str, str]] = set()
    read = total = 0
    for seed in range(100, 112):
        with clrevents.open(lying_trace(random.Random(seed)), errors="salvage") as trace:
            for event in trace.events():
                met.add((event.key.provider, event.key.name))
                read += not isinstance(event.payload, clrevents.RawPayload)
                total += 1
    assert len(met & asked) > 20
    assert read > 0.8 * total > 0


def test_a_find_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family that fails on one event of many: the find names the place, and little is left of the input."""

    def dies(data: bytes) -> None:
        trace = fuzz_runs.PlainTrace.of(data)
        assert not any(trace.kinds[event.metadata_id].id == CONTENTION for event in trace.events), "found: 1"

    monkeypatch.setitem(fuzz_runs.product.FAMILIES, "shown", dies)
    trace = next(t for t in fuzz_runs.seeds([FIXTURES]) if any(k.id == CONTENTION for k in t.kinds.values()))
    find = fuzz_runs.attempted("shown", trace.written("NetTrace 4"))
    assert find is not None
    small = fuzz_runs.shrunk(find)
    assert small.place == find.place
    assert len(fuzz_runs.PlainTrace.of(small.data).events) == 1

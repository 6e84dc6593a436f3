"""The fuzzer, as far as CI has time: all that is made of a trace, made of damaged and hostile ones by a fixed seed."""

from __future__ import annotations

import os
import random
from typing import Final

import pytest

import fuzz_runs
from hostile import cases
from project_files import FIXTURES

EXECUTIONS: Final = int(os.environ.get("CLREVENTS_FUZZ_EXECUTIONS", "600"))
"""Counted, not timed: every machine tries the same, a minute of a quiet one."""
SEED: Final = int(os.environ.get("CLREVENTS_FUZZ_SEED", "1"))

CONTENTION: Final = 81


@pytest.mark.full
def test_nothing_is_found() -> None:
    campaign = fuzz_runs.Campaign(list(fuzz_runs.seeds([FIXTURES])), random.Random(SEED), [data for _, data in cases()])
    found = []
    while campaign.done.total() < EXECUTIONS:
        found += campaign.step()
    assert not found, "\n".join(f"{find.place}\n{find.text}" for find in found)
    assert len(campaign.done) == len(campaign.families)


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

"""Until when all threads' events are there, if the end is missing: none that follows in the whole is earlier."""

from __future__ import annotations

import random

import pytest

import clrevents
from clrevents.trace import passes_of
from project_files import ROOT, unpacked

FIXTURES = ("net10-convoy.nettrace", "net10-starvation.nettrace", "net8-linux.nettrace", "net8-netperf3.netperf")


def known(data: bytes) -> tuple[int, int]:
    """Until when everything is known, and the number of events."""
    with clrevents.open(data, errors="salvage") as trace:
        scan = passes_of(trace).scan(raising=False)
        return scan.known_ns, sum(scan.counts.values())


def known_nearly_to_the_end(data: bytes, cuts: int) -> int:
    """Cuts the file at so many places: how often most of what is there is known."""
    with clrevents.open(data) as trace:
        times = trace.headers(columns=["time_ns"], order="file")["time_ns"].tolist()
    rng, near = random.Random(1), 0
    for _ in range(cuts):
        until, there = known(data[: rng.randrange(len(data) // 10, len(data))])
        assert until <= min(times[there:], default=until), f"{there} events known until {until}"
        near += there > 0 and until >= sorted(times[:there])[there // 2]
    return near


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("name", FIXTURES)
def test_no_event_that_follows_is_earlier(name: str) -> None:
    assert known_nearly_to_the_end(unpacked(ROOT / "fixtures" / f"{name}.gz"), 12) >= 6

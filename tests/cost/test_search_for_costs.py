"""The fuzzer's search for costly inputs: its parts, and a short run of it, in which calls stand for time."""

from __future__ import annotations

import functools
import hashlib
import random
import sys
import zlib
from collections.abc import Iterator

import pytest

from clrevents.testing.builder import TraceBuilder
from command_runs import printed
from cost_growth import grown, put_together, taken_apart
from cost_runs import Cost
from cost_search import Search
from costly_families import FAMILIES
from costly_uses import USES, of_bytes
from counting import operations
from generations import GENERATIONS, written
from hostile import cases
from mutations import MUTATIONS
from project_files import ROOT
from stream_blocks import shape_of

pytestmark = pytest.mark.full

LARGEST = 2048
CALLS_PER_BYTE = 100
FIXED_CALLS = 30_000
"""Beyond what a mode calls for a trace without events."""


@functools.cache
def seeds() -> list[bytes]:
    return [data for _, data in cases()]


def search(seed: int) -> Search:
    return Search(seeds(), tuple(USES), MUTATIONS[:12], random.Random(seed), LARGEST)


def inputs() -> Iterator[bytes]:
    yield from seeds()
    yield from (written(generation) for generation in GENERATIONS)
    yield from (family.make(family.small // 100 or 1) for family in FAMILIES if family.small > 20)


def test_a_stream_in_parts_is_the_same_stream() -> None:
    shapes = set()
    for data in inputs():
        stream = taken_apart(data)
        assert (stream is None) == (shape_of(data) is None)
        if stream is not None:
            assert put_together(stream) == data
            shapes.add((stream.shape, len(stream.parts) > 3))
    assert {shape for shape, parts in shapes if parts} == {"nettrace6", "nettrace4", "netperf3", "netperf12"}


def test_changed_parts_fit_together_again() -> None:
    rng = random.Random(2)
    whole = 0
    for data in [written(generation)[:20_000] for generation in GENERATIONS] * 20:
        made = grown(data, [data], rng, 30_000, MUTATIONS[:12])
        assert len(made) <= 30_000
        stream = taken_apart(made)
        # At most what was cut off at the end, and changes of bytes without regard to parts, are no parts.
        whole += stream is not None and sum(len(part.content) for part in stream.parts) > len(made) // 2
    assert whole > 25


def pretended(data: bytes, modes: list[str]) -> dict[str, Cost]:
    return {mode: Cost(zlib.crc32(mode.encode() + data) % 1000 / 1000, len(data)) for mode in modes}


def digest(seed: int, count: int) -> str:
    every, found = hashlib.sha1(), search(seed)
    for _ in range(count):
        data, modes = found.next()
        every.update(data + repr(modes).encode())
        found.add(data, pretended(data, modes))
    return every.hexdigest()


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert digest(1, 150) == digest(1, 150) != digest(2, 150)


def test_the_search_climbs() -> None:
    """Inputs that cost the square of their number of parts are found and made worse."""

    def square(data: bytes, modes: list[str]) -> dict[str, Cost]:
        stream = taken_apart(data)
        return {mode: Cost((len(stream.parts) if stream else 0) ** 2 * 1e-6, 0) for mode in modes}

    found = search(1)
    best = max(square(data[:LARGEST], ["count"])["count"].seconds for data in seeds())
    for _ in range(600):
        data, modes = found.next()
        found.add(data, square(data, modes))
    worst = found.worst("time", 1)[0]
    assert len(worst.data) <= LARGEST
    assert worst.cost.seconds > 20 * best


def test_a_short_search_finds_nothing_that_costs_much() -> None:
    nothing = {}
    found = search(3)
    found.modes = ["counts", "events", "frames", "tables", "headers", "facts", "single bytes"]
    for mode in found.modes:
        for data in seeds()[::40]:
            of_bytes(mode, data)
        nothing[mode] = operations(functools.partial(of_bytes, mode, TraceBuilder().build()))
    for _ in range(60):
        data, modes = found.next()
        costs = {}
        for mode in modes:
            calls = operations(functools.partial(of_bytes, mode, data)) - nothing[mode]
            assert calls < FIXED_CALLS + CALLS_PER_BYTE * len(data), (mode, len(data))
            costs[mode] = Cost(max(calls, 0) * 1e-6, 0)
        found.add(data, costs)


MEASURING = """
import sys, os, signal
sys.path[:0] = {paths!r}
import cost_runs

def spin(data):
    while True:
        pass

def fail(data):
    raise KeyError("lost")

def quick(data):
    return None

def large(data):
    bytearray(b"x" * 50_000_000)

cost_runs.FIXED_SECONDS = 0.2
first = cost_runs.measure(b"", dict(quick=quick, large=large, fail=fail, spin=spin, never=quick))
last = cost_runs.measure(b"", dict(quick=quick, killed=lambda data: os.kill(os.getpid(), signal.SIGKILL), never=quick))
print(list(first), list(last))
print(first["quick"].memory < 5_000_000, 90_000_000 < first["large"].memory < 120_000_000)
print(first["fail"].fault.splitlines()[-1], "|", first["spin"].fault, "|", last["killed"].fault)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_costs_are_measured_in_a_process_of_their_own() -> None:
    code = MEASURING.format(paths=[str(ROOT / "src"), str(ROOT / "tests" / "support" / "costs")])
    assert printed("-c", code).splitlines() == [
        "['quick', 'large', 'fail', 'spin'] ['quick', 'killed']",
        "True True",
        "KeyError: 'lost' |  | killed by SIGKILL",
    ]

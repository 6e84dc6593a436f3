"""A stream says the same however it is cut: whole, byte by byte, in random pieces, from a buffer that is used again.

Compared are all that a user can see of each event, the problems, the losses and the error that ended the reading.
Where the shared folder is at hand its vectors and small traces are cut as well.
"""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import attrs
import pytest

from built_pauses import FORMATS, pauses
from clrevents import Decoder
from clrevents.errors import ErrorMode, Limits
from project_files import SHARED, fixtures
from seen import Row, Seen, in_pieces, read_events, read_rows, same
from tiers import drawn, few

VECTORS: Final = sorted((SHARED / "vectors").glob("*.nettrace"))
SMALL_TRACES: Final = sorted(p for p in (SHARED / "traces" / "perfview").glob("*.net*.gz") if p.stat().st_size < 60_000)

MODES: Final[tuple[ErrorMode, ...]] = ("report", "salvage")
SMALL: Final = 20_000
"""Bytes of a stream that is sliced many times and also byte by byte; of larger ones a few slicings show as much."""


@attrs.frozen
class Given:
    """A stream by its name: built, or a file's."""

    name: str
    source: Path | bytes

    def content(self) -> bytes:
        return self.source if isinstance(self.source, bytes) else _unpacked(self.source)

    def times(self, small: int, large: int) -> list[str]:
        """So many seeds for a small stream and for a large one."""
        return [f"{self.name} {number}" for number in range(small if len(self.content()) < SMALL else large)]


@cache
def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def sliced(data: bytes, seed: str) -> Iterator[bytes]:
    """Random pieces: few or many, some of them empty or a single byte."""
    rng = random.Random(seed)
    count = rng.choice((1, 2, 5, 20, 100, 300))
    if rng.random() < 0.3:
        # A dense stretch, so that single headers and varints are cut.
        start = rng.randrange(len(data) + 1)
        cuts = [start + i for i in range(min(count, len(data) - start))]
    else:
        cuts = [rng.randrange(len(data) + 1) for _ in range(count)]
    edges = [0, *sorted(cuts), len(data)]
    return (data[a:b] for a, b in pairwise(edges))


def damaged(data: bytes, seed: str) -> bytes:
    """A copy with one stretch flipped, wiped, dropped or inserted."""
    rng = random.Random(seed)
    at = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]
        case 1:
            return data[:at] + bytes(min(1000, len(data) - at)) + data[at + 1000 :]
        case 2:
            return data[:at] + data[at + 300 :]
    return data[:at] + rng.randbytes(77) + data[at:]


BUILT: Final = [Given(f, pauses(f, events=60)) for f in FORMATS]
"""Small ones of every container: several threads, stacks, sequence points, losses."""
FILES: Final = [Given(p.name.removesuffix(".gz"), p) for p in (*fixtures(), *VECTORS, *SMALL_TRACES)]


def streams(*fast: str, one_of: int = 1) -> pytest.MarkDecorator:
    """Runs a test with each stream, or a sample of the files; in the fast tier with those that are built and these."""
    cases = [
        pytest.param(given, id=given.name, marks=() if given.source in fixtures() else pytest.mark.shared)
        for given in FILES
        if given.name in fast or drawn(one_of, "slicing", given.name)
    ]
    cases = [*(pytest.param(given, id=given.name) for given in BUILT), *cases]
    return pytest.mark.parametrize("given", few(cases, lambda given: given in BUILT or given.name in fast))


@pytest.mark.parametrize("mode", MODES)
@streams("net8-sample.nettrace")
def test_random_slicings_give_the_same_rows(given: Given, mode: ErrorMode) -> None:
    data = given.content()
    whole = read_rows([data], mode)
    for seed in given.times(20, 2):
        same(read_rows(sliced(data, seed), mode), whole, seed)


@pytest.mark.parametrize("mode", MODES)
@streams()
def test_byte_by_byte_gives_the_same(given: Given, mode: ErrorMode) -> None:
    data = given.content()[:SMALL]
    same(read_rows(in_pieces(data, 1), mode), read_rows([data], mode), "rows")
    same(read_events(in_pieces(data, 1), Decoder(errors=mode)), read_events([data], Decoder(errors=mode)), "events")


@pytest.mark.parametrize("mode", MODES)
@streams()
def test_slicing_does_not_change_what_damage_does(given: Given, mode: ErrorMode) -> None:
    for copy in given.times(6, 1):
        data = damaged(given.content(), copy)
        whole = read_rows([data], mode)
        for number in range(3):
            seed = f"{copy} {number}"
            same(read_rows(sliced(data, seed), mode), whole, seed)


@pytest.mark.parametrize("limits", [Limits(region_events=20), Limits(region_bytes=1000)], ids=["events", "bytes"])
@streams(one_of=2)
def test_a_region_that_is_too_long_ends_at_the_same_event(given: Given, limits: Limits) -> None:
    """What is given in file order because too much would have to wait does not depend on how much was fed at once."""
    data = given.content()
    whole = read_rows([data], "report", limits=limits)
    for seed in given.times(4, 1):
        same(read_rows(sliced(data, seed), "report", limits=limits), whole, seed)


@streams("net8-sample.nettrace", one_of=4)
def test_a_buffer_that_is_used_again(given: Given) -> None:
    """Nothing points into what was fed: the caller's buffer is overwritten after every feed."""
    data = given.content()
    buffer = bytearray(max(len(data) // 7, 1))

    def pieces() -> Iterator[memoryview]:
        for at in range(0, len(data), len(buffer)):
            piece = data[at : at + len(buffer)]
            buffer[: len(piece)] = piece
            yield memoryview(buffer)[: len(piece)]
            buffer[:] = b"\xa5" * len(buffer)

    same(read_rows(pieces(), "report"), read_rows([data], "report"), "rows")
    same(read_events(pieces(), Decoder()), read_events([data], Decoder()), "events")


@streams("net8-sample.nettrace")
def test_flush_at_any_point_keeps_every_event(given: Given) -> None:
    """A flush may give up the order across threads, never an event nor the order of one capture thread."""
    data = given.content()
    whole = read_rows([data], "report")
    for seed in given.times(6, 2):
        rng = random.Random(seed)
        seen = read_rows(sliced(data, seed), "report", flush=lambda rng=rng: rng.random() < 0.5)  # type: ignore[misc]
        assert by_capture_thread(seen) == by_capture_thread(whole), seed
        assert seen.losses == whole.losses
        assert seen.problems == whole.problems


def by_capture_thread(seen: Seen) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for event in seen.events:
        found[event[3]].append(event)
    return found

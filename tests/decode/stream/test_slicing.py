"""A stream says the same however it is cut: whole, byte by byte, in random pieces, from a buffer that is used again.

Compared are all that a user can see of each event, the problems, the losses and the error that ended the reading.
Where the shared folder is at hand its vectors and small traces are cut as well.
"""

from __future__ import annotations

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs
import pytest

from built_pauses import FORMATS, pauses
from clrevents import Decoder, TraceError
from clrevents.decode.rows import Guids, Rows
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode, Limits
from project_files import SHARED, fixtures
from tiers import drawn, few

VECTORS: Final = sorted((SHARED / "vectors").glob("*.nettrace"))
SMALL_TRACES: Final = sorted(p for p in (SHARED / "traces" / "perfview").glob("*.net*.gz") if p.stat().st_size < 60_000)

MODES: Final[tuple[ErrorMode, ...]] = ("report", "salvage")
SMALL: Final = 20_000
"""Bytes of a stream that is sliced many times and also byte by byte; of larger ones a few slicings show as much."""

Row: TypeAlias = tuple[Any, ...]
Pieces: TypeAlias = Iterable[bytes | memoryview]


@attrs.define
class Seen:
    """All that came out of one reading; `error` is what ended it."""

    events: list[Row] = attrs.field(factory=list)
    problems: list[Any] = attrs.field(factory=list)
    counts: dict[str, int] = attrs.field(factory=dict)
    losses: list[Any] = attrs.field(factory=list)
    lost: int = 0
    complete: bool = False
    info: Any = None
    error: tuple[Any, ...] | None = None


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


def _guids(guids: Guids | None) -> list[bytes | None] | None:
    return None if guids is None else guids.all()


def stream_row(stream: Stream, rows: Rows) -> Iterator[Row]:
    """One release's headers and payload bytes, without decoding any payload."""
    nothing = [None] * len(rows)
    yield from zip(
        [(kind.index, kind.row, kind.key) for kind in map(stream.kinds.all.__getitem__, rows.kind_indexes.tolist())],
        rows.ticks.tolist(),
        rows.thread_ids.tolist(),
        rows.capture_threads.tolist(),
        rows.processors.tolist(),
        rows.stack_ids.tolist(),
        map(rows.release.stacks.data, rows.stack_ids.tolist()),
        rows.offsets.tolist(),
        rows.payloads(),
        _guids(rows.activities) or nothing,
        _guids(rows.related_activities) or nothing,
        rows.labels or nothing,
        rows.process_ids or nothing,
        strict=True,
    )


def read_rows(
    pieces: Pieces, mode: ErrorMode, flush: Callable[[], bool] = lambda: False, limits: Limits | None = None
) -> Seen:
    """Headers and payload bytes of everything."""
    stream, seen = Stream(errors=mode, limits=limits), Seen()
    try:
        for piece in pieces:
            for rows in stream.feed(piece):
                seen.events += stream_row(stream, rows)
            if flush():
                for rows in stream.flush():
                    seen.events += stream_row(stream, rows)
        for rows in stream.close():
            seen.events += stream_row(stream, rows)
        if stream.error is not None:
            raise stream.error
    except TraceError as error:
        seen.error = described(error)
    return finished(seen, stream)


def read_events(pieces: Pieces, mode: ErrorMode) -> Seen:
    """Everything decoded; each batch's own problems and losses, put together, must be the decoder's."""
    decoder, seen = Decoder(errors=mode), Seen()
    problems: list[Any] = []
    losses: list[Any] = []
    try:
        for piece in pieces:
            for batch in decoder.feed(piece):
                seen.events += map(visible, batch)
                problems += batch.problems
                losses += batch.losses
        for batch in decoder.close():
            seen.events += map(visible, batch)
            problems += batch.problems
            losses += batch.losses
    except TraceError as error:
        seen.error = described(error)
    finished(seen, decoder._stream)
    assert Counter(problems) <= Counter(seen.problems)
    assert losses == seen.losses[: len(losses)]
    return seen


def finished(seen: Seen, stream: Stream) -> Seen:
    seen.problems = list(stream.problems)
    seen.counts = dict(stream.problems.counts)
    seen.losses, seen.lost = list(stream.losses), stream.lost
    seen.complete, seen.info = stream.complete, stream.info
    return seen


def visible(event: Any) -> Row:
    """All that a user can see of an event. Records of a trace's own classes are compared by their text."""
    return (
        event.key,
        (event.opcode, event.level, event.keywords),
        event.time_ns,
        event.thread_id,
        event.process_id,
        event.processor,
        event.activity_id,
        event.related_activity_id,
        (event.trace_id, event.span_id, event.labels),
        event.stack_id,
        event.stack,
        event.payload_bytes,
        event.payload_tail,
        repr(event.payload),
    )


def described(error: TraceError) -> tuple[Any, ...]:
    return type(error), error.reason, error.offset, error.event, error.field, error.needed, error.available


def bytewise(data: bytes) -> Iterator[bytes]:
    return (data[i : i + 1] for i in range(len(data)))


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


def same(seen: Seen, whole: Seen, how: str) -> None:
    """Equal in everything; says where the first difference is instead of printing thousands of events."""
    for row, (here, there) in enumerate(zip(seen.events, whole.events, strict=False)):
        assert here == there, f"{how}: event {row}"
    assert len(seen.events) == len(whole.events), how
    seen_rest, whole_rest = attrs.evolve(seen, events=[]), attrs.evolve(whole, events=[])
    assert seen_rest == whole_rest, how


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
    same(read_rows(bytewise(data), mode), read_rows([data], mode), "rows")
    same(read_events(bytewise(data), mode), read_events([data], mode), "events")


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
    same(read_events(pieces(), "report"), read_events([data], "report"), "events")


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

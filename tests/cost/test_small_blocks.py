"""Blocks of one event each, without a sequence point: memory and time in proportion to their number."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import pytest

import clrevents
from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.kernels.header_scan import HeaderScanner, Tally
from clrevents.decode.rows import Rows
from clrevents.decode.stream import losses
from clrevents.decode.stream.stream import EventIntake, Stream
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import Choices, EventRecord, Label, MetadataRecord, ThreadRow
from clrevents.errors import ErrorMode
from clrevents.schema.codes import LabelKind
from costly import small_blocks, small_blocks_of_four
from costly_containers import unsound_blocks
from in_memory import ended
from seen import Seen, in_pieces, read_rows
from stack_data import stack_data

pytestmark = pytest.mark.full

MAKERS = [small_blocks, small_blocks_of_four]


def read(data: bytes) -> int:
    with clrevents.open(data) as trace:
        return sum(1 for _ in trace.events())


def with_stacks(restarts: int, blocks: int, after: int = 0) -> bytes:
    """Blocks of one event whose stack ids start again (without a sequence point) after every `restarts` blocks."""
    writer = NetTrace4Writer(io.BytesIO())
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    for number in range(blocks):
        if number % restarts == 0:
            writer.stacks(1, [[number + 1]])
        # Some larger ones between them.
        writer.events([EventRecord(1, number, 1 + number % 3, stack_id=1)] * (200 if number % 700 == 699 else 1))
    return ended(writer)


@pytest.mark.parametrize("restarts", [1, 100, 256, 300, 10_000])
def test_rows_are_the_same_in_few_pieces(restarts: int) -> None:
    stream = Stream()
    data = with_stacks(restarts, 1500)
    rows: list[Rows] = [*stream.feed(data), *stream.close()]
    (region,) = rows
    numbers = np.repeat(np.arange(1500), [200 if n % 700 == 699 else 1 for n in range(1500)])
    assert region.ticks.tolist() == numbers.tolist()
    assert region.thread_ids.tolist() == (1 + numbers % 3).tolist()
    assert region.capture_threads.tolist() == (1 + numbers % 3).tolist()
    table = region.release.stacks
    stacks = [int.from_bytes(stack_data(table, number) or b"", "little") for number in region.stack_ids.tolist()]
    assert stacks == (numbers // restarts * restarts + 1).tolist()


ODD = ("kind", "thread", "back", "loss", "span", "wiped", "cut", "stacks", "point", "none", "full", "large")


def drawn(number: int, version: int) -> bytes:
    """Small blocks of one to three events with ids, and sometimes something else: what `ODD` says, or damage."""
    draw = random.Random(number)
    odd = draw.sample(ODD, draw.choice([0, 1, 2]))
    sink = io.BytesIO()
    writer: Any = (NetTrace4Writer if version == 4 else NetTrace6Writer)(sink)
    kinds = [MetadataRecord(1, "P", 1, 0, "E"), MetadataRecord(2, "P", 2, 0, "F")]
    writer.metadata(kinds)
    if version == 6:
        writer.threads([ThreadRow(i, 40 + i) for i in range(1, 4)])
        lists = [[Label(LabelKind.ACTIVITY_ID, bytes([i] * 16)), Label(LabelKind.LEVEL, i)] for i in range(1, 4)]
        writer.labels(1, lists)
    tick = 100
    for _ in range(draw.choice([5, 60, 150])):
        this = draw.choice(odd) if odd and draw.random() < 0.05 else ""
        events = []
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            tick += draw.randrange(3)
            ids: dict[str, Any] = {"label_id": draw.choice([0, 0, 1, 2, 3, 3])} if version == 6 else {}
            if version == 4 and draw.random() < 0.3:
                ids = {"activity_id": bytes([draw.randrange(256)] * 16)}
            if draw.random() < 0.5:
                ids = {}
            sequence = {"back": 1, "loss": tick + 1000}.get(this)
            kind = 9 if this == "kind" else draw.choice([1, 2])
            thread = 9 if this == "thread" else draw.choice([1, 2, 3])
            payload = bytes(80 if this == "wiped" else 3000 if this == "large" else draw.randrange(4))
            events.append(EventRecord(kind, tick, thread, payload, sequence=sequence, **ids))
        span = (tick - 50, tick - 40) if this == "span" else None
        events = [] if this == "none" else events
        writer.events(events, Choices(span=span, compressed=this != "full"))
        if this == "stacks":
            writer.stacks(1, [(7, 8)])
        if this == "point":
            writer.sequence_point(tick, {1: 5})
        if this == "cut":
            data = sink.getvalue()
            sink.seek(0)
            sink.truncate()
            sink.write(data[: -draw.randrange(1, 6)])
    writer.end()
    return sink.getvalue()


def seen(data: bytes, errors: ErrorMode, piece: int, tally: Tally | None = None) -> Seen:
    """All that comes out of a stream that is fed in such pieces: of single bytes, no two blocks are read together."""
    limits = clrevents.Limits(region_events=100, problems=10)
    return read_rows(in_pieces(data, piece), errors, tally=tally, limits=limits)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("errors", ["report", "salvage"])
@pytest.mark.parametrize("counting", [False, True])
def test_blocks_that_are_read_together_say_what_they_say_alone(version: int, errors: ErrorMode, counting: bool) -> None:
    for number in range(50):
        data = drawn(number, version)
        alone, few, whole = (
            seen(data, errors, piece, Tally(10) if counting else None) for piece in (1, 700, len(data) or 1)
        )
        assert whole == alone, number
        assert few == alone, number


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("errors", ["report", "salvage"])
def test_gaps_of_many_runs_are_those_of_each(version: int, errors: ErrorMode, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        data = drawn(number, version)
        found = []
        for many in (1, 1 << 20):
            monkeypatch.setattr(losses, "_MANY", many)
            found.append(seen(data, errors, len(data) or 1))
        assert found[0] == found[1], number


def test_steps_back_are_counted_one_by_one() -> None:
    stream = Stream()
    stream.feed(small_blocks(5000))
    stream.close()
    # The first event has the first number; each other one has it again.
    assert stream.problems.counts == {"sequence-backwards": 4999}
    start = len(small_blocks(0)) - 4
    assert [problem.offset for problem in stream.problems][:2] == [start + 35, start + 2 * 35]
    assert len(stream.problems.items) == clrevents.Limits().problems


def test_blocks_that_are_not_sound_are_rarely_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    scan = HeaderScanner.scan_together

    def counting(self: HeaderScanner, buf: bytes, bodies: Any, count: int, *others: Any) -> Any:
        looked.append(count)
        return scan(self, buf, bodies, count, *others)

    monkeypatch.setattr(HeaderScanner, "scan_together", counting)
    stream = Stream(errors="salvage")
    stream.feed(unsound_blocks(5000))
    stream.close()
    assert stream.problems.counts["bad-block"] + stream.problems.counts["bad-event"] >= 5000
    assert sum(looked) < 5000


def test_small_blocks_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    take, take_together = EventIntake.take, EventIntake.take_together

    def counting(self: EventIntake, block: Events, offset: int) -> None:
        taken.append(sum(map(len, block.columns)))
        take(self, block, offset)

    def counting_together(self: EventIntake, block: Events, together: Together) -> bool:
        done = take_together(self, block, together)
        if done:
            taken.append(sum(map(len, block.columns)))
        return done

    monkeypatch.setattr(EventIntake, "take", counting)
    monkeypatch.setattr(EventIntake, "take_together", counting_together)
    for make in MAKERS:
        for errors in ("report", "salvage"):
            taken.clear()
            stream = Stream(errors=errors)  # type: ignore[arg-type]
            stream.feed(make(5000))
            stream.close()
            assert sum(taken) == 5000
            assert len(taken) < 10, (make, errors)

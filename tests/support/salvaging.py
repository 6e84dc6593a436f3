"""Reads damaged copies in salvage mode and compares them, event by event and block by block, with the original."""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents import TraceError
from clrevents.decode.rows import Rows
from clrevents.decode.stream.stream import Stream
from clrevents.errors import Problem
from damage import Blocks, Damage, Way, damages
from stack_data import stack_data

Ints = NDArray[np.int64]

# What an event's name, stack or time hangs on beside its own bytes.
_NAMES: Final = frozenset({"MetadataBlock"})
_STACKS: Final = frozenset({"StackBlock", "SPBlock"})


@attrs.define(eq=False)
class Events:
    """The events of one stream by the place of their payload."""

    stream: Stream
    error: str
    offsets: Ints
    sizes: Ints
    times: Ints
    threads: Ints
    ids: Ints
    keys: Ints
    """Hashes of (provider, id, version)."""
    payloads: Ints
    """Hashes of the payload bytes."""
    stacks: Ints
    """Hashes of the stack bytes; 0 for none, -1 for one that is missing."""
    marks: Ints
    """Hashes of key, time, thread and payload: what makes an event come out unchanged."""

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def damage(self) -> list[Problem]:
        return [p for p in self.stream.problems if p.severity == "damage"]


def read(data: bytes) -> Events:
    """One pass in salvage mode, a megabyte at a time as a file is read."""
    stream = Stream(errors="salvage")
    rows: list[Rows] = []
    error = ""
    try:
        for at in range(0, len(data), 1 << 20):
            rows += stream.feed(data[at : at + (1 << 20)])
        rows += stream.close()
    except TraceError as raised:
        error = str(raised)
    kinds = stream.kinds.all
    keys = np.array([hash((k.key.provider, k.key.id, k.key.version)) for k in kinds], dtype=np.int64)
    ids = np.array([k.row.metadata_id for k in kinds], dtype=np.int64)

    def column(of: Any) -> Ints:
        return np.concatenate([np.asarray(of(r)).astype(np.int64) for r in rows] or [np.empty(0, dtype=np.int64)])

    places = column(lambda r: r.kind_indexes)
    events = Events(
        stream,
        error,
        column(lambda r: r.offsets),
        column(lambda r: r.sizes),
        column(lambda r: r.ticks),
        column(lambda r: r.thread_ids.view(np.int64)),
        ids[places],
        keys[places],
        column(lambda r: np.fromiter(map(hash, r.payloads()), np.int64, len(r))),
        column(_stack_hashes),
        np.empty(0, dtype=np.int64),
    )
    with np.errstate(over="ignore"):
        events.marks = (events.keys * 1_000_003 + events.times * 7_919 + events.threads * 104_729 + events.payloads) ^ (
            events.times << 20
        )
    return events


def _stack_hashes(rows: Rows) -> Ints:
    table = rows.release.stacks
    numbers, where = np.unique(rows.stack_ids, return_inverse=True)
    hashes = [n if n <= 0 else hash(stack_data(table, n)) for n in numbers.tolist()]
    return np.array(hashes, dtype=np.int64)[where]


def common(one: Ints, other: Ints) -> int:
    """The size of the intersection of two multisets."""
    left, left_counts = np.unique(one, return_counts=True)
    right, right_counts = np.unique(other, return_counts=True)
    _, at_left, at_right = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return int(np.minimum(left_counts[at_left], right_counts[at_right]).sum())


@attrs.define
class Figures:
    """What one way of damage did to one trace."""

    shares: list[float] = attrs.field(factory=list)
    faults: list[str] = attrs.field(factory=list)
    """Broken promises, each with the damage that showed it."""
    lost_events: int = 0
    """Copies from which events are missing."""
    mapped: int = 0
    """Copies of these whose damage map names bytes of the damage, or of a block that was hit."""

    @property
    def mean(self) -> float:
        return sum(self.shares) / len(self.shares)


def campaign(data: bytes, way: Way, part: int = 1) -> Figures:
    """The copies of one way, or a part of them."""
    original, blocks, figures = read(data), Blocks(data), Figures()
    order = np.argsort(original.offsets)
    for damage, copy in damages(data, way, part):
        found = read(copy)
        figures.shares.append(common(original.marks, found.marks) / len(original))
        for fault in _judge(original, order, found, blocks, damage):
            figures.faults.append(f"{way} at {damage.at}: {fault}")
        if len(found) < len(original) and not found.error:
            figures.lost_events += 1
            figures.mapped += _mapped(found, blocks, damage, len(copy))
    return figures


def _judge(original: Events, order: Ints, found: Events, blocks: Blocks, damage: Damage) -> list[str]:
    """The promises that a copy breaks."""
    hit = blocks.hit(damage)
    names = {b.name for b in hit}
    faults = []
    if found.error:
        return [] if names & {"Magic", "Trace"} else [f"raises {found.error}"]
    if found.stream.lost > original.stream.lost:
        faults.append(f"reports {found.stream.lost} lost")
    # NetPerf keeps descriptions and stacks among the events, a stack behind its event's payload.
    mixed = original.stream.info is not None and original.stream.info.format == "NetPerf"
    if mixed and "EventBlock" in names:
        names |= _NAMES | _STACKS
    if len(found) < len(original) and not found.damage:
        # A cut right behind a block is no damage: it is told as the end that is missing.
        whole = damage.way == "cut" and all(b.start == damage.at for b in hit[:1])
        if not (whole and found.stream.problems.counts["missing-end"]):
            faults.append(f"{len(original) - len(found)} events are missing without a word")
    origins = np.array([-1 if (o := damage.origin(x)) is None else o for x in found.offsets.tolist()], dtype=np.int64)
    sound = np.ones(len(found), dtype=np.bool_)
    expected = np.ones(len(original), dtype=np.bool_)
    for block in hit:
        sound &= (origins < block.start) | (origins >= block.end)
        expected &= (original.offsets < block.start) | (original.offsets >= block.end)
    sound &= origins >= 0
    if damage.way == "cut":
        whole_events = original.offsets + original.sizes <= damage.at
        if common(original.offsets[whole_events], found.offsets) < int(whole_events.sum()) - mixed:
            faults.append(f"{int(whole_events.sum())} events stand before the cut, {len(found)} came out")
        if len(found) > int(whole_events.sum()):
            faults.append("more events than stand before the cut")
    elif common(original.offsets[expected], origins[sound]) < int(expected.sum()) - _swallowed(damage, mixed):
        faults.append(f"of {int(expected.sum())} events in sound blocks {int(sound.sum())} came out")
    at = order[np.clip(np.searchsorted(original.offsets[order], origins[sound]), 0, len(order) - 1)]
    checks = [("place", original.offsets[at], origins[sound])]
    checks += [
        (field, getattr(original, field)[at], getattr(found, field)[sound])
        for field in ("sizes", "times", "ids", "payloads")
    ]
    if "ThreadBlock" not in names:
        checks.append(("threads", original.threads[at], found.threads[sound]))
    if not names & _NAMES:
        checks.append(("keys", original.keys[at], found.keys[sound]))
    if not names & _STACKS:
        checks.append(("stacks", original.stacks[at], found.stacks[sound]))
    for field, wanted, got in checks:
        different = int((wanted != got).sum())
        if different:
            faults.append(f"{different} events of sound blocks differ in {field} ({', '.join(sorted(names))} hit)")
    return faults


def _swallowed(damage: Damage, mixed: bool) -> int:
    """A NetPerf record that lost bytes of its stack still adds up: it ends inside the records behind it."""
    return 8 if mixed and damage.way == "drop" else 0


def _mapped(found: Events, blocks: Blocks, damage: Damage, size: int) -> bool:
    """Whether the damage map names the damage: its bytes in the copy, or a block that was hit."""
    start, end = damage.within_copy(size)
    for block in blocks.hit(damage):
        start = min(start, block.start)
        if damage.way in ("flip", "zero"):
            end = max(end, block.end)
        elif damage.way == "drop":
            # What slid into the block.
            end = damage.at + damage.size
    return any(
        p.offset is not None and p.offset <= max(end, start + 1) and p.offset + (p.length or 1) > start
        for p in found.damage
    )


# The least mean share of the original's events that may come out unchanged; a cut has a promise of its own.
LEAST: Final[dict[Way, float]] = {"cut": 0.0, "flip": 0.99, "zero": 0.93, "drop": 0.93, "insert": 0.93}


def hold(figures: Figures, way: Way, least: float | None = None) -> None:
    """Hold the figures against the promises."""
    assert figures.faults == []
    assert figures.mean >= (LEAST[way] if least is None else least)
    # Every copy that lost events says where; see `Figures.mapped`.
    assert figures.mapped == figures.lost_events

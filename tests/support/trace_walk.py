"""A second, small reader of what the runtime and our rewriter write: walks NetTrace 4 and 6, holds the format's rules.

Shares no code with the library. Knows only what these writers use: short headers, and blocks in any order.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field

from stream_blocks import blocks_of, head_size, shape_of

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


@dataclass
class Walked:
    """What was found; `walk` has asserted the rules on the way."""

    events: int = 0
    lost: Counter[int] = field(default_factory=Counter)
    """By capture thread, or by thread index."""
    threads: dict[int, int] = field(default_factory=dict)
    """NetTrace 6: thread ids by index."""
    end: int = 0
    """The latest time of an event or a sequence point, in ticks."""


class _Walk:
    def __init__(self, data: bytes, version: int) -> None:
        self.data = data
        self.found = Walked()
        self.six = version == 6
        self.metadata: set[int] = set()
        self.stacks: set[int] = set()
        self.labels: set[int] = set()
        self.numbers: dict[int, int] = {}
        self.latest: dict[int, int] = {}
        self.bound = -(1 << 63)
        self.promised = -(1 << 63)
        self.highest = -(1 << 63)

    def varuint(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self.data[at]
            value |= (byte & 127) << shift
            shift += 7
            at += 1
            if byte < 128:
                return value, at

    def events(self, at: int, end: int, metadata: bool = False) -> None:
        size, flags, first, last = struct.unpack_from("<HHqq", self.data, at)
        assert flags == 1
        at += size
        about = capture = sequence = thread = stack = label = time = length = 0
        times = []
        while at < end:
            flags = self.data[at]
            at += 1
            if flags & 1:
                about, at = self.varuint(at)
            if flags & 2:
                before = capture
                step, at = self.varuint(at)
                capture, at = self.varuint(at)
                here = not times or flags & 64 or capture == before
                assert here, "the writing thread changes where a block begins or at a sorted event"
                _, at = self.varuint(at)
                sequence = (sequence + step + 1) & M32
            elif about:
                sequence = (sequence + 1) & M32
            if flags & 4:
                thread, at = self.varuint(at)
            if flags & 8:
                stack, at = self.varuint(at)
            delta, at = self.varuint(at)
            time = (time + delta) & M64
            if flags & 16:
                if self.six:
                    label, at = self.varuint(at)
                else:
                    at += 16
            if flags & 32:
                assert not self.six
                at += 16
            if flags & 128:
                length, at = self.varuint(at)
            tick = time - (1 << 64) if time >> 63 else time
            times.append(tick)
            if metadata:
                self.metadata.add(struct.unpack_from("<i", self.data, at)[0])
            else:
                self.event(about, capture, sequence, thread, stack, label, tick, bool(flags & 64))
            at += length
        assert at == end, "events end where their block ends"
        assert (first, last) == (min(times), max(times)), "the block header announces its events' times"

    def event(
        self, about: int, capture: int, number: int, thread: int, stack: int, label: int, tick: int, is_sorted: bool
    ) -> None:
        self.found.events += 1
        assert about in self.metadata, "an event is described before it comes"
        assert stack == 0 or stack in self.stacks, "a stack stands in its region, before its event"
        assert label == 0 or label in self.labels
        if self.six:
            assert {thread, capture} <= self.found.threads.keys(), "a thread is described before its first event"
        assert tick >= self.latest.get(capture, tick), "times of one writing thread never step back"
        assert tick >= self.bound, "nothing behind a sequence point is earlier"
        assert tick >= self.promised, "nothing behind a sorted event is earlier"
        self.latest[capture] = tick
        self.highest = self.found.end = max(self.highest, tick)
        if is_sorted:
            self.promised = max(self.promised, tick)
        self.count(capture, number - 1)
        self.numbers[capture] = number

    def count(self, capture: int, reached: int) -> None:
        gap = (reached - self.numbers.get(capture, 0)) & M32
        assert gap < 1 << 31, "numbers never step back"
        if gap:
            self.found.lost[capture] += gap
        self.numbers[capture] = reached

    def point(self, at: int, end: int) -> None:
        (time,) = struct.unpack_from("<q", self.data, at)
        assert self.highest <= time, "nothing in front of a sequence point is later"
        at += 8
        if self.six:
            flags, count = struct.unpack_from("<II", self.data, at)
            assert flags == 0
            at += 8
        else:
            (count,) = struct.unpack_from("<i", self.data, at)
            at += 4
        for _ in range(count):
            if self.six:
                capture, at = self.varuint(at)
                number, at = self.varuint(at)
            else:
                capture, number = struct.unpack_from("<QI", self.data, at)
                at += 12
            self.count(capture, number)
        assert at == end
        self.bound = self.found.end = time
        self.stacks.clear()
        self.labels.clear()

    def stack_block(self, at: int, end: int) -> None:
        first, count = struct.unpack_from("<ii", self.data, at)
        at += 8
        for number in range(first, first + count):
            assert number not in self.stacks
            self.stacks.add(number)
            at += 4 + int.from_bytes(self.data[at : at + 4], "little")
        assert at == end

    def rows(self, kind: str, at: int, end: int) -> None:
        """Metadata and threads of NetTrace 6: each row behind its size."""
        if kind == "MetadataBlock":
            assert self.data[at : at + 2] == b"\0\0"
            at += 2
        while at < end:
            size = int.from_bytes(self.data[at : at + 2], "little")
            at += 2
            number, inner = self.varuint(at)
            if kind == "MetadataBlock":
                assert number not in self.metadata
                self.metadata.add(number)
            else:
                assert number not in self.found.threads
                self.found.threads[number] = self.thread_id(inner, at + size)
            at += size
        assert at == end

    def thread_id(self, at: int, end: int) -> int:
        found = -1
        while at < end:
            kind = self.data[at]
            at += 1
            if kind in (1, 4):
                for _ in range(1 if kind == 1 else 2):
                    size, at = self.varuint(at)
                    at += size
            else:
                number, at = self.varuint(at)
                found = number if kind == 3 else found
        return found

    def label_block(self, at: int) -> None:
        first, count = struct.unpack_from("<ii", self.data, at)
        assert not self.labels & set(range(first, first + count))
        self.labels |= set(range(first, first + count))


def walk(data: bytes) -> Walked:
    """Walk a whole trace, assert the rules of the format, and say what was in it."""
    shape = shape_of(data)
    assert shape in ("nettrace4", "nettrace6")
    walk = _Walk(data, 4 if shape == "nettrace4" else 6)
    last = head_size(data)
    assert not walk.six or struct.unpack_from("<ii", data, 12) == (6, 0)
    for block in blocks_of(data):
        assert block.start == last
        last = block.end
        if not walk.six:
            versions = struct.unpack_from("<ii", data, block.start + 3)
            assert versions == ((4, 4) if block.name == "Trace" else (2, 2))
            assert not any(data[block.size_at + 4 : block.content]) or block.name == "Trace"
        at, end = block.content, block.content_end
        match block.name:
            case "EventBlock":
                walk.events(at, end)
            case "MetadataBlock" if not walk.six:
                walk.events(at, end, metadata=True)
            case "MetadataBlock" | "ThreadBlock":
                walk.rows(block.name, at, end)
            case "StackBlock":
                walk.stack_block(at, end)
            case "SPBlock":
                walk.point(at, end)
            case "LabelBlock":
                walk.label_block(at)
            case "Trace":
                pass
            case "End":
                assert at == end == len(data)
            case _:
                raise AssertionError(block.name)
    # A process that was killed wrote no end mark.
    assert data[last:] in (b"\1", b"") if not walk.six else last == len(data), "the end mark is the last byte"
    return walk.found

"""How many events each trace lost, counted a second time from the bytes by a walk that shares no code with ours.

The walk below follows the format's description (block by block, header by header) and keeps one thing: the
sequence numbers of each capture thread.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

import pytest
from shared_files import Shared, needs_shared, traces, unpacked

import clrevents
from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.stream import Stream

Gap: TypeAlias = tuple[int, int, int, int]

LOST: Final = {"net10-lossy": 307_379}
"""Every trace that lost events; all others must report none."""

ALL: Final = traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
COUNTED: Final = [t for t in ALL if t.name.endswith(".nettrace")]
"""NetPerf has no sequence numbers, so that only NetTrace can tell what it lost."""

_M32: Final = 0xFFFFFFFF
_M64: Final = (1 << 64) - 1


@lru_cache(maxsize=2)
def scanned(trace: Shared) -> Stream:
    """Our reading of the trace's headers."""
    stream = Stream()
    stream.feed(unpacked(trace))
    stream.close()
    return stream


def objects(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Each object of a NetTrace 4 stream: its type name, and where its payload begins and ends."""
    assert data[:8] == b"Nettrace"
    at = 32
    while at < len(data) and data[at] == 5:
        (length,) = struct.unpack_from("<i", data, at + 11)
        name = data[at + 15 : at + 15 + length].decode()
        at += 15 + length + 1
        if name == "Trace":
            size = 48
        else:
            (size,) = struct.unpack_from("<i", data, at)
            at = (at + 4 + 3) // 4 * 4
        yield name, at, at + size
        at += size
        assert data[at] == 6
        at += 1


def leb128(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def blobs(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(capture thread, sequence number, time) of each event of a block with compressed headers."""
    header, flags = struct.unpack_from("<HH", data, at)
    assert flags & 1
    at += header
    metadata = sequence = capture = time = size = 0
    while at < end:
        parts = data[at]
        at += 1
        if parts & 1:
            metadata, at = leb128(data, at)
        if parts & 2:
            step, at = leb128(data, at)
            sequence += step + 1
            capture, at = leb128(data, at)
            _, at = leb128(data, at)
        elif metadata:
            sequence += 1
        sequence &= _M32
        for bit in (4, 8):
            if parts & bit:
                _, at = leb128(data, at)
        step, at = leb128(data, at)
        time = (time + step) & _M64
        at += 16 * bool(parts & 16) + 16 * bool(parts & 32)
        if parts & 128:
            size, at = leb128(data, at)
        at += size
        yield capture, sequence, time
    assert at == end


def gaps(data: bytes, since: int) -> Iterator[Gap]:
    """(capture thread, number lost, tick before, tick after) of each gap in the sequence numbers, which begin at 1.

    `since` is the tick of the session's start.
    """
    last: dict[int, tuple[int, int]] = {}
    for name, at, end in objects(data):
        if name == "EventBlock":
            for capture, sequence, time in blobs(data, at, end):
                number, tick = last.get(capture, (0, min(since, time)))
                if missing := (sequence - 1 - number) & _M32:
                    yield capture, missing, tick, time
                last[capture] = sequence, time
        elif name == "SPBlock":
            time, count = struct.unpack_from("<Qi", data, at)
            assert at + 12 + 12 * count == end
            for row in range(count):
                capture, sequence = struct.unpack_from("<QI", data, at + 12 + 12 * row)
                number, tick = last.get(capture, (0, min(since, time)))
                if missing := (sequence - number) & _M32:
                    yield capture, missing, tick, time
                last[capture] = sequence, time
            since = time


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in ALL])
def test_losses_add_up(trace: Shared) -> None:
    stream = scanned(trace)
    assert stream.lost == LOST.get(trace.short, 0)
    assert sum(loss.count for loss in stream.losses) == stream.lost
    assert stream.missing == 0
    assert not stream.problems.counts["sequence-backwards"]


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in COUNTED])
def test_the_bytes_say_the_same(trace: Shared) -> None:
    """The same gaps, in the same threads and the same windows."""
    stream = scanned(trace)
    sync, frequency = stream.clock.sync_qpc, stream.clock.frequency
    found = [
        Loss(thread, count, (before - sync) * 10**9 // frequency, (after - sync) * 10**9 // frequency)
        for thread, count, before, after in gaps(unpacked(trace), sync)
    ]
    assert sum(loss.count for loss in found) == LOST.get(trace.short, 0)
    assert found == stream.losses


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in ALL if t.short in LOST])
def test_windows_are_sane(trace: Shared) -> None:
    """Each window lies within the session, and within it none of that thread's own events is in the file."""
    data = unpacked(trace)
    stream = Stream()
    rows = [*stream.feed(data), *stream.close()]
    own: dict[int, list[int]] = {}
    for some in rows:
        for thread, time in zip(some.capture_threads.tolist(), stream.clock.ns_list(some.ticks), strict=True):
            own.setdefault(thread, []).append(time)
    end = max(max(times) for times in own.values())
    points = [struct.unpack_from("<Q", data, at)[0] for name, at, _ in objects(data) if name == "SPBlock"]
    end = max(end, stream.clock.ns(max(points)))
    by_thread: dict[int, list[Loss]] = {}
    for loss in stream.losses:
        assert 0 <= loss.start_ns <= loss.end_ns <= end, loss
        assert loss.count > 0
        assert not [t for t in own[loss.thread_id] if loss.start_ns < t < loss.end_ns], loss
        by_thread.setdefault(loss.thread_id, []).append(loss)
    for losses in by_thread.values():
        for before, after in pairwise(losses):
            assert before.end_ns <= after.start_ns


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in ALL if t.short in LOST])
def test_users_are_told(trace: Shared) -> None:
    """The trace's own answers: its list, the sum, one warning, and the batches' shares of the list."""
    data = unpacked(trace)
    opened = clrevents.open(data)
    with pytest.warns(clrevents.TraceWarning, match="lost while recording") as warned:
        lost = opened.lost
    assert lost == LOST[trace.short]
    assert len(warned) == 1
    per_thread: Counter[int] = Counter()
    for loss in opened.losses:
        per_thread[loss.thread_id] += loss.count
    assert per_thread.total() == opened.lost
    decoder = clrevents.Decoder("MethodLoadVerbose")
    batches = [*decoder.feed(data), *decoder.close()]
    assert tuple(loss for batch in batches for loss in batch.losses) == opened.losses[: len(decoder.losses)]
    assert decoder.losses == opened.losses

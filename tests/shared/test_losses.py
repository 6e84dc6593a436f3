"""How many events each trace lost, counted a second time from the bytes by a walk that shares no code with ours.

The walk holds all that it meets to the rules of the format, too.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Final

import pytest
from shared_files import Shared, needs_shared, traces, unpacked

from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.stream import Stream
from trace_walk import walk

LOST: Final = {"net10-lossy": 307_379}
"""Every trace that lost events; all others must report none."""

ALL: Final = traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
COUNTED: Final = [t for t in ALL if t.name.endswith(".nettrace")]
"""NetPerf has no sequence numbers, so that only NetTrace can tell what it lost."""


@lru_cache(maxsize=2)
def scanned(trace: Shared) -> Stream:
    """Our reading of the trace's headers."""
    stream = Stream()
    stream.feed(unpacked(trace))
    stream.close()
    return stream


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
    """As many in the same threads, of as many events."""
    walked, lost = walk(unpacked(trace)), Counter[int]()
    stream = scanned(trace)
    for loss in stream.losses:
        lost[loss.thread_id] += loss.count
    assert walked.lost == lost
    assert lost.total() == LOST.get(trace.short, 0)


@needs_shared
@pytest.mark.parametrize("trace", [pytest.param(t, id=t.name) for t in ALL if t.short in LOST])
def test_windows_are_sane(trace: Shared) -> None:
    """Each window lies within the session, and within it none of that thread's own events is in the file."""
    data = unpacked(trace)
    stream = Stream()
    own: dict[int, list[int]] = {}
    for some in [*stream.feed(data), *stream.close()]:
        for thread, time in zip(some.capture_threads.tolist(), stream.clock.ns_list(some.ticks), strict=True):
            own.setdefault(thread, []).append(time)
    end = stream.clock.ns(walk(data).end)
    by_thread: dict[int, list[Loss]] = {}
    for loss in stream.losses:
        assert 0 <= loss.start_ns <= loss.end_ns <= end, loss
        assert loss.count > 0
        assert not [t for t in own[loss.thread_id] if loss.start_ns < t < loss.end_ns], loss
        by_thread.setdefault(loss.thread_id, []).append(loss)
    for losses in by_thread.values():
        for before, after in pairwise(losses):
            assert before.end_ns <= after.start_ns

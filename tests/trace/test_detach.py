"""A kept event keeps its batch, a detached one only itself; and they are equal."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import clrevents
from clrevents.testing.builder import TraceBuilder

COUNT = 2_000
SIZE = 3_000


def large() -> bytes:
    builder = TraceBuilder().method_load("N", "M", address=0x1000).thread(7)
    for number in range(COUNT):
        builder.described("App", "Large", {"Number": (9, number), "Text": (18, "x" * SIZE)}, stack=[0x1010])
    return builder.build()


def test_detached_events_keep_nothing_of_others() -> None:
    data = large()
    with clrevents.open(data) as trace:
        # Once, so that what is imported on the way is not counted.
        [event.detach() for event in trace.events("Large")]
    tracemalloc.start()
    try:
        with clrevents.open(data) as trace:
            assert len(trace.methods) == 1
            before = tracemalloc.get_traced_memory()[0]
            kept = [event for event in trace.events("Large") if event.payload.Number % 200 == 0]
            shared = tracemalloc.get_traced_memory()[0] - before
            kept = [event.detach() for event in kept]
            # Without the GIL, functions and what they hold wait for it.
            gc.collect()
            own = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(kept) == COUNT // 200
    assert shared > COUNT * 2 * SIZE
    # The text of one, and its bytes, are theirs.
    assert own < 2 * len(kept) * 3 * SIZE


def test_a_detached_event_is_the_same_event() -> None:
    with clrevents.open(large()) as trace:
        for event in list(trace.events())[::500]:
            alone = event.detach()
            assert alone == event
            assert hash(alone) == hash(event)
            assert repr(alone) == repr(event)
            assert alone.detach() == event
            assert pickle.loads(pickle.dumps(alone)) == event
            assert alone.frames == event.frames
            assert alone.frames == () or "N.M" in str(alone.frames[0])


def test_of_a_live_batch() -> None:
    """Detaching one of its events makes no record of the others."""
    decoder = clrevents.Decoder("Large")
    batches = [*decoder.feed(large()), *decoder.close()]
    events = [next(iter(batch)) for batch in batches]
    alone = [event.detach() for event in events]
    assert alone == events
    assert sum(map(len, batches)) == COUNT

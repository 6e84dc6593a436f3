"""Events of code with any bytes: names are found or not, and nothing but a TraceError is raised."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.testing.builder import RUNDOWN, RUNTIME, TraceBuilder

edges = st.sampled_from([0, 1, 0x1000, 0x1010, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
numbers = edges | st.integers(0, 0x2000)
words = st.text("<>`[]+,&*!() ab\0é", max_size=12).map(lambda t: t.encode("utf-16-le", "surrogatepass") + b"\0\0")


@st.composite
def method_payloads(draw: st.DrawFn) -> bytes:
    """Something like a verbose method event."""
    head = struct.pack("<QQQIII", *(draw(numbers) for _ in range(3)), *(draw(numbers) & 0xFFFFFFFF for _ in range(3)))
    tail = struct.pack("<HQ", 0, draw(numbers))
    return head + b"".join(draw(st.lists(words, min_size=3, max_size=3))) + tail[: draw(st.sampled_from([0, 2, 10]))]


@st.composite
def map_payloads(draw: st.DrawFn) -> bytes:
    """Something like an IL map."""
    count = draw(st.integers(0, 5))
    pairs = [draw(numbers) & 0xFFFFFFFF for _ in range(2 * count)]
    return struct.pack(f"<QQBH{2 * count}IHQ", draw(numbers), draw(numbers), 0, count, *pairs, 0, 0)


events = st.one_of(
    st.tuples(st.just(RUNTIME), st.sampled_from([143, 144]), st.integers(0, 3), method_payloads()),
    st.tuples(st.just(RUNDOWN), st.sampled_from([143, 144]), st.integers(0, 3), method_payloads()),
    st.tuples(st.just(RUNTIME), st.just(190), st.integers(0, 1), map_payloads()),
    st.tuples(
        st.sampled_from([RUNTIME, RUNDOWN, "Universal.System"]),
        st.sampled_from([3, 4, 5, 72, *range(135, 161), 187, 190]),
        st.integers(0, 4),
        st.binary(max_size=80),
    ),
)


@given(
    st.lists(events, max_size=12), st.lists(edges, min_size=1, max_size=6), st.sampled_from(["nettrace4", "nettrace6"])
)
def test_any_events_of_code(rows: list[tuple[str, int, int, bytes]], stack: list[int], format: str) -> None:
    trace = TraceBuilder(format)  # type: ignore[arg-type]
    for number, (provider, id, version, payload) in enumerate(rows):
        trace.at(number * 1000).raw(provider, id, version, payload)
    opened = clrevents.open(trace.sample(*stack).build())
    methods = opened.methods
    for method in methods:
        assert isinstance(method.display, str)
    for module in methods.modules:
        assert isinstance(module.name, str)
    (event,) = opened.events("ThreadSample")
    assert len(event.frames) == len(event.stack)
    assert all(isinstance(str(frame), str) for frame in event.frames)
    ids = np.array([event.stack_id] * 2, dtype=np.int64)
    resolved = resolve_stacks(methods, opened.stacks.arrays, ids, np.array([0, event.time_ns]))
    assert len(resolved.values) in (len(stack), 2 * len(stack), 3 * len(stack))
    last = resolved.values[resolved.offsets[resolved.of[1]] : resolved.offsets[resolved.of[1] + 1]]
    assert [resolved.table.frame(int(v)).reason for v in last] == [f.reason for f in event.frames]

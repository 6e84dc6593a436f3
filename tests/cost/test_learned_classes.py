"""Classes learned from a trace's descriptions: their limit counts fields too, because these are what takes memory."""

from __future__ import annotations

import tracemalloc

import pytest

import clrevents
from clrevents import RawPayload
from clrevents.schema.dynamic import ClassCache, FieldDescription, Variant
from costly import wide_kinds

FIELDS = 1000
LIMITS = clrevents.Limits(learned=100)
# 100 classes with 16 fields each, and 8,192 fields more.
MOST = (16 * 100 + 8192) // FIELDS


def read(kinds: int) -> tuple[int, int]:
    """The number of typed payloads of a trace with wide descriptions, and the most memory in use."""
    data = wide_kinds(kinds, FIELDS)
    tracemalloc.start()
    try:
        with clrevents.open(data, limits=LIMITS) as trace:
            typed = sum(not isinstance(event.payload, RawPayload) for event in trace.events())
        return typed, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.full
def test_wide_classes() -> None:
    read(1)
    results = [read(kinds) for kinds in (MOST, 2 * MOST, 4 * MOST)]
    assert [typed for typed, _ in results] == [MOST] * 3
    few, *more = (memory for _, memory in results)
    # What stays are the descriptions themselves.
    for times, memory in zip((1, 3), more, strict=True):
        assert memory - few < times * MOST * FIELDS * 600


def test_payloads_beyond_the_limit_say_so() -> None:
    with clrevents.open(wide_kinds(MOST + 1, FIELDS), limits=LIMITS) as trace:
        payloads = [event.payload for event in trace.events()]
    assert [payload.reason for payload in payloads if isinstance(payload, RawPayload)] == [
        "the trace describes more kinds of events, or fields of them, than Limits.learned allows"
    ]


def fields(first: int, count: int) -> tuple[FieldDescription, ...]:
    return tuple(FieldDescription(f"f{i}", 6) for i in range(first, first + count))


@pytest.mark.parametrize("limit", [10, 1000, 5000])
def test_as_many_classes_as_allowed(limit: int) -> None:
    cache = ClassCache(limit)
    small = [cache.layout(fields(i, 16 if i < 20 else 2), Variant()) for i in range(min(limit, 50))]
    assert all(layout is not None and cache.get("E", layout) is not None for layout in small)


def test_the_same_description_counts_once() -> None:
    cache = ClassCache(1)
    layouts = {id(cache.layout(fields(0, 4000), Variant())) for _ in range(100)}
    assert len(layouts) == 1
    assert cache.layout(fields(1, 8000), Variant()) is None

"""What a name that nobody knows may have meant: in which order it is offered, and how much of it."""

from __future__ import annotations

import pytest

from clrevents.schema.matching import unknown_event
from clrevents.schema.registry import DEFAULT

KNOWN = {name for e in DEFAULT.entries() for name in (e.name, *e.aliases, e.qualified)}


def offered(name: str, known: set[str] = KNOWN) -> list[str]:
    text = str(unknown_event(name, known))
    start, _, hint = text.partition("; did you mean ")
    assert start == f"no event {name!r}"
    return hint.removesuffix("?").split(" or ") if hint else []


@pytest.mark.parametrize(
    ("name", "first"),
    [
        # A slip of the finger, whatever the case.
        ("methodloadverbos", ["MethodLoadVerbose", "Method/LoadVerbose"]),
        ("GCStort", ["GCStart", "GC/Start"]),
        ("runtime/MethodLod", ["MethodLoad"]),
        # A beginning, the shortest first.
        ("GCAlloc", ["GCAllocationTick", "BGCAllocWaitEnd"]),
        ("contention", ["Contention"]),
        # A part.
        ("JitInlining", ["MethodJitInliningFailed", "MethodJitInliningSucceeded", "MethodJitInliningFailedAnsi"]),
        ("runtime/Inlining", ["MethodJitInliningFailed", "MethodJitInliningSucceeded", "MethodJitInliningFailedAnsi"]),
        ("Tick", ["GCAllocationTick"]),
        # Nothing better than what looks similar.
        ("Exceptoin", ["Exception/Stop", "ExceptionThrown"]),
    ],
)
def test_the_likeliest_comes_first(name: str, first: list[str]) -> None:
    assert offered(name)[: len(first)] == first


@pytest.mark.parametrize("name", ["zzz", "/", "x/", "OrderPlaced", "?", ""])
def test_what_nothing_is_like(name: str) -> None:
    assert offered(name) == []


def test_never_more_than_five_and_none_twice() -> None:
    for name in ("gc", "Method", "Thread", "Verbose", "m", "Start"):
        found = offered(name)
        assert len(found) == len(set(found)) == 5
        assert not any("/" in other for other in found)


def test_events_that_a_trace_describes() -> None:
    known = {"OrderPlaced", "Shop/OrderPlaced", "Shop/OrderShipped", "OrderShipped", "Cancelled"}
    assert offered("Order", known) == ["OrderPlaced", "OrderShipped"]
    assert offered("Shop/Order", known) == ["OrderPlaced", "OrderShipped"]
    assert offered("placed", known) == ["OrderPlaced"]

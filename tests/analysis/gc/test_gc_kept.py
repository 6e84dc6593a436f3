"""Objects that were pinned or finalized: by type, and by who allocated them where a tick has their address or type."""

from __future__ import annotations

import clrevents
from built_collections import GcTrace
from clrevents.events import FinalizeObject_V0, GCAllocationKind, GCAllocationTick_V4, PinObjectAtGCTime_V0
from project_files import fixture
from reading import opened

PIN, LITTER, FRAMEWORK = 0x1000, 0x2000, 0x3000
HANDLE, BYTES = 7, 8


def made() -> GcTrace:
    trace = GcTrace()
    for address, owner, name in ((PIN, "Shop", "Pin"), (LITTER, "Shop", "Litter"), (FRAMEWORK, "System.Gate", "Hold")):
        trace.trace.method_load(owner, name, address=address, size=64)
    return trace


def tick(trace: GcTrace, us: float, at: int, *stack: int, type: int = BYTES) -> None:
    name = {HANDLE: "Shop.Handle", BYTES: "System.Byte[]"}[type]
    record = GCAllocationTick_V4(100_000, GCAllocationKind.Small, 0, 100_000, type, name, 0, at, 1000)
    trace.at(us, 5).event(record, stack=stack)


def collection(trace: GcTrace, us: float, number: int, *pinned: tuple[int, int]) -> None:
    """With the objects that it found pinned: a handle and an address each."""
    trace.start(us, number)
    for handle, address in pinned:
        trace.at(us + 1, 5).event(PinObjectAtGCTime_V0(handle, address, 1000, "System.Byte[]", 0))
    trace.end(us + 2, number)


def rows(trace: GcTrace, **window: str) -> list[tuple[object, ...]]:
    with opened(trace.build()) as found:
        return [
            (row.kind, row.type, row.objects, row.bytes, row.method, row.samples)
            for row in found.report("gc", kept=True, **window).kept
        ]


def test_the_allocator_of_a_pinned_object_is_known_by_its_address() -> None:
    trace = made()
    tick(trace, 10, 0xA000, FRAMEWORK + 4, PIN + 4)
    tick(trace, 20, 0xB000, LITTER + 4)
    collection(trace, 100, 1, (1, 0xA000), (2, 0xA000), (3, 0xC000))
    # The place is free again, and another object lies there; nobody pins it.
    tick(trace, 200, 0xA000, LITTER + 4)
    collection(trace, 300, 2, (3, 0xC000))
    collection(trace, 400, 3, (4, 0xA000))
    assert rows(trace) == [("pinned", "System.Byte[]", 4, 4000, "Shop.Pin()", 1)]


def test_the_allocator_of_what_has_a_finalizer_is_known_by_its_type() -> None:
    trace = made()
    tick(trace, 10, 0xA000, LITTER + 4)
    tick(trace, 20, 0xB000, PIN + 4, type=HANDLE)
    collection(trace, 100, 1)
    for us, type in ((200, HANDLE), (201, HANDLE), (202, 99)):
        trace.at(us, 6).event(FinalizeObject_V0(type, 0xA000, 0))
    assert rows(trace) == [
        ("finalized", "Shop.Handle", 2, None, "Shop.Pin()", 1),
        ("finalized", None, 1, None, None, 0),
    ]
    # The window says which objects count; who made them, the whole trace.
    assert rows(trace, start="200500ns") == [
        ("finalized", "Shop.Handle", 1, None, "Shop.Pin()", 1),
        ("finalized", None, 1, None, None, 0),
    ]


def test_a_real_trace_has_what_the_runtime_itself_keeps() -> None:
    with clrevents.open(fixture("net10-garbage")) as trace:
        kept, plain = trace.report("gc", kept=True), trace.report("gc")
    assert [(row.kind, row.type, row.objects, row.bytes) for row in kept.kept] == [
        ("pinned", "System.Object", 10, 240),
        ("finalized", None, 16, None),
        ("finalized", None, 16, None),
    ]
    assert len(plain.kept) == 0
    assert (kept.collections, kept.metrics) == (plain.collections, plain.metrics)

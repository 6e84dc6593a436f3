"""Traces of allocations, built: every source, alone and together, with types that get other names."""

from __future__ import annotations

import random
from typing import Final

from clrevents.events import (
    AllocationSampled_V0,
    BulkType_V0,
    BulkTypeValue,
    GCAllocationKind,
    GCAllocationTick_V4,
    GCSampledObjectAllocationHigh_V0,
    TypeFlags,
)
from clrevents.testing.builder import Format, TraceBuilder

MS: Final = 1_000_000
MAIN, PAY, ADD = 0x1000, 0x2000, 0x3000


def shop(format: Format = "nettrace4") -> TraceBuilder:
    """Main, which calls Pay, which calls a method of the framework."""
    builder = TraceBuilder(format)
    for address, owner, name in ((MAIN, "Shop", "Main"), (PAY, "Shop", "Pay"), (ADD, "System.Text", "Add")):
        builder.method_load(owner, name, address=address, size=64)
    return builder


def tick(
    builder: TraceBuilder, amount: int, type: str, *stack: int, kind: int = 0, size: int = 24, id: int = 7
) -> TraceBuilder:
    held = GCAllocationKind(kind)
    record = GCAllocationTick_V4(amount & 0xFFFFFFFF, held, 0, amount, id, type, 0, 0x10000, size)
    return builder.event(record, stack=stack)


def sampled(builder: TraceBuilder, size: int, type: str, *stack: int, kind: int = 0) -> TraceBuilder:
    return builder.event(AllocationSampled_V0(GCAllocationKind(kind), 0, 7, type, 0x10000, size, 0), stack=stack)


def made(builder: TraceBuilder, size: int, id: int, *stack: int, count: int = 1) -> TraceBuilder:
    return builder.event(GCSampledObjectAllocationHigh_V0(0x10000, id, count, size, 0), stack=stack)


def named(builder: TraceBuilder, *names: tuple[int, str]) -> TraceBuilder:
    values = tuple(BulkTypeValue(id, 1, 2, TypeFlags(0), 18, name, 0, ()) for id, name in names)
    return builder.event(BulkType_V0(len(values), 0, values))


def random_allocations(seed: int, format: Format = "nettrace4", *, objects: bool = True, events: int = 60) -> bytes:
    """All three sources on three threads, types that are named before, after, again or never, losses, sizes of 0."""
    rng = random.Random(seed)
    builder = shop(format)
    for _ in range(events):
        builder.thread(rng.choice((7, 8, 9))).wait(rng.choice((0, 1000, 3 * MS, 40 * MS)))
        stack = rng.choice(((), (MAIN + 16,), (PAY + 16, MAIN + 16), (ADD + 16, PAY + 8, MAIN + 16), (0x7F00,)))
        size = rng.choice((0, 24, 100, 5_000, 90_000, 3_000_000, 1 << 50))
        match rng.randrange(7 if objects else 5):
            case 0 | 1:
                tick(builder, rng.choice((102_400, 110_000, 1 << 33)), rng.choice("ABC"), *stack, kind=rng.randrange(4))
            case 2 | 3:
                sampled(builder, size, rng.choice(("A", "B", "C", "")), *stack, kind=rng.randrange(4))
            case 4:
                if format != "netperf3" and rng.random() < 0.3:
                    builder.lose(rng.randrange(1, 4))
            case 5:
                made(builder, size, rng.randrange(4), *stack, count=rng.choice((1, 1, 2)))
            case _:
                named(builder, *((rng.randrange(3), rng.choice("ABC")) for _ in range(rng.randrange(3))))
    return builder.rundown().build()

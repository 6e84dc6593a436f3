"""Two recordings of one run by hand: the Linux recorder's, and EventPipe's, which began 5.4 ms later.

One thread waits for a lock, is stopped for a collection, and waits for something that only the kernel saw.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from clrevents.events import (
    ContentionStart_V2,
    ContentionStop_V1,
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V1,
    ProcessMapping_V0,
    ProcessSymbol_V0,
)
from clrevents.schema.codes import TypeCode
from clrevents.testing.builder import TraceBuilder

START = datetime(2026, 11, 24, tzinfo=UTC)
MS = 1_000_000
PROCESS, WORKER, COLLECTOR, OWNER = 4, 7, 8, 9
KERNEL = 0xFFFFFFFF81000000
FRAMES = ("__schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64")
SHIFT = 5_400_000
"""How much later EventPipe's recording began; its header says 5 ms."""
LOCKED, STOPPED, UNKNOWN = (10 * MS, 4 * MS), (20 * MS, 3 * MS), (30 * MS, 40 * MS)
TURNS = [(80 * MS + n * 1_300_000 + n * n * 17_000, 900_000) for n in range(12)]
"""When the collector's thread was off the processor, and how long."""


def recorder() -> TraceBuilder:
    trace = TraceBuilder("nettrace6", process_id=PROCESS, start=START).thread(WORKER)
    trace.event(ProcessMapping_V0(1, KERNEL, (1 << 64) - 1, 0, "vmlinux", 0))
    for place, name in enumerate(FRAMES):
        trace.event(ProcessSymbol_V0(place + 1, 1, KERNEL + place * 0x100, KERNEL + place * 0x100 + 0xFF, name))
    away = [(start, took, WORKER) for start, took in (LOCKED, STOPPED, UNKNOWN)]
    for start, took, thread in sorted([*away, *((start, took, COLLECTOR) for start, took in TURNS)]):
        stack = [KERNEL + place * 0x100 + 8 for place in range(len(FRAMES))]
        trace.thread(thread).at(start)
        trace.described("Universal.Events", "cswitch", {"Value": (TypeCode.INT64, took)}, id=40, stack=stack)
    return trace


def runtime(shift: int = SHIFT) -> TraceBuilder:
    trace = TraceBuilder(process_id=PROCESS, start=START + timedelta(milliseconds=shift // MS), sync_qpc=77)
    events: list[tuple[int, int, Any]] = [
        (LOCKED[0] - 4_000, WORKER, ContentionStart_V2(0, 0, 0xCAFE, 0, OWNER)),
        (sum(LOCKED) + 6_000, WORKER, ContentionStop_V1(0, 0, 4.01e6)),
        (15 * MS, WORKER, None),
        (STOPPED[0] - 40_000, COLLECTOR, GCSuspendEEBegin_V1(1, 1, 0)),
        (sum(STOPPED) - 50_000, COLLECTOR, GCRestartEEEnd_V1(0)),
    ]
    for start, took in TURNS:
        events += [(start - 3_000, COLLECTOR, b""), (start + took + 5_000, COLLECTOR, b"")]
    for time, thread, what in sorted(events, key=lambda event: event[:2]):
        trace.thread(thread).at(time - shift)
        if what is None:
            trace.sample(0x1000)
        elif what == b"":
            trace.raw("My-App", 1)
        else:
            trace.event(what)
    return trace

"""Small built traces with collections: each step is one event of the runtime's, at a time that the test says.

Times are microseconds since the session started. Knows the order of events, and not what a report makes of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from clrevents.events import (
    GCDynamicEvent_V0,
    GCEnd_V1,
    GCGlobalHeapHistory_V3,
    GCGlobalHeapHistory_V4,
    GCGlobalHeapHistoryValue,
    GCHeapStats_V2,
    GCMarkWithType_V0,
    GCPerHeapHistory_V3,
    GCPerHeapHistoryValue,
    GCReason,
    GCRestartEEBegin_V1,
    GCRestartEEEnd_V1,
    GCRootKind,
    GCStart_V2,
    GCSuspendEEBegin_V1,
    GCSuspendEEEnd_V1,
    GCSuspendEEReason,
    GCTriggered_V0,
    GCType,
)
from clrevents.testing.builder import Format, TraceBuilder

BLOCKING, BACKGROUND, FOREGROUND = range(3)
FOR_GC, FOR_PREPARATION = 1, 6
SAMPLER: Final = -1
Size = tuple[int, int, int, int]
"""Of a generation: before, after, pinned survivors, other survivors."""


class GcTrace:
    """A trace in the making. Every step takes the time in microseconds and returns the builder of steps."""

    def __init__(self, format: Format = "nettrace4", process_id: int = 1234) -> None:
        self.trace = TraceBuilder(format, process_id=process_id, step_ns=1)

    def at(self, us: float, thread: int) -> TraceBuilder:
        """Where the next event is."""
        return self.trace.at(round(us * 1000)).thread(thread)

    def suspend(self, us: float, thread: int = 5, reason: int = FOR_GC, count: int = 0, stopped: float = 1) -> GcTrace:
        """Begin to stop the threads; they stand after `stopped` microseconds."""
        self.at(us, thread).event(GCSuspendEEBegin_V1(GCSuspendEEReason(reason), count, 0))
        self.at(us + stopped, thread).event(GCSuspendEEEnd_V1(0))
        return self

    def restart(self, us: float, thread: int = 5, restarted: float = 1) -> GcTrace:
        """Begin to let them run; they do after `restarted` microseconds."""
        self.at(us, thread).event(GCRestartEEBegin_V1(0))
        self.at(us + restarted, thread).event(GCRestartEEEnd_V1(0))
        return self

    def sample_stop(self, us: float, thread: int = 9) -> GcTrace:
        """What the sample profiler does: 4 microseconds."""
        return self.suspend(us, thread, 0, SAMPLER).restart(us + 3, thread)

    def trigger(self, us: float, reason: int = 0, thread: int = 5, stack: Sequence[int] = ()) -> GcTrace:
        """Ask for a collection."""
        self.at(us, thread).event(GCTriggered_V0(GCReason(reason), 0), stack)
        return self

    def start(
        self, us: float, number: int, generation: int = 0, type: int = BLOCKING, reason: int = 0, thread: int = 5
    ) -> GcTrace:
        """Begin a collection."""
        self.at(us, thread).event(GCStart_V2(number, generation, GCReason(reason), GCType(type), 0, 0))
        return self

    def end(self, us: float, number: int, generation: int = 0, thread: int = 5, promoted: int | None = None) -> GcTrace:
        """End it; with `promoted`, the sizes that the runtime writes after that: 1,000 bytes for each generation."""
        self.at(us, thread).event(GCEnd_V1(number, generation, 0))
        if promoted is not None:
            pairs = (1000, promoted, 1000, 0, 1000, 0, 1000, 0)
            self.trace.event(GCHeapStats_V2(*pairs, 30, 2, 3, 0, 7, 0, 1000, 0))
        return self

    def history(
        self,
        us: float,
        generation: int = 0,
        heaps: Sequence[Sequence[Size]] = (((1000, 400, 100, 200),),),
        mechanisms: int = 0x4,
        thread: int = 5,
        told: int | None = None,
        late: int = 30,
    ) -> GcTrace:
        """What it did: the sizes of each generation of each heap.

        `told` is how many heaps it says that there are, `late` the time of the phase after planning.
        """
        phases = (0, 10, 0, 0, 5, 20, late, 40)[: 8 if mechanisms & 2 else 7]
        times = tuple(map(GCGlobalHeapHistoryValue, phases))
        decided = GCGlobalHeapHistory_V3(
            0, len(heaps) if told is None else told, generation, 0, 0, mechanisms, 0, 1, 25, 0, 0
        )
        values = [getattr(decided, field.name) for field in type(decided).__layout__.fields]
        self.at(us, thread).event(GCGlobalHeapHistory_V4(*values, len(times), times))
        for index, sizes in enumerate(heaps):
            generations = tuple(
                GCPerHeapHistoryValue(before, 0, 0, after, 50, 10, 0, pinned, other, 5000)
                for before, after, pinned, other in sizes
            )
            self.trace.event(
                GCPerHeapHistory_V3(
                    *(0, 70, 30, 0, 0, 0, 0, 0, 0x14, 0, 0x80000002, 0, index, 0, len(generations), generations)
                )
            )
        return self

    def mark(self, us: float, kind: int, marked: int, heap: int = 0, thread: int = 5) -> GcTrace:
        """A heap has marked one kind of root."""
        self.at(us, thread).event(GCMarkWithType_V0(heap, 0, GCRootKind(kind), marked))
        return self

    def dynamic(self, us: float, name: str, data: bytes, thread: int = 5) -> GcTrace:
        """An event that the GC defines by itself."""
        self.at(us, thread).event(GCDynamicEvent_V0(name, len(data), data, 0))
        return self

    def lose(self, thread: int = 5, count: int = 1) -> GcTrace:
        """Lose events of a thread."""
        self.trace.thread(thread).lose(count)
        return self

    def blocking(self, us: float, number: int, generation: int = 0, thread: int = 5, **more: int) -> GcTrace:
        """A whole blocking collection with all its events: 100 microseconds of pause, 80 of collection."""
        reason = more.pop("reason", 0)
        self.suspend(us, thread, FOR_GC, number - 1, 10).start(
            us + 15, number, generation, reason=reason, thread=thread
        )
        self.mark(us + 20, 0, 10, thread=thread).mark(us + 30, 2, 20, thread=thread)
        self.history(us + 90, generation, thread=thread)
        return self.end(us + 95, number, generation, thread, more.get("promoted", 300)).restart(us + 98, thread, 2)

    def build(self) -> bytes:
        """The bytes."""
        return self.trace.build()


def with_background(trace: GcTrace | None = None) -> GcTrace:
    """Collection 1 in the background, from 100 to 1000 µs, with the ephemeral one 2 and the foreground one 3 inside.

    Thread 5 allocates, 6 collects in the background. It has three suspensions of its own: one shared with 2, two more.
    """
    made = trace or GcTrace()
    made.suspend(90, stopped=5).start(100, 1, 2, BACKGROUND).start(110, 2, 1)
    made.history(150, 1).end(160, 2, 1, promoted=300).restart(170, restarted=10)
    made.suspend(300, 6, FOR_PREPARATION, 1, 2).restart(330, 6)
    made.suspend(400, stopped=3).start(410, 3, 0, FOREGROUND).history(450).end(460, 3, promoted=200).restart(470)
    made.sample_stop(600)
    made.suspend(700, 6, FOR_PREPARATION, 1, 4).restart(750, 6)
    made.end(1000, 1, 2, 6, promoted=200).history(1001, 2, mechanisms=0x5, thread=6)
    return made


def collections(format: Format = "nettrace4", seed: int = 1, events: int = 60, process_id: int = 1234) -> bytes:
    """Events in an order that chance made, some of them lost: what no runtime writes; NetPerf shows no losses."""
    rng = random.Random(seed)
    made = GcTrace(format, process_id)
    for thread in (5, 6, 7):
        made.at(0, thread).sample(0x1000)
    now, number = 10.0, 0
    for _ in range(events):
        thread = rng.choice((5, 5, 6, 7))
        if rng.random() < 0.08 and format != "netperf3":
            made.lose(thread, rng.randrange(1, 4))
        generation = rng.randrange(3)
        match rng.randrange(9):
            case 0:
                made.suspend(now, thread, rng.choice((0, 1, 1, 6)), stopped=0.01)
            case 1 | 2:
                made.restart(now, thread, restarted=0.01)
            case 3:
                number += rng.choice((0, 1, 1, 2))
                made.start(now, number, generation, rng.randrange(3), rng.randrange(4), thread)
            case 4:
                made.end(now, rng.choice((number, number - 1, 1)) % 100, generation, thread, rng.choice((None, 300)))
            case 5:
                made.history(now, generation, mechanisms=rng.choice((0x4, 0x5, 0x6)), thread=thread)
            case 6:
                made.mark(now, rng.randrange(9), 100, rng.randrange(2), thread)
            case 7:
                made.trigger(now, rng.randrange(3), thread)
            case _:
                made.blocking(now, (number := number + 1), generation, thread)
                now += 100
        now += rng.choice((0.02, 0.02, 5, 40))
        if rng.random() < 0.1:
            made.trace.sequence_point()
    made.at(now + 10, 5).sample(0x1000)
    return made.build()

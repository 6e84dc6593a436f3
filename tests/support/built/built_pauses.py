"""Small built traces with pauses: begins and ends on three threads, events lost, in every format that has numbers."""

from __future__ import annotations

import random
from typing import Final

from clrevents.events import GCRestartEEEnd_V1, GCSuspendEEBegin_V1, GCSuspendEEReason
from clrevents.testing.builder import Format, TraceBuilder

FORMATS: Final[tuple[Format, ...]] = ("nettrace4", "nettrace6", "netperf3")


def pauses(format: Format = "nettrace4", seed: int = 1, events: int = 40, process_id: int = 1234) -> bytes:
    """Begins and ends in an order that chance made, some of them lost; NetPerf shows no losses."""
    rng = random.Random(seed)
    builder = TraceBuilder(format, process_id=process_id)
    for thread in (5, 6, 7):
        builder.thread(thread).sample(0x1000)
    for number in range(events):
        builder.thread(rng.choice((5, 6, 7)))
        if rng.random() < 0.1 and format != "netperf3":
            builder.lose(rng.randrange(1, 4))
        if rng.random() < 0.5:
            builder.event(GCSuspendEEBegin_V1(GCSuspendEEReason(1), number, 0), stack=(0x1000 + number % 3, 0x2000))
        else:
            builder.event(GCRestartEEEnd_V1(0))
        builder.wait(rng.choice((0, 0, 10, 5000)))
        if rng.random() < 0.1:
            builder.sequence_point()
    return builder.thread(5).sample(0x1000).build()

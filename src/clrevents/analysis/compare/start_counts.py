"""How often a program began what its own events tell of, in blocks of time: what amounts can be divided by.

Counts starts of activities, by their opcodes or their names, whoever wrote them; the runtime's events are none.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from clrevents.analysis.compare.block_statistics import Floats
from clrevents.analysis.compare.time_blocks import TimeBlocks
from clrevents.analysis.shared.forest.activity_signals import SignalKind, edge_of
from clrevents.trace import FilterOptions, Trace, passes_of


def start_counts(trace: Trace, blocks: TimeBlocks, **part: Unpack[FilterOptions]) -> dict[str, Floats]:
    """The number of events in each block, by `PROVIDER/NAME`. Raises what `Trace.tables` does."""
    edges = {
        kind.key: edge_of(kind.key.provider, kind.key.name, kind.row.opcode or 0)
        for kind in passes_of(trace).scan(raising=False).kinds
    }
    starts = [key for key, edge in edges.items() if edge is not None and edge[0] == SignalKind.BEGIN]
    found: dict[str, Floats] = {}
    for tables in trace.tables(*starts, columns=["time_ns"], **part) if starts else ():
        for event, table in tables.items():
            counts = blocks.sums(table.column("time_ns").values, np.ones(len(table)))
            name = "/".join(event)
            found[name] = found[name] + counts if name in found else counts
    return found

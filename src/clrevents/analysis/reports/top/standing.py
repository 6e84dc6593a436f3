"""Threads that every sample shows at one place, where they wait for a lock or in a native call of the program itself.

They have not moved for as long as tracing went on, so what holds them up may have begun before. Before .NET 10, samples
show who waits for a lock in a native call. Knows samples; what is wrong with it is not decided here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents.analysis.framework.vocabulary.row_class import CodeName, DurationNs, Row, ThreadId, Word, column, row
from clrevents.analysis.gathering.groups import groups
from clrevents.analysis.gathering.merged_stacks import is_own
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.analysis.shared.samples.samples import Samples

LONG: Final = 2_000_000_000
_ALWAYS: Final = 0.9
"""The share of the time between the first and the last sample of all that its own must cover."""


@row
class StandingThread(Row):
    """One thread."""

    thread_id: ThreadId = column("The thread.", importance=0)
    state: Word = column("`lock`, or `native` for a native call of the method; before .NET 10 that may be a lock, too.")
    stood_ns: DurationNs = column("How long it stood there, at least.", importance=0)
    method: CodeName | None = column("The innermost method of the program; null if there is none.", importance=0)


def standing(samples: Samples) -> list[StandingThread]:
    """Their rows. Only samples of the profiler, over two seconds and more, can tell."""
    if samples.external is None or samples.state is None or not len(samples):
        return []
    ends = samples.time_ns + samples.weight.astype(np.int64)
    whole = int(ends.max()) - int(samples.time_ns.min())
    if whole < LONG:
        return []
    rows = []
    for thread, mine in groups(samples.thread, np.flatnonzero(~samples.unsampled)):
        stack = int(samples.stack[mine[0]])
        stood = int(samples.weight[mine].sum())
        thread_id = samples.threads[thread].thread_id
        if thread_id is None or stood < _ALWAYS * whole:
            continue
        if not samples.external[mine].all() or (samples.stack[mine] != stack).any():
            continue
        frames = [
            samples.frames[f] for f in samples.values[samples.offsets[stack] : samples.offsets[stack + 1]].tolist()
        ]
        state = STATES[int(samples.state[mine[0]])]
        named = [frame for frame in frames if frame.reason is None]
        if state == "lock" or (state == "native" and named and is_own(named[0])):
            own = next((frame.name for frame in named if is_own(frame)), None)
            rows.append(StandingThread(thread_id=thread_id, state=state, stood_ns=stood, method=own))
    return rows

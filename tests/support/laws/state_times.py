"""The law of times by state: `top` gives what samples cover forward, `threads` to both sides.

So over a thread both give out the same time, and for a state they differ by half of what lies between the two samples
at each of its changes, at most.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import clrevents
from clrevents.analysis import read_samples
from clrevents.analysis.reports.threads import ThreadsReport
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.rewrite import cut

Times: TypeAlias = dict[tuple[int, str], float]


def states_agree(path: Path) -> int:
    """Compare both by what samples alone tell: events of waits are left out. How many threads and states there are."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples.nettrace"
        with clrevents.open(path, errors="salvage") as trace:
            cut(trace, out, "ThreadSample", "runtime/GCSuspendEEBegin")
        with clrevents.open(out) as trace:
            samples, report = read_samples(trace), trace.report("threads")
    forward, slack, first, last = _forward(samples)
    both_sides = _both_sides(report, first, last)
    for thread in first:
        given = [sum(time for (of, _), time in times.items() if of == thread) for times in (forward, both_sides)]
        assert given[0] == given[1], f"thread {thread}: {given}"
    for key in {*forward, *both_sides}:
        one, other = forward.get(key, 0), both_sides.get(key, 0)
        assert abs(one - other) <= slack.get(key, 0), f"{key}: {one} forward, {other} to both sides"
    return len(forward)


def _forward(samples: Samples) -> tuple[Times, Times, dict[int, int], dict[int, int]]:
    """The time of each thread in each state, half of what lies at its changes, and the first and last samples."""
    times: Times = defaultdict(float)
    slack: Times = defaultdict(float)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    before: dict[int, tuple[str, int]] = {}
    assert samples.state is not None
    columns = (samples.time_ns, samples.weight, samples.state, samples.thread, samples.unsampled)
    for time, weight, state, track, unsampled in zip(*(column.tolist() for column in columns), strict=True):
        thread = samples.threads[track].thread_id or 0
        name = "unknown" if unsampled else STATES[state]
        times[thread, name] += weight
        first.setdefault(thread, time)
        last[thread] = time + weight
        if thread in before and before[thread][0] != name:
            for changed in (name, before[thread][0]):
                slack[thread, changed] += before[thread][1] / 2 + 1
        before[thread] = name, weight
    return times, slack, first, last


def _both_sides(report: ThreadsReport, first: dict[int, int], last: dict[int, int]) -> Times:
    """The time that `threads` gives to each state between the first and the last sample of a thread."""
    times: Times = defaultdict(float)
    for piece in report.intervals:
        if piece.thread_id in first:
            inside = min(piece.end_ns, last[piece.thread_id]) - max(piece.start_ns, first[piece.thread_id])
            # A collection stops what samples show as running.
            state = "running" if piece.state == "gc_suspended" else piece.state
            times[piece.thread_id, state] += max(inside, 0)
    return times

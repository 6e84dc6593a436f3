"""Whether the states of threads tile their lives, which holds of every answer about every trace."""

from __future__ import annotations

from collections import defaultdict

from clrevents.analysis.framework.model.collector import MISSING
from clrevents.analysis.reports.threads.thread_rows import TIMES, ThreadsReport


def tiles(report: ThreadsReport) -> None:
    """No gap and no overlap in any life, totals are those of the intervals."""
    intervals = defaultdict(list)
    for interval in report.intervals:
        assert interval.duration_ns == interval.end_ns - interval.start_ns > 0
        intervals[interval.thread_id].append(interval)
    lives = defaultdict(list)
    for thread in report.threads:
        assert thread.life_ns == thread.end_ns - thread.start_ns == sum(getattr(thread, name) or 0 for name in TIMES)
        if thread.life_ns:
            lives[thread.thread_id].append((thread.start_ns, thread.end_ns))
    assert set(intervals) == set(lives)
    for number, mine in intervals.items():
        joined: list[tuple[int, int]] = []
        ends = {end for _, end in lives[number]}
        for interval in mine:
            if joined and joined[-1][1] == interval.start_ns and interval.start_ns not in ends:
                joined[-1] = (joined[-1][0], interval.end_ns)
            else:
                joined.append((interval.start_ns, interval.end_ns))
        assert joined == sorted(lives[number])
    for name in TIMES:
        metric = report.metrics[f"{name.removesuffix('_ns')}_total"]
        if metric.value is None and metric.reason != MISSING:
            # Where nothing is known, no row says 0; where events are missing, rows are marked.
            values = [getattr(row, name) for row in (*report.threads, *report.roles)]
            assert sum(value or 0 for value in values) > 0 or set(values) <= {None}, name
        total = sum(getattr(thread, name) or 0 for thread in report.threads)
        assert total == sum(getattr(role, name) or 0 for role in report.roles)
        assert total == sum(s.total_ns for s in report.states if f"{s.state}_ns" == name)

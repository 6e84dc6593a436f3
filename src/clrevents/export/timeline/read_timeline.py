"""A trace → all that lies on its timeline, one track after the other.

Asks reports for it, in one pass; each item is made when it is asked for. Knows no format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clrevents.analysis import Answer, read_samples
from clrevents.analysis.framework.run.catalogue import reports_of
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look
from clrevents.export.timeline.linked_items import activities, counters, requests, task_runs
from clrevents.export.timeline.process_items import collections, pauses
from clrevents.export.timeline.table_rows import without
from clrevents.export.timeline.thread_items import compilations, lock_waits, sample_calls, states, thrown
from clrevents.export.timeline.timeline_items import Arrows, Group, Placed, ThreadName
from clrevents.trace import Trace

REPORTS: tuple[str, ...] = (
    "threads",
    "gc",
    "jit",
    "exceptions",
    "locks",
    "tasks",
    "requests",
    "activities",
    "counters",
)


@dataclass(frozen=True)
class Timeline:
    """What lies on the timeline of one trace. Times are nanoseconds since the session started."""

    look: Look
    end_ns: int
    samples: Samples
    answers: dict[str, Answer[Any]]

    @property
    def start_ns(self) -> int | None:
        """When the session started, since 1970; None if the trace does not tell."""
        start = self.look.start
        return None if start is None else int(start.timestamp()) * 10**9 + start.microsecond * 1000

    @property
    def interval_ns(self) -> int | None:
        """The median time between two samples of a thread; None for none."""
        found: int | None = getattr(self.answers["threads"].facts, "sampling_period_ns", None)
        return found

    @property
    def threads(self) -> list[ThreadName]:
        """The threads that the report `threads` knows, the first one of each id."""
        found: dict[tuple[int | None, int], ThreadName] = {}
        for row in self._table("threads", "threads"):
            name = ThreadName(row.process_id, row.thread_id, row.name or row.role, row.role == "main")
            found.setdefault(name[:2], name)
        return list(found.values())

    @property
    def left_out(self) -> Counter[Group]:
        """How many rows of reports have no place in time, because their beginning is not in the trace."""
        found: Counter[Group] = Counter()
        for group, (report, table, start) in _STARTS.items():
            found[group] = without(self._table(report, table), start)
        return +found

    def items(self) -> Iterator[Placed]:
        """Everything but the events of users. On each track items are in order of time."""
        yield from sample_calls(self.samples, self.look)
        yield from self.happenings()

    def happenings(self) -> Iterator[Placed]:
        """The same without the calls, for formats that have samples."""
        arrows = Arrows()
        yield from states(self.answers["threads"])
        yield from pauses(self.answers["gc"])
        yield from collections(self.answers["gc"])
        yield from lock_waits(self.answers["locks"], arrows)
        yield from compilations(self.answers["jit"])
        yield from thrown(self.answers["exceptions"])
        yield from task_runs(self.answers["tasks"], arrows)
        yield from requests(self.answers["requests"], arrows)
        yield from activities(self.answers["activities"])
        yield from counters(self.answers["counters"])

    def _table(self, report: str, table: str) -> Any:
        return getattr(self.answers[report], table)


_STARTS: dict[Group, tuple[str, str, str]] = {
    "pauses": ("gc", "suspensions", "start_ns"),
    "suspensions": ("gc", "other_suspensions", "start_ns"),
    "collections": ("gc", "collections", "start_ns"),
    "locks": ("locks", "contentions", "start_ns"),
    "jit": ("jit", "compilations", "start_ns"),
    "exceptions": ("exceptions", "exceptions", "start_ns"),
}
"""The tables whose rows may have no beginning."""


def read_timeline(trace: Trace, look: Look) -> Timeline:
    """Ask for all reports that a timeline shows. Raises what `Trace.reports` and `read_samples` raise."""
    answers = reports_of(trace, REPORTS, {})
    return Timeline(look, trace.duration_ns, read_samples(trace), answers)

"""A trace → everything on its timeline, one track after another.

Asks reports for it, in one pass; items are made on demand. Knows no format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clrevents.analysis import Answer, read_samples
from clrevents.analysis.framework.run.catalogue import reports_of
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look
from clrevents.export.timeline.report_items import SHOWN, counters, processor_time, processors_in_use, sample_calls
from clrevents.export.timeline.timeline_items import Arrows, Group, Placed, ThreadName
from clrevents.trace import Trace

REPORTS: tuple[str, ...] = (*dict.fromkeys(shown.report for shown in SHOWN), "counters")


@dataclass(frozen=True)
class Timeline:
    """What is on the timeline of one trace. Times are nanoseconds since the session started."""

    look: Look
    end_ns: int
    samples: Samples
    answers: dict[str, Answer[Any]]

    @property
    def start_ns(self) -> int | None:
        """When the session started, since 1970; None if unknown."""
        start = self.look.start
        return None if start is None else int(start.timestamp()) * 10**9 + start.microsecond * 1000

    @property
    def interval_ns(self) -> int | None:
        """The median time between two samples of a thread; None without samples."""
        found: int | None = getattr(self.answers["threads"].facts, "sampling_period_ns", None)
        return found

    @property
    def threads(self) -> list[ThreadName]:
        """The threads that the report `threads` knows, the first one of each id."""
        found: dict[tuple[int | None, int], ThreadName] = {}
        rows: Any = self.answers["threads"].table("threads")
        for row in rows:
            name = ThreadName(row.process_id, row.thread_id, row.name or row.role, row.role == "main")
            found.setdefault(name[:2], name)
        return list(found.values())

    @property
    def left_out(self) -> dict[Group, int]:
        """How many rows of reports have no place in time because their beginning is not in the trace."""
        found = {shown.group: shown.left_out(self.answers[shown.report]) for shown in SHOWN}
        return {group: count for group, count in found.items() if count and group != "held"}

    def items(self) -> Iterator[Placed]:
        """Everything except users' events. On each track, items are in order of time."""
        yield from sample_calls(self.samples, self.look)
        yield from processor_time(self.samples)
        yield from self.happenings()

    def happenings(self) -> Iterator[Placed]:
        """The same without the calls, for formats that have samples."""
        arrows = Arrows()
        for shown in SHOWN:
            yield from shown.items(self.answers[shown.report], arrows)
        yield from processors_in_use(self.answers["threads"])
        yield from counters(self.answers["counters"])


def read_timeline(trace: Trace, look: Look, process_id: int | None = None) -> Timeline:
    """Ask for all reports that a timeline shows, of one process or of all.

    Raises what `Trace.reports` and `read_samples` raise.
    """
    answers = reports_of(trace, REPORTS, {"process_id": process_id})
    samples = read_samples(trace)
    samples = samples if process_id is None else samples.of_process(process_id)
    return Timeline(look, trace.duration_ns, samples, answers)

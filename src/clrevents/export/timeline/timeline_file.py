"""A trace → a file with its timeline, in one of `timeline_formats`.

Each format's writer is imported on use. Opens no file.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, NamedTuple, cast

from clrevents.export.look import Look, summary
from clrevents.export.timeline.event_items import event_items, events_of_users
from clrevents.export.timeline.read_timeline import Timeline, read_timeline
from clrevents.export.timeline.timeline_formats import TimelineFormat
from clrevents.export.timeline.timeline_items import Placed
from clrevents.trace import Selector, Trace


class WrittenTimeline(NamedTuple):
    """What a file contains, in words, and how many rows of reports are left out because they have no beginning."""

    summary: str
    left_out: int


def write_timeline(
    trace: Trace,
    stream: IO[bytes],
    look: Look,
    format: TimelineFormat,
    selectors: Sequence[Selector] = (),
    pack: bool = False,
    process_id: int | None = None,
) -> WrittenTimeline:
    """Write the timeline of a trace, or of one of its processes.

    The selected events, by default users' events, are instants.

    `pack` compresses it. Raises what `Trace.reports`, `read_samples` and `Trace.events` raise, and OSError.
    """
    timeline = read_timeline(trace, look, process_id)
    wanted = list(selectors) or events_of_users(trace)
    with ExitStack() as closing:
        if pack:
            # Without a name and a time, so that the same trace gives the same bytes.
            packed = closing.enter_context(gzip.GzipFile("", "wb", 6, stream, mtime=0))
            stream = cast(IO[bytes], packed)
        write = _perfetto if format == "perfetto" else _firefox
        write(timeline, event_items(trace, wanted, process_id), stream)
    return WrittenTimeline(summary(timeline.samples), sum(timeline.left_out.values()))


def _perfetto(timeline: Timeline, events: Iterator[Placed], stream: IO[bytes]) -> None:
    from clrevents.export.timeline.perfetto import PerfettoFile

    file = PerfettoFile(stream, timeline.look.title, timeline.start_ns, timeline.threads)
    file.write(timeline.items())
    file.write(events)
    file.close()


def _firefox(timeline: Timeline, events: Iterator[Placed], stream: IO[bytes]) -> None:
    from clrevents.export.timeline.firefox import FirefoxFile

    file = FirefoxFile(timeline)
    file.write(timeline.happenings())
    file.write(events)
    file.close(stream)

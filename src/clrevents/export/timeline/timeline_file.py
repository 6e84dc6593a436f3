"""A trace → a file with its timeline, in one of `TimelineFormat`.

Events that were asked for besides are instants on the tracks of their threads, with their payloads as details. Each
format's writer is imported on use. Opens no file.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Final, NamedTuple, cast

from clrevents.export.file_formats import TimelineFormat
from clrevents.export.files.jsonl import EventJson
from clrevents.export.look import Look, summary
from clrevents.export.timeline.report_items import read_timeline
from clrevents.export.timeline.timeline_items import GROUPS, Instant, Placed, Track
from clrevents.trace import Selector, Trace

_RUNTIME: Final = ("Microsoft-", "Microsoft.", "System.", "Private.InternalDiagnostics.", "Universal.")
"""The prefixes of .NET's own providers, and of the Linux recorder's."""


def event_items(trace: Trace, selectors: Sequence[Selector], process_id: int | None = None) -> Iterator[Placed]:
    """The selected events, of one process or of all; none without a selector. Raises what `Trace.events` raises.

    They are in the order of `Trace.events`, which goes back in time if a trace is too far out of order to sort; for
    instants, that does not matter.
    """
    if not selectors:
        return
    writer = EventJson(names=True)
    tracks: dict[tuple[int | None, int], Track] = {}
    for event in trace.events(*selectors, process_id=process_id):
        place = event.process_id, event.thread_id
        track = tracks.get(place)
        if track is None:
            process, thread = place
            track = tracks[place] = Track("events", GROUPS["events"], process, None if thread < 0 else thread)
        details: dict[str, object] = {"provider": event.provider}
        # What ties events together, where there is any.
        activity, related = event.activity_id, event.related_activity_id
        if activity is not None:
            details["activity_id"] = str(activity)
        if related is not None:
            details["related_activity_id"] = str(related)
        details["payload"] = writer.payload(event.payload)
        yield track, Instant(event.time_ns, event.name, details)


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
    # By default those whose providers are not .NET's, by their names: mostly those of the program itself.
    wanted = list(selectors) or [kind for kind in trace.event_counts() if not kind.provider.startswith(_RUNTIME)]
    with ExitStack() as closing:
        if pack:
            # Without a name and a time, so that the same trace gives the same bytes.
            packed = closing.enter_context(gzip.GzipFile("", "wb", 6, stream, mtime=0))
            stream = cast("IO[bytes]", packed)
        if format == "perfetto":
            from clrevents.export.timeline.perfetto import PerfettoFile

            perfetto = PerfettoFile(stream, look.title, timeline.start_ns, timeline.threads)
            perfetto.write(timeline.items())
            perfetto.write(event_items(trace, wanted, process_id))
            perfetto.close()
        else:
            from clrevents.export.timeline.firefox import FirefoxFile

            firefox = FirefoxFile(timeline)
            firefox.write(timeline.happenings())
            firefox.write(event_items(trace, wanted, process_id))
            firefox.close(stream)
    return WrittenTimeline(summary(timeline.samples), sum(timeline.left_out.values()))

"""How weighted stacks look in any picture: its title and choices, and the names of frames and threads.

Knows samples; draws nothing and knows no format.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from clrevents._util.words import counted
from clrevents.analysis.shared.samples.samples import SampledThread, Samples


class Look(NamedTuple):
    """What a picture shows besides its samples. `raw` names are the runtime's; `start` is when the session started."""

    title: str = ""
    producer: str = "clrevents"
    merge_threads: bool = False
    raw: bool = False
    start: datetime | None = None


def frame_names(samples: Samples, look: Look) -> list[str]:
    """The frames' names in the requested spelling."""
    return [frame.raw if look.raw else frame.name for frame in samples.frames]


def summary(samples: Samples) -> str:
    """The number of samples in words: `1,288 samples on 6 threads`, and how much of the time was not sampled."""
    if samples.off_processor:
        return f"{counted(samples.count, 'time')} off a processor of {counted(len(samples.threads), 'thread')}"
    what = (
        "sample"
        if samples.timed or samples.by_counts
        else "CPU sample"
        if samples.on_processor
        else f"{samples.event} event"
    )
    text = f"{counted(samples.count, what)} on {counted(len(samples.threads), 'thread')}"
    if not samples.unsampled_total:
        return text
    return f"{text}, {samples.unsampled_total / samples.total:.0%} of the time not sampled"


def thread_labels(samples: Samples) -> list[str]:
    """The threads' names, with their processes if there are several."""
    several = len({track.process_id for track in samples.threads}) > 1
    return [_label(track, several) for track in samples.threads]


def _label(track: SampledThread, several: bool) -> str:
    return f"{track} of process {track.process_id}" if several and track.process_id is not None else str(track)

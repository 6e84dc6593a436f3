"""How weighted stacks look in any picture: its title and choices, the names of frames and threads, and calls, which are
stretches of time that adjacent samples of a thread share.

Knows samples; draws nothing and knows no format.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.gathering.groups import Ints, changes
from clrevents.analysis.shared.samples.samples import SampledThread, Samples

_PORTION: Final = 1 << 14


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


class Call(NamedTuple):
    """One frame, from the first sample that shows it to the end of the last; `frame` is its place among the frames."""

    start_ns: int
    end_ns: int
    depth: int
    frame: int


def rows_by_thread(samples: Samples) -> list[Ints]:
    """The samples of each thread, in their order."""
    order = np.argsort(samples.thread, kind="stable")
    rows = np.split(order, np.searchsorted(samples.thread[order], np.arange(1, len(samples.threads))))
    # Without a thread there is one part, too, and it is empty.
    return rows[: len(samples.threads)]


def calls(samples: Samples, rows: Ints) -> Iterator[Call]:
    """The calls of timed samples of one thread in order of time, by their start; callers precede their callees.

    If a sample does not last until the next one, because others were removed, all calls end with it.
    """
    ends = array("q")
    open_: list[tuple[int, int]] = []
    before = 0
    for frames, since, until in _runs(samples, rows):
        same = 0
        if before == since:
            while same < min(len(frames), len(open_)) and open_[same][0] == frames[same]:
                same += 1
        _close(ends, open_, same, before)
        open_ += [(frame, since) for frame in frames[same:]]
        before = until
    _close(ends, open_, 0, before)
    columns = np.frombuffer(ends, dtype=np.int64).reshape(-1, 4)
    order = np.lexsort((columns[:, 2], columns[:, 0]))
    for begin in range(0, len(order), _PORTION):
        yield from (Call(*values) for values in columns[order[begin : begin + _PORTION]].tolist())


def _runs(samples: Samples, rows: Ints) -> Iterator[tuple[list[int], int, int]]:
    """Stacks, the outermost frame first, from when to when each was there; those of no length are left out."""
    stack, start = samples.stack[rows], samples.time_ns[rows]
    end = start + samples.weight[rows].astype(np.int64)
    # CPU samples come a little early at times: then one ends with the next.
    end[:-1] = np.minimum(end[:-1], start[1:])
    new = changes(stack)
    new[1:] |= end[:-1] != start[1:]
    begins = np.flatnonzero(new)
    ends = np.append(begins[1:], len(rows))[: len(begins)] - 1
    for number, since, until in zip(stack[begins].tolist(), start[begins].tolist(), end[ends].tolist(), strict=True):
        if until > since:
            yield samples.frame_ids(number)[::-1], since, until


def _close(ends: array[int], open_: list[tuple[int, int]], depth: int, end: int) -> None:
    """End the calls from this depth on."""
    for place in range(depth, len(open_)):
        frame, since = open_[place]
        ends.extend((since, end, place, frame))
    del open_[depth:]

"""What a recording left: whether a file can be read, as whoever has it would find out."""

from __future__ import annotations

import warnings
from pathlib import Path

import attrs

import clrevents


@attrs.frozen
class FileState:
    """A file as it was found."""

    bytes: int
    events: int
    end: bool
    """Whether the trace's end is there."""
    error: str = ""
    """Why it cannot be read at all."""

    @property
    def readable(self) -> bool:
        """Or empty."""
        return not self.error


def state_of(path: Path) -> FileState:
    """Read everything in a file, as the command does."""
    size = path.stat().st_size
    if not size:
        return FileState(0, 0, False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", clrevents.TraceWarning)
            with clrevents.open(path, errors="salvage") as trace:
                events = sum(1 for _ in trace.events())
                kinds = {problem.kind for problem in trace.problems}
    except clrevents.TraceError as error:
        return FileState(size, 0, False, str(error))
    return FileState(size, events, not any(kind in kinds for kind in ("missing-end", "truncated", "truncated-block")))

"""A process that is watched, and what a recording left: whether a file can be read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import attrs

import clrevents
from clrevents.diagnostics import AsyncSession, Process, Provider, Session
from reading import opened


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
        with opened(path) as trace:
            events = sum(1 for _ in trace.events())
            kinds = {problem.kind for problem in trace.problems}
    except clrevents.TraceError as error:
        return FileState(size, 0, False, str(error))
    return FileState(size, events, not any(kind in kinds for kind in ("missing-end", "truncated", "truncated-block")))


def watch(process: Process, how: str, *providers: Provider, duration: float = 0.1) -> None:
    """A session of so long that takes what comes, "blocking" or "async"."""

    async def in_a_loop() -> None:
        async with AsyncSession(process, providers=providers, duration=duration) as session:
            async for _ in session:
                pass

    if how == "async":
        asyncio.run(in_a_loop())
    else:
        with Session(process, providers=providers, duration=duration) as session:
            for _ in session:
                pass

"""`Trust`: whether a trace is whole, as one value with one wording, for every screen that says so.

Goes by what a reading of headers or payloads counted. Knows neither answers nor how they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents._util.words import UNSEEN_LOSSES, counted, lost_events, missing_stacks

if TYPE_CHECKING:
    from clrevents.decode.stream.stream import Stream
    from clrevents.trace.async_known import AsyncKnown
    from clrevents.trace.scan import HeaderScan

Level: TypeAlias = Literal["info", "warning", "error"]


@frozen
class Trust:
    """What is missing from a trace, as numbers; the text is one line."""

    damaged: int
    """Places that are damaged."""
    lost: int
    """Events that were lost while recording."""
    lossy_threads: int
    """Threads that lost some."""
    stackless: int
    """Events whose stack the file does not have."""
    misfits: int
    """Payloads that do not fit their layout, of those that were read."""
    complete: bool
    """Whether the end is there."""
    losses_visible: bool
    """Whether lost events would show."""
    others: tuple[str, ...] = ()
    """What else was not read, or not written: another trace in the same file, async events."""

    @classmethod
    def of(cls, read: HeaderScan | Stream, misfits: int = 0, known: AsyncKnown | None = None) -> Trust:
        """What a reading counted; a scan of headers has seen no `misfits`, but others may have. `known` are async
        events, if there are any."""
        return cls(
            damaged=read.problems.severities["damage"],
            lost=read.lost,
            lossy_threads=len({loss.thread_id for loss in read.losses}),
            stackless=0 if read.stackless is None else read.stackless.count,
            misfits=max(misfits, read.problems.severities["payload"]),
            complete=read.complete,
            losses_visible=read.losses_visible,
            others=(
                *(problem.message for problem in read.problems if problem.kind == "another-trace"),
                *(() if known is None else known.remarks),
            ),
        )

    @property
    def ok(self) -> bool:
        """Whether all that the file should have is there; an end that is missing is not judged."""
        return not (self.damaged or self.lost or self.stackless or self.misfits)

    @property
    def level(self) -> Level:
        """How bad it is."""
        return max((level for level, _ in self.reasons()), key=("info", "warning", "error").index, default="info")

    def reasons(self) -> Iterator[tuple[Level, str]]:
        """What is missing, a clause each, worst first."""
        if self.damaged:
            yield "error", f"damaged in {counted(self.damaged, 'place')}"
        if self.lost:
            yield "error", f"{lost_events(self.lost)}, on {counted(self.lossy_threads, 'thread')}"
        if self.stackless:
            yield "error", missing_stacks(self.stackless)
        if self.misfits:
            yield (
                "warning",
                counted(self.misfits, "payload does not fit its layout", "payloads do not fit their layout"),
            )
        if not self.complete:
            yield "warning", "the end is missing: the program or the recorder ended early"
        yield from (("warning", message) for message in self.others)

    def __str__(self) -> str:
        parts = [text for _, text in self.reasons()]
        if self.losses_visible:
            return "; ".join(parts) or "complete: nothing lost, nothing damaged"
        return "; ".join([*(parts or ["complete: nothing damaged"]), UNSEEN_LOSSES])

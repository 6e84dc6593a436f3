"""The problems that passes over one trace find, each kept once, and `Trust`, whether the trace is whole.

The one warning is for the caller's line, however many of our own frames are in between. `Trust` goes by what a reading
of headers or payloads counted: one value with one wording for every screen. What a problem does to a pass is the
stream's business.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents._util.words import UNSEEN_LOSSES, counted, lost_events, missing_stacks, safe
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Limits, Problem, TraceWarning
from clrevents.sources import Source

if TYPE_CHECKING:
    from clrevents.decode.stream.stream import Stream
    from clrevents.trace.async_known import AsyncKnown
    from clrevents.trace.scan import HeaderScan


# A pass ends inside context managers, whose own frames belong to contextlib. The name lacks its extension because
# `warnings` (3.12, 3.13) skips a file only if the prefix is shorter than its name.
_SKIPPED: Final = (
    os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),
    os.path.splitext(contextlib.__file__)[0],
)


def warn_caller(text: str) -> None:
    """Issue a TraceWarning for the line that called into this package.

    For a generator, that is the line that requests the next item: the `for` of a loop.
    """
    if sys.version_info >= (3, 12):
        warnings.warn(text, TraceWarning, skip_file_prefixes=_SKIPPED)
    else:
        warnings.warn(text, TraceWarning, stacklevel=_level())


def _level() -> int:
    """The number of frames `warnings.warn` must go up from `warn_caller`; 1 is `warn_caller` itself."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    return level


class FoundProblems:
    """At most `Limits.problems` of each severity. Of damage and lost events, the first is warned about."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._found: dict[tuple[object, ...], Problem] = {}
        self._counts: Counter[str] = Counter()
        self._warned = False

    @property
    def every(self) -> tuple[Problem, ...]:
        """In the order in which they were found."""
        return tuple(self._found.values())

    def after(self, listed: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """`listed`, and then those that are not in it."""
        known = {_identity(problem) for problem in listed}
        return (*listed, *(problem for key, problem in self._found.items() if key not in known))

    def add(self, problem: Problem) -> None:
        """Keep a problem, and warn of damage."""
        key = _identity(problem)
        if key not in self._found and self._counts[problem.severity] < self._limits.problems:
            self._found[key] = problem
            self._counts[problem.severity] += 1
        self.warn_of(problem)

    def warn_of(self, problem: Problem) -> None:
        """Warn of a problem if it is damage, or if it says that there is more than was read."""
        if problem.kind == "another-trace":
            self._warn(problem.message)
        if problem.severity == "damage":
            self._warn(f"the trace is damaged: {problem.message}")

    def warn_of_losses(self, losses: tuple[Loss, ...]) -> None:
        """Warn of the losses found so far: there may be more."""
        if losses:
            self._warn(f"at least {lost_events(sum(loss.count for loss in losses))}")

    def warn_of_lost(self, count: int) -> None:
        """Warn of all lost events of a trace that was read to its end."""
        if count:
            self._warn(lost_events(count))

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            path = f"{self._source.path}: " if self._source.path else ""
            warn_caller(safe(f"{path}{text}"))


def _identity(problem: Problem) -> tuple[object, ...]:
    return problem.kind, problem.offset, problem.event, problem.field


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

"""The problems that the passes over one trace find: each kept once, however many passes find it, and one warning.

The warning is for the caller's line, however many of our own frames are in between. Knows when two problems are the
same. What a problem does to a pass is the stream's business.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from typing import Final

from clrevents._util.words import lost_events, safe
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Limits, Problem, TraceWarning
from clrevents.sources import Source

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

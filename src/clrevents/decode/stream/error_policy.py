"""How a problem affects the reading of a stream, depending on the error mode; and what ended the reading.

Knows severities and modes, not the origin of problems.
"""

from __future__ import annotations

from collections.abc import Iterable

from clrevents.decode.stream.region import RowQueue
from clrevents.errors import (
    ERROR_MODES,
    DamageError,
    ErrorMode,
    Limits,
    PayloadError,
    Problem,
    Problems,
    TraceError,
    raised,
)


class ErrorPolicy:
    """Collects `problems`, and stops the reading if the mode requires it: `error` is then the exception to raise.

    Collected `rows` are released at that moment. Raises ValueError for an unknown mode.
    """

    def __init__(self, mode: ErrorMode, limits: Limits, rows: RowQueue) -> None:
        if mode not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {mode!r}")
        self.mode: ErrorMode = mode
        self.problems = Problems(limits.problems)
        self.error: TraceError | None = None
        self.stopped = False
        self._rows = rows

    @property
    def salvage(self) -> bool:
        return self.mode == "salvage"

    def report(self, problem: Problem, times: int = 1) -> bool:
        """Record a problem found `times` times; returns False if it ends the reading."""
        self.problems.add(problem, times)
        if problem.severity == "note" or self.mode == "salvage":
            return True
        if problem.severity == "payload" and self.mode == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self.stop(raised(kind, problem))
        return False

    def report_all(self, problems: Iterable[Problem | None]) -> None:
        """Record problems until one ends the reading. All of them are computed, even after that."""
        for problem in problems:
            if problem is not None and not self.stopped:
                self.report(problem)

    def report_found(self, problems: Iterable[tuple[Problem, int]]) -> None:
        """As `report_all`, of problems with the number of times that each was found."""
        for problem, times in problems:
            if not self.stopped:
                self.report(problem, times)

    def stop(self, error: TraceError | None = None) -> None:
        """Read no further. Collected rows are released before the exception is raised."""
        if not self.stopped:
            self.stopped = True
            self.error = error
            self._rows.release()

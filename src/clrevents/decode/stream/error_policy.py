"""What a problem does to the reading of a stream, in its error mode; and what ended the reading.

Knows severities and modes; not where problems come from.
"""

from __future__ import annotations

from collections.abc import Iterable

from clrevents.decode.stream.row_queue import RowQueue
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
    """Collects `problems`, and stops the reading where the mode says so: `error` is then what to raise.

    Gathered `rows` are released at that moment. Raises ValueError for an unknown mode.
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

    def report(self, problem: Problem) -> bool:
        """Note a problem; False when it ends the reading."""
        self.problems.add(problem)
        if problem.severity == "note" or self.mode == "salvage":
            return True
        if problem.severity == "payload" and self.mode == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self.stop(raised(kind, problem))
        return False

    def report_all(self, problems: Iterable[Problem | None]) -> None:
        """Note problems until one ends the reading. All of them are computed, also after that."""
        for problem in problems:
            if problem is not None and not self.stopped:
                self.report(problem)

    def stop(self, error: TraceError | None = None) -> None:
        """Read no further. What was gathered is released before the error is raised."""
        if not self.stopped:
            self.stopped = True
            self.error = error
            self._rows.release()

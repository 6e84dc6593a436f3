"""`TraceProblem`: what is wrong with one of many traces, as a row. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from clrevents.errors import (
    DamageError,
    LimitError,
    PayloadError,
    Problem,
    SourceError,
    TraceError,
    UnreadableError,
)
from clrevents.table.build import row_table
from clrevents.table.table import Table

UNREAD: Final = "error"
"""The severity of what kept a question from being answered for a trace."""
_KINDS: Final[Mapping[type[TraceError], str]] = {
    SourceError: "source",
    UnreadableError: "unreadable",
    DamageError: "damage",
    PayloadError: "payload",
    LimitError: "limit",
}


@attrs.frozen
class TraceProblem:
    """A problem of a trace: one of those that `Trace.problems` lists, or, of the severity `error`, why a question was
    not answered for it: the `kind` is then `source`, `unreadable`, `damage`, `payload`, `limit`, `question`, `columns`,
    `internal-error` or `process-died`.
    """

    trace: str
    kind: str
    severity: str
    message: str
    offset: int | None = None
    length: int | None = None
    event: str | None = None
    field: str | None = None
    impact: str = ""


def problem_row(path: str, problem: Problem) -> TraceProblem:
    """One of the problems that a trace lists."""
    p = problem
    return TraceProblem(path, p.kind, p.severity, p.message, p.offset, p.length, p.event, p.field, p.impact)


def error_row(path: str, error: Exception) -> TraceProblem:
    """Why there is no answer of a trace."""
    impact = "the answer has nothing of this trace"
    if isinstance(error, TraceError):
        kind = next((kind for known, kind in _KINDS.items() if isinstance(error, known)), "question")
        return TraceProblem(
            path, kind, UNREAD, error.reason, error.offset, error.available, error.event, error.field, impact
        )
    if isinstance(error, KeyError | TypeError | ValueError):
        return TraceProblem(path, "question", UNREAD, str(error.args[0] if error.args else error), impact=impact)
    return TraceProblem(path, "internal-error", UNREAD, f"{type(error).__name__}: {error}", impact=impact)


def problems_table(problems: Iterable[TraceProblem]) -> Table:
    """The rows as a table."""
    return row_table(TraceProblem, problems)

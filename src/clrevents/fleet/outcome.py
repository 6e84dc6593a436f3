"""One question asked of one trace, whatever is wrong with it: the value or why there is none, and the problems met, as
rows (`TraceProblem`).

Runs in any process. Knows no other traces.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar

from clrevents._util.value_classes import frozen
from clrevents.errors import (
    DamageError,
    ErrorMode,
    LimitError,
    Limits,
    PayloadError,
    Problem,
    SourceError,
    TraceError,
    TraceWarning,
    UnreadableError,
)
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.table import Table, row_table
from clrevents.trace import Trace, passes_of

UNREAD: Final = "error"
"""The severity of what kept a question from being answered for a trace."""
_KINDS: Final[Mapping[type[TraceError], str]] = {
    SourceError: "source",
    UnreadableError: "unreadable",
    DamageError: "damage",
    PayloadError: "payload",
    LimitError: "limit",
}


@frozen
class TraceProblem:
    """A problem of a trace: one of those listed by `Trace.problems`, or, with the severity `error`, why it has no
    answer to a question: the `kind` is then `source`, `unreadable`, `damage`, `payload`, `limit`, `question`,
    `columns`, `internal-error` or `process-died`.
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
    """Why there is no answer for a trace."""
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


T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

Question: TypeAlias = Callable[[Trace], T]


@frozen
class Opening:
    """How each trace is opened. Can be pickled if the registry can."""

    errors: ErrorMode
    limits: Limits
    registry: Registry
    symbols: tuple[str, ...] = ()


SALVAGING: Final = Opening("salvage", Limits(), DEFAULT)


@frozen
class TraceOutcome(Generic[T_co]):
    """What one trace gave: a value, or the `refused` question or a problem that says why there is none."""

    path: str
    values: tuple[T_co, ...] = ()
    """The value, or nothing."""
    problems: tuple[TraceProblem, ...] = ()
    refused: Exception | None = None
    """A possible mistake in the question: a name or a column that this trace does not have."""


def asked(
    question: Question[T], path: str, opening: Opening, progress: Callable[[int, int], object] | None = None
) -> TraceOutcome[T]:
    """Ask one trace. Raises only what `progress` raises, and only if that is not an Exception."""
    trace: Trace | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            with Trace(
                path,
                errors=opening.errors,
                limits=opening.limits,
                registry=opening.registry,
                progress=progress,
                symbols=opening.symbols,
            ) as trace:
                value = question(trace)
            return TraceOutcome(path, (value,), found_in(path, trace))
        except (LookupError, TypeError, ValueError) as error:
            # Also the fault of a question is one trace's, if others can answer it.
            return TraceOutcome(path, problems=found_in(path, trace), refused=_plain(error))
        except Exception as error:
            if os.environ.get("CLREVENTS_TRACEBACK") and not isinstance(error, TraceError):
                raise
            row = error_row(path, error)
            same = (row.offset, row.message)
            rest = tuple(p for p in found_in(path, trace) if (p.offset, p.message) != same)
            return TraceOutcome(path, problems=(row, *rest))


def found_in(path: str, trace: Trace | None) -> tuple[TraceProblem, ...]:
    """The problems of a trace that were met so far."""
    return () if trace is None else tuple(problem_row(path, problem) for problem in passes_of(trace).found)


def _plain(error: Exception) -> Exception:
    """Without a partial answer, which is never used."""
    if isinstance(error, TraceError):
        error.report = None
    return error.with_traceback(None)

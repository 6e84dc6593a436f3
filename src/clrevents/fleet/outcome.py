"""One question asked of one trace, whatever is wrong with it: the value or why there is none, and the problems met.

Runs in any process. Knows no other traces.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, Final, Generic, TypeAlias, TypeVar

import attrs

from clrevents.errors import ErrorMode, Limits, TraceError, TraceWarning
from clrevents.fleet.trace_problems import TraceProblem, error_row, problem_row
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.trace import Trace, passes_of

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

Question: TypeAlias = Callable[[Trace], T]


@attrs.frozen
class Opening:
    """How each trace is opened. Can be pickled if the registry can."""

    errors: ErrorMode
    limits: Limits
    registry: Registry


SALVAGING: Final = Opening("salvage", Limits(), DEFAULT)


@attrs.frozen
class TraceOutcome(Generic[T_co]):
    """What one trace gave: a value, or none and the `refused` question or a problem that says why."""

    path: str
    values: tuple[T_co, ...] = ()
    """The value, or nothing."""
    problems: tuple[TraceProblem, ...] = ()
    refused: Exception | None = None
    """What the asker may have done wrong: a name or a column that this trace does not have."""


def asked(
    question: Question[T], path: str, opening: Opening, progress: Callable[[int, int], Any] | None = None
) -> TraceOutcome[T]:
    """Ask one trace. Raises nothing but what `progress` raises, if that is no Exception."""
    trace: Trace | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            with Trace(
                path, errors=opening.errors, limits=opening.limits, registry=opening.registry, progress=progress
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
    """Without a half answer, which nobody reads."""
    if isinstance(error, TraceError):
        error.report = None
    return error.with_traceback(None)

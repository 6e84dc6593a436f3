"""What Spark's filters say about which traces and which events are worth reading. Imports nothing of Spark.

Spark applies all of its filters again: one that is not understood here, or applied too widely, only costs time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from clrevents.decode.selection import FilterOptions
from clrevents.fleet.joined import TRACE

_LOWER: Final = ("GreaterThan", "GreaterThanOrEqual", "EqualTo")
_UPPER: Final = ("LessThan", "LessThanOrEqual", "EqualTo")


def wanted_traces(paths: Iterable[str], filters: Sequence[Any]) -> list[str]:
    """The traces whose path fits all filters of the column `trace`."""
    tests = [filter for filter in filters if _column(filter) == TRACE]
    return [path for path in paths if all(_fits(path, test) for test in tests)]


def _fits(path: str, filter: Any) -> bool:
    value: Any = getattr(filter, "value", None)
    match type(filter).__name__:
        case "EqualTo" | "EqualNullSafe":
            return bool(path == value)
        case "In":
            return path in value
        case "StringStartsWith":
            return path.startswith(str(value))
        case "StringEndsWith":
            return path.endswith(str(value))
        case "StringContains":
            return str(value) in path
        case _:
            return True


def wanted_events(given: FilterOptions, filters: Sequence[Any]) -> FilterOptions:
    """`given`, and what the filters say of `time_ns`, `time` and `thread_id` where `given` says nothing."""
    found = FilterOptions(**given)
    for column, step in (("time_ns", 1), ("time", timedelta(microseconds=1))):
        mine = [filter for filter in filters if _column(filter) == column and _is_moment(filter, column)]
        # A column of microseconds is cut off: an event is up to one of them later than it says.
        starts = [f.value for f in mine if type(f).__name__ in _LOWER]
        ends = [f.value + step for f in mine if type(f).__name__ in _UPPER]
        if starts and found.get("start") is None:
            found["start"] = max(starts)
        if ends and found.get("end") is None:
            found["end"] = min(ends)
    for filter in filters:
        if _column(filter) == "thread_id" and found.get("thread_id") is None:
            threads = _threads(filter)
            if threads:
                found["thread_id"] = threads
    return found


def _column(filter: Any) -> str | None:
    """The column that a filter is about; None for a nested field, and for the negation of a filter."""
    place: tuple[str, ...] = getattr(filter, "attribute", ())
    # Spark compares names without case.
    return place[0].lower() if len(place) == 1 else None


def _is_moment(filter: Any, column: str) -> bool:
    value = getattr(filter, "value", None)
    if column == "time_ns":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, datetime) and value.tzinfo is not None


def _threads(filter: Any) -> tuple[int, ...]:
    """The threads that a filter lets through; none if it says nothing useful."""
    if type(filter).__name__ not in ("EqualTo", "In"):
        return ()
    values: tuple[Any, ...] = filter.value if type(filter).__name__ == "In" else (filter.value,)
    if not all(isinstance(v, int | Decimal) and v == int(v) and 0 <= v < 1 << 64 for v in values):
        return ()
    return tuple(int(v) for v in values)

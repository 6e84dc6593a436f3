"""How users may write a time in a trace: 2_000_000, `timedelta`, aware `datetime`, "1.5s", "50%", ISO 8601.

Converts each to nanoseconds since the session started, exactly. Rejects floats and naive datetimes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final, TypeAlias

from clrevents.decode.clock import Clock

Moment: TypeAlias = int | timedelta | datetime | str
"""A time in a trace: an int in nanoseconds or a `timedelta` since the session started, a `datetime` with a time zone,
or text: `"1.5s"`, `"200ms"`, `"50%"` of the duration, or ISO 8601 with a time zone."""

_UNITS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_AMOUNT: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min|m|h|%)\s*")
_HOW: Final = "use 1.5s, 200ms, 50%, or a date with a time zone such as 2026-01-31T14:03:22Z"


def check_moment(value: Moment | None, what: str) -> None:
    """Raise TypeError or ValueError if this cannot be a moment, before any trace is read."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return
    if isinstance(value, timedelta):
        return
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError(f"{what}={value!r} has no time zone; add one, e.g. tzinfo=datetime.UTC")
        return
    if isinstance(value, str):
        if not _AMOUNT.fullmatch(value):
            _parse_date(value, what)
        return
    raise TypeError(f"{what} must be an int in nanoseconds, a timedelta, an aware datetime or text, not {value!r}")


def to_ns(value: Moment, what: str, clock: Clock, duration_ns: Callable[[], int]) -> int:
    """Nanoseconds since the session started; `duration_ns` is called only for percentages."""
    check_moment(value, what)
    if isinstance(value, timedelta):
        return (value.days * 86400 + value.seconds) * 10**9 + value.microseconds * 1000
    if isinstance(value, datetime):
        return clock.since_start(value)
    if isinstance(value, int):
        return value
    match = _AMOUNT.fullmatch(value)
    if match is None:
        return clock.since_start(_parse_date(value, what))
    if match[2] == "%":
        return int(Fraction(match[1]) * duration_ns() / 100)
    return int(Fraction(match[1]) * _UNITS[match[2]])


def _parse_date(text: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{what}={text!r} is not a time; {_HOW}") from None
    if moment.tzinfo is None:
        raise TypeError(f"{what}={text!r} has no time zone; add one, e.g. {text}Z")
    return moment

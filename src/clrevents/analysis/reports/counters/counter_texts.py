"""Texts of counters and metrics → numbers, tags, quantiles, durations. Knows how .NET writes them, and no event.

All are written without escapes, so what can be read in two ways is said to be ambiguous, and a number in the
notation of some culture is none: `1,234` may be more than a thousand, or little more than one.
"""

from __future__ import annotations

import math
import re
from typing import Final

import attrs

NUMBER: Final = 0
NOT_A_NUMBER: Final = 1
INFINITE: Final = 2
UNREADABLE: Final = 3
MISSING: Final = 4
EMPTY: Final = 5
REASONS: Final = (None, "not a number", "infinite", "unreadable", "missing", "empty")
"""Why there is no value, as words; the constants above are places in it."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII)
_INFINITIES: Final = frozenset(("Infinity", "+Infinity", "-Infinity", "\u221e", "-\u221e"))
_MOST_QUANTILES: Final = 16
"""The runtime writes three. Each is a series with all tags of its histogram."""
_MOST_PIECES: Final = 256
"""Between the commas of tags, which each quantile of a histogram has once more."""
_SPAN: Final = re.compile(r"(-?)(?:(\d{1,8})\.)?(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,7}))?", re.ASCII)


def read_number(text: str) -> tuple[float, int]:
    """A number in the invariant notation, and a place in `REASONS`; NaN where that is not `NUMBER`."""
    if not text:
        return math.nan, EMPTY
    if text == "NaN":
        return math.nan, NOT_A_NUMBER
    if text in _INFINITIES:
        return math.nan, INFINITE
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return math.nan, UNREADABLE
    value = float(text)
    return (value, NUMBER) if math.isfinite(value) else (math.nan, INFINITE)


def read_quantiles(text: str) -> tuple[tuple[tuple[float, float, int], ...], bool]:
    """`0.5=…;0.95=…` → (quantile, value, place in `REASONS`) of each, and whether all was read; 16 at most."""
    found = []
    pieces = text.split(";", _MOST_QUANTILES) if text else []
    whole = len(pieces) <= _MOST_QUANTILES
    for piece in pieces[:_MOST_QUANTILES]:
        name, equals, value = piece.partition("=")
        quantile, reason = read_number(name)
        if not equals or reason != NUMBER or not 0 <= quantile <= 1:
            whole = False
            continue
        found.append((quantile, *read_number(value)))
    return tuple(found), whole


@attrs.frozen
class Tags:
    """Names and values of tags, in order. `ambiguous` if a comma or a separator may belong to one of them."""

    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    ambiguous: bool = False

    def joined(self, separator: str = "=") -> str:
        """The text that they were split from."""
        return ",".join(f"{name}{separator}{value}" for name, value in zip(self.names, self.values, strict=True))


def split_tags(text: str, separator: str = "=") -> Tags | None:
    """Names and values of `k=v,k=v`; None where the text has no separator at all, and so is no list of tags, or more
    than 255 commas.

    A piece between two commas without a separator belongs to the value before it, or to the name after it where it is
    the first one.
    """
    if not text:
        return Tags()
    pieces = text.split(",", _MOST_PIECES)
    if len(pieces) > _MOST_PIECES:
        return None
    first = next((place for place, piece in enumerate(pieces) if separator in piece), None)
    if first is None:
        return None
    grouped = [pieces[: first + 1]]
    for piece in pieces[first + 1 :]:
        if separator in piece:
            grouped.append([piece])
        else:
            grouped[-1].append(piece)
    joined = [",".join(group) for group in grouped]
    pairs = [piece.partition(separator) for piece in joined]
    ambiguous = any("," in piece or piece.count(separator) > 1 for piece in joined)
    return Tags(tuple(pair[0] for pair in pairs), tuple(pair[2] for pair in pairs), ambiguous)


def read_time_span(text: str) -> int | None:
    """Nanoseconds of a TimeSpan such as `00:01:00`; None where it is none, or not above zero."""
    found = _SPAN.fullmatch(text)
    if found is None or found[1]:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:5])
    ticks = int((found[6] or "").ljust(7, "0"))
    total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**9 + ticks * 100
    return total if 0 < total < 1 << 63 else None

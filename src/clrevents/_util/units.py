"""Numbers for people: durations, sizes, rates and shares, with units by magnitude and three or four digits.

The one place that decides this, for terminals, notebooks and pages; machines get base units. Sizes are decimal, as in
the runtime's own counters: 1 MB is 1,000,000 bytes.
"""

from __future__ import annotations

import math
from typing import Final

_DURATIONS: Final = (("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000))
_SIZES: Final = (("B", 1), ("kB", 10**3), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12), ("PB", 10**15), ("EB", 10**18))
_MINUTE: Final = 60 * 10**9


def duration_text(ns: int | float) -> str:
    """Nanoseconds: `1.78 s`, `12.2 ms`, `340 µs`, `2 h 5 min`; `0 s` for none."""
    if not ns:
        return "0 s"
    if abs(ns) < 10 * _MINUTE:
        return _scaled(ns, _DURATIONS)
    sign, minutes = "-" if ns < 0 else "", round(abs(ns) / _MINUTE)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours:,} h {minutes} min" if hours else f"{sign}{minutes} min"


def moment_text(ns: int) -> str:
    """A moment since the session started: `12.003 s`, `52.330 ms`. All of its digits matter, so that moments differ."""
    return f"{ns / 1e9:,.3f} s" if abs(ns) >= 10**9 else f"{ns / 1e6:.3f} ms"


def size_text(size: int | float) -> str:
    """Bytes: `5.8 GB`, `840 B`."""
    return _scaled(size, _SIZES, 1)


def share_text(share: float) -> str:
    """A share, 1.0 for all: `29.8 %`, `0.05 %`, `<0.01 %`."""
    percent = 100 * share
    if 0 < percent < 0.005:
        return "<0.01 %"
    whole = percent == int(percent) if math.isfinite(percent) else True
    return f"{percent:,.0f} %" if whole else f"{percent:,.{1 if abs(percent) >= 9.995 else 2}f} %"


def number_text(value: int | float) -> str:
    """A count with separators, `4,711`; a measured number with four digits, `49.25`."""
    return f"{value:,}" if isinstance(value, int) else digits(value, 4)


def amount_text(value: int | float, unit: str | None) -> str:
    """A value in a unit of metrics: ns, bytes, ratio, count, these by the second (`bytes/s`), or any other word."""
    match unit:
        case "ns":
            return duration_text(value)
        case "bytes":
            return size_text(value)
        case "bytes/s":
            return f"{size_text(value)}/s"
        case "ratio":
            return share_text(value)
        case None | "" | "count":
            return number_text(value)
    return f"{number_text(value)}{'' if unit.startswith('/') else ' '}{unit}"


def raw_text(value: int | float, unit: str | None) -> str:
    """The same in its base unit, with every digit: `1780345112 ns`."""
    return f"{value}" if unit in (None, "", "count", "ratio") else f"{value} {unit}"


def digits(value: float, most: int) -> str:
    """With this many digits, or all of those before the point; no exponent, and no zeros at the end of a whole
    number."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    before = math.floor(math.log10(abs(value))) + 1
    text = f"{value:,.{min(max(most - before, 0), 9)}f}"
    return text if float(text.replace(",", "")) else "0"


def _scaled(value: int | float, units: tuple[tuple[str, int], ...], decimals: int = 2) -> str:
    """In the largest unit that gives at least 1, with at most this many decimals and three digits in total."""
    unit, size = units[0]
    for larger, next_size in units[1:]:
        # What would be rounded to 1,000 is one of the next unit.
        if abs(value) < (next_size if size == 1 else next_size - size / 2):
            break
        unit, size = larger, next_size
    scaled = value / size
    if size == 1 and scaled == int(scaled):
        return f"{scaled:,.0f} {unit}"
    # Zeros at the end stay, so that 1.70 s and 1.74 s are seen to have been measured alike.
    fits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
    return f"{scaled:,.{min(fits, decimals)}f} {unit}"

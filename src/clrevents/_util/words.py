"""Counts, numbers and foreign names as people read them: units by magnitude with three or four digits, counted nouns.

The one place that decides this, for terminals, notebooks and pages; machines get base units. Sizes are decimal, as in
the runtime's own counters: 1 MB is 1,000,000 bytes. Names from a file are made safe to print. Knows no event, adds no
colour and measures no width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

# Controls, halves of surrogate pairs, line separators, and marks that reorder what a terminal shows.
_UNSAFE: Final = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for codes in (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in codes
}
"""What Python takes for printable and nobody sees: fillers, variation selectors."""
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 note`, `2,000 notes`; pass `many` where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


UNSEEN_LOSSES: Final = "no loss can be seen, because this recorder does not number what it drops"
"""The sentence where events may have been lost without a trace of it."""


def lost_events(number: int) -> str:
    """The sentence for events that were never written."""
    return f"{counted(number, 'event was', 'events were')} lost while recording"


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for an unknown name: `no column 'tpye'; did you mean 'type'?`, or a list of all names."""
    # Whoever makes no mistake need not load it.
    import difflib

    names = list(known)
    lower = {known_name.lower(): known_name for known_name in names}
    for near in difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6):
        return f"no {what} {name!r}; did you mean {lower[near]!r}?"
    return f"no {what} {name!r}; there are {', '.join(names)}"


def safe(text: str) -> str:
    """Escape everything that a terminal would interpret instead of showing. Escaping twice changes nothing."""
    if text.isascii() and text.isprintable():
        # Nearly all texts, and much faster.
        return text
    return re.sub(_UNSAFE, lambda match: _escaped(match[0]), text)


def is_seen(char: str) -> bool:
    """Whether a character can be seen, or is a blank."""
    return char.isprintable() and char not in _BLANK


def visible(text: str) -> str:
    """Also escape invisible characters, such as zero widths and tags: a machine may read what a person does not see."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if is_seen(char) else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return _SHORT.get(char) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown_text(text: str) -> str:
    """Text from a trace is no markup: not of Markdown, and not of HTML inside it."""
    text = "".join(character if character.isprintable() else " " for character in text)
    for character in "\\`*_[]|~#":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def missing_stacks(count: int) -> str:
    """That events have no stack because its block is missing."""
    return f"{counted(count, 'event refers', 'events refer')} to stacks that the file does not have"


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

"""Counts in messages, and names from a file made safe to print. Knows no event and no trace.

Text in, text out. Adds no colour and measures no width: that is the command's job.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

# Controls, halves of surrogate pairs, line separators, and marks that reorder what a terminal shows.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
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
    return _UNSAFE.sub(_escape, text)


def is_seen(char: str) -> bool:
    """Whether a character can be seen, or is a blank."""
    return char.isprintable() and char not in _BLANK


def visible(text: str) -> str:
    """Also escape invisible characters, such as zero widths and tags: a machine may read what a person does not see."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if is_seen(char) else _escaped(char) for char in text)


def _escape(match: re.Match[str]) -> str:
    return _escaped(match[0])


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

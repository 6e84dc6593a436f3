"""Text that fits a width: a table loses its least important columns, a name inner parts, a sentence is wrapped.

Numbers, units and headings stay whole. Knows text and widths, and neither terminals nor traces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["number", "word", "name", "text"]
"""What a column contains: a `number` is right-aligned; a `name` can lose parts, a `text` its end, the others
nothing."""

GAP: Final = 2
"""Blanks between columns."""
_LEAST: Final = {"name": 0.35, "text": 0.25}
"""A name or a text keeps at least this share of the line; before that, a column goes."""
_UNIT: Final = re.compile(r"(?<=\d) (?=(?:ns|µs|ms|s|min|h|B|[kMGTPE]B)(?:/s)?\b|%)")
_NAMESPACE: Final = re.compile(r"(?:\w+\.)+(?=\w)")


class TextColumn(NamedTuple):
    """A heading and its cells, made safe and of one line each. Columns of a higher `rank` go first."""

    title: str
    cells: Sequence[str]
    kind: Kind = "text"
    rank: int = 0


class Fitted(NamedTuple):
    """Lines of a table, its heading first, and the titles of columns that had no room."""

    lines: tuple[str, ...]
    dropped: tuple[str, ...]


def text_width(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text
    )


def column_width(column: TextColumn) -> int:
    """How many cells it takes, including the gap after it."""
    return max(map(text_width, (column.title, *column.cells))) + GAP


def fitted_table(columns: Sequence[TextColumn], width: int | None) -> Fitted:
    """A table of at most this width; None for no limit."""
    wanted = [column_width(column) - GAP for column in columns]
    kept = list(range(len(columns)))
    if width is not None:
        least = [_least(column, taken, width) for column, taken in zip(columns, wanted, strict=True)]
        kept = []
        for place in sorted(range(len(columns)), key=lambda i: (columns[i].rank, i)):
            # A column that is too wide makes room for a less important one.
            if not kept or _sum(least, [*kept, place]) <= width:
                kept.append(place)
        kept.sort()
        _narrow(columns, wanted, least, kept, width)
    lines = [
        (" " * GAP)
        .join(
            _padded(shortened(text, wanted[i], columns[i].kind), wanted[i], columns[i].kind)
            for i, text in zip(kept, row, strict=True)
        )
        .rstrip()
        for row in zip(*((columns[i].title, *columns[i].cells) for i in kept), strict=True)
    ]
    return Fitted(tuple(lines), tuple(c.title for i, c in enumerate(columns) if i not in kept and c.title))


def _least(column: TextColumn, wanted: int, width: int) -> int:
    """How narrow a column may become before another one has to go."""
    share = _LEAST.get(column.kind)
    return wanted if share is None else min(wanted, max(int(share * width), text_width(column.title)))


def _narrow(columns: Sequence[TextColumn], wanted: list[int], least: list[int], kept: list[int], width: int) -> None:
    """Take from the widest name or text until all fit."""
    while (over := _sum(wanted, kept) - width) > 0:
        gives = [i for i in kept if wanted[i] > least[i]]
        if not gives:
            # One column alone that is wider than all: it is cut, whatever it holds.
            wanted[kept[0]] = max(width, 1) if len(kept) == 1 else wanted[kept[0]]
            return
        widest = max(gives, key=lambda i: wanted[i])
        next_widest = max((wanted[i] for i in gives if i != widest), default=0)
        step = max(wanted[widest] - max(next_widest, least[widest]), 1)
        wanted[widest] -= min(over, step)


def _sum(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[i] for i in kept) + GAP * (len(kept) - 1)


def _padded(text: str, width: int, kind: Kind) -> str:
    blanks = " " * (width - text_width(text))
    return blanks + text if kind == "number" else text + blanks


def shortened(text: str, width: int, kind: Kind = "text") -> str:
    """A text of at most this width: a name without some of its inner parts, anything else without its end."""
    if text_width(text) <= width:
        return text
    return _short_name(text, width) if kind == "name" else _cut(text, width)


def _short_name(name: str, width: int) -> str:
    """`System.Threading.Tasks.Task.Wait(int)` → `System.…Task.Wait(…)` → `…Task.Wait(…)` → `…Wait(…)`.

    `System.List[System.Int32]` → `…List[System.Int32]` → `…List[Int32]` → `…List[…]`.
    """
    indent = name[: len(name) - len(name.lstrip(" "))]
    head, bracket, rest = _head(name.strip(" "))
    tail = "" if not rest else {"(": "(…)", ", ": ", …"}[bracket] if rest != ")" else "()"
    for shorten in (str, lambda inner: _NAMESPACE.sub("", inner), lambda inner: "…" if inner.strip(",") else inner):
        parts = _parts(head, shorten)
        for ending in dict.fromkeys((bracket + rest, tail)):
            for first in (1, 0):
                # At least the last part stays.
                for skipped in range(len(parts) - first):
                    gap = "…" if skipped else ""
                    short = f"{indent}{''.join(parts[:first])}{gap}{''.join(parts[first + skipped :])}{ending}"
                    if text_width(short) <= width and (first == 0 or not skipped or len(parts) - first - skipped >= 2):
                        return short
    return _cut(f"{indent}…{parts[-1]}{tail}" if len(parts) > 1 else name, width)


def _head(name: str) -> tuple[str, str, str]:
    """What precedes parameters, or what follows the name of an assembly."""
    head, comma, rest = name.partition(", ")
    return (head, comma, rest) if comma and not set("(<[") & set(head) else name.partition("(")


def _parts(name: str, shorten: Callable[[str], str]) -> list[str]:
    """A name split after its dots, a path after its slashes, not inside of brackets: their contents are shortened."""
    ends = "/\\" if "/" in name or "\\" in name else "."
    parts, inner, depth = [""], "", 0
    for char in name:
        closes = depth == 1 and char in ">]"
        depth += (char in "<[") - (char in ">]" and depth > 0)
        if closes:
            parts[-1] += shorten(inner)
            inner = ""
        if depth and not (depth == 1 and char in "<["):
            inner += char
            continue
        parts[-1] += char
        if char in ends:
            parts.append("")
    parts[-1] += inner
    return parts if parts[-1] else parts[:-1]


def _cut(text: str, width: int) -> str:
    """The beginning of a text, and a mark that there is more."""
    if text_width(text) <= width:
        return text
    taken = 0
    for place, char in enumerate(text):
        taken += text_width(char)
        if taken > width - 1:
            return text[:place] + "…"[:width]
    return text


def wrapped(text: str, width: int | None, indent: int = 0) -> list[str]:
    """Lines of at most this width, broken between words; a number keeps its unit. Later ones are indented."""
    if width is None or text_width(text) <= width:
        return [text]
    held = _UNIT.sub("\N{NO-BREAK SPACE}", text)
    # A path or a name that is longer than a line is shortened as in a table.
    room = max(width - indent, 10)
    held = re.sub(rf"\S{{{room + 1},}}", lambda match: shortened(match[0], room, "name"), held)
    import textwrap

    lines = textwrap.wrap(
        held,
        max(width, indent + 10),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [text]

"""Text that fits a width: a table loses what says the same in every row and then its least important columns, a name
its arguments and then inner parts, a sentence is wrapped.

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
_FEW: Final = 2
"""So many names have room for that beside one another."""
_UNIT: Final = r"(?<=\d) (?=(?:ns|µs|ms|s|min|h|B|[kMGTPE]B)(?:/s)?\b|%)"
_NAMESPACE: Final = r"(?:\w+\.)+(?=\w)"
_NOTHING: Final = r"-?|0(?:\.0+)?(?: \S+)?"
_SAME: Final = 9
"""The rank of a column that does not tell rows apart."""
_CORE: Final = 0.5
"""The classes and methods of the names that always stay keep at most this share of the line."""


class TextColumn(NamedTuple):
    """A heading and its cells, made safe and of one line each. Columns of a higher `rank` go first."""

    title: str
    cells: Sequence[str]
    kind: Kind = "text"
    rank: int = 0


class Fitted(NamedTuple):
    """Lines of a table, its heading first; the titles of columns that had no room, with the value of those that have
    the same in every row.
    """

    lines: tuple[str, ...]
    dropped: tuple[str, ...]
    same: tuple[str, ...] = ()

    def not_shown(self, more: str = "") -> list[str]:
        """What had no room, in at most two sentences; `more` says how to see it."""
        same = [f"the same in each row: {'; '.join(self.same)}"] if self.same else []
        return same + ([f"not shown: {', '.join(self.dropped)}{more}"] if self.dropped else [])


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
    if width is not None and _sum(wanted, kept) > width:
        always = sum(column.kind == "name" and column.rank <= 0 for column in columns)
        core = int(_CORE * width / max(always, 1))
        crowded = sum(column.kind == "name" for column in columns) > _FEW
        least = [_least(column, taken, width, core, crowded) for column, taken in zip(columns, wanted, strict=True)]
        ranks = [_SAME if _says_one_thing(column) else column.rank for column in columns]
        telling = [place for place in kept if ranks[place] != _SAME] or kept
        kept = []
        for place in sorted(telling, key=lambda i: (ranks[i], i)):
            # A column that is too wide makes room for a less important one.
            if not kept or _sum(least, [*kept, place]) <= width:
                kept.append(place)
        for place in set(range(len(columns))) - set(telling):
            if _sum(wanted, [*kept, place]) <= width:
                kept.append(place)
        kept.sort()
        _narrow(columns, wanted, least, kept, width)
    cells: dict[int, list[str]] = {}
    spare = 0
    # Names lose whole parts: what one does not need then, the others have.
    for place in [*sorted(kept, key=lambda i: -columns[i].rank), *kept]:
        wanted[place] += spare
        cells[place] = [columns[place].title, *_shortened_cells(columns[place], wanted[place])]
        used = max(map(text_width, cells[place]))
        spare, wanted[place] = wanted[place] - used, used
    lines = [
        (" " * GAP).join(_padded(text, wanted[i], columns[i].kind) for i, text in zip(kept, row, strict=True)).rstrip()
        for row in zip(*(cells[i] for i in kept), strict=True)
    ]
    gone = [column for i, column in enumerate(columns) if i not in kept and column.title]
    same = [f"{c.title} {c.cells[0]}" for c in gone if _says_one_thing(c)]
    return Fitted(tuple(lines), tuple(c.title for c in gone if not _says_one_thing(c)), tuple(same))


def _says_one_thing(column: TextColumn) -> bool:
    """Whether it has the same in all of several rows, or nothing in a single one. A column of marks never does."""
    if not column.title or len(set(column.cells)) != 1:
        return False
    return len(column.cells) > 1 or bool(column.rank and re.fullmatch(_NOTHING, column.cells[0]))


def _least(column: TextColumn, wanted: int, width: int, core: int, crowded: bool) -> int:
    """How narrow a column may become before another one has to go; where names are `crowded`, to class and method."""
    share = _LEAST.get(column.kind)
    if share is None:
        return wanted
    least = int(share * width)
    if crowded and column.kind == "name":
        least = min(least, max(map(_core_width, column.cells), default=0))
    least = max(least, text_width(column.title))
    if column.kind == "name" and column.rank <= 0:
        least = max(least, min(core, max(map(_core_width, column.cells))))
    return min(wanted, least)


def _shortened_cells(column: TextColumn, width: int) -> list[str]:
    """The cells at this width. Names that would look alike lose their namespaces first, if this tells them apart."""
    texts = {cell: shortened(cell, width, column.kind) for cell in column.cells}
    if column.kind == "name":
        alike: dict[str, list[str]] = {}
        for cell, text in texts.items():
            alike.setdefault(text, []).append(cell)
        for cells in alike.values():
            if len(cells) > 1:
                other = [_short_name(cell, width, apart=True) for cell in cells]
                if len(set(other)) > 1:
                    texts.update(zip(cells, other, strict=True))
    return [texts[cell] for cell in column.cells]


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


def _short_name(name: str, width: int, apart: bool = False) -> str:
    """`System.Threading.Tasks.Task.Wait(int)` → `System.Threading.Tasks.Task.Wait(…)` → `System.…Task.Wait(…)` →
    `…Task.Wait(…)` → `…Wait(…)`.

    Between arguments and namespaces, what is in brackets goes: `System.List[System.Int32]` → `System.List[Int32]` →
    `System.List[…]` → `…List[…]`. With `apart`, namespaces go before arguments, and what is in brackets last.
    """
    if text_width(name) <= width:
        return name
    indent, full, tail, ways = _ways(name)
    details = [(ways[0], full), *((parts, tail) for parts in ways)]
    if apart:
        details = [(parts, ending) for parts in ways for ending in dict.fromkeys((full, tail))]
    for parts, ending in details:
        for gap in _gaps(len(parts)) if apart or (parts, ending) == details[-1] else [(0, 0)]:
            short = f"{indent}{_joined(parts, *gap)}{ending}"
            if text_width(short) <= width:
                return short
    parts = ways[-1]
    return _cut(f"{indent}…{parts[-1]}{tail}" if len(parts) > 1 else name, width)


def _core_width(name: str) -> int:
    """The width of its class and method, without anything in brackets; 0 of a path."""
    if "/" in name or "\\" in name:
        return 0
    indent, _, tail, ways = _ways(name)
    return min(text_width(f"{indent}…{''.join(ways[-1][-2:])}{tail}"), text_width(name))


def _ways(name: str) -> tuple[str, str, str, list[list[str]]]:
    """Its indent, its arguments in full and in short, and its parts: in full, without namespaces in brackets, without
    anything in them.
    """
    indent = name[: len(name) - len(name.lstrip(" "))]
    head, bracket, rest = _head(name.strip(" "))
    tail = "" if not rest else {"(": "(…)", ", ": ", …"}[bracket] if rest != ")" else "()"
    inner = (str, lambda text: re.sub(_NAMESPACE, "", text), lambda text: "…" if text.strip(",") else text)
    return indent, bracket + rest, tail, [_parts(head, shorten) for shorten in inner]


def _gaps(count: int) -> list[tuple[int, int]]:
    """How many of so many parts stay in front, and how many behind them go; at least the last part stays."""
    whole, inner = [(0, 0)], [(1, gone) for gone in range(1, count - 2)]
    return whole + inner + [(0, gone) for gone in range(1, count)]


def _joined(parts: Sequence[str], first: int, gone: int) -> str:
    return f"{''.join(parts[:first])}{'…' if gone else ''}{''.join(parts[first + gone :])}"


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
    spaced = re.sub(_UNIT, "\N{NO-BREAK SPACE}", text)
    # A path or a name that is longer than a line is shortened as in a table.
    room = max(width - indent, 10)
    spaced = re.sub(rf"\S{{{room + 1},}}", lambda match: shortened(match[0], room, "name"), spaced)
    import textwrap

    lines = textwrap.wrap(
        spaced,
        max(width, indent + 10),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [text]

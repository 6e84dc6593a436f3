"""What values look like in a notebook: escaped, in plain tables, at most so much.

`Value` shows its fields, a line each, `Summary` its repr. Knows no value: fields are those of attrs or a dataclass, and
durations are told by their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from typing import Any, Final

from clrevents._util.words import duration_text, safe

MOST_HTML: Final = 50_000
"""The size of a notebook view in bytes."""

LEFT: Final = '<td style="text-align:left">'
"""How a cell of a table begins."""
RIGHT: Final = '<td style="text-align:right;white-space:nowrap">'
"""How that of a number does."""

_PLAIN: Final = re.compile(r"[\w .:/-]*", re.ASCII).fullmatch


def escaped(text: str) -> str:
    """Without markup. The standard library's, which loads a list of all that HTML has names for."""
    from html import escape

    return escape(text)


def framed_html(html: str, text: Callable[[], str]) -> str:
    """A notebook view; the repr instead, where it would be too large."""
    return html if len(html.encode()) <= MOST_HTML else f"<pre>{escaped(text())}</pre>"


def shortened(text: str, most: int = 200) -> str:
    """A text's first characters, and `…` if it has more."""
    return text if len(text) <= most else text[:most] + "…"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """A plain table of texts; columns are aligned left, except numbers, for which `right` is true."""
    heads = zip(chain(right, repeat(False)), map(html_text, head), strict=False)
    cells = "".join(f'<th style="text-align:{"right" if numeric else "left"}">{name}</th>' for numeric, name in heads)
    sides = [RIGHT if numeric else LEFT for numeric in right]
    body = "".join(html_row(row, sides) for row in rows)
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{body}</table>"


def html_row(texts: Iterable[str], sides: Iterable[str] = ()) -> str:
    """A row of such a table; `sides` are how its first cells begin that are not aligned left."""
    cells = zip(chain(sides, repeat(LEFT)), map(html_text, texts), strict=False)
    return f"<tr>{''.join(f'{side}{text}</td>' for side, text in cells)}</tr>"


def html_text(text: str) -> str:
    """The one way of text into a page."""
    # Nearly all are names and numbers.
    return text if _PLAIN(text) else escaped(safe(text))


_LONG: Final = 1000
"""Characters of a value: most sentences are shorter."""


class Value:
    """A value of named fields. Those that are None or empty are left out."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return fields_html(self)


class Summary:
    """An object with a repr of its own."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(repr(self))}</pre>"


def fields_html(value: Any) -> str:
    """The fields of an instance of an attrs class or of a dataclass, by name."""
    declared = getattr(value, "__attrs_attrs__", None) or getattr(value, "__dataclass_fields__", {}).values()
    fields = [(field.name, getattr(value, field.name)) for field in declared if field.repr and field.name[0] != "_"]
    lines = [_line(name, value) for name, value in fields if value is not None and value not in ("", ())]
    return framed_html(f"<b>{html_text(type(value).__name__)}</b>{html_table((), lines)}", lambda: repr(value))


def _line(name: str, value: Any) -> tuple[str, str]:
    if name.endswith("_ns") and isinstance(value, int):
        return name.removesuffix("_ns"), duration_text(value)
    return name, shortened(str(value), _LONG)


def show_html(html: str, text: str) -> None:
    """Put this below the cell that runs; `text` is for frontends without HTML."""
    from IPython.display import display

    # As data, not as an `HTML` object, which warns of every frame that it is given.
    display({"text/html": html, "text/plain": text}, raw=True)

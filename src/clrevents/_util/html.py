"""Text into a notebook: escaped, in plain tables, at most so much. Knows nothing of what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import chain, repeat
from typing import Final

from clrevents._util.words import safe

MOST_HTML: Final = 50_000
"""The size of a notebook view in bytes."""

LEFT: Final = '<td style="text-align:left">'
"""How a cell of a table begins."""
RIGHT: Final = '<td style="text-align:right;white-space:nowrap">'
"""How that of a number does."""

_PLAIN: Final = re.compile(r"[\w .:/-]*", re.ASCII).fullmatch


def framed_html(html: str, text: Callable[[], str]) -> str:
    """A notebook view; the repr instead, where it would be too large."""
    return html if len(html.encode()) <= MOST_HTML else f"<pre>{escape(text())}</pre>"


def shortened(text: str, most: int = 200) -> str:
    """A text's first characters, and `…` if it has more."""
    return text if len(text) <= most else text[:most] + "…"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """A plain table of texts; columns are aligned left, except numbers, for which `right` is true."""
    heads = zip(chain(right, repeat(False)), map(html_text, head), strict=False)
    cells = "".join(f'<th style="text-align:{"right" if mine else "left"}">{name}</th>' for mine, name in heads)
    sides = [RIGHT if mine else LEFT for mine in right]
    body = "".join(html_row(row, sides) for row in rows)
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{body}</table>"


def html_row(texts: Iterable[str], sides: Iterable[str] = ()) -> str:
    """A row of such a table; `sides` are how its first cells begin that are not aligned left."""
    cells = zip(chain(sides, repeat(LEFT)), map(html_text, texts), strict=False)
    return f"<tr>{''.join(f'{side}{text}</td>' for side, text in cells)}</tr>"


def html_text(text: str) -> str:
    """The one way of text into a page."""
    # Nearly all are names and numbers.
    return text if _PLAIN(text) else escape(safe(text))

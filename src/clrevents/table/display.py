"""How a table shows itself in a notebook: never more than a screen. Escapes everything that came from a file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Final

_LONG: Final = 200


def table_html(names: list[str], columns: list[list[Any]], length: int) -> str:
    """The first rows of a table; values as text."""
    rows = [tuple(shortened(str(value)) for value in row) for row in zip(*columns, strict=True)]
    more = f"<p>{length:,} rows</p>"
    return html_table(tuple(names), rows) + more


def shortened(text: str) -> str:
    """At most two hundred characters."""
    return text if len(text) <= _LONG else text[:_LONG] + "…"


def html_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A plain table of texts."""
    cells = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(c)}</td>' for c in row) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{body}</table>"

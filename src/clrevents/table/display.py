"""How a table displays itself in a notebook, in at most a screenful. Escapes everything that came from a file.

Times are shown as UTC, addresses in hex. Knows columns only by their fields, and no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, Final

from clrevents.decode.payload.columns.column import ColumnType
from clrevents.table.event_schema import TableField
from clrevents.words import safe

_LONG: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def table_html(fields: Sequence[TableField], columns: Sequence[list[Any]], length: int) -> str:
    """The first rows of a table; values as text."""
    texts = [
        [shortened(_text(field.type, field.address, value)) for value in column]
        for field, column in zip(fields, columns, strict=False)
    ]
    rows = list(zip(*texts, strict=True))
    more = f"<p>{length:,} rows</p>"
    return html_table(tuple(field.name for field in fields), rows) + more


def _text(type: ColumnType, address: bool, value: Any) -> str:
    if value is None:
        return str(value)
    if type.kind == "list":
        return f"[{', '.join([_text(type.children[0], address, item) for item in value])}]"
    if type.kind == "timestamp":
        return utc_text(value)
    return hex_text(value) if address else str(value)


def utc_text(ns: int) -> str:
    """Nanoseconds since 1970 as ISO-8601 with all nine digits."""
    seconds, rest = divmod(ns, 10**9)
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def hex_text(value: Any) -> str:
    """An address, or a list of them, in hex."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(hex_text, value))}]"
    return f"{value:#x}" if isinstance(value, int) else str(value)


def shortened(text: str) -> str:
    """At most two hundred characters."""
    return text if len(text) <= _LONG else text[:_LONG] + "…"


def html_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A plain table of texts."""
    cells = "".join(f"<th>{escape(safe(h))}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(safe(c))}</td>' for c in row) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{body}</table>"

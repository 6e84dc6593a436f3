"""How a table displays itself in a notebook, in at most a screenful. Escapes everything that came from a file.

Times are shown as UTC, addresses in hex. Knows columns only by their fields, and no event.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from clrevents._util.notebook_views import framed_html, html_table, shortened
from clrevents._util.words import counted, safe
from clrevents.decode.payload.column import ColumnType
from clrevents.table.event_schema import TableField

LINES: Final = 25
"""The number of lines that a repr may have."""
WIDTH: Final = 100
"""The width of those lines."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def table_html(fields: Sequence[TableField], columns: Sequence[list[Any]], length: int) -> str:
    """The first rows of a table; values as text."""
    texts = [
        [shortened(_text(field.type, field.address, value)) for value in column]
        for field, column in zip(fields, columns, strict=False)
    ]
    rows = list(zip(*texts, strict=True))
    more = f"<p>{counted(length, 'row')}</p>"
    whole = html_table(tuple(field.name for field in fields), rows) + more
    return framed_html(whole, lambda: table_text("", fields, length))


def table_text(what: str, fields: Sequence[TableField], length: int) -> str:
    """The repr of a table: its columns."""
    lines = [f"<Table{' of ' + what if what else ''}, {counted(length, 'row')}>"]
    lines += [f"  {field.name}: {field.type}" for field in fields]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"  {LINES - 2} of {counted(len(fields), 'column')}"]
    return "\n".join(fitted(safe(line)) for line in lines)


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


def fitted(line: str) -> str:
    """A line that is at most `WIDTH` wide."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def screen_lines(text: str) -> int:
    """How many lines a text takes in a terminal of width `WIDTH`."""
    return sum(max(-(-len(line) // WIDTH), 1) for line in text.split("\n"))


def text_rows(head: Sequence[str], rows: Sequence[Sequence[str]], whole: int, what: str, room: int) -> list[str]:
    """Lines of a table for people that is part of a repr: as many rows as there is room for.

    The last column holds texts, the others hold numbers. `whole` is the number of all rows, which `what` names.
    """
    shown = list(rows[: room - 1 if whole <= room - 1 else room - 2])
    texts = [list(map(safe, line)) for line in (head, *shown)]
    widths = [max(len(line[i]) for line in texts) for i in range(len(head) - 1)]
    lines = []
    for line in texts:
        numbers = [text.rjust(width) for text, width in zip(line, widths, strict=False)]
        lines.append(fitted("  " + "  ".join([*numbers, line[-1]])))
    if len(shown) < whole:
        lines.append(f"  {len(shown):,} of {whole:,} {what}")
    return lines

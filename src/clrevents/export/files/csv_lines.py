"""Rows → lines of CSV, for files, SQL and reports alike. Cells are text, numbers or None; knows no table.

Every line ending inside a cell is quoted, and if asked no text is a formula.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from clrevents._util.words import is_seen

_END: Final = "\r\n"
_FORMULA: Final = frozenset("=+-@\u2212")


def csv_lines(rows: Iterable[Iterable[Any]], spreadsheet: bool = False) -> list[str]:
    """The lines without their newlines; None is an empty cell.

    With `spreadsheet`, a text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    if spreadsheet:
        rows = ([_guarded(cell) for cell in row] for row in rows)
    lines = _Lines()
    # The end of lines decides what is quoted: a lone carriage return too, which some readers take for an end.
    csv.writer(lines, lineterminator=_END).writerows(rows)
    return [line[: -len(_END)] for line in lines]


class _Lines(list[str]):
    """What csv writes each row to."""

    write = list.append


def _guarded(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and _may_be_formula(cell) else cell


def _may_be_formula(text: str) -> bool:
    """Whether it begins like one for any spreadsheet: some skip invisible characters, and take full-width signs."""
    if text.startswith(("\t", "\r", "\n")):
        return True
    for char in text:
        if is_seen(char) and not char.isspace():
            return unicodedata.normalize("NFKC", char)[0] in _FORMULA
    return False

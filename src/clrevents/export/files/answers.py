"""Results of SQL → rows of JSON values; and rows → lines of JSON and CSV. Knows no trace; reads duckdb through Arrow.

Integers stay integers of any size; bytes are hex, times ISO 8601, and values without a JSON form are text.
"""

from __future__ import annotations

import csv
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from clrevents._util.words import is_seen
from clrevents.export.files.json_pieces import finite, json_text
from clrevents.table.table import needed

_ROWS: Final = 1 << 14
_NUMBER: Final = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)")

_END: Final = "\r\n"
_FORMULA: Final = frozenset("=+-@\u2212")


def sql_errors() -> type[Exception]:
    """The exception duckdb raises for SQL that it cannot run. Raises ImportError without duckdb."""
    error: type[Exception] = needed("duckdb", "query", "SQL").Error
    return error


def answer_columns(relation: Any) -> list[str]:
    """The columns' names; a repeated name gets a number."""
    names: list[str] = []
    for plain in relation.columns:
        name, number = plain, 2
        while name in names:
            name, number = f"{plain} ({number})", number + 1
        names.append(name)
    return names


def number_columns(relation: Any) -> list[bool]:
    """Whether each column holds numbers."""
    return [_NUMBER.fullmatch(str(type)) is not None for type in relation.types]


def answer_rows(relation: Any) -> Iterator[Sequence[object]]:
    """Iterate over the rows, fetching as many at a time as fit into little memory."""
    # The newer of the two names is missing in old versions, and the older one will be removed.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    for batch in read(_ROWS):
        yield from zip(*map(_values, batch.columns), strict=True)


def json_line(columns: Sequence[str], row: Sequence[object]) -> str:
    """A row as a JSON object on one line."""
    return json_text(dict(zip(columns, row, strict=True)))


def csv_line(row: Sequence[object], spreadsheet: bool = False) -> str:
    """A row of CSV without its newline: null is an empty field, lists and structs are JSON.

    With `spreadsheet`, no text is a formula.
    """
    (line,) = csv_lines([[_csv_cell(value) for value in row]], spreadsheet)
    return line


def _csv_cell(value: object) -> object:
    """Numbers stay numbers, so that a negative one is not taken for a formula."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if value is None or number else as_text(value)


def as_text(value: object) -> str:
    """A non-null value as text."""
    return value if isinstance(value, str) else json_text(value)


def _values(array: Any) -> Sequence[object]:
    """The values of an Arrow array."""
    types = needed("pyarrow.types", "query", "SQL")
    type = array.type
    if types.is_dictionary(type):
        return _values(array.dictionary_decode())
    if types.is_timestamp(type):
        return _times(array)
    if types.is_struct(type):
        names = [type.field(i).name for i in range(type.num_fields)]
        valid = array.is_valid().to_pylist()
        rows = zip(*map(_values, array.flatten()), strict=True) if names else itertools.repeat((), len(valid))
        return [dict(zip(names, row, strict=True)) if good else None for good, row in zip(valid, rows, strict=True)]
    if types.is_map(type):
        return [None if not item.is_valid else _pairs(_values(item.values)) for item in array]
    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        return [None if not item.is_valid else _values(item.values) for item in array]
    values: list[object] = array.to_pylist()
    if types.is_boolean(type) or types.is_integer(type) or types.is_string(type) or types.is_large_string(type):
        return values
    return [None if value is None else _plain(value) for value in values]


def _times(array: Any) -> list[str | None]:
    """With all digits of the type, including nanoseconds, for which Python has no type."""
    end = "Z" if array.type.tz else ""
    numbers: list[int | None] = array.cast("int64").to_pylist()
    return [None if number is None else f"{np.datetime64(number, array.type.unit)}{end}" for number in numbers]


def _pairs(items: Sequence[Any]) -> dict[str, object]:
    return {as_text(item["key"]): item["value"] for item in items}


def _plain(value: Any) -> object:
    match value:
        case float():
            return finite(value)
        case Decimal():
            # Sums of integers have this width; a fraction becomes a number if that loses nothing.
            if value.as_tuple().exponent == 0:
                return int(value)
            return float(value) if Decimal(repr(float(value))) == value else str(value)
        case bytes():
            return value.hex()
        case _ if hasattr(value, "nanoseconds"):
            seconds = Decimal(value.nanoseconds) / 10**9
            return f"P{value.months}M{value.days}DT{seconds.normalize():f}S"
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def csv_lines(rows: Iterable[Iterable[object]], spreadsheet: bool = False) -> list[str]:
    """The lines without their newlines; None is an empty cell.

    With `spreadsheet`, a text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    if spreadsheet:
        rows = ([f"'{x}" if isinstance(x, str) and _may_be_formula(x) else x for x in row] for row in rows)
    lines = _Lines()
    # The end of lines decides what is quoted: a lone carriage return too, which some readers take for an end.
    csv.writer(lines, lineterminator=_END).writerows(rows)
    return [line[: -len(_END)] for line in lines]


class _Lines(list[str]):
    """What csv writes each row to."""

    write = list.append


def _may_be_formula(text: str) -> bool:
    """Whether it begins like one for any spreadsheet: some skip invisible characters, and take full-width signs."""
    if text.startswith(("\t", "\r", "\n")):
        return True
    for char in text:
        if is_seen(char) and not char.isspace():
            return unicodedata.normalize("NFKC", char)[0] in _FORMULA
    return False

"""A value → JSON: on one line, or the text that `json.dumps(…, indent=2)` returns, piece by piece: an answer may have
millions of rows.

Arrays may be iterators, which are asked for one item at a time, or for a few rows. Knows nothing of reports.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, groupby
from typing import Final

_INDENT: Final = "  "
_PLAIN: Final = frozenset((int, float, str, bool, type(None)))
json_text: Final = json.JSONEncoder(ensure_ascii=True, check_circular=False, allow_nan=False).encode
"""A value that contains nothing twice, on one line."""
_ROWS: Final = 64
"""How many rows are encoded at once: a call for each would double the time."""


def finite(value: float | None) -> float | str | None:
    """NaN and the infinities as text: JSON has no numbers for them."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def json_pieces(value: object, depth: int = 0) -> Iterator[str]:
    """The text in ASCII; keys are texts. Raises ValueError for a number that JSON does not have."""
    if isinstance(value, dict):
        if _is_row(value):
            yield _whole(value, depth)
        else:
            yield from _filled("{", _members(value, depth), "}", depth)
    elif isinstance(value, (list, tuple)) and value and _PLAIN.issuperset(map(type, value)):
        yield _whole(value, depth)
    elif isinstance(value, (list, tuple, Iterator)):
        yield from _filled("[", _elements(value, depth + 1), "]", depth)
    else:
        yield _text(value)


def _is_row(value: object) -> bool:
    """Whether it is an object of plain values only."""
    return isinstance(value, dict) and bool(value) and _PLAIN.issuperset(map(type, value.values()))


def _elements(values: Iterable[object], depth: int) -> Iterator[Iterable[str]]:
    """Elements of an array, rows that follow each other together."""
    rows: list[object] = []
    for value in values:
        if _is_row(value):
            rows.append(value)
            if len(rows) < _ROWS:
                continue
            yield (_together(rows, depth),)
            rows = []
        else:
            if rows:
                yield (_together(rows, depth),)
                rows = []
            yield json_pieces(value, depth)
    if rows:
        yield (_together(rows, depth),)


def _together(rows: list[object], depth: int) -> str:
    """The text of some rows: encoded texts have no line breaks, so that none looks like what is between two rows."""
    inner, outer = f"\n{_INDENT * (depth + 1)}", f"\n{_INDENT * depth}"
    text = _encoder(depth)(rows)[2:-2].replace(f"}},{inner}{{", f"{outer}}},{outer}{{{inner}")
    return f"{{{inner}{text}{outer}}}"


def _filled(begin: str, members: Iterable[Iterable[str]], end: str, depth: int) -> Iterator[str]:
    before = begin
    for pieces in members:
        yield f"{before}\n{_INDENT * (depth + 1)}"
        yield from pieces
        before = ","
    yield f"\n{_INDENT * depth}{end}" if before == "," else f"{begin}{end}"


def _members(value: dict[str, object], depth: int) -> Iterator[Iterable[str]]:
    """Members of a dict, those that are plain together."""
    for plain, run in groupby(value.items(), lambda member: type(member[1]) in _PLAIN):
        if plain:
            yield (_encoder(depth)(dict(run))[1:-1],)
        else:
            for key, inner in run:
                yield chain((f"{_text(key)}: ",), json_pieces(inner, depth + 1))


def _whole(value: object, depth: int) -> str:
    """What has plain values only: by the encoder that is not written in Python, which knows separators but no depth."""
    text = _encoder(depth)(value)
    return f"{text[0]}\n{_INDENT * (depth + 1)}{text[1:-1]}\n{_INDENT * depth}{text[-1]}"


_text: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


@cache
def _encoder(depth: int) -> Callable[[object], str]:
    separators = f",\n{_INDENT * (depth + 1)}", ": "
    return json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=separators).encode

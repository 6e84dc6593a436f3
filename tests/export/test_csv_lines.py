"""Lines of CSV: whatever a text holds, a reader finds the same cells, and no formulas if asked."""

from __future__ import annotations

import csv
import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from clrevents.export.files.answers import csv_lines

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.text("=+-@\t\r\n,\"' a")
SIGNS = "=+-@\u2212\uff1d\uff0b\uff0d\uff20\ufe66\ufe63\ufe62\ufe6b"
"""Also full-width and small ones."""
BEFORE = st.text("\u200b\u200d\u2060\ufeff\u00ad\U000e0020\U000e0041\ufe0f\u3164\x00 \u3000\t\r\n", max_size=3)
"""What nobody sees."""


def read(lines: list[str]) -> list[list[str]]:
    return list(csv.reader(io.StringIO("".join(f"{line}\n" for line in lines), newline="")))


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=3), max_size=4))
def test_cells_are_found_again(rows: list[list[str]]) -> None:
    assert read(csv_lines(rows)) == rows


@given(st.lists(TEXTS | st.tuples(BEFORE, st.sampled_from(SIGNS), TEXTS).map("".join), min_size=2))
def test_no_text_is_a_formula(row: list[str]) -> None:
    row = [text.replace("\0", "") for text in row]
    (found,) = read(csv_lines([row], spreadsheet=True))
    for cell, text in zip(found, row, strict=True):
        begins = "".join(c for c in text if unicodedata.category(c)[0] not in "CZ" and c not in "\ufe0f\u3164")[:1]
        if text[:1] in tuple("\t\r\n") or begins in tuple(SIGNS):
            assert cell == f"'{text}"
    assert [cell.removeprefix("'") for cell in found] == [cell.removeprefix("'") for cell in row]


def test_numbers_and_nothing_stay() -> None:
    assert csv_lines([[-1, -1.5, None, "", "-1"]], spreadsheet=True) == ["-1,-1.5,,,'-1"]
    assert csv_lines([["a\rb", "a\nb", 'a"b']]) == ['"a\rb","a\nb","a""b"']

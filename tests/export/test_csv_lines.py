"""Lines of CSV: whatever a text holds, a reader finds the same cells, and no formulas if asked."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from clrevents.export.files.csv_lines import csv_lines

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.text("=+-@\t\r\n,\"' a")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def read(lines: list[str]) -> list[list[str]]:
    return list(csv.reader(io.StringIO("".join(f"{line}\n" for line in lines), newline="")))


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=3), max_size=4))
def test_cells_are_found_again(rows: list[list[str]]) -> None:
    assert read(csv_lines(rows)) == rows


@given(st.lists(TEXTS, min_size=2))
def test_no_text_is_a_formula(row: list[str]) -> None:
    (found,) = read(csv_lines([row], spreadsheet=True))
    assert not [cell for cell in found if cell.startswith(FORMULAS)]
    assert [cell.removeprefix("'") for cell in found] == [cell.removeprefix("'") for cell in row]


def test_numbers_and_nothing_stay() -> None:
    assert csv_lines([[-1, -1.5, None, "", "-1"]], spreadsheet=True) == ["-1,-1.5,,,'-1"]
    assert csv_lines([["a\rb", "a\nb", 'a"b']]) == ['"a\rb","a\nb","a""b"']

"""Long tuples, records and tables show as much as fits, and say what they leave out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from clrevents.schema.event import record_text, value_text
from clrevents.table.display import fitted, screen_lines, text_rows
from clrevents.table.table import Listed, Table, TableField, number_column


def test_a_short_tuple_is_as_always() -> None:
    listed = Listed([1, 2])
    assert repr(listed) == "(1, 2)"
    assert repr(Listed()) == "()"
    assert listed == (1, 2)
    assert hash(listed) == hash((1, 2))
    assert isinstance(listed, tuple)
    assert pickle.loads(pickle.dumps(listed)) == listed


def test_a_long_tuple_shows_its_first_items() -> None:
    lines = repr(Listed("x" * 150 for _ in range(312))).split("\n")
    assert lines[0] == "<312 items>"
    assert lines[1] == f"  '{'x' * 96}…"
    assert lines[-1] == "  20 of 312 items"
    assert (len(lines), max(map(len, lines))) == (22, 100)
    # All are shown, cut to one line each.
    assert repr(Listed(["y" * 3000])).split("\n") == ["<1 item>", f"  '{'y' * 96}…"]


def test_records_show_the_beginning_of_what_is_long() -> None:
    assert record_text("GCStart", [("Count", 3), ("Name", "a\n")]) == "GCStart(Count=3, Name='a\\n')"
    assert value_text(list(range(10))) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    assert value_text(list(range(978))) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 10 of 978]"
    assert value_text("z" * 1000) == f"'{'z' * 1000}'"
    assert value_text(b"z" * 65000) == f"b'{'z' * 1000}'… 1,000 of 65,000"
    assert value_text({"a": "z" * 1001}) == f"{{'a': '{'z' * 1000}'… 1,000 of 1,001}}"
    long = record_text("n" * 100, [(f"Field{i}", "v" * 900) for i in range(99)])
    assert len(long) == 80 + 1 + 2200 + 3
    assert long.endswith("vvv …)")


def test_a_table_of_many_columns() -> None:
    fields = tuple(TableField(f"c{i}", number_column("int64", np.zeros(1)).type) for i in range(60))
    lines = repr(Table(fields, ())).split("\n")
    assert (len(lines), lines[0], lines[1], lines[-1]) == (25, "<Table, 0 rows>", "  c0: int64", "  23 of 60 columns")
    assert len(repr(Table(fields[:24], ())).split("\n")) == 25
    assert repr(Table(fields[:24], ())).endswith("  c23: int64")


def test_a_table_that_would_be_too_large_for_a_notebook_shows_its_columns() -> None:
    fields = tuple(TableField(f"c<{i}>" * 40, number_column("int64", np.zeros(1)).type) for i in range(400))
    html = Table(fields, ())._repr_html_()
    assert html.startswith("<pre>&lt;Table, 0 rows&gt;\n  c&lt;0&gt;c")
    assert html.endswith("  23 of 400 columns</pre>")
    assert len(html.encode()) < 50_000


@pytest.mark.parametrize(
    ("text", "lines"), [("", 1), ("a", 1), ("a" * 100, 1), ("a" * 101, 2), ("\n", 2), ("a" * 250 + "\nb", 4)]
)
def test_lines_of_a_screen(text: str, lines: int) -> None:
    assert screen_lines(text) == lines


def test_lines_of_a_table() -> None:
    rows = [("1", "a"), ("20", "b\x1b[2J"), ("3", "c" * 200)]
    whole = text_rows(("n", "name"), rows, 3, "rows", 4)
    assert whole == ["   n  name", "   1  a", "  20  b\\x1b[2J", f"   3  {'c' * 93}…"]
    assert text_rows(("n", "name"), rows, 3, "rows", 3) == ["  n  name", "  1  a", "  1 of 3 rows"]
    assert fitted("d" * 100) == "d" * 100
    assert fitted("d" * 101) == "d" * 99 + "…"

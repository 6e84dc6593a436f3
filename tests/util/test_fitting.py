"""Text that fits: at any width numbers, units and headings are whole or not there, and what is not there is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents._util.fitting import TextColumn, fitted_table, shortened, text_width, wrapped

NAME = "System.Threading.Tasks.Task.SpinThenBlockingWait(int32,value class CancellationToken)"


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (90, NAME),
        (78, "System.Threading.Tasks.Task.SpinThenBlockingWait(…)"),
        (40, "System.…Task.SpinThenBlockingWait(…)"),
        (30, "…Task.SpinThenBlockingWait(…)"),
        (25, "…SpinThenBlockingWait(…)"),
        (12, "…SpinThenBl…"),
        (1, "…"),
    ],
)
def test_a_name_loses_inner_parts(width: int, text: str) -> None:
    assert shortened(NAME, width, "name") == text


def test_class_and_method_stay_as_long_as_they_fit() -> None:
    for name in (NAME, "System.Collections.Generic.Dictionary<System.Int32, A.B<C>>.Enumerator.MoveNext(ref D.E, int)"):
        kept = "Task.SpinThenBlockingWait(" if name == NAME else "Enumerator.MoveNext("
        assert all(kept in shortened(name, width, "name") for width in range(len(kept) + 3, 100))


def test_other_names_and_texts() -> None:
    path = "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0/System.Private.CoreLib.dll"
    assert shortened(path, 34, "name").endswith("/System.Private.CoreLib.dll")
    assert shortened("  Shop.Orders.Pay(int)", 14, "name") == "  …Pay(…)"
    generic = "System.Collections.Generic.List`1[System.Text.Json.JsonProperty]"
    assert shortened(generic, 56, "name") == "System.Collections.Generic.List`1[JsonProperty]"
    assert shortened(generic, 36, "name") == "System.Collections.Generic.List`1[…]"
    assert shortened(generic, 12, "name") == "…List`1[…]"
    assert shortened("Entry[System.String,System.String][]", 30, "name") == "Entry[String,String][]"
    assert shortened("Box<System.Int32>.Open<System.String>(int)", 20, "name") == "Box<…>.Open<…>(…)"
    assert shortened("a message of a program", 10) == "a message…"
    assert text_width("e\u0301漢字") == 5
    assert shortened("漢字漢字", 5) == "漢字…"


def test_columns_go_by_importance_and_names_give_way() -> None:
    columns = [
        TextColumn("number", ["1", "12"], "number", 2),
        TextColumn("pause", ["1.78 s", "12.2 ms"], "number", 1),
        TextColumn("reason", ["AllocSmall", "Induced"], "word", 3),
        TextColumn("asked by", ["Shop.Orders.Basket.Pay(int)", "a.B"], "name", 0),
    ]
    assert fitted_table(columns, None).lines[1] == "     1   1.78 s  AllocSmall  Shop.Orders.Basket.Pay(int)"
    # No blanks behind the last text of a line.
    assert fitted_table(columns, None).lines[2] == "    12  12.2 ms  Induced     a.B"
    narrow = fitted_table(columns, 36)
    assert narrow.dropped == ("reason",)
    assert narrow.lines[1] == "     1   1.78 s  Shop.…Basket.Pay(…)"
    assert fitted_table(columns, 24).dropped == ("number", "reason")


@st.composite
def tables(draw: st.DrawFn) -> list[TextColumn]:
    rows = draw(st.integers(1, 3))
    made = []
    for place in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["number", "word", "name", "text"]))
        texts = {
            "number": st.sampled_from(["7", "4,711", "12.2 ms", "6.2 GB/s", "<0.01 %", "-"]),
            "word": st.sampled_from(["AllocSmall", "lock", "-"]),
            "name": st.sampled_from([NAME, "a.B", "", "x" * 70, "/a/b/c.dll"]),
            "text": st.text(st.characters(exclude_categories=("C", "Z")), max_size=70),
        }[kind]
        cells = draw(st.lists(texts, min_size=rows, max_size=rows))
        made.append(TextColumn(f"title {place}", cells, kind, draw(st.integers(0, 3))))
    return made


@given(tables(), st.integers(12, 130))
def test_nothing_is_broken_at_any_width(columns: list[TextColumn], width: int) -> None:
    fitted = fitted_table(columns, width)
    assert all(text_width(line) <= width for line in fitted.lines)
    head, *rows = fitted.lines
    gone = [*fitted.dropped, *(text[: len("title 0")] for text in fitted.same)]
    kept = [column for column in columns if column.title not in gone]
    assert [title for title in (c.title for c in columns) if title in head] == [c.title for c in kept]
    if len(kept) > 1 or kept[0].kind in ("number", "word"):
        for place, row in enumerate(rows):
            for column in kept:
                if column.kind in ("number", "word"):
                    assert column.cells[place] in row
    # Nothing goes that is more important than something that stays, and nothing that tells rows apart before others.
    told = [column for column in kept if len(set(column.cells)) > 1]
    ranks = [column.rank for column in columns if column.title in fitted.dropped]
    assert not ranks or min(ranks) >= max((column.rank for column in told), default=0) or len(told) == 1
    assert not fitted.dropped or len(told) in (0, len(kept)) or len(rows) == 1


def test_what_is_the_same_in_each_row_gives_way_and_overloads_stay_apart() -> None:
    names = ["System.Array.Copy(Array, Array, int)", "System.Array.Copy(Array, int, Array, int, int)"]
    columns = [
        TextColumn("share", ["3.17 %", "0.62 %"], "number", 0),
        TextColumn("nested", ["0", "0"], "number", 1),
        TextColumn("name", names, "name", 0),
    ]
    assert fitted_table(columns, 62).same == ()
    narrow = fitted_table(columns, 44)
    assert (narrow.dropped, narrow.same) == ((), ("nested 0",))
    assert narrow.lines[1:] == ("3.17 %  System.Array.Copy(Array, Array, int)", "0.62 %  System.Array.Copy(…)")
    assert fitted_table(columns[2:], 22).lines[1:] == ("System.Array.Copy(…)",) * 2
    assert narrow.not_shown() == ["the same in each row: nested 0"]


def test_three_names_stay_beside_one_another_before_one_goes() -> None:
    """Of a real program, at 120 columns; at 80 there is no room for the classes and methods of all."""
    columns = [
        TextColumn("thrown", ["19"], "number"),
        TextColumn("dispatch", ["3.41 ms"], "number", 2),
        TextColumn("type", ["System.BadImageFormatException"], "name"),
        TextColumn("throwing", ["System.Reflection.PortableExecutable.PEHeaders..ctor(Stream, int, bool)"], "name"),
        TextColumn("catching", ["System.Diagnostics.FileVersionInfo.TryLoadManagedAssemblyMetadata()"], "name", 2),
    ]
    assert fitted_table(columns, 120).lines[1].split()[-2:] == [
        "System.…PEHeaders..ctor(…)",
        "…TryLoadManagedAssemblyMetadata()",
    ]
    assert fitted_table(columns, 80).dropped == ("catching",)


def test_sentences_break_between_words_and_numbers_keep_their_units() -> None:
    text = "4 threads waited in turn for 338.2 ms and held 5.8 GB, at 3.2 MB/s, for 12 % of the time"
    for width in range(14, 100):
        lines = wrapped(text, width, 2)
        assert all(len(line) <= width for line in lines)
        assert " ".join(line.strip() for line in lines) == text
        assert all(any(whole in line for line in lines) for whole in ("338.2 ms", "5.8 GB", "3.2 MB/s", "12 %"))
    assert wrapped(text, None) == [text]

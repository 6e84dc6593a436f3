"""Texts of counters: what is read, what is refused, and what is ambiguous."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.reports.counters.counter_values import (
    EMPTY,
    INFINITE,
    NOT_A_NUMBER,
    NUMBER,
    UNREADABLE,
    Tags,
    read_number,
    read_quantiles,
    split_tags,
)

SAFE = st.text(st.characters(exclude_characters=",=", exclude_categories=("Cs",)), max_size=8)
ANY = st.text(st.sampled_from("a=,:/ "), max_size=6)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_it_was_written(number: float) -> None:
    assert read_number(repr(number)) == (number, NUMBER)
    assert read_number(f"{number:.17E}") == (number, NUMBER)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", EMPTY),
        ("NaN", NOT_A_NUMBER),
        ("Infinity", INFINITE),
        ("-∞", INFINITE),
        ("1E+999", INFINITE),
        # In other cultures, or what Python takes for a number and .NET never writes.
        ("1,5", UNREADABLE),
        ("1.234,5", UNREADABLE),
        ("1 234", UNREADABLE),
        ("1_000", UNREADABLE),
        (" 1", UNREADABLE),
        ("nan", UNREADABLE),
        ("inf", UNREADABLE),
        ("0x10", UNREADABLE),
        ("١", UNREADABLE),
        ("1\n", UNREADABLE),
        ("9" * 1000, UNREADABLE),
    ],
)
def test_what_is_no_number_has_a_reason(text: str, reason: int) -> None:
    number, found = read_number(text)
    assert found == reason
    assert math.isnan(number)


def test_quantiles() -> None:
    assert read_quantiles("0.5=0.24;0.95=0.46") == (((0.5, 0.24, NUMBER), (0.95, 0.46, NUMBER)), True)
    assert read_quantiles("") == ((), True)
    # Each is a series with all tags of the histogram.
    pieces, whole = read_quantiles(";".join(f"0.{n}=1" for n in range(10, 26)))
    assert (len(pieces), whole) == (16, True)
    pieces, whole = read_quantiles(";".join(f"0.{n}=1" for n in range(10, 27)))
    assert ([piece[0] for piece in pieces], whole) == ([n / 100 for n in range(10, 26)], False)
    pieces, whole = read_quantiles("0.5=NaN;0,95=0,46;0.99")
    assert [(piece[0], piece[2]) for piece in pieces] == [(0.5, NOT_A_NUMBER)]
    assert not whole
    assert read_quantiles("1.5=3") == ((), False)


@given(st.lists(st.tuples(SAFE, SAFE), max_size=5))
def test_tags_without_separators_in_them_are_split_as_they_were_joined(pairs: list[tuple[str, str]]) -> None:
    names, values = tuple(name for name, _ in pairs), tuple(value for _, value in pairs)
    assert split_tags(Tags(names, values).joined()) == Tags(names, values)


@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=4))
def test_other_tags_are_split_right_or_said_to_be_ambiguous(pairs: list[tuple[str, str]]) -> None:
    """Unless their text is that of other tags, which nobody can tell from them."""
    names, values = tuple(name for name, _ in pairs), tuple(value for _, value in pairs)
    text = Tags(names, values).joined()
    found = split_tags(text)
    assert found is not None, "tags have a separator"
    assert found.joined() == text
    clean = not any(set(part) & set(",=") for part in (*found.names, *found.values))
    assert found.ambiguous == (not clean)
    assert (found.names, found.values) == (names, values) or found.ambiguous or clean


@pytest.mark.parametrize(
    ("text", "separator", "wanted"),
    [
        ("ro,ute=/a=0", "=", Tags(("ro,ute",), ("/a=0",), True)),
        ("a=1,2,b=3", "=", Tags(("a", "b"), ("1,2", "3"), True)),
        ("a=", "=", Tags(("a",), ("",))),
        ("k:v,l:w", ":", Tags(("k", "l"), ("v", "w"))),
        ("k:v", "=", None),
        (",", "=", None),
    ],
)
def test_examples_of_tags(text: str, separator: str, wanted: Tags | None) -> None:
    assert split_tags(text, separator) == wanted


def test_tags_with_very_many_commas_are_not_split() -> None:
    assert split_tags("," * 255 + "=") == Tags(("," * 255,), ("",), True)
    found = split_tags("=" + "," * 255)
    assert found is not None
    assert len(found.values[0]) == 255
    for text in ("," * 256 + "=", "=" + "," * 256, "a=1," * 257, "," * 1_000_000 + "="):
        assert split_tags(text) is None

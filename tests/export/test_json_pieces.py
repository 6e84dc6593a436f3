"""Text that is made piece by piece, against what the standard library makes at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.export.files.json_pieces import json_pieces

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


def as_iterators(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_iterators(inner) for key, inner in value.items()}
    return map(as_iterators, value) if isinstance(value, (list, tuple)) else value


@given(values)
def test_the_same_text(value: Any) -> None:
    wanted = json.dumps(value, indent=2)
    assert "".join(json_pieces(value)) == wanted
    assert "".join(json_pieces(as_iterators(value))) == wanted


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}, {"a": [1, {}, float("nan")]}])
def test_numbers_that_json_does_not_have(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        list(json_pieces(value))


def test_rows_are_asked_for_one_at_a_time() -> None:
    asked = []

    def rows() -> Any:
        for number in range(10):
            asked.append(number)
            yield {"a": number, "b": [number], "c": None}

    pieces = json_pieces({"rows": rows()})
    text = ""
    while '"a": 3' not in text:
        text += next(pieces)
    assert asked == [0, 1, 2, 3]


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_plain_rows_are_written_some_at_a_time(count: int) -> None:
    asked = []

    def rows() -> Any:
        for number in range(count):
            asked.append(number)
            # What looks like the text between two rows.
            yield {"a": number, "b": '},\n    {"', "c": "},\n      {"}
        yield from ([], {}, {"a": []}, {"a": 1}, [1, 2], 3, {"a": None})

    wanted = json.dumps({"rows": [{"x": list(rows())}]}, indent=2)
    asked.clear()
    pieces = json_pieces({"rows": [{"x": rows()}]})
    text = ""
    while '"a": 0' not in text:
        text += next(pieces)
    assert len(asked) <= 64
    assert text + "".join(pieces) == wanted

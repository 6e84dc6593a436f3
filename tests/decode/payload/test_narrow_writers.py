"""Booleans of 1 byte and decimals as doubles, where 4 and 16 are described: what was written is what is read.

Both ways of writing the same values, with texts and numbers around them, are told apart by the bytes.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.schema.codes import TypeCode
from clrevents.testing.builder import TraceBuilder

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=8)
FIELDS = st.lists(
    st.one_of(
        st.tuples(st.just(TypeCode.BOOLEAN), st.booleans()),
        st.tuples(st.just(TypeCode.INT32), st.integers(0, 1000)),
        st.tuples(st.just(TypeCode.STRING), TEXTS),
    ),
    min_size=1,
    max_size=5,
)


def written(code: int, value: Any, narrow: bool) -> bytes:
    if code == TypeCode.BOOLEAN:
        return struct.pack("<?" if narrow else "<i", value)
    return struct.pack("<i", value) if code == TypeCode.INT32 else value.encode("utf-16-le") + bytes(2)


@given(fields=FIELDS, narrow=st.booleans())
def test_as_written(fields: list[tuple[int, Any]], narrow: bool) -> None:
    """Fields end with a text, as one that is empty would make several readings fit."""
    fields = [*fields, (TypeCode.STRING, "end")]
    described = {f"F{n}": (code, value) for n, (code, value) in enumerate(fields)}
    payload = b"".join(written(code, value, narrow) for code, value in fields)
    builder = TraceBuilder().described("P", "E", described)
    # The same description, with a payload of its own.
    builder._events[0] = dataclasses.replace(builder._events[0], payload=payload)
    with clrevents.open(builder.build()) as trace:
        (event,) = trace.events()
        assert [getattr(event.payload, f"F{n}") for n in range(len(fields))] == [value for _, value in fields]
        assert trace.check().ok
        table = trace.table("P/E")
        assert [table[f"F{n}"].tolist() for n in range(len(fields))] == [[value] for _, value in fields]


@given(rows=st.lists(st.tuples(st.booleans(), st.text("abc", max_size=8)), min_size=2, max_size=6))
def test_both_ways_of_writing_in_one_trace(rows: list[tuple[bool, str]]) -> None:
    """Most of the narrow ones could be wide ones with a shorter text; columns read each as its record does."""
    described = {"A": (TypeCode.BOOLEAN, True), "B": (TypeCode.BOOLEAN, False), "Text": (TypeCode.STRING, "")}
    builder = TraceBuilder()
    for number, (narrow, text) in enumerate(rows):
        values = ((TypeCode.BOOLEAN, True), (TypeCode.BOOLEAN, False), (TypeCode.STRING, text))
        payload = b"".join(written(*value, narrow) for value in values)
        builder.described("P", "E", described)
        builder._events[number] = dataclasses.replace(builder._events[number], payload=payload)
    with clrevents.open(builder.build()) as trace:
        records = [(event.payload.A, event.payload.B, event.payload.Text) for event in trace.events()]
        table = trace.table("P/E")
        assert sorted(zip(*(table[name].tolist() for name in described), strict=True)) == sorted(records)
        assert records == [(True, False, text) for _, text in rows]

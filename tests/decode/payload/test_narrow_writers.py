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


def written(code: int, value: Any, narrow: bool) -> bytes:
    if code == TypeCode.BOOLEAN:
        return struct.pack("<?" if narrow else "<i", value)
    return struct.pack("<i", value) if code == TypeCode.INT32 else value.encode("utf-16-le") + bytes(2)


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

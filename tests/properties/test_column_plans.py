"""Columns agree with the reference codec on every registered layout, at both pointer sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clrevents.decode.payload.column import column_type
from clrevents.decode.payload.column_maker import plan
from clrevents.reference import codec
from clrevents.schema.registry import EventInfo
from clrevents.testing.strategies import records
from properties.test_three_decoders import EACH
from tabular import fields, same, shown


def starts_and_ends(payloads: list[bytes], gap: int) -> tuple[bytes, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Payloads in one buffer with other bytes between them, and where each one is."""
    buf, starts, ends = b"", [], []
    for payload in payloads:
        buf += b"\xfe" * gap
        starts.append(len(buf))
        buf += payload
        ends.append(len(buf))
    return buf + b"\xfe" * 3, np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


@EACH
@settings(max_examples=max(1, settings().max_examples // 3))
@given(data=st.data(), gap=st.integers(0, 5))
def test_columns_equal_the_reference(info: EventInfo, size: int, data: st.DataObject, gap: int) -> None:
    reference = codec(info.record, size)
    drawn = data.draw(st.lists(records(info.record, size), max_size=4))
    buf, starts, ends = starts_and_ends([reference.build(record) for record in drawn], gap)
    layout = info.layout.bind(size)
    made = plan(layout)
    assert made is not None, f"{info.record.__name__} has no plan"
    found = made.find(buf, starts, ends)
    assert found.fits
    assert found.stops.tolist() == ends.tolist()
    for field, build in zip(layout.fields, made.builders, strict=True):
        column = build(found)
        assert column.type == column_type(field.type)
        wanted = [shown(fields(record)[field.name]) for record in drawn]
        assert same(column.tolist(), wanted), field
        rows = np.arange(len(drawn) - 1, -1, -1)
        assert same(column.take(rows).tolist(), wanted[::-1])
        assert same(column.slice(0, len(drawn) // 2).tolist(), wanted[: len(drawn) // 2])


@EACH
@settings(max_examples=1)
@given(data=st.data())
def test_every_truncation_is_seen(info: EventInfo, size: int, data: st.DataObject) -> None:
    """Cut at every byte, a payload does not fit, and nothing behind it is read."""
    payload = codec(info.record, size).build(data.draw(records(info.record, size)))
    made = plan(info.layout.bind(size))
    assert made is not None
    for cut in range(len(payload)):
        found = made.find(payload, np.array([0]), np.array([cut]))
        assert not found.fits

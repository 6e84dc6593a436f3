"""What a notebook shows of tables and events: times as UTC, addresses in hex, amounts and counts as they are."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Annotated

import pytest

import clrevents
from clrevents.decode.payload.column import ColumnType, from_values
from clrevents.decode.payload.record_decoder import TextCache, record_decoder
from clrevents.events import GCPerHeapHistory_V3, MethodLoadVerbose_V1
from clrevents.export.files.jsonl import EventJson
from clrevents.reference import codec
from clrevents.table.event_schema import payload_fields
from clrevents.table.table import Table
from clrevents.testing.builder import TraceBuilder
from clrevents.types import Counted, FileTime, Pointer, Registry, Time, UInt32, by, event

STARTED = datetime(2026, 1, 31, 14, 3, 22, 123456, tzinfo=UTC)
TICKS = 133_000_000_000_000_001
MOMENT = "2022-06-18T04:26:40.0000001Z"
OURS = Registry()


@event("Tests", id=1, version=0, registry=OURS)
class Seen_V0:
    """Moments and addresses, alone and several."""

    When: Time
    Where: Pointer
    SizeBefore: Pointer
    Count: UInt32
    Times: Annotated[Counted[Time], by("Count")]
    Places: Annotated[Counted[Pointer], by("Count")]


SEEN = Seen_V0(FileTime(TICKS), 0x7F00_0000_1000, 4096, 2, (FileTime(TICKS), FileTime(2**64 - 1)), (16, 255))


def cells(html: str) -> list[list[str]]:
    rows = re.findall("<tr>(.*?)</tr>", html)
    return [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def seen(count: int) -> clrevents.Trace:
    builder = TraceBuilder(start=STARTED)
    for _ in range(count):
        builder.event(SEEN)
    return clrevents.open(builder.build(), registry=OURS)


def test_a_table() -> None:
    with seen(1) as trace:
        table = trace.table("Seen")
    head, row = cells(table._repr_html_())
    assert dict(zip(head, row, strict=True)) == {
        "time_ns": "0",
        "time": "2026-01-31T14:03:22.123000000Z",
        "thread_id": "1",
        "stack_id": "0",
        "When": "2022-06-18T04:26:40.000000100Z",
        "Where": "0x7f0000001000",
        "SizeBefore": "4096",
        "Count": "2",
        "Times": "[2022-06-18T04:26:40.000000100Z, None]",
        "Places": "[0x10, 0xff]",
    }


def test_moments_at_the_edges() -> None:
    fields = payload_fields([Seen_V0.__layout__])[:1]
    assert fields[0].type == ColumnType("timestamp")
    ticks = [None, 116_444_736_000_000_000, 116_444_735_999_999_999]
    column = from_values(fields[0].type, ticks)
    assert cells(Table(fields, ((column,),))._repr_html_())[1:] == [
        ["None"],
        ["1970-01-01T00:00:00.000000000Z"],
        ["1969-12-31T23:59:59.999999900Z"],
    ]


def test_which_fields_are_addresses() -> None:
    methods = payload_fields([MethodLoadVerbose_V1.__layout__])
    assert [f.name for f in methods if f.address] == ["MethodStartAddress"]
    # The collector's amounts are as wide as pointers.
    assert [f.name for f in payload_fields([GCPerHeapHistory_V3.__layout__]) if f.address] == []


@pytest.mark.parametrize("count", [1, 200])
def test_a_moment_is_the_same_everywhere(count: int) -> None:
    """One by one, many at once, and by the reference codec: the number with all digits, which prints as a time."""
    with seen(count) as trace:
        events = list(trace.events())
    assert len(events) == count
    bound = Seen_V0.__layout__.bind(8)
    alone, _ = record_decoder(bound, Seen_V0, TextCache())(events[0].payload_bytes, 0, len(events[0].payload_bytes))
    for record in (*(seen.payload for seen in events), alone, codec(Seen_V0, 8).parse(events[0].payload_bytes)):
        assert record == SEEN
        assert {type(record.When), *map(type, record.Times)} == {FileTime}
        assert (record.When, str(record.When)) == (TICKS, MOMENT)
        assert repr(record.When) == f"FileTime({TICKS}, {MOMENT})"
        assert [repr(t) for t in record.Times[1:]] == [f"FileTime({2**64 - 1})"]
    assert codec(Seen_V0, 8).build(SEEN) == events[0].payload_bytes


def test_a_moment_in_json() -> None:
    with seen(1) as trace:
        (event,) = trace.events()
    plain, named = (json.loads(EventJson(names=names).line(event))["payload"] for names in (False, True))
    assert (plain["When"], plain["Times"]) == (TICKS, [TICKS, 2**64 - 1])
    assert (named["When"], named["Times"]) == (MOMENT, [MOMENT, 2**64 - 1])

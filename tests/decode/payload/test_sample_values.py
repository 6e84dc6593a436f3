"""Self-described events of real traces: every primitive type, times to 100 ns, nested objects, arrays and counters.

What the traced program passed to its event source is written down here once more, as its own source says it. And what
the registry knows and a trace describes too must come out alike through either.
"""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

import clrevents
from clrevents.schema.dynamic import Learned
from clrevents.schema.types import FileTime
from project_files import fixture, unpacked
from small_streams import perfview

SAMPLE: Final = "Clrevents-Sample"


def events(name: str, *selectors: str) -> list[clrevents.Event[Any]]:
    """Events of a fixture; nothing but what is told apart here may be wrong with it."""
    with clrevents.open(fixture(name)) as trace:
        return list(trace.events(*selectors))


def file_time(moment: datetime) -> FileTime:
    return FileTime((moment - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10)


ORDINARY: Final = {
    "b": True,
    "u8": 1,
    "i8": -2,
    "i16": -3,
    "u16": 4,
    "i32": -5,
    "u32": 6,
    "i64": -7,
    "u64": 8,
    "f": 1.25,
    "d": -2.5,
    "c": "Z",
    "g": UUID("00112233-4455-6677-8899-aabbccddeeff"),
    "t": file_time(datetime(2024, 2, 29, 12, tzinfo=UTC)),
    "s": "naïve ✓ 😀",
}
EXTREME: Final = {
    "b": False,
    "u8": 255,
    "i8": 127,
    "i16": 32_767,
    "u16": 65_535,
    "i32": -(2**31),
    "u32": 2**32 - 1,
    "i64": -(2**63),
    "u64": 2**64 - 1,
    "f": None,
    "d": math.inf,
    "c": "\0",
    "g": UUID(int=0),
    # The first moment of .NET lies before 1601, where these times begin: the runtime writes 0.
    "t": FileTime(0),
    "s": "",
}


def test_every_primitive_type() -> None:
    ordinary, extreme = (clrevents.asdict(event.payload) for event in events("net8-sample", f"{SAMPLE}/AllTypes"))
    assert ordinary == ORDINARY
    assert list(ordinary) == list(ORDINARY)
    assert math.isnan(extreme["f"])
    assert {**extreme, "f": None} == EXTREME
    for name, value in ORDINARY.items():
        assert type(ordinary[name]) is type(extreme[name]) is type(value), name


def test_a_time_keeps_its_hundred_nanoseconds() -> None:
    first, last = (event.payload.t for event in events("net8-sample", f"{SAMPLE}/AllTypes"))
    assert (first, str(first)) == (133_536_816_000_000_000, "2024-02-29T12:00:00.0000000Z")
    assert first.utc == datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert str(last) == "1601-01-01T00:00:00.0000000Z"


def test_a_time_in_a_real_payload_is_exact_to_the_last_digit() -> None:
    """The trace's own time, with its last digit counted up: no datetime could hold it."""
    data = unpacked(fixture("net8-sample"))
    moment = file_time(datetime(2024, 2, 29, 12, tzinfo=UTC))
    old, new = ((moment + n).to_bytes(8, "little") for n in (0, 7))
    assert data.count(old) == 1
    with clrevents.open(data.replace(old, new)) as trace:
        event = next(trace.events(f"{SAMPLE}/AllTypes"))
    assert (event.payload.t, str(event.payload.t)) == (moment + 7, "2024-02-29T12:00:00.0000007Z")


def test_nested_records_are_proper_values() -> None:
    """Attributes, keys, equality, hash, pickle and plain dicts: as of any other record."""
    first, second, *_ = events("net8-counters", "System.Runtime/EventCounters")
    assert isinstance(first.payload["Payload"], Learned)
    assert first.payload["Payload"]["Name"] == first.payload.Payload.Name == "cpu-usage"
    copy = pickle.loads(pickle.dumps(first.payload))
    assert copy == first.payload
    assert hash(copy) == hash(first.payload)
    assert first.payload != second.payload
    assert clrevents.asdict(first.payload)["Payload"] == clrevents.asdict(first.payload.Payload)


@pytest.mark.shared
def test_arrays_are_tuples_and_arrays_of_chars_text() -> None:
    """Checklist, case 11, which holds the values; here their Python types."""
    with clrevents.open(perfview("dotnetcore5.0-win-x64-arraytypes")) as trace:
        one, two, three = trace.events("TestEventSource0/*")
    assert [type(x) for x in clrevents.asdict(one.payload).values()] == [list, list, int]
    for payload, name, count in ((one.payload, "arg0", 6), (one.payload, "arg1", 5), (two.payload, "arg3", 4)):
        assert isinstance(payload[name], tuple)
        assert len(payload[name]) == count
        assert {type(x) for x in payload[name]} == {int}
    assert isinstance(three.payload.arg0, str)
    assert hash(one.payload) == hash(pickle.loads(pickle.dumps(one.payload)))

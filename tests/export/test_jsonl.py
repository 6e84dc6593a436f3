"""Every wire type as JSON; the object and the line of an event say the same."""

from __future__ import annotations

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Any
from uuid import UUID

import pytest

import clrevents
from clrevents.decode.container.blocks import LabelList
from clrevents.export.files.jsonl import EventJson
from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenEnum, OpenFlag
from clrevents.schema.registry import Registry
from clrevents.schema.types import (
    Boolean,
    Bytes,
    Char,
    Counted,
    CountedUtf8,
    DotNetDecimal,
    Double,
    FileTime,
    Guid,
    Int64,
    Prefixed,
    Time,
    UInt8,
    UInt32,
    UInt64,
    UnicodeString,
    by,
)

OURS = Registry(parent=None)


class Colour(OpenEnum):
    Red = 1


class Rights(OpenFlag):
    Read = 1
    Write = 2


@struct
class Pair:
    """Two things."""

    Key: Guid
    Weight: Double


@event("Tests", id=1, version=0, registry=OURS)
class Everything_V0:
    """One field of each kind."""

    Big: UInt64
    Small: Int64
    Yes: Boolean
    Letter: Char
    When: Time
    Colour: Annotated[Colour, UInt8]
    Rights: Annotated[Rights, UInt32]
    Id: Guid
    Text: UnicodeString
    Utf8: CountedUtf8
    Amount: DotNetDecimal
    Ratio: Double
    Count: UInt32
    Numbers: Annotated[Counted[UInt64], by("Count")]
    Ratios: Annotated[Counted[Double], by("Count")]
    Pairs: Annotated[Counted[Pair], by("Count")]
    Data: Annotated[Bytes, by("Count")]
    Names: Prefixed[UnicodeString]


@event("Tests", id=2, version=0, registry=OURS)
class Nothing_V0:
    """No fields."""


GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
RECORD = Everything_V0(
    Big=2**64 - 1,
    Small=-(2**63),
    Yes=True,
    Letter="\ud83d",
    When=FileTime(132_000_000_000_000_001),
    Colour=Colour(7),
    Rights=Rights(5),
    Id=GUID,
    Text='a"\n\x1b\ud800é',
    Utf8="ü",
    Amount=Decimal("-12.340"),
    Ratio=float("nan"),
    Count=2,
    Numbers=(0, 2**63),
    Ratios=(float("inf"), 0.1),
    Pairs=(Pair(GUID, float("-inf")), Pair(GUID, 1.5)),
    Data=b"\x00\xff",
    Names=("x", "y"),
)
PLAIN = {
    "Big": 18446744073709551615,
    "Small": -9223372036854775808,
    "Yes": True,
    "Letter": "\ud83d",
    "When": 132_000_000_000_000_001,
    "Colour": 7,
    "Rights": 5,
    "Id": "00112233-4455-6677-8899-aabbccddeeff",
    "Text": 'a"\n\x1b\ud800é',
    "Utf8": "ü",
    "Amount": "-12.340",
    "Ratio": "NaN",
    "Count": 2,
    "Numbers": [0, 9223372036854775808],
    "Ratios": ["Infinity", 0.1],
    "Pairs": [
        {"Key": "00112233-4455-6677-8899-aabbccddeeff", "Weight": "-Infinity"},
        {"Key": "00112233-4455-6677-8899-aabbccddeeff", "Weight": 1.5},
    ],
    "Data": "00ff",
    "Names": ["x", "y"],
}


def an_event(payload: Any, **changes: Any) -> Any:
    """What the encoder asks of an event, without a trace around it."""
    key = SimpleNamespace(provider="Tests", id=1, version=0, name="Every\ud800thing")
    header = {
        **vars(key),
        "key": key,
        "time_ns": 5,
        "thread_id": 7,
        "process_id": None,
        "processor": None,
        "opcode": 0,
        "level": 4,
        "keywords": 0xF00000000001,
        "activity_id": None,
        "activity_path": None,
        "related_activity_id": GUID,
        "payload": payload,
        "payload_tail": b"",
        "payload_bytes": b"\x01\x02",
        "stack": (2**64 - 1, 1),
        "trace_id": None,
        "span_id": None,
        "labels": {},
        "_labels": None,
    }
    return SimpleNamespace(**{**header, **changes})


def both(payload: Any, *, names: bool = False, stacks: bool = False, **changes: Any) -> dict[str, Any]:
    """The line, parsed; checked to be ASCII and to say what the object says, in the same order."""
    encoder = EventJson(names=names, stacks=stacks)
    line = encoder.line(an_event(payload, **changes))
    assert line.isascii()
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line, parse_constant=pytest.fail)
    again = encoder.object(an_event(payload, **changes))
    assert list(found.items()) == list(again.items())
    return found


def test_the_path_of_an_activity_is_a_key_where_there_is_one() -> None:
    assert "activity_path" not in both(Nothing_V0(), activity_id=GUID)
    found = both(Nothing_V0(), activity_id=GUID, activity_path="/#7/1/2/", payload_tail=b"\x01", stacks=True)
    assert list(found)[-3:] == ["payload_tail", "activity_path", "stack"]
    assert found["activity_path"] == "/#7/1/2/"


def test_every_wire_type() -> None:
    payload = both(RECORD)["payload"]
    assert payload == PLAIN
    assert list(payload) == list(PLAIN)


def test_what_only_some_events_have() -> None:
    raw = clrevents.RawPayload(b"\x01\x02", "short", {"Big": 1})
    labels = LabelList(pairs=(("k", 2**63), ("x", "\ud800")))
    found = both(raw, stacks=True, payload_tail=b"\x09", trace_id="ab" * 16, span_id="cd" * 8, _labels=labels)
    assert list(found)[13:] == ["payload", "payload_tail", "payload_bytes", "stack", "trace_id", "span_id", "labels"]
    assert found["payload"] is None
    assert found["payload_tail"] == "09"
    assert found["payload_bytes"] == "0102"
    assert found["stack"] == [18446744073709551615, 1]
    assert found["labels"] == {"k": 9223372036854775808, "x": "\ud800"}


def test_one_kind_does_not_pass_for_another() -> None:
    encoder = EventJson()
    names = []
    for number in range(200):
        # Keys die between events here: an id that is used again must not bring back a head.
        key = clrevents.EventKey("P", number, 0, f"E{number}")
        names.append(json.loads(encoder.line(an_event(Nothing_V0(), key=key)))["name"])
    assert names == [f"E{number}" for number in range(200)]

"""Payloads of every registered event, at both pointer sizes, read through a whole trace.

Exactly used up → the equal record; longer → a tail. Both decoders are held to each other, and to payloads that are cut
at any byte, in tests/properties/test_three_decoders.py; here is what a trace makes of them.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import clrevents
from clrevents import PayloadError, RawPayload
from clrevents.decode.container.blocks import MetadataRow
from clrevents.decode.kinds import Kinds
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.errors import ErrorMode, Limits
from clrevents.events import (
    MethodExtent,
    MethodFlags,
    MethodILToNativeMap_V1,
    MethodJitInliningFailedAnsi_V0,
    MethodJitTailCallSucceeded_V0,
    MethodLoadVerbose_V1,
    TailCallType,
)
from clrevents.reference import codec
from clrevents.schema.registry import DEFAULT, EventInfo
from clrevents.testing.strategies import records
from clrevents.types import (
    Boolean,
    Bytes,
    Counted,
    Guid,
    Int8,
    Pointer,
    Registry,
    UInt8,
    UInt16,
    UInt32,
    UnicodeString,
    by,
    event,
    pad,
)
from clrevents.types import struct as group
from nettrace4_writer import Blob, Writer, utf16z
from registered import FAMILIES
from tiers import one_in


def share(part: int) -> settings:
    """A part of the profile's examples, because each is a whole family of events."""
    return settings(max_examples=max(settings.default.max_examples // part, 1))  # type: ignore[union-attr]


EACH_FAMILY = pytest.mark.parametrize("family", one_in(9, FAMILIES))
EACH_SIZE = pytest.mark.parametrize("size", [4, 8], ids=["32-bit", "64-bit"])

Case = tuple[EventInfo, bytes]


def trace_of(cases: list[Case], pointer_size: int = 8, version: int | None = None) -> tuple[bytes, list[int]]:
    """A trace with these payloads, each in a description of its own, and where the payloads stand."""
    writer = Writer(pointer_size=pointer_size)
    known: dict[tuple[str, int, int], int] = {}
    blobs = []
    for time, (info, payload) in enumerate(cases):
        key = info.provider, info.id, info.version if version is None else version
        if key not in known:
            known[key] = len(known) + 1
            writer.metadata(known[key], *key)
        blobs.append(Blob(known[key], time, payload))
    writer.events(*blobs)
    return writer.end(), writer.payload_offsets


def written(record: Any, size: int = 8) -> bytes:
    """The payload of a record, by the reference codec."""
    return codec(type(record), size).build(record)


def info_of(record: type[Any]) -> EventInfo:
    info: EventInfo = vars(record)["__event__"]
    return info


def draw_family(data: st.DataObject, infos: list[EventInfo], size: int) -> list[Any]:
    """One record of each event, by its layout."""
    return [data.draw(records(info.record, size), label=info.record.__name__) for info in infos]


@EACH_FAMILY
@EACH_SIZE
@share(8)
@given(data=st.data())
def test_what_was_written_is_read(family: str, size: int, data: st.DataObject) -> None:
    infos = FAMILIES[family]
    drawn = draw_family(data, infos, size)
    payloads = [written(record, size) for record in drawn]
    trace = clrevents.open(trace_of(list(zip(infos, payloads, strict=True)), size)[0], errors="strict")
    events = list(trace.events())
    for e, info, record, payload in zip(events, infos, drawn, payloads, strict=True):
        assert e.payload == record
        assert type(e.payload) is info.record
        assert e.payload_bytes == payload
        assert e.payload_tail == b""
        assert e.key == clrevents.EventKey(info.provider, info.id, info.version, info.name)
    assert trace.problems == ()


def fits_otherwise(info: EventInfo, payload: bytes, size: int) -> bool:
    """Whether this is a record of the event's second class: a drawn size may happen to be that of the bytes."""
    if info.otherwise is None:
        return False
    try:
        codec(info.otherwise, size).parse(payload)
    except PayloadError:
        return False
    return True


@EACH_FAMILY
@EACH_SIZE
@share(12)
@given(data=st.data(), tail=st.binary(min_size=1, max_size=9))
def test_bytes_behind_the_last_field(family: str, size: int, data: st.DataObject, tail: bytes) -> None:
    infos = FAMILIES[family]
    drawn = draw_family(data, infos, size)
    payloads = [written(record, size) for record in drawn]
    assume(not any(tail and fits_otherwise(i, p + tail, size) for i, p in zip(infos, payloads, strict=True)))
    raw, offsets = trace_of([(i, p + tail) for i, p in zip(infos, payloads, strict=True)], size)
    trace = clrevents.open(raw, errors="strict")
    events = list(trace.events())
    problems = trace.problems
    for e, record, payload, offset, problem in zip(events, drawn, payloads, offsets, problems, strict=True):
        assert e.payload == record
        assert e.payload_tail == tail
        assert e.payload_bytes == payload + tail
        assert (problem.kind, problem.severity) == ("payload-tail", "note")
        assert (problem.offset, problem.length) == (offset + len(payload), len(tail))


@EACH_FAMILY
@EACH_SIZE
@share(12)
@given(data=st.data(), tail=st.binary(max_size=9))
def test_newer_version(family: str, size: int, data: st.DataObject, tail: bytes) -> None:
    """The newest known fields and the rest as a tail, also where the rest is empty."""
    best = {DEFAULT.best(info.provider, info.id, 200) for info in FAMILIES[family]}
    infos = [info for info in FAMILIES[family] if info in best]
    assert infos
    drawn = draw_family(data, infos, size)
    payloads = [written(record, size) for record in drawn]
    assume(not any(tail and fits_otherwise(i, p + tail, size) for i, p in zip(infos, payloads, strict=True)))
    raw, offsets = trace_of([(i, p + tail) for i, p in zip(infos, payloads, strict=True)], size, version=200)
    trace = clrevents.open(raw, errors="strict")
    events = list(trace.events())
    cases = zip(events, infos, drawn, payloads, offsets, trace.problems, strict=True)
    for e, info, record, payload, offset, problem in cases:
        assert (e.version, e.name) == (200, info.name)
        assert e.payload == record
        assert type(e.payload) is info.record
        assert e.payload_tail == tail
        assert (problem.kind, problem.severity) == ("newer-version", "note")
        assert (problem.offset, problem.length) == (offset + len(payload), len(tail))
        assert f"known only up to version {info.version}" in problem.message


def load(**changes: Any) -> MethodLoadVerbose_V1:
    fields = {
        "MethodID": 0x7F00_1234_5678,
        "ModuleID": 1 << 63,
        "MethodStartAddress": (1 << 64) - 1,
        "MethodSize": 16,
        "MethodToken": 0x6000001,
        "MethodFlags": MethodFlags(0x108),
        "MethodNamespace": "A.B",
        "MethodName": "Run",
        "MethodSignature": "void ()",
        "ClrInstanceID": 9,
    }
    return MethodLoadVerbose_V1(**{**fields, **changes})


def one(record: Any, payload: bytes, **options: Any) -> clrevents.Event[Any]:
    (e,) = clrevents.open(trace_of([(info_of(record), payload)])[0], **options).events()
    return e


def test_known_bytes() -> None:
    """One payload written down byte by byte: nothing of ours makes it."""
    payload = (
        bytes.fromhex("785634127f000000 0100000000000000 00f0debc9a785634")
        + bytes.fromhex("10000000 01000006 08010000")
        + b"A\0.\0B\0\0\0"
        + b"R\0u\0n\0\0\0"
        + b"\0\0"
        + b"\x09\0"
    )
    e = one(MethodLoadVerbose_V1, payload, errors="strict")
    assert e.payload == MethodLoadVerbose_V1(
        MethodID=0x7F12345678,
        ModuleID=1,
        MethodStartAddress=0x3456789ABCDEF000,
        MethodSize=16,
        MethodToken=0x6000001,
        MethodFlags=MethodFlags(0x108),
        MethodNamespace="A.B",
        MethodName="Run",
        MethodSignature="",
        ClrInstanceID=9,
    )
    assert e.payload.MethodFlags.tier.name == "Optimized"
    assert repr(e.payload).endswith(
        "MethodFlags=MethodFlags(Jitted|tier=Optimized), MethodNamespace='A.B', MethodName='Run', "
        "MethodSignature='', ClrInstanceID=9)"
    )


def test_strict_raises_at_the_first_that_does_not_fit() -> None:
    good = written(load())
    raw, offsets = trace_of([(info_of(MethodLoadVerbose_V1), p) for p in (good, good, good[:-1], good, b"")])
    trace = clrevents.open(raw, errors="strict")
    events = trace.events()
    seen = [next(events).payload, next(events).payload]
    with pytest.raises(PayloadError) as caught:
        next(events)
    assert seen == [load(), load()]
    error = caught.value
    assert error.field == "ClrInstanceID"
    assert error.event == "MethodLoadVerbose_V1"
    assert error.offset == offsets[2] + len(good) - 2
    assert (error.needed, error.available) == (2, 1)
    assert str(error).endswith("needs 2 bytes, 1 available"), "the sentence says it once"
    # The other modes read on.
    modes: tuple[ErrorMode, ...] = "report", "salvage"
    for mode in modes:
        trace = clrevents.open(raw, errors=mode)
        assert [isinstance(e.payload, RawPayload) for e in trace.events()] == [False, False, True, False, True]
        report = trace.check()
        (kind,) = report.kinds
        assert (kind.exact, kind.tail, kind.short, kind.unknown) == (3, 0, 2, 0)


@pytest.mark.parametrize("number", [0, 2, 3, 77, (1 << 32) - 1])
def test_unknown_enum_values_survive(number: int) -> None:
    payload = written(load(MethodFlags=MethodFlags(number)))
    e = one(MethodLoadVerbose_V1, payload)
    assert int(e.payload.MethodFlags) == number
    assert type(e.payload.MethodFlags) is MethodFlags
    text = b"".join(map(utf16z, "abcdefghi"))
    tail = one(MethodJitTailCallSucceeded_V0, text + struct.pack("<IIH", 1, number, 5))
    assert int(tail.payload.TailCallType) == number
    assert type(tail.payload.TailCallType) is TailCallType


def test_counts_are_compared_with_the_bytes_before_anything_is_made() -> None:
    """A map that claims 65,535 entries in a handful of bytes."""
    head = struct.pack("<QQBH", 1, 2, 0, 0xFFFF)
    raw, (offset,) = trace_of([(info_of(MethodILToNativeMap_V1), head + bytes(40))])
    trace = clrevents.open(raw)
    (e,) = trace.events()
    assert isinstance(e.payload, RawPayload)
    assert dict(e.payload.partial) == {
        "MethodID": 1,
        "ReJITID": 2,
        "MethodExtent": MethodExtent.Hot,
        "CountOfMapEntries": 0xFFFF,
    }
    (problem,) = trace.problems
    assert problem.field == "ILOffsets"
    assert problem.offset == offset + len(head)
    assert f"needs {4 * 0xFFFF} bytes, 40 available" in problem.message


def test_text_at_any_offset_and_of_any_kind() -> None:
    """Units that look like an end in between, half pairs, text beyond the BMP."""
    texts = ["", "\u0100\u0001", "a\u0100", "\ud800", "\udc00x", "\U0001d11e", "NULL", "\u0001" * 300]
    for text in texts:
        payload = written(load(MethodNamespace=text, MethodSignature=text))
        e = one(MethodLoadVerbose_V1, payload, errors="strict")
        assert e.payload.MethodNamespace == text
        assert e.payload.MethodSignature == text
        assert e.payload.ClrInstanceID == 9


def test_narrow_text_is_utf8_or_else_latin1() -> None:
    nine = b"".join(utf16z(str(n)) for n in range(9))
    for data, text in ((b"plain", "plain"), ("naïve ✓".encode(), "naïve ✓"), (b"caf\xe9", "café"), (b"", "")):
        payload = nine + struct.pack("<I", 2) + data + b"\0" + struct.pack("<H", 7)
        e = one(MethodJitInliningFailedAnsi_V0, payload, errors="strict")
        assert e.payload.FailReason == text
        assert e.payload.FailAlways is True, "any number but 0 is true"
        assert e.payload.ClrInstanceID == 7


def test_text_without_end_names_itself() -> None:
    payload = written(load())
    start = payload.index(utf16z("Run"))
    raw, (offset,) = trace_of([(info_of(MethodLoadVerbose_V1), payload[: start + 7])])
    trace = clrevents.open(raw)
    (e,) = trace.events()
    assert e.payload.reason == "unterminated string at field 'MethodName'"
    assert list(e.payload.partial)[-1] == "MethodNamespace"
    (problem,) = trace.problems
    assert (problem.field, problem.offset) == ("MethodName", offset + start)


@group
class Part:
    """One element, with padding as a C++ compiler puts it."""

    Small: UInt8
    Address: Annotated[Pointer, pad(3, 7)]
    Name: UnicodeString


OWN = Registry()


@event("Test-Own", id=3, version=1, registry=OWN)
class Own_V1:
    """Everything that depends on the width of a pointer."""

    Address: Pointer
    Number: Int8
    Count: UInt16
    Addresses: Annotated[Counted[Pointer], by("Count")]
    Parts: Annotated[Counted[Part], by("Count")]
    Flag: Boolean
    Id: Guid
    Size: UInt32
    Data: Annotated[Bytes, by("Size")]
    Last: Annotated[Pointer, pad(0, 4)]


@pytest.mark.parametrize("size", [4, 8])
@given(data=st.data())
def test_pointers_are_as_wide_as_the_trace_says(size: int, data: st.DataObject) -> None:
    record = data.draw(records(Own_V1, size))
    raw, _ = trace_of([(info_of(Own_V1), written(record, size))], size)
    trace = clrevents.open(raw, registry=OWN)
    assert trace.info.pointer_size == size
    (e,) = trace.events()
    assert e.payload == record
    assert e.payload_tail == b""


def test_fault_inside_an_element_is_named_to_the_element() -> None:
    parts = (Part(1, 2, "one"), Part(3, 4, "two"))
    record = Own_V1(1, -1, 2, (5, 6), parts, True, UUID(int=0), 0, b"", 7)
    payload = written(record)
    start = payload.index(struct.pack("<QQ", 5, 6)) + 16
    end = payload.index(utf16z("two")) + 8
    for cut, field in ((end - 1, "Parts[1].Name"), (end - 9, "Parts[1].Address"), (start + 24, "Parts")):
        trace = clrevents.open(trace_of([(info_of(Own_V1), payload[:cut])])[0], registry=OWN)
        list(trace.events())
        (problem,) = trace.problems
        assert problem.field == field, cut


def test_without_its_registry_the_event_is_unknown() -> None:
    raw, (offset,) = trace_of([(info_of(Own_V1), b"abc")])
    trace = clrevents.open(raw)
    (e,) = trace.events()
    assert e.name == "EventID(3)"
    assert isinstance(e.payload, RawPayload)
    assert (e.payload.data, dict(e.payload.partial)) == (b"abc", {})
    (problem,) = trace.problems
    assert (problem.kind, problem.severity) == ("unknown-event", "note")
    assert (problem.offset, problem.length, problem.event) == (offset, 3, "EventID(3)_V1")


@pytest.mark.parametrize(
    ("change", "version", "fits"),
    [(b"", 1, True), (b"x", 1, False), (None, 1, False), (b"x", 9, True), (b"", 9, True)],
    ids=["exact", "longer", "shorter", "newer and longer", "newer"],
)
def test_what_fits_a_layout_is_exact_but_of_a_newer_version(change: bytes | None, version: int, fits: bool) -> None:
    """By it, who salvages tells events from other bytes."""
    info = info_of(MethodLoadVerbose_V1)
    payload = written(load())
    kinds = Kinds(DEFAULT, Limits())
    assert kinds.define(MetadataRow(1, info.provider, info.id, version)) is None
    data = payload[:-1] if change is None else payload + change
    assert PayloadDecoder(8, Limits()).fits(kinds.all[0], data) is fits

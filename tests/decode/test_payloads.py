"""Payloads of every registered event, at both pointer sizes, read through a whole trace.

Exactly used up → the equal record; cut at any byte → a raw payload and a problem that says where; longer → a
tail. The bytes come from a small encoder of the tests' own.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nettrace4_writer import Blob, Writer, utf16z
from payload_encoder import encode

import clrevents
from clrevents import PayloadError, RawPayload, Registry, event
from clrevents import struct as group
from clrevents.errors import ErrorMode
from clrevents.events import (
    MethodExtent,
    MethodFlags,
    MethodILToNativeMap_V1,
    MethodJitInliningFailedAnsi_V0,
    MethodJitTailCallSucceeded_V0,
    MethodLoad_V0,
    MethodLoad_V1,
    MethodLoad_V2,
    MethodLoadVerbose_V1,
    TailCallType,
)
from clrevents.schema.registry import DEFAULT, RUNTIME, EventInfo
from clrevents.testing.strategies import records
from clrevents.types import Boolean, Bytes, Counted, Guid, Int8, Pointer, UInt8, UInt16, UInt32, UnicodeString, by, pad


CASES = [
    pytest.param(info, size, id=f"{info.record.__name__}-{8 * size}")
    for info in sorted(DEFAULT.events(), key=lambda i: (i.provider, i.id, i.version))
    for size in (4, 8)
    if info.record.__module__.startswith("clrevents.")
]


def share(part: int) -> settings:
    """A part of the profile's examples, fewer the more events there are: all of them share a few seconds."""
    examples = settings.default.max_examples * 160 // (part * max(len(CASES), 160))  # type: ignore[union-attr]
    return settings(max_examples=max(examples, 1))


def trace_of(
    info: EventInfo, payloads: list[bytes], pointer_size: int = 8, version: int | None = None
) -> tuple[bytes, list[int]]:
    """A trace with one event for each payload, and where the payloads stand."""
    writer = Writer(pointer_size=pointer_size)
    writer.metadata(1, info.provider, info.id, info.version if version is None else version)
    writer.events(*(Blob(1, time, payload) for time, payload in enumerate(payloads)))
    return writer.end(), writer.payload_offsets


def info_of(record: type[Any]) -> EventInfo:
    info: EventInfo = vars(record)["__event__"]
    return info


@pytest.mark.parametrize(("info", "size"), CASES)
@share(6)
@given(data=st.data())
def test_what_was_written_is_read(info: EventInfo, size: int, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(records(info.record, size), min_size=1, max_size=4))
    payloads = [encode(record, size)[0] for record in drawn]
    trace = clrevents.open(trace_of(info, payloads, size)[0], errors="strict")
    events = list(trace.events(info.record))
    assert [e.payload for e in events] == drawn
    assert [type(e.payload) for e in events] == [info.record] * len(drawn)
    assert [e.payload_bytes for e in events] == payloads
    assert not any(e.payload_tail for e in events)
    assert {e.key for e in events} == {clrevents.EventKey(info.provider, info.id, info.version, info.name)}
    assert trace.problems == ()


@pytest.mark.parametrize(("info", "size"), CASES)
@share(12)
@given(data=st.data())
def test_cut_at_every_byte(info: EventInfo, size: int, data: st.DataObject) -> None:
    """The fields before the cut survive; the problem names the field, its place and the bytes."""
    record = data.draw(records(info.record, size))
    payload, places = encode(record, size)
    raw, offsets = trace_of(info, [payload[:cut] for cut in range(len(payload))], size)
    trace = clrevents.open(raw)
    events = list(trace.events())
    assert len(events) == len(payload)
    problems = trace.problems
    assert len(problems) == len(payload)
    fields = clrevents.asdict(record)
    for cut, (e, problem) in enumerate(zip(events, problems, strict=True)):
        name, start, end = next(p for p in places if p[2] > cut)
        assert isinstance(e.payload, RawPayload)
        assert e.payload.data == e.payload_bytes == payload[:cut]
        whole = [n for n, _, _ in places[: [n for n, _, _ in places].index(name)]]
        assert list(e.payload.partial) == whole
        for n in whole:
            assert e.payload.partial[n] == getattr(record, n)
        assert (problem.kind, problem.severity) == ("short-payload", "payload")
        assert problem.event == f"{info.name}_V{info.version}"
        assert problem.field is not None
        assert problem.field == name or problem.field.startswith((f"{name}[", f"{name}."))
        assert problem.field in problem.message
        assert name in e.payload.reason
        assert problem.offset is not None
        assert offsets[cut] + start <= problem.offset <= offsets[cut] + cut
        assert problem.length == offsets[cut] + cut - problem.offset
        assert f"{problem.length} are there" in problem.message
        if problem.field == name and name not in (n for n, _, _ in _texts(info, places)):
            assert problem.offset == offsets[cut] + start
        if problem.field == name and _is_fixed(info, name):
            assert f"it needs {end - start} bytes" in problem.message
    assert fields.keys() == {n for n, _, _ in places}
    # A class promises its fields, so what could not be read is left out, and counted.
    assert list(trace.events(info.record)) == []
    assert clrevents.open(raw).check().problem_counts == {"short-payload": len(payload)} if payload else True


def _is_fixed(info: EventInfo, name: str) -> bool:
    field = next(f for f in info.layout.bind(8).fields if f.name == name)
    return field.fixed_size is not None and field.in_run


def _texts(info: EventInfo, places: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """The places of fields that may begin their fault later than themselves: elements after a count of their own."""
    prefixed = {f.name for f in info.layout.fields if f.type.name.endswith("[]")}
    return [p for p in places if p[0] in prefixed]


@pytest.mark.parametrize(("info", "size"), CASES)
@share(12)
@given(data=st.data(), tail=st.binary(min_size=1, max_size=9))
def test_bytes_behind_the_last_field(info: EventInfo, size: int, data: st.DataObject, tail: bytes) -> None:
    record = data.draw(records(info.record, size))
    payload, _ = encode(record, size)
    raw, (offset,) = trace_of(info, [payload + tail], size)
    trace = clrevents.open(raw, errors="strict")
    (e,) = trace.events()
    assert e.payload == record
    assert e.payload_tail == tail
    assert e.payload_bytes == payload + tail
    (problem,) = trace.problems
    assert (problem.kind, problem.severity) == ("payload-tail", "note")
    assert (problem.offset, problem.length) == (offset + len(payload), len(tail))


@pytest.mark.parametrize(("info", "size"), CASES)
@share(12)
@given(data=st.data(), tail=st.binary(max_size=9))
def test_newer_version(info: EventInfo, size: int, data: st.DataObject, tail: bytes) -> None:
    """The newest known fields and the rest as a tail, also where the rest is empty."""
    newest = DEFAULT.best(info.provider, info.id, 200)
    assert newest is not None
    record = data.draw(records(newest.record, size))
    payload, _ = encode(record, size)
    raw, (offset,) = trace_of(newest, [payload + tail], size, version=200)
    trace = clrevents.open(raw, errors="strict")
    (e,) = trace.events(newest.record)
    assert e.version == 200
    assert e.name == newest.name
    assert e.payload == record
    assert e.payload_tail == tail
    (problem,) = trace.problems
    assert (problem.kind, problem.severity) == ("newer-version", "note")
    assert (problem.offset, problem.length) == (offset + len(payload), len(tail))
    assert f"only versions up to {newest.version} are known" in problem.message


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
    (e,) = clrevents.open(trace_of(info_of(record), [payload])[0], **options).events()
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
    good, _ = encode(load(), 8)
    raw, offsets = trace_of(info_of(MethodLoadVerbose_V1), [good, good, good[:-1], good, b""])
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
    assert "needs 2 bytes, 1 are there" in str(error)
    # The other modes read on.
    modes: tuple[ErrorMode, ...] = "report", "salvage"
    for mode in modes:
        trace = clrevents.open(raw, errors=mode)
        assert [isinstance(e.payload, RawPayload) for e in trace.events()] == [False, False, True, False, True]
        report = trace.check()
        (kind,) = report.kinds.values()
        assert (kind.exact, kind.tail, kind.short, kind.unknown) == (3, 0, 2, 0)


def test_payloads_that_were_not_asked_for_are_not_looked_at() -> None:
    writer = Writer()
    writer.metadata(1, RUNTIME, 143, 1)
    writer.metadata(2, RUNTIME, 141, 0)
    good, _ = encode(MethodLoad_V0(1, 2, 3, 4, 5, MethodFlags(6)), 8)
    writer.events(Blob(1, 1, b"damaged"), Blob(2, 2, good))
    trace = clrevents.open(writer.end(), errors="strict")
    assert [e.payload.MethodID for e in trace.events("MethodLoad")] == [1]
    assert sum(trace.event_counts().values()) == 2
    with pytest.raises(PayloadError):
        list(trace.events())


@pytest.mark.parametrize("number", [0, 2, 3, 77, (1 << 32) - 1])
def test_unknown_enum_values_survive(number: int) -> None:
    payload, _ = encode(load(MethodFlags=MethodFlags(number)), 8)
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
    raw, (offset,) = trace_of(info_of(MethodILToNativeMap_V1), [head + bytes(40)])
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
    assert f"needs {4 * 0xFFFF} bytes, 40 are there" in problem.message


def test_text_at_any_offset_and_of_any_kind() -> None:
    """Units that look like an end in between, half pairs, text beyond the BMP."""
    texts = ["", "\u0100\u0001", "a\u0100", "\ud800", "\udc00x", "\U0001d11e", "NULL", "\u0001" * 300]
    for text in texts:
        payload, _ = encode(load(MethodNamespace=text, MethodSignature=text), 8)
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
    payload, places = encode(load(), 8)
    (_, start, end) = next(p for p in places if p[0] == "MethodName")
    raw, (offset,) = trace_of(info_of(MethodLoadVerbose_V1), [payload[: end - 1]])
    trace = clrevents.open(raw)
    (e,) = trace.events()
    assert e.payload.reason == "the string has no end at field 'MethodName'"
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
    payload, places = encode(record, size)
    raw, _ = trace_of(info_of(Own_V1), [payload, *(payload[:cut] for cut in range(len(payload)))], size)
    trace = clrevents.open(raw, registry=OWN)
    assert trace.info.pointer_size == size
    first, *cut = trace.events()
    assert first.payload == record
    assert first.payload_tail == b""
    for n, e in enumerate(cut):
        assert isinstance(e.payload, RawPayload)
        assert list(e.payload.partial) == [name for name, _, end in places if end <= n and _had(places, n, name)]


def _had(places: list[tuple[str, int, int]], n: int, name: str) -> bool:
    """Whether a field comes before the first that is cut at `n`."""
    names = [p[0] for p in places]
    broken = next(p[0] for p in places if p[2] > n)
    return names.index(name) < names.index(broken)


def test_fault_inside_an_element_is_named_to_the_element() -> None:
    parts = (Part(1, 2, "one"), Part(3, 4, "two"))
    record = Own_V1(1, -1, 2, (5, 6), parts, True, UUID(int=0), 0, b"", 7)
    payload, places = encode(record, 8)
    (_, start, end) = next(p for p in places if p[0] == "Parts")
    for cut, field in ((end - 1, "Parts[1].Name"), (end - 9, "Parts[1].Address"), (start + 24, "Parts")):
        trace = clrevents.open(trace_of(info_of(Own_V1), [payload[:cut]])[0], registry=OWN)
        list(trace.events())
        (problem,) = trace.problems
        assert problem.field == field, cut


def test_without_its_registry_the_event_is_unknown() -> None:
    raw, (offset,) = trace_of(info_of(Own_V1), [b"abc"])
    trace = clrevents.open(raw)
    (e,) = trace.events()
    assert e.name == "EventID(3)"
    assert isinstance(e.payload, RawPayload)
    assert (e.payload.data, dict(e.payload.partial)) == (b"abc", {})
    (problem,) = trace.problems
    assert (problem.kind, problem.severity) == ("unknown-event", "note")
    assert (problem.offset, problem.length, problem.event) == (offset, 3, "EventID(3)_V1")


def test_isinstance_means_this_version_or_later() -> None:
    writer = Writer()
    records_ = [
        MethodLoad_V0(1, 2, 3, 4, 5, MethodFlags(6)),
        MethodLoad_V1(1, 2, 3, 4, 5, MethodFlags(6), 7),
        MethodLoad_V2(1, 2, 3, 4, 5, MethodFlags(6), 7, 8),
    ]
    for version, record in enumerate(records_):
        writer.metadata(version + 1, RUNTIME, 141, version)
        writer.events(Blob(version + 1, version, encode(record, 8)[0]))
    trace = clrevents.open(writer.end(), errors="strict")
    assert [e.payload for e in trace.events("MethodLoad")] == records_
    assert [e.payload for e in trace.events(MethodLoad_V0)] == records_
    assert [e.payload for e in trace.events(MethodLoad_V1)] == records_[1:]
    assert [e.payload for e in trace.events(MethodLoad_V2)] == records_[2:]

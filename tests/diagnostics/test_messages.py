"""Requests and answers as bytes: what is written reads back, and what a runtime must not get is never made."""

from __future__ import annotations

import struct
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.diagnostics.ipc_values import (
    ArrayOf,
    FlagType,
    GuidValue,
    Malformed,
    Number,
    Reader,
    RecordOf,
    TextType,
    WireType,
    read_record,
    wire_fields,
    write_record,
)
from clrevents.diagnostics.messages import (
    COMMANDS,
    Advertisement,
    CollectTracing,
    CollectTracing2,
    CollectTracing3,
    CollectTracing4,
    CollectTracing5,
    CollectTracing6,
    EnablePerfMap,
    Environment,
    EnvironmentFollows,
    FilteredProvider,
    GenerateCoreDump,
    GetProcessInfo3,
    ProcessInfo,
    ProcessInfo2,
    ProcessInfo3,
    ResultCode,
    SessionId,
    SetEnvironmentVariable,
    StopTracing,
)
from clrevents.diagnostics.providers import Provider
from scripted_runtime import text

ANSWERS = (
    *(ProcessInfo, ProcessInfo2, ProcessInfo3, SessionId, ResultCode, Environment, EnvironmentFollows),
    Advertisement,
)
GC = Provider("Microsoft-Windows-DotNETRuntime", keywords=1, level=4)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def values(wire: WireType) -> st.SearchStrategy[Any]:
    """Whatever a type on the wire can hold."""
    match wire:
        case Number(code):
            bits = 8 * struct.calcsize(f"<{code}")
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if code.islower() else (0, (1 << bits) - 1)
            return st.integers(low, high)
        case FlagType():
            return st.booleans()
        case TextType():
            return TEXTS
        case GuidValue():
            return st.uuids()
        case ArrayOf(item):
            return st.lists(values(item), min_size=1, max_size=4).map(tuple)
        case RecordOf(record):
            return records(record)
        case _:
            raise TypeError(wire)


def records(record: type[Any]) -> st.SearchStrategy[Any]:
    """Records with whatever their fields can hold: what is refused is not drawn."""
    fields = {name: values(wire) for name, wire in wire_fields(record).items()}

    def made(drawn: dict[str, Any]) -> Any:
        try:
            return record(**drawn)
        except ValueError:
            return None

    narrow: dict[str, st.SearchStrategy[Any]] = {
        "buffer_mb": st.integers(1, 4096),
        "format": st.just(1),
        "level": st.integers(1, 5),
        "kind": st.integers(1, 3),
        "session_kind": st.just(0),
        "blocks": st.integers(0, 1),
        "diagnostics": st.integers(0, 1),
        "name": TEXTS.filter(lambda name: name and "=" not in name),
        "path": TEXTS.filter(bool),
    }
    fields |= {name: narrow[name] for name in fields if name in narrow}
    return st.fixed_dictionaries(fields).map(made).filter(lambda value: value is not None)


@pytest.mark.parametrize("record", [*COMMANDS, *ANSWERS], ids=lambda record: record.__name__)
@given(data=st.data())
def test_what_is_written_reads_back(record: type[Any], data: st.DataObject) -> None:
    value = data.draw(records(record))
    reader = Reader(write_record(value))
    assert read_record(record, reader) == value
    assert reader.left == 0


@pytest.mark.parametrize("record", ANSWERS, ids=lambda record: record.__name__)
@given(data=st.data())
def test_a_shorter_answer_is_refused_and_a_longer_one_is_read(record: type[Any], data: st.DataObject) -> None:
    value = data.draw(records(record))
    written = write_record(value)
    cut = data.draw(st.integers(0, max(len(written) - 1, 0)))
    with pytest.raises(Malformed):
        read_record(record, Reader(written[:cut]))
    assert read_record(record, Reader(written + b"more")) == value


@pytest.mark.parametrize("record", ANSWERS, ids=lambda record: record.__name__)
@given(noise=st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_malformed(record: type[Any], noise: bytes) -> None:
    try:
        found = read_record(record, Reader(noise))
    except Malformed:
        return
    assert isinstance(found, record)


@given(size=st.integers(0, (1 << 32) - 1))
def test_a_length_that_lies_allocates_nothing(size: int) -> None:
    """Neither a text of four billion units nor an array of as many items is made, or counted out."""
    lie = struct.pack("<I", size) + b"ab"
    for wire in (TextType(), ArrayOf(TextType()), ArrayOf(FlagType())):
        try:
            found = wire.read(Reader(lie))
        except Malformed:
            continue
        assert size <= 2, f"{wire} made {found!r} of {lie!r}"


def test_bytes_are_as_documented() -> None:
    """One request written out by hand, from what a runtime was seen to take."""
    command = CollectTracing2(buffer_mb=256, providers=(GC,))
    payload = struct.pack("<IIBI", 256, 1, 1, 1) + struct.pack("<QI", 1, 4) + text(GC.name) + text(None)
    assert command.to_bytes() == b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 2, 3, 0) + payload
    assert GetProcessInfo3().to_bytes() == b"DOTNET_IPC_V1\0\x14\0\x04\x08\0\0"
    assert StopTracing(5).to_bytes()[20:] == bytes([5, 0, 0, 0, 0, 0, 0, 0])


def test_codes_are_told_apart() -> None:
    assert len({command.code for command in COMMANDS}) == len(COMMANDS)


def test_an_advertisement_reads_as_a_runtime_writes_it() -> None:
    cookie = UUID("00112233-4455-6677-8899-aabbccddeeff")
    data = b"ADVR_V1\0" + cookie.bytes_le + struct.pack("<QH", 4711, 0)
    assert Advertisement.of(data) == Advertisement(cookie, 4711, 0)
    with pytest.raises(Malformed):
        Advertisement.of(b"GET / HT" + data[8:])


COLLECTS = (CollectTracing, CollectTracing2, CollectTracing3, CollectTracing4, CollectTracing5, CollectTracing6)


@pytest.mark.parametrize("collect", COLLECTS, ids=lambda record: record.__name__)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"providers": ()}, "record nothing"),
        ({"buffer_mb": 0}, "1 to"),
        ({"buffer_mb": -1}, "1 to"),
        ({"buffer_mb": 1 << 32}, "1 to"),
        ({"format": 7}, "NetTrace"),
        ({"format": 0}, "NetTrace"),
    ],
    ids=str,
)
def test_what_kills_a_runtime_is_never_made(collect: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        collect(**{"providers": (GC,), **wrong})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Provider("X", level=0), "1 .*to 5"),
        (lambda: Provider("X", level=6), "1 .*to 5"),
        (lambda: Provider("X", keywords=1 << 64), "64 bits"),
        (lambda: Provider("X", keywords=-1), "64 bits"),
        (lambda: Provider(""), "needs a name"),
        (lambda: GenerateCoreDump("", 2), "path is empty"),
        (lambda: GenerateCoreDump("/tmp/x", 9), "one of mini, heap"),
        (lambda: SetEnvironmentVariable("", "x"), "cannot be the name"),
        (lambda: SetEnvironmentVariable("A=B", "x"), "cannot be the name"),
        (lambda: EnablePerfMap(0), "one of all"),
        (lambda: SetEnvironmentVariable("A", "x\0y").to_bytes(), "NUL"),
        (lambda: SetEnvironmentVariable("A", "\ud800").to_bytes(), "surrogate"),
        (lambda: SetEnvironmentVariable("A", "x" * 40_000).to_bytes(), "at most 65,535 bytes"),
        (lambda: StopTracing(1 << 64).to_bytes(), "cannot be sent"),
        (lambda: StopTracing(-1).to_bytes(), "cannot be sent"),
    ],
)
def test_what_cannot_be_sent_is_said(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_filters_are_written_as_the_official_client_writes_them() -> None:
    one = FilteredProvider("A", keywords=1, level=4, only=True, ids=(1, 300))
    asked = {"buffer_mb": 64, "rundown_keywords": 0, "stacks": False, "providers": (one, FilteredProvider("B"))}
    expected = struct.pack("<IIIQB", 0, 64, 1, 0, 0) + struct.pack("<I", 2)
    expected += struct.pack("<QI", 1, 4) + text("A") + text(None) + struct.pack("<BIII", 1, 2, 1, 300)
    expected += struct.pack("<QI", (1 << 64) - 1, 4) + text("B") + text(None) + struct.pack("<BI", 0, 0)
    assert CollectTracing5(**asked).to_bytes()[20:] == expected
    assert CollectTracing6(blocks=1, **asked).to_bytes()[20:] == expected + struct.pack("<I", 1)


def test_every_request_says_since_when() -> None:
    """What a refusal tells people who have an older runtime."""
    for command in COMMANDS:
        assert command.since.startswith(".NET")
        assert command.what
        assert attrs.has(command.answer)

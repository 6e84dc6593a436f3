"""The reference codec says which event and which field does not fit, and is not loaded where it is not used."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import attrs
import pytest

from clrevents.decode.payload.record_decoder import Misfit, TextCache, record_decoder
from clrevents.errors import PayloadError
from clrevents.events import DiagnosticArgument, Event_V0, MethodExtent, MethodILToNativeMap_V0, MethodLoadVerbose_V1
from clrevents.events import MethodFlags as Flags
from clrevents.reference import codec
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import ClassCache as Cache
from clrevents.schema.dynamic import FieldDescription, Variant, make_class
from clrevents.schema.event import struct
from clrevents.schema.types import Boolean, Bytes, DotNetDecimal, Double, Float, Guid, UInt16, VarInt, VarUInt, by
from command_runs import printed

METHOD: Any = MethodLoadVerbose_V1(1, 2, 3, 4, 5, Flags(8), "N", "M", "void ()", 0)
MAP: Any = MethodILToNativeMap_V0(1, 2, MethodExtent(0), 2, (0, 1), (0, 16), 9)


@struct
class Odd:
    """All the types that the runtime's own events do not have."""

    Signed: VarInt
    Unsigned: VarUInt
    Id: Guid
    Price: DotNetDecimal
    Small: Float
    Large: Double
    Yes: Boolean
    Size: UInt16
    Data: Annotated[Bytes, by("Size")]


ODD: Any = Odd(-1, 1, UUID(int=1), Decimal("7922816251426433759354395033.5"), 0.5, 1e300, True, 2, b"ab")


@pytest.mark.parametrize(
    ("sound", "changes", "message"),
    [
        (METHOD, {"MethodSize": 1 << 32}, r"MethodSize: .*4294967296"),
        (METHOD, {"MethodID": -1}, r"MethodID: .*-1"),
        (METHOD, {"MethodID": "7"}, r"MethodID: .*'7'"),
        (METHOD, {"MethodFlags": 1 << 40}, r"MethodFlags: "),
        (METHOD, {"MethodFlags": "Jitted"}, r"MethodFlags: .*'Jitted'"),
        (METHOD, {"MethodName": "a\0b"}, r"MethodName: the string contains a NUL"),
        (METHOD, {"MethodName": None}, r"MethodName: .*None"),
        (METHOD, {"MethodName": b"bytes"}, r"MethodName: .*b'bytes'"),
        (METHOD, {"ClrInstanceID": 65536}, r"ClrInstanceID: .*65536"),
        (MAP, {"ILOffsets": (1,)}, r"ILOffsets has 1 elements; CountOfMapEntries is 2"),
        (MAP, {"NativeOffsets": (1, 2, 3)}, r"NativeOffsets has 3 elements; .* is 2"),
        (MAP, {"CountOfMapEntries": 3}, r"ILOffsets has 2 elements; CountOfMapEntries is 3"),
        (MAP, {"NativeOffsets": (0, 1 << 32)}, r"NativeOffsets: .*4294967296"),
        (MAP, {"ILOffsets": None}, r"ILOffsets cannot be None"),
        (ODD, {"Signed": 1 << 63}, r"Signed: the number is wider than 64 bits"),
        (ODD, {"Signed": -(1 << 63) - 1}, r"Signed: the number is wider"),
        (ODD, {"Unsigned": 1 << 64}, r"Unsigned: the number is wider"),
        (ODD, {"Unsigned": -1}, r"Unsigned: the number is wider"),
        (ODD, {"Id": "no guid"}, r"Id: .*'no guid'"),
        (ODD, {"Price": Decimal("NaN")}, r"Price: NaN is not a .NET decimal"),
        (ODD, {"Price": Decimal(1 << 96)}, r"Price: .* wider than a .NET decimal"),
        (ODD, {"Price": Decimal("1e-29")}, r"Price: .* wider than a .NET decimal"),
        (ODD, {"Small": 1e300}, r"Small: "),
        (ODD, {"Large": "1"}, r"Large: "),
        (ODD, {"Size": 3}, r"Data has 2 elements; Size is 3"),
    ],
)
def test_values_that_do_not_fit(sound: Any, changes: dict[str, Any], message: str) -> None:
    made = codec(type(sound))
    assert made.parse(made.build(sound)) == sound
    with pytest.raises(ValueError, match=rf"^{type(sound).__name__}\.{message}"):
        made.build(attrs.evolve(sound, **changes))


def test_a_field_inside_a_field() -> None:
    record = Event_V0("Source", "Event", (DiagnosticArgument("Key", "Value"), DiagnosticArgument("Key", "\0")))
    with pytest.raises(ValueError, match=r"^Event_V0\.Arguments\..*Value: the string contains a NUL"):
        codec(Event_V0).build(record)


def learned(*fields: FieldDescription) -> Any:
    layout = Cache(10).layout(fields, Variant())
    assert layout is not None
    return make_class("Learned", layout)


def test_located_values_that_are_out_of_reach() -> None:
    """Sixteen bits say where they stand and how long they are."""
    text = FieldDescription("", 4)
    record = learned(
        FieldDescription("First", TypeCode.DATALOC, text), FieldDescription("Second", TypeCode.RELLOC, text)
    )
    fits = record("a" * 0x7FF0, "b" * 5)
    assert codec(record).parse(codec(record).build(fits)) == fits
    with pytest.raises(ValueError, match=r"^Learned\.First: 65536 bytes at 8 do not fit"):
        codec(record).build(record("a" * 0x8000, ""))
    with pytest.raises(ValueError, match=r"^Learned\.First: "):
        codec(record).build(record(None, ""))
    third = learned(*(FieldDescription(name, TypeCode.RELLOC, text) for name in ("A", "B", "C")))
    assert codec(third).build(third("a" * 0x7FF0, "b", "c"))
    with pytest.raises(ValueError, match=r"^Learned\.B: 2 bytes at 65538 do not fit in 16 bits"):
        codec(third).build(third("a" * 0x7FFF, "b", "c"))


def test_located_values_behind_a_number_of_any_length() -> None:
    """They are counted from where their own place ends, in these bytes; none is built."""
    record = learned(
        FieldDescription("Number", TypeCode.VARUINT), FieldDescription("Data", TypeCode.RELLOC, FieldDescription("", 7))
    )
    located = b"\x00\x00\x04\x00" + b"\xff\xff\x02\x00"
    decode = record_decoder(codec(record)._layout, record, TextCache())
    for number in (b"\x05", b"\x85\x01", b"\x80" * 9 + b"\x01"):
        found = codec(record).parse(number + located)
        assert found.Data == (-1, 2)
        assert decode(number + located, 0, len(number + located))[0] == found
    with pytest.raises(Misfit, match="Number"):
        decode(b"\x80" * 10 + b"\0" + located, 0, 19)
    with pytest.raises(ValueError, match=r"^Learned\.Data lies behind fields whose size depends on their values"):
        codec(record).build(found)


@pytest.mark.parametrize("size", [4, 8])
def test_bytes_that_do_not_fit(size: int) -> None:
    payload = codec(MethodLoadVerbose_V1, size).build(METHOD)
    with pytest.raises(PayloadError, match="1 bytes are left over"):
        codec(MethodLoadVerbose_V1, size).parse(payload + b"\0")
    with pytest.raises(PayloadError, match=r"^MethodLoadVerbose_V1"):
        codec(MethodLoadVerbose_V1, size).parse(payload[:-1])


def loaded(code: str) -> set[str]:
    return set(printed("-c", f"{code}\nimport sys; print(*sys.modules)").split())


@pytest.mark.parametrize("module", ["reference", "testing.builder", "testing.strategies"])
def test_construct_is_loaded_on_demand(module: str) -> None:
    assert "construct" not in loaded("import clrevents; clrevents.open; clrevents.Decoder; import clrevents.events")
    assert "construct" in loaded(f"import clrevents.{module}")
    assert "construct" not in loaded("import clrevents.rewrite")


def test_hypothesis_is_loaded_on_demand() -> None:
    assert "hypothesis" not in loaded("import clrevents.testing.strategies")

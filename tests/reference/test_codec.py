"""The reference codec says which event and which field does not fit, and is not loaded where it is not used."""

from __future__ import annotations

import os
import subprocess
import sys
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
from project_files import SOURCE

METHOD: Any = MethodLoadVerbose_V1(1, 2, 3, 4, 5, Flags(8), "N", "M", "void ()", 0)
MAP: Any = MethodILToNativeMap_V0(1, 2, MethodExtent(0), 2, (0, 1), (0, 16), 9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"MethodSize": 1 << 32}, r"^MethodLoadVerbose_V1\.MethodSize: .*4294967296"),
        ({"MethodID": -1}, r"^MethodLoadVerbose_V1\.MethodID: .*-1"),
        ({"MethodID": "7"}, r"^MethodLoadVerbose_V1\.MethodID: .*'7'"),
        ({"MethodFlags": 1 << 40}, r"^MethodLoadVerbose_V1\.MethodFlags: "),
        ({"MethodFlags": "Jitted"}, r"^MethodLoadVerbose_V1\.MethodFlags: .*'Jitted'"),
        ({"MethodName": "a\0b"}, r"^MethodLoadVerbose_V1\.MethodName: the string contains a NUL"),
        ({"MethodName": None}, r"^MethodLoadVerbose_V1\.MethodName: .*None"),
        ({"MethodName": b"bytes"}, r"^MethodLoadVerbose_V1\.MethodName: .*b'bytes'"),
        ({"ClrInstanceID": 65536}, r"^MethodLoadVerbose_V1\.ClrInstanceID: .*65536"),
    ],
)
def test_values_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        codec(MethodLoadVerbose_V1).build(attrs.evolve(METHOD, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ILOffsets": (1,)}, r"^MethodILToNativeMap_V0\.ILOffsets has 1 elements; CountOfMapEntries is 2"),
        ({"NativeOffsets": (1, 2, 3)}, r"^MethodILToNativeMap_V0\.NativeOffsets has 3 elements; .* is 2"),
        ({"CountOfMapEntries": 3}, r"^MethodILToNativeMap_V0\.ILOffsets has 2 elements; CountOfMapEntries is 3"),
        ({"NativeOffsets": (0, 1 << 32)}, r"^MethodILToNativeMap_V0\.NativeOffsets: .*4294967296"),
        ({"ILOffsets": None}, r"^MethodILToNativeMap_V0\.ILOffsets cannot be None"),
    ],
)
def test_counts_that_differ(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        codec(MethodILToNativeMap_V0).build(attrs.evolve(MAP, **changes))


def test_a_field_inside_a_field() -> None:
    record = Event_V0("Source", "Event", (DiagnosticArgument("Key", "Value"), DiagnosticArgument("Key", "\0")))
    with pytest.raises(ValueError, match=r"^Event_V0\.Arguments\..*Value: the string contains a NUL"):
        codec(Event_V0).build(record)


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
    ("changes", "message"),
    [
        ({"Signed": 1 << 63}, r"^Odd\.Signed: the number is wider than 64 bits"),
        ({"Signed": -(1 << 63) - 1}, r"^Odd\.Signed: the number is wider"),
        ({"Unsigned": 1 << 64}, r"^Odd\.Unsigned: the number is wider"),
        ({"Unsigned": -1}, r"^Odd\.Unsigned: the number is wider"),
        ({"Id": "no guid"}, r"^Odd\.Id: .*'no guid'"),
        ({"Price": Decimal("NaN")}, r"^Odd\.Price: NaN is not a .NET decimal"),
        ({"Price": Decimal(1 << 96)}, r"^Odd\.Price: .* wider than a .NET decimal"),
        ({"Price": Decimal("1e-29")}, r"^Odd\.Price: .* wider than a .NET decimal"),
        ({"Small": 1e300}, r"^Odd\.Small: "),
        ({"Large": "1"}, r"^Odd\.Large: "),
        ({"Size": 3}, r"^Odd\.Data has 2 elements; Size is 3"),
    ],
)
def test_odd_values_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    built = codec(Odd).build(ODD)
    assert codec(Odd).parse(built) == ODD
    with pytest.raises(ValueError, match=message):
        codec(Odd).build(attrs.evolve(ODD, **changes))


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
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["reference", "testing.builder", "testing.strategies"])
def test_construct_is_loaded_on_demand(module: str) -> None:
    assert "construct" not in loaded("import clrevents; clrevents.open; clrevents.Decoder; import clrevents.events")
    assert "construct" in loaded(f"import clrevents.{module}")
    assert "construct" not in loaded("import clrevents.rewrite")


def test_hypothesis_is_loaded_on_demand() -> None:
    assert "hypothesis" not in loaded("import clrevents.testing.strategies")

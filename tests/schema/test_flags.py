"""Enums never refuse a number: unknown values and bits survive reading, showing, formatting and pickling."""

from __future__ import annotations

import copy
import pickle
from enum import nonmember
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.events import MethodExtent, MethodFlags, OptimizationTier, StubFlags, TailCallType
from clrevents.schema.flags import named_values
from clrevents.types import BitField, OpenEnum, OpenFlag


@given(st.integers(0, (1 << 32) - 1))
def test_any_number_is_a_flag(number: int) -> None:
    flags = MethodFlags(number)
    assert flags == number
    assert int(flags) == number
    assert isinstance(flags, MethodFlags)
    assert flags.tier == (number >> 7) & 7
    assert flags.extent == number >> 28
    assert pickle.loads(pickle.dumps(flags)) == flags
    assert type(pickle.loads(pickle.dumps(flags))) is MethodFlags
    assert copy.copy(flags) == flags
    assert f"{flags:d}" == str(number)
    assert f"{flags}" == str(flags)


@given(st.integers(-(1 << 31), (1 << 64) - 1))
def test_any_number_is_an_enum_value(number: int) -> None:
    value = TailCallType(number)
    assert value == number
    assert value.value == number
    assert isinstance(value, TailCallType)
    assert value == TailCallType(number)
    assert hash(value) == hash(TailCallType(number))
    assert pickle.loads(pickle.dumps(value)) == value
    assert type(pickle.loads(pickle.dumps(value))) is TailCallType
    assert f"{value:x}" == f"{number:x}"


def test_text_of_flags() -> None:
    assert str(StubFlags(0)) == "0"
    assert str(StubFlags.ReverseInterop | StubFlags.Delegate) == "ReverseInterop|Delegate"
    assert str(StubFlags(0x80000001)) == "ReverseInterop|0x80000000"
    assert repr(StubFlags(0x80000001)) == "StubFlags(ReverseInterop|0x80000000)"
    assert repr(StubFlags(0)) == "StubFlags(0)"
    assert f"{StubFlags.VarArg}" == "VarArg"
    assert f"{StubFlags.VarArg:#x}" == "0x10"


def test_text_of_flags_with_bit_fields() -> None:
    flags = MethodFlags(0x1000_0189)
    assert flags.tier is OptimizationTier.QuickJitted
    assert flags.extent is MethodExtent.Cold
    assert str(flags) == "Dynamic|Jitted|tier=QuickJitted|extent=Cold"
    # A tier that has no name, an extent that has none, a bit that has none.
    assert str(MethodFlags(0x2000_0400)) == "extent=2|0x400"
    assert str(MethodFlags(7 << 7)) == "tier=OptimizedTier1Instrumented"
    assert MethodFlags(0).tier is OptimizationTier.Unknown


def test_every_tier_has_its_place() -> None:
    for name, number in named_values(OptimizationTier):
        assert MethodFlags(number << 7 | 0x8).tier.name == name
    assert [n for n, _ in named_values(MethodExtent)] == ["Hot", "Cold"]
    assert MethodFlags(0xF << 28).extent == 15
    assert repr(MethodFlags(0xF << 28).extent) == "MethodExtent(15)"


def test_bit_field_knows_itself() -> None:
    tier, extent = MethodFlags.bit_fields()
    assert (tier.name, tier.shift, tier.width, tier.mask, tier.enum) == ("tier", 7, 3, 0x380, OptimizationTier)
    assert (extent.name, extent.mask) == ("extent", 0xF0000000)
    assert MethodFlags.tier is tier
    assert StubFlags.bit_fields() == ()


@pytest.mark.parametrize("nothing", ["RecursiveLoop", None, 1.5])
def test_only_numbers_are_values(nothing: Any) -> None:
    with pytest.raises(ValueError, match="is not a valid TailCallType"):
        TailCallType(nothing)


def test_users_enums() -> None:
    class Speed(OpenEnum):
        Slow = 0
        Fast = 1

    class Mode(OpenFlag):
        Loud = 1
        speed = nonmember(BitField(4, 2, Speed))
        plain = BitField(6, 1, Speed)

    assert Mode(0x11).speed is Speed.Fast
    assert str(Mode(0x31)) == "Loud|speed=3"
    assert named_values(Mode) == (("Loud", 1),), "with or without `nonmember`, which is for type checkers"

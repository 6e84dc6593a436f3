"""Enums that accept any number, and bit fields inside a flags value.

Event modules only declare them. An unknown value or bit is kept and shown as a number, so that traces of newer
runtimes can be read. Knows nothing of events or bytes.
"""

from __future__ import annotations

from enum import KEEP, Enum, IntEnum, IntFlag
from typing import Any, Generic, TypeVar, overload

E = TypeVar("E", bound="OpenEnum")


class OpenEnum(IntEnum):
    """A value map: equal to its number; a number without a name gives a nameless member."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = ""
        member._value_ = int(value)
        return member

    def __str__(self) -> str:
        return self._name_ or str(int(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._name_}" if self._name_ else f"{type(self).__name__}({int(self)})"

    def __format__(self, spec: str) -> str:
        return str(self) if not spec else format(int(self), spec)


class BitField(Generic[E]):
    """A few bits of a flags value that hold a number: `tier = nonmember(BitField(7, 3, OptimizationTier))`."""

    __slots__ = ("enum", "name", "shift", "width")

    def __init__(self, shift: int, width: int, enum: type[E]) -> None:
        self.shift = shift
        self.width = width
        self.enum = enum
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift

    @overload
    def __get__(self, flags: None, owner: type) -> BitField[E]: ...
    @overload
    def __get__(self, flags: int, owner: type) -> E: ...
    def __get__(self, flags: int | None, owner: type) -> BitField[E] | E:
        if flags is None:
            return self
        return self.enum((int(flags) & self.mask) >> self.shift)


class OpenFlag(IntFlag, boundary=KEEP):
    """A bit map: bits with a name combine by name, bits without one are kept as a number."""

    @classmethod
    def bit_fields(cls) -> tuple[BitField[Any], ...]:
        """The bit fields declared in the class body, lowest bits first."""
        fields = (v for v in vars(cls).values() if isinstance(v, BitField))
        return tuple(sorted(fields, key=lambda f: f.shift))

    def __str__(self) -> str:
        """Names joined by `|`, then `field=Name`, then unnamed bits in hex; `0` if nothing is set."""
        rest = int(self)
        parts = []
        for field in self.bit_fields():
            value = field.__get__(rest, type(self))
            if value:
                parts.append(f"{field.name}={value}")
        for field in self.bit_fields():
            rest &= ~field.mask
        names = []
        for member in type(self):
            if rest & int(member) == int(member):
                names.append(member.name or "")
                rest &= ~int(member)
        unknown = [f"{rest:#x}"] if rest else []
        return "|".join([*names, *parts, *unknown]) or "0"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __format__(self, spec: str) -> str:
        return str(self) if not spec else format(int(self), spec)


def named_values(enum: type[Enum]) -> tuple[tuple[str, int], ...]:
    """Every declared name of an enum with its number, in declaration order (aliases included)."""
    return tuple((name, int(member.value)) for name, member in enum.__members__.items())

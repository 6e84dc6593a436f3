"""Everything that declares an event of your own: `from clrevents.types import UInt32, UnicodeString, event`.

`event` makes a class an event and `struct` a group of fields; `register` takes events described as data. All go to the
registry of this process, or to a `Registry` of your own, which `clrevents.open` takes. The other names are for fields:
`Counted`, `Bytes`, `by` and `pad` are used in `Annotated`, as in `Annotated[Counted[UInt64], by("Count")]`. `OpenEnum`,
`OpenFlag` and `BitField` are for enums, used as `Annotated[MyEnum, UInt32]`.
"""

from clrevents.schema.describe import register
from clrevents.schema.event import event, struct
from clrevents.schema.flags import BitField, OpenEnum, OpenFlag
from clrevents.schema.registry import Registry
from clrevents.schema.types import (
    AnsiString,
    Boolean,
    Boolean8,
    Bytes,
    Char,
    Counted,
    CountedUtf8,
    Delta,
    DotNetDecimal,
    Double,
    FileTime,
    Float,
    Guid,
    Int8,
    Int16,
    Int32,
    Int64,
    Pointer,
    Prefixed,
    Time,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UnicodeString,
    VarInt,
    VarUInt,
    by,
    pad,
)

__all__ = [
    "AnsiString",
    "BitField",
    "Boolean",
    "Boolean8",
    "Bytes",
    "Char",
    "Counted",
    "CountedUtf8",
    "Delta",
    "DotNetDecimal",
    "Double",
    "FileTime",
    "Float",
    "Guid",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "OpenEnum",
    "OpenFlag",
    "Pointer",
    "Prefixed",
    "Registry",
    "Time",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UnicodeString",
    "VarInt",
    "VarUInt",
    "by",
    "event",
    "pad",
    "register",
    "struct",
]

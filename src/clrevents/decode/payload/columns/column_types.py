"""Wire type → the type of the column that holds its values, the same for every trace.

A table's schema depends on this alone. Reads nothing.
"""

from __future__ import annotations

from typing import Final

from clrevents.decode.payload.columns.column import BINARY, STRING, TIMESTAMP, ColumnType
from clrevents.schema.wire import (
    AnsiZ,
    ArrayType,
    BytesType,
    DecimalType,
    EnumType,
    FixedArrayType,
    GuidType,
    LocatedType,
    PointerType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

# Made once: a description may have thousands of numbers.
_NUMBERS: Final = {
    **{"b": ColumnType("int8"), "h": ColumnType("int16"), "i": ColumnType("int32"), "q": ColumnType("int64")},
    **{"B": ColumnType("uint8"), "H": ColumnType("uint16"), "I": ColumnType("uint32"), "Q": ColumnType("uint64")},
    **{"f": ColumnType("float32"), "d": ColumnType("float64")},
}


def column_type(wire: WireType) -> ColumnType:
    """The type of the column that holds values of a wire type."""
    match wire:
        case Scalar(kind="bool"):
            return ColumnType("bool")
        case Scalar(kind="char") | Utf16Z() | AnsiZ() | DecimalType():
            return STRING
        case Scalar(kind="filetime"):
            return TIMESTAMP
        case Scalar(name="Pointer") | PointerType():
            return ColumnType("uint64")
        case Scalar():
            return _NUMBERS[wire.format]
        case EnumType():
            return column_type(wire.base)
        case VarIntType():
            return ColumnType("int64" if wire.signed else "uint64")
        case GuidType() | BytesType():
            return BINARY
        case PrefixedType() | FixedArrayType() | LocatedType() if wire.text:
            return STRING
        case ArrayType():
            return ColumnType("list", (column_type(wire.element),))
        case StructType():
            fields = wire.layout.fields
            return ColumnType("struct", tuple(column_type(f.type) for f in fields), tuple(f.name for f in fields))

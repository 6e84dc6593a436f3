"""Columns → pyarrow arrays and schemas, sharing the numbers' memory.

Imports pyarrow on use; knows no table and no event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.payload.column import Column, ColumnType
from clrevents.table.event_schema import TableField

if TYPE_CHECKING:
    import pyarrow


def arrow_schema(fields: Sequence[TableField], metadata: Mapping[str, str]) -> pyarrow.Schema:
    """The Arrow schema of columns; a payload column's own metadata holds its name on the wire."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(
                field.name,
                arrow_type(field.type),
                nullable=field.nullable,
                metadata=None if field.wire is None else {"wire_name": field.wire},
            )
            for field in fields
        ],
        metadata=dict(metadata) or None,
    )


def arrow_type(type: ColumnType, instead: Mapping[str, pyarrow.DataType] | None = None) -> pyarrow.DataType:
    """The Arrow type of a column's type; `instead` has others for some kinds, at any depth."""
    import pyarrow as pa

    match type.kind:
        case kind if instead and kind in instead:
            return instead[kind]
        case "list":
            # Parquet's name for it, so that a schema survives a round trip.
            return pa.list_(pa.field("element", arrow_type(type.children[0], instead)))
        case "struct":
            children = zip(type.names, type.children, strict=True)
            return pa.struct([pa.field(name, arrow_type(child, instead)) for name, child in children])
        case "timestamp":
            return pa.timestamp("ns", tz="UTC")
        case "bool":
            return pa.bool_()
        case "string":
            return pa.string()
        case "binary":
            return pa.binary()
        case kind:
            return pa.from_numpy_dtype(np.dtype(kind))


def arrow_array(column: Column) -> pyarrow.Array:
    """The same column in Arrow: numbers and text share memory, bits are packed."""
    import pyarrow as pa

    type, length = arrow_type(column.type), len(column)
    valid = None if column.valid is None else _bits(column.valid)
    if column.texts is not None:
        # Not `pa.array`, which imports pandas to check for its types.
        codes = pa.Array.from_buffers(pa.int32(), length, [valid, pa.py_buffer(column.values.astype(np.int32))])
        return pa.DictionaryArray.from_arrays(codes, arrow_array(column.texts)).cast(pa.string())
    match column.type.kind:
        case "struct":
            children = [arrow_array(child) for child in column.children]
            return pa.Array.from_buffers(type, length, [valid], children=children)
        case "list":
            offsets = pa.py_buffer(column.offsets.astype(np.int32))
            return pa.Array.from_buffers(type, length, [valid, offsets], children=[arrow_array(column.children[0])])
        case "string" | "binary":
            offsets = pa.py_buffer(column.offsets.astype(np.int32))
            return pa.Array.from_buffers(
                type, length, [valid, offsets, pa.py_buffer(np.ascontiguousarray(column.values))]
            )
        case "bool":
            return pa.Array.from_buffers(type, length, [valid, _bits(column.values)])
        case _:
            return pa.Array.from_buffers(type, length, [valid, pa.py_buffer(np.ascontiguousarray(column.values))])


def _bits(values: NDArray[np.bool_]) -> pyarrow.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(values, bitorder="little"))

"""Tables → bytes of a file: Parquet, Arrow, CSV and JSON lines, piece by piece.

Each writer receives the table's columns once, and rows any number of times. Knows no trace and no folder; pyarrow is
imported on use.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeAlias

import numpy as np

from clrevents.export.files.csv_lines import csv_lines
from clrevents.export.files.sink import FileSink
from clrevents.table.arrow import arrow_schema
from clrevents.table.childless import childful_fields, without_childless
from clrevents.table.table import Table, needed, portions

Format: TypeAlias = Literal["parquet", "arrow", "csv", "jsonl"]
FORMATS: Final[tuple[Format, ...]] = ("parquet", "arrow", "csv", "jsonl")

GROUP_ROWS: Final = 1 << 17
GROUP_BYTES: Final = 8 << 20
"""A table is written once it has this many rows or bytes: a row group of Parquet."""


_COMPRESSIBLE: Final = 64
"""Average bytes per column. Below this, compression gains nothing and takes longer than everything else."""
_PAGE: Final = 1 << 17
"""Bytes. An open file keeps a page of its last column in memory; smaller pages have no measurable cost."""
_BUFFER: Final = 1 << 16
"""Bytes that pyarrow gathers before it writes them: writing takes the interpreter's lock, which a thread waits for."""


class Writer(ABC):
    """A table being written to a file. `beside_us`: mostly outside the interpreter, so a second thread saves time."""

    beside_us: ClassVar[bool] = False

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        self.sink = sink

    @abstractmethod
    def write(self, table: Table) -> None:
        """Write rows with the same columns."""

    def close(self, rest: Table) -> None:
        """Write the last rows, if any, and the end, without which the file is incomplete."""
        if len(rest):
            self.write(rest)
        self.sink.close()


class ParquetWriter(Writer):
    """zstd at its fastest level, dictionaries for text only, deltas for times: docs/tables.md has the measurements.
    Tables of a few rows are not compressed.

    A row group costs memory until the file is complete, and takes readers time. Rows too few for one therefore go to
    a temporary file until there are more. Structs without fields are left out.
    """

    beside_us = True

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        super().__init__(sink, table, metadata)
        self._pa = needed("pyarrow", "arrow", "a Parquet file")
        self._ipc = needed("pyarrow.ipc", "arrow", "a Parquet file")
        self._parquet = needed("pyarrow.parquet", "arrow", "a Parquet file")
        fields = childful_fields(table.fields)
        self._schema = arrow_schema(fields, metadata)
        self._texts = [path for f in fields for path in _texts(f.type, f.name)]
        self._times = [f.name for f in table.fields if f.name in ("time_ns", "time") and f.wire is None]
        self._out: Any = None
        self._writer: Any = None
        self._aside: Path | None = None
        self._rows = self._bytes = 0

    def write(self, table: Table) -> None:
        more = self._arrow(table)
        self._rows += more.num_rows
        self._bytes += more.nbytes
        if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._group(more)
        else:
            self._put_aside(more)
        self._release()

    def close(self, rest: Table) -> None:
        last = self._arrow(rest)
        self._bytes += last.nbytes
        self._group(last)
        self._writer.close()
        self._out.flush()
        self.sink.close()
        self._release()

    def _release(self) -> None:
        """Otherwise pyarrow keeps 30 MB of what it no longer uses."""
        self._pa.default_memory_pool().release_unused()

    def _arrow(self, table: Table) -> Any:
        return without_childless(table).to_arrow().replace_schema_metadata(self._schema.metadata)

    def _put_aside(self, table: Any) -> None:
        self._aside = self.sink.path.with_name(f"{self.sink.path.name}.rows")
        with self._aside.open("ab") as file:
            # Whole messages: writing them piece by piece would take the interpreter's lock for each.
            file.writelines(batch.serialize() for batch in table.to_batches())

    def _group(self, table: Any) -> None:
        """Write the rows set aside and these as one row group."""
        if self._writer is None:
            small = self._bytes < _COMPRESSIBLE * len(self._schema)
            self._out = self._pa.BufferedOutputStream(self._pa.PythonFile(self.sink, mode="w"), _BUFFER)
            self._writer = self._parquet.ParquetWriter(
                self._out,
                self._schema,
                compression="none" if small else "zstd",
                compression_level=None if small else 1,
                data_page_size=_PAGE,
                use_dictionary=self._texts,
                column_encoding=dict.fromkeys(self._times, "DELTA_BINARY_PACKED"),
            )
        if self._aside is not None:
            with self._pa.OSFile(str(self._aside)) as file:
                before = iter(lambda: _message(self._ipc, file, self._schema), None)
                table = self._pa.Table.from_batches([*before, *table.to_batches()], self._schema)
            self._aside.unlink()
            self._aside = None
        self._rows = self._bytes = 0
        if table.num_rows:
            self._writer.write_table(table, GROUP_ROWS)
            self._out.flush()
            self.sink.flush()


class ArrowWriter(Writer):
    """Arrow's own file format, also called Feather."""

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        super().__init__(sink, table, metadata)
        self._pa = needed("pyarrow", "arrow", "an Arrow file")
        ipc = needed("pyarrow.ipc", "arrow", "an Arrow file")
        options = ipc.IpcWriteOptions(compression="zstd")
        self._file = self._pa.PythonFile(sink, mode="w")
        self._schema = arrow_schema(table.fields, metadata)
        self._writer = ipc.new_file(self._file, self._schema, options=options)

    def write(self, table: Table) -> None:
        self._writer.write_table(table.to_arrow().replace_schema_metadata(self._schema.metadata).combine_chunks())

    def close(self, rest: Table) -> None:
        if len(rest):
            self.write(rest)
        self._writer.close()
        self.sink.close()


class CsvWriter(Writer):
    """A header line, then a line per row; null is an empty field, lists and structs are JSON."""

    _spreadsheet = False

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        super().__init__(sink, table, metadata)
        self._rows([table.columns])

    def write(self, table: Table) -> None:
        for part in table.parts:
            for columns in portions(part):
                self._rows(zip(*map(_cells, columns), strict=True))

    def _rows(self, rows: Iterable[Iterable[Any]]) -> None:
        self.sink.write("\n".join([*csv_lines(rows, self._spreadsheet), ""]).encode("utf-8"))


class SpreadsheetWriter(CsvWriter):
    """The same, and no text is a formula."""

    _spreadsheet = True


class JsonWriter(Writer):
    """One object per line, a key per column."""

    def write(self, table: Table) -> None:
        names = table.columns
        for part in table.parts:
            for columns in portions(part):
                rows = zip(*map(_values, columns), strict=True)
                lines = [_encode(dict(zip(names, row, strict=True))) for row in rows]
                self.sink.write("\n".join([*lines, ""]).encode("ascii"))


WRITERS: Final[Mapping[str, type[Writer]]] = {
    "parquet": ParquetWriter,
    "arrow": ArrowWriter,
    "csv": CsvWriter,
    "jsonl": JsonWriter,
}

_encode: Final = json.JSONEncoder(ensure_ascii=True, check_circular=False, allow_nan=False).encode


def _message(ipc: Any, file: Any, schema: Any) -> Any:
    """The next rows of those set aside; None at the end."""
    try:
        return ipc.read_record_batch(file, schema)
    except EOFError:
        return None


def _texts(type: Any, path: str) -> Iterable[str]:
    """The paths of a column's text, named as Parquet names leaves."""
    if type.kind == "string":
        yield path
    elif type.kind == "list":
        yield from _texts(type.children[0], f"{path}.list.element")
    elif type.kind == "struct":
        for name, child in zip(type.names, type.children, strict=True):
            yield from _texts(child, f"{path}.{name}")


def _values(column: Any) -> list[Any]:
    """Values as in JSON: bytes as hex, times as ISO text, non-finite numbers as text."""
    values: list[Any] = column.tolist()
    change = _change(column.type)
    if column.type.kind == "timestamp":
        texts = np.datetime_as_string(column.values.view("datetime64[ns]"), unit="ns").tolist()
        return [None if value is None else f"{text}Z" for value, text in zip(values, texts, strict=True)]
    return values if change is None else [None if value is None else change(value) for value in values]


def _change(type: Any) -> Callable[[Any], Any] | None:
    """How a value of a type becomes JSON; None if it already is."""
    match type.kind:
        case "binary":
            return bytes.hex
        case "float32" | "float64":
            return _finite
        case "timestamp":
            return lambda value: f"{np.datetime64(value, 'ns')}Z"
        case "list":
            inner = _change(type.children[0])
            return None if inner is None else lambda items: [None if i is None else inner(i) for i in items]
        case "struct":
            changes = {n: c for n, t in zip(type.names, type.children, strict=True) if (c := _change(t)) is not None}
            if not changes:
                return None
            return lambda group: {n: changes[n](v) if v is not None and n in changes else v for n, v in group.items()}
        case _:
            return None


def _finite(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _cells(column: Any) -> list[Any]:
    """Values as CSV fields."""
    values = _values(column)
    match column.type.kind:
        case "list" | "struct":
            return [None if value is None else _encode(value) for value in values]
        case "bool":
            return [None if value is None else str(value).lower() for value in values]
        case _:
            return values


def json_rows(table: Table) -> list[dict[str, Any]]:
    """A table's rows as JSON objects: see `JsonWriter`."""
    columns = {field.name: _values(table.column(field.name)) for field in table.fields}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

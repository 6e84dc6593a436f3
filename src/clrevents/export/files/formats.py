"""Tables → bytes of a file: Parquet, Arrow, CSV and JSON lines, piece by piece.

Each writer receives the table's columns once, and rows any number of times. Files are open only while they are written:
a trace may have more events than a process may have open files. Knows no trace and no folder; pyarrow is
imported on use.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Literal, TypeAlias

import attrs
import numpy as np

from clrevents.export.files.answers import csv_lines
from clrevents.export.files.json_pieces import finite, json_text
from clrevents.table.arrow import arrow_array, arrow_schema
from clrevents.table.event_schema import TableField
from clrevents.table.table import Column, ColumnType, Table, needed, portions

if TYPE_CHECKING:
    import pyarrow

Format: TypeAlias = Literal["parquet", "arrow", "csv", "jsonl"]
FORMATS: Final[tuple[Format, ...]] = ("parquet", "arrow", "csv", "jsonl")

GROUP_ROWS: Final = 1 << 17
GROUP_BYTES: Final = 8 << 20
"""A row group is complete once it has this many rows or bytes."""


_COMPRESSIBLE: Final = 64
"""Average bytes per column. Below this, compression gains nothing and takes longer than everything else."""
_PAGE: Final = 1 << 17
"""Bytes. An open file keeps a page of its last column in memory; smaller pages have no measurable cost."""
_HELD: Final = 1 << 20


class Writer(ABC):
    """A table being written to a file. The bytes depend on the parts of its tables, not on how many come at a time."""

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


class GroupedWriter(Writer):
    """A file of row groups: each ends with the part of a table that fills it.

    A row group costs memory until the file is complete, and takes readers time. Rows too few for one therefore go to
    a temporary file until there are more. `what` is said if pyarrow is missing.
    """

    what: ClassVar[str]

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        super().__init__(sink, table, metadata)
        self._pa = needed("pyarrow", "arrow", f"{self.what} file")
        self._ipc = needed("pyarrow.ipc", "arrow", f"{self.what} file")
        self._schema = arrow_schema(table.fields, metadata)
        self._begun = False
        self._aside: Path | None = None
        self._rows = self._bytes = 0
        self._writer: Any = None

    @abstractmethod
    def _begin(self, group_bytes: int) -> None:
        """Write what is before the first row group, of which this is the size in memory."""

    @abstractmethod
    def _add(self, table: pyarrow.Table) -> None:
        """Write a row group."""

    def write(self, table: Table) -> None:
        if batches := self._filled(table):
            new = self._aside is None
            self._aside = self._aside or self.sink.path.with_name(f"{self.sink.path.name}.rows")
            with opened(self._aside, new) as file:
                file.writelines(batch.serialize() for batch in batches)
        self._release()

    def close(self, rest: Table) -> None:
        self._group(self._filled(rest))
        self._writer.close()
        self.sink.close()
        self._release()

    def _filled(self, table: Table) -> list[pyarrow.RecordBatch]:
        """Write the row groups that these rows complete; returns the rows after them."""
        waiting = []
        for part in table.parts:
            batch = self._pa.record_batch([arrow_array(column) for column in part], schema=self._schema)
            waiting.append(batch)
            self._rows += batch.num_rows
            self._bytes += batch.nbytes
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._group(waiting)
                waiting = []
        return waiting

    def _group(self, batches: list[pyarrow.RecordBatch]) -> None:
        """Write the rows set aside and these as one row group; the first one in any case, for what is before it."""
        if not self._begun:
            self._begun = True
            self._begin(self._bytes)
        if self._aside is not None:
            with self._pa.OSFile(str(self._aside)) as file:
                batches = [*iter(lambda: _message(self._ipc, file, self._schema), None), *batches]
            self._aside.unlink()
            self._aside = None
        self._rows = self._bytes = 0
        if batches:
            self._add(self._pa.Table.from_batches(batches, self._schema))
            self.sink.flush()

    def _release(self) -> None:
        """Otherwise pyarrow's own allocators keep 30 MB of what is no longer used. The system's has uses for it, and
        would ask for it again at once."""
        pool = self._pa.default_memory_pool()
        if pool.backend_name != "system":
            pool.release_unused()


class ParquetWriter(GroupedWriter):
    """zstd at its fastest level, dictionaries for text only, deltas for times: docs/export.md has the measurements.

    Tables of a few rows are not compressed. Structs without fields are left out.
    """

    what = "a Parquet"

    def __init__(self, sink: FileSink, table: Table, metadata: Mapping[str, str]) -> None:
        super().__init__(sink, _without_childless(table), metadata)
        self._parquet = needed("pyarrow.parquet", "arrow", "a Parquet file")
        self._fields = _childful_fields(table.fields)

    def _filled(self, table: Table) -> list[pyarrow.RecordBatch]:
        return super()._filled(_without_childless(table))

    def _begin(self, group_bytes: int) -> None:
        small = group_bytes < _COMPRESSIBLE * len(self._schema)
        times = [field for field in self._fields if field.name in ("time_ns", "time") and field.wire is None]
        self._writer = self._parquet.ParquetWriter(
            self._pa.PythonFile(self.sink, mode="w"),
            self._schema,
            compression="none" if small else "zstd",
            compression_level=None if small else 1,
            data_page_size=_PAGE,
            use_dictionary=[path for f in self._fields for path in _texts(f.type, f.name)],
            column_encoding={f.name: "DELTA_BINARY_PACKED" for f in times},
        )

    def _add(self, table: pyarrow.Table) -> None:
        groups = max(1, table.num_rows // GROUP_ROWS)
        self._writer.write_table(table, -(-table.num_rows // groups))


class ArrowWriter(GroupedWriter):
    """Arrow's own file format, also called Feather; a row group is a batch of records."""

    what = "an Arrow"

    def _begin(self, group_bytes: int) -> None:
        options = self._ipc.IpcWriteOptions(compression="zstd")
        self._writer = self._ipc.new_file(self._pa.PythonFile(self.sink, mode="w"), self._schema, options=options)

    def _add(self, table: pyarrow.Table) -> None:
        self._writer.write_table(table.combine_chunks())


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

    def _rows(self, rows: Iterable[Iterable[object]]) -> None:
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
                lines = [json_text(dict(zip(names, row, strict=True))) for row in rows]
                self.sink.write("\n".join([*lines, ""]).encode("ascii"))


WRITERS: Final[Mapping[str, type[Writer]]] = {
    "parquet": ParquetWriter,
    "arrow": ArrowWriter,
    "csv": CsvWriter,
    "jsonl": JsonWriter,
}


def _message(ipc: Any, file: Any, schema: Any) -> Any:
    """The next rows of those set aside; None at the end."""
    try:
        return ipc.read_record_batch(file, schema)
    except EOFError:
        return None


def _texts(type: ColumnType, path: str) -> Iterable[str]:
    """The paths of a column's text, named as Parquet names leaves."""
    if type.kind == "string":
        yield path
    elif type.kind == "list":
        yield from _texts(type.children[0], f"{path}.list.element")
    elif type.kind == "struct":
        for name, child in zip(type.names, type.children, strict=True):
            yield from _texts(child, f"{path}.{name}")


def _values(column: Column) -> list[object]:
    """Values as in JSON: bytes as hex, times as ISO text, non-finite numbers as text."""
    values = column.tolist()
    change = _change(column.type)
    if column.type.kind == "timestamp":
        texts = np.datetime_as_string(column.values.view("datetime64[ns]"), unit="ns").tolist()
        return [None if value is None else f"{text}Z" for value, text in zip(values, texts, strict=True)]
    return values if change is None else [None if value is None else change(value) for value in values]


def _change(type: ColumnType) -> Callable[[Any], Any] | None:
    """How a value of a type becomes JSON; None if it already is."""
    match type.kind:
        case "binary":
            return bytes.hex
        case "float32" | "float64":
            return finite
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


def _cells(column: Column) -> list[object]:
    """Values as CSV fields."""
    values = _values(column)
    match column.type.kind:
        case "list" | "struct":
            return [None if value is None else json_text(value) for value in values]
        case "bool":
            return [None if value is None else str(value).lower() for value in values]
        case _:
            return values


def json_rows(table: Table) -> list[dict[str, Any]]:
    """A table's rows as JSON objects: see `JsonWriter`."""
    columns = {field.name: _values(table.column(field.name)) for field in table.fields}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def opened(path: Path, new: bool) -> BinaryIO:
    """A new file, or one to append to. Raises FileExistsError, or FileNotFoundError: a file that somebody removed would
    otherwise lack its beginning."""
    file = open(path, "xb" if new else "r+b")  # noqa: SIM115 - the caller's
    file.seek(0, os.SEEK_END)
    return file


class FileSink:
    """Appends to a new file, buffering at most a megabyte. Raises FileExistsError if the file exists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.closed = False
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._size = 0
        self._given_up = False
        self._new = True

    def write(self, data: Any) -> int:
        """Write bytes, or any object with a buffer."""
        if self._given_up:
            return memoryview(data).nbytes
        piece = bytes(data)
        self._waiting.append(piece)
        self._bytes += len(piece)
        self._size += len(piece)
        if self._bytes >= _HELD:
            self.flush()
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if self._waiting or self._new:
            with opened(self.path, self._new) as file:
                file.writelines(self._waiting)
            self._new = False
            self._waiting.clear()
            self._bytes = 0

    def give_up(self) -> None:
        """Write nothing more: pyarrow does when its objects go, though the file may be gone by then."""
        self._given_up = True
        self._waiting.clear()

    def close(self) -> None:
        if not self.closed:
            self.flush()
            self.closed = True


def _without_childless(table: Table) -> Table:
    """The same table without structs that have no fields, at any depth: Parquet cannot hold them."""
    if all(_kept(field.type) == field.type for field in table.fields):
        return table
    fields = _childful_fields(table.fields)
    kept = [index for index, field in enumerate(table.fields) if _kept(field.type) is not None]
    parts = tuple(tuple(_shaped(part[index]) for index in kept) for part in table.parts)
    return Table(fields, parts, table.metadata)


def _childful_fields(fields: Sequence[TableField]) -> tuple[TableField, ...]:
    """The fields of such a table."""
    pairs = ((field, _kept(field.type)) for field in fields)
    return tuple(
        field if kept == field.type else attrs.evolve(field, type=kept) for field, kept in pairs if kept is not None
    )


def _kept(type: ColumnType) -> ColumnType | None:
    """What is left of a type; None if that is nothing."""
    if type.kind not in ("struct", "list"):
        return type
    kept_children = [_kept(child) for child in type.children]
    children = tuple(child for child in kept_children if child is not None)
    if not children:
        return None
    if type.kind == "list":
        return attrs.evolve(type, children=children)
    names = tuple(name for name, child in zip(type.names, kept_children, strict=True) if child is not None)
    return attrs.evolve(type, children=children, names=names)


def _shaped(column: Column) -> Column:
    type = _kept(column.type)
    if type is None or type == column.type:
        return column
    children = tuple(_shaped(child) for child in column.children if _kept(child.type) is not None)
    return attrs.evolve(column, type=type, children=children)

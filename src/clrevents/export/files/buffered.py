"""Many tables at once, each into its own file, with bounded memory and without tiny pieces.

Rows wait until there are enough of them to be worth writing, or until the waiting rows exceed the budget; then the
largest table goes first. That decides when bytes are written, never which: a file is the same whatever else is written
beside it. Files have temporary names until all are complete. Knows no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from clrevents._util.outputs import PARTIAL
from clrevents.export.files import formats
from clrevents.export.files.formats import Format
from clrevents.table.table import Column, Table

_BUDGET: Final = 8 << 20
"""Bytes buffered in memory. More would be slightly faster, but take more than that: small arrays fragment the heap."""

_OBJECTS: Final = 400
"""Bytes of the Python objects that a column consists of: with rows that come one at a time they are nearly all."""


@dataclass
class TableFile:
    """A table being written to `path`: the waiting rows, and the writer once something was written."""

    path: Path
    like: Table
    metadata: Mapping[str, str]
    rows: int = 0
    waiting: list[Table] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    writer: formats.Writer | None = None

    @property
    def partial(self) -> Path:
        return self.path.with_name(self.path.name + PARTIAL)

    def append(self, make: type[formats.Writer]) -> None:
        """Write the waiting rows, after the file's header the first time."""
        writer, rest = self._open(make), self._taken()
        if len(rest):
            writer.write(rest)
            writer.sink.flush()

    def finish(self, make: type[formats.Writer]) -> None:
        """Write the waiting rows and the end of the file."""
        self._open(make).close(self._taken())
        self.writer = None

    def _taken(self) -> Table:
        """The waiting rows, which wait no longer."""
        parts = tuple(part for table in self.waiting for part in table.parts)
        self.waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0
        return Table(self.like.fields, parts)

    def _open(self, make: type[formats.Writer]) -> formats.Writer:
        if self.writer is None:
            self.partial.parent.mkdir(parents=True, exist_ok=True)
            self.writer = make(formats.FileSink(self.partial), self.like, self.metadata)
        return self.writer


class TableFiles(AbstractContextManager["TableFiles"]):
    """All the files of one export, in a `with` block. `close` completes them; without it they keep their temporary
    names.

    With `spreadsheet`, no text in CSV is a formula.
    """

    def __init__(self, format: Format, budget: int = _BUDGET, *, spreadsheet: bool = False) -> None:
        self._make = formats.SpreadsheetWriter if spreadsheet and format == "csv" else formats.WRITERS[format]
        self._budget = budget
        self._waiting = 0
        self._files: list[TableFile] = []

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            if file.writer is not None:
                file.writer.sink.give_up()

    @property
    def paths(self) -> list[Path]:
        """Of all files."""
        return [file.path for file in self._files]

    def add(self, path: Path, like: Table, metadata: Mapping[str, str]) -> TableFile:
        """Add a file for tables with the columns of `like`."""
        file = TableFile(path, like, metadata)
        self._files.append(file)
        return file

    def write(self, file: TableFile, table: Table) -> None:
        """Add rows to a file: written now or later."""
        if not len(table):
            return
        size = sum(_column_bytes(column) for part in table.parts for column in part)
        file.waiting.append(table)
        file.rows += len(table)
        file.waiting_rows += len(table)
        file.waiting_bytes += size
        self._waiting += size
        if file.waiting_rows >= formats.GROUP_ROWS or file.waiting_bytes >= formats.GROUP_BYTES:
            self._flush(file)
        if self._waiting > self._budget:
            for largest in sorted(self._files, key=lambda f: -f.waiting_bytes):
                self._flush(largest)
                if self._waiting <= self._budget // 2:
                    break

    def close(self) -> None:
        """Write the rest of every file, and give all of them their final names."""
        for file in self._files:
            self._waiting -= file.waiting_bytes
            file.finish(self._make)
        for file in self._files:
            file.partial.replace(file.path)

    def _flush(self, file: TableFile) -> None:
        self._waiting -= file.waiting_bytes
        file.append(self._make)


def _column_bytes(column: Column) -> int:
    """Approximately how much memory it takes. Text shared by many rows is counted for each of them: they may be all
    that is left of a run."""
    size: int = _OBJECTS + column.values.nbytes + column.offsets.nbytes
    if column.valid is not None:
        size += column.valid.nbytes
    if column.texts is not None:
        size += column.texts.values.nbytes
    return size + sum(map(_column_bytes, column.children))

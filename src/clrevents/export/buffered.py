"""Many tables at once, each into a file of its own, with bounded memory and without tiny pieces.

Rows wait until there are enough of them to be worth writing, or until all that waits is too much; then the largest
goes first. Files have other names until everything is whole. Knows no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from clrevents.export.formats import GROUP_BYTES, GROUP_ROWS, WRITERS, Format, Writer
from clrevents.export.sink import FileSink
from clrevents.outputs import PARTIAL
from clrevents.table.table import Table

_BUDGET: Final = 2 << 20
"""Bytes that wait in memory. More would be a little faster, but small arrays that live long keep the heap in pieces."""


@dataclass
class TableFile:
    """One table on its way into `path`: what waits, and the writer once something was written."""

    path: Path
    like: Table
    metadata: Mapping[str, str]
    rows: int = 0
    waiting: list[Table] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    writer: Writer | None = None

    @property
    def partial(self) -> Path:
        return self.path.with_name(self.path.name + PARTIAL)

    def flush(self, format: Format) -> None:
        """Write what waits; the first time also what stands in front of all rows."""
        writer, rest = self._open(format), self._taken()
        if len(rest):
            writer.write(rest)
            writer.sink.flush()

    def finish(self, format: Format) -> None:
        """Write what waits, and the end."""
        self._open(format).close(self._taken())
        self.writer = None

    def _open(self, format: Format) -> Writer:
        if self.writer is None:
            self.partial.parent.mkdir(parents=True, exist_ok=True)
            self.writer = WRITERS[format](FileSink(self.partial), self.like, self.metadata)
        return self.writer

    def _taken(self) -> Table:
        parts = tuple(part for table in self.waiting for part in table.parts)
        self.waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0
        return Table(self.like.fields, parts)


class TableFiles:
    """All the files of one export. `close` makes them whole; without it they keep their other names."""

    def __init__(self, format: Format, budget: int = _BUDGET) -> None:
        self._format = format
        self._budget = budget
        self._held = 0
        self._files: list[TableFile] = []

    def add(self, path: Path, like: Table, metadata: Mapping[str, str]) -> TableFile:
        """A new file for tables with the columns of `like`."""
        made = TableFile(path, like, metadata)
        self._files.append(made)
        return made

    def write(self, file: TableFile, table: Table) -> None:
        """Some more rows for a file: now, or later."""
        if not len(table):
            return
        size = table_bytes(table)
        file.waiting.append(table)
        file.rows += len(table)
        file.waiting_rows += len(table)
        file.waiting_bytes += size
        self._held += size
        if file.waiting_rows >= GROUP_ROWS or file.waiting_bytes >= GROUP_BYTES:
            self._flush(file)
        if self._held > self._budget:
            for largest in sorted(self._files, key=lambda f: -f.waiting_bytes):
                self._flush(largest)
                if self._held <= self._budget // 2:
                    break

    def close(self) -> None:
        """Write the rest of every file, and give all of them their names."""
        for file in self._files:
            self._held -= file.waiting_bytes
            file.finish(self._format)
        for file in self._files:
            file.partial.replace(file.path)

    def _flush(self, file: TableFile) -> None:
        self._held -= file.waiting_bytes
        file.flush(self._format)


def table_bytes(table: Table) -> int:
    """About how much memory a table's rows take."""
    return sum(_column_bytes(column) for part in table.parts for column in part)


def _column_bytes(column: Any) -> int:
    """Text that is held once for many rows is counted with each of them: it may be all that is left of a run."""
    size: int = column.values.nbytes + column.offsets.nbytes
    if column.valid is not None:
        size += column.valid.nbytes
    if column.texts is not None:
        size += column.texts.values.nbytes
    return size + sum(map(_column_bytes, column.children))

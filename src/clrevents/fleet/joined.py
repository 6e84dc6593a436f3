"""Tables of many traces → one table with a column `trace`: `Joined`, which copies no row, and Arrow files for SQL.

Tables of an event that the registry knows have the same columns in every trace. If only traces describe an event, the
columns are the union, and a field that became wider has the wider type. Asks no trace.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.payload.column import Column, common, nulls, widened
from clrevents.fleet.questions import UNREAD, TraceProblem
from clrevents.table.query import sql_arrow
from clrevents.table.table import Table, TableField, needed, renamed, row_fields, text_column

TRACE: Final = "trace"
"""The column for the trace that a row belongs to: its path or URL as given."""
_COLUMNS: Final = 20_000
"""The most columns: a crafted trace may describe thousands more."""


@frozen
class _TraceRow:
    trace: str


class Joined:
    """Gathers tables of the same kind, in the order of their traces."""

    def __init__(self) -> None:
        self._fields: dict[str, TableField] = {}
        self._tables: list[tuple[str, tuple[TableField, ...], Table]] = []
        self._metadata: dict[str, str] = {}
        self._joined = 0
        # Fields of the last table, and as they are called here: most tables have the same, and change nothing.
        self._last: tuple[tuple[TableField, ...], tuple[TableField, ...]] = (), ()

    def add(self, path: str, table: Table) -> TraceProblem | None:
        """Take the table of a trace; returns a problem, and takes nothing, if its columns do not fit the previous
        ones."""
        if table.fields != self._last[0]:
            fields = renamed(table.fields, (TRACE,))
            if (why := self._merge(fields)) is not None:
                return TraceProblem(path, "columns", UNREAD, why, impact="the answer leaves out this trace")
            self._last = table.fields, fields
        if self._fields:
            self._joined += 1
        if len(table):
            self._tables.append((path, self._last[1], table))
        for key in ("provider", "id", "name"):
            if key in table.metadata:
                self._metadata.setdefault(key, table.metadata[key])
        return None

    def _merge(self, fields: Sequence[TableField]) -> str | None:
        """Widen the columns to these, too; returns why not, if that is impossible."""
        merged: dict[str, TableField] = {}
        for field in fields:
            known = self._fields.get(field.name)
            if known is None:
                merged[field.name] = attrs.evolve(field, nullable=field.nullable or self._joined > 0)
            elif (type := common(known.type, field.type)) is not None:
                merged[field.name] = attrs.evolve(known, type=type, nullable=known.nullable or field.nullable)
            else:
                return f"{field.name} is {field.type} in this trace and {known.type} in those before it"
        if len(self._fields | merged) > _COLUMNS:
            return f"with it the table would have more than {_COLUMNS} columns"
        for name, field in self._fields.items():
            if name not in merged:
                merged[name] = attrs.evolve(field, nullable=True)
        self._fields = {**{name: merged[name] for name in self._fields}, **merged}
        return None

    @property
    def known(self) -> bool:
        """Whether any trace has given the columns."""
        return self._joined > 0

    def table(self) -> Table:
        """All rows. Parts stay as they are in their traces."""
        fields = (*row_fields(_TraceRow), *self._fields.values())
        parts = [
            (
                text_column((path,), np.zeros(len(part[0]), dtype=np.int64)),
                *fitted(tuple(self._fields.values()), own, part),
            )
            for path, own, table in self._tables
            for part in table.parts
        ]
        return Table(fields, tuple(parts), self._metadata)


def with_trace(path: str, table: Table) -> Table:
    """One trace's table with the column `trace` in front."""
    joined = Joined()
    joined.add(path, table)
    return joined.table()


def rows_of_traces(paths: Sequence[str], table: Table) -> Table:
    """A table that has one row of each of these traces, with the column `trace` in front."""
    fields = (*row_fields(_TraceRow), *renamed(table.fields, (TRACE,)))
    ((*columns,),) = table.parts or ((),)
    return Table(fields, ((text_column(paths, np.arange(len(paths))), *columns),) if paths else ())


def fitted(wanted: Sequence[TableField], own: Sequence[TableField], part: Sequence[Column]) -> list[Column]:
    """The columns in this order and of these types; those that are not there are null."""
    by_name = {field.name: column for field, column in zip(own, part, strict=True)}
    rows = len(part[0])
    return [
        widened(by_name[field.name], field.type) if field.name in by_name else nulls(field.type, rows)
        for field in wanted
    ]


class SqlTable:
    """A table that is gathered for a query: rows of a trace go to the file of their schema, of which there is usually
    one. The files go with it."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="clrevents-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._columns = Joined()
        self._writers: dict[str, tuple[Any, Any]] = {}

    def add(self, path: str, table: Table) -> TraceProblem | None:
        """Write a trace's rows; returns a problem if its columns do not fit the previous ones."""
        problem = self._columns.add(path, Table(table.fields))
        if problem is not None or not len(table):
            return problem
        pa = needed("pyarrow", "query", "SQL")
        rows = sql_arrow(with_trace(path, table)).replace_schema_metadata(None)
        key = str(rows.schema)
        if key not in self._writers:
            sink = pa.OSFile(str(self._folder / f"{len(self._writers)}.arrow"), "wb")
            self._writers[key] = sink, needed("pyarrow.ipc", "query", "SQL").new_file(sink, rows.schema)
        self._writers[key][1].write_table(rows)
        return None

    def close(self) -> Any:
        """What duckdb reads: None if no trace has the table."""
        for sink, writer in self._writers.values():
            writer.close()
            sink.close()
        if not self._columns.known:
            return None
        empty = self._columns.table()
        if not self._writers:
            return empty
        schema = sql_arrow(empty).replace_schema_metadata(None).schema
        files = sorted(map(str, self._folder.iterdir()), key=lambda name: int(Path(name).stem))
        return needed("pyarrow.dataset", "query", "SQL").dataset(files, schema=schema, format="ipc")

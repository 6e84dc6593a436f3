"""`SqlFiles`: tables of many traces as Arrow files that SQL reads piece by piece: memory does not grow with them.

The files are in a temporary folder, which is removed with the last reference to this. Runs no SQL.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from clrevents.fleet.joined import Joined
from clrevents.fleet.outcome import TraceProblem
from clrevents.table.query import sql_arrow
from clrevents.table.table import Table, needed


class SqlFiles:
    """Tables that were gathered for one query."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="clrevents-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._number = 0

    def gather(self) -> SqlTable:
        """A new table, empty as yet."""
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        return SqlTable(folder)


class SqlTable:
    """One table: rows of a trace go to the file of their schema, of which there is usually one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._columns = Joined()
        self._writers: dict[str, tuple[Any, Any]] = {}

    def add(self, path: str, table: Table) -> TraceProblem | None:
        """Write a trace's rows; returns a problem if its columns do not fit the previous ones."""
        problem = self._columns.add(path, Table(table.fields))
        if problem is not None or not len(table):
            return problem
        pa = needed("pyarrow", "query", "SQL")
        own = Joined()
        own.add(path, table)
        found = sql_arrow(own.table()).replace_schema_metadata(None)
        key = str(found.schema)
        if key not in self._writers:
            sink = pa.OSFile(str(self._folder / f"{len(self._writers)}.arrow"), "wb")
            self._writers[key] = sink, needed("pyarrow.ipc", "query", "SQL").new_file(sink, found.schema)
        self._writers[key][1].write_table(found)
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

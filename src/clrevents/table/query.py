"""SQL over tables, through duckdb. Knows neither events nor traces: it is told how a name becomes a table."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any, Final

from clrevents.table.table import Table, needed

# How duckdb says that a name stands for nothing, and that a query may not touch files.
_MISSING: Final = re.compile(r"Catalog Error: Table with name (.+?) does not exist(?:!| because)", re.DOTALL)
_LISTING: Final = re.compile(r"\s*show\s+(all\s+)?tables\s*;?\s*", re.IGNORECASE)
_LIST: Final = "select * from tables"
# From this version on a relation holds its connection.
_HOLDING: Final = 2


def ask(
    sql: str,
    table: Callable[[str], Table | None],
    unknown: Callable[[str], Exception],
    files: bool,
    held: list[Any],
) -> Any:
    """Run SQL in a database of its own; a table is made when the SQL turns out to name it.

    `table` gives None for a name that stands for nothing, which then raises what `unknown` gives; the table `tables`
    answers SHOW TABLES. Returns duckdb's relation, of several statements that of the last; it may be None where there
    are no rows to give.
    Without `files` nothing on disk or in a network can be reached: PermissionError. ImportError without duckdb and
    pyarrow; duckdb's own errors for bad SQL. What a relation needs to stay usable is put into `held`.
    """
    duckdb = needed("duckdb", "query", "SQL")
    needed("pyarrow", "query", "SQL")
    # Else a name could also mean a Python variable of whoever calls.
    safe = {"python_enable_replacements": "false", "enable_external_access": str(files).lower()}
    connection = duckdb.connect(config=safe)
    if int(duckdb.__version__.partition(".")[0]) < _HOLDING:
        held.append(connection)
    with contextlib.suppress(duckdb.Error):
        # Else days and hours are those of whoever asks.
        connection.execute("set TimeZone = 'UTC'")
    made: set[str] = set()

    def make(name: str) -> bool:
        """Whether there is such a table, which was not made before."""
        if name.lower() in made or (found := table(name)) is None:
            return False
        made.add(name.lower())
        connection.register(name, _arrow(found))
        return True

    try:
        statements = [_LIST] if _LISTING.fullmatch(sql) else connection.extract_statements(sql)
        if not statements:
            raise ValueError("the query is empty")
        for statement in statements:
            for name in sorted(_named(connection, statement)):
                make(name)
            answer = _run(connection, statement, made, make, unknown)
    except duckdb.PermissionException as error:
        raise PermissionError(f"the query reaches for files, which needs files=True: {error}") from error
    return answer


def _arrow(table: Table) -> Any:
    """Times in microseconds, which all versions of duckdb reckon with, and some with nothing finer."""
    pa = needed("pyarrow", "query", "SQL")
    found = table.to_arrow()
    for index, field in enumerate(found.schema):
        if field.type == pa.timestamp("ns", tz="UTC"):
            times = found.column(index).cast(pa.timestamp("us", tz="UTC"), safe=False)
            found = found.set_column(index, field.name, times)
    return found


def _named(connection: Any, statement: Any) -> set[str]:
    """The tables that a statement names, as far as duckdb tells: it gives up where a column decides what is meant."""
    try:
        return set(connection.get_table_names(statement if isinstance(statement, str) else statement.query))
    except Exception:
        # Whatever is wrong is said when the statement runs.
        return set()


def _run(
    connection: Any,
    statement: Any,
    made: set[str],
    make: Callable[[str], bool],
    unknown: Callable[[str], Exception],
) -> Any:
    """Run one statement. It does nothing before all its tables are there, so it can be tried again with one more."""
    while True:
        try:
            return connection.sql(statement)
        except Exception as error:
            missing = _MISSING.search(str(error))
            if missing is None or missing[1].lower() in made:
                raise
            if not make(missing[1]):
                raise unknown(missing[1].strip('"')) from error

"""SQL over tables, with duckdb. Knows neither events nor traces: a callback turns names into tables."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from clrevents.table.table import Table, needed

# How duckdb reports that a name is unknown, and that a query may not change settings, secrets and extensions.
_MISSING: Final = re.compile(r"Catalog Error: Table with name (.+?) does not exist(?:!| because)", re.DOTALL)
_LOCKED: Final = ("configuration has been locked", "Secret Storage", "is not a valid StatementType")
# Reads a file only when the result is fetched, when nobody can say any more what is allowed.
_LATE: Final = re.compile(r"\bsniff_csv\b", re.IGNORECASE)
_LISTING: Final = re.compile(r"\s*show\s+(all\s+)?tables\s*;?\s*", re.IGNORECASE)
_LIST: Final = "select * from tables"
# From this version on a relation keeps its connection alive.
_HOLDING: Final = 2


def ask(
    sql: str,
    table: Callable[[str], Any],
    unknown: Callable[[str], Exception],
    files: bool,
    kept: list[Any],
    settings: Mapping[str, str] | None = None,
) -> Any:
    """Run SQL in a new database; a table is created when the SQL turns out to name it.

    `table` returns a Table, or an Arrow data set, which stays on disk, and None for an unknown name, which then raises
    the result of `unknown`; the table `tables` answers SHOW TABLES. Returns duckdb's relation, the last one for several
    statements; it may be None if there are no rows to return. Unless `files` is true, access to disk or network,
    settings, some of which name files, secrets and extensions raise PermissionError. Raises ImportError without duckdb
    and pyarrow, and duckdb's own exceptions for invalid SQL. What a relation needs to stay usable is put into `kept`;
    `settings` are further ones of the database.
    """
    duckdb = needed("duckdb", "query", "SQL")
    needed("pyarrow", "query", "SQL")
    # Otherwise a name could also refer to a Python variable of the caller.
    safe = {"python_enable_replacements": "false", "enable_external_access": str(files).lower()}
    connection = duckdb.connect(config={**safe, **(settings or {})})
    if int(duckdb.__version__.partition(".")[0]) < _HOLDING:
        kept.append(connection)
    with contextlib.suppress(duckdb.Error):
        # Otherwise days and hours depend on the local time zone.
        connection.execute("set TimeZone = 'UTC'")
    if not files:
        # Some settings name files that duckdb then writes.
        connection.execute("set lock_configuration = true")
    created: set[str] = set()

    def make(name: str) -> bool:
        """Whether there is such a table that has not been created yet."""
        if name.lower() in created or (columns := table(name)) is None:
            return False
        created.add(name.lower())
        connection.register(name, sql_arrow(columns) if isinstance(columns, Table) else columns)
        return True

    if not files and (late := _LATE.search(sql)):
        raise PermissionError(f"the query accesses files, which requires files=True: {late[0]} reads one")
    try:
        statements = [_LIST] if _LISTING.fullmatch(sql) else connection.extract_statements(sql)
        if not statements:
            raise ValueError("the query is empty")
        for statement in statements:
            for name in sorted(_named(connection, statement)):
                make(name)
            answer = _run(connection, statement, created, make, unknown)
    except duckdb.PermissionException as error:
        raise PermissionError(f"the query accesses files, which requires files=True: {error}") from error
    except (duckdb.Error, ValueError) as error:
        if not files and any(text in str(error) for text in _LOCKED):
            raise PermissionError(f"the query changes a setting, which requires files=True: {error}") from error
        raise
    return answer


def sql_arrow(table: Table) -> Any:
    """For duckdb, with times in microseconds: every version can compute with these, some with nothing finer."""
    pa = needed("pyarrow", "query", "SQL")
    arrow = table.to_arrow()
    for index, field in enumerate(arrow.schema):
        if field.type == pa.timestamp("ns", tz="UTC"):
            times = arrow.column(index).cast(pa.timestamp("us", tz="UTC"), safe=False)
            arrow = arrow.set_column(index, field.name, times)
    return arrow


def _named(connection: Any, statement: Any) -> set[str]:
    """The tables a statement names, as far as duckdb reports them: it gives up where a column decides the meaning."""
    try:
        return set(connection.get_table_names(statement if isinstance(statement, str) else statement.query))
    except Exception:
        # Errors are raised when the statement runs.
        return set()


def _run(
    connection: Any,
    statement: Any,
    created: set[str],
    make: Callable[[str], bool],
    unknown: Callable[[str], Exception],
) -> Any:
    """Run one statement. It has no effect until all its tables exist, so it can be retried with one more."""
    while True:
        try:
            return connection.sql(statement)
        except Exception as error:
            missing = _MISSING.search(str(error))
            if missing is None or missing[1].lower() in created:
                raise
            if not make(missing[1]):
                raise unknown(missing[1].strip('"')) from error

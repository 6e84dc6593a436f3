"""SQL over tables, through duckdb. Knows neither events nor traces: it is told how a name becomes a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clrevents.table.table import Table, needed


def ask(sql: str, table: Callable[[str], Table]) -> Any:
    """Run one query in a database of its own; every table that it names is made when the query is read.

    Returns duckdb's relation. ImportError without duckdb and pyarrow; duckdb's own errors for bad SQL.
    """
    duckdb = needed("duckdb", "query", "SQL")
    connection = duckdb.connect()
    for name in sorted(connection.get_table_names(sql)):
        connection.register(name, table(name).to_arrow())
    return connection.sql(sql)

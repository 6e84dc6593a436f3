"""Rows of Arrow's tables and batches as Python's values; moments are nanoseconds, which `datetime` cannot hold."""

from __future__ import annotations

from typing import Any


def arrow_rows(*parts: Any) -> list[dict[str, Any]]:
    """The rows of all of them, in order."""
    return [row for part in parts for row in _rows(part)]


def _rows(part: Any) -> list[dict[str, Any]]:
    columns = [
        (column.cast("int64") if str(column.type).startswith("timestamp") else column).to_pylist()
        for column in part.columns
    ]
    return [dict(zip(part.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]

"""Columns and records say the same of every event of every shared trace, value by value."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

import pytest
from shared_files import Shared, params, traces

import clrevents
from tabular import same, values

TRACES: Final = traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
# Of a kind with more events the rest is compared in the others' traces; each value compared is a Python object.
_MOST: Final = 5_000
_HEADERS: Final = (
    "time_ns",
    "thread_id",
    "stack_id",
    "event_version",
    "process_id",
    "processor",
    "opcode",
    "level",
    "keywords",
    "payload_size",
)


@pytest.mark.parametrize("trace", params(TRACES))
def test_columns_equal_records(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        opened = clrevents.open(trace.path)
        expected: dict[tuple[str, str], list[Any]] = defaultdict(list)
        total: Counter[tuple[str, str]] = Counter()
        for event in opened.events():
            if isinstance(event.payload, clrevents.RawPayload):
                continue
            key = event.provider, event.name
            total[key] += 1
            if total[key] <= _MOST:
                expected[key].append(event)
        rows: Counter[tuple[str, str]] = Counter()
        for tables in opened.tables(columns=_HEADERS):
            for key, table in tables.items():
                mine = expected[key][rows[key] : rows[key] + len(table)]
                rows[key] += len(table)
                if mine:
                    compared += compare(table, mine)
    assert rows == total
    record_property("columns", (trace.name, compared))


def compare(table: clrevents.Table, events: list[Any]) -> int:
    """Every header and payload value of these events against the table's first rows."""
    payloads = [values(event) for event in events]
    count = len(events)
    for field in table.fields:
        found = table.column(field.name).slice(0, count).tolist()
        if field.wire is None:
            wanted = [header(event, field.name) for event in events]
        else:
            wanted = [payload.get(field.wire) for payload in payloads]
            # Groups of the same event may have other fields; a table has all of them.
            found = [_own(value, like) for value, like in zip(found, wanted, strict=True)]
        assert all(map(same, found, wanted)), (table, field)
    return count * len(table.fields)


def _own(value: Any, like: Any) -> Any:
    """A group without the fields that only others of its kind have, which must be null."""
    if not isinstance(like, dict) or not isinstance(value, dict):
        return value
    assert all(inner is None for name, inner in value.items() if name not in like)
    return {name: value.get(name) for name in like}


def header(event: Any, name: str) -> Any:
    match name:
        case "event_version":
            return event.version
        case "payload_size":
            return len(event.payload_bytes)
        case "thread_id":
            return None if event.thread_id < 0 else event.thread_id
        case "keywords":
            return event.keywords & (1 << 64) - 1
        case _:
            return getattr(event, name)

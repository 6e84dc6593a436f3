"""Commands to databases: the events of SqlClient and of the bridge from DiagnosticSource → when each ran, and for whom.

SqlClient's events are paired by the number of the command object, which runs one command at a time; those of the bridge
by their activity. A command recorded by another source, too, lies inside that one by ids, and counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import define
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import NONE, Gathered
from clrevents.analysis.reports.requests.known_requests import RequestFinder
from clrevents.analysis.shared.events.event_spans import wait_spans
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

SQL_SOURCES: Final = ("Microsoft.Data.SqlClient.EventSource", "Microsoft-AdoNet-SystemData")
BRIDGE: Final = "Microsoft-Diagnostics-DiagnosticSource"
_PAIRS: Final = ("Activity1", "Activity2", "RecursiveActivity1", "RecursiveActivity2")
_WHO: Final = ("time_ns", "thread_id", "activity_id", "related_activity_id")
SQL_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **{
        f"{source}/BeginExecute": (*_WHO, "objectId", "dataSource", "database", "databaseName", "commandText")
        for source in SQL_SOURCES
    },
    **{
        f"{source}/EndExecute": (
            *("time_ns", "objectId", "compositeState", "compositestate"),
            *("sqlExceptionNumber", "sqlexceptionnumber"),
        )
        for source in SQL_SOURCES
    },
}
"""What is kept of SqlClient's events; versions of them differ in the names of fields."""
BRIDGE_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"{BRIDGE}/{name}Start": ("SourceName", "EventName", "Arguments") for name in _PAIRS},
    **{f"{BRIDGE}/{name}Stop": ("time_ns", "activity_id", "EventName") for name in _PAIRS},
}
"""What is kept of the bridge's."""

_BEGUN: Final = frozenset(
    (
        ("Microsoft.EntityFrameworkCore", "Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting"),
        ("Microsoft.EntityFrameworkCore", "Microsoft.EntityFrameworkCore.BeforeExecuteCommand"),
        ("SqlClientDiagnosticListener", "Microsoft.Data.SqlClient.WriteCommandBefore"),
        ("SqlClientDiagnosticListener", "System.Data.SqlClient.WriteCommandBefore"),
    )
)
_SUCCEEDED, _SQL_ERROR = 1, 2
"""Bits of the composite state."""


@define(eq=False)
class KnownCommand:
    """One command. `end` and `failed` are None if not recorded."""

    source: str
    start: int
    thread: int
    request: int | None
    end: int | None = None
    server: str | None = None
    database: str | None = None
    text: str | None = None
    failed: bool | None = None
    error: int | None = None
    activity: int = NONE
    """Its activity, if it is one."""
    within: int = NONE
    """The activity in which it began."""
    row: int = 0
    inside: int | None = None
    """The row of the command that it is a part of."""

    @property
    def counts(self) -> bool:
        """Whether it is a command in its own right."""
        return self.inside is None


def known_commands(finder: RequestFinder, events: Mapping[str, Gathered]) -> tuple[list[KnownCommand], int]:
    """All commands in order of their begins, and how many ends have no begin."""
    orphans = 0
    commands = list(_bridged(finder, events))
    for source in SQL_SOURCES:
        sides = [_numbered(events[f"{source}/{name}"]) for name in ("BeginExecute", "EndExecute")]
        spans = wait_spans(sides[0], sides[1], ("objectId",))
        orphans += int((~spans.begun).sum())
        begins, ends = _rows(spans.begins), _rows(spans.ends)
        for begin, end in zip(spans.begin.tolist(), spans.end.tolist(), strict=True):
            if begin != NONE:
                commands.append(_executed(finder, source, begins[begin], ends[end] if end != NONE else None))
    commands.sort(key=lambda command: (command.start, command.source))
    by_activity = {command.activity: row for row, command in enumerate(commands) if command.activity != NONE}
    parents = finder.index.forest.parent
    nearest: dict[int, int | None] = {}
    for row, command in enumerate(commands):
        command.row = row
        above, passed = command.within, list[int]()
        while above != NONE and above not in by_activity and above not in nearest:
            passed.append(above)
            above = parents[above]
        holder = nearest[above] if above in nearest else by_activity.get(above)
        nearest.update(dict.fromkeys(passed, holder))
        command.inside = holder
    return commands, orphans


def _executed(
    finder: RequestFinder, source: str, begin: Mapping[str, Any], end: Mapping[str, Any] | None
) -> KnownCommand:
    """A command of SqlClient."""
    time = begin["time_ns"]
    # Newer versions make the command an activity of its own, whose related one is that of the caller.
    id = begin["related_activity_id"] if begin["related_activity_id"] is not None else begin["activity_id"]
    within = finder.index.at(id, time)
    command = KnownCommand(source, time, begin["thread_id"], _request(finder, within), within=within)
    command.server, command.text = _text(begin.get("dataSource")), _text(begin.get("commandText"))
    command.database = _text(begin.get("database")) or _text(begin.get("databaseName"))
    if end is not None:
        command.end = end["time_ns"]
        state = _first_number(end, "compositeState", "compositestate")
        if state is not None:
            command.failed = not state & _SUCCEEDED
            if state & _SQL_ERROR and command.failed:
                command.error = _first_number(end, "sqlExceptionNumber", "sqlexceptionnumber")
    return command


def _bridged(finder: RequestFinder, events: Mapping[str, Gathered]) -> Iterator[KnownCommand]:
    """Commands that the bridge records as activities."""
    index, forest = finder.index, finder.index.forest
    for name in _PAIRS:
        rows = _rows(events[f"{BRIDGE}/{name}Start"])
        open_commands: dict[int, KnownCommand] = {}
        for row, text in zip(index.by_source.get(ActivitySource(BRIDGE, name), ()), rows, strict=False):
            source = _text(text.get("SourceName"))
            if source is None or (source, _text(text.get("EventName"))) not in _BEGUN:
                continue
            parent = forest.parent[row]
            command = KnownCommand(source, forest.start[row], forest.thread[row], _request(finder, row), within=parent)
            command.activity = row
            command.end = forest.end[row] if forest.ended[row] else None
            arguments = _arguments(text.get("Arguments"))
            command.server, command.database = arguments.get("DataSource"), arguments.get("Database")
            command.text = arguments.get("CommandText")
            open_commands[row] = command
        for row, _, ended in index.with_column(events[f"{BRIDGE}/{name}Stop"], "EventName", str):
            if row in open_commands and ended is not None:
                last = ended.rpartition(".")[2]
                open_commands[row].failed = {
                    **dict.fromkeys(("CommandError", "WriteCommandError"), True),
                    **dict.fromkeys(("CommandExecuted", "WriteCommandAfter", "AfterExecuteCommand"), False),
                }.get(last)
        yield from open_commands.values()


def _request(finder: RequestFinder, row: int) -> int | None:
    return None if row == NONE or finder.of[row] == NONE else finder.of[row]


def _numbered(events: Gathered) -> Gathered:
    """The events if they have numbers of commands, which those of a crafted trace may lack."""
    names = events.table.columns
    if "objectId" in names and events.column("objectId").type.kind in ("int32", "int64"):
        return events
    return events.only(np.zeros(0, dtype=np.int64), names)


def _rows(events: Gathered) -> list[dict[str, Cells]]:
    """Each event's columns by name."""
    names = events.table.columns
    return [dict(zip(names, cells, strict=True)) for cells in zip(*(events.cells(name) for name in names), strict=True)]


def _arguments(value: object) -> dict[str, str]:
    """The texts of a list of named values; of anything else, which a crafted trace may have, none."""
    pairs = value if isinstance(value, list) else []
    named = [(one.get("Key"), one.get("Value")) for one in pairs if isinstance(one, dict)]
    return {key: text for key, text in named if isinstance(key, str) and isinstance(text, str) and text}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first_number(cells: Mapping[str, Any], *names: str) -> int | None:
    return next((cells[name] for name in names if isinstance(cells.get(name), int)), None)

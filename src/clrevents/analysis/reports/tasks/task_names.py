"""What the runtime calls tasks: the names of TraceOperationBegin, by the ids of tasks.

An id with several names was given again, and then nobody can tell which is meant. Knows no stacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.merged import ASYNC
from clrevents.analysis.shared.events.wait_events import field_numbers

OPERATION_BEGIN: Final = "tpl/TraceOperationBegin"
OPERATION_COLUMNS: Final = ("TaskID", "OperationName")

_ASYNC_METHOD: Final = re.compile(r"Async: (?:.*[.+])?<([^<>]+)>d(?:__\d+)?(?:`\d+)?")
"""How a name says that a task is that of an async method: by the type of its state machine."""


def task_names(begins: Gathered, raw: bool) -> Mapping[int, str]:
    """The name of each task that has one. Unless `raw`, async methods are called as in the program: `async Work`."""
    found: dict[int, str | None] = {}
    ids = field_numbers(begins, "TaskID").tolist()
    for id, name in zip(ids, begins.cells("OperationName"), strict=True):
        if name and found.setdefault(id, name) != name:
            found[id] = None
    return {id: name if raw else _readable(name) for id, name in found.items() if name is not None}


def named(ids: Iterable[int], names: Mapping[int, str]) -> list[str | None]:
    """The names of tasks, None where nothing tells."""
    return [names.get(id) for id in ids]


def _readable(name: str) -> str:
    method = _ASYNC_METHOD.fullmatch(name)
    return name if method is None else f"{ASYNC}{method[1]}"

"""Families of rows that are compared: methods, callers, types and the like. Says what each is a part of, and which
metrics say whether its rows were recorded and whether they are looked at; knows no trace and no number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clrevents._util.value_classes import frozen

PROCESSOR: Final = "processor time of methods"
PROCESSOR_INCLUSIVE: Final = "processor time of methods and callees"
EXCLUSIVE: Final = "methods"
INCLUSIVE: Final = "methods and callees"
MODULES: Final = "modules"
MODULES_INCLUSIVE: Final = "modules and callees"
CALLERS: Final = "callers"
CALLEES: Final = "callees"
TYPES: Final = "types"
BY_STATE: Final = "methods by state"
HEAP_TYPES: Final = "heap types"
HEAP_PATHS: Final = "heap paths"
COUNTERS: Final = "counters"


@frozen
class RowFamily:
    """Rows of one kind. `report` and `told_by` are the metrics that are known if they were recorded."""

    report: str
    told_by: tuple[str, ...] = ()
    always: bool = False
    """Whether they are looked at though no metric moved: time moves between methods though all of it stays."""
    part_of: str | None = None
    """The family whose sum a row is a part of, or whose largest row if `paths`; None for its own."""
    exact: bool = False
    """Whether rows are single exact numbers, whose differences are stated, and no more is known of a pair."""
    metrics: bool = False
    """Whether rows are judged as metrics are: each of its own unit, and one that a side lacks is not comparable."""
    paths: bool = False
    """Whether rows are paths of calls, a line each, from one method on."""


FAMILIES: Final[Mapping[str, RowFamily]] = {
    # What repeats on a noisy machine comes first.
    PROCESSOR: RowFamily("threads", ("processor_total",), always=True),
    PROCESSOR_INCLUSIVE: RowFamily("threads", ("processor_total",), always=True, part_of=PROCESSOR),
    EXCLUSIVE: RowFamily("threads", always=True),
    INCLUSIVE: RowFamily("threads", always=True, part_of=EXCLUSIVE),
    BY_STATE: RowFamily("threads", ("running_total",), part_of=EXCLUSIVE),
    MODULES: RowFamily("threads", always=True),
    MODULES_INCLUSIVE: RowFamily("threads", always=True, part_of=MODULES),
    CALLERS: RowFamily("threads", always=True, paths=True),
    CALLEES: RowFamily("threads", always=True, part_of=CALLERS, paths=True),
    TYPES: RowFamily("alloc", ("bytes_total",)),
    "locks": RowFamily("locks", ("count",)),
    "exceptions": RowFamily("exceptions", ("count",)),
    "routes": RowFamily("requests", ("server_count", "client_count")),
    HEAP_TYPES: RowFamily("heap", ("bytes",), exact=True),
    HEAP_PATHS: RowFamily("heap", ("reached_bytes",), exact=True, paths=True),
    COUNTERS: RowFamily("counters", metrics=True),
}
"""In the order in which they are judged and shown."""
OF_WORK: Final = frozenset(name for name, family in FAMILIES.items() if family.report == "threads")
"""Families of what a program does: only of as much work is less of it better."""

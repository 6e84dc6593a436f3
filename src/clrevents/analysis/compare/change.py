"""`Change`: the verdict on one metric or row, with everything that limits it; and the families of rows that have them.

A family (methods, callers, types and the like) says what it is a part of, and which metrics say whether its rows were
recorded and whether they are looked at. Judges nothing, writes no text; knows no trace and no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Better, Evidence
from clrevents.analysis.framework.vocabulary.answer_values import Per as Per
from clrevents.table.table import plain

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


Verdict: TypeAlias = Literal[
    "improved", "regressed", "changed", "differs", "same", "stated", "cannot tell", "not comparable"
]
ALARMS: Final = ("improved", "regressed", "changed", "differs")
"""Verdicts that say that something changed."""

PER: Final = ("request", "second", "none")
"""What amounts can be divided by, beside start events."""

RELATIVE_FLOOR: Final = 0.05
"""A change by less than this share is none."""


@frozen
class Change(Value):
    """One metric or row, before and after, for one of what it is divided by.

    `low` and `high` enclose the change (new minus base), and `smallest` is the smallest one that would have been seen
    four times out of five. All are None where it is unknown how much the numbers vary by themselves, `smallest` also
    where they vary so much that no change would have been seen. `within` is by how much things called the same may
    differ. `independent` are how many independent blocks, or recordings, each side is worth.
    """

    family: str
    name: str
    unit: str
    better: Better
    evidence: Evidence
    adds: bool
    verdict: Verdict
    base: float | None
    new: float | None
    low: float | None = None
    high: float | None = None
    smallest: float | None = None
    within: float | None = None
    chance: float | None = None
    independent: tuple[float, float] | None = None
    reason: str | None = None
    enough_ns: int | None = None
    """How long the shorter recording would have to be for its blocks to suffice, where they do not."""
    record: str | None = None

    @property
    def key(self) -> str:
        """Its name in conditions, such as `gc.pause_total`."""
        return f"{self.family}.{self.name}"

    @property
    def change(self) -> float | None:
        """New minus base."""
        return None if self.base is None or self.new is None else self.new - self.base

    @property
    def alarm(self) -> bool:
        """Whether the verdict is that it changed, or differs between these recordings."""
        return self.verdict in ALARMS

    @property
    def towards(self) -> Literal["better", "worse"] | None:
        """Which way it went; None if neither direction is better."""
        if not self.change or self.better == "neither":
            return None
        return "better" if (self.change < 0) == (self.better == "less") else "worse"

    def relative(self, amount: float | None) -> float | None:
        """An amount as a share of the base; None if that is 0 or unknown."""
        return None if amount is None or not self.base else amount / self.base

    def to_dict(self) -> dict[str, Any]:
        """In JSON types."""
        found: dict[str, object] = plain(self)
        return {**found, "change": self.change, "towards": self.towards}

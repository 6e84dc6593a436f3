"""The rows of a comparison: `Change`, the verdict on one metric or row, with everything that limits it; recordings and
proposals; and the families of rows that are judged.

A family (methods, callers, types and the like) says what it is a part of, and which metrics say whether its rows were
recorded and whether they are looked at. Judges nothing; knows no trace and no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from clrevents._util.value_classes import frozen
from clrevents._util.words import safe
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Per as Per
from clrevents.analysis.framework.vocabulary.report_table import column, row

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


def _change(one: Change) -> float | None:
    return None if one.base is None or one.new is None else one.new - one.base


def _towards(one: Change) -> str | None:
    if not one.change or one.better == "neither":
        return None
    return "better" if (one.change < 0) == (one.better == "less") else "worse"


@row
class Change:
    """One metric or row, before and after, for one of what it is divided by.

    The interval is null where it is unknown how much the numbers vary by themselves.
    """

    family: cells.Word = column("The report of a metric; the table of a row, such as `methods`.", importance=0)
    name: cells.CodeName = column("The metric or row; a path of calls has a line for each.", importance=0)
    unit: cells.Word = column("The unit of its amounts.")
    better: cells.Word = column("`less`, `more` or `neither`.")
    evidence: cells.Word = column("`event`, `sample`, `counted` or `inferred`: what the amounts are based on.")
    adds: cells.Flag = column("It grows with the length of a recording, so it was divided.")
    verdict: cells.Word = column("As docs/compare.md explains; `stated` is shown as `untested`.", importance=0)
    base: cells.Number | None = column("The amount before, divided.", importance=1)
    new: cells.Number | None = column("The amount after, divided.", importance=1)
    change: cells.Number | None = column("New minus base.", default=attrs.Factory(_change, takes_self=True))
    low: cells.Number | None = column("The least that the change may be.", default=None)
    high: cells.Number | None = column("The most that it may be.", default=None)
    smallest: cells.Number | None = column(
        "The smallest change that would have been seen four times out of five; null also if none would.", default=None
    )
    within: cells.Number | None = column("By how much things called the same may differ.", default=None)
    chance: cells.Number | None = column(
        "How probable such a difference is by chance, among so many numbers.", default=None
    )
    independent: tuple[cells.Number, ...] = column(
        "How many independent blocks, or recordings, each side is worth; empty if unknown.", default=()
    )
    towards: cells.Word | None = column(
        "`better` or `worse`; null if neither is, or nothing changed.", default=attrs.Factory(_towards, takes_self=True)
    )
    reason: cells.CodeText | None = column("Why it cannot be told, or compared.", default=None)
    enough_ns: cells.DurationNs | None = column(
        "How long the shorter recording would have to be for its blocks to suffice, where they do not.", default=None
    )
    record: cells.CodeText | None = column("The providers that record what is missing.", default=None)

    @property
    def key(self) -> str:
        """Its name in conditions, such as `gc.pause_total`."""
        return f"{self.family}.{self.name}"

    @property
    def alarm(self) -> bool:
        """Whether the verdict is that it changed, or differs between these recordings."""
        return self.verdict in ALARMS

    def relative(self, amount: float | None) -> float | None:
        """An `amount` as a share of the base; None if that is 0 or unknown."""
        return None if amount is None or not self.base else amount / self.base


@row
class Recording:
    """What was compared."""

    side: cells.Word = column(
        "`base` or `new`; `second base` and `second new` of the recordings that confirm.", importance=0
    )
    path: cells.FilePath | None = column("The file; null for a trace in memory.", importance=0)
    start: cells.Word | None = column("When the session started, in ISO 8601.")
    process_id: cells.ProcessId | None = column("The process; null for recordings of several.")
    duration_ns: cells.DurationNs | None = column("From then to the last event.")
    span_ns: cells.DurationNs = column("The time that is compared, from the first event that can be.")
    divisor: cells.Number = column("What its amounts were divided by: requests, seconds, start events, or 1.")
    rows: cells.Count = column("How many rows it has that can be compared.")

    @property
    def label(self) -> str:
        """The name of the file."""
        return file_label(self.path)


def file_label(path: str | None) -> str:
    """The name of a trace's file, without folders."""
    return (path or "").replace("\\", "/").rpartition("/")[2] or "trace in memory"


@row
class Proposal:
    """A method that is `gone`, and the method that may have taken its place, or taken it in."""

    kind: cells.Word = column("`renamed` or `inlined`.")
    gone: cells.CodeName = column("The method that is gone.")
    into: cells.CodeName = column("The method that is new, or takes as much more itself.")

    def __str__(self) -> str:
        gone, into = safe(self.gone), safe(self.into)
        if self.kind == "renamed":
            return f"perhaps renamed: {gone} is gone, and {into} is new and takes as much time"
        return f"perhaps inlined: {gone} is gone, and {into} takes as much more itself, but not with callees"

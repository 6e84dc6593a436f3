"""What a rule concludes, and from which numbers: found, clear, or that it cannot tell.

Every number is cited from a report's metric or cells, so that it can be looked up there. Judges nothing.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen

Impact: TypeAlias = Literal["ns", "bytes", "count"]


@frozen
class Cited(Value):
    """A number and where it stands: a metric (`gc.pause_total`), or the sum of cells of a column in these rows.

    The column is written `report/table/column`; rows count from 0, in the report's own order.
    """

    place: str
    value: int | float
    unit: str
    rows: tuple[int, ...] = ()


@frozen
class Ailment(Value):
    """What is wrong: how much it costs in `unit`s, what `share` that is of what, and who is behind it.

    `evidence` are the numbers that the title speaks of; the first is the one that is beyond the threshold. `span` is
    the time to look at first. `nameless` says why there is no culprit although there must be one, and what to record to
    know it. `advice` is what to do where that of the rule does not help.
    """

    title: str
    impact: int
    unit: Impact
    evidence: tuple[Cited, ...]
    share: float | None = None
    culprit: str | None = None
    span: tuple[int, int] | None = None
    nameless: str = ""
    advice: str = ""


@frozen
class Clear(Value):
    """Nothing is wrong, and what was measured."""

    title: str
    evidence: tuple[Cited, ...] = ()


@frozen
class Unknown(Value):
    """It cannot be told, and why; `record` is what `dotnet-trace collect --providers` takes to be able to."""

    reason: str
    record: str = ""


Verdict: TypeAlias = Ailment | Clear | Unknown

"""The small values of every answer beside its tables: metrics, notes, the question, the window, how it was joined.

Plain and frozen; can be made by hand. Measures nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value, html_text
from clrevents._util.value_classes import frozen
from clrevents._util.words import amount_text, counted, duration_text, raw_text
from clrevents.analysis.gathering.groups import Ints
from clrevents.schema.own_marks import JOINED
from clrevents.table.table import Table

if TYPE_CHECKING:
    from clrevents.trace import TraceInfo


Merge: TypeAlias = Literal["sum", "max", "min", "none"]
Per: TypeAlias = Literal["request", "second", "none"] | str
"""What amounts of different recordings are divided by before they are compared: `request`, `second`, `none`, or a start
event of the program's own, as `NAME` or `PROVIDER/NAME`."""
Better: TypeAlias = Literal["less", "more", "neither"]
Evidence: TypeAlias = Literal["event", "sample", "counted", "inferred"]
Coverage: TypeAlias = Literal["full", "partial", "none"]
Severity: TypeAlias = Literal["info", "warning", "error"]

InPart: TypeAlias = Literal["at least", "at most", "unknown", "from the start"]
"""A metric in a part of a trace, as made by `cut`, if it differs from that window of the whole: a bound, null, or null
in a part without the beginning."""

InHoles: TypeAlias = Literal["at least", "at most", "unknown"]
"""What a metric is where events are missing."""

ALWAYS: Final[int] = int(np.iinfo(np.int64).min)
"""Before everything in a trace."""
FOREVER: Final[int] = int(np.iinfo(np.int64).max)
"""After everything in a trace."""

NOT_COUNTED: Final = "not recorded: what the operating system counted"
"""Why numbers are unknown that people are told of only where they are known."""

CODE: Final = "all managed code"
"""What numbers need that depend on the names of methods, or on the list of modules."""


@frozen
class Dated:
    """When a metric came about: it is the sum of an `amount`, or the number, of a table's rows, each at a moment.

    A row may have to say something in `where`; rows with an `until` are spread over their time. What `since` says came
    about since the row before.
    """

    table: str
    at: str = "start_ns"
    amount: str | None = None
    where: tuple[str, str] | None = None
    until: str | None = None
    since: bool = False


@frozen
class ComparedRows:
    """Rows of a `table` that are compared with another trace's as the family `name`: those with the same `names` are
    one, with the sum of their `amount`, or their number."""

    name: str
    table: str
    names: tuple[str, ...]
    amount: str | None = None
    unit: str = "count"
    at: str = "start_ns"


MISSING: Final = "events are missing that it depends on"
"""Why a number is null in a window with losses or damage."""


@frozen
class MetricDeclaration:
    """The declaration of a number in a report.

    `merge` says how to combine the numbers of several processes, and those of adjacent windows, unless `windows` is
    False (as for distinct things, which may be in both). With `none` there is no number for several processes.

    Metrics of several reports with the same `quantity` are the same number of the same thing, and agree. Without one,
    equal names mean nothing: `count` of two reports counts different things.

    `needs` are the report's needs, by `what`, without which a 0 would only mean that nothing was recorded: it is null
    then. `CODE` means that all managed code must have names.

    `lossy` says what it is if events are missing from the window: `at least` or `at most` so much, or `unknown` if
    missing events may make it larger as well as smaller, as what has no end in the trace. Unless declared, one with the
    merge `none`, such as a percentile or a rate, is unknown, a minimum is an upper bound, and anything else a lower
    bound.

    `dated` says of which rows it is the sum, so that it is known in each part of the time.

    `hides` says what a few lost events can have added to a time: `TABLE/COLUMN`, whose rows are spans on threads that
    it is the sum or the maximum of, or `sample`, what one sample stands for at the most. Where it is empty, anything.
    """

    name: str
    description: str
    better: Better = "neither"
    merge: Merge = "sum"
    windows: bool = True
    evidence: Evidence = "event"
    quantity: str = ""
    needs: tuple[str, ...] = ()
    lossy: InHoles | None = None
    dated: Dated | None = None
    hides: str = ""
    unit: str = attrs.field(kw_only=True)

    @property
    def in_holes(self) -> InHoles:
        """What it is if events are missing, by declaration or as usual."""
        if self.lossy is not None:
            return self.lossy
        return "unknown" if self.merge == "none" else "at most" if self.merge == "min" else "at least"


count_of: Final = partial(MetricDeclaration, unit="count")
"""The declaration of a number of things,"""
time_of: Final = partial(MetricDeclaration, unit="ns")
"""of a time,"""
size_of: Final = partial(MetricDeclaration, unit="bytes")
"""and of a size."""


@frozen(repr=False)
class Metric:
    """A number with its unit; null has a `reason`, an estimate lies between `low` and `high`.

    With only `low`, it is a lower bound; with only `high`, an upper bound; without either, exact. `unseen` is what a
    few lost events can have added at the most; null where none were lost, or that may be anything.
    """

    value: int | float | None
    unit: str
    better: Better = "neither"
    merge: Merge = "sum"
    low: int | float | None = None
    high: int | float | None = None
    evidence: Evidence = "event"
    reason: str | None = None
    unseen: int | float | None = None

    @property
    def bounded(self) -> bool:
        """Whether it is a bound, or an estimate."""
        return self.low is not None or self.high is not None

    @property
    def sure(self) -> bool:
        """Whether it can be nothing else: exact, or between equal bounds."""
        return not self.bounded or self.low == self.value == self.high

    @property
    def side(self) -> str:
        """`at least ` or `at most `, before the text of what is a bound; nothing before what is exact, or an
        estimate."""
        if (self.low is None) == (self.high is None):
            return ""
        return "at most " if self.low is None else "at least "

    def bound(self, least: bool) -> Metric:
        """The same as a bound, from below or from above. Null stays null; a bound from the other side becomes null."""
        kept, other = (self.low, self.high) if least else (self.high, self.low)
        if kept is None and other is not None:
            return self.unknown(MISSING)
        limit = self.value if kept is None else kept
        return attrs.evolve(self, low=limit if least else None, high=None if least else limit)

    def lowered(self, least: int | float) -> Metric:
        """The same as a bound from below."""
        return attrs.evolve(self, value=least, low=least, high=None)

    def unknown(self, reason: str | None) -> Metric:
        """The same without a value; one that is null already keeps its reason."""
        return self if self.value is None else attrs.evolve(self, value=None, low=None, high=None, reason=reason)

    def __repr__(self) -> str:
        return f"<Metric {metric_text(self)}>"

    def _repr_html_(self) -> str:
        return html_text(metric_text(self))


def metric_text(metric: Metric, raw: bool = False) -> str:
    """A metric with its unit (`9.32 ms`, `1.0 kB`), or why there is none. `raw` gives every digit in base units."""
    if metric.value is None:
        return f"unknown: {metric.reason}"
    write = raw_text if raw else amount_text
    text = f"{metric.side}{write(metric.value, metric.unit)}"
    if metric.low is not None and metric.high is not None:
        text += f" (between {write(metric.low, metric.unit)} and {write(metric.high, metric.unit)})"
    return text


@frozen
class Note(Value):
    """One caveat: a stable `id`, what it `touches` (tables, columns, metrics), its numbers, and what to do.

    `record` is what to give to `dotnet-trace collect --providers` to get it in the next trace.
    """

    id: str
    severity: Severity
    message: str
    touches: tuple[str, ...] = ()
    numbers: Mapping[str, int | float] = attrs.field(factory=dict)
    remedy: str | None = None
    record: str | None = None


MANY_PROCESSES: Final = 6
"""From this version of the format on, a trace may have several processes, and names of threads."""


@frozen
class TimeWindow(Value):
    """From `start_ns` to before `end_ns`; None where it is open."""

    start_ns: int | None = None
    end_ns: int | None = None

    @classmethod
    def between(cls, start: Any, end: Any, moment_ns: Callable[[Any, str], int]) -> TimeWindow:
        """From one moment to another, in any form; `moment_ns` converts one to nanoseconds, by its name."""

        def edge(moment: object, what: str) -> int | None:
            # Damaged clocks give moments that 64 bits do not hold.
            return None if moment is None else min(max(moment_ns(moment, what), ALWAYS + 1), FOREVER - 1)

        return cls(edge(start, "start"), edge(end, "end"))

    @property
    def whole(self) -> bool:
        """Whether nothing is cut."""
        return self.start_ns is None and self.end_ns is None

    @property
    def low(self) -> int:
        """The first nanosecond inside."""
        return ALWAYS if self.start_ns is None else self.start_ns

    @property
    def high(self) -> int:
        """The first nanosecond after it."""
        return FOREVER if self.end_ns is None else self.end_ns

    def within(self, other: TimeWindow) -> TimeWindow:
        """The intersection."""
        start = max(self.low, other.low)
        end = max(min(self.high, other.high), start)
        return TimeWindow(None if start == ALWAYS else start, None if end == FOREVER else end)

    def holds(self, times: Ints) -> NDArray[np.bool_]:
        """Which moments lie inside. Adjacent windows share none of them."""
        return (times >= self.low) & (times < self.high)

    def meets(self, starts: Ints, ends: Ints) -> NDArray[np.bool_]:
        """Which spans have a moment inside; one that ends where the window begins has none.

        One that only has an end (it starts `ALWAYS`) is placed there, so it does not end before the window begins.
        """
        late = (ends > self.low) | (starts >= self.low) | ((starts == ALWAYS) & (ends == self.low))
        inside: NDArray[np.bool_] = late & (starts < self.high)
        return inside

    def overlap(self, starts: Ints, ends: Ints) -> Ints:
        """How much of each span lies inside, in ns. Those of adjacent windows add up to the whole."""
        inside = np.minimum(ends, self.high) - np.maximum(starts, self.low)
        overlapping: Ints = np.maximum(inside, 0)
        return overlapping


@frozen
class TraceIdentity(Value):
    """Which trace an answer is about, according to its header."""

    path: str | None
    format: str
    format_version: int
    start: str | None
    process_id: int | None
    duration_ns: int | None

    @classmethod
    def of(cls, info: TraceInfo, duration_ns: int | None) -> TraceIdentity:
        """What a header says, and how long the trace is."""
        start = None if info.start is None else info.start.isoformat()
        return cls(info.path, info.format, info.version, start, info.process_id, duration_ns)


@frozen
class Question(Value):
    """What was asked: which report with which parameters, of which part of which trace, and who answered."""

    report: str
    text: str
    parameters: Mapping[str, int | float | str | bool | None]
    window: TimeWindow
    process_id: int | None
    processes: tuple[int | None, ...]
    trace: TraceIdentity
    clrevents: str


@frozen
class JoinedRun:
    """The values of the mark (see `schema.own_marks`)."""

    process_id: int
    shift_ns: int
    uncertainty_ns: int
    compared: int
    contradicting: int
    error_ns: int
    start_ns: int
    stopped_ns: int
    end_ns: int

    @classmethod
    def of(cls, marks: Table | None) -> tuple[JoinedRun | None, int]:
        """What the first of these marks says, None without one; and how many of them, left out, say what cannot be."""
        columns = () if marks is None else (marks.column(name).tolist() for name in JOINED.names)
        every = [cls(*values) for values in zip(*columns, strict=True)]
        trusted = [one for one in every if one.uncertainty_ns >= 0 and 0 <= one.contradicting <= one.compared]
        return (trusted[0] if trusted else None), len(every) - len(trusted)

    def note(self) -> Note:
        """What everybody must know who reads times of both."""
        text = (
            f"the runtime's events of process {self.process_id} are from another recording of the same run: their "
            f"times are right within {duration_text(self.uncertainty_ns)} on the recorder's clock"
        )
        wrong = self.contradicting > 0
        if not self.compared:
            text += ", by the starts of both recordings"
        elif wrong:
            text += (
                f", but by the recorder {counted(self.contradicting, 'event')} of {self.compared:,} were written while "
                "their thread was off the processor: it misses some switches"
            )
        numbers = {
            "shift_ns": self.shift_ns,
            "uncertainty_ns": self.uncertainty_ns,
            "compared": self.compared,
            "contradicting": self.contradicting,
        }
        if self.error_ns >= 0:
            numbers["error_ns"] = self.error_ns
        return Note("joined", "warning" if wrong else "info", text, (), numbers)

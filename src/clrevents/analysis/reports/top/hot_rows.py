"""The rows, facts and parameters of the top report, and its answer. Adds up nothing."""

from __future__ import annotations

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.declaration import parameter, parameters
from clrevents.analysis.framework.vocabulary.cells import Bytes, CodeName, Count, DurationNs, Number, Ratio, Word
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Row, column, row
from clrevents.analysis.shared.samples.sample_collector import SampleFacts
from clrevents.analysis.shared.samples.sample_parameters import SampleParameters


@row
class HotRow(Row):
    """One method or module."""

    name: CodeName = column(
        "The method as in C#, or the module; if it has no name, the reason in brackets.", importance=0
    )
    module: CodeName | None = column("The module; null if unknown.")
    kind: Word | None = column("Whose code it is: `kernel`, `native` or `managed`; null unless the trace maps files.")
    samples: Count = column("How many samples or events were taken in it.", importance=3)
    inclusive_samples: Count = column("How many were taken in it or in methods it called.", hidden=True)
    exclusive_ns: DurationNs | None = column("Its own time; null if the weights are not times.")
    inclusive_ns: DurationNs | None = column(
        "Its time, including everything it called; null if the weights are not times.", importance=1
    )
    exclusive_bytes: Bytes | None = column("Its own bytes; null if the weights are not sizes.")
    inclusive_bytes: Bytes | None = column(
        "Its bytes, including everything it called; null if the weights are not sizes."
    )
    exclusive: Number | None = column("Its own weight; null unless the weight is a field without a unit.")
    inclusive: Number | None = column(
        "Its weight, including everything it called; null unless the weight is a field without a unit."
    )
    share: Ratio | None = column(
        "The exclusive weight as a share of the total; null if that is 0.",
        share_of=("exclusive_ns", "exclusive_bytes", "exclusive"),
        importance=0,
    )
    running_ns: DurationNs | None = column(
        "How much of the exclusive time threads spent running managed code; null except for the sample profiler.",
        importance=1,
    )
    waiting_ns: DurationNs | None = column(
        "How much of it they spent waiting, in a method known to wait; null except for the sample profiler.",
        importance=1,
    )
    external_ns: DurationNs | None = column(
        "How much of the exclusive time was in native code or waiting; null except for the sample profiler.",
        hidden=True,
    )
    external_share: Ratio | None = column(
        "The same as a share of the exclusive time; null if that is 0 or unknown.", hidden=True
    )


@row
class TopFacts(SampleFacts):
    """The facts of a top report."""


@parameters
class TopParameters(SampleParameters):
    """What is added up, from which event, and how names are written."""

    by: str = parameter(
        "method",
        "Add up by `method` or by `module`; or methods by a weight: `alloc`, or a field of `event`.",
    )


@answer(
    name="top",
    summary="event total samples processors advice",
)
class TopReport(Answer[TopFacts]):
    """The methods or modules with the most time, or with the most of another event's weight.

    *Exclusive* is a method's own weight, *inclusive* its weight with everything it calls; a method that calls itself
    counts once. A sample of the sample profiler is weighted by the time until the next sample of its thread, cut at the
    edges of the window. The profiler records where each managed thread is, whether it runs or waits, so this is
    wall-clock time, not processor time. `running_ns` and `waiting_ns` separate the two by the innermost methods; the
    rest was in native code, which computes or waits.

    Other events have a weight of 1, or the value of one of their fields. The weight `alloc` is the number of allocated
    bytes, from the best source in the trace (see the report `alloc`).

    Times, sizes and numbers have columns of their own, and those that do not apply are null; for events with a weight
    of 1, `samples` and `inclusive_samples` are the weights.
    """

    methods: ReportTable[HotRow] = table("The methods or modules, most exclusive weight first.")

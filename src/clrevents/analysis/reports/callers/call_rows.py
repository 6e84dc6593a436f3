"""The rows, facts and parameters of the callers report, and its answer. Adds up nothing."""

from __future__ import annotations

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.declaration import parameter, parameters
from clrevents.analysis.framework.vocabulary.cells import Bytes, CodeName, Count, DurationNs, Number, Ratio, RowNumber
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Row, TreeShape, column, row
from clrevents.analysis.shared.samples.sample_collector import SampleFacts
from clrevents.analysis.shared.samples.sample_parameters import SampleParameters


@row(tree=TreeShape("depth", "name", "share"))
class CallNode(Row):
    """One way to or from the method: what called it by this way, or what it called."""

    node: RowNumber = column("The number of the row in its tree, 0 for the method itself.", hidden=True)
    parent_node: RowNumber | None = column("The row that this one is below; null for the method itself.", hidden=True)
    depth: Count = column("How many calls it is away from the method.", hidden=True)
    share: Ratio | None = column("The inclusive weight as a share of the method's; null if that is 0.")
    inclusive_ns: DurationNs | None = column(
        "The method's time by this way; of callees, their own with all that they called. Null if weights are no times."
    )
    exclusive_ns: DurationNs | None = column(
        "How much of it the method itself was the innermost one; of callees, how much they were. Null as above."
    )
    inclusive_bytes: Bytes | None = column("As `inclusive_ns`, in bytes; null if the weights are not sizes.")
    exclusive_bytes: Bytes | None = column("As `exclusive_ns`, in bytes; null if the weights are not sizes.")
    inclusive: Number | None = column("As `inclusive_ns`; null unless a field without a unit is the weight.")
    exclusive: Number | None = column("As `exclusive_ns`; null unless a field without a unit is the weight.")
    samples: Count = column("How many samples or events have a stack that goes this way.")
    name: CodeName = column("The method as C# writes it; of several that are added up, the pattern that they match.")
    module: CodeName | None = column("The module; null if unknown.", hidden=True)


@row
class CalledMethod(Row):
    """One of the methods that match, with its weights alone."""

    name: CodeName = column("The method as C# writes it.")
    module: CodeName | None = column("The module; null if unknown.")
    samples: Count = column("How many samples or events were taken in it.")
    inclusive_samples: Count = column("How many were taken in it or in what it called.")
    inclusive_ns: DurationNs | None = column("Its time with all that it called; null if the weights are not times.")
    exclusive_ns: DurationNs | None = column("Its own time; null if the weights are not times.")
    inclusive_bytes: Bytes | None = column("Its bytes with all that it called; null if the weights are not sizes.")
    exclusive_bytes: Bytes | None = column("Its own bytes; null if the weights are not sizes.")
    inclusive: Number | None = column("Its weight with all that it called; null unless a field without a unit is it.")
    exclusive: Number | None = column("Its own weight; null unless a field without a unit is the weight.")


@row
class CallersFacts(SampleFacts):
    """The circumstances of a callers report."""

    methods: Count | None = column("How many methods match, and are added up as one.")


@parameters
class CallersParameters(SampleParameters):
    """Which method, and what its stacks are weighed by."""

    method: str = parameter("*", "The method: its name, the end of its name, or a pattern.", argument=True)
    by: str | None = parameter(None, "The same as `weight`: `alloc`, or a field of `event`.")
    depth: int | None = parameter(None, "At most so many calls away from the method.")


@answer(name="callers")
class CallersReport(Answer[CallersFacts]):
    """Which methods called a method, and which ones it called, as two trees with weights.

    In both trees the first row is the method itself. Below it, among the `callers`, are the methods that called it, and
    below each of these what called that one; among the `callees`, what the method called, and what these called. The
    inclusive weights of a row's children are never more than its own. METHOD is a name, `Shop.Cart.Pay`, the end of
    one, `Pay`, or a pattern, `Shop.Cart.*`; all methods that match are added up as one, and listed in `methods`. For
    `*`, which is what called all outermost methods, the callees are the whole tree of calls.

    A stack counts once in each tree, however often the method is on it. What called the method is who called it last
    from outside: calls of the method by itself, or of one method that matches by another, are passed over. What it
    called is all below its outermost call. Which samples count and what they weigh is as in the report `top`: of the
    sample profiler time on the clock, also while a thread waits. `my_code` and `fold` take no frames away that match
    METHOD, unless that is `*`.
    """

    callers: ReportTable[CallNode] = table("What called the method, and what called that, the heaviest first.")
    callees: ReportTable[CallNode] = table("What the method called, and what that called, the heaviest first.")
    methods: ReportTable[CalledMethod] = table("The methods that match, the heaviest first.")

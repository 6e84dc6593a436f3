"""Show who calls a method and what it calls, as trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Note, count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, TreeShape, column, row
from clrevents.analysis.gathering.groups import Ints, Mask, changes, sum_by
from clrevents.analysis.shared.samples.calltree import HotMethod, counted_columns, grown, hottest, stack_sums, summed_up
from clrevents.analysis.shared.samples.sample_collector import (
    SAMPLE_METRICS,
    SAMPLE_NEEDS,
    SAMPLES_OF_PART,
    CollectedSamples,
    SampleCollector,
    SampleFacts,
    SampleParameters,
)
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.samples.stack_shapes import matched, name_patterns
from clrevents.analysis.shared.weights.weighing import Weights
from clrevents.table.table import text_column


@frozen(eq=False)
class CallNodes:
    """The nodes of one tree in order, parents before children, heaviest first; the first is the method.

    `frame` is a place in the samples' frames, -1 for the method. `deepest` is how far the longest stack reaches, also
    where nodes were left out.
    """

    parent: Ints
    depth: Ints
    frame: Ints
    inclusive: Weights
    exclusive: Weights
    samples: Ints
    deepest: int
    counted: tuple[Ints, ...] | None = None
    """Inclusive and exclusive processor time, and ready time; None where they were not counted."""

    def __len__(self) -> int:
        return len(self.parent)


@frozen(eq=False)
class CallSides:
    """Both trees. `inclusive` and `exclusive` are the method's weights, as `top` has them."""

    callers: CallNodes
    callees: CallNodes
    inclusive: int | float
    exclusive: int | float
    samples: int


@frozen(eq=False)
class CallPaths:
    """One tree by the stacks that it is made of: `node` is where each of them ends, `size` how far each reaches.

    `parent` and `frame` are as in `CallNodes`, in no other order than parents before their children.
    """

    parent: Ints
    frame: Ints
    node: Ints
    size: Ints


def call_paths(
    samples: Samples, stacks: Ints, focus: Mask | None, depth: int | None = None
) -> tuple[Ints, CallPaths, CallPaths]:
    """Which places of `stacks` have the focus on them, and of these the trees of callers and of callees."""
    outermost, entered = (places[stacks] for places in _split(samples, focus))
    with_focus = np.flatnonzero(outermost >= 0)
    stack, place, entry = stacks[with_focus], outermost[with_focus], entered[with_focus]
    above = samples.offsets[stack + 1] - 1 - entry
    below = place - samples.offsets[stack]
    callers = _paths(samples, lambda deep, level: entry[deep] + 1 + level, above, depth)
    return with_focus, callers, _paths(samples, lambda deep, level: place[deep] - 1 - level, below, depth)


def _paths(samples: Samples, place: Callable[[Ints, int], Ints], size: Ints, depth: int | None) -> CallPaths:
    cut = size if depth is None else np.minimum(size, depth)
    # Without a stack there is no root either.
    root = np.full(min(len(size), 1), -1, dtype=np.int64)
    return CallPaths(*grown(samples, place, cut, (root, root, np.zeros(len(size), dtype=np.int64))), size)


def call_sides(samples: Samples, focus: Mask | None, depth: int | None = None) -> CallSides:
    """Both trees around the frames of `focus`, taken as one method; of nodes at most `depth` calls away from it.

    None is the caller of all outermost methods, so its callees are the whole call tree.

    In the callers' tree a node's exclusive weight is that in which the method itself was the innermost frame; in that
    of callees, in which the node was.
    """
    sums = stack_sums(samples, merge_threads=True)
    with_focus, above, below = call_paths(samples, sums.stack, focus, depth)
    pairs: list[tuple[Weights, Ints]] = [(sums.weight[with_focus], sums.count[with_focus])]
    if sums.counted is not None:
        used, ready = sums.counted
        pairs.append((used[with_focus], ready[with_focus]))
    leaf = samples.values[samples.offsets[sums.stack[with_focus]]]
    counts_itself = np.ones(len(with_focus), dtype=np.bool_) if focus is None else focus[leaf]
    # Where the rest of a stack is left out, no node is its innermost one.
    ends = np.ones(len(with_focus), dtype=np.bool_) if depth is None else below.size <= depth
    callers = _tree(samples, above, [(whole, np.where(counts_itself, whole, 0), more) for whole, more in pairs])
    callees = _tree(samples, below, [(whole, np.where(ends, whole, 0), more) for whole, more in pairs], alone=True)
    weight, count = pairs[0]
    return CallSides(callers, callees, weight.sum().item(), weight[counts_itself].sum().item(), int(count.sum()))


def _split(samples: Samples, focus: Mask | None) -> tuple[Ints, Ints]:
    """Where in `values` each stack's outermost frame of the focus is, and where its innermost run of them ends.

    -1, and a place that means nothing, where it has none.
    """
    if focus is None:
        return samples.offsets[1:], samples.offsets[1:] - 1
    in_focus = focus[samples.values]
    places = np.flatnonzero(in_focus)
    last = np.zeros(len(in_focus), dtype=np.bool_)
    last[samples.offsets[1:] - 1] = True
    ends = np.flatnonzero(in_focus & (last | ~np.append(in_focus[1:], False)))
    outermost = np.full(len(samples.offsets) - 1, -1, dtype=np.int64)
    entered = np.full(len(samples.offsets) - 1, len(in_focus), dtype=np.int64)
    np.maximum.at(outermost, _stack_of(samples, places), places)
    np.minimum.at(entered, _stack_of(samples, ends), ends)
    return outermost, entered


def _stack_of(samples: Samples, places: Ints) -> Ints:
    return np.searchsorted(samples.offsets, places, side="right") - 1


def _tree(
    samples: Samples, paths: CallPaths, weights: list[tuple[Weights, Weights, Ints]], alone: bool = False
) -> CallNodes:
    """A tree from its stacks. With `alone`, exclusive weights are those of a node and not of what is below it too.

    `weights` are the inclusive and exclusive weight of each stack and the number of its samples; then, if it was
    counted, its processor time in their places, and ready time.
    """
    parent, frame = paths.parent, paths.frame

    def totals(*columns: Weights) -> tuple[Weights, Weights, Ints]:
        below, own, more = (sum_by(paths.node, column, len(parent)) for column in columns)
        return (
            summed_up(parent, below),
            own if alone else summed_up(parent, own),
            summed_up(parent, more).astype(np.int64),
        )

    inclusive, exclusive, number = totals(*weights[0])
    counted = [column.astype(np.int64) for three in weights[1:] for column in totals(*three)]
    order, above, levels = _ordered(samples, parent, frame, counted[0] if counted else inclusive)
    return CallNodes(
        parent=above,
        depth=levels,
        frame=frame[order],
        inclusive=inclusive[order],
        exclusive=exclusive[order],
        samples=number[order],
        deepest=int(paths.size.max(initial=0)),
        counted=tuple(column[order] for column in counted) or None,
    )


def _ordered(samples: Samples, parent: Ints, frame: Ints, weights: Weights) -> tuple[Ints, Ints, Ints]:
    """The nodes in order, and the parent and the depth of each. Parents stand before their children."""
    names = [known.name for known in samples.frames]
    ranks = {name: rank for rank, name in enumerate(sorted({"", *names}))}
    # The last is that of frame -1.
    name = np.array([ranks[name] for name in (*names, "")], dtype=np.int64)[frame]
    weight = np.unique(weights, return_inverse=True)[1]
    siblings = np.lexsort((-np.arange(len(parent)), name, -weight, parent))
    size = summed_up(parent, np.ones(len(parent), dtype=np.int64))[siblings]
    before = np.cumsum(size) - size
    first = np.flatnonzero(changes(parent[siblings]))
    skipped = np.empty_like(parent)
    skipped[siblings] = before - np.repeat(before[first], np.diff(first, append=len(parent)))
    # What is below the siblings before a node stands between it and its parent.
    places: list[int] = []
    levels: list[int] = []
    for above, between in zip(parent.tolist(), skipped.tolist(), strict=True):
        places.append(between if above < 0 else places[above] + 1 + between)
        levels.append(0 if above < 0 else levels[above] + 1)
    place = np.array(places, dtype=np.int64)
    order = np.empty_like(place)
    order[place] = np.arange(len(place))
    parents = parent[order]
    return order, np.where(parents < 0, -1, place[parents]), np.array(levels, dtype=np.int64)[order]


@row(tree=TreeShape("depth", "name", "share"))
class CallNode(Row):
    """One path to or from the method: a caller, or a callee."""

    node: cells.RowNumber = column("The row's number in its tree, 0 for the method itself.", hidden=True)
    parent_node: cells.RowNumber | None = column("The parent row; null for the method itself.", hidden=True)
    depth: cells.Count = column("How many calls away from the method it is.", hidden=True)
    share: cells.Ratio | None = column(
        "The inclusive weight as a share of the method's; null if the method's is 0.",
        share_of=("inclusive_ns", "inclusive_bytes", "inclusive"),
        importance=1,
    )
    inclusive_processor_ns: cells.DurationNs | None = column(
        "As `inclusive_ns`, in processor time, estimated from counts; null unless the operating system's counts were "
        "recorded.",
        importance=1,
    )
    processor_ns: cells.DurationNs | None = column("As `exclusive_ns`, in processor time; null unless it was counted.")
    ready_ns: cells.DurationNs | None = column(
        "How long threads on this path wanted a processor and had none, estimated; null unless it was counted."
    )
    inclusive_ns: cells.DurationNs | None = column(
        "Among callers, the method's time on this path; among callees, the callee's own time and that of everything "
        "it called. Null if the weights are not times.",
        importance=1,
    )
    exclusive_ns: cells.DurationNs | None = column(
        "How much of it was spent in the method itself; among callees, in the callee itself. Null if the weights "
        "are not times."
    )
    inclusive_bytes: cells.Bytes | None = column(
        "As `inclusive_ns`, in bytes; null if the weights are not sizes.", importance=1
    )
    exclusive_bytes: cells.Bytes | None = column("As `exclusive_ns`, in bytes; null if the weights are not sizes.")
    inclusive: cells.Number | None = column(
        "As `inclusive_ns`; null unless the weight is a field without a unit.", importance=1
    )
    exclusive: cells.Number | None = column("As `exclusive_ns`; null unless the weight is a field without a unit.")
    samples: cells.Count = column("How many samples or events have a stack along this path.", importance=3)
    name: cells.CodeName = column(
        "The method as in C#; if several are added up, the pattern that they match.", importance=0
    )
    module: cells.CodeName | None = column("The module; null if unknown.", hidden=True)


@row
class CalledMethod(Row):
    """One of the matching methods, with its own weights."""

    name: cells.CodeName = column("The method as in C#.")
    module: cells.CodeName | None = column("The module; null if unknown.")
    samples: cells.Count = column("How many samples or events were taken in it.")
    inclusive_samples: cells.Count = column("How many were taken in it or in methods it called.")
    processor_ns: cells.DurationNs | None = column(
        "Its own processor time, estimated from what the operating system counted; null unless it did."
    )
    inclusive_processor_ns: cells.DurationNs | None = column(
        "Its processor time, including everything it called; null unless it was counted."
    )
    ready_ns: cells.DurationNs | None = column(
        "How long threads in it wanted a processor and had none, estimated; null unless it was counted."
    )
    inclusive_ns: cells.DurationNs | None = column(
        "Its time, including everything it called; null if the weights are not times."
    )
    exclusive_ns: cells.DurationNs | None = column("Its own time; null if the weights are not times.")
    inclusive_bytes: cells.Bytes | None = column(
        "Its bytes, including everything it called; null if the weights are not sizes."
    )
    exclusive_bytes: cells.Bytes | None = column("Its own bytes; null if the weights are not sizes.")
    inclusive: cells.Number | None = column(
        "Its weight, including everything it called; null unless the weight is a field without a unit."
    )
    exclusive: cells.Number | None = column("Its own weight; null unless the weight is a field without a unit.")


@row
class CallersFacts(SampleFacts):
    """The facts of a callers report."""

    methods: cells.Count | None = column("How many methods match and are added up.")


@parameters
class CallersParameters(SampleParameters):
    """Which method, and how its stacks are weighted."""

    method: str = parameter("*", "The method: its name, the end of its name, or a pattern.", argument=True)
    by: str | None = parameter(None, "The same as `weight`: `alloc`, or a field of `event`.")
    depth: int | None = parameter(None, "Show methods at most N calls away.")


@answer(
    name="callers",
    summary="used event total inclusive exclusive advice",
)
class CallersReport(Answer[CallersFacts]):
    """Which methods called a method, and which ones it called, as two weighted trees.

    In both trees the first row is the method itself. Below it, `callers` has the methods that called it, and below each
    of them its own callers; `callees` has the methods it called, and below each of them its own callees. The inclusive
    weights of a row's children never add up to more than its own. METHOD is a name, `Shop.Cart.Pay`, the end of one,
    `Pay`, or a pattern, `Shop.Cart.*`; all matching methods are added up as one, and listed in `methods`. For `*`, the
    caller of all outermost methods, the callees are the whole call tree.

    A stack counts once in each tree, however often the method is on it. The caller is the last one from outside: calls
    of the method by itself, or of one matching method by another, are skipped. The callees are everything below its
    outermost call. Which samples count and how they are weighted is as in the report `top`: for the sample profiler,
    wall-clock time, including time in which a thread waits. `my_code` and `fold` never remove frames that match METHOD,
    unless that is `*`.
    """

    callers: ReportTable[CallNode] = table("What called the method, and what called that, heaviest first.")
    callees: ReportTable[CallNode] = table("What the method called, and what that called, heaviest first.")
    methods: ReportTable[CalledMethod] = table("The methods that match, heaviest first.")


_ANY: Final = "*"
_COUNTED: Final = ("inclusive_processor_ns", "processor_ns", "ready_ns")
"""What was counted; intervals of it are in `top`."""
_SHOWN: Final = 3
_SIMILAR: Final = 0.5
_METRICS: Final = (
    # A sample that reaches into the next window is in both.
    count_of("samples", "The samples or events with the method on their stack.", windows=False, evidence="sample"),
    time_of("inclusive", "Their weight, in bytes or another unit if the weights are not times."),
    time_of("exclusive", "The weight of those in which the method is the innermost frame."),
    *SAMPLE_METRICS[1:],
)


class CallersCollector(SampleCollector[CallersReport]):
    """Splits stacks at the method."""

    tables = ("callers", "callees", "methods")

    def __init__(self, asked: CallersParameters) -> None:
        if asked.depth is not None and asked.depth < 0:
            raise ValueError(f"depth must be at least 0, not {asked.depth}")
        if asked.by is not None:
            if asked.weight is not None:
                raise ValueError("give either by or weight, not both: they mean the same")
            asked = attrs.evolve(asked, by=None, weight=asked.by)  # type: ignore[misc]
        self._method = asked.method
        self._patterns = name_patterns("method", asked.method)
        # The method stays, whatever is folded; `*` is none in particular.
        super().__init__(asked, keep=() if asked.method == _ANY else self._patterns)
        self._depth = asked.depth
        self._raw = asked.raw

    def answer(self, collected: CollectedSamples) -> CallersReport:
        """Make the answer of all samples."""
        samples = collected.samples.seen()
        focus = self._focus(samples)
        sides = call_sides(samples, None if self._method == _ANY else focus, self._depth)
        own = [frame for frame, focused in zip(samples.frames, focus.tolist(), strict=True) if focused]
        labels = {(frame.name, frame.raw, frame.module) for frame in own}
        methods = [hot for hot in hottest(samples) if (hot.name, hot.raw, hot.module) in labels]
        report: CallersReport = collected.context.answer(
            CallersReport,
            facts=CallersFacts(**collected.facts, methods=len(methods)),
            metrics={
                **collected.metrics,
                "samples": sides.samples,
                "inclusive": collected.weight(sides.inclusive),
                "exclusive": collected.weight(sides.exclusive),
            },
            notes=(*collected.notes, *self._notes(samples, methods, sides)),
            cannot=collected.cannot,
            sample_ns=collected.sample_ns,
            callers=self._tree(collected, sides.callers, methods),
            callees=self._tree(collected, sides.callees, methods),
            methods=self._methods(collected, methods),
        )
        return report

    def paths(self, samples: Samples) -> tuple[NDArray[np.int64], CallPaths, CallPaths]:
        """Which stacks of the samples have the method on them, and how they make the trees of callers and callees."""
        focus = None if self._method == _ANY else self._focus(samples)
        return call_paths(samples, np.arange(len(samples.offsets) - 1), focus, self._depth)

    def _focus(self, samples: Samples) -> NDArray[np.bool_]:
        if self._method == _ANY:
            return np.ones(len(samples.frames), dtype=np.bool_)
        return np.array([matched(self._patterns, frame) for frame in samples.frames], dtype=np.bool_)

    def _tree(
        self, collected: CollectedSamples, nodes: CallNodes, methods: Sequence[HotMethod]
    ) -> ReportTable[CallNode]:
        frames = collected.samples.frames
        one = (methods[0].name, methods[0].raw, methods[0].module) if len(methods) == 1 else (self._method,) * 2 + ("",)
        # Nodes may be many, and frames are few.
        labels = [*((frame.name, frame.raw, frame.module) for frame in frames), one]
        places = np.where(nodes.frame < 0, len(frames), nodes.frame)
        whole = nodes.inclusive[:1].sum()
        times = nodes.counted or ([None] * len(nodes),) * len(_COUNTED)
        values: dict[str, Cells] = {
            "node": np.arange(len(nodes)),
            "parent_node": [None if above < 0 else above for above in nodes.parent.tolist()],
            "depth": nodes.depth,
            "share": nodes.inclusive / whole if whole else [None] * len(nodes),
            **dict(zip(_COUNTED, times, strict=True)),
            **collected.columns("inclusive", nodes.inclusive),
            **collected.columns("exclusive", nodes.exclusive),
            "samples": nodes.samples,
            "name": text_column([raw if self._raw else name for name, raw, _ in labels], places),
            "module": text_column([module or None for _, _, module in labels], places),
            "lossy": np.full(len(nodes), collected.lossy),
        }
        return collected.context.table(CallNode, values)

    def _methods(self, collected: CollectedSamples, methods: Sequence[HotMethod]) -> ReportTable[CalledMethod]:
        counted = counted_columns([hot.counted for hot in methods])
        values: dict[str, Cells] = {
            "name": [hot.raw if self._raw else hot.name for hot in methods],
            "module": [hot.module or None for hot in methods],
            "samples": [hot.samples for hot in methods],
            "inclusive_samples": [hot.inclusive_samples for hot in methods],
            **{name: counted[name] for name in _COUNTED},
            **collected.columns("inclusive", [hot.inclusive for hot in methods]),
            **collected.columns("exclusive", [hot.exclusive for hot in methods]),
            "lossy": [collected.lossy] * len(methods),
        }
        return collected.context.table(CalledMethod, values)

    def _notes(self, samples: Samples, methods: Sequence[HotMethod], sides: CallSides) -> list[Note]:
        notes = []
        if not methods and len(samples):
            text = f"no stack holds a method that matches {self._method!r}"
            near = _near(self._method, samples)
            remedy = f"did you mean {' or '.join(near)}" if near else None
            notes.append(Note("no-method", "warning", text, self.tables, remedy=remedy))
        if len(methods) > 1 and self._method != _ANY:
            text = f"{len(methods):,} methods match {self._method!r} and are added up; the table `methods` lists them"
            notes.append(Note("several-methods", "info", text, self.tables[:2], {"methods": len(methods)}))
        deepest = max(sides.callers.deepest, sides.callees.deepest)
        if self._depth is not None and deepest > self._depth:
            text = (
                f"methods more than {counted(self._depth, 'call')} away are left out; the longest stack has {deepest:,}"
            )
            notes.append(Note("cut-depth", "info", text, self.tables[:2], {"calls": deepest}))
        return notes


def _near(method: str, samples: Samples) -> list[str]:
    """Names of methods that may have been meant."""
    names = {frame.method for frame in samples.frames if frame.reason is None}
    last = {name.rpartition(".")[2].lower(): name for name in sorted(names, reverse=True)}
    wanted = method.strip("*").partition("(")[0].rpartition(".")[2].lower()
    inside = [name for short, name in sorted(last.items()) if len(wanted) > 1 and wanted in short]
    similar = [last[short] for short in get_close_matches(wanted, last, n=_SHOWN, cutoff=_SIMILAR)]
    return list(dict.fromkeys((*inside, *similar)))[:_SHOWN]


REPORT: Final = ReportDeclaration(
    answer=CallersReport,
    question="Who calls this method, and what does it call?",
    topic="time",
    needs=SAMPLE_NEEDS,
    metrics=_METRICS,
    collector=CallersCollector,
    in_part=SAMPLES_OF_PART,
    beside=("callees",),
    parameters=CallersParameters,
    shown=(
        *("inclusive_processor_ns", "processor_ns", "ready_ns"),
        *("share", "inclusive_ns", "exclusive_ns", "inclusive_bytes", "exclusive_bytes", "inclusive", "exclusive"),
        *("samples", "name"),
    ),
    examples=(
        ("Who calls this method, and what does it call?", "clrevents callers app.nettrace Shop.Cart.Pay"),
        ("Which of my methods wait?", "clrevents callers app.nettrace 'System.Threading.*' --waiting --my-code"),
        ("Who allocates strings?", "clrevents callers app.nettrace 'System.String.*' --by alloc"),
        ("What does the whole program do?", "clrevents callers app.nettrace --table callees --depth 10"),
        ("Who calls it more than before?", "clrevents callers after.nettrace Shop.Cart.Pay --against before.nettrace"),
    ),
    against=True,
    not_compared="it is about one method",
)

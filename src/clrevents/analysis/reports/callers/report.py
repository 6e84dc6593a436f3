"""The callers report: what it asks for, its collector and its function."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.callers.call_rows import CalledMethod, CallersFacts, CallersParameters, CallNode
from clrevents.analysis.reports.callers.call_rows import CallersReport as CallersReport
from clrevents.analysis.reports.callers.call_sides import CallNodes, CallSides, call_sides
from clrevents.analysis.shared.samples.hot import HotMethod, hottest
from clrevents.analysis.shared.samples.name_patterns import matched, name_patterns
from clrevents.analysis.shared.samples.sample_collector import SAMPLE_NEEDS, CollectedSamples, SampleCollector
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.table.build import text_column

_ANY: Final = "*"
_SHOWN: Final = 3
_SIMILAR: Final = 0.5
_METRICS: Final = (
    # A sample that reaches into the next window is in both.
    MetricDeclaration(
        "samples", "count", "The samples or events with the method on their stack.", windows=False, evidence="sample"
    ),
    MetricDeclaration("inclusive", "ns", "What these weigh, in bytes or another unit if they are not times."),
    MetricDeclaration("exclusive", "ns", "What those of them weigh in which the method is the innermost one."),
    MetricDeclaration("total", "ns", "What all samples or events weigh."),
)


class CallersCollector(SampleCollector[CallersReport]):
    """Splits stacks at the method."""

    tables = ("callers", "callees", "methods")

    def __init__(self, asked: CallersParameters) -> None:
        if asked.depth is not None and asked.depth < 0:
            raise ValueError(f"depth must be at least 0, not {asked.depth}")
        if asked.by is not None:
            if asked.weight is not None:
                raise ValueError("by and weight exclude one another: they mean the same")
            asked = attrs.evolve(asked, by=None, weight=asked.by)  # type: ignore[misc]
        self._method = asked.method
        self._patterns = name_patterns("method", asked.method)
        # The method stays, whatever is folded; `*` is none in particular.
        super().__init__(asked, keep=() if asked.method == _ANY else self._patterns)
        self._depth = asked.depth
        self._raw = asked.raw

    def answer(self, found: CollectedSamples) -> CallersReport:
        """Make the answer of all samples."""
        samples = found.samples
        focus = np.array([matched(self._patterns, frame) for frame in samples.frames], dtype=np.bool_)
        sides = call_sides(samples, None if self._method == _ANY else focus, self._depth)
        own = [frame for frame, mine in zip(samples.frames, focus.tolist(), strict=True) if mine]
        labels = {(frame.name, frame.raw, frame.module) for frame in own}
        methods = [hot for hot in hottest(samples) if (hot.name, hot.raw, hot.module) in labels]
        made: CallersReport = found.context.answer(
            CallersReport,
            facts=CallersFacts(**found.facts, methods=len(methods)),
            metrics={
                "samples": sides.samples,
                "inclusive": found.weight(sides.inclusive),
                "exclusive": found.weight(sides.exclusive),
                "total": found.weight(samples.total),
            },
            notes=(*found.notes, *self._notes(samples, methods, sides)),
            cannot=found.cannot,
            callers=self._tree(found, sides.callers, methods),
            callees=self._tree(found, sides.callees, methods),
            methods=self._methods(found, methods),
        )
        return made

    def _tree(self, found: CollectedSamples, nodes: CallNodes, methods: Sequence[HotMethod]) -> ReportTable[CallNode]:
        frames = found.samples.frames
        one = (methods[0].name, methods[0].raw, methods[0].module) if len(methods) == 1 else (self._method,) * 2 + ("",)
        # Nodes may be many, and frames are few.
        labels = [*((frame.name, frame.raw, frame.module) for frame in frames), one]
        places = np.where(nodes.frame < 0, len(frames), nodes.frame)
        whole = nodes.inclusive[:1].sum()
        values: dict[str, Any] = {
            "node": np.arange(len(nodes)),
            "parent_node": [None if above < 0 else above for above in nodes.parent.tolist()],
            "depth": nodes.depth,
            "share": nodes.inclusive / whole if whole else [None] * len(nodes),
            **found.columns("inclusive", nodes.inclusive),
            **found.columns("exclusive", nodes.exclusive),
            "samples": nodes.samples,
            "name": text_column([raw if self._raw else name for name, raw, _ in labels], places),
            "runtime_name": text_column([raw for _, raw, _ in labels], places),
            "module": text_column([module or None for _, _, module in labels], places),
            "lossy": np.full(len(nodes), found.lossy),
        }
        return found.context.table(CallNode, values)

    def _methods(self, found: CollectedSamples, methods: Sequence[HotMethod]) -> ReportTable[CalledMethod]:
        values: dict[str, Any] = {
            "name": [hot.raw if self._raw else hot.name for hot in methods],
            "runtime_name": [hot.raw for hot in methods],
            "module": [hot.module or None for hot in methods],
            "samples": [hot.samples for hot in methods],
            "inclusive_samples": [hot.inclusive_samples for hot in methods],
            **found.columns("inclusive", [hot.inclusive for hot in methods]),
            **found.columns("exclusive", [hot.exclusive for hot in methods]),
            "lossy": [found.lossy] * len(methods),
        }
        return found.context.table(CalledMethod, values)

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
                f"what is more than {counted(self._depth, 'call')} away is left out; the longest stack has {deepest:,}"
            )
            notes.append(Note("cut-depth", "info", text, self.tables[:2], {"calls": deepest}))
        return notes


def _near(method: str, samples: Samples) -> list[str]:
    """Names of methods that the one who asked may have meant."""
    names = {frame.name.partition("(")[0] for frame in samples.frames if frame.reason is None}
    last = {name.rpartition(".")[2].lower(): name for name in sorted(names, reverse=True)}
    wanted = method.strip("*").partition("(")[0].rpartition(".")[2].lower()
    inside = [name for short, name in sorted(last.items()) if len(wanted) > 1 and wanted in short]
    similar = [last[short] for short in get_close_matches(wanted, last, n=_SHOWN, cutoff=_SIMILAR)]
    return list(dict.fromkeys((*inside, *similar)))[:_SHOWN]


REPORT: Final = ReportDeclaration(
    answer=CallersReport,
    question="Who calls this method, and what does it call?",
    needs=SAMPLE_NEEDS,
    metrics=_METRICS,
    collector=CallersCollector,
    in_part={"*": "at least"},
    headline="callers",
    beside=("callees",),
    parameters=CallersParameters,
    shown=(
        *("share", "inclusive_ns", "exclusive_ns", "inclusive_bytes", "exclusive_bytes", "inclusive", "exclusive"),
        *("samples", "name"),
    ),
    examples=(
        ("Who calls this method, and what does it call?", "clrevents callers app.nettrace Shop.Cart.Pay"),
        ("Which of my methods wait?", "clrevents callers app.nettrace 'System.Threading.*' --waiting --my-code"),
        ("Who allocates strings?", "clrevents callers app.nettrace 'System.String.*' --by alloc"),
        ("What does the whole program do?", "clrevents callers app.nettrace --table callees --depth 10"),
    ),
)

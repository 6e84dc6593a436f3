"""The top report: methods or modules by the time of the sample profiler's samples, or by the weight of other events.

Adds up what `samples` names and `hot` sorts. Gives each number its unit.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.top.hot_rows import HotRow as HotRow
from clrevents.analysis.reports.top.hot_rows import TopFacts, TopParameters
from clrevents.analysis.reports.top.hot_rows import TopReport as TopReport
from clrevents.analysis.shared.samples.hot import BY, By, hottest, telling_names
from clrevents.analysis.shared.samples.sample_collector import (
    SAMPLE_METRICS,
    SAMPLE_NEEDS,
    SAMPLES_OF_PART,
    CollectedSamples,
    SampleCollector,
)
from clrevents.analysis.shared.weights.event_weights import AMOUNTS


class TopCollector(SampleCollector[TopReport]):
    """Adds up samples by method or by module."""

    tables = ("methods",)
    texts = False

    def __init__(self, asked: TopParameters) -> None:
        asked = _with_weight(asked)
        super().__init__(asked)
        self._by: By = "module" if asked.by == "module" else "method"
        self._raw = asked.raw

    def answer(self, found: CollectedSamples) -> TopReport:
        """Make the answer of all samples."""
        made: TopReport = found.context.answer(
            TopReport,
            facts=TopFacts(**found.facts),
            metrics=found.metrics,
            notes=found.notes,
            cannot=found.cannot,
            methods=self._table(found),
        )
        return made

    def _table(self, found: CollectedSamples) -> ReportTable[HotRow]:
        samples = found.samples
        rows = hottest(samples, self._by)
        values: dict[str, Any] = {
            "name": [hot.raw for hot in rows] if self._raw else telling_names(rows),
            "module": [hot.module or None for hot in rows],
            "kind": [hot.kind for hot in rows],
            "samples": [hot.samples for hot in rows],
            "share": [_share(hot.exclusive, samples.total) for hot in rows],
            "running_ns": [hot.running for hot in rows],
            "waiting_ns": [hot.waiting for hot in rows],
            "external_ns": [hot.external for hot in rows],
            "external_share": [_share(hot.external, hot.exclusive) for hot in rows],
            "inclusive_samples": [hot.inclusive_samples for hot in rows],
            **found.columns("exclusive", [hot.exclusive for hot in rows]),
            **found.columns("inclusive", [hot.inclusive for hot in rows]),
        }
        return found.context.table(HotRow, {**values, "lossy": [found.lossy] * len(rows)})


def _with_weight(asked: TopParameters) -> TopParameters:
    """The same with the weight separate. ValueError for a weight without an event to weigh."""
    if asked.by in BY:
        return asked
    if asked.weight is not None or (asked.event is None and asked.by not in AMOUNTS):
        others = [] if asked.weight is not None else [*map(repr, AMOUNTS), "a field of event"]
        known = [*map(repr, BY), *others]
        raise ValueError(f"by must be {', '.join(known[:-1])} or {known[-1]}, not {asked.by!r}")
    changed: TopParameters = attrs.evolve(asked, by=BY[0], weight=asked.by)  # type: ignore[misc]
    return changed


def _share(part: int | float | None, whole: int | float) -> float | None:
    return None if part is None or not whole else part / whole


REPORT: Final = ReportDeclaration(
    TopReport,
    "Where is the time spent?",
    "time",
    SAMPLE_NEEDS,
    SAMPLE_METRICS,
    TopCollector,
    TopParameters,
    shown=(
        *("share", "running_ns", "waiting_ns", "exclusive_ns", "inclusive_ns", "exclusive_bytes", "inclusive_bytes"),
        *("exclusive", "inclusive", "samples", "kind", "name"),
    ),
    examples=(
        ("Where is the time spent?", "clrevents top app.nettrace"),
        ("What do threads wait for?", "clrevents top app.nettrace --waiting"),
        ("Which of my methods cost most?", "clrevents top app.nettrace --my-code"),
        ("Which methods allocate, in bytes?", "clrevents top app.nettrace --by alloc"),
        ("And which modules?", "clrevents top app.nettrace --by module --weight alloc"),
    ),
    in_part=SAMPLES_OF_PART,
)

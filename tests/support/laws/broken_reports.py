"""Reports that break one law each, to prove that the laws notice. Named after what they do wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import attrs
import numpy as np

import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from sample_pauses import PauseFacts, PauseReport, Pauses


class ForgetsAtBorders(Pauses):
    """What is open at the end of a chunk is forgotten."""

    def take(self, chunk: ReportChunk) -> None:
        super().take(chunk)
        self.open = None


class CountsChunks(Pauses):
    """A fact that depends on how often there were events."""

    chunks = 0

    def take(self, chunk: ReportChunk) -> None:
        super().take(chunk)
        self.chunks += 1

    def finish(self, context: Context) -> PauseReport:
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished=self.chunks))


class SaysWhetherAsked(Pauses):
    """A fact that depends on whether a window was asked for, and not on what it holds."""

    def finish(self, context: Context) -> PauseReport:
        asked = None if context.window.whole else 1
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished=asked))


class CutsAtTheEnd(Pauses):
    """Clips unfinished pauses, although the window is the whole trace."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        clipped = np.array([row.end_ns is None and not context.window.whole for row in found.pauses], dtype=np.bool_)
        return attrs.evolve(found, pauses=found.pauses.replaced(clipped=clipped))


class IgnoresTheWindow(Pauses):
    """Gives all rows and numbers whatever was asked for."""

    def finish(self, context: Context) -> PauseReport:
        return super().finish(attrs.evolve(context, question=attrs.evolve(context.question, window=report_laws.ALL)))


class CountsWhatOverlaps(Pauses):
    """Counts rows in each window that they meet."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        count = attrs.evolve(found.metrics["count"], value=len(found.pauses))
        return attrs.evolve(found, metrics={**found.metrics, "count": count})


class SumsWholeRows(Pauses):
    """Sums whole durations of rows that only overlap."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        total = sum(row.duration_ns or 0 for row in found.pauses)
        return attrs.evolve(found, metrics={**found.metrics, "pause_total": Metric(total, "ns", "less")})


class TrimsRows(Pauses):
    """Shortens rows to the window."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        starts = [None if row.start_ns is None else max(row.start_ns, context.window.low) for row in found.pauses]
        return attrs.evolve(found, pauses=found.pauses.replaced(start_ns=starts))


class MixesProcesses(Pauses):
    """Holds what is open for all processes together."""

    shared: ClassVar[list[Any]] = []

    def take(self, chunk: ReportChunk) -> None:
        self.open = self.shared.pop() if self.shared else None
        super().take(chunk)
        if self.open is not None:
            self.shared.append(self.open)

    def finish(self, context: Context) -> PauseReport:
        self.shared.clear()
        return super().finish(context)


class AsksThePath(Pauses):
    """A fact that a stream cannot know."""

    def finish(self, context: Context) -> PauseReport:
        known = None if context.names.find_methods.__module__.endswith("feeding") else 1
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished=known))


class GivesNaN(Pauses):
    """A number that is none."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        return attrs.evolve(found, metrics={**found.metrics, "pause_max": Metric(float("nan"), "ns")})


class GivesNumpy(Pauses):
    """A number of another library."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        return attrs.evolve(found, metrics={**found.metrics, "count": Metric(np.int64(3), "count")})  # type: ignore[arg-type]


class GivesADict(Pauses):
    """A fact that is no cell, and that JSON changes: its keys become texts."""

    def finish(self, context: Context) -> PauseReport:
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished={1: 2}))  # type: ignore[arg-type]


class TellsPaths(Pauses):
    """A public fact that is made of paths, which redaction replaces."""

    selectors = (*Pauses.selectors, "rundown/ModuleDCEnd")
    letters = 0

    def take(self, chunk: ReportChunk) -> None:
        modules = chunk.events.get("rundown/ModuleDCEnd")
        if modules is not None:
            self.letters += sum(map(ord, "".join(modules.column("ModuleILPath").tolist())))
        super().take(attrs.evolve(chunk, events={k: v for k, v in chunk.events.items() if k in Pauses.selectors}))

    def finish(self, context: Context) -> PauseReport:
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished=self.letters))


class KeepsTheTrace(Pauses):
    """Hands out the trace as a fact."""

    def finish(self, context: Context) -> PauseReport:
        return attrs.evolve(super().finish(context), facts=PauseFacts(unfinished=context.names))  # type: ignore[arg-type]


class MarksEverything(Pauses):
    """All rows are lossy as soon as one is."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        lossy = np.full(len(found.pauses), bool(context.holes))
        return attrs.evolve(found, pauses=found.pauses.replaced(lossy=lossy))


class MarksNothing(Pauses):
    """No row is lossy."""

    def finish(self, context: Context) -> PauseReport:
        found = super().finish(context)
        return attrs.evolve(found, pauses=found.pauses.replaced(lossy=np.zeros(len(found.pauses), dtype=np.bool_)))


def declared(collector: Callable[[Any], Collector[Any]]) -> ReportDeclaration[Any, Any]:
    """The sample's declaration with another collector."""
    return attrs.evolve(pauses.REPORT, collector=collector)


BROKEN: Final[tuple[tuple[report_laws.Law, type[Pauses]], ...]] = (
    (report_laws.any_cut_gives_the_same, ForgetsAtBorders),
    (report_laws.any_cut_gives_the_same, CountsChunks),
    (report_laws.the_whole_window_changes_nothing, SaysWhetherAsked),
    (report_laws.the_whole_window_changes_nothing, CutsAtTheEnd),
    (report_laws.adjacent_windows_add_up, IgnoresTheWindow),
    (report_laws.adjacent_windows_add_up, CountsWhatOverlaps),
    (report_laws.adjacent_windows_add_up, SumsWholeRows),
    (report_laws.adjacent_windows_add_up, TrimsRows),
    (report_laws.a_decoder_gives_the_same, AsksThePath),
    (report_laws.json_reads_back_equal, GivesNaN),
    (report_laws.json_reads_back_equal, GivesNumpy),
    (report_laws.json_reads_back_equal, GivesADict),
    (report_laws.a_redacted_copy_says_the_same, TellsPaths),
    (report_laws.is_a_plain_value, KeepsTheTrace),
    (report_laws.marks_what_holes_touch, MarksEverything),
    (report_laws.marks_what_holes_touch, MarksNothing),
)

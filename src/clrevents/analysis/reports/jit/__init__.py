"""Show what the JIT compiled, when, and for how long.

Adds up compilation events. Knows only the trace's clock: a compilation lasts from its first to its last event, whatever
else the thread did meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import Dated, Metric, MetricDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.jit.jit_methods import (
    BEGIN,
    EVENTS,
    FOUND,
    LOADS,
    LOOKUP,
    OUTCOMES,
    PAUSE,
    RESUME,
    SETTINGS,
    TURN,
    TURN_END,
    BuiltCompilations,
    DecisionLog,
    built,
    lookups,
    settings,
    turns,
)
from clrevents.analysis.reports.jit.jit_tables import (
    Compilation,
    CompilationSums,
    JitDecision,
    JitFacts,
    JittedMethod,
    JitThread,
    TierTotal,
)
from clrevents.schema.method_flags import MethodFlags

_HEADERS: Final = ("time_ns", "thread_id")
_NAMES: Final = ("MethodNamespace", "MethodName", "MethodSignature")
_CODE: Final = ("MethodID", "ModuleID", "MethodStartAddress", "MethodSize", "MethodFlags", "ReJITID")
_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    BEGIN: ("MethodID", "ModuleID", "MethodILSize", *_NAMES),
    LOADS[0]: _CODE,
    LOADS[1]: (*_CODE, *_NAMES),
    LOOKUP: ("MethodID",),
    FOUND: ("MethodID", "EntryPoint"),
    **dict.fromkeys(SETTINGS, ("Flags",)),
    PAUSE: (),
    RESUME: (),
    TURN: (),
    TURN_END: ("JittedMethodCount",),
}
"""What is kept of each event, beside its headers."""

_COMPILATIONS: Final = "compilations"
_TIMES: Final = "times and IL sizes"
_DECISIONS: Final = "decisions about inlining and tail calls"
_LOOKUPS: Final = "look-ups of precompiled code"
_TURNS: Final = "the background compiler's turns"
_NEEDS: Final = (
    Need(_COMPILATIONS, ("MethodLoadVerbose", "MethodLoad"), 0x18, essential=True, proof=0x10),
    Need(_TIMES, ("MethodJittingStarted",), 0x18, 5, proof=0x10),
    Need(_DECISIONS, tuple(e.selector.partition("/")[2] for e in EVENTS), 0x1018, 5, proof=0x1000),
    Need(_LOOKUPS, ("R2RGetEntryPoint",), 0x2000000018, proof=0x2000000000),
    Need(
        _TURNS,
        ("TieredCompilationBackgroundJitStart", "TieredCompilationPause", "TieredCompilationSettings"),
        0x1000000018,
        proof=0x1000000000,
    ),
)
_METRICS: Final = (
    MetricDeclaration(
        "compilations", "count", "Compilations that began.", quantity="jit.compilations", dated=Dated("compilations")
    ),
    MetricDeclaration("methods", "count", "Methods that were compiled.", windows=False),
    MetricDeclaration("foreground", "count", "Compilations not known to be in the background.", lossy="unknown"),
    MetricDeclaration("background", "count", "Compilations on the thread that raises methods to higher tiers."),
    MetricDeclaration(
        "compile_total",
        "ns",
        "How long all compilations took, on all threads.",
        better="less",
        quantity="jit.compile_time",
        dated=Dated("compilations", amount="compile_ns"),
    ),
    MetricDeclaration("background_total", "ns", "How much of that was in the background."),
    MetricDeclaration("il_total", "bytes", "The size of the IL that was compiled."),
    MetricDeclaration("native_total", "bytes", "The size of the code compiled from it.", quantity="jit.native_bytes"),
    MetricDeclaration("rejits", "count", "Compilations that were not the first of their method."),
    MetricDeclaration("unfinished", "count", "Compilations whose end is not in the trace.", lossy="unknown"),
    MetricDeclaration("untimed", "count", "Compilations whose start is not in the trace.", lossy="unknown"),
    MetricDeclaration(
        "never_tiered_up", "count", "Methods that stayed at the quick tier.", windows=False, lossy="unknown"
    ),
    MetricDeclaration("rejected", "count", "Compilations whose precompiled code could not be used."),
    MetricDeclaration("precompiled_loads", "count", "Loads of precompiled code."),
    MetricDeclaration("inlined", "count", "Calls that were inlined."),
    MetricDeclaration("not_inlined", "count", "Calls that could not be inlined."),
    MetricDeclaration("tail_calls", "count", "Calls that became tail calls."),
    MetricDeclaration("no_tail_calls", "count", "Calls that could not become tail calls."),
    MetricDeclaration("lookups", "count", "Look-ups of precompiled code that ended."),
    MetricDeclaration("lookup_hits", "count", "Look-ups that found code."),
    MetricDeclaration("lookup_misses", "count", "Look-ups that found none."),
    MetricDeclaration(
        "lookup_methods",
        "count",
        "Methods whose precompiled code was found.",
        windows=False,
        quantity="jit.precompiled_methods",
    ),
    MetricDeclaration(
        "lookup_total", "ns", "How long look-ups took, over those whose start and end are known.", better="less"
    ),
    MetricDeclaration("turns", "count", "Turns of the background thread that began."),
    MetricDeclaration("turn_methods", "count", "Methods that it compiled, according to the ends of its turns."),
    MetricDeclaration(
        "turn_total", "ns", "How long its turns took, over those whose start and end are known.", lossy="unknown"
    ),
    MetricDeclaration("pauses", "count", "How often it began to wait because new methods kept being called."),
    MetricDeclaration("paused_total", "ns", "How long it waited, where start and end are known.", lossy="unknown"),
)
_NEEDED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("compile_total", "background_total", "il_total"), _TIMES),
    **dict.fromkeys(OUTCOMES, _DECISIONS),
    **{m.name: _LOOKUPS for m in _METRICS if m.name.startswith("lookup")},
    **dict.fromkeys(("turns", "turn_methods", "turn_total", "pauses", "paused_total"), _TURNS),
}
"""What a metric needs to be recorded; the others need compilations."""


@parameters
class JitParameters:
    """How methods are named and which are listed."""

    raw: bool = RAW
    never_tiered_up: bool = parameter(False, "Only methods that stayed at the quick tier.")


@answer(
    name="jit",
    summary="compilations methods compile_total background_total native_total rejits never_tiered_up tiering",
)
class JitReport(Answer[JitFacts]):
    """What the JIT compiled, when, on which thread, for how long, and what it decided on the way.

    The time of a compilation is wall-clock time, from its first event to the load of its code: it includes
    interruptions and methods that had to be compiled meanwhile, so the sum over all threads may exceed the elapsed
    time.

    Tiers: QuickJitted is compiled fast and runs slowly, OptimizedTier1 is optimized after many calls, the Instrumented
    ones count what the code does, OptimizedTier1OSR replaces a loop while it runs, and Optimized is optimized
    immediately. A method never tiered up if all of its code in the whole trace is of a quick tier.

    Where turns of the background thread were not recorded, a compilation counts as in the background if it makes a
    later version of a method and does not replace a running loop.

    In a window, a compilation counts where it began, with the part of its time inside the window. Methods and their
    details are those of the compilations in it.

    A compilation is lossy if events of its thread were lost meanwhile; a method, if any event was lost after its first
    compilation began, because a later one may be missing. The sums of a thread are lossy if any event of that thread
    was lost, other sums if any event was. How often a method was called is not recorded.
    """

    methods: ReportTable[JittedMethod] = table("Each method that was compiled, longest time first.")
    compilations: ReportTable[Compilation] = table("Each compilation, in order of time.", bulk=True)
    tiers: ReportTable[TierTotal] = table("All compilations at each tier.")
    threads: ReportTable[JitThread] = table("All compilations on each thread, longest time first.")
    decisions: ReportTable[JitDecision] = table("What became of calls: inlined, made tail calls, or why not.")


class JitCollector(Collector[JitReport]):
    """Keeps a few columns of each event of a compilation, a look-up or a turn, and 29 bytes of each decision."""

    selectors = (*_KEPT, *(event.selector for event in EVENTS))
    headers = _HEADERS

    def __init__(self, asked: JitParameters) -> None:
        self._asked = asked
        self._kept = Kept({selector: (*_HEADERS, *columns) for selector, columns in _KEPT.items()})
        self._decisions = DecisionLog()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._decisions.take(chunk)
        self._kept.take(attrs.evolve(chunk, events={name: e for name, e in chunk.events.items() if name in _KEPT}))

    def finish(self, context: Context) -> JitReport:
        """Give the answer."""
        window = context.window
        rows = self._kept.all(_KEPT, context.nothing)
        decisions = self._decisions.all()
        found = built(context, rows, None if _DECISIONS in context.unknown else decisions, self._asked.raw)
        listed = context.table(Compilation, found.held(window))
        sums = CompilationSums(context, listed, found.never_tiered_up())
        numbers = {
            **sums.metrics(),
            **decisions.totals(window),
            **lookups(rows, window),
            **turns(rows, window),
            "precompiled_loads": _precompiled(context, [rows[name] for name in LOADS]),
        }
        return context.answer(
            JitReport,
            facts=JitFacts(tiering=settings(rows), background_by=_background_by(found)),
            metrics={name: _metric(context, name, value, found) for name, value in numbers.items()},
            methods=sums.methods(self._asked.never_tiered_up),
            compilations=listed,
            tiers=sums.tiers(),
            threads=sums.threads(),
            decisions=context.table(JitDecision, decisions.columns(window)),
        )


def _precompiled(context: Context, loads: list[Gathered]) -> int:
    """How many loads in the window are of precompiled code."""
    return sum(
        int(((np.int64(MethodFlags.Jitted) & rows.numbers("MethodFlags").astype(np.int64)) == 0)[held].sum())
        for rows in loads
        for held in (context.window.holds(rows.numbers("time_ns")),)
    )


def _background_by(found: BuiltCompilations) -> str | None:
    if not len(found.keys):
        return None
    return "turns" if found.by_turns else "versions"


def _metric(context: Context, name: str, value: int | None, found: BuiltCompilations) -> Metric:
    """A metric; without a value if what it needs was not recorded."""
    if _NEEDED.get(name, _COMPILATIONS) in context.unknown:
        return context.metric(name, None)
    guessed = name in ("foreground", "background", "background_total") and not found.by_turns
    return context.metric(name, value, evidence="inferred" if guessed else None)


REPORT: Final = ReportDeclaration(
    answer=JitReport,
    question="What did the JIT compile, and how long did it take?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=JitCollector,
    in_part={
        **dict.fromkeys(
            (
                "compilations",
                "methods",
                "foreground",
                "native_total",
                "rejits",
                "rejected",
                "never_tiered_up",
            ),
            "at most",
        ),
        **dict.fromkeys(
            ("compile_total", "background_total", "turn_total", "paused_total", "lookup_total"), "at least"
        ),
        **dict.fromkeys(("background", "unfinished", "untimed"), "unknown"),
    },
    parameters=JitParameters,
    shown=("compile_ns", "il_bytes", "native_bytes", "inlined", "not_inlined", "tiers", "method"),
    examples=(
        ("Which methods took the JIT longest?", "clrevents jit app.nettrace"),
        (
            "What was compiled while the application started?",
            "clrevents jit app.nettrace --table compilations --end 2s",
        ),
        (
            "Which methods run slow code that was never optimized?",
            "clrevents jit app.nettrace --never-tiered-up",
        ),
        ("Why were calls not inlined?", "clrevents jit app.nettrace --table decisions"),
        ("How long did the JIT take in total?", "clrevents jit app.nettrace --json | jq .metrics.compile_total.value"),
    ),
)

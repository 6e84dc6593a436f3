"""Show what the JIT compiled, when, and for how long.

Adds up compilation events. Knows only the trace's clock: a compilation lasts from its first to its last event, whatever
else the thread did meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Dated, Metric, count_of, size_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import Array, Gathered, Mask, grouped, nulled
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
    MethodKey,
    built,
    lookups,
    settings,
    turns,
)
from clrevents.schema.runtime_flags import MethodFlags


@row(since="first_ns")
class JittedMethod(Row):
    """One method with all its compilations that lie in the window."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it.", importance=0)
    module: cells.CodeName | None = column("The module that declares it.", hidden=True)
    compilations: cells.Count = column("How many compilations of it began.", hidden=True)
    rejits: cells.Count = column("How many of them were not the first of this method in the trace.", hidden=True)
    tiers: tuple[cells.Word, ...] = column("The tiers of its finished compilations, in order of time.", importance=3)
    ready_ns: tuple[cells.Ns, ...] = column("When each of them was ready to run.", hidden=True)
    compile_ns: cells.DurationNs | None = column("How long its compilations took within the window.", importance=0)
    background_ns: cells.DurationNs | None = column("How much of that was on the background thread.", hidden=True)
    il_bytes: cells.Bytes | None = column("The size of its IL, at the last compilation.", importance=2)
    native_bytes: cells.Bytes | None = column("The size of its code, at the last compilation.")
    inlined: cells.Count | None = column("Calls that were inlined in its compilations.", importance=3)
    not_inlined: cells.Count | None = column("Calls that could not be inlined in its compilations.", importance=3)
    never_tiered_up: cells.Flag = column(
        "It was compiled for a quick start and never optimized in the whole trace.", hidden=True
    )
    rejected: cells.Flag = column("It had precompiled code that could not be used.", hidden=True)
    first_ns: cells.Ns = column("When its first compilation began; if that is unknown, when it was ready.", hidden=True)
    method_id: cells.Handle = column("The runtime's id of the method. Ids of dynamic methods are reused.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Compilation(SpanRow):
    """One compilation of a method, finished or not."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: cells.CodeName | None = column("The module that declares it.", hidden=True)
    tier: cells.Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    version: cells.Ordinal | None = column(
        "The number of this version of the method's code; 0 is the first.", hidden=True
    )
    background: cells.Flag | None = column("Whether the thread that raises methods to higher tiers compiled it.")
    thread_id: cells.ThreadId | None = column("The thread that compiled it.")
    start_ns: cells.Ns | None = column("When the compilation began.")
    end_ns: cells.Ns | None = column("When the code was loaded.", hidden=True)
    compile_ns: cells.DurationNs | None = column("The time between the two, including any part outside the window.")
    il_bytes: cells.Bytes | None = column("The size of the IL.")
    native_bytes: cells.Bytes | None = column("The size of the code alone.")
    inlined: cells.Count | None = column("Calls that were inlined.", hidden=True)
    not_inlined: cells.Count | None = column("Calls that could not be inlined.", hidden=True)
    tail_calls: cells.Count | None = column("Calls that became tail calls.", hidden=True)
    no_tail_calls: cells.Count | None = column("Calls that could not become tail calls.", hidden=True)
    recompiled: cells.Flag = column("The same method was compiled before, in this trace.", hidden=True)
    dynamic: cells.Flag | None = column("It is a dynamic method or a stub, generated at run time.", hidden=True)
    rejected: cells.Flag | None = column("There was precompiled code that could not be used.", hidden=True)
    method_id: cells.Handle = column("The runtime's id of the method.", hidden=True)
    address: cells.Address | None = column("Where the code begins.", hidden=True)
    namespace: cells.CodeName = column("The method's type, as the runtime writes it.", hidden=True)
    name: cells.CodeName = column("The method's name, as the runtime writes it.", hidden=True)
    signature: cells.CodeText = column("The method's signature, as the runtime writes it.", hidden=True)


@row
class TierTotal(Row):
    """All compilations at one tier."""

    tier: cells.Word | None = column("The tier, as the runtime names it; null for unfinished compilations.")
    compilations: cells.Count = column("How many compilations began.")
    compile_ns: cells.DurationNs | None = column("How long they took within the window.")
    il_bytes: cells.Bytes | None = column("The size of their IL.")
    native_bytes: cells.Bytes | None = column("The size of their code.")


@row(threads=("thread_id",))
class JitThread(Row):
    """All compilations on one thread."""

    thread_id: cells.ThreadId | None = column("The thread.")
    compilations: cells.Count = column("How many compilations began on it.")
    background: cells.Count = column("How many of them raised methods to higher tiers in the background.")
    compile_ns: cells.DurationNs | None = column("How long they took within the window.")
    il_bytes: cells.Bytes | None = column("The size of their IL.")
    native_bytes: cells.Bytes | None = column("The size of their code.")


@row
class JitDecision(Row):
    """One outcome of the JIT's decisions about calls, and the reason."""

    what: cells.Word = column("What was decided: `inlining` or `tail call`.")
    accepted: cells.Flag = column("Whether the JIT did it.")
    count: cells.Count = column("How many calls had this outcome.")
    reason: cells.Word | None = column("The JIT's word for why not, or for how it made a tail call.")


@row
class JitFacts:
    """The facts of a JIT report."""

    tiering: cells.Word | None = column("The settings of tiered compilation, as the runtime names them.")
    background_by: cells.Word | None = column(
        "How background compilations are recognized: by recorded `turns` of their thread, or only by `versions` of "
        "methods."
    )


class _Amount:
    """A number of each compilation: 0 where it does not count in the window, None where it is not known."""

    def __init__(self, values: Array, known: Mask) -> None:
        # Lists, because most groups have one row, for which numpy is slow.
        self._values: list[int | None] = nulled(values, known)

    def sum(self, rows: Sequence[int]) -> int | None:
        """Over these rows."""
        if len(rows) == 1:
            return self._values[rows[0]]
        values = [value for value in map(self._values.__getitem__, rows) if value is not None]
        return sum(values) if values else None

    def total(self) -> int:
        """Over all rows."""
        return self.sum(range(len(self._values))) or 0


class CompilationSums:
    """Everything that is summed up over the compilations of a window."""

    def __init__(self, context: Context, listed: ReportTable[Compilation], never: Collection[MethodKey]) -> None:
        self._context, self._listed, self._never = context, listed, never
        begun, took = context.begun(listed), context.overlap(listed)
        background = _true(listed, "background")
        timed = _known(listed, "compile_ns")
        self._took = _Amount(took, timed)
        self._took_in_background = _Amount(np.where(background, took, 0), timed)
        self._il, self._native, self._inlined, self._not_inlined = (
            _Amount(np.where(begun, listed.numbers(name), 0), _known(listed, name))
            for name in ("il_bytes", "native_bytes", "inlined", "not_inlined")
        )
        everywhere = np.ones(len(listed), dtype=np.bool_)
        self._marks = {
            name: _Amount(begun & marked, everywhere)
            for name, marked in {
                "compilations": everywhere,
                "foreground": ~background,
                "background": background,
                "rejits": _true(listed, "recompiled"),
                "unfinished": ~_known(listed, "end_ns"),
                "untimed": ~_known(listed, "start_ns"),
                "rejected": _true(listed, "rejected"),
            }.items()
        }
        self._keys = _keys(listed)
        # One that began before the window, and is not known to have lasted into it, is in no group.
        self._counted: list[int] = np.flatnonzero(begun | (took > 0)).tolist()

    def metrics(self) -> dict[str, int]:
        """The metrics that are made of compilations."""
        methods = {self._keys[row] for row in self._counted}
        return {
            "methods": len(methods),
            "never_tiered_up": len(methods & set(self._never)),
            "compile_total": self._took.total(),
            "background_total": self._took_in_background.total(),
            "il_total": self._il.total(),
            "native_total": self._native.total(),
            **{name: marked.total() for name, marked in self._marks.items()},
        }

    def methods(self, only_never: bool) -> ReportTable[JittedMethod]:
        """By method, longest time first; `only_never` leaves those that stayed at the quick tier."""
        groups = grouped(self._counted, self._keys.__getitem__)
        if only_never:
            groups = {key: rows for key, rows in groups.items() if key in self._never}
        of = self._values("method", "tier", "start_ns", "end_ns", "rejected")
        took = {key: self._took.sum(rows) for key, rows in groups.items()}
        keys = sorted(groups, key=lambda key: (-(took[key] or 0), of["method"][groups[key][-1]] or ""))
        every = [groups[key] for key in keys]
        # As they were at last.
        last = np.array([rows[-1] for rows in every], dtype=np.int64)
        first_ns = ((of["start_ns"][rows[0]], of["end_ns"][rows[0]]) for rows in every)
        columns: dict[str, Cells] = {
            **{name: self._listed.column(name).take(last) for name in ("method", "module", "il_bytes", "native_bytes")},
            "compilations": [self._count("compilations", rows) for rows in every],
            "rejits": [self._count("rejits", rows) for rows in every],
            "tiers": [tuple(tier for row in rows if (tier := of["tier"][row]) is not None) for rows in every],
            "ready_ns": [tuple(end for row in rows if (end := of["end_ns"][row]) is not None) for rows in every],
            "compile_ns": [took[key] for key in keys],
            "background_ns": list(map(self._took_in_background.sum, every)),
            "inlined": list(map(self._inlined.sum, every)),
            "not_inlined": list(map(self._not_inlined.sum, every)),
            "never_tiered_up": [key in self._never for key in keys],
            "rejected": [any(of["rejected"][row] for row in rows) for rows in every],
            "first_ns": [end if start is None else start for start, end in first_ns],
            "method_id": [key[0] for key in keys],
        }
        return self._context.table(JittedMethod, columns)

    def tiers(self) -> ReportTable[TierTotal]:
        """By tier, most compilations first."""
        (tiers,) = self._values("tier").values()
        totals = [
            TierTotal(
                tier=tier,
                **self._sums(rows),
            )
            for tier, rows in grouped(self._counted, tiers.__getitem__).items()
        ]
        totals.sort(key=lambda total: -total.compilations)
        return self._context.table(TierTotal, totals)

    def threads(self) -> ReportTable[JitThread]:
        """By thread, longest time first."""
        (threads,) = self._values("thread_id").values()
        totals = [
            JitThread(
                thread_id=t,
                background=self._count("background", rows),
                **self._sums(rows),
            )
            for t, rows in grouped(self._counted, threads.__getitem__).items()
        ]
        totals.sort(key=lambda total: -(total.compile_ns or 0))
        return self._context.table(JitThread, totals)

    def _sums(self, rows: Sequence[int]) -> dict[str, Any]:
        return {
            "compilations": self._count("compilations", rows),
            "compile_ns": self._took.sum(rows),
            "il_bytes": self._il.sum(rows),
            "native_bytes": self._native.sum(rows),
        }

    def _count(self, name: str, rows: Sequence[int]) -> int:
        return self._marks[name].sum(rows) or 0

    def _values(self, *names: str) -> dict[str, list[Any]]:
        return {name: self._listed.column(name).tolist() for name in names}


def _keys(listed: ReportTable[Compilation]) -> list[MethodKey]:
    names = ("method_id", "namespace", "name", "signature")
    return list(zip(*(listed.column(name).tolist() for name in names), strict=True))


def _known(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.column(name).known


def _true(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.numbers(name).astype(np.bool_)


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
    count_of("compilations", "Compilations that began.", quantity="jit.compilations", dated=Dated("compilations")),
    count_of("methods", "Methods that were compiled.", windows=False),
    count_of("foreground", "Compilations not known to be in the background.", lossy="unknown"),
    count_of("background", "Compilations on the thread that raises methods to higher tiers."),
    time_of(
        "compile_total",
        "How long all compilations took, on all threads.",
        better="less",
        quantity="jit.compile_time",
        dated=Dated("compilations", amount="compile_ns"),
        hides="compilations/compile_ns",
    ),
    time_of("background_total", "How much of that was in the background."),
    size_of("il_total", "The size of the IL that was compiled."),
    size_of("native_total", "The size of the code compiled from it.", quantity="jit.native_bytes"),
    count_of("rejits", "Compilations that were not the first of their method."),
    count_of("unfinished", "Compilations whose end is not in the trace.", lossy="unknown"),
    count_of("untimed", "Compilations whose start is not in the trace.", lossy="unknown"),
    count_of("never_tiered_up", "Methods that stayed at the quick tier.", windows=False, lossy="unknown"),
    count_of("rejected", "Compilations whose precompiled code could not be used."),
    count_of("precompiled_loads", "Loads of precompiled code."),
    count_of("inlined", "Calls that were inlined."),
    count_of("not_inlined", "Calls that could not be inlined."),
    count_of("tail_calls", "Calls that became tail calls."),
    count_of("no_tail_calls", "Calls that could not become tail calls."),
    count_of("lookups", "Look-ups of precompiled code that ended."),
    count_of("lookup_hits", "Look-ups that found code."),
    count_of("lookup_misses", "Look-ups that found none."),
    count_of(
        "lookup_methods", "Methods whose precompiled code was found.", windows=False, quantity="jit.precompiled_methods"
    ),
    time_of("lookup_total", "How long look-ups took, over those whose start and end are known.", better="less"),
    count_of("turns", "Turns of the background thread that began."),
    count_of("turn_methods", "Methods that it compiled, according to the ends of its turns."),
    time_of("turn_total", "How long its turns took, over those whose start and end are known.", lossy="unknown"),
    count_of("pauses", "How often it began to wait because new methods kept being called."),
    time_of("paused_total", "How long it waited, where start and end are known.", lossy="unknown"),
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
        compiled = built(context, rows, None if _DECISIONS in context.unknown else decisions, self._asked.raw)
        listed = context.table(Compilation, compiled.in_window(window))
        sums = CompilationSums(context, listed, compiled.never_tiered_up())
        numbers = {
            **sums.metrics(),
            **decisions.totals(window),
            **lookups(rows, window),
            **turns(rows, window),
            "precompiled_loads": _precompiled(context, [rows[name] for name in LOADS]),
        }
        return context.answer(
            JitReport,
            facts=JitFacts(tiering=settings(rows), background_by=_background_by(compiled)),
            metrics={name: _metric(context, name, value, compiled) for name, value in numbers.items()},
            methods=lambda: sums.methods(self._asked.never_tiered_up),
            compilations=listed,
            tiers=sums.tiers,
            threads=sums.threads(),
            decisions=context.table(JitDecision, decisions.columns(window)),
        )


def _precompiled(context: Context, loads: list[Gathered]) -> int:
    """How many loads in the window are of precompiled code."""
    return sum(
        int(((np.int64(MethodFlags.Jitted) & rows.numbers("MethodFlags").astype(np.int64)) == 0)[in_window].sum())
        for rows in loads
        for in_window in (context.window.holds(rows.numbers("time_ns")),)
    )


def _background_by(compiled: BuiltCompilations) -> str | None:
    if not len(compiled.keys):
        return None
    return "turns" if compiled.by_turns else "versions"


def _metric(context: Context, name: str, value: int | None, compiled: BuiltCompilations) -> Metric:
    """A metric; without a value if what it needs was not recorded."""
    if _NEEDED.get(name, _COMPILATIONS) in context.unknown:
        return context.metric(name, None)
    guessed = name in ("foreground", "background", "background_total") and not compiled.by_turns
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

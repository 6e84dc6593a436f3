"""What the JIT did: every compilation, every method with its tiers over time, and what was decided on the way.

Adds up events of methods being compiled. Knows no clock but the trace's: a compilation takes as long as it is between
its first and its last event, whatever else the thread did meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from clrevents.analysis.compilations import compilations
from clrevents.analysis.gather import gather
from clrevents.analysis.jit_build import LOADS, compilation_rows
from clrevents.analysis.jit_facts import (
    INLINED,
    NO_TAIL_CALLS,
    NOT_INLINED,
    TAIL_CALLS,
    Decision,
    ReadyToRun,
    Tiering,
    decisions,
    ready_to_run,
    tiering,
)
from clrevents.analysis.jit_rows import Compilation, JittedMethod, ThreadTotal, TierTotal, Totals
from clrevents.analysis.lossy import FOREVER, LossWindows
from clrevents.analysis.missing import Missing, ReportPart, missing
from clrevents.schema.method_flags import OptimizationTier
from clrevents.table.build import plain, row_table
from clrevents.table.table import Table
from clrevents.trace import Trace

SCHEMA: Final = "clrevents.jit/1"

_EVENTS: Final = (
    "MethodJittingStarted",
    *LOADS,
    "MethodJitMemoryAllocatedForCode",
    *INLINED,
    *NOT_INLINED,
    *TAIL_CALLS,
    *NO_TAIL_CALLS,
    "R2RGetEntryPointStart",
    "R2RGetEntryPoint",
    "TieredCompilationSettings",
    "TieredCompilationPause",
    "TieredCompilationResume",
    "TieredCompilationBackgroundJitStart",
    "TieredCompilationBackgroundJitStop",
)
_PARTS: Final = (
    ReportPart("compilations", LOADS, 0x18, 4),
    ReportPart("times and IL sizes", ("MethodJittingStarted",), 0x18),
    ReportPart(
        "decisions about inlining and tail calls", (*INLINED, *NOT_INLINED, *TAIL_CALLS, *NO_TAIL_CALLS), 0x1018
    ),
    ReportPart("look-ups of precompiled code", ("R2RGetEntryPoint",), 0x2000000018, 4),
    ReportPart(
        "the background compiler's turns",
        ("TieredCompilationBackgroundJitStart", "TieredCompilationPause", "TieredCompilationSettings"),
        0x1000000018,
        4,
    ),
)
_QUICK: Final = (OptimizationTier.QuickJitted, OptimizationTier.QuickJittedInstrumented)


@attrs.frozen
class JitReport:
    """What the JIT did in a trace. Plain values: it outlives the trace and pickles."""

    totals: Totals
    tiers: tuple[TierTotal, ...]
    threads: tuple[ThreadTotal, ...]
    decisions: tuple[Decision, ...]
    ready_to_run: ReadyToRun
    tiering: Tiering
    methods: tuple[JittedMethod, ...]
    compilations: tuple[Compilation, ...]
    missing: tuple[Missing, ...] = ()
    """Parts of this report of which the trace tells nothing, and how to record them."""

    def table(self, what: str = "methods") -> Table:
        """Rows as a table: `methods`, `compilations`, `tiers`, `threads` or `decisions`. KeyError for another word."""
        return row_table(_TABLES[what], getattr(self, what), {"name": f"jit {what}", "losses": str(self.totals.lost)})

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; its first key says which version of the form this is."""
        return {"schema": SCHEMA, **plain(self)}


_TABLES: Final[Mapping[str, type[Any]]] = {
    "methods": JittedMethod,
    "compilations": Compilation,
    "tiers": TierTotal,
    "threads": ThreadTotal,
    "decisions": Decision,
}


def jit_report(trace: Trace, *, raw: bool = False) -> JitReport:
    """What the JIT did: methods by the time they took, and everything that is summed up over them.

    `raw` gives names as the runtime writes them. What the trace was not told to record is missing: sizes of IL and
    times need MethodJittingStarted (keyword Jit, level 5), decisions JitTracing, look-ups CompilationDiagnostic, the
    background thread's turns Compilation (without them a compilation is taken to be in the background when it makes a
    later version of a method). One pass over the trace, and one for the names of modules.
    """
    names = [f"runtime/{name}" for name in _EVENTS] + ["rundown/TieredCompilationSettingsDCStart"]
    keys = (*_EVENTS, "TieredCompilationSettingsDCStart")
    rows = dict(zip(keys, gather(trace, names), strict=True))
    made = compilations(rows["MethodJittingStarted"], [rows[name] for name in LOADS])
    listed = compilation_rows(trace, rows, made, raw)
    methods = _methods(trace, listed)
    rejected = sum(c.rejected for c in listed)
    return JitReport(
        _totals(listed, methods, trace.lost),
        _tiers(listed),
        _threads(listed),
        decisions(rows),
        ready_to_run(rows, rejected, made.precompiled),
        tiering(rows),
        methods,
        listed,
        missing(_PARTS, [name for name in keys if len(rows[name])]),
    )


def _methods(trace: Trace, listed: Sequence[Compilation]) -> tuple[JittedMethod, ...]:
    """Compilations by method, the longest first. Ids of dynamic methods are used again: the name belongs to it."""
    groups: dict[tuple[Any, ...], list[Compilation]] = {}
    for compilation in listed:
        key = compilation.method_id, compilation.namespace, compilation.name, compilation.signature
        groups.setdefault(key, []).append(compilation)
    windows = LossWindows(trace)
    found = []
    for group in groups.values():
        last = group[-1]
        tiers = [c.tier for c in group if c.tier is not None]
        since = next((t for t in (group[0].start_ns, group[0].end_ns) if t is not None), 0)
        found.append(
            JittedMethod(
                last.method,
                last.module,
                len(group),
                len(group) - 1,
                tuple(map(str, tiers)),
                tuple(c.end_ns for c in group if c.end_ns is not None),
                sum(c.compile_ns or 0 for c in group),
                sum(c.compile_ns or 0 for c in group if c.background),
                last.il_size,
                last.native_size,
                sum(c.inlined for c in group),
                sum(c.not_inlined for c in group),
                bool(tiers) and all(tier in _QUICK for tier in tiers),
                any(c.rejected for c in group),
                last.method_id,
                windows.touches(since, FOREVER),
            )
        )
    return tuple(sorted(found, key=lambda m: (-m.compile_ns, m.method)))


def _sums(group: Sequence[Compilation]) -> tuple[int, int, int]:
    return (
        sum(c.compile_ns or 0 for c in group),
        sum(c.il_size or 0 for c in group),
        sum(c.native_size or 0 for c in group),
    )


def _totals(listed: Sequence[Compilation], methods: Sequence[JittedMethod], lost: int) -> Totals:
    took, il, native = _sums(listed)
    background = [c for c in listed if c.background]
    return Totals(
        len(listed),
        len(methods),
        len(listed) - len(background),
        len(background),
        took,
        sum(c.compile_ns or 0 for c in background),
        il,
        native,
        sum(m.rejits for m in methods),
        sum(c.end_ns is None for c in listed),
        sum(c.start_ns is None for c in listed),
        sum(m.never_tiered_up for m in methods),
        lost,
    )


def _tiers(listed: Sequence[Compilation]) -> tuple[TierTotal, ...]:
    groups: dict[str, list[Compilation]] = {}
    for compilation in listed:
        groups.setdefault("unfinished" if compilation.tier is None else str(compilation.tier), []).append(compilation)
    return tuple(
        TierTotal(tier, len(group), *_sums(group)) for tier, group in sorted(groups.items(), key=lambda g: -len(g[1]))
    )


def _threads(listed: Sequence[Compilation]) -> tuple[ThreadTotal, ...]:
    groups: dict[int | None, list[Compilation]] = {}
    for compilation in listed:
        groups.setdefault(compilation.thread_id, []).append(compilation)
    totals = [
        ThreadTotal(
            thread, len(group), sum(bool(c.background) for c in group), *_sums(group), any(c.lossy for c in group)
        )
        for thread, group in groups.items()
    ]
    return tuple(sorted(totals, key=lambda t: -t.compile_ns))

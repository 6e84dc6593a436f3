"""The tables of the startup report: rows of one start, as columns, for the frame to cut and mark.

Adds up nothing but the loads of a type.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.optional_rows import NONE, either, nulled, picked
from clrevents.analysis.reports.startup.course import Start
from clrevents.analysis.reports.startup.self_time import ThreadSpans, depths
from clrevents.analysis.reports.startup.startup_events import BEGINS, LOOKUPS, either_of, flags, method_texts
from clrevents.analysis.reports.startup.startup_rows import AssemblyLoading, CodeLookup, LoadedType, StartupCompilation
from clrevents.schema.method_flags import MethodFlags
from clrevents.symbols.typenames import type_name

Ints: TypeAlias = NDArray[np.int64]

_REJECTED: Final = int(MethodFlags.ProfilerRejectedPrecompiledCode | MethodFlags.ReadyToRunRejectedPrecompiledCode)


def compilation_table(start: Start) -> ReportTable[StartupCompilation]:
    """What was compiled."""
    spans, begins, loads = start.spans[0], start.rows[BEGINS], start.loads
    ended = spans.end != NONE
    bits = picked(loads.numbers("MethodFlags"), spans.end).astype(np.int64)
    ids, modules = (
        either(begins.numbers(name), spans.begin, loads.numbers(name), spans.end) for name in ("MethodID", "ModuleID")
    )
    tiers = zip(bits.tolist(), ended.tolist(), strict=True)
    return start.context.table(
        StartupCompilation,
        {
            "method": start.compiled,
            "module": [start.modules.name(module) for module in modules.tolist()],
            "compile_ns": nulled(spans.end_ns - spans.start_ns, spans.closed),
            "tier": [str(MethodFlags(flag).tier) if end else None for flag, end in tiers],
            "precompiled": precompiled(start, spans, ids, bits),
            **start.times(spans, start.owned[0]),
        },
    )


def precompiled(start: Start, spans: ThreadSpans, ids: NDArray[Any], bits: Ints) -> list[str | None]:
    """What became of the precompiled code of what was compiled."""
    lookups = start.rows[LOOKUPS]
    looked: dict[int, list[tuple[int, bool]]] = {}
    values = (lookups.numbers(name).tolist() for name in ("MethodID", "EntryPoint"))
    for method, code, place in zip(*values, lookups.places.tolist(), strict=True):
        looked.setdefault(method, []).append((place, code != 0))
    found: list[str | None] = []
    for method, flag, place in zip(ids.tolist(), bits.tolist(), spans.end_place.tolist(), strict=True):
        before = [hit for at, hit in looked.get(method, ()) if at <= place]
        if flag & _REJECTED:
            found.append("rejected")
        elif flag & MethodFlags.Dynamic:
            # It is looked up like any other.
            found.append("dynamic")
        elif not len(lookups):
            found.append(None)
        else:
            found.append(("found" if before[-1] else "missed") if before else "none")
    return found


def load_table(start: Start) -> ReportTable[AssemblyLoading]:
    """Which assemblies were loaded."""
    spans = start.spans[1]
    begins, ends = start.rows["runtime/AssemblyLoadStart"], start.rows["runtime/AssemblyLoadStop"]

    def text(name: str) -> list[Any]:
        return either_of(spans, begins.column(name).tolist(), ends.column(name).tolist())

    results = either_of(spans, None, ends.column("ResultAssemblyPath").tolist())
    return start.context.table(
        AssemblyLoading,
        {
            "assembly": text("AssemblyName"),
            "requesting": [name or None for name in text("RequestingAssembly")],
            "path": [made or asked or None for made, asked in zip(results, text("AssemblyPath"), strict=True)],
            "load_ns": nulled(spans.end_ns - spans.start_ns, spans.closed),
            "success": flags(either_of(spans, None, ends.column("Success").tolist())),
            "cached": flags(either_of(spans, None, ends.column("Cached").tolist())),
            "depth": depths(spans),
            **start.times(spans, start.owned[1]),
        },
    )


def type_table(start: Start) -> ReportTable[LoadedType]:
    """Which types were loaded, one row each."""
    spans, window = start.spans[2], start.context.window
    ends = start.rows["runtime/TypeLoadStop"]
    own = start.owned[2].within(window.low, window.high)
    mine = np.flatnonzero((spans.end != NONE) & (start.begun(spans) | (own > 0)))
    begun = start.begun(spans)
    stops = spans.end[mine]
    ids, first, group = np.unique(ends.numbers("TypeID")[stops], return_index=True, return_inverse=True)
    group = group.reshape(-1)
    self_ns, loads, level = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
    np.add.at(self_ns, group, own[mine])
    np.add.at(loads, group, begun[mine].astype(np.int64))
    np.maximum.at(level, group, ends.numbers("LoadLevel")[stops].astype(np.int64))
    order = np.argsort(first, kind="stable")
    texts = ends.column("TypeName").tolist()
    names = [texts[stop] for stop in stops[first[order]].tolist()]
    at = mine[first[order]]
    spoilt = bool(start.context.marks.touched(np.array([ALWAYS]), np.array([start.until[1]]))[0])
    return start.context.table(
        LoadedType,
        {
            "type": names if start.raw else [type_name(name).text() for name in names],
            "loads": loads[order],
            "self_ns": self_ns[order],
            "highest_level": level[order],
            "first_ns": nulled(spans.start_ns[at], spans.begin[at] != NONE),
            "lossy": [spoilt] * len(ids),
        },
    )


def lookup_table(start: Start) -> ReportTable[CodeLookup]:
    """Which precompiled code was looked up."""
    spans, lookups = start.spans[3], start.rows[LOOKUPS]
    texts = [start.name(*text) for text in method_texts(lookups)]
    hits = either_of(spans, None, (lookups.numbers("EntryPoint") != 0).tolist())
    return start.context.table(
        CodeLookup,
        {
            "method": [text or "" for text in either_of(spans, None, texts)],
            "found": hits,
            **start.times(spans, start.owned[3]),
        },
    )

"""Rows, facts and answer of the startup report, and its tables: rows of one start, as columns, for the frame to cut and
mark.

Adds up only the loads of a type.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    CodeName,
    Count,
    DurationNs,
    FilePath,
    Flag,
    Ns,
    Ordinal,
    PrivateText,
    Row,
    SpanRow,
    ThreadId,
    Word,
    column,
)
from clrevents.analysis.framework.vocabulary.row_class import row as table_row
from clrevents.analysis.gathering.groups import NONE, Ints, either, nulled, picked
from clrevents.analysis.reports.startup.course import BEGINS, LOOKUPS, Start, either_of, flags, method_texts
from clrevents.analysis.reports.startup.main_method import ThreadSpans, depths
from clrevents.schema.method_flags import MethodFlags
from clrevents.symbols.display_names import type_name


@table_row(at="time_ns")
class StartupMoment(Row):
    """One moment of a start."""

    moment: Word = column(
        "`runtime_started`, `first_compilation`, `program_loaded`, `main`, `main_ready`, `last_new_method`, "
        "`tiering_resumed`, or `checkpoint`, a mark of the runtime's own.",
        importance=0,
    )
    time_ns: Ns = column("When it was.", importance=0)
    since_start_ns: DurationNs | None = column("The time since the runtime started.")
    evidence: Word = column("`event`: recorded; `sample`: then or earlier; `inferred`: concluded.", importance=3)
    event: Word = column("The event that it is known from.")
    what: CodeName | None = column("The method, assembly or mark that it is about.", importance=1)


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class StartupCompilation(SpanRow):
    """One compilation during start-up."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: CodeName | None = column("The module that declares it.")
    compile_ns: DurationNs | None = column("From its start to its end, including everything in between.")
    self_ns: DurationNs | None = column("The same, excluding other compilations, look-ups and loads inside.")
    tier: Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    precompiled: Word | None = column(
        "Its precompiled code: `none`: not looked up; `missed`: looked up but not found; `rejected`: not usable; "
        "`found`: found, but compiled anyway; `dynamic`: generated at run time, so there is none. Null if the trace "
        "has no look-ups."
    )
    before_main: Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: Ns | None = column("When the compilation began.")
    end_ns: Ns | None = column("When the code was loaded.", hidden=True)
    thread_id: ThreadId = column("The thread that compiled it.", hidden=True)


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class AssemblyLoading(SpanRow):
    """One attempt to load an assembly during start-up."""

    assembly: CodeName = column("The requested full name.")
    requesting: CodeName | None = column("The full name of the requesting assembly.")
    load_ns: DurationNs | None = column("From its start to its end, including everything in between.")
    self_ns: DurationNs | None = column("The same, excluding other loads, look-ups and compilations inside.")
    success: Flag | None = column("Whether it was found; null for an unfinished load.")
    cached: Flag | None = column("Whether it had been loaded before.")
    depth: Count = column("How many other loads enclose it on its thread.")
    before_main: Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: Ns | None = column("When the load began.")
    end_ns: Ns | None = column("When the load ended.", hidden=True)
    thread_id: ThreadId = column("The thread that loaded it.", hidden=True)
    path: FilePath | None = column("The file that was found, or requested.", hidden=True)


@table_row
class LoadedType(Row):
    """A type that was loaded during start-up."""

    type: CodeName = column("The type as in C#, or with `raw` as the runtime writes it.")
    loads: Count = column("How often it was loaded, each time to a higher level.")
    self_ns: DurationNs = column("The time of these loads, excluding other loads, look-ups and compilations inside.")
    highest_level: Ordinal = column("The highest level that it was loaded to, by the runtime's numbering.")
    first_ns: Ns | None = column("When its first load began.")


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class CodeLookup(SpanRow):
    """One look-up of precompiled code during start-up."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it; empty if unfinished.")
    found: Flag | None = column("Whether code was found; null for an unfinished look-up.")
    self_ns: DurationNs | None = column("How long it took, excluding loads and compilations inside.")
    before_main: Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: Ns | None = column("When the look-up began; null if only its end is in the trace.")
    end_ns: Ns | None = column("When the look-up ended.", hidden=True)
    thread_id: ThreadId = column("The thread that looked it up.", hidden=True)


@table_row
class StartupFacts:
    """How the start is known, and the program's details."""

    verdict: Word | None = column(
        "`launched`: the runtime started while the trace was recorded; `attached`: before; `unknown`."
    )
    evidence: Word | None = column("`event` if recorded, `inferred` if concluded from other events.")
    main: CodeName | None = column("The program's Main method.")
    main_evidence: Word | None = column(
        "`event`: Main was compiled or looked up; `inferred`: the same for a Main that is probably the program's; "
        "`sample`: a method of the program was seen running."
    )
    program: FilePath | None = column("The file of the program's assembly.")
    ended_by: Word | None = column(
        "The end of what the tables show: `tiering_resumed`, `main_ready`, or `end_of_trace` if neither is known."
    )
    until_ns: Ns | None = column("When that was.")
    command_line: PrivateText | None = column("The command line, if recorded.")
    runtime_version: Word | None = column("The version of .NET.")
    runtime: Word | None = column("`CoreClr`, `DesktopClr` or `Mono`, as the runtime names it.")
    runtime_path: FilePath | None = column("The file of the runtime.")
    runtime_init_ns: Ns | None = column(
        "When the runtime was initialized, by its own mark; negative if before the trace."
    )
    startup_mode: Word | None = column("How the runtime was started, in its own words.")


@answer(
    name="startup",
    summary="verdict main_ready runtime_to_main jit_total jit_count assembly_load_total main runtime_version",
)
class StartupReport(Answer[StartupFacts]):
    """What a program does until Main and until start-up is over: compilations, assembly loads, type loads.

    It needs a trace that began before the runtime started; for a trace attached later, it says only that. Durations are
    nested, so each has a self time, which excludes everything else timed inside; only self times are added up. Start-up
    is over when tiering resumes, which happens after no new method has been called for a while. Time in native code and
    in the program itself has no row. Recording slows the start: all times are those of the recorded run.
    """

    moments: ReportTable[StartupMoment] = table("The moments of the start, in order of time.")
    compilations: ReportTable[StartupCompilation] = table("What the JIT compiled until start-up was over.")
    loads: ReportTable[AssemblyLoading] = table("Which assemblies were loaded, or requested again.")
    types: ReportTable[LoadedType] = table("Which types were loaded.", bulk=True)
    lookups: ReportTable[CodeLookup] = table("Which precompiled code was looked up.", bulk=True)


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
    """What became of the compiled methods' precompiled code."""
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

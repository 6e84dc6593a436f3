"""Show what a program does until Main, and what it costs.

Adds up self times only, because durations contain each other. Whatever was not recorded is null. The collector keeps
the columns of all its events until the end, because only then is it known where the program's Main is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import compress
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import NameParameters, ReportDeclaration
from clrevents.analysis.framework.model.needs import Need, record_needs
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import (
    ALWAYS,
    Metric,
    MetricDeclaration,
    Note,
    count_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Gathered, held_at, nulled
from clrevents.analysis.reports.startup import course
from clrevents.analysis.shared.events.event_spans import EventSpans, tier_name
from clrevents.schema.runtime_flags import MethodFlags
from clrevents.symbols.display_names import type_name


@table_row(at="time_ns")
class StartupMoment(Row):
    """One moment of a start."""

    moment: cells.Word = column(
        "`runtime_started`, `first_compilation`, `program_loaded`, `main`, `main_ready`, `last_new_method`, "
        "`tiering_resumed`, or `checkpoint`, a mark of the runtime's own.",
        importance=0,
    )
    time_ns: cells.Ns = column("When it was.", importance=0)
    since_start_ns: cells.DurationNs | None = column("The time since the runtime started.")
    evidence: cells.Word = column("`event`: recorded; `sample`: then or earlier; `inferred`: concluded.", importance=3)
    event: cells.Word = column("The event that it is known from.")
    what: cells.CodeName | None = column("The method, assembly or mark that it is about.", importance=1)


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class StartupCompilation(SpanRow):
    """One compilation during start-up."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: cells.CodeName | None = column("The module that declares it.")
    compile_ns: cells.DurationNs | None = column("From its start to its end, including everything in between.")
    self_ns: cells.DurationNs | None = column("The same, excluding other compilations, look-ups and loads inside.")
    tier: cells.Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    precompiled: cells.Word | None = column(
        "Its precompiled code: `none`: not looked up; `missed`: looked up but not found; `rejected`: not usable; "
        "`found`: found, but compiled anyway; `dynamic`: generated at run time, so there is none. Null if the trace "
        "has no look-ups."
    )
    before_main: cells.Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: cells.Ns | None = column("When the compilation began.")
    end_ns: cells.Ns | None = column("When the code was loaded.", hidden=True)
    thread_id: cells.ThreadId = column("The thread that compiled it.", hidden=True)


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class AssemblyLoading(SpanRow):
    """One attempt to load an assembly during start-up."""

    assembly: cells.CodeName = column("The requested full name.")
    requesting: cells.CodeName | None = column("The full name of the requesting assembly.")
    load_ns: cells.DurationNs | None = column("From its start to its end, including everything in between.")
    self_ns: cells.DurationNs | None = column("The same, excluding other loads, look-ups and compilations inside.")
    success: cells.Flag | None = column("Whether it was found; null for an unfinished load.")
    cached: cells.Flag | None = column("Whether it had been loaded before.")
    depth: cells.Count = column("How many other loads enclose it on its thread.")
    before_main: cells.Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: cells.Ns | None = column("When the load began.")
    end_ns: cells.Ns | None = column("When the load ended.", hidden=True)
    thread_id: cells.ThreadId = column("The thread that loaded it.", hidden=True)
    path: cells.FilePath | None = column("The file that was found, or requested.", hidden=True)


@table_row
class LoadedType(Row):
    """A type that was loaded during start-up."""

    type: cells.CodeName = column("The type as in C#, or with `raw` as the runtime writes it.")
    loads: cells.Count = column("How often it was loaded, each time to a higher level.")
    self_ns: cells.DurationNs = column(
        "The time of these loads, excluding other loads, look-ups and compilations inside."
    )
    highest_level: cells.Ordinal = column("The highest level that it was loaded to, by the runtime's numbering.")
    first_ns: cells.Ns | None = column("When its first load began.")


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class CodeLookup(SpanRow):
    """One look-up of precompiled code during start-up."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it; empty if unfinished.")
    found: cells.Flag | None = column("Whether code was found; null for an unfinished look-up.")
    self_ns: cells.DurationNs | None = column("How long it took, excluding loads and compilations inside.")
    before_main: cells.Flag | None = column("Whether it began before Main; null if Main's time is unknown.")
    start_ns: cells.Ns | None = column("When the look-up began; null if only its end is in the trace.")
    end_ns: cells.Ns | None = column("When the look-up ended.", hidden=True)
    thread_id: cells.ThreadId = column("The thread that looked it up.", hidden=True)


@table_row
class StartupFacts:
    """How the start is known, and the program's details."""

    verdict: cells.Word | None = column(
        "`launched`: the runtime started while the trace was recorded; `attached`: before; `unknown`."
    )
    evidence: cells.Word | None = column("`event` if recorded, `inferred` if concluded from other events.")
    main: cells.CodeName | None = column("The program's Main method.")
    main_evidence: cells.Word | None = column(
        "`event`: Main was compiled or looked up; `inferred`: the same for a Main that is probably the program's; "
        "`sample`: a method of the program was seen running."
    )
    program: cells.FilePath | None = column("The file of the program's assembly.")
    ended_by: cells.Word | None = column(
        "The end of what the tables show: `tiering_resumed`, `main_ready`, or `end_of_trace` if neither is known."
    )
    until_ns: cells.Ns | None = column("When that was.")
    command_line: cells.PrivateText | None = column("The command line, if recorded.")
    runtime_version: cells.Word | None = column("The version of .NET.")
    runtime: cells.Word | None = column("`CoreClr`, `DesktopClr` or `Mono`, as the runtime names it.")
    runtime_path: cells.FilePath | None = column("The file of the runtime.")
    runtime_init_ns: cells.Ns | None = column(
        "When the runtime was initialized, by its own mark; negative if before the trace."
    )
    startup_mode: cells.Word | None = column("How the runtime was started, in its own words.")


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


_DYNAMIC: Final = int(MethodFlags.Dynamic)
_REJECTED: Final = int(MethodFlags.ProfilerRejectedPrecompiledCode | MethodFlags.ReadyToRunRejectedPrecompiledCode)


def compilation_table(start: course.Start) -> ReportTable[StartupCompilation]:
    """What was compiled."""
    spans = start.spans[0]
    bits = spans.at_end("MethodFlags").astype(np.int64)
    tiers = zip(bits.tolist(), spans.ended.tolist(), strict=True)
    return start.context.table(
        StartupCompilation,
        {
            "method": start.compiled(spans),
            "module": [start.modules.name(module) for module in spans.either("ModuleID").tolist()],
            "compile_ns": nulled(spans.high_ns - spans.low_ns, spans.closed),
            "tier": [tier_name(flag) if end else None for flag, end in tiers],
            "precompiled": precompiled(start, spans),
            **start.times(spans, start.owned[0]),
        },
    )


def precompiled(start: course.Start, spans: EventSpans) -> list[str | None]:
    """What became of the compiled methods' precompiled code."""
    lookups = start.rows[course.LOOKUPS]
    looked: dict[int, list[tuple[int, bool]]] = {}
    values = (lookups.numbers(name).tolist() for name in ("MethodID", "EntryPoint"))
    for method, code, place in zip(*values, lookups.places.tolist(), strict=True):
        looked.setdefault(method, []).append((place, code != 0))
    outcomes: list[str | None] = []
    columns = spans.either("MethodID"), spans.at_end("MethodFlags").astype(np.int64), spans.high_place
    for method, flag, place in zip(*(values.tolist() for values in columns), strict=True):
        before = [hit for at, hit in looked.get(method, ()) if at <= place]
        if flag & _REJECTED:
            outcomes.append("rejected")
        elif flag & _DYNAMIC:
            # It is looked up like any other.
            outcomes.append("dynamic")
        elif not len(lookups):
            outcomes.append(None)
        else:
            outcomes.append(("found" if before[-1] else "missed") if before else "none")
    return outcomes


def load_table(start: course.Start) -> ReportTable[AssemblyLoading]:
    """Which assemblies were loaded."""
    spans = start.spans[1]
    ends = spans.ends
    results = held_at(ends.cells("ResultAssemblyPath"), spans.end)
    return start.context.table(
        AssemblyLoading,
        {
            "assembly": spans.cells("AssemblyName"),
            "requesting": [name or None for name in spans.cells("RequestingAssembly")],
            "path": [
                result or asked or None for result, asked in zip(results, spans.cells("AssemblyPath"), strict=True)
            ],
            "load_ns": nulled(spans.high_ns - spans.low_ns, spans.closed),
            "success": course.flags(held_at(ends.cells("Success"), spans.end)),
            "cached": course.flags(held_at(ends.cells("Cached"), spans.end)),
            "depth": course.depths(spans),
            **start.times(spans, start.owned[1]),
        },
    )


def type_table(start: course.Start) -> ReportTable[LoadedType]:
    """Which types were loaded, one row each."""
    spans, window = start.spans[2], start.context.window
    ends = start.rows["runtime/TypeLoadStop"]
    own = start.owned[2].within(window.low, window.high)
    kept = np.flatnonzero(spans.ended & (start.begun(spans) | (own > 0)))
    begun = start.begun(spans)
    stops = spans.end[kept]
    ids, first, group = np.unique(ends.numbers("TypeID")[stops], return_index=True, return_inverse=True)
    group = group.reshape(-1)
    self_ns, loads, level = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
    np.add.at(self_ns, group, own[kept])
    np.add.at(loads, group, begun[kept].astype(np.int64))
    np.maximum.at(level, group, ends.numbers("LoadLevel")[stops].astype(np.int64))
    order = np.argsort(first, kind="stable")
    texts = ends.column("TypeName").tolist()
    names = [texts[stop] for stop in stops[first[order]].tolist()]
    at = kept[first[order]]
    spoilt = bool(start.context.marks.touched(np.array([ALWAYS]), np.array([start.until[1]]))[0])
    return start.context.table(
        LoadedType,
        {
            "type": names if start.raw else [type_name(name).text() for name in names],
            "loads": loads[order],
            "self_ns": self_ns[order],
            "highest_level": level[order],
            "first_ns": nulled(spans.low_ns[at], spans.begun[at]),
            "lossy": [spoilt] * len(ids),
        },
    )


def lookup_table(start: course.Start) -> ReportTable[CodeLookup]:
    """Which precompiled code was looked up."""
    spans = start.spans[3]
    texts = [start.name(*text) for text in course.method_texts(spans.ends)]
    return start.context.table(
        CodeLookup,
        {
            "method": [text or "" for text in held_at(texts, spans.end)],
            "found": nulled(spans.at_end("EntryPoint") != 0, spans.ended),
            **start.times(spans, start.owned[3]),
        },
    )


INIT: Final = "RuntimeInit"
_LAUNCH: Final = "let dotnet-trace start the program: `dotnet-trace collect … -- PROGRAM`"
KINDS: Final = ("jit", "assembly_load", "type_load", "lookup")
"""What has a self time, by the names of its metrics."""


def startup_answer(start: course.Start) -> StartupReport:
    """Everything together."""
    context = start.context
    started = start.started_ns
    moments = [
        StartupMoment(**attrs.asdict(moment), since_start_ns=None if started is None else moment.time_ns - started)
        for moment in start.moments
    ]
    types = type_table(start)
    report: StartupReport = context.answer(
        StartupReport,
        facts=_facts_of(start),
        metrics=_metrics_of(start, types),
        notes=_notes_of(start) if start.launched else (),
        cannot=None if start.launched else _not_launched(start),
        moments=context.table(StartupMoment, moments),
        compilations=partial(compilation_table, start),
        loads=partial(load_table, start),
        types=types,
        lookups=partial(lookup_table, start),
    )
    if not start.launched or report.coverage != "none":
        return report
    # That the runtime's own library was loaded proves as much as its word that it started.
    proven: dict[str, Any] = {"coverage": "partial"}
    return attrs.evolve(report, **proven)


def _facts_of(start: course.Start) -> StartupFacts:
    """Verdicts and other facts."""
    verdict, evidence = start.verdict
    about = start.rows[course.STARTED] if len(start.rows[course.STARTED]) else start.rows[course.LISTED]
    main, program = start.main, start.program
    return StartupFacts(
        verdict=verdict,
        evidence=evidence,
        main=start.name(*main.name) if main is not None and main.evidence != "sample" else None,
        main_evidence=None if main is None else main.evidence,
        program=None if program is None else start.modules.paths[program[0]] or None,
        ended_by=start.until[0] if start.launched else None,
        until_ns=start.until[1] if start.launched else None,
        command_line=start.command_line,
        runtime_version=_version(about),
        runtime=_word(about, "Sku"),
        runtime_init_ns=next((mark.time_ns for mark in start.checkpoints if mark.what == INIT), None),
        runtime_path=course.first_text(about, "RuntimeDllPath"),
        startup_mode=_word(about, "StartupMode"),
    )


def _metrics_of(start: course.Start, types: ReportTable[LoadedType]) -> dict[str, int | float | Metric | None]:
    """All numbers; null where their events are missing."""
    window, end = start.context.window, start.until[1]
    metrics: dict[str, int | float | Metric | None] = {
        "runtime_to_program": _since(start, "runtime_to_program", "program_loaded"),
        "runtime_to_main": _since(start, "runtime_to_main", "main"),
        "main_ready": _since(start, "main_ready", "main_ready", "main"),
        "runtime_to_resume": _since(start, "runtime_to_resume", "tiering_resumed"),
    }
    for kind, spans, owned in zip(KINDS, start.spans, start.owned, strict=True):
        known = start.launched and _tells(start, kind)
        # Where what they contain is unknown, or when Main was first met, sums of self times are upper bounds.
        alone = all(_tells(start, other) for other in KINDS)
        total = int(owned.within(window.low, min(window.high, end)).sum())
        # Where no begin has its end, nobody knows how long any took.
        timed = known and (not len(spans) or bool(spans.closed.any()))
        metrics[f"{kind}_total"] = start.context.metric(f"{kind}_total", total, most=not alone) if timed else None
        metrics[f"{kind}_to_main"] = None
        if timed and start.main is not None:
            before = int(owned.within(window.low, min(window.high, start.main_ns)).sum())
            metrics[f"{kind}_to_main"] = start.context.metric(
                f"{kind}_to_main", before, most=not (alone and start.main.exact)
            )
        metrics[f"{kind}_count"] = int(start.begun(spans).sum()) if known else None
    compiled = start.spans[0]
    words = list(compress(precompiled(start, compiled), start.begun(compiled).tolist()))
    for word in ("missed", "rejected"):
        known = start.launched and _tells(start, "jit") and (word == "rejected" or _tells(start, "lookup"))
        metrics[f"jit_{word}"] = words.count(word) if known else None
    looked = start.spans[3]
    ended, hit = looked.ended, looked.at_end("EntryPoint") != 0
    known = start.launched and _tells(start, "lookup")
    metrics["lookups_found"] = int((start.begun(looked) & ended & hit).sum()) if known else None
    metrics["lookups_missed"] = int((start.begun(looked) & ended & ~hit).sum()) if known else None
    metrics["types"] = len(types) if start.launched and _tells(start, "type_load") else None
    if start.until[0] != "tiering_resumed":
        # Whether start-up was over then is unknown: later, or, at the end of the trace, long before.
        least = start.until[0] != "end_of_trace"
        for name in (
            *(f"{kind}_count" for kind in KINDS),
            "jit_missed",
            "jit_rejected",
            "lookups_found",
            "lookups_missed",
        ):
            if isinstance(count := metrics[name], int) and count:
                metrics[name] = start.context.metric(name, count).bound(least)
    events, metrics["events_per_second"] = _events(start)
    exact = start.main is not None and start.main.exact
    metrics["events_to_main"] = (
        None if events is None else start.context.metric("events_to_main", events, most=not exact)
    )
    return metrics


def _tells(start: course.Start, kind: str) -> bool:
    """Whether the trace has events of a kind."""
    events = {
        "jit": (course.BEGINS, *course.LOADS),
        "assembly_load": ("runtime/AssemblyLoadStart", "runtime/AssemblyLoadStop"),
        "type_load": ("runtime/TypeLoadStart", "runtime/TypeLoadStop"),
        "lookup": ("runtime/R2RGetEntryPointStart", course.LOOKUPS),
    }
    return any(len(start.rows[name]) for name in events[kind])


def _since(start: course.Start, name: str, *moments: str) -> Metric | None:
    """A metric: the time from the runtime's start to the first known one of these moments."""
    known = {moment.moment: moment for moment in start.moments}
    moment = next((known[moment] for moment in moments if moment in known), None)
    if start.started_ns is None or moment is None:
        return None
    value = moment.time_ns - start.started_ns
    metric = start.context.metric(name, value, evidence=moment.evidence)
    if moment.evidence != "sample":
        if name == "main_ready" and start.main is not None and start.main.ready_ns is None:
            # It began to be compiled; when its code was loaded is not recorded.
            return None
        seen_late = name == "runtime_to_main" and start.main is not None and not start.main.exact
        return attrs.evolve(metric, high=value) if seen_late else metric
    loaded = known.get("program_loaded")
    low = 0 if loaded is None or loaded.time_ns > moment.time_ns else loaded.time_ns - start.started_ns
    return attrs.evolve(metric, low=low, high=value)


def _events(start: course.Start) -> tuple[int | None, float | None]:
    """How many of this report's events were recorded until Main, in the window; and by the second, in all, where both
    moments are known."""
    if start.main is None:
        return None, None
    window = start.context.window
    times = np.concatenate([rows.numbers("time_ns") for rows in start.rows.values()])
    before = times[times < start.main_ns]
    seconds = 0.0 if start.started_ns is None or not start.main.exact else (start.main_ns - start.started_ns) / 1e9
    return int(window.holds(before).sum()), len(before) / seconds if seconds > 0 else None


def _not_launched(start: course.Start) -> Note:
    """Why there is no start to report."""
    if not start.context.has_start:
        return Note("start-unknown", "warning", "the trace is a part of another, without its beginning", ("moments",))
    record = str(record_needs(start.context.needs))
    attached = start.verdict[0] == "attached"
    text = "the runtime was already running when the trace began; what it did before was not recorded"
    unknown = "it is unknown whether the trace began before the runtime started"
    id, message = ("attached", text) if attached else ("start-unknown", unknown)
    if start.context.info.native_aot:
        return Note(id, "info", message, ("moments",))
    return Note(id, "warning", message, ("moments",), remedy=_LAUNCH, record=record)


def _notes_of(start: course.Start) -> Sequence[Note]:
    """What limits the answer about a start."""
    record = str(record_needs(start.context.needs))
    notes = []
    main = start.main
    if main is None:
        text = "no Main method of the program was compiled, looked up or sampled"
        notes.append(Note("main-unknown", "warning", text, ("main",), remedy="record more", record=record))
    elif main.evidence == "sample":
        text = "the program was first seen running in a sample: it reached Main then or earlier"
        notes.append(Note("main-sampled", "info", text, ("main", "runtime_to_main"), record=record))
    elif main.evidence == "inferred":
        text = "the assembly of Main is unknown: its namespace is not one of the framework's"
        notes.append(Note("main-inferred", "info", text, ("main", "runtime_to_main")))
    events, rate = _events(start)
    if events is not None and rate is not None:
        text = f"recording slows the start: at least {counted(events, 'event was', 'events were')} written until Main"
        text += f", {rate:,.0f} per second; all durations include the time this took"
        numbers = {"events": events, "per_second": rate}
        remedy = "compare with a trace recorded with fewer keywords"
        notes.append(Note("recording-cost", "info", text, ("runtime_to_main",), numbers, remedy))
    return notes


def _word(rows: Gathered, name: str) -> str | None:
    """The name of an enum's value; None for 0, which names nothing."""
    value = int(rows.numbers(name)[0]) if len(rows) else 0
    enum = next((field.enum for field in rows.table.fields if field.name == name), None)
    return str(enum(value)) if value and enum is not None else None


def _version(rows: Gathered) -> str | None:
    """The version of .NET: that of its libraries, which is the product's from .NET 5 on."""
    if not len(rows):
        return None
    return ".".join(str(int(rows.numbers(f"Bcl{part}")[0])) for part in ("MajorVersion", "MinorVersion", "BuildNumber"))


class StartupCollector(KeepingCollector[StartupReport]):
    """Keeps the events that a start is made of."""

    selectors = tuple(course.KEPT)
    stacks = True

    def __init__(self, parameters: NameParameters) -> None:
        self._raw = parameters.raw
        self._kept = Kept({name: columns for name, columns in course.KEPT.items() if columns is not None})

    def finish(self, context: Context) -> StartupReport:
        start = course.Start(self._kept.all(self.selectors, context.nothing), context, self._raw)
        return startup_answer(start)


_OVER: Final = "when start-up was over"
_UNTIL: Final = "unknown"
"""What sums up to a moment is where events are missing: that moment may be a later one."""


def _moment(name: str, description: str) -> MetricDeclaration:
    # The first event of its kind may be missing.
    return time_of(name, description, "less", "none", windows=False, lossy="at most")


def _count(name: str, description: str, *needs: str) -> MetricDeclaration:
    return count_of(name, description, "less", needs=needs, lossy=_UNTIL)


def _self(kind: str, what: str) -> tuple[MetricDeclaration, ...]:
    total = f"The self time of all {what} until start-up was over."
    return (
        time_of(f"{kind}_total", total, "less", needs=(what, _OVER), lossy=_UNTIL),
        time_of(f"{kind}_to_main", "How much of that was before Main.", "less", needs=(what,), lossy=_UNTIL),
        _count(f"{kind}_count", f"How many {what} began until start-up was over.", what),
    )


REPORT: Final = ReportDeclaration(
    answer=StartupReport,
    question="What did the program do until Main, and until start-up was over?",
    topic="time",
    needs=(
        # No keyword is needed, and none proves that the trace began early enough.
        Need("when the runtime started", ("RuntimeInformationStart",), 0x8, 4, essential=True, proof=0),
        Need("which modules are the program's", ("ModuleLoad", "rundown/ModuleDCEnd"), 0x8, 4),
        Need("compilations", ("MethodJittingStarted",), 0x10, 5),
        Need("tiers of compilations", ("MethodLoadVerbose",), 0x10, 5),
        Need("assembly loads", ("AssemblyLoadStart",), 0x4, 4),
        Need("look-ups of precompiled code", ("R2RGetEntryPoint",), 0x2000000000, 4),
        Need("modules of precompiled code", ("MethodDetails",), 0x4000000000, 4),
        Need("type loads", ("TypeLoadStart",), 0x8000000000, 4),
        Need(_OVER, ("TieredCompilationResume", "TieredCompilationPause"), 0x1000000000, 4),
    ),
    metrics=(
        _moment("runtime_to_program", "From the runtime's start until the program's assembly was requested."),
        _moment("runtime_to_main", "From the runtime's start until Main was compiled or looked up."),
        _moment("main_ready", "From the runtime's start until Main was ready to run."),
        _moment("runtime_to_resume", "From the runtime's start until tiering resumed: start-up was over before that."),
        *_self("jit", "compilations"),
        *_self("assembly_load", "assembly loads"),
        *_self("type_load", "type loads"),
        *_self("lookup", "look-ups of precompiled code"),
        _count("jit_missed", "Compilations of methods whose precompiled code was looked up but not found."),
        _count("jit_rejected", "Compilations of methods whose precompiled code could not be used."),
        _count("lookups_found", "Look-ups that found code."),
        _count("lookups_missed", "Look-ups that found none."),
        count_of("types", "Different types that were loaded.", "less", windows=False, lossy=_UNTIL),
        _count("events_to_main", "Events that this report reads, until Main."),
        MetricDeclaration(
            "events_per_second", "The same per second.", "less", "none", windows=False, lossy=_UNTIL, unit="per second"
        ),
    ),
    collector=StartupCollector,
    in_part={"*": "from the start"},
    parameters=NameParameters,
    shown=("moment", "time_ns", "since_start_ns", "evidence", "what"),
    examples=(
        ("What happened until Main?", "clrevents startup FILE"),
        ("What was compiled on the way?", "clrevents startup FILE --table compilations --sort self_ns"),
        ("Which assemblies were loaded?", "clrevents startup FILE --table loads --columns assembly,self_ns,path"),
    ),
    not_compared="it is about one moment, and its sums are those of other reports",
)

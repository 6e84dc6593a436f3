"""The startup report: its declaration."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration
from clrevents.analysis.reports.startup.startup_answer import StartupCollector, StartupParameters
from clrevents.analysis.reports.startup.startup_tables import StartupReport as StartupReport

_OVER: Final = "when start-up was over"
_UNTIL: Final = "unknown"
"""What sums up to a moment is where events are missing: that moment may be a later one."""


def _moment(name: str, description: str) -> MetricDeclaration:
    # The first event of its kind may be missing.
    return MetricDeclaration(name, "ns", description, "less", "none", windows=False, lossy="at most")


def _count(name: str, description: str, *needs: str) -> MetricDeclaration:
    return MetricDeclaration(name, "count", description, "less", needs=needs, lossy=_UNTIL)


def _self(kind: str, what: str) -> tuple[MetricDeclaration, ...]:
    total = f"The self time of all {what} until start-up was over."
    return (
        MetricDeclaration(f"{kind}_total", "ns", total, "less", needs=(what, _OVER), lossy=_UNTIL),
        MetricDeclaration(
            f"{kind}_to_main", "ns", "How much of that was before Main.", "less", needs=(what,), lossy=_UNTIL
        ),
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
        MetricDeclaration("types", "count", "Different types that were loaded.", "less", windows=False, lossy=_UNTIL),
        _count("events_to_main", "Events that this report reads, until Main."),
        MetricDeclaration(
            "events_per_second", "per second", "The same per second.", "less", "none", windows=False, lossy=_UNTIL
        ),
    ),
    collector=StartupCollector,
    in_part={"*": "from the start"},
    parameters=StartupParameters,
    shown=("moment", "time_ns", "since_start_ns", "evidence", "what"),
    examples=(
        ("What happened until Main?", "clrevents startup FILE"),
        ("What was compiled on the way?", "clrevents startup FILE --table compilations --sort self_ns"),
        ("Which assemblies were loaded?", "clrevents startup FILE --table loads --columns assembly,self_ns,path"),
    ),
    not_compared="it is about one moment, and its sums are those of other reports",
)

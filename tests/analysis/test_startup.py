"""The startup report: moments of real starts, what lies before Main, and starts that the trace does not hold."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import clrevents
import reading
from clrevents.analysis.gathering.groups import Gathered, gather
from clrevents.analysis.reports.startup import StartupReport
from clrevents.analysis.reports.startup.course import depths, self_times
from clrevents.analysis.shared.events.event_spans import EventSpans, paired
from clrevents.events import (
    AssemblyFlags,
    AssemblyLoad_V1,
    AssemblyLoadStart_V0,
    AssemblyLoadStop_V0,
    ExecutionCheckpoint_V0,
    MethodFlags,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V1,
    ModuleFlags,
    ModuleLoad_V1,
    R2RGetEntryPoint_V0,
    R2RGetEntryPointStart_V0,
    RuntimeInformationDCStart_V0,
    RuntimeInformationStart_V0,
    RuntimeSku,
    StartupFlags,
    StartupMode,
    TieredCompilationResume_V0,
    TypeLoadStart_V0,
    TypeLoadStop_V0,
)
from clrevents.table.table import ColumnType, Table, TableField, number_column
from clrevents.testing.builder import TraceBuilder
from project_files import SHARED, fixture, without_shared
from reading import numbers_of as numbers

built = partial(reading.asked, "startup")

GAR = SHARED / "scenarios" / "net10-garbage-11.nettrace.gz"
ALL = SHARED / "traces" / "own" / "net10-all.nettrace.gz"
CORE = "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Private.CoreLib.dll"
KEY = "7cec85d7bea7798e"
KINDS = ("jit", "assembly_load", "type_load", "lookup")


def real(path: Path | str, **options: Any) -> StartupReport:
    if not Path(path).exists():
        pytest.skip(without_shared(Path(path).name))
    return built(path, **options)


def moments(found: StartupReport) -> dict[str, tuple[int, str]]:
    return {m.moment: (m.time_ns, m.evidence) for m in found.moments}


def information(record: type[Any] = RuntimeInformationStart_V0, command: str = "", mode: int = 0) -> Any:
    version = 10, 0, 7, 0, 10, 0, 700, 0
    return record(
        0, RuntimeSku.CoreClr, *version, StartupFlags(0), StartupMode(mode), command, UUID(int=0), "/rt/libcoreclr.so"
    )


def module(identity: int, path: str, flags: int = 8) -> ModuleLoad_V1:
    return ModuleLoad_V1(identity, identity, ModuleFlags(flags), 0, path, "", 0)


def assembly(identity: int, name: str, key: str = "null") -> AssemblyLoad_V1:
    return AssemblyLoad_V1(
        identity, 0, 0, AssemblyFlags(0), f"{name}, Version=1.0.0.0, Culture=neutral, PublicKeyToken={key}", 0
    )


def launched() -> TraceBuilder:
    """A runtime that starts at 1 µs, with its library (module 1) and the program (module 2)."""
    builder = TraceBuilder().at(1000).event(information()).event(assembly(1, "System.Private.CoreLib", KEY))
    builder.event(module(1, CORE)).event(assembly(2, "App")).event(module(2, "/app/App.dll"))
    return builder.at(10_000)


def jitting(method: int, name: str = "M", module_id: int = 2, namespace: str = "App.Program") -> Any:
    return MethodJittingStarted_V1(method, module_id, 6, 10, namespace, name, "void  ()", 0)


def jitted(method: int, name: str = "M", module_id: int = 2, flags: int = 0x188, namespace: str = "App.Program") -> Any:
    return MethodLoadVerbose_V1(method, module_id, 4096, 30, 6, MethodFlags(flags), namespace, name, "void  ()", 0)


def asked(name: str, requesting: str = "") -> AssemblyLoadStart_V0:
    return AssemblyLoadStart_V0(0, name, "", requesting, "Default", "Default")


def answered(name: str, path: str = "", success: bool = True) -> AssemblyLoadStop_V0:
    return AssemblyLoadStop_V0(0, name, "", "", "Default", "Default", success, name if success else "", path, False)


# Real starts. -------------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_a_launched_program() -> None:
    found = real(GAR)
    assert moments(found) == {
        "runtime_started": (221_953, "event"),
        "first_compilation": (12_609_137, "event"),
        "program_loaded": (36_106_720, "event"),
        "main": (36_530_246, "event"),
        "main_ready": (37_854_314, "event"),
        "last_new_method": (38_202_917, "inferred"),
        "tiering_resumed": (207_250_823, "event"),
    }
    assert numbers(found, "runtime_to_main", "main_ready") == (36_308_293, 37_632_361)
    assert numbers(found, "jit_total", "jit_to_main", "jit_count") == (9_029_587, 7_954_775, 27)
    assert numbers(found, "assembly_load_total", "assembly_load_to_main") == (472_751, 169_634)
    assert numbers(found, "type_load_total", "lookup_total", "jit_missed") == (None, None, None)
    facts = found.facts
    assert (facts.verdict, facts.evidence, facts.ended_by) == ("launched", "event", "tiering_resumed")
    assert (facts.main, facts.program) == ("Scenarios.Main(string[])", "/app/scn/Scenarios.dll")
    assert (facts.runtime_version, facts.runtime) == ("10.0.12", "CoreClr")
    assert facts.command_line == "/usr/share/dotnet/dotnet /app/scn/Scenarios.dll garbage 11"
    assert found.coverage == "partial"
    (program,) = (load for load in found.loads if load.assembly.startswith("Scenarios,"))
    assert (program.path, program.success, program.depth, program.start_ns) == (facts.program, True, 0, 36_106_720)
    assert program.before_main
    assert (program.requesting or "").startswith("System.Private.CoreLib,")


@pytest.mark.shared
def test_everything_on() -> None:
    found = real(ALL)
    assert moments(found)["main"] == (149_745_748, "event")
    assert found.coverage == "full"
    assert numbers(found, *(f"{kind}_total" for kind in KINDS)) == (15_657_213, 1_378_983, 74_952_948, 10_710_333)
    assert numbers(found, *(f"{kind}_to_main" for kind in KINDS)) == (10_541_821, 385_269, 69_721_576, 9_473_589)
    assert numbers(found, "type_load_count", "types", "lookup_count") == (1911, 1547, 929)
    assert numbers(found, "lookups_found", "lookups_missed") == (900, 29)
    words = [c.precompiled for c in found.compilations]
    assert (words.count("missed"), words.count("rejected")) == numbers(found, "jit_missed", "jit_rejected") == (12, 1)
    assert words.count("dynamic") == 23
    (rejected,) = (c for c in found.compilations if c.precompiled == "rejected")
    assert rejected.method.startswith("System.SpanHelpers.SequenceCompareTo")
    (note,) = (note for note in found.notes if note.id == "recording-cost")
    assert note.numbers["events"] == found.metrics["events_to_main"].value == 5802


@pytest.mark.shared
def test_pairs_of_the_whole_trace() -> None:
    if not ALL.exists():
        pytest.skip(without_shared(ALL.name))
    with clrevents.open(ALL) as trace:
        types = paired(
            *gather(trace, ["runtime/TypeLoadStart", "runtime/TypeLoadStop"]), ("thread_id", "TypeLoadStartID")
        )
        begins, ends = gather(trace, ["runtime/R2RGetEntryPointStart", "runtime/R2RGetEntryPoint"])
    assert (len(types), int(types.closed.sum())) == (2731, 2731)
    (own,) = self_times([types])
    inclusive = int((types.high_ns - types.low_ns).sum())
    alone = int(own.within(0, 1 << 60).sum())
    assert (round(inclusive / 1e6), round(alone / 1e6)) == (156, 107)
    lookups = paired(begins, ends, ("thread_id", "MethodID"))
    assert (len(begins), len(ends), int((ends.numbers("EntryPoint") == 0).sum())) == (1701, 1721, 83)
    assert int((lookups.end == -1).sum()) == 0
    assert int((lookups.begin == -1).sum()) == 20


@pytest.mark.shared
def test_every_module_came_with_an_assembly() -> None:
    if not GAR.exists():
        pytest.skip(without_shared(GAR.name))
    with clrevents.open(GAR) as trace:
        starts, stops = gather(trace, ["runtime/AssemblyLoadStart", "runtime/AssemblyLoadStop"])
        modules = {e.payload.AssemblyID for e in trace.events("ModuleLoad")}
        assemblies = {e.payload.AssemblyID for e in trace.events("AssemblyLoad")}
    loads = paired(starts, stops, ("thread_id", "AssemblyName"))
    assert (len(loads), int(loads.closed.sum())) == (37, 37)
    assert modules
    assert modules <= assemblies


@pytest.mark.parametrize("name", ["net10-method-interop", "net8-method-interop", "net8-unload-verbose"])
def test_self_times_fit_into_the_time(name: str) -> None:
    found = real(fixture(name))
    until = found.facts.until_ns
    assert until is not None
    rows = [*found.compilations, *found.loads, *found.lookups]
    assert rows
    threads: dict[int, int] = {}
    for row in rows:
        threads[row.thread_id] = threads.get(row.thread_id, 0) + (row.self_ns or 0)
    latest = max(row.end_ns or 0 for row in rows)
    assert max(threads.values()) <= latest
    for row in found.compilations:
        assert row.self_ns is None or 0 <= row.self_ns <= (row.compile_ns or 0)
    total = sum(value for value in numbers(found, *(f"{kind}_total" for kind in KINDS)) if value is not None)
    assert 0 < total <= until * len(threads)


@pytest.mark.parametrize(
    "name", ["scenarios/net31-states-44", "scenarios/net8-meters-44", "traces/own/net10-lossy", "traces/own/net10-cpu"]
)
@pytest.mark.shared
def test_attached_traces(name: str) -> None:
    check_attached(real(SHARED / f"{name}.nettrace.gz"))


def test_an_attached_fixture() -> None:
    check_attached(real(fixture("net8-counters")))


def check_attached(found: StartupReport) -> None:
    assert (found.facts.verdict, found.facts.evidence, found.coverage) == ("attached", "inferred", "none")
    assert [len(found.table(t.name)) for t in found.tables()] == [0, 0, 0, 0, 0]
    assert {metric.value for metric in found.metrics.values()} == {None}
    assert found.notes[0].id == "attached"
    assert "-- PROGRAM" in (found.notes[0].remedy or "")
    assert found.facts.runtime_version is not None


def test_nobody_knows() -> None:
    found = built(TraceBuilder().event(module(2, "/app/App.dll")).event(jitting(1, "Main")).event(jitted(1, "Main")))
    assert (found.facts.verdict, found.coverage, found.notes[0].id) == ("unknown", "none", "start-unknown")
    assert (len(found.moments), len(found.compilations), found.facts.main) == (0, 0, None)


def test_a_killed_program() -> None:
    # Its trace lacks RuntimeInformationStart, and has the load of the runtime's own library.
    found = real(SHARED / "traces" / "own" / "net8-killed.nettrace.gz")
    assert (found.facts.verdict, found.facts.evidence, found.coverage) == ("launched", "inferred", "partial")
    assert found.facts.main == "Program.Main(string[])"
    assert numbers(found, "runtime_to_main") == (None,)
    assert all(m.since_start_ns is None for m in found.moments)


def test_main_in_a_sample() -> None:
    found = real(SHARED / "scenarios" / "net8-states-44.nettrace.gz")
    metric = found.metrics["runtime_to_main"]
    assert (metric.value, metric.evidence, metric.high) == (53_598_697, "sample", metric.value)
    program, _ = moments(found)["program_loaded"]
    assert metric.low == program - moments(found)["runtime_started"][0]
    assert (found.facts.main, found.facts.main_evidence) == (None, "sample")
    assert "main-sampled" in {note.id for note in found.notes}


# Built starts. ------------------------------------------------------------------------------------------------------


def test_nothing_is_counted_twice() -> None:
    builder = launched().event(jitting(1, "Main")).wait(1000).event(TypeLoadStart_V0(1, 0))
    builder.event(asked("Lib")).event(asked("Dep", "Lib")).event(answered("Dep", "/app/Dep.dll"))
    builder.event(answered("Lib", "/app/Lib.dll")).event(TypeLoadStop_V0(1, 0, 3, 77, "App.T"))
    builder.event(jitted(1, "Main")).event(TieredCompilationResume_V0(0, 1))
    found = built(builder)
    # The compilation is from 10 to 18 µs, and the load of the type from 12 to 17.
    (main,) = found.compilations
    assert (main.method, main.start_ns, main.end_ns) == ("App.Program.Main()", 10_000, 18_000)
    assert (main.compile_ns, main.self_ns, main.tier) == (8_000, 3_000, "QuickJitted")
    assert [(load.assembly, load.load_ns, load.self_ns, load.depth) for load in found.loads] == [
        ("Lib", 3_000, 2_000, 0),
        ("Dep", 1_000, 1_000, 1),
    ]
    assert [(t.type, t.loads, t.self_ns, t.highest_level) for t in found.types] == [("App.T", 1, 2_000, 3)]
    assert numbers(found, *(f"{kind}_total" for kind in KINDS)) == (3_000, 3_000, 2_000, None)
    # Main's own compilation is not before Main.
    assert numbers(found, "jit_to_main", "assembly_load_to_main") == (0, 0)
    assert (main.before_main, found.loads[0].before_main) == (False, False)
    assert [load.path for load in found.loads] == ["/app/Lib.dll", "/app/Dep.dll"]


def test_unfinished_and_failed_loads() -> None:
    builder = launched().event(asked("Gone")).event(asked("Missing")).event(answered("Missing", success=False))
    found = built(builder.event(jitting(1, "Main")))
    assert [(load.assembly, load.end_ns, load.self_ns, load.success, load.depth) for load in found.loads] == [
        ("Gone", None, None, None, 0),
        ("Missing", 12_000, 1_000, False, 0),
    ]
    (main,) = found.compilations
    assert (main.end_ns, main.compile_ns, main.self_ns, main.tier) == (None, None, None, None)
    assert (found.facts.ended_by, set(moments(found)) & {"main", "main_ready"}) == ("end_of_trace", {"main"})
    assert found.metrics["runtime_to_main"].value is not None
    assert found.metrics["main_ready"].value is None


@pytest.mark.parametrize(
    ("flags", "code", "expected"),
    [(0x188, 0, "missed"), (0x1C8, 0, "rejected"), (0x208, 7, "found"), (0x188, None, "none"), (0x189, 0, "dynamic")],
)
def test_precompiled_code(flags: int, code: int | None, expected: str) -> None:
    builder = launched().event(R2RGetEntryPointStart_V0(9, 0)).event(R2RGetEntryPoint_V0(9, "N", "X", "()", 1, 0))
    if code is not None:
        builder.event(R2RGetEntryPointStart_V0(1, 0)).event(R2RGetEntryPoint_V0(1, "App.Program", "M", "()", code, 0))
    builder.event(jitting(1)).event(jitted(1, flags=flags)).event(jitting(2, "Main")).event(jitted(2, "Main"))
    found = built(builder.event(TieredCompilationResume_V0(0, 1)))
    assert [c.precompiled for c in found.compilations] == [expected, "none"]
    assert numbers(found, "lookups_found", "lookups_missed") == (1 + (code == 7), int(code == 0))
    assert [lookup.found for lookup in found.lookups] == [True] + ([] if code is None else [bool(code)])


def test_a_look_up_after_the_compilation() -> None:
    builder = launched().event(jitting(1, "Main")).event(jitted(1, "Main"))
    found = built(builder.event(R2RGetEntryPoint_V0(1, "App.Program", "Main", "()", 0, 0)))
    assert [c.precompiled for c in found.compilations] == ["none"]


@pytest.mark.parametrize(
    ("key", "namespace", "evidence"),
    [
        ("null", "App.Program", "event"),
        ("0123456789abcdef", "Microsoft.Tool", "event"),
        ("adb9793829ddae60", "App.Program", None),
        (None, "App.Program", "inferred"),
        (None, "System.Program", None),
    ],
)
def test_whose_main_it_is(key: str | None, namespace: str, evidence: str | None) -> None:
    builder = TraceBuilder().event(information())
    if key is not None:
        builder.event(assembly(2, "App", key)).event(module(2, "/app/App.dll"))
    builder.event(jitting(1, "Main", namespace=namespace)).event(jitted(1, "Main", namespace=namespace))
    found = built(builder)
    assert found.facts.main_evidence == evidence
    notes = {note.id for note in found.notes}
    assert ("main-unknown" in notes, "main-inferred" in notes) == (evidence is None, evidence == "inferred")


def test_a_generated_main_is_not_the_programs() -> None:
    builder = TraceBuilder().event(information()).event(assembly(2, "Made")).event(module(2, "Made", flags=4))
    assert built(builder.event(jitting(1, "Main"))).facts.main is None


def test_what_the_runtime_says_of_itself() -> None:
    found = built(TraceBuilder().event(information(command="dotnet app.dll", mode=2)))
    facts = found.facts
    assert (facts.command_line, facts.startup_mode, facts.runtime_version) == ("dotnet app.dll", "HostedClr", "10.0.7")
    attached = built(TraceBuilder().event(information(RuntimeInformationDCStart_V0, "x")))
    assert (attached.facts.verdict, attached.facts.command_line) == ("attached", "x")


def test_the_runtimes_own_marks() -> None:
    # Their clock is the trace's: a tick is a nanosecond here, and the session begins at tick 1,000,000.
    builder = TraceBuilder().event(information()).event(ExecutionCheckpoint_V0(0, "RuntimeInit", 999_000))
    found = built(builder.event(ExecutionCheckpoint_V0(0, "Later", 1_000_500)))
    marks = [(m.what, m.time_ns) for m in found.moments if m.moment == "checkpoint"]
    assert (marks, found.facts.runtime_init_ns) == ([("Later", 500)], -1000)


def test_marks_of_a_real_runtime() -> None:
    # It waited for the session to begin: initialized before, stopped and resumed in it.
    name = "eventpipe-dotnetcore6.0-win-x64-executioncheckpoints.nettrace.gz"
    found = real(SHARED / "traces" / "perfview" / name)
    assert [(m.what, m.time_ns) for m in found.moments] == [
        ("RuntimeSuspend", 11_910_500),
        ("RuntimeResumed", 12_196_600),
    ]
    assert (found.facts.runtime_init_ns, found.facts.verdict, found.coverage) == (-15_966_600, "unknown", "none")


# Self times. --------------------------------------------------------------------------------------------------------


def spans(*rows: tuple[int, int, int]) -> EventSpans:
    """(thread, start, end) each; an end of -1 is unknown. Places are times."""
    thread, start, end = (np.array(values, dtype=np.int64) for values in zip(*rows, strict=True))
    line = np.arange(len(rows))
    fields = tuple(TableField(name, ColumnType("int64")) for name in ("time_ns", "thread_id"))
    begins, ends = (
        Gathered(None, Table(fields, ((number_column("int64", time), number_column("int64", thread)),)), time)
        for time in (start, end)
    )
    return EventSpans(begins, ends, line, np.where(end == -1, -1, line))


@pytest.mark.parametrize("seed", range(20))
def test_self_times_against_the_long_way_round(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds = []
    places = iter(random.permutation(400).tolist())
    for _ in range(3):
        rows = sorted((int(random.integers(1, 3)), *sorted((next(places), next(places)))) for _ in range(12))
        kinds.append(spans(*sorted(rows, key=lambda row: row[1])))
    found = self_times(kinds)
    expected = [np.zeros(12, dtype=np.int64) for _ in kinds]
    for thread in (1, 2):
        for moment in range(400):
            inside = [
                (int(kind.start_ns[line]), number, line)
                for number, kind in enumerate(kinds)
                for line in range(12)
                if kind.thread[line] == thread and kind.start_ns[line] <= moment < kind.end_ns[line]
            ]
            if inside:
                _, number, line = max(inside)
                expected[number][line] += 1
    assert [own.within(0, 1000).tolist() for own in found] == [own.tolist() for own in expected]


def test_depths_are_of_one_thread() -> None:
    rows = (1, 0, 100), (2, 5, 90), (1, 10, 50), (1, 20, 30), (1, 55, -1), (1, 60, 70)
    assert depths(spans(*rows)).tolist() == [0, 0, 1, 2, 1, 1]

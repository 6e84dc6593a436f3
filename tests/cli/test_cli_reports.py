"""`clrevents jit`, `stubs` and `modules`: text that fits a terminal, JSON as the reports have it, and advice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import clrevents
from clrevents.analysis import jit_report, module_report, stub_report
from clrevents.cli.reporting import TIERS
from clrevents.events import ILStubGenerated_V0, MethodFlags, MethodLoadVerbose_V1, ModuleLoad_V1
from clrevents.schema.method_flags import OptimizationTier
from clrevents.schema.registry import DEFAULT, RUNTIME
from clrevents.testing.builder import TraceBuilder
from project_files import fixture

Run = Callable[..., Result]

INTEROP = fixture("net10-method-interop")
COLLECT = "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty.nettrace"
    path.write_bytes(TraceBuilder().sample().build())
    return path


def test_jit(run: Run) -> None:
    result = run("jit", INTEROP, "-n", 3)
    assert (result.exit_code, result.stderr) == (
        0,
        "clrevents: the trace tells nothing of the background compiler's turns (no TieredCompilationBackgroundJitStart)"
        f"; to record that: {COLLECT}:0x1000000018:4\n",
    )
    lines = result.stdout.splitlines()
    facts = dict(line.split("  ", 1) for line in lines[: lines.index("")])
    assert {name: text.strip() for name, text in facts.items() if name} == {
        "compilations": "146 of 136 methods, 10 of them again",
        "time": "37.799 ms, 41.5 % of it for 38 in the background",
        "size": "8,889 bytes of IL became 29,493 bytes of code",
        "quick only": "56 methods never tiered up",
        "inlining": "313 of 523 calls inlined (59.8 %)",
        "tail call": "24 of 37 tail calls made (64.9 %)",
        "precompiled": "1,224 of 1,276 look-ups found code (95.9 %), of 1,194 methods; 25.089 ms",
    }
    assert [line.split()[0] for line in lines if line.startswith(("tier ", "thread ", "refused "))] == [
        "tier",
        "thread",
        "refused",
    ]
    head = next(line for line in lines if line.endswith("method"))
    assert head.split() == ["ms", "IL", "native", "inlined", "tiers", "method"]
    assert lines[-1] == "and 133 more (-n shows them)"
    # Names are as long as they are.
    assert head.index("method") < 50


def test_jit_compilations_in_order_of_time(run: Run) -> None:
    lines = run("jit", INTEROP, "--compilations", "-n", 200).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("at ms")) + 1
    rows = lines[start:-1]
    assert len(rows) == 146
    times = [float(row.split()[0].replace(",", "")) for row in rows]
    assert times == sorted(times)
    assert lines[-1] == "b: on the background thread"
    with clrevents.open(INTEROP) as trace:
        expected = sum(bool(c.background) for c in jit_report(trace).compilations)
    assert sum(row.split()[2].endswith("b") for row in rows) == expected > 10


def test_jit_never_tiered_up(run: Run) -> None:
    lines = run("jit", INTEROP, "--never-tiered-up", "-n", 500).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.endswith("method")) + 1
    with clrevents.open(INTEROP) as trace:
        assert len(lines[start:]) == jit_report(trace).totals.never_tiered_up
    assert all("quick" in line for line in lines[start:])
    assert not any("tier1" in line or "full" in line.split() for line in lines[start:])


def test_raw_names(run: Run) -> None:
    assert "Program.Main(class System.String[])" in run("jit", INTEROP, "--raw", "-n", 200).stdout
    assert "Program+Cmp.Invoke" in run("stubs", INTEROP, "--raw").stdout


def test_every_tier_has_a_short_name() -> None:
    assert set(TIERS) == {str(tier) for tier in OptimizationTier}


def test_stubs(run: Run) -> None:
    result = run("stubs", INTEROP, "-n", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "stubs       9: 7 P/Invoke, 1 delegate of a native function, 1 managed delegate for native code",
        "compiled    1.782 ms in all",
        "cache hits  0",
        "",
        " at ms     ms    thread  stub",
        "52.330  0.414      4447  Program.strlen: P/Invoke",
        "                           managed  native int(string)",
        "                           native   unmanaged cdecl int64(native int)",
        "and 8 more (-n shows them)",
    ]


def test_code_and_stacks_of_stubs(run: Run) -> None:
    lines = run("stubs", INTEROP, "--il", "--stacks").stdout.splitlines()
    at = lines.index("Program.strlen: P/Invoke, at 52.330 ms, compiled in 0.414 ms")
    assert lines[at + 1 : at + 7] == [
        "  managed  native int(string)",
        "  native   unmanaged cdecl int64(native int)",
        "    at Program.Interop()",
        "    at Program.Main(string[])",
        "    // Code size    115 (0x0073)",
        "    .maxstack 3",
    ]
    assert sum(line == "    at Program.Main(string[])" for line in lines) == 9
    assert "    (the runtime cut this text)" not in lines
    older = run("stubs", fixture("net8-method-interop"), "--il").stdout
    assert older.count("    (the runtime cut this text)") == 7


def test_modules(run: Run) -> None:
    result = run("modules", INTEROP)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("15 modules: ")
    assert lines[2].split()[-2:] == ["kind", "module"]
    assert lines[3].split()[-2:] == ["ready-to-run", "System.Private.CoreLib"]
    assert max(map(len, lines)) <= 120
    detailed = run("modules", INTEROP, "--paths").stdout.splitlines()
    at = detailed.index("System.Private.CoreLib")
    assert detailed[at + 2 : at + 4] == [
        "  file         /usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/System.Private.CoreLib.dll",
        "  pdb          c0c96581-69b7-ba38-8a41-8680bc2a7220 age 1, /_/src/runtime/artifacts/obj/coreclr/"
        "System.Private.CoreLib/linux.x64.Release/System.Private.CoreLib.pdb",
    ]


def test_json(run: Run) -> None:
    with clrevents.open(INTEROP) as trace:
        expected = {
            "jit": jit_report(trace).to_dict(),
            "stubs": stub_report(trace).to_dict(),
            "modules": module_report(trace).to_dict(),
        }
    for command, found in expected.items():
        result = run(command, INTEROP, "--json")
        assert result.stdout.startswith(f'{{\n  "schema": "clrevents.{command}/1",')
        assert json.loads(result.stdout) == found
        assert result.stdout.isascii()


@pytest.mark.parametrize(
    ("command", "first", "advice"),
    [
        ("jit", "compilations  0", "no compilations; .* record Microsoft-Windows-DotNETRuntime:0x1000001018:5"),
        ("stubs", "stubs       0", "no stubs"),
        ("modules", "0 modules", "no modules"),
    ],
)
def test_nothing_there(run: Run, empty: Path, command: str, first: str, advice: str) -> None:
    result = run(command, empty)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == first
    assert re.search(advice, result.stderr)
    assert json.loads(run(command, empty, "--json").stdout)["schema"] == f"clrevents.{command}/1"


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    """What a trace of level 4 has: modules and methods that were loaded, but not when their compilation began."""
    builder = TraceBuilder().thread(7).rundown().event(ModuleLoad_V1(77, 3, 0x20, 0, "/app/App.dll", "", 0))
    flags = MethodFlags(8 | 3 << 7)
    builder.event(MethodLoadVerbose_V1(1, 77, 4096, 30, 0x06000001, flags, "N.T", "M", "void  ()", 0))
    builder.event(ILStubGenerated_V0(0, 77, 5, 0, 0x06000002, "N.T", "puts", "void(string)", "void(int)", "x", "y"))
    path = tmp_path / "loads.nettrace"
    path.write_bytes(builder.build())
    return path


def heads(text: str) -> list[list[str]]:
    """The headings of the tables."""
    return [
        line.split()
        for line in text.splitlines()
        if re.search(r"^tier |^thread |(native|tier|tiers|kind) +(method|module)$| stub$", line)
    ]


def test_jit_without_times_and_decisions(run: Run, loads: Path) -> None:
    """No column of dashes or zeros that stand for nothing; what to record is said, and gives all of it."""
    result = run("jit", loads)
    assert heads(result.stdout) == [
        ["tier", "compilations", "native", "bytes"],
        ["thread", "compilations", "background"],
        ["native", "tiers", "method"],
    ]
    assert "0.000" not in result.stdout
    assert "size          30 bytes of code" in result.stdout.splitlines()
    assert result.stderr == (
        "clrevents: the trace tells nothing of times and IL sizes (no MethodJittingStarted), decisions about inlining "
        "and tail calls (no MethodJitInliningSucceeded), look-ups of precompiled code (no R2RGetEntryPoint), "
        "the background compiler's turns (no TieredCompilationBackgroundJitStart); "
        f"to record that: {COLLECT}:0x3000001018:5\n"
    )
    assert heads(run("jit", loads, "--compilations").stdout)[-1] == ["at", "ms", "thread", "native", "tier", "method"]


def test_modules_and_stubs_without_times(run: Run, loads: Path) -> None:
    result = run("modules", loads)
    assert heads(result.stdout) == [["loaded", "ms", "jitted", "bytes", "kind", "module"]]
    assert result.stderr.endswith(f"to record that: {COLLECT}:0x6000000018:5\n")
    result = run("stubs", loads)
    assert heads(result.stdout) == [["at", "ms", "thread", "stub"]]
    assert result.stderr == (
        "clrevents: the trace tells nothing of times of compilation (no MethodJittingStarted); "
        f"to record that: {COLLECT}:0x2010:5\n"
    )


@pytest.mark.parametrize("command", ["jit", "stubs", "modules"])
def test_json_says_what_is_missing(run: Run, loads: Path, command: str) -> None:
    """Every event that is named comes with the provider line that stands beside it."""
    found = json.loads(run(command, loads, "--json").stdout)["missing"]
    assert any(part["events"] == ["MethodJittingStarted"] for part in found)
    for part in found:
        assert list(part) == ["what", "events", "keywords", "level", "record"]
        assert part["record"] == f"{RUNTIME}:{part['keywords']:#x}:{part['level']}"
        for name in part["events"]:
            for entry in DEFAULT.named(f"runtime/{name}"):
                for version in entry.versions:
                    info = DEFAULT.get(entry.provider, entry.id, version)
                    assert info is not None
                    assert info.keywords & part["keywords"]
                    assert info.level <= part["level"]
    whole = json.loads(run("stubs", INTEROP, "--json").stdout)
    assert whole["missing"] == []


@pytest.mark.parametrize("command", ["jit", "stubs", "modules"])
def test_losses_and_damage(run: Run, tmp_path: Path, command: str) -> None:
    builder = TraceBuilder().thread(2).sample().lose(3).sample()
    path = tmp_path / "lossy.nettrace"
    path.write_bytes(builder.build())
    result = run(command, path)
    assert result.exit_code == 0
    assert (
        result.stdout.splitlines()[-1] == "3 events were lost while recording; ! marks rows that this may have spoilt"
    )
    assert run(command, path, "--fail-on", "loss").exit_code == 3
    path.write_bytes(builder.build()[:-30])
    assert run(command, path).exit_code == 3
    assert run(command, path, "--errors", "report").exit_code == 3


@pytest.mark.parametrize("report", ["jit", "stubs", "modules"])
def test_a_terminal_of_eighty_columns(on_terminal: Callable[..., tuple[int, str]], report: str) -> None:
    code, shown = on_terminal(report, INTEROP, columns=80)
    assert code == 0
    assert "Workload" in shown or "Program" in shown

"""Which modules are the program's own: the first file that is not the runtime's, and what lies beside it."""

from __future__ import annotations

import pytest

import clrevents
from clrevents.events import AssemblyLoad_V1, ModuleLoad_V1
from clrevents.testing.builder import TraceBuilder
from project_files import SHARED, fixture

APP, SHARED_RUNTIME = "/srv/app/", "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.0/"
ASPNET = "/usr/share/dotnet/shared/Microsoft.AspNetCore.App/10.0.0/"
MICROSOFT, OTHER = "adb9793829ddae60", "30ad4fe6b2a6aeed"


def whose(*modules: tuple[str, str, str]) -> dict[str, bool | None]:
    """For each module, loaded in this order, whether it is the program's."""
    trace = TraceBuilder()
    for number, (folder, name, key) in enumerate(modules, 1):
        full = f"{name}, Version=1.0.0.0, Culture=neutral, PublicKeyToken={key}"
        trace.at(10 * number).event(AssemblyLoad_V1(number, 1, 0, 0, full, 0))
        trace.event(ModuleLoad_V1(number, number, 0, 0, f"{folder}{name}.dll", "", 0))
    with clrevents.open(trace.build()) as opened:
        return {name: opened.methods.modules.of_program(name) for _, name, _ in modules}


CORE = (SHARED_RUNTIME, "System.Private.CoreLib", "7cec85d7bea7798e")


@pytest.mark.parametrize(
    ("modules", "own"),
    [
        # What is signed otherwise is a library, and so is what has a key of the framework.
        (
            [
                *(CORE, (APP, "Shop", "null"), (APP, "Shop.Data", "null"), (APP, "Newtonsoft.Json", OTHER)),
                *((APP, "Microsoft.Data.Sqlite", MICROSOFT), (ASPNET, "Microsoft.AspNetCore", MICROSOFT)),
            ],
            {"Shop", "Shop.Data"},
        ),
        # A program of Microsoft's is one too: its compiler is not a library.
        (
            [CORE, (APP, "csc", MICROSOFT), (APP, "Microsoft.Parts", MICROSOFT)],
            {"csc", "Microsoft.Parts"},
        ),
        # A program that brings its runtime.
        ([(APP, *CORE[1:]), (APP, "Shop", "null"), (APP, "System.Runtime", MICROSOFT)], {"Shop"}),
    ],
)
def test_a_program_is_its_entry_and_what_lies_beside_it(modules: list[tuple[str, str, str]], own: set[str]) -> None:
    assert {name for name, mine in whose(*modules).items() if mine} == own


def test_what_lies_elsewhere_or_has_no_assembly_is_unknown() -> None:
    assert whose(CORE, (APP, "Shop", "null"), ("/plugins/", "Tax", "null"))["Tax"] is None
    assert whose((APP, "Shop", "null"))["Shop"] is None
    with clrevents.open(fixture("net8-unload-verbose")) as trace:
        modules = trace.methods.modules
        names = ("Unload", "Plugin", "System.Private.CoreLib", "System.Runtime", "no such")
        assert [modules.of_program(name) for name in names] == [True, None, False, False, None]


@pytest.mark.shared
def test_a_compiler_is_a_program() -> None:
    with clrevents.open(SHARED / "real/csc-net10-allocs.nettrace.gz") as trace:
        modules = trace.methods.modules
        own = {module.name for module in modules if modules.of_program(module.name)}
        assert own == {"csc", "Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"}
        shown = trace.report("top", my_code=True).methods.column("name").tolist()
    assert any(name.startswith("Microsoft.CodeAnalysis.CommonCompiler.CompileAndEmit(") for name in shown[:8])

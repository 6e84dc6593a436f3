"""What an import loads: no module needs another one first, and nobody pays for what was not asked for.

Asks fresh interpreters.
"""

from __future__ import annotations

from typing import Final

import pytest

from command_runs import printed
from house import dotted, imports, tree
from project_files import ROOT, SOURCE
from tiers import drawn

MODULES: Final = sorted(SOURCE.rglob("*.py"))
OPTIONAL: Final = ("altair", "vl_convert", "duckdb", "fsspec", "pandas", "polars", "pyarrow", "pytz", "dateutil")


def run(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints."""
    return printed("-W", "error", "-c", code, *arguments)


@pytest.mark.full
def test_every_module_can_be_imported_first() -> None:
    """No circle needs a certain beginning: modules alone, in an interpreter that has none of ours. A sample of them:
    tests/test_architecture.py finds circles in the source of all."""
    names = [f"clrevents.{dotted(p)}" for p in MODULES if dotted(p) not in ("clrevents", "__main__")]
    names = [name for name in names if drawn(9, "imported first", name)]
    assert names
    code = """
import importlib, os, sys
import attrs, numpy  # not ours, and slow
failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(name, repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
sys.exit(f"cannot be imported first: {failed}" if failed else 0)
"""
    run(code, *names)


LEAN: Final = "import sys; print(*sorted(sys.modules))"


def loaded(code: str) -> set[str]:
    return set(run(f"{code}\n{LEAN}").split())


def families(modules: set[str]) -> set[str]:
    return {m for m in modules if m.startswith("clrevents.schema.events.")}


def test_import_is_lean() -> None:
    modules = loaded("import clrevents")
    heavy = {"construct", "numpy", "click", "rich", "hypothesis", *OPTIONAL}
    assert not heavy & {m.partition(".")[0] for m in modules}
    assert {m for m in modules if m.startswith("clrevents.")} == {
        *("clrevents._util", "clrevents._util.offered", "clrevents._util.version")
    }


@pytest.mark.full
def test_opening_loads_no_family() -> None:
    """Neither do the public names: a family loads when one of its events is met or asked for."""
    modules = loaded(
        "import clrevents\nfor n in clrevents.__all__: getattr(clrevents, n)\nclrevents.Decoder('MethodLoad')"
    )
    assert not families(modules)
    unwanted = {"construct", "click", "rich", "hypothesis", *OPTIONAL}
    assert not unwanted & {m.partition(".")[0] for m in modules}


def test_one_name_loads_one_family() -> None:
    modules = loaded("from clrevents.events import StubFlags")
    assert families(modules) == {"clrevents.schema.events.interop"}
    modules = loaded("from clrevents.events import MethodFlags")
    assert not families(modules)


def test_events_of_groups_are_made_when_they_are_asked_for() -> None:
    """By several threads at once, or by the name of a class, as unpickling a record does."""
    code = """
import importlib, threading
from clrevents.schema.registry import DEFAULT, RUNTIME
gate, versions = threading.Barrier(8), []
def ask():
    gate.wait()
    versions.append(DEFAULT.versions(RUNTIME, 152))
threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
family = importlib.import_module("clrevents.schema.events.loader")
print(len(versions), {*versions}, sorted(name for name in vars(family) if "_V" in name))
print(family.AssemblyUnload_V1.__event__.id, hasattr(family, "Nothing_V0"))
print(sorted(name for name in vars(family) if "_V" in name))
"""
    first = [f"ModuleLoad_V{version}" for version in range(4)]
    assert run(code).splitlines() == [
        f"8 {{(0, 1, 2, 3)}} {first}",
        "155 False",
        str(["AssemblyUnload_V0", "AssemblyUnload_V1", *first]),
    ]


@pytest.mark.full
def test_reading_needs_no_construct() -> None:
    path = ROOT / "fixtures" / "net8-sample.nettrace.gz"
    modules = loaded(f"import clrevents; assert len(list(clrevents.open({str(path)!r}).events())) > 1000")
    assert "construct" not in modules
    assert "rich" not in modules


# What a command loads, by rooms; of some rooms only parts, since the rest is what others do not need.
PARTS: Final = {"analysis": 2, "export": 2, "symbols": 2, "analysis.reports": 3, "analysis.shared": 3}
LISTING: Final = {"__main__", "_util", "errors", "cli"}
READING: Final = {*LISTING, "schema", "sources", "decode", "table", "trace"}
ANSWERS: Final = {f"analysis.{part}" for part in ("framework", "gathering")}
NAMES: Final = {
    f"symbols.{module}"
    for module in (
        *("async_stacks", "display_names", "elf", "feed", "frame", "frame_tables", "lifetimes", "methods"),
        *("modules", "native"),
    )
}
NAMES_OF_METHODS: Final = {f"symbols.{module}" for module in ("display_names", "feed", "lifetimes", "modules")}
SHARED: Final = {f"analysis.shared.{part}" for part in ("events", "processor", "samples", "weights")}


def rooms(modules: set[str]) -> set[str]:
    """The rooms of our modules, or their parts."""
    found = set()
    for module in modules:
        package, *inside = module.split(".")
        if package == "clrevents" and inside:
            depth = max(PARTS.get(".".join(inside[:n]), 1) for n in (1, 2))
            if len(inside) >= depth:
                found.add(".".join(inside[:depth]))
    return found


def commanded(*words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import contextlib, io, sys; from clrevents.__main__ import main; sys.argv = ['clrevents', *sys.argv[1:]]\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()"
    )
    return set(run(f"{code}\n{LEAN}", *words).split())


def test_help_reads_lists_only() -> None:
    modules = commanded("--help")
    assert rooms(modules) == {*LISTING, "analysis.framework"}
    assert not {"numpy", "rich", "multiprocessing"} & modules
    assert not {m for m in modules if m.startswith("clrevents.analysis.framework.model")}


OBJECTS: Final = {
    *(f"clrevents.trace.{module}" for module in ("alignment", "batch", "decoder", "event")),
    "clrevents.analysis.framework.run.feeding",
}
"""Modules for events one by one, and for streams: no answer about a whole trace needs them."""
SELDOM: Final = {"clrevents.trace.async_known", "clrevents.schema.describe", "clrevents.table.query", "tempfile"}
"""Modules for what this trace does not have, or nobody asked for."""

SMALL: Final = str(ROOT / "fixtures" / "net8-sample.nettrace.gz")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("check",), READING | ANSWERS | {"analysis.about"}),
        pytest.param(
            ("events", "--limit", "5"), READING | {"analysis.framework", "symbols.frame"}, marks=pytest.mark.full
        ),
        pytest.param(
            ("info",), READING | ANSWERS | {"analysis.about", "analysis.shared.events"}, marks=pytest.mark.full
        ),
        pytest.param(
            ("jit",),
            READING | ANSWERS | NAMES_OF_METHODS | {"analysis.reports.jit", "analysis.shared.events"},
            marks=pytest.mark.full,
        ),
        pytest.param(("top",), READING | ANSWERS | NAMES | SHARED | {"analysis.reports.top"}, marks=pytest.mark.full),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_a_command_loads_what_it_runs(words: tuple[str, ...], expected: set[str]) -> None:
    """No other report, no names of code where none are shown, nothing that draws or writes."""
    modules = commanded(*words, SMALL)
    assert rooms(modules) == expected
    unwanted = {"construct", "rich", "hypothesis", "multiprocessing", "socket", "difflib", "xml", "csv", *OPTIONAL}
    assert not unwanted & {m.partition(".")[0] for m in modules}
    # Masked arrays, which np.unique of one array imports unless something else is asked of it, too.
    assert not {*SELDOM, "numpy.ma"} & modules
    if words[0] != "events":
        assert not OBJECTS & modules
    if words[0] in ("check", "info"):
        assert "clrevents.analysis.framework.render.charts" not in modules


@pytest.mark.full
def test_names_of_code_are_read_where_some_are_shown() -> None:
    """The sample has methods, and no collections that any could be the callers of."""
    assert "clrevents.schema.events.method" not in commanded("gc", SMALL)


@pytest.mark.full
def test_doctor_loads_no_report_that_cannot_tell() -> None:
    """A trace of collections has no requests, locks or exceptions, and none but the kernel tells who was ready."""
    modules = commanded("doctor", str(ROOT / "fixtures" / "net10-garbage.nettrace.gz"))
    reports = {m.split(".")[3] for m in modules if m.startswith("clrevents.analysis.reports.")}
    assert reports == {"top", "gc", "alloc", "startup", "jit", "threads", "waits"}


def test_every_public_name_is_there() -> None:
    """The list for type checkers and the lazy table agree, and each name leads somewhere."""
    import clrevents
    import clrevents.events
    from clrevents.events import EXPORTS

    for name in clrevents.__all__:
        assert getattr(clrevents, name) is not None
    modules = set(dir(clrevents)) - set(clrevents.__all__)
    assert modules == {"analysis", "diagnostics", "errors", "events", "rewrite", "testing", "types"}
    for name in modules:
        assert getattr(clrevents, name).__name__ == f"clrevents.{name}"
    assert dir(clrevents.analysis) == clrevents.analysis.__all__
    checked = {n for i in imports(tree(SOURCE / "__init__.py")) if i.checking for n in i.names}
    assert checked == {*clrevents.__all__, *modules} - {"__version__"}
    assert dir(clrevents.events) == sorted(EXPORTS)
    for name in EXPORTS:
        assert getattr(clrevents.events, name).__name__ == name
    for module in (clrevents, clrevents.events):
        with pytest.raises(AttributeError, match="Nothing"):
            _ = module.Nothing

"""The house keeps its shape: which room may import which, what a kernel and an event module may contain.

Walks syntax trees; imports nothing to find out. Rooms that do not exist yet are allowed for.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import attrs
import pytest

from project_files import ROOT, SOURCE, tool

MODULES: Final = sorted(SOURCE.rglob("*.py"))
KERNELS: Final = ("decode.kernels.scan", "decode.kernels.walk", "decode.kernels.fill")
OPTIONAL: Final = ("duckdb", "pandas", "polars", "pyarrow", "pytz", "dateutil")


@attrs.frozen
class Room:
    """What a room may import: our rooms, and other people's packages at any time or only inside functions."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    stdlib: bool = True


# Who may use whom; the public faces `types` and `__main__` are rooms of their own.
ROOMS: Final = {
    "errors": Room(()),
    "outputs": Room(()),
    "words": Room(()),
    "schema": Room(("errors",), ("attrs",)),
    "schema.events": Room(("schema",), ("enum", "typing"), stdlib=False),
    "types": Room(("schema",)),
    "decode": Room(("errors", "schema"), ("attrs", "numpy")),
    "kernels": Room((), stdlib=False),
    "reference": Room(("errors", "schema"), ("construct",)),
    "encode": Room(("errors", "schema")),
    "symbols": Room(("errors", "schema", "decode"), ("attrs", "numpy")),
    "table": Room(("errors", "schema", "decode"), ("attrs", "numpy"), OPTIONAL),
    "sources": Room(("errors",)),
    "trace": Room(("errors", "words", "schema", "sources", "decode", "symbols", "table"), ("attrs", "numpy")),
    "analysis": Room(
        ("errors", "outputs", "words", "schema", "symbols", "table", "trace"), ("attrs", "numpy"), OPTIONAL
    ),
    "rewrite": Room(("errors", "outputs", "schema", "symbols", "trace", "encode", "reference"), ("attrs",)),
    "export": Room(
        ("errors", "outputs", "words", "schema", "table", "trace", "symbols", "analysis"), ("numpy",), OPTIONAL
    ),
    "cli": Room(
        ("clrevents", "events", "errors", "outputs", "words", "schema", "trace", "analysis", "rewrite", "export"),
        ("click", "rich"),
    ),
    "__main__": Room(("cli",)),
    "testing": Room(
        ("clrevents", "events", "errors", "schema", "reference", "encode"), ("attrs",), ("hypothesis", *OPTIONAL)
    ),
}
# Any public name, but only when it is asked for: inside a function, or for type checkers.
LAZY: Final = ("clrevents", "events")
VOCABULARY: Final = ("event", "flags", "keywords", "registry", "types")
"""What event modules are written with; modules of shared enums (`method_flags`, …) belong to it."""


@attrs.frozen
class Import:
    """One import: the module, the names taken from it, and whether it waits (for a call or a type checker)."""

    module: str
    names: tuple[str, ...]
    waits: bool
    checking: bool
    line: int


def dotted(path: Path) -> str:
    """`decode.kernels.scan` for src/clrevents/decode/kernels/scan.py; `clrevents` for the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) or "clrevents"


def room_of(module: str) -> str:
    """The room of one of our modules, named without `clrevents.` in front."""
    if module in KERNELS:
        return "kernels"
    if module.startswith("schema.events."):
        return "schema.events"
    return module.partition(".")[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[Import]:
    """Every import of a module, wherever it stands."""
    yield from _imports(tree(path), path, waits=False, checking=False)


def _imports(node: ast.AST, path: Path, waits: bool, checking: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside = waits or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        guarded = checking or (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING")
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, (), waits or checking, checking, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{path}:{child.lineno}: imports are absolute"
            assert child.module is not None
            names = tuple(alias.name for alias in child.names)
            yield Import(child.module, names, waits or checking, checking, child.lineno)
        yield from _imports(child, path, inside, guarded)


def our_modules(found: Import) -> Iterator[str]:
    """Our modules that an import names, without `clrevents.` in front: `from clrevents.schema import _index` too."""
    package, _, rest = found.module.partition(".")
    if package != "clrevents":
        return
    for name in found.names or ("",):
        inner = f"{rest}.{name}".strip(".")
        path = SOURCE.joinpath(*inner.split("."))
        is_module = bool(name) and (path.with_suffix(".py").exists() or (path / "__init__.py").exists())
        yield (inner if is_module else rest) or "clrevents"


def allowed(module: str, found: Import) -> bool:
    """Whether a module may import this."""
    room = room_of(module)
    top = found.module.partition(".")[0]
    ours = list(our_modules(found))
    if room in LAZY:
        if ours:
            return found.waits or room_of(ours[0]) == "schema"
        return top in sys.stdlib_module_names
    rules = ROOMS[room]
    if ours:
        return all(_may_see(module, room, rules, other) for other in ours)
    if top in rules.theirs or (found.waits and top in rules.later):
        return True
    return rules.stdlib and (top in sys.stdlib_module_names or top == "__future__")


def _may_see(module: str, room: str, rules: Room, other: str) -> bool:
    if room == "schema.events":
        home, _, name = other.partition(".")
        return home == "schema" and (name in VOCABULARY or name.endswith("_flags"))
    if other in KERNELS:
        return module == "decode.kernels.engine"
    if room_of(other) == "schema.events":
        # Families are loaded by name on the first question about one of their events.
        return False
    if other == "decode.kernels.engine" and room not in ("decode", "symbols", "table", "trace"):
        return False
    return room_of(other) == room or room_of(other) in rules.ours


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_follow_the_table(path: Path) -> None:
    module = dotted(path)
    assert room_of(module) in ROOMS or room_of(module) in LAZY, f"{module} is in no room of the design"
    wrong = [f"{path}:{i.line}: {module} may not import {i.module}" for i in imports(path) if not allowed(module, i)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("decode.stream.stream", "import construct"),
        ("decode.stream.stream", "from clrevents.trace import Trace"),
        ("decode.stream.stream", "from clrevents.schema.events.method import MethodLoad_V0"),
        ("decode.stream.stream", "from clrevents.decode.kernels import scan"),
        ("decode.kernels.scan", "import struct"),
        ("decode.kernels.scan", "from clrevents.errors import Problem"),
        ("schema.types", "from clrevents.decode.container import window"),
        ("schema.types", "import numpy as np"),
        ("schema.events.method", "from clrevents.schema.layout import Layout"),
        ("schema.events.method", "import struct"),
        ("schema.events.method", "from clrevents.schema.events.jit import TailCallType"),
        ("reference.codec", "from clrevents.decode.payload.records import record_decoder"),
        ("encode.blocks", "from clrevents.decode.container.blocks import TraceInfo"),
        ("encode.blocks", "import attrs"),
        ("errors", "import attrs"),
        ("outputs", "from clrevents.errors import Problem"),
        ("trace", "import rich"),
        ("export.jsonl", "from clrevents.trace.event import Event"),
        ("export.parquet", "import pyarrow"),
        ("cli.info", "from clrevents.trace.event import Event"),
        ("testing.strategies", "import hypothesis"),
        ("testing.builder", "from clrevents.decode.container import window"),
        ("clrevents", "from clrevents.trace import Trace"),
        ("events", "from clrevents.schema.events.method import MethodLoad_V0"),
    ],
)
def test_the_table_refuses(module: str, line: str) -> None:
    """The walk above sees what it must not let through."""
    (found,) = _imports(ast.parse(line), Path("x.py"), waits=False, checking=False)
    assert not allowed(module, found)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("export.parquet", "def f():\n import pyarrow"),
        ("testing.strategies", "if TYPE_CHECKING:\n from hypothesis import strategies"),
        ("clrevents", "if TYPE_CHECKING:\n from clrevents.trace import Trace"),
        ("decode.kernels.engine", "from clrevents.decode.kernels import scan as _scan"),
        ("schema.events.gc", "from clrevents.schema.gc_flags import GCReason"),
    ],
)
def test_the_table_lets_through(module: str, line: str) -> None:
    (found,) = _imports(ast.parse(line), Path("x.py"), waits=False, checking=False)
    assert allowed(module, found)


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_every_module_says_what_it_is(path: Path) -> None:
    text = ast.get_docstring(tree(path))
    assert text, f"{path} has no docstring"
    assert len(text.splitlines()) <= 9


@pytest.mark.parametrize("module", KERNELS[:2])
def test_kernels_are_dull(module: str) -> None:
    """Integers in, integers out: nothing that raises, imports, calls or makes an object."""
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    if not path.exists():
        pytest.skip(f"there is no {module} yet")
    top = tree(path).body
    assert all(isinstance(n, ast.Expr | ast.Assign | ast.AnnAssign | ast.FunctionDef) for n in top)
    forbidden = (
        ast.Raise,
        ast.Assert,
        ast.Import,
        ast.ImportFrom,
        ast.ClassDef,
        ast.Try,
        ast.With,
        ast.Lambda,
        ast.Yield,
        ast.YieldFrom,
        ast.Global,
        ast.Nonlocal,
        ast.List,
        ast.Dict,
        ast.Set,
        ast.ListComp,
        ast.DictComp,
        ast.SetComp,
        ast.GeneratorExp,
        ast.JoinedStr,
        ast.Starred,
    )
    for function in (n for n in top if isinstance(n, ast.FunctionDef)):
        for node in (n for statement in function.body for n in ast.walk(statement)):
            assert not isinstance(node, forbidden), f"{module}:{node.lineno}: {ast.unparse(node)[:60]}"
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called in {"len", "range"}, f"{module}:{node.lineno}: calls {called}"
            if isinstance(node, ast.Constant) and not isinstance(node.value, int):
                assert isinstance(node.value, str), f"{module}:{node.lineno}: {node.value!r} is no integer"
            if isinstance(node, ast.Constant) and isinstance(node.value, int):
                # Cython makes these Python objects, which a loop must not touch.
                assert node.value < 1 << 31, f"{module}:{node.lineno}: {node.value:#x} belongs into a typed variable"


FAMILIES: Final = [p for p in MODULES if dotted(p).startswith("schema.events.")]


@pytest.mark.parametrize("path", FAMILIES, ids=dotted)
def test_event_modules_only_declare(path: Path) -> None:
    """A docstring, imports, plain constants, enum classes, `@struct` and `@event` classes; at most 300 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    body = tree(path).body
    assert isinstance(body[0], ast.Expr)
    for node in body[1:]:
        where = f"{path.name}:{node.lineno}"
        match node:
            case ast.ImportFrom():
                pass
            case ast.Assign(value=ast.Constant()):
                # A provider's name that several classes of one family need.
                assert all(isinstance(t, ast.Name) and t.id.isupper() for t in node.targets), where
            case ast.ClassDef():
                _check_declaration(node, where)
            case _:
                pytest.fail(f"{where}: {ast.unparse(node)[:60]!r} is no declaration")


def _check_declaration(node: ast.ClassDef, where: str) -> None:
    assert ast.get_docstring(node), f"{where}: {node.name} has no docstring"
    decorators = [ast.unparse(d).partition("(")[0] for d in node.decorator_list]
    bases = [ast.unparse(b) for b in node.bases]
    enum = bases in (["OpenEnum"], ["OpenFlag"])
    assert decorators in ([], ["event"], ["struct"]), f"{where}: {node.name} is decorated with {decorators}"
    assert enum == (not decorators), f"{where}: {node.name} is neither an enum nor an event"
    for item in node.body[1:]:
        if enum:
            value = item.value if isinstance(item, ast.Assign) else None
            bit_field = value is not None and ast.unparse(value).startswith("nonmember(BitField(")
            number = value is not None and all(
                isinstance(n, ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop)
                for n in ast.walk(value)
            )
            assert bit_field or number, f"{where}: {ast.unparse(item)} in an enum"
        else:
            assert isinstance(item, ast.AnnAssign), f"{where}: {ast.unparse(item)} in an event"
            assert item.value is None, f"{where}: {ast.unparse(item)} has a value"


def test_payload_fields_are_named_once() -> None:
    """A field name is a literal in one place only: no module but the families writes one (analysis may)."""
    names = {
        item.target.id
        for path in FAMILIES
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and node.decorator_list
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    # Words of every layer, which some event happens to have as a field too.
    names -= {"Flags", "Name", "Type", "Count", "Data", "Value", "Key", "Message", "ThreadName"}
    # Names of our own wire types and classes.
    names -= {"Bytes", "Field", "Time"}
    home_rooms = {"schema.events", "analysis", "symbols", "testing"}
    for path in MODULES:
        if room_of(dotted(path)) in home_rooms or path.name == "_index.py":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, f"{path}:{node.lineno}: {node.value!r} is a field of an event"


def test_generated_files_are_current() -> None:
    """`tools/make_index.py --check`, without a process of its own."""
    for path, text in tool("make_index").render().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale: run python tools/make_index.py"


def run(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported_first() -> None:
    """No circle needs a certain beginning: each module alone, in an interpreter that has none of ours."""
    names = ["clrevents" if dotted(p) == "clrevents" else f"clrevents.{dotted(p)}" for p in MODULES]
    names.remove("clrevents.__main__")
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
    assert {m for m in modules if m.startswith("clrevents.")} == set()


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


def test_reading_needs_no_construct() -> None:
    path = ROOT / "fixtures" / "net8-sample.nettrace.gz"
    modules = loaded(f"import clrevents; assert len(list(clrevents.open({str(path)!r}).events())) > 1000")
    assert "construct" not in modules
    assert "rich" not in modules


def test_every_public_name_is_there() -> None:
    """The list for type checkers and the lazy table agree, and each name leads somewhere."""
    import clrevents
    import clrevents.events
    from clrevents.schema._index import EXPORTS

    for name in clrevents.__all__:
        assert getattr(clrevents, name) is not None
        assert name in dir(clrevents)
    checked = {n for i in imports(SOURCE / "__init__.py") if i.checking for n in i.names}
    assert checked == set(clrevents.__all__) - {"__version__"}
    assert dir(clrevents.events) == sorted(EXPORTS)
    for name in EXPORTS:
        assert getattr(clrevents.events, name).__name__ == name
    for module in (clrevents, clrevents.events):
        with pytest.raises(AttributeError, match="Nothing"):
            _ = module.Nothing

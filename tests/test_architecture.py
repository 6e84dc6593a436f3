"""The house keeps its shape: who may import whom, no circles, names that mean one thing.

Walks syntax trees (`house`); imports nothing to find out. What a kernel and an event module may contain is for
test_declarations.py, what an import loads for test_lean_imports.py.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import attrs
import pytest

from house import House, Import, circles, dotted, house, house_of, imports, our_modules, tree, uses
from project_files import SOURCE

MODULES: Final = sorted(SOURCE.rglob("*.py"))
KERNELS: Final = {
    "decode.kernels.scan": "decode.kernels.engine",
    "decode.kernels.walk": "decode.kernels.engine",
    "decode.kernels.slots": "decode.kernels.engine",
    "analysis.reports.heap.dominate": "analysis.reports.heap.heap_graph",
}
"""Each with its only importer."""
OPTIONAL: Final = ("altair", "duckdb", "pandas", "polars", "pyarrow", "pytz", "dateutil")


@attrs.frozen
class Room:
    """What a room may import: our rooms, and other people's packages at any time or only inside functions."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    stdlib: bool = True


# Who may use whom. A room is a folder, or a module beside the folders (`errors`; the public faces `types`, `events` and
# `__main__`). Every room may use `_util`, which knows nothing of traces, but for those that import nothing of ours.
ROOMS: Final = {
    "_util": Room((), ("attrs",), ("click", "IPython")),
    "errors": Room(("_util",)),
    "schema": Room(("_util", "errors"), ("attrs",)),
    "schema.events": Room(("schema",), ("enum", "typing"), stdlib=False),
    "types": Room(("schema",)),
    "decode": Room(("_util", "errors", "schema"), ("attrs", "numpy")),
    "kernels": Room((), stdlib=False),
    "reference": Room(("errors", "schema"), ("construct",)),
    "encode": Room(("errors", "schema")),
    "symbols": Room(("_util", "errors", "schema", "decode"), ("attrs", "numpy"), ("elftools",)),
    "table": Room(("_util", "errors", "schema", "decode"), ("attrs", "numpy"), OPTIONAL),
    "sources": Room(("errors", "schema"), (), ("fsspec",)),
    "trace": Room(("_util", "errors", "schema", "sources", "decode", "symbols", "table"), ("attrs", "numpy")),
    "analysis": Room(("_util", "errors", "schema", "symbols", "table", "trace"), ("attrs", "numpy"), OPTIONAL),
    "diagnostics": Room(("_util", "errors", "schema", "trace", "encode"), ("attrs",)),
    "rewrite": Room(("_util", "errors", "schema", "symbols", "trace", "encode", "reference"), ("attrs",)),
    "export": Room(
        ("_util", "errors", "schema", "table", "trace", "symbols", "analysis"), ("attrs", "numpy"), OPTIONAL
    ),
    "fleet": Room(
        (
            *("_util", "errors", "schema", "sources", "decode", "symbols", "table", "trace", "analysis"),
            *("rewrite", "export"),
        ),
        ("attrs", "numpy"),
        OPTIONAL,
    ),
    "mcp": Room(
        ("clrevents", "_util", "errors", "schema", "table", "trace", "analysis", "export", "fleet"),
        ("attrs", "numpy"),
        ("anyio", "mcp", "pydantic"),
    ),
    "cli": Room(
        (
            *("clrevents", "events", "_util", "errors"),
            *("schema", "trace", "analysis", "diagnostics", "rewrite", "export", "fleet", "mcp"),
        ),
        ("click",),
    ),
    "__main__": Room(("_util", "cli")),
    "testing": Room(
        ("clrevents", "events", "_util", "errors", "schema", "reference", "encode"),
        ("attrs",),
        ("hypothesis", *OPTIONAL),
    ),
}
# Any public name, but only when it is asked for: inside a function, or for type checkers.
LAZY: Final = ("clrevents", "events")
VOCABULARY: Final = ("event", "flags", "keywords", "registry", "types")
"""What event modules are written with; modules of shared enums (`method_flags`, …) belong to it."""


def room_of(module: str) -> str:
    """The room of one of our modules, named without `clrevents.` in front."""
    if module in KERNELS:
        return "kernels"
    if module.startswith("schema.events."):
        return "schema.events"
    return module.partition(".")[0]


def allowed(module: str, found: Import) -> bool:
    """Whether a module may import this."""
    room = room_of(module)
    top = found.module.partition(".")[0]
    ours = list(our_modules(found))
    if room in LAZY:
        if ours:
            return found.waits or room_of(ours[0]) in ("schema", "_util")
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
        return module == KERNELS[other]
    if room_of(other) == "schema.events":
        # Families are loaded by name on the first question about one of their events.
        return False
    if other == "decode.kernels.engine" and room not in ("decode", "symbols", "table", "trace"):
        return False
    if room_of(other) == "trace" != room and other != "trace":
        # Other rooms go through its face, which says what they may know of it.
        return False
    return room_of(other) == room or room_of(other) in rules.ours


def test_imports_follow_the_table() -> None:
    wrong = []
    for path in MODULES:
        module = dotted(path)
        assert room_of(module) in ROOMS or room_of(module) in LAZY, f"{module} is in no room of the design"
        found = imports(tree(path))
        wrong += [f"{path}:{i.line}: {module} may not import {i.module}" for i in found if not allowed(module, i)]
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
        ("reference", "from clrevents.decode.payload.record_decoder import record_decoder"),
        ("encode.blocks", "from clrevents.decode.container.blocks import TraceInfo"),
        ("encode.blocks", "import attrs"),
        ("errors", "import attrs"),
        ("_util.outputs", "from clrevents.errors import Problem"),
        ("trace", "import click"),
        ("export.files.jsonl", "from clrevents.trace.event import Event"),
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
    (found,) = imports(ast.parse(line))
    assert not allowed(module, found)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("export.parquet", "def f():\n import pyarrow"),
        ("testing.strategies", "if TYPE_CHECKING:\n from hypothesis import strategies"),
        ("clrevents", "if TYPE_CHECKING:\n from clrevents.trace import Trace"),
        ("decode.kernels.engine", "from clrevents.decode.kernels import scan as _scan"),
        ("schema.events.gc", "from clrevents.schema.runtime_flags import GCReason"),
    ],
)
def test_the_table_lets_through(module: str, line: str) -> None:
    (found,) = imports(ast.parse(line))
    assert allowed(module, found)


def test_every_module_says_what_it_is() -> None:
    for path in MODULES:
        text = ast.get_docstring(tree(path))
        assert text, f"{path} has no docstring"
        assert len(text.splitlines()) <= 9, path


def against_by_name(modules: House) -> Iterator[str]:
    """Names of modules above, as texts, that the table above would not see."""
    for module, body in modules.items():
        mine = room_of(module)
        for node in ast.walk(body):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            home, _, rest = text.partition(".")
            known = home == "clrevents" and rest.partition(".")[0] in ROOMS and rest.replace(".", "").isidentifier()
            if not known or mine in LAZY or rest.partition(".")[0] in (mine, *ROOMS[mine].ours):
                continue
            yield f"{module} may not find {text}"


def test_no_room_finds_one_above_by_its_name() -> None:
    assert not list(against_by_name(house()))
    elsewhere = house_of(analysis__sampled__samples='import_module("clrevents.export.page.shown")')
    assert list(against_by_name(elsewhere)) == ["analysis.sampled.samples may not find clrevents.export.page.shown"]


def test_what_rooms_offer_is_there_and_asked_for() -> None:
    """The package offers, and rooms below ask, by names that no import would check."""
    calls = [node for body in house().values() for node in ast.walk(body) if isinstance(node, ast.Call)]
    (said,) = (call.args[0] for call in calls if ast.unparse(call.func) == "offer")
    homes = {name: module for module, names in ast.literal_eval(said).items() for name in names}
    asked = [ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "offered"]
    assert set(asked) == set(homes)
    for name, module in homes.items():
        body = house()[module.removeprefix("clrevents.")].body
        assert name in {node.name for node in body if isinstance(node, ast.FunctionDef)}, name


# Inside a room. ----------------------------------------------------------------------------------------------------

# From the bottom up: each imports from layers below it only, its own part not counted. A folder is one part, unless one
# of its own parts is named here.
LAYERS: Final = {
    "decode": (
        ("clock",),
        ("kernels",),
        ("container",),
        ("kinds", "stacks"),
        ("payload", "rows"),
        ("selection",),
        ("stream",),
        ("decoded",),
        ("header_columns",),
        ("push_passes",),
    ),
    "analysis": (
        ("gathering",),
        ("framework.vocabulary",),
        ("framework.recording",),
        ("framework.render",),
        ("framework.model",),
        ("framework.run",),
        ("shared.events", "shared.processor"),
        ("shared.weights",),
        ("shared.samples", "shared.forest"),
        ("shared.blocking",),
        ("reports",),
        ("compare", "doctor", "about"),
    ),
    "export": (
        ("look", "protobuf_wire", "file_formats"),
        ("files",),
        ("flame", "timeline"),
        ("page",),
    ),
}
SEPARATE: Final = "analysis.reports"
"""The modules and packages in here know nothing of each other."""


def part_of(module: str) -> tuple[str, str]:
    """Its room and its part: `decode` and `stream` for decode.stream.losses; no part for what has no layers."""
    room, _, rest = module.partition(".")
    parts = [part for layer in LAYERS.get(room, ()) for part in layer]
    known = next((part for part in parts if rest == part or rest.startswith(f"{part}.")), None)
    return room, known or rest.partition(".")[0] if room in LAYERS else ""


def against_the_layers(modules: House) -> Iterator[str]:
    """Imports inside a room that do not go down, and parts that have no layer."""
    layer = {(room, part): n for room, layers in LAYERS.items() for n, parts in enumerate(layers) for part in parts}
    packages = {module.rpartition(".")[0] for module in modules}
    for module, others in uses(modules).items():
        room, part = part_of(module)
        if not part:
            continue
        if (room, part) not in layer:
            if module not in packages:
                yield f"{module} has no layer: put {part!r} into LAYERS"
            continue
        for other in sorted(others):
            there, below = part_of(other)
            if there == room and below not in ("", part) and layer.get((room, below), 0) >= layer[room, part]:
                yield f"{module} may not import {other}: it is not below {part}"


def between_reports(modules: House) -> Iterator[str]:
    """Imports of one report from another."""
    for module, others in uses(modules).items():
        if module.startswith(f"{SEPARATE}."):
            mine = ".".join(module.split(".")[:3])
            for other in sorted(others):
                if other.startswith(f"{SEPARATE}.") and other != mine and not other.startswith(f"{mine}."):
                    yield f"{module} may not import {other}: what two reports know belongs to analysis.shared"


def test_rooms_are_layered() -> None:
    assert not [*against_the_layers(house()), *between_reports(house())]
    there = {part_of(module) for module in house()}
    assert {(room, part) for room, layers in LAYERS.items() for parts in layers for part in parts} <= there


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("decode__rows", "from clrevents.decode.stream import stream"),
        ("decode__rows", "from clrevents.decode.stream.stream import Stream"),
        ("decode__rows", "if TYPE_CHECKING:\n from clrevents.decode.stream.stream import Stream"),
        ("decode__rows", "def f():\n from clrevents.decode.stream.stream import Stream"),
        ("decode__rows", "from clrevents.decode.payload.column_maker import Plan"),
        ("decode__kernels__engine", "from clrevents.decode.container.window import Window"),
        ("decode__container__window", "from clrevents.decode.kinds import EventKind"),
        ("decode__payload__column_maker", "from clrevents.decode.selection import Selection"),
        ("decode__selection", "from clrevents.decode.stream.stream import Stream"),
        ("decode__stream__salvage", "from clrevents.decode.decoded import DecodedRows"),
        ("decode__another", ""),
        ("analysis__another", ""),
        ("analysis__framework__vocabulary__cells", "from clrevents.analysis.framework.model.answer import Answer"),
        ("analysis__shared__blocking__waits", "from clrevents.analysis.reports.gc import REPORT"),
    ],
)
def test_the_layers_refuse(module: str, line: str) -> None:
    others = dict.fromkeys(("decode__stream__stream", "decode__payload__column_maker", "decode__selection"), "")
    others |= dict.fromkeys(
        ("decode__container__window", "decode__kinds", "decode__push_passes", "decode__decoded"), ""
    )
    others |= dict.fromkeys(("analysis__framework__model__answer", "analysis__reports__gc"), "")
    assert not list(against_the_layers(house_of(**others)))
    assert len(list(against_the_layers(house_of(**{**others, module: line})))) == 1


def test_reports_are_kept_apart() -> None:
    two = {"analysis__reports__gc": "", "analysis__reports__jit__jit_tables": ""}
    assert not list(between_reports(house_of(**two)))
    two["analysis__reports__gc"] = "from clrevents.analysis.reports.jit.jit_tables import x"
    assert len(list(between_reports(house_of(**two)))) == 1


# Circles. ----------------------------------------------------------------------------------------------------------


def test_no_modules_import_each_other() -> None:
    """In a circle, however long: also for type checkers and inside functions."""
    assert circles(uses(house())) == []


@pytest.mark.parametrize(
    "back",
    [
        "from clrevents.table.table import Table",
        "from clrevents.table import table",
        "import clrevents.table.table",
        "if TYPE_CHECKING:\n from clrevents.table.table import Table",
        "def f():\n from clrevents.table.table import Table",
    ],
)
def test_circles_are_found(back: str) -> None:
    straight = {"table__table": "from clrevents.table.read import f", "table__read": "import clrevents.table.build"}
    assert circles(uses(house_of(**straight, table__build=""))) == []
    found = circles(uses(house_of(**straight, table__build=back, table__display=back)))
    assert found == [["table.build", "table.read", "table.table"]]


# Names. ------------------------------------------------------------------------------------------------------------

SAME_MODULE: Final = {
    "display": "how traces and events, and how tables show themselves",
    "event": "`event` declares a class, and `Event` is what a trace has of it: both names are public",
    "events": "the public face of the package of that name",
    "modules": "the modules of a process, and the report on them",
    "report": "each report declares itself in a module of this name, in a folder of its own; and what a check found",
    "scan": "all headers of a trace are scanned, and the kernel that does so",
    "stacks": "stacks as blocks have them, as users get them, and as frames",
    "types": "the public face of the module of that name",
}
SAME_CLASS: Final = {
    "Stacks": "a block of stacks, and the stacks of a trace",
    "ThreadRow": "a thread as it is read and as it is written: `encode` takes nothing from `decode`",
}


def same_module(modules: House) -> Iterator[str]:
    """Modules of one name, but for those that are named after something else.

    A sub-command's module has the command's name, an event family's the family's; a package's main module has the
    package's, and a module that writes what one of decode's reads may have its name.
    """
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module, body in modules.items():
        package, _, name = module.rpartition(".")
        command = package == "cli" and any(isinstance(n, ast.FunctionDef) and n.name == "command" for n in body.body)
        twin = package == "encode" and f"decode.container.{name}" in modules
        if not (command or twin or package == "schema.events" or package.rpartition(".")[2] == name):
            places[name].append(module)
    for name, found in sorted(places.items()):
        if len(found) > 1 and name not in SAME_MODULE:
            yield f"{name} is the name of {', '.join(found)}"


def same_class(modules: House) -> Iterator[str]:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module, body in modules.items():
        for node in ast.walk(body):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module)
    for name, found in sorted(places.items()):
        if len(found) > 1 and name not in SAME_CLASS:
            yield f"{name} is a class of {', '.join(found)}"


def test_a_name_means_one_thing() -> None:
    assert not [*same_module(house()), *same_class(house())]


def test_names_are_refused() -> None:
    sound = {
        "table__build": "class Build: ...",
        "table": "",
        "table__table": "class Table: ...",
        "cli__build": "def command(): ...",
    }
    sound |= {"schema__events__build": "", "decode__container__netperf": "", "encode__netperf": ""}
    assert not [*same_module(house_of(**sound)), *same_class(house_of(**sound))]
    for module, text in (("export__build", ""), ("cli__table", ""), ("encode__build", ""), ("trace__netperf", "")):
        assert len(list(same_module(house_of(**sound, **{module: text})))) == 1, module
    for text in ("class Table: ...", "def f():\n class Table: ...", "if TYPE_CHECKING:\n class Table: ..."):
        assert len(list(same_class(house_of(**sound, export__more=text)))) == 1, text


# What users see of a trace. ----------------------------------------------------------------------------------------

TRACE: Final = {
    *("close", "info", "duration_ns", "threads", "losses", "lost", "problems", "methods", "stacks", "event_counts"),
    *(
        "events",
        "table",
        "table_parts",
        "batches",
        "tables",
        "headers",
        "query",
        "report",
        "reports",
        "doctor",
        "check",
        "summary",
        "redacted",
        "processes",
    ),
}

EVENT: Final = {
    *("key", "provider", "id", "version", "name", "opcode", "level", "keywords", "time_ns", "time", "thread_id"),
    *(
        "process_id",
        "processor",
        "activity_id",
        "activity_path",
        "related_activity_id",
        "trace_id",
        "span_id",
        "labels",
    ),
    *("stack_id", "stack", "frames", "payload", "payload_bytes", "payload_tail", "detach"),
}


def public_attributes(module: ast.Module, name: str) -> set[str]:
    """Methods, properties and values of a class, and what its methods set on `self`, without an underscore in front."""
    (cls,) = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {node.name for node in cls.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in ast.walk(cls):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
    for node in cls.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {ast.unparse(target) for target in targets}
    return {attribute for attribute in found if not attribute.startswith("_")}


def test_a_trace_has_only_what_is_declared() -> None:
    """Our own rooms read a trace through `passes_of`; a public attribute is a promise to users."""
    asking = public_attributes(house()["trace.reported"], "Reported")
    assert public_attributes(house()["trace.trace"], "Trace") | asking == TRACE
    assert public_attributes(house()["trace.event"], "Event") == EVENT


@pytest.mark.parametrize(
    "line",
    [
        "def scan(self): ...",
        "def _f(self):\n  self.scan = 1",
        "scan = 1",
        "scan: int",
        "def _f(self):\n  self.scan: int = 1",
    ],
)
def test_another_attribute_is_found(line: str) -> None:
    text = f"class Trace:\n def close(self): ...\n def _f(self): self._x = 1\n {line}"
    assert public_attributes(ast.parse(text), "Trace") == {"close", "scan"}

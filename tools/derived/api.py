"""The site's page of public names, from their docstrings and signatures, to which it adds nothing.

tests/test_api_docs.py compares its list with `__all__`, and holds that each docstring says what it should.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import attrs

HEAD: Final = """\
# Public names

Everything that users may call or annotate with. Names that are not on this page, and those that begin with an
underscore, may change in any release.

Unless a name says otherwise, times that end in `_ns` are integers: nanoseconds since the session started. Sizes and
offsets are in bytes. Addresses and ids are unsigned integers. All values that these functions return own their data:
they stay usable after the trace is closed.
"""


@dataclass(frozen=True)
class Section:
    """One heading of the page: names of one module. `reached` are classes that users meet but do not import."""

    title: str
    module: str
    names: tuple[str, ...]
    reached: tuple[str, ...] = ()
    text: str = ""


SECTIONS: Final = (
    Section(
        "Reading a trace",
        "clrevents",
        (
            "open",
            "Trace",
            "Event",
            "RawPayload",
            "Batch",
            "Decoder",
            "EventKey",
            "__version__",
            "engine",
            "sample_trace",
            "tune_process",
            "asdict",
        ),
    ),
    Section("Selecting events", "clrevents", ("Selector", "FilterOptions", "Moment", "ThreadIds")),
    Section("About the whole trace", "clrevents", ("TraceInfo", "ThreadInfo", "Loss", "CheckResult", "PayloadCounts")),
    Section(
        "Tables and stacks",
        "clrevents",
        ("Table", "Stacks"),
        (
            "table.event_schema.TableField",
            "decode.payload.column.ColumnType",
            "decode.payload.column.Column",
            "decode.stacks.StackArrays",
        ),
    ),
    Section("Everything on one page", "clrevents", ("write_report",)),
    Section(
        "Names for addresses",
        "clrevents",
        ("Methods", "Frame"),
        ("symbols.methods.Method", "symbols.modules.Modules", "symbols.modules.Module", "symbols.modules.Pdb"),
    ),
    Section(
        "Errors and limits",
        "clrevents",
        (
            "TraceError",
            "SourceError",
            "UnreadableError",
            "DamageError",
            "PayloadError",
            "LimitError",
            "UnknownEventError",
            "AmbiguousEventError",
            "TraceWarning",
            "Problem",
            "Limits",
        ),
    ),
    Section(
        "Declaring events",
        "clrevents.types",
        ("event", "struct", "register", "Registry"),
        ("schema.registry.EventInfo", "schema.registry.Entry"),
    ),
    Section(
        "Running processes",
        "clrevents.diagnostics",
        (
            *("processes", "find_process", "Process", "RuntimeInfo", "Session", "AsyncSession", "AsyncProcess"),
            *("Listener", "Provider", "Profile", "PROFILES", "find_profile", "DiagnosticsError"),
        ),
        ("diagnostics.session.SessionOptions",),
        "[What is a running process doing?](live.md) shows them at work.",
    ),
    Section("Many traces", "clrevents", ("open_many", "Traces"), ("fleet.fleet_answer.FleetAnswer",)),
    Section(
        "Before and after",
        "clrevents",
        ("compare", "measure", "save_measured", "write_comparison"),
        (
            "analysis.compare.comparison.Comparison",
            "analysis.compare.change.Change",
            "analysis.compare.change.Recording",
            "analysis.compare.change.Proposal",
            "analysis.compare.measured.Measured",
            "analysis.compare.measured.Amount",
        ),
        "[What changed?](compare.md) says what verdicts mean.",
    ),
    Section(
        "Durations and weighted stacks",
        "clrevents.analysis",
        ("spans", "read_samples", "Samples", "hottest", "add_leaf", "add_artefact"),
        (
            "analysis.shared.samples.samples.SampledThread",
            "analysis.gathering.merged_stacks.StackFrame",
            "analysis.shared.samples.calltree.HotMethod",
        ),
    ),
    Section(
        "Heap snapshots",
        "clrevents.analysis",
        ("heap_snapshots", "HeapSnapshot", "heap_growth"),
        (
            "analysis.reports.heap.heap_snapshot.HeapType",
            "analysis.reports.heap.heap_snapshot.HeapRoots",
            "analysis.reports.heap.heap_snapshot.StaticField",
            "analysis.reports.heap.heap_snapshot.SnapshotCoverage",
        ),
    ),
    Section(
        "Reports",
        "clrevents.analysis",
        (
            "feed_reports",
            "Answer",
            "ReportTable",
            "Metric",
            "Note",
            "Question",
            "WindowOptions",
            "ReportFeed",
        ),
        (
            "analysis.framework.vocabulary.answer_values.TimeWindow",
            "analysis.framework.vocabulary.answer_values.TraceIdentity",
            "analysis.framework.vocabulary.report_table.TableDeclaration",
        ),
        "The class of a report's answer is in its module, such as `clrevents.analysis.reports.gc.GcReport`; "
        "[reports](reports.md) lists the tables, columns, metrics and facts of each.",
    ),
    Section(
        "Writing traces",
        "clrevents.rewrite",
        (
            "cut",
            "CONTEXT",
            "Copied",
            "redact",
            "Redacted",
            "RedactionCounts",
            "FoundWord",
            "redaction_rules",
            "FieldRule",
            "join",
            "JoinResult",
        ),
        ("trace.alignment.SameRun",),
    ),
    Section("Traces for tests", "clrevents.testing.builder", ("TraceBuilder",)),
    Section(
        "Traces for property tests",
        "clrevents.testing.strategies",
        ("traces", "records", "MadeTrace", "MadeEvent"),
        (),
        "Needs hypothesis.",
    ),
)

CONSTRUCTED: Final = frozenset(
    {
        "Decoder",
        "EventKey",
        "Limits",
        "Registry",
        "TraceBuilder",
        "EventInfo",
        "SessionOptions",
        "Listener",
        "Provider",
    }
)
"""Classes that users make themselves, so that their parameters are listed."""
SPECIAL: Final = ("__len__", "__iter__", "__getitem__", "__contains__", "__arrow_c_stream__")
"""Special methods that are listed where they have a docstring of their own."""
HIDDEN: Final = {
    "Listener": frozenset({"wait", "welcome", "connection_of", "take_waiting", "take_new", "endpoint", "socket"}),
    "Process": frozenset({"of"}),
    "SessionOptions": frozenset({"settings"}),
    "Methods": frozenset({"rows_since"}),
    "Modules": frozenset({"gone"}),
    "Registry": frozenset({"declared", "ids", "entry"}),
}
"""Names without an underscore that are for other parts of this package."""


@dataclass(frozen=True)
class Item:
    """One thing on the page with its docstring. `owner` is the class it is a member of."""

    name: str
    text: str
    kind: str
    signature: str = ""
    parameters: tuple[str, ...] = ()
    type: str = ""
    owner: str = ""
    home: str = ""
    members: tuple[Item, ...] = field(default=())

    @property
    def full_name(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@cache
def items(section: Section) -> tuple[Item, ...]:
    """Everything below one heading."""
    module = importlib.import_module(section.module)
    found = [describe(name, getattr(module, name), module) for name in section.names]
    for path in section.reached:
        home, _, name = path.rpartition(".")
        owner = importlib.import_module(f"clrevents.{home}")
        found.append(describe(name, getattr(owner, name), owner))
    return tuple(found)


def describe(name: str, value: Any, module: ModuleType) -> Item:
    """A function, a class with its members, an alias or a constant."""
    if isinstance(value, FunctionType):
        return _function(name, value, "function", "", value.__module__)
    if isinstance(value, type) and not typing.is_typeddict(value):
        return _class(name, value)
    if typing.is_typeddict(value):
        return _options(name, value)
    home, node, text = _assignment(name, module)
    assert isinstance(node, ast.Assign | ast.AnnAssign)
    kind = "alias" if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias" else "constant"
    signature = f"{name} = {ast.unparse(node.value)}" if kind == "alias" and node.value is not None else name
    return Item(name, text, kind, signature, home=home)


def _function(name: str, value: Any, kind: str, owner: str, home: str) -> Item:
    signature = inspect.signature(value)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    first = next(iter(signature.parameters), "")
    shown = _signature(name, parameters, signature.return_annotation, first in ("self", "cls"))
    return Item(name, _doc(value), kind, shown, tuple(p.name for p in parameters), owner=owner, home=home)


def _class(name: str, cls: type[Any]) -> Item:
    hidden = HIDDEN.get(name, frozenset())
    docs, types = _fields(cls)
    members = []
    for attribute, type_text in types.items():
        if not attribute.startswith("_") and attribute not in hidden:
            members.append(Item(attribute, docs.get(attribute, ""), "field", type=type_text, owner=name))
    # As written, not by name.
    for attribute, value in vars(cls).items():
        if attribute in types or attribute in hidden or (attribute.startswith("_") and attribute not in SPECIAL):
            continue
        if isinstance(value, property | cached_property):
            getter: Any = value.fget if isinstance(value, property) else value.func
            returned = _text(inspect.signature(getter).return_annotation)
            members.append(Item(attribute, _doc(getter), "property", type=returned, owner=name))
        elif isinstance(value, classmethod | staticmethod):
            members.append(_function(attribute, value.__func__, "method", name, cls.__module__))
        elif isinstance(value, FunctionType):
            if attribute in SPECIAL and not value.__doc__:
                continue
            members.append(_function(attribute, value, "method", name, cls.__module__))
    bases = [b.__name__ for b in cls.__bases__ if b.__module__.startswith("clrevents.errors") or issubclass(b, Warning)]
    parameters: list[inspect.Parameter] = []
    if name in CONSTRUCTED:
        parameters = [p for p in inspect.signature(cls).parameters.values() if not p.name.startswith("_")]
        shown = _signature(name, parameters, inspect.Signature.empty, False)
    else:
        shown = f"{name}({', '.join(bases)})" if bases else name
    return Item(
        name,
        _doc(cls),
        "class",
        f"class {shown}",
        tuple(p.name for p in parameters),
        home=cls.__module__,
        members=tuple(members),
    )


def _options(name: str, value: Any) -> Item:
    docs, types = _fields(value)
    members = tuple(Item(key, docs.get(key, ""), "field", type=text, owner=name) for key, text in types.items())
    return Item(name, _doc(value), "class", f"class {name}(TypedDict)", home=value.__module__, members=members)


def _fields(cls: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Docstrings and types of a class's own fields, as its body has them; enums have their members' values."""
    docs: dict[str, str] = {}
    types: dict[str, str] = {}
    body = next(
        node.body
        for node in ast.walk(_tree(cls.__module__))
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    )
    slots = attrs.has(cls) or hasattr(cls, "__dataclass_fields__") or typing.is_typeddict(cls) or issubclass(cls, Enum)
    for index, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        text = _string_after(body, index)
        if slots or text:
            types[node.target.id] = ast.unparse(node.annotation)
            docs[node.target.id] = text
    return docs, types


def _assignment(name: str, module: ModuleType) -> tuple[str, ast.stmt, str]:
    """Where a name without a docstring of its own is assigned, and the string after it."""
    for home in (module.__name__, *_sources(module, name)):
        body = _tree(home).body
        for index, node in enumerate(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(node, ast.Assign | ast.AnnAssign) and any(
                isinstance(target, ast.Name) and target.id == name for target in targets
            ):
                return home, node, _string_after(body, index)
    raise LookupError(f"nothing assigns {module.__name__}.{name}")


def _sources(module: ModuleType, name: str) -> Iterator[str]:
    """The modules that a package takes a name from."""
    for node in ast.walk(_tree(module.__name__)):
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            yield node.module


@cache
def _tree(module: str) -> ast.Module:
    path = importlib.import_module(module).__file__
    assert path is not None
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _string_after(body: list[ast.stmt], index: int) -> str:
    after = body[index + 1] if index + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return inspect.cleandoc(after.value.value)
    return ""


def _doc(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _signature(name: str, parameters: list[inspect.Parameter], returned: Any, bound: bool) -> str:
    parts = []
    last: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for parameter in parameters:
        if last is parameter.POSITIONAL_ONLY is not parameter.kind:
            parts.append("/")
        starred = any(part.startswith("*") for part in parts)
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        parts.append(_parameter(parameter))
        last = parameter.kind
    if last is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    arrow = "" if returned is inspect.Signature.empty else f" -> {_text(returned)}"
    line = f"{name}({', '.join(parts)}){arrow}"
    if len(line) <= 110:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{inner}){arrow}"


def _parameter(parameter: inspect.Parameter) -> str:
    variable = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    stars = next((text for kind, text in variable.items() if kind is parameter.kind), "")
    annotated = parameter.annotation is not parameter.empty
    text = stars + parameter.name + (f": {_text(parameter.annotation)}" if annotated else "")
    if parameter.default is parameter.empty:
        return text
    default = parameter.default
    shown = "..." if default is ... or default is attrs.NOTHING or "factory" in repr(default) else repr(default)
    return f"{text} = {shown}" if annotated else f"{text}={shown}"


def _text(annotation: Any) -> str:
    """An annotation as it is written in the source."""
    if isinstance(annotation, str):
        return annotation
    named = getattr(annotation, "__forward_arg__", None) or getattr(annotation, "__name__", None)
    return str(named or annotation)


def page() -> str:
    """docs/api.md of the site."""
    lines = [HEAD]
    for section in SECTIONS:
        lines += [f"## {section.title}", "", f"`{section.module}`" + (f". {section.text}" if section.text else ""), ""]
        for item in items(section):
            lines += _shown(item, item.name in section.names)
    lines += _types()
    lines += _events()
    return "\n".join(lines).rstrip("\n") + "\n"


def _shown(item: Item, imported: bool) -> Iterator[str]:
    # Underscores around a name would make it bold.
    yield from (f"### `{item.name}`" if item.name.startswith("__") else f"### {item.name}", "")
    yield from ("```py", item.signature, "```", "", item.text, "")
    if not imported:
        yield from (f"Not imported by users: defined in `{item.home}`.", "")
    plain = [member for member in item.members if member.kind in ("field", "property")]
    for member in plain:
        text = " ".join(member.text.split())
        yield f"* `{member.name}`: `{member.type}`" + (f". {text}" if text else "")
    if plain:
        yield ""
    for member in item.members:
        if member.kind == "method":
            yield from (f"#### {member.full_name}", "", "```py", member.signature, "```", "", member.text, "")


def _types() -> Iterator[str]:
    module = importlib.import_module("clrevents.types")
    yield from ("## Types of fields", "", "`clrevents.types`", "", _doc(module), "")
    yield from (", ".join(f"`{name}`" for name in module.__all__) + ".", "")


def _events() -> Iterator[str]:
    module = importlib.import_module("clrevents.events")
    exported = dir(module)
    yield from ("## Event classes", "", "`clrevents.events`", "", _doc(module), "")
    yield f"{len(exported)} names: see [the list of events](events.md)."

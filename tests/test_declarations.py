"""What only declares, only declares: kernels compute with integers, event modules hold classes, names stand once.

Walks syntax trees (`house`), and runs the tool that writes what is generated.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import Final

import pytest

from house import dotted, tree
from project_files import SOURCE, tool

MODULES: Final = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("module", ["decode.kernels.scan", "decode.kernels.walk", "analysis.reports.heap.dominate"])
def test_kernels_are_dull(module: str) -> None:
    """Integers in, integers out: nothing that raises, imports, makes an object or calls what is not of its kind."""
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
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
    functions = [n for n in top if isinstance(n, ast.FunctionDef)]
    # Of C, and of `plain` where Python runs the kernel.
    copies = {"move", "plain_units", "text_end"}
    own = {"len", "range", *copies} | {function.name for function in functions}
    for function in functions:
        for node in (n for statement in function.body for n in ast.walk(statement)):
            assert not isinstance(node, forbidden), f"{module}:{node.lineno}: {ast.unparse(node)[:60]}"
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called in own, f"{module}:{node.lineno}: calls {called}"
            if isinstance(node, ast.Constant) and not isinstance(node.value, int):
                assert isinstance(node.value, str), f"{module}:{node.lineno}: {node.value!r} is no integer"
            if isinstance(node, ast.Constant) and isinstance(node.value, int):
                # Cython makes these Python objects, which a loop must not touch.
                assert node.value < 1 << 31, f"{module}:{node.lineno}: {node.value:#x} belongs into a typed variable"


FAMILIES: Final = [p for p in MODULES if dotted(p).startswith("schema.events.")]


def test_event_modules_only_declare() -> None:
    """A docstring, imports, plain constants, enum classes, `@struct` and `@event` classes; at most 560 lines.

    Also what several of these share: keywords, groups of a provider, and the fields that a version adds.
    """
    for path in FAMILIES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 560
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
                case ast.Assign([ast.Name()], ast.BinOp() as keywords):
                    parts = [
                        n for n in ast.walk(keywords) if not isinstance(n, ast.Name | ast.Attribute | ast.expr_context)
                    ]
                    assert all(isinstance(n, ast.BinOp | ast.BitOr) for n in parts), where
                case ast.Assign(
                    [ast.Name(group)], ast.Call(ast.Name("EventGroup"), keywords=[ast.keyword("level"), *_])
                ) | ast.Assign([ast.Name(group)], ast.Call(ast.Attribute(attr="_replace"), [])):
                    assert group.isupper(), where
                case ast.Expr(ast.Call(ast.Attribute(attr="event" | "span"), [id, name, what, *fields], keywords)):
                    for each in (id, name, what, *(keyword.value for keyword in keywords)):
                        assert isinstance(each, ast.Constant), where
                    assert all(isinstance(each, ast.Name | ast.Starred) for each in fields), where
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("extended"), [ast.Name(parent), ast.Name()])):
                    event, _, version = name.rpartition("_V")
                    assert parent == f"{event}_V{int(version) - 1}", where
                case ast.ClassDef():
                    check_declaration(node, where)
                case _:
                    pytest.fail(f"{where}: {ast.unparse(node)[:60]!r} is no declaration")


def check_declaration(node: ast.ClassDef, where: str) -> None:
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
    # Names of our own wire types and classes, and of Spark's filters.
    names -= {"Bytes", "Field", "Time", "In"}
    home_rooms = {"analysis", "symbols", "testing"}
    # The allow-list is about fields of events that have no class, too, so it stands in one place and names them all;
    # test_disclosure.py holds it against the families. So are the fields that writers leave undeclared.
    lists = {"schema._index", "schema.disclosure", "decode.kinds"}
    for path in MODULES:
        if path in FAMILIES or dotted(path).partition(".")[0] in home_rooms or dotted(path) in lists:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, f"{path}:{node.lineno}: {node.value!r} is a field of an event"


def test_generated_files_are_current() -> None:
    """`tools/make.py --check`, without a process of its own."""
    for path, text in {**tool("derived/index").files(), **tool("derived/stubs").files()}.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale: run python tools/make.py"


_NUMBER: Final = re.compile(r"len\(|count|number|total|\bn\b")
_PLURAL: Final = re.compile(r" (?:[a-z]+ )?(?!does|goes|has|was)([a-z]{2,}[^aius\W]s)\b")
NEVER_ONE: Final = {
    # More than one of them is what is said, or a format's own words, in rooms that share none.
    *("recordings", "reports", "methods", "times", "ids", "kinds", "types", "frames", "places"),
    *("bytes", "values", "events"),
}


def test_numbers_agree_with_their_nouns() -> None:
    """A number in front of a plural comes from `counted`, unless it can never be one."""
    wrong = []
    for path in MODULES:
        for text in (node for node in ast.walk(tree(path)) if isinstance(node, ast.JoinedStr)):
            for number, words in pairwise(text.values):
                if isinstance(number, ast.FormattedValue) and isinstance(words, ast.Constant):
                    plural = _PLURAL.match(words.value)
                    value = ast.unparse(number.value)
                    told = not _NUMBER.search(value) or re.search(r"counted\(|_text\(", value)
                    if plural and not told and plural[1] not in NEVER_ONE:
                        wrong.append(f"{path}:{text.lineno}: {{{value}}}{words.value!r}")
    assert not wrong

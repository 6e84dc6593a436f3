"""The source as syntax trees: modules by dotted name, what each imports, and who imports whom.

Imports nothing of the library. A house made of a few lines is walked as the real one is, so that rules can be tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import attrs

from project_files import SOURCE

House: TypeAlias = Mapping[str, ast.Module]
"""Modules by their names without `clrevents.` in front; the package itself is `clrevents`."""


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


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def house() -> House:
    """All our modules."""
    return {dotted(path): tree(path) for path in sorted(SOURCE.rglob("*.py"))}


def house_of(**modules: str) -> House:
    """A house to try rules on: `decode__rows="import struct"` is the source of `decode.rows`."""
    return {name.replace("__", "."): ast.parse(text) for name, text in modules.items()}


def imports(module: ast.Module) -> Iterator[Import]:
    """Every import of a module, wherever it stands: a statement, so that no expression is looked into."""
    yield from _imports(module, waits=False, checking=False)


def _imports(node: ast.AST, waits: bool, checking: bool) -> Iterator[Import]:
    blocks = (getattr(node, block, ()) for block in ("body", "handlers", "cases", "orelse", "finalbody"))
    for child in chain.from_iterable(blocks):
        inside = waits or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        guarded = checking or (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING")
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, (), waits or checking, checking, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: imports are absolute"
            assert child.module is not None
            names = tuple(alias.name for alias in child.names)
            yield Import(child.module, names, waits or checking, checking, child.lineno)
        yield from _imports(child, inside, guarded)


def our_modules(found: Import, known: Iterable[str] | None = None) -> Iterator[str]:
    """Those of `known` modules (all of ours) that an import names: `from clrevents.schema import _index` too."""
    package, _, rest = found.module.partition(".")
    if package != "clrevents":
        return
    there = house() if known is None else known
    for name in found.names or ("",):
        inner = f"{rest}.{name}".strip(".")
        yield (inner if name and inner in there else rest) or "clrevents"


def uses(modules: House) -> dict[str, set[str]]:
    """The modules that each one imports, at any time: also for type checkers and inside functions."""
    return {
        name: {other for found in imports(body) for other in our_modules(found, modules) if other in modules} - {name}
        for name, body in modules.items()
    }


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Modules that reach each other: the strongly connected components of more than one (Tarjan's way)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        path.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in path:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            start = path.index(module)
            component = sorted(path[start:])
            del path[start:]
            if len(component) > 1:
                found.append(component)

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found

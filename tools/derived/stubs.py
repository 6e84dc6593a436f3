"""Stubs for type checkers: what names and answers depend on a text that they can read, but not compute.

`events.pyi` has the names of `clrevents.events`; `reported.pyi` the class of each report's answer by its name, and of
the rows of each of its tables. The modules beside them are what runs.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from clrevents.analysis.about.checking import CheckResult
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.events import EXPORTS
from clrevents.schema.layout import Layout

PACKAGE: Final = Path(__file__).resolve().parents[2] / "src" / "clrevents"
_HEAD: Final = "# Made by tools/make.py stubs.\n"
_WINDOW: Final = "start: Moment | None = None, end: Moment | None = None, process_id: int | None = None"


def files() -> dict[Path, str]:
    """Each stub with its text."""
    stubs = {
        PACKAGE / "events.pyi": _events(),
        PACKAGE / "trace" / "reported.pyi": _reported(),
    }
    return {path: _HEAD + "".join(f"{line}\n" for line in lines) for path, lines in stubs.items()}


def _imports(names: Iterable[tuple[str, str]], exported: bool = False) -> Iterator[str]:
    """A line for each module."""
    by_module = defaultdict(set)
    for module, name in names:
        by_module[module].add(name)
    for module in sorted(by_module):
        each = (f"{name} as {name}" if exported else name for name in sorted(by_module[module]))
        yield f"from {module} import {', '.join(each)}"


def _late(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Imports of what imports this stub itself: a checker reads the others first then."""
    yield ""
    yield "if TYPE_CHECKING:"
    yield from (f"    {line}" for line in _imports(names))


def _events() -> Iterator[str]:
    """Classes that no statement declares are written out, with the fields that a version adds behind those before."""
    classes = {name: getattr(importlib.import_module(module), name) for name, module in EXPORTS.items()}
    stated = {(module, name) for module in set(EXPORTS.values()) for name in _stated(module)}
    made = {name: cls for name, cls in classes.items() if (cls.__module__, name) not in stated}
    bases = {name: [*_added(cls), *cls.__bases__] for name, cls in made.items()}
    named = {(base.__module__, base.__name__) for each in bases.values() for base in each if base is not object}
    named -= {(cls.__module__, name) for name, cls in classes.items()}
    yield "from clrevents.schema.event import struct"
    yield from _imports(((module, name) for name, module in EXPORTS.items() if name not in made), exported=True)
    yield from _imports(named)
    for name, cls in sorted(made.items(), key=lambda item: (item[1].__event__.version, item[0])):
        inherited = ", ".join(base.__name__ for base in bases[name])
        yield from ("", "@struct", f"class {name}({inherited}):", f'    """{cls.__doc__}"""')


def _added(cls: Any) -> list[type[Any]]:
    """The class of the fields that a version adds to those of the one before."""
    before = getattr(cls.__base__, "__layout__", Layout()).fields
    own = cls.__layout__.fields[len(before) :]
    modules = (importlib.import_module(module) for module in ("clrevents.schema.event", *sorted(set(EXPORTS.values()))))
    alike = (
        value
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("Fields") and value.__doc__.startswith("Adds ") and value.__layout__.fields == own
    )
    return [next(alike)] if own else []


def _stated(module: str) -> Iterator[str]:
    tree = ast.parse(PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8"))
    return (node.name for node in tree.body if isinstance(node, ast.ClassDef))


def _reported() -> Iterator[str]:
    answers = {name: find_report(name).answer for name in sorted(report_names())}
    yield "from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload"
    yield ""
    yield "from clrevents.analysis.framework.vocabulary.report_table import ReportTable"
    yield "from clrevents.decode.selection import Moment"
    used = [(one.__module__, one.__name__) for one in (CheckResult, Diagnosis)]
    used += [(_public(answer), answer.__name__) for answer in answers.values()]
    used += [(t.row_class.__module__, t.row_class.__name__) for one in answers.values() for t in one.tables()]
    yield from _late(used)
    yield ""
    yield 'A = TypeVar("A")'
    yield "REPORTS: str"
    yield ""
    yield "class Reported:"
    whole = {f'Literal["{name}"]': answer.__name__ for name, answer in answers.items()}
    for asked, answer in {"type[A]": "A", **whole, "str": "Any"}.items():
        yield "    @overload"
        yield f"    def report(self, report: {asked}, /, *, {_WINDOW}, **parameters: Any) -> {answer}: ..."
    yield f"    def reports(self, *names: str, {_WINDOW}) -> dict[str, Any]: ..."
    yield f"    def doctor(self, *rules: str, {_WINDOW}) -> Diagnosis: ..."
    yield "    def check(self) -> CheckResult: ..."
    yield ""
    yield "class Tabled:"
    for answer in answers.values():
        for place, table in enumerate(answer.tables()):
            name = f'Literal["{table.name}"]' + (" | None = None" if place == 0 else "")
            yield "    @overload"
            yield (
                f"    def table(self: {answer.__name__}, name: {name}) -> "  # a checker reads `self`, and warns
                f"ReportTable[{table.row_class.__name__}]: ...  # type: ignore[misc]"
            )
    yield "    @overload"
    yield "    def table(self, name: str | None = None) -> ReportTable[Any]: ..."


def _public(answer: type[Any]) -> str:
    """The module or package of a report, which has its answer."""
    return ".".join(answer.__module__.split(".")[:4])

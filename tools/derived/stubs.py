"""Stubs for type checkers: what names and answers depend on a text that they can read, but not compute.

`events.pyi` has the names of `clrevents.events`; `reported.pyi` the class of each report's answer by its name, and of
the rows of each of its tables. The modules beside them are what runs.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from clrevents.analysis.about.checking import CheckResult
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.events import EXPORTS

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
    """Classes that `extended` makes are written out, with the added fields behind those of the extended version, and
    those that `span` makes."""
    families = sorted(set(EXPORTS.values()))
    made = {name: (module, *bases) for module in families for name, *bases in _extended(module)}
    spans = {name: (module, fields) for module in families for name, fields in _spans(module)}
    needed = {(module, added) for module, *_, added in (*made.values(), *spans.values()) if added}
    yield "from clrevents.schema.event import InstanceFields, struct"
    yield from _imports(((module, name) for name, module in EXPORTS.items() if name not in made | spans), exported=True)
    yield from _imports((module, added) for module, added in needed if added != "InstanceFields")
    for name, (_, fields) in spans.items():
        yield from ("@struct", f"class {name}{fields and f'({fields})'}: ...")
    for name, (_, parent, added) in made.items():
        yield ""
        yield "@struct"
        yield f"class {name}({added}, {parent}): ..."


def _extended(module: str) -> Iterator[tuple[str, str, str]]:
    """Name, extended version and added fields of each class of a family that no class statement declares."""
    for node in _declared(module):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("extended"), [ast.Name(parent), ast.Name(added)])):
                yield name, parent, added


def _spans(module: str) -> Iterator[tuple[str, str]]:
    """The names of classes that come in twos, and of the class that has their fields."""
    fields: dict[str, str] = {}
    for node in _declared(module):
        match node:
            case ast.Assign([ast.Name(group)], ast.Call(ast.Name("EventGroup"), keywords=[_, ast.keyword(_, given)])):
                fields[group] = ast.unparse(given)
            case ast.Assign([ast.Tuple(names)], ast.Call(ast.Name("span"), [ast.Name(group), *_])):
                yield from ((ast.unparse(name), fields.get(group, "")) for name in names)


def _declared(module: str) -> list[ast.stmt]:
    return ast.parse(PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")).body


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

"""Which reports there are, and what each is about and needs, without loading any of them.

The generated index tells it of all reports that were there when it was made; a module or package that was added since
is read for its name and its line; what needs more of it loads it.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Mapping
from typing import Final

from clrevents.analysis.framework.run._report_index import REPORTS

ROOM: Final = "clrevents.analysis.reports"
_FOLDER: Final = os.path.join(os.path.dirname(__file__), "..", "..", "reports")


@functools.cache
def report_names() -> tuple[str, ...]:
    """The names of all reports: the modules and packages of their room."""
    try:
        rooms = {room.removesuffix(".py") for room in os.listdir(_FOLDER)} - {"__init__"}
    except OSError:
        # Imported from an archive.
        rooms = set()
    return tuple(sorted({*REPORTS, *(room for room in rooms - REPORTS.keys() if os.path.exists(_source(room)))}))


def _source(name: str) -> str:
    package = os.path.join(_FOLDER, name, "__init__.py")
    return package if os.path.exists(package) else os.path.join(_FOLDER, f"{name}.py")


def report_summaries() -> Mapping[str, str]:
    """One line on each report: the first of its docstring, which is read and not run."""
    return {name: REPORTS[name][0] if name in REPORTS else first_line(name) for name in report_names()}


def first_line(name: str) -> str:
    """The line as its source has it now."""
    with open(_source(name), encoding="utf-8") as file:
        return (ast.get_docstring(ast.parse(file.read())) or "").partition("\n")[0]

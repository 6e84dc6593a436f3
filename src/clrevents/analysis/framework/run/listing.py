"""Which reports there are, and one line on each: found by their folders, without loading any of them.

Looks at folders and not at the package, which asks this when it is loaded.
"""

from __future__ import annotations

import ast
import functools
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOM: Final = "clrevents.analysis.reports"
_FOLDER: Final = Path(__file__).parents[2] / "reports"
_REPORT: Final = "report"


@functools.cache
def report_names() -> tuple[str, ...]:
    """The names of all reports: folders which hold a module `report`."""
    rooms = [module.name for module in pkgutil.iter_modules([str(_FOLDER)]) if module.ispkg]
    return tuple(sorted(room for room in rooms if _REPORT in _modules(str(_FOLDER / room))))


def _modules(folder: str) -> list[str]:
    return [module.name for module in pkgutil.iter_modules([folder])]


def report_summaries() -> Mapping[str, str]:
    """One line on each report: the first of its folder's docstring, which is read and not run."""
    return {name: _first_line(_FOLDER / name / "__init__.py") for name in report_names()}


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]

"""Which reports there are, and one line on each: found by their folders, without loading any of them.

Looks at folders and not at the package, which asks this when it is loaded.
"""

from __future__ import annotations

import functools
import importlib
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
    """One line on each report: the first of its folder's docstring."""
    docs = {name: importlib.import_module(f"{ROOM}.{name}").__doc__ or "" for name in report_names()}
    return {name: doc.split("\n", 1)[0] for name, doc in docs.items()}

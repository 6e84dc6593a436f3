"""Which reports there are, and one line on each: found by their folders, without loading any of them.

Looks at folders and not at the package, which asks this when it is loaded.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
from collections.abc import Mapping
from typing import Final

ROOM: Final = "clrevents.analysis"
_FRAMEWORK: Final = "framework"


@functools.cache
def report_names() -> tuple[str, ...]:
    """The names of all reports."""
    folder = os.path.dirname(__file__)
    return tuple(sorted(m.name for m in pkgutil.iter_modules([folder]) if m.ispkg and m.name != _FRAMEWORK))


def report_summaries() -> Mapping[str, str]:
    """One line on each report: the first of its folder's docstring."""
    docs = {name: importlib.import_module(f"{ROOM}.{name}").__doc__ or "" for name in report_names()}
    return {name: doc.split("\n", 1)[0] for name, doc in docs.items()}

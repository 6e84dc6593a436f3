"""Pages and files of a value: made by `export`, which stands above this room and is found by name when asked.

The one place where a room below calls one above; `export` imports what it shows, so that an import would be a circle.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_PAGES: Final = "clrevents.export.page.shown"


def show(what: str, *arguments: Any) -> None:
    """Show a page of that kind."""
    getattr(importlib.import_module(_PAGES), f"show_{what}")(*arguments)


def write(what: str, *arguments: Any) -> None:
    """Write a file of that kind."""
    getattr(importlib.import_module(_PAGES), f"write_{what}")(*arguments)

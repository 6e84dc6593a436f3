"""Every event class and enum, flat: `from clrevents.events import MethodLoadVerbose_V2, StubFlags`.

A name loads its family on first use. Type checkers read `events.pyi`, which `tools/make.py` makes.
"""

from __future__ import annotations

import importlib
from typing import Any

from clrevents.schema._index import EVENTS, OTHERS

EXPORTS = OTHERS | {
    f"{name}_V{version}": f"clrevents.schema.events.{family}"
    for _, _, name, _, versions, family in EVENTS
    for version in versions
}
"""The module of each: events are named after their versions; others are enums, and groups of fields."""


def __getattr__(name: str) -> Any:
    try:
        module = EXPORTS[name]
    except KeyError:
        raise AttributeError(f"module 'clrevents.events' has no event class or enum {name!r}") from None
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(EXPORTS)

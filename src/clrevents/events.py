"""Every event class and enum, flat: `from clrevents.events import MethodLoadVerbose_V2, StubFlags`.

A name loads its family on first use. Type checkers read `events.pyi`, which `tools/make.py` makes.
"""

from __future__ import annotations

from functools import partial

from clrevents._util.offered import late_name
from clrevents.schema._index import EVENTS, OTHERS

EXPORTS = {name: module for module, names in OTHERS.items() for name in names} | {
    f"{name}_V{version}": f"clrevents.schema.events.{family}"
    for (_, family), events in EVENTS.items()
    for _, name, _, versions in events
    for version in versions
}
"""The module of each: events are named after their versions; others are enums, and groups of fields."""
__getattr__ = partial(late_name, __name__, EXPORTS)


def __dir__() -> list[str]:
    return sorted(EXPORTS)

"""Answers that need more than one event: durations, and reports on what the runtime did.

Columns in, plain results out. The public names live here; each loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clrevents.analysis.hot import hottest as hottest
    from clrevents.analysis.pairing import spans as spans
    from clrevents.analysis.samples import read_samples as read_samples

_HOMES = {
    "hot": ("hottest",),
    "pairing": ("spans",),
    "samples": ("read_samples",),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Answers that need more than one event: durations, and reports on what the runtime did.

Columns in, plain results out. The public names live here; each loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clrevents.analysis.hot import hottest as hottest
    from clrevents.analysis.jit import JitReport as JitReport
    from clrevents.analysis.jit import jit_report as jit_report
    from clrevents.analysis.modules.report import ModuleReport as ModuleReport
    from clrevents.analysis.modules.report import module_report as module_report
    from clrevents.analysis.pairing import spans as spans
    from clrevents.analysis.samples import read_samples as read_samples
    from clrevents.analysis.startup.report import startup_report as startup_report
    from clrevents.analysis.startup.startup_rows import StartupReport as StartupReport
    from clrevents.analysis.stubs import StubReport as StubReport
    from clrevents.analysis.stubs import stub_report as stub_report

_HOMES = {
    "hot": ("hottest",),
    "jit": ("JitReport", "jit_report"),
    "modules.report": ("ModuleReport", "module_report"),
    "pairing": ("spans",),
    "samples": ("read_samples",),
    "startup.report": ("startup_report",),
    "startup.startup_rows": ("StartupReport",),
    "stubs": ("StubReport", "stub_report"),
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

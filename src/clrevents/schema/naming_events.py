"""Which events are there to name code: whenever they were written, addresses of any time are named by them.

Such events say nothing of how long tracing went on, and belong to every part of a trace. Selectors only.
"""

from __future__ import annotations

from typing import Final

NAMING_EVENTS: Final = (
    "rundown/*",
    "runtime/MethodLoad*",
    "runtime/MethodUnload*",
    "runtime/MethodILToNativeMap*",
    "runtime/Module[LU]*",
    "runtime/DomainModule*",
    "runtime/AssemblyLoad",
    "runtime/AssemblyUnload",
    "runtime/AppDomain[LU]*",
    "runtime/RuntimeInformationStart",
    "Universal.System/*",
)
"""Selectors of the events that addresses are named by, whenever they were written."""

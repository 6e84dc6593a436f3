"""The events that name code: whenever they were written, they name addresses of any time.

They do not show how long tracing went on, and belong to every part of a trace. Selectors only.
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
"""Selectors of the events that name addresses, whenever they were written."""

"""What rooms offer to those below them, which may not import them: a trace asks reports, a value shows its page.

The package says what there is and where before any room is loaded; what is offered loads when it is first asked for.
So do the public names of packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

_HOMES: dict[str, str] = {}


def offer(homes: Mapping[str, tuple[str, ...]]) -> None:
    """Say which functions each module offers."""
    _HOMES.update((name, module) for module, names in homes.items() for name in names)


def offered(name: str) -> Callable[..., Any]:
    """The function of this name."""
    function: Callable[..., Any] = getattr(importlib.import_module(_HOMES[name]), name)
    return function


def late_name(module: str, homes: Mapping[str, str], name: str) -> Any:
    """What a module's `__getattr__` gives for one of its public names: it loads, from the module where it is, once."""
    if name not in homes:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(homes[name]), name)
    setattr(sys.modules[module], name, value)
    return value

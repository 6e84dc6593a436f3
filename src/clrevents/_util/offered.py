"""What rooms offer to those below them, which may not import them: a trace asks reports, a value shows its page.

The package says what there is and where before any room is loaded; what is offered loads when it is first asked for.
"""

from __future__ import annotations

import importlib
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

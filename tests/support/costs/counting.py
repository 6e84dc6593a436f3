"""What a step does, counted: no clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def calls(step: Callable[[], Any]) -> int:
    """How many functions are called, in Python or in C."""
    count = 0

    def note(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
    return count


def lines(step: Callable[[], Any]) -> int:
    """How many lines of Python are run; each turn of a loop counts, also of one in a single line."""
    count = 0

    def note(frame: object, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        step()
    finally:
        sys.settrace(before)
    return count

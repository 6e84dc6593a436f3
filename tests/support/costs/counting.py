"""What a step does, counted: no clock. And the most memory that it takes."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np


def operations(run: Callable[[], object]) -> int:
    """How many functions a call calls, in Python or C: a measure of time that is the same each time."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    _watched(run, seen, sys.getprofile, sys.setprofile)
    return count


def elements(run: Callable[[], object]) -> int:
    """How many functions a call calls, and how many numbers are in the arrays that functions in Python return: what
    looks at all rows for each of them shows here, though it calls no more functions.
    """
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if event == "return":
            parts = argument if isinstance(argument, tuple) else (argument,)
            count += sum(part.size for part in parts if isinstance(part, np.ndarray))

    _watched(run, seen, sys.getprofile, sys.setprofile)
    return count


def lines(step: Callable[[], Any]) -> int:
    """How many lines of Python are run; each turn of a loop counts, also of one in a single line."""
    count = 0

    def note(frame: object, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return note

    _watched(step, note, sys.gettrace, sys.settrace)
    return count


def peak(step: Callable[[], object]) -> int:
    """The most memory that a step needs at once, in bytes."""
    tracemalloc.start()
    try:
        step()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _watched(step: Callable[[], object], note: Any, get: Callable[[], Any], set: Callable[[Any], None]) -> None:
    before = get()
    set(note)
    try:
        step()
    finally:
        set(before)

"""Warnings attributed to the caller's line, however many of our own frames are in between.

Knows where this package is located, and nothing of traces.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import Final

from clrevents.errors import TraceWarning

# A pass ends inside context managers, whose own frames belong to contextlib. The name lacks its extension because
# `warnings` (3.12, 3.13) skips a file only if the prefix is shorter than its name.
_SKIPPED: Final = (
    os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),
    os.path.splitext(contextlib.__file__)[0],
)


def warn_caller(text: str) -> None:
    """Issue a TraceWarning for the line that called into this package.

    For a generator, that is the line that requests the next item: the `for` of a loop.
    """
    if sys.version_info >= (3, 12):
        warnings.warn(text, TraceWarning, skip_file_prefixes=_SKIPPED)
    else:
        warnings.warn(text, TraceWarning, stacklevel=_level())


def _level() -> int:
    """The number of frames `warnings.warn` must go up from `warn_caller`; 1 is `warn_caller` itself."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    return level

"""What a collector's selectors mean. A name that only a trace can explain may be missing there: this is not an error.

Knows names and patterns; reads no trace.
"""

from __future__ import annotations

import re
from typing import Final

from clrevents.schema.matching import glob, is_glob
from clrevents.schema.registry import DEFAULT, Entry

_SPECIAL: Final = re.compile(r"([*?[])")


def patient(selector: str) -> str:
    """The selector for a pass: a name that no registry knows becomes a pattern that fits just this name.

    A pass refuses unknown names, but an event that only traces describe is unknown wherever it did not occur.
    """
    if is_glob(selector) or DEFAULT.named(selector):
        return selector
    return _SPECIAL.sub(r"[\1]", selector[:-1]) + f"[{selector[-1]}]"


def fits(pattern: str, event: tuple[str, str]) -> bool:
    """Whether a (provider, name) is one that the pattern means."""
    return glob(pattern)(Entry(event[0], 0, event[1], (), ()))


__all__ = ["fits", "is_glob", "patient"]

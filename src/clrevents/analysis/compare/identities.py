"""Which methods and types of two recordings are the same, though the compiler numbered its own anew.

C# numbers what it makes of lambdas, local functions, iterators and captured variables through a whole type, so adding
one member changes the names of others. Knows names as the runtime writes them, and nothing else of a method.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

_NUMBERED: Final = (
    (re.compile(r"(<[^<>]*>g__[^|]+\|)\d+(?:_\d+)?"), r"\1*"),
    (re.compile(r"(c__DisplayClass)\d+(?:_\d+)?"), r"\1*"),
    (re.compile(r"(<[^<>]*>d__)\d+"), r"\1*"),
    # mcs: captured variables, iterators and async methods.
    (re.compile(r"(<[^<>]*>c__(?:AnonStorey|Iterator|async))[0-9A-F]+"), r"\1*"),
    (re.compile(r"(<>f__(?:AnonymousType|AnonymousDelegate))\d+"), r"\1*"),
    (re.compile(r"(<>c__)\d+(?=[`\[.+])"), r"\1*"),
)
_LAMBDA: Final = re.compile(r"(<[^<>]*>(?:b__|m__))(?:(?P<member>\d+)_)?(?P<own>[0-9A-F]+)")


def without_numbers(name: str) -> tuple[str, str]:
    """A name without the compiler's numbers, and the place of a lambda among those of its member (empty for others)."""
    for pattern, stars in _NUMBERED:
        name = pattern.sub(stars, name)
    found = _LAMBDA.search(name)
    if found is None:
        return name, ""
    return f"{name[: found.start()]}{found[1]}*{name[found.end() :]}", found["own"]


def identities(base: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """By name on either side, what it is called on both.

    Lambdas of one member are told apart by their places, unless different ones were seen on the two sides: then a
    lambda may stand where another one stood before, and all of the member's are one.
    """
    sides: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    split = {}
    for side, names in zip(sides, (base, new), strict=True):
        for name in names:
            split[name] = stem, own = without_numbers(name)
            side[stem].add(own)
    found = {}
    for name, (stem, own) in split.items():
        # What only one side has is left as it is: nothing there can be mistaken for another.
        alike = not (sides[0][stem] and sides[1][stem]) or sides[0][stem] == sides[1][stem]
        found[name] = f"{stem} {own}" if own and alike else stem
    return found

"""Which methods and types of two recordings are the same, though the compiler numbered its own anew.

C# numbers what it makes of lambdas, local functions, iterators and captured variables through a whole type, so adding
one member changes the names of others. Samples of two traces get one name for what is one method. Knows names as the
runtime writes them, and nothing else of a method.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import attrs

from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.samples.samples import Samples

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
_COMPILERS: Final = {
    "csc": (
        (re.compile(r"^(.*?)\+<>c(?:__DisplayClass\*)?\.<([^<>]+)>b__\*"), "lambdas"),
        (re.compile(r"^(.*?)\+<([^<>]+)>d__\*"), "steps"),
    ),
    "mcs": (
        (re.compile(r"^(.*?)\+<([^<>]+)>c__AnonStorey\*.*\.<>m__\*"), "lambdas"),
        (re.compile(r"^(.*?)\.<([^<>]+)>m__\*"), "lambdas"),
        (re.compile(r"^(.*?)\+<([^<>]+)>c__(?:async|Iterator)\*"), "steps"),
    ),
}
"""What each compiler makes of lambdas, and of iterators and async methods: the type, and the member."""


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
    lambda may stand where another one stood before, and all of the member's are one. So they are if the sides are of
    different compilers, which name and number them each in its own way.
    """
    sides: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    split = {}
    for side, names in zip(sides, (base, new), strict=True):
        for name in names:
            split[name] = stem, own = without_numbers(name)
            side[stem].add(own)
    makers: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    for stems, made in zip(sides, makers, strict=True):
        for compiler, of in filter(None, map(_made_of, stems)):
            made[of].add(compiler)
    found = {}
    for name, (stem, own) in split.items():
        _, of = _made_of(stem) or ("", "")
        if of and makers[0][of] and makers[1][of] and not makers[0][of] & makers[1][of]:
            found[name] = of
            continue
        # What only one side has is left as it is: nothing there can be mistaken for another.
        alike = not (sides[0][stem] and sides[1][stem]) or sides[0][stem] == sides[1][stem]
        found[name] = f"{stem} {own}" if own and alike else stem
    return found


def _made_of(stem: str) -> tuple[str, str] | None:
    """Which compiler made it, and of which member of which type; None for what programmers named."""
    for compiler, patterns in _COMPILERS.items():
        for pattern, what in patterns:
            match = pattern.search(stem)
            if match is not None:
                return compiler, f"{match[1]}.<{match[2]}> {what}"
    return None


def matched_frames(base: Samples, new: Samples) -> tuple[Samples, Samples]:
    """Both, with frames that are equal where methods are the same; they are called what they are called in `new`."""
    same = identities(*({frame.raw for frame in side.frames if frame.reason is None} for side in (base, new)))
    known: dict[str, StackFrame] = {}
    for frame in (*new.frames, *base.frames):
        if frame.reason is None:
            known.setdefault(same[frame.raw], frame)

    def renamed(side: Samples) -> Samples:
        frames = tuple(frame if frame.reason is not None else known[same[frame.raw]] for frame in side.frames)
        return attrs.evolve(side, frames=frames)

    return renamed(base), renamed(new)

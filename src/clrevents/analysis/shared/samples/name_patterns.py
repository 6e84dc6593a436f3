"""Patterns for names of methods, as users write them: `Shop.*`, `Pay`, `app!Shop.Cart.Pay`; and groups of them.

`*` matches any text and `?` one character; all others are literal, because names contain brackets. Knows texts only:
what happens to matching frames is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.merged_stacks import ASYNC, StackFrame

GroupKind: TypeAlias = Literal["->", "=>"]

SEPARATOR: Final = ";"
"""The separator of several patterns."""
_WILD: Final = "*?"
_ARROW: Final = re.compile(r"->|=>")
_REFERENCE: Final = re.compile(r"\$(\d)")
_MOST: Final = 9
"""How many captures `$1` to `$9` can name."""


@frozen
class NamePattern:
    """One pattern, with the places of its captures.

    Without a wildcard it is a whole name, or its end after a dot; with one it is the whole name. It is compared with a
    method's `Namespace.Type.Method`, as C# and as the runtime writes it; with arguments if the pattern has a
    parenthesis, and after the module's name if it has a `!`.
    """

    text: str
    captures: tuple[tuple[int, int], ...] = ()
    """From which to which place of `text` each capture reaches."""

    def match(self, frame: StackFrame) -> tuple[str, ...] | None:
        """What was captured, if a frame matches; None if it does not."""
        for name in _names(frame, "!" in self.text, "(" in self.text):
            found = self.match_text(name)
            if found is not None:
                return found
        return None

    def match_text(self, name: str) -> tuple[str, ...] | None:
        """The same of one way to write a name."""
        if any(char in self.text for char in _WILD):
            places = self._places(name)
            return None if places is None else tuple(name[places[low] : places[high]] for low, high in self.captures)
        if name != self.text and not name.endswith(f".{self.text}"):
            return None
        shift = len(name) - len(self.text)
        return tuple(name[shift + low : shift + high] for low, high in self.captures)

    def _places(self, name: str) -> list[int] | None:
        """Where in a name each place of the pattern is, and its end; the shortest texts for the first stars.

        Takes time by the product of both lengths, whatever they are.
        """
        places: list[int] = []
        parts = self.text.split("*")
        at = 0
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            if last and number:
                start = len(name) - len(part) if len(name) - len(part) >= at else -1
                start = start if start >= 0 and _fits(part, name, start) else -1
            elif number:
                start = next((s for s in range(at, len(name) - len(part) + 1) if _fits(part, name, s)), -1)
            else:
                start = 0 if _fits(part, name, 0) and (not last or len(part) == len(name)) else -1
            if start < 0:
                return None
            if number:
                # The star before this part reaches from `at` to its start.
                places.append(at)
            places += range(start, start + len(part))
            at = start + len(part)
        return [*places, len(name)]


@frozen
class GroupRule:
    """Frames that match get another name: that of the group, or with `=>` that of the method that enters the group.

    An empty name leaves frames as they are, whatever later rules say.
    """

    pattern: NamePattern
    kind: GroupKind
    name: str

    def group(self, frame: StackFrame) -> str | None:
        """The name of the group that a frame is in; None if it is in none of this rule."""
        found = self.pattern.match(frame)
        return None if found is None else _REFERENCE.sub(lambda number: found[int(number[1]) - 1], self.name)


def name_patterns(option: str, text: str | None) -> tuple[NamePattern, ...]:
    """The patterns in an option, separated by semicolons. Raises ValueError for an empty one."""
    return tuple(_pattern(option, part) for part in _parts(option, text))


def group_rules(option: str, text: str | None) -> tuple[GroupRule, ...]:
    """The groups in an option: `PATTERN->NAME` or `PATTERN=>NAME`, separated by semicolons.

    Braces in the pattern capture what `$1` to `$9` stand for in the name. Raises ValueError for anything else.
    """
    return tuple(_rule(option, part) for part in _parts(option, text))


def matched(patterns: Sequence[NamePattern], frame: StackFrame) -> bool:
    """Whether any of the patterns matches."""
    return any(pattern.match(frame) is not None for pattern in patterns)


def _parts(option: str, text: str | None) -> list[str]:
    if text is None:
        return []
    parts = [part.strip() for part in text.split(SEPARATOR)]
    if not all(parts):
        raise ValueError(f"{option} has an empty pattern: {text!r}")
    return parts


def _pattern(option: str, text: str) -> NamePattern:
    if _ARROW.search(text):
        raise ValueError(f"{option} takes patterns, but {text!r} names a group")
    return NamePattern(text)


def _rule(option: str, text: str) -> GroupRule:
    arrow = _ARROW.search(text)
    if arrow is None:
        raise ValueError(f"{option} takes PATTERN->NAME or PATTERN=>NAME, not {text!r}")
    left, name = text[: arrow.start()].strip(), text[arrow.end() :].strip()
    pattern = _captured(option, left, text)
    for number in _REFERENCE.findall(name):
        if not 0 < int(number) <= len(pattern.captures):
            raise ValueError(f"{option} has no braces for ${number}: {text!r}")
    return GroupRule(pattern, "=>" if arrow[0] == "=>" else "->", name)


def _captured(option: str, left: str, text: str) -> NamePattern:
    """A pattern without its braces, and where they were."""
    plain, begins = "", []
    captures: list[tuple[int, int] | None] = []
    for char in left:
        if char == "{":
            begins.append(len(captures))
            captures.append((len(plain), -1))
        elif char == "}":
            if not begins:
                raise ValueError(f"{option} has an unmatched closing brace: {text!r}")
            number = begins.pop()
            captures[number] = ((captures[number] or (0, 0))[0], len(plain))
        else:
            plain += char
    if begins:
        raise ValueError(f"{option} has an unmatched opening brace: {text!r}")
    if not plain:
        raise ValueError(f"{option} has an empty pattern: {text!r}")
    if len(captures) > _MOST:
        raise ValueError(f"{option} has more than {_MOST} pairs of braces: {text!r}")
    return NamePattern(plain, tuple(capture for capture in captures if capture is not None))


def _names(frame: StackFrame, module: bool, arguments: bool) -> list[str]:
    """The ways to write a frame's name that a pattern may mean."""
    raw = frame.raw.removeprefix(f"{frame.module}!")
    shown = frame.name.removeprefix(ASYNC)
    names = [shown, raw] if arguments else [name.partition("(")[0] for name in (shown, raw)]
    return [f"{frame.module}!{name}" for name in names] if module else names


def _fits(part: str, name: str, start: int) -> bool:
    """Whether a part of a pattern, which has no star, is what a name has from this place on."""
    if len(name) - start < len(part):
        return False
    if "?" not in part:
        return name.startswith(part, start)
    return all(char in ("?", name[start + place]) for place, char in enumerate(part))

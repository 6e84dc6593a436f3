"""A provider as a session requests it, and as people write it.

`NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]]`, keywords in hexadecimal, as `dotnet-trace` takes them. Knows no event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics.ipc_values import U32, U64, OptionalText, Text
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import ASYNC, RUNTIME, TPL, provider_name

EVERYTHING: Final = 0xFFFFFFFFFFFFFFFF
VERBOSE: Final = 5
INFORMATIONAL: Final = 4
ASYNC_SINCE: Final = 11
"""The first major version of .NET with an async profiler."""
AWAIT_KEYWORDS: Final = 0x35D | 0x3F400
"""Of both kinds of async: contexts that are created, suspend, complete and fail, the stack of each that resumes, and
methods that resume and complete. That a context resumes, and who awaits when one suspends, follows from these."""
LEVELS: Final = ("logalways", "critical", "error", "warning", "informational", "verbose")


def _level(_: Any, __: Any, level: int) -> None:
    # 3.1 delivers nothing for level 0, which to later versions means every level: so nobody should ask for it.
    if not 1 <= level <= VERBOSE:
        raise ValueError(f"the level of a provider is 1 (critical) to 5 (verbose), not {level!r}")


def _named(_: Any, __: Any, name: str) -> None:
    if not name:
        raise ValueError("a provider needs a name, such as Microsoft-Windows-DotNETRuntime or its short form, runtime")


@frozen
class Provider(Value):
    """A source of events, and what to record from it. `name` may be a short one (`runtime`) and becomes the full one.

    Raises ValueError for a level outside 1 to 5 and for keywords of more than 64 bits.
    """

    keywords: U64 = attrs.field(default=EVERYTHING, kw_only=True)
    """Which of its events: bits defined by the provider; by default all of them."""
    level: U32 = attrs.field(default=INFORMATIONAL, validator=_level, kw_only=True)
    """How detailed: 1 critical, 2 error, 3 warning, 4 informational, 5 verbose."""
    name: Text = attrs.field(converter=provider_name, validator=_named)
    """Its full name."""
    arguments: OptionalText = attrs.field(default=None, kw_only=True)
    """Its arguments, such as `EventCounterIntervalSec=1`."""

    @keywords.validator
    def _bits(self, _: Any, keywords: int) -> None:
        if not 0 <= keywords <= EVERYTHING:
            raise ValueError(f"keywords are 64 bits, not {keywords:#x}")

    @classmethod
    def parse(cls, text: str) -> Provider:
        """From `text`, which is `NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]]`. Raises ValueError.

        Without keywords, all of them are meant: with none, the runtime's own providers would give next to nothing.
        """
        name, _, rest = text.strip().partition(":")
        keywords, _, rest = rest.partition(":")
        level, _, arguments = rest.partition(":")
        try:
            mask = int(keywords, 16) if keywords else EVERYTHING
        except ValueError:
            raise ValueError(
                f"{keywords!r} in {text!r} is not a hexadecimal number of keywords, such as 0x4001"
            ) from None
        return cls(
            name, keywords=mask, level=parse_level(level) if level else INFORMATIONAL, arguments=arguments or None
        )

    def __str__(self) -> str:
        shown = f"{self.name}:{self.keywords:#x}:{self.level}"
        return shown if self.arguments is None else f"{shown}:{self.arguments}"


@frozen
class AwaitEvents(Provider):
    """Events of TPL that are wanted for awaits: since .NET 11 the async profiler has these, at a tenth of the cost."""

    name: str = attrs.field(default=TPL, init=False)
    kept: int = attrs.field(default=0, kw_only=True)
    """The keywords that are wanted for something else, too."""

    def for_runtime(self, major: int) -> tuple[Provider, ...]:
        """What to ask a runtime of this version for."""
        if major < ASYNC_SINCE:
            return (Provider(TPL, keywords=self.keywords, level=self.level, arguments=self.arguments),)
        kept = (Provider(TPL, keywords=self.kept, level=self.level, arguments=self.arguments),) if self.kept else ()
        return (*kept, Provider(ASYNC, keywords=AWAIT_KEYWORDS))


def parse_level(text: str) -> int:
    """A level as number or name; more than 5 is 5. Raises ValueError."""
    if text.lower() in LEVELS:
        return max(1, LEVELS.index(text.lower()))
    if text.isascii() and text.isdigit():
        return min(max(int(text), 1), VERBOSE)
    raise ValueError(f"{text!r} is not a level: use 1 to 5, or one of {', '.join(LEVELS)}")


_SEPARATOR: Final = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)(?=\s*[A-Za-z][\w.+-]*(?::|,|\s*$))')


def parse_providers(text: str) -> list[Provider]:
    """Several, comma-separated; a comma in quotes, or before something that cannot be a provider's name, belongs to
    arguments."""
    return [Provider.parse(part) for part in _SEPARATOR.split(text) if part.strip()]


def united(providers: Iterable[Provider]) -> tuple[Provider, ...]:
    """One for each name: combined keywords, the highest level. Raises ValueError if two have different arguments."""
    by_name: dict[str, Provider] = {}
    for one in providers:
        other = by_name.get(one.name, one)
        if None not in (one.arguments, other.arguments) and one.arguments != other.arguments:
            raise ValueError(
                f"{one.name} is given twice with different arguments ({other.arguments} and {one.arguments}); give "
                "it once"
            )
        common: dict[str, Any] = {
            "keywords": one.keywords | other.keywords,
            "level": max(one.level, other.level),
            "arguments": one.arguments if other.arguments is None else other.arguments,
        }
        if isinstance(one, AwaitEvents) or isinstance(other, AwaitEvents):
            kept = [each.kept if isinstance(each, AwaitEvents) else each.keywords for each in (one, other)]
            by_name[one.name] = AwaitEvents(**common, kept=kept[0] | kept[1])
        else:
            by_name[one.name] = Provider(one.name, **common)
    return tuple(by_name.values())


# Names that dotnet-trace takes for the runtime's keywords, where they are not the keywords' own.
_ALIASES: Final = {"fusion": 0x4, "managedheadcollect": 0x800000, "gcheapcollect": 0x800000}
_KEYWORDS: Final = {member.name.lower(): member.value for member in RuntimeKeyword if member.name} | _ALIASES


def parse_runtime_events(text: str, level: int = INFORMATIONAL) -> Provider:
    """The runtime's provider with keywords by name, `gc+exception`. Raises ValueError for an unknown one."""
    keywords = 0
    for name in text.split("+"):
        try:
            keywords |= _KEYWORDS[name.strip().lower()]
        except KeyError:
            raise ValueError(
                f"{name!r} is not a keyword of the runtime; there are {', '.join(sorted(_KEYWORDS))}"
            ) from None
    return Provider(RUNTIME, keywords=keywords, level=level)

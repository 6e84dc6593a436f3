"""What to record: providers with keywords and a level, as `dotnet-trace collect --providers` takes them.

Merges what several questions need. Knows no question and no event. Does not quote for a shell: no name that it accepts
needs quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.schema.registry import provider_name

_NAME: Final = re.compile(r"[A-Za-z0-9_.+-]+")
_ARGUMENT: Final = re.compile(r"|[A-Za-z0-9_.+-]+=[A-Za-z0-9_.+-]+")
_MOST_KEYWORDS: Final = (1 << 64) - 1
_MOST_LEVEL: Final = 5


def _full_name(provider: str) -> str:
    name = provider_name(provider)
    if not _NAME.fullmatch(name):
        raise ValueError(f"{provider!r} cannot be a provider name in a list of providers")
    return name


def _keywords(keywords: int) -> int:
    if not 0 <= keywords <= _MOST_KEYWORDS:
        raise ValueError(f"keywords must be 64 bits, not {keywords!r}")
    return int(keywords)


def _level(level: int) -> int:
    if not 0 <= level <= _MOST_LEVEL:
        raise ValueError(f"a level must be 0 to {_MOST_LEVEL}, not {level!r}")
    return int(level)


def _argument(argument: str) -> str:
    if not _ARGUMENT.fullmatch(argument):
        raise ValueError(f"{argument!r} cannot be a provider argument in a list of providers")
    return argument


@frozen
class ProviderNeed:
    """One provider with all `keywords` at once, up to `level` (4 informational, 5 verbose).

    `provider` may be a short name (`runtime`) and becomes the full one. Without keywords, it requests the events that
    have none. `argument` is one that the provider takes, `NAME=VALUE`. `str` gives `NAME:0xKEYWORDS:LEVEL`, followed by
    `:ARGUMENT` if there is one. ValueError for a name with characters other than letters, digits and `_.+-` (in an
    argument, on both sides of `=`), for more than 64 bits, and for a level outside 0 to 5.
    """

    provider: str = attrs.field(converter=_full_name)
    keywords: int = attrs.field(default=0, converter=_keywords)
    level: int = attrs.field(default=4, converter=_level)
    argument: str = attrs.field(default="", converter=_argument)

    def __str__(self) -> str:
        return f"{self.provider}:{self.keywords:#x}:{self.level}{self.argument and f':{self.argument}'}"


@frozen
class RecordLine:
    """Providers, each once, in the order in which they were first needed.

    `str` gives the argument of `--providers`: empty when nothing is needed.
    """

    providers: tuple[ProviderNeed, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.providers))

    def __bool__(self) -> bool:
        return bool(self.providers)


def record_line(needs: Iterable[ProviderNeed]) -> RecordLine:
    """One session for all needs: for each provider, the keywords of all of them and the highest level.

    Raises ValueError if two needs give one provider different arguments.
    """
    merged: dict[str, ProviderNeed] = {}
    for need in needs:
        old = merged.get(need.provider, need)
        if old.argument and need.argument and old.argument != need.argument:
            raise ValueError(f"{need.provider} cannot have both {old.argument} and {need.argument}")
        keywords, level = old.keywords | need.keywords, max(old.level, need.level)
        both = ProviderNeed(need.provider, keywords, level, old.argument or need.argument)
        merged[need.provider] = both
    return RecordLine(tuple(merged.values()))


def merged_lines(lines: Iterable[str]) -> RecordLine:
    """One session for all that these lines record, which are as `RecordLine` writes them."""
    providers = (provider.split(":") for line in lines for provider in line.split(","))
    return record_line(ProviderNeed(name, int(bits, 16), int(level), *more) for name, bits, level, *more in providers)

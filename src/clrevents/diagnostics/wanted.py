"""What to record to get certain events: providers for users' selectors.

Asks the registry for the keywords and levels of known events. Unknown events need their whole provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from clrevents.diagnostics.providers import EVERYTHING, VERBOSE, Provider, united
from clrevents.diagnostics.runtime_requests import EventFilter
from clrevents.errors import UnknownEventError
from clrevents.schema.keywords import RuntimeKeyword as Runtime
from clrevents.schema.matching import is_glob, select_entries
from clrevents.schema.registry import (
    DEFAULT,
    RUNDOWN,
    RUNTIME,
    SAMPLE,
    SHORT_PROVIDERS,
    Registry,
    meant_provider,
    provider_name,
)

_COSTLY: Final = (
    Runtime.GCHeapDump
    | Runtime.ManagedHeapCollect
    | Runtime.GCHeapSurvivalAndMovement
    | Runtime.GCHeapAndTypeNames
    | Runtime.GCSampledObjectAllocationHigh
    | Runtime.GCSampledObjectAllocationLow
)
"""These make the program do something that it would not do otherwise: a pattern such as `GC*` does not include them."""


def providers_for(selectors: Iterable[Any], registry: Registry = DEFAULT) -> tuple[Provider, ...]:
    """The providers that write the events of these selectors. Raises UnknownEventError for a name of neither a known
    event nor a provider."""
    return united(provider for selector in selectors for provider in _providers(selector, registry))


def event_filters(only: Iterable[str], without: Iterable[str], registry: Registry = DEFAULT) -> tuple[EventFilter, ...]:
    """Of the providers of these events, only them; of the providers of those, all but them. An event of the program's
    own is written `PROVIDER/ID`.

    Raises UnknownEventError for an event whose id is unknown, ValueError for both of one provider.
    """
    found: dict[str, EventFilter] = {}
    for chosen, selectors in ((True, only), (False, without)):
        for provider, id in dict.fromkeys(pair for one in selectors for pair in _ids(one, registry)):
            if provider == RUNDOWN:
                raise ValueError("events of the list at the end cannot be chosen one by one")
            before = found.get(provider, EventFilter(provider, chosen, ()))
            if before.only != chosen:
                raise ValueError(f"of {provider}, give either the events to record or those to leave out")
            found[provider] = EventFilter(provider, chosen, (*before.ids, id))
    return tuple(found.values())


def _ids(selector: str, registry: Registry) -> list[tuple[str, int]]:
    provider, slash, number = selector.rpartition("/")
    if slash and number.isascii() and number.isdigit():
        return [(provider_name(provider), int(number))]
    return [(entry.provider, entry.id) for entry in select_entries(selector, registry.entries())]


def _providers(selector: Any, registry: Registry) -> list[Provider]:
    if isinstance(selector, type):
        told = getattr(selector, "__event__", None)
        return [_provider(told.provider, told.keywords, told.level)] if told is not None else []
    if not isinstance(selector, str):
        return _of_known(registry, selector.provider, selector.id) or [_whole(selector.provider)]
    try:
        entries = select_entries(selector, registry.entries())
    except UnknownEventError:
        # Of an EventSource of the program: it describes itself when it speaks.
        provider, slash, _ = selector.rpartition("/")
        if (whole := meant_provider(selector)) is not None:
            return _providers(f"{whole}/*", registry)
        if not slash or "*" in provider:
            raise
        return [_whole(provider_name(provider))]
    found = [one for entry in entries for one in _of_known(registry, entry.provider, entry.id)]
    if is_glob(selector):
        found = [one for one in map(_cheap, found) if one.keywords]
    provider, slash, _ = selector.rpartition("/")
    if not found and slash and "*" not in provider:
        return [_whole(provider_name(provider))]
    return found


def _of_known(registry: Registry, provider: str, id: int) -> list[Provider]:
    if provider == RUNDOWN:
        # Not a provider to ask for: it comes at the end.
        return []
    known = [registry.get(provider, id, version) for version in registry.versions(provider, id)]
    return [_provider(info.provider, info.keywords, info.level) for info in known if info is not None]


def _provider(name: str, keywords: int, level: int) -> Provider:
    native = name in SHORT_PROVIDERS.values()
    everything = EVERYTHING if not native or name == SAMPLE else 0
    return Provider(name, keywords=keywords or everything, level=min(max(level, 1), VERBOSE))


def _cheap(provider: Provider) -> Provider:
    return attrs.evolve(provider, keywords=provider.keywords & ~_COSTLY) if provider.name == RUNTIME else provider


def _whole(name: str) -> Provider:
    return Provider(name, level=VERBOSE)

"""(provider, event id, version) → event class, and name → event.

A family of built-in events is imported when one of its events is first used; the generated index answers queries
about names without importing any. Users add their own. Knows nothing of traces.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.schema.layout import Layout

RUNTIME: Final = "Microsoft-Windows-DotNETRuntime"
RUNDOWN: Final = "Microsoft-Windows-DotNETRuntimeRundown"
PRIVATE: Final = "Microsoft-Windows-DotNETRuntimePrivate"
STRESS: Final = "Microsoft-Windows-DotNETRuntimeStress"
MONO: Final = "Microsoft-DotNETRuntimeMonoProfiler"
SAMPLE: Final = "Microsoft-DotNETCore-SampleProfiler"
TPL: Final = "System.Threading.Tasks.TplEventSource"
FRAMEWORK: Final = "System.Diagnostics.Eventing.FrameworkEventSource"
ASYNC: Final = "System.Runtime.CompilerServices.AsyncProfilerEventSource"
OWN: Final = "clrevents"
"""Of the events that we write ourselves."""

SHORT_PROVIDERS: Final[Mapping[str, str]] = {
    "runtime": RUNTIME,
    "rundown": RUNDOWN,
    "private": PRIVATE,
    "stress": STRESS,
    "mono": MONO,
    "sample": SAMPLE,
    "tpl": TPL,
}
"""Short names accepted wherever a provider name is."""
_BRIEF: Final = {name: short for short, name in SHORT_PROVIDERS.items()}


def short_event(provider: str, name: str) -> str:
    """An event as a selector that fits a line: the runtime's providers by their short names."""
    return f"{_BRIEF.get(provider, provider)}/{name}"


def provider_name(name: str) -> str:
    """The full name of a provider, given its full or its short name."""
    return SHORT_PROVIDERS.get(name, name)


def meant_provider(name: str) -> str | None:
    """The provider that a selector means if no event has this name: one with a short name, or a name such as events
    do not have, with a dash or a dot. None for others, which are misspelled events."""
    provider = provider_name(name)
    return provider if "/" not in name and (provider != name or "-" in name or "." in name) else None


@frozen
class EventInfo(Value):
    """One version of one event in a `Registry`; available on event classes as `__event__`."""

    provider: str
    """The full name of the provider."""
    id: int
    """The event id."""
    version: int
    """The version of the layout."""
    name: str
    """The event's name, without its version."""
    aliases: tuple[str, ...]
    """Additional names that select the event."""
    keywords: int
    """The keywords that enable the event, as a mask; for documentation only."""
    level: int
    """The level that enables the event; for documentation only."""
    record: type[Any] = attrs.field(eq=False)
    """The class of the payload."""
    layout: Layout
    """The fields of the payload."""
    only_undescribed: bool = False
    """Whether a description in the trace takes precedence over this one."""
    otherwise: type[Any] | None = attrs.field(default=None, eq=False)
    """The class of payloads that do not fit `record` exactly but this one; None if there is only one layout."""

    @property
    def own(self) -> bool:
        """Whether a user declared it. Such a layout is obeyed even if the trace describes the event differently."""
        return not self.record.__module__.startswith("clrevents.schema.events.")

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """`layout`, and that of `otherwise`."""
        other: Any = self.otherwise
        return (self.layout,) if other is None else (self.layout, other.__layout__)

    @property
    def meaning(self) -> str:
        """The first line of the docstring of the class."""
        return (self.record.__doc__ or "").strip().partition("\n")[0]


@frozen
class Entry(Value):
    """One event in all its versions, without its classes: an item of `Registry.entries`."""

    provider: str
    """The full name of the provider."""
    id: int
    """The event id."""
    name: str
    """The name of the newest version."""
    aliases: tuple[str, ...]
    """Additional names that select the event."""
    versions: tuple[int, ...]
    """The known versions, ascending."""
    module: str = ""
    """The module that declares a built-in event; empty for others."""

    @property
    def qualified(self) -> str:
        """The unambiguous name, `Provider/Event`."""
        return f"{self.provider}/{self.name}"


class Registry(Summary):
    """Event classes by provider, id and version, and by name.

    Events not found here are looked up in `parent`, which defaults to the global registry with all built-in and all
    globally registered events. `Registry(parent=None)` is empty. `index` lists events that are loaded on use; it is
    for the global registry. Registries can be pickled if their classes can.
    """

    def __init__(
        self, parent: Registry | Any | None = ..., *, index: Mapping[tuple[str, int], Entry] | None = None
    ) -> None:
        self.parent: Registry | None = DEFAULT if parent is ... else parent
        self._events: dict[tuple[str, int], dict[int, EventInfo]] = {}
        self._index = index
        self._late: dict[tuple[str, int], list[Callable[[], None]]] = {}
        self._loading: set[str] = set()
        self._loaded: set[str] = set()
        self._lock = threading.RLock()
        self._changes = 0
        self._entries: dict[tuple[str, int], Entry] = {}
        self._by_name: tuple[int, _ByName] = (-1, _ByName(()))

    def __repr__(self) -> str:
        if self is DEFAULT:
            return f"<Registry of {counted(sum(1 for _ in self.entries()), 'event')}>"
        own = counted(len(self._events), "event")
        return f"<Registry of {own}>" if self.parent is None else f"<Registry of {own}, and those of {self.parent!r}>"

    def __reduce__(self) -> str | tuple[Callable[..., Registry], tuple[Any, ...]]:
        """The global registry is pickled by name, any other with the classes registered in it."""
        if self is DEFAULT:
            return "DEFAULT"
        return _registry_of, (self.parent, tuple(i for versions in self._events.values() for i in versions.values()))

    def add(self, info: EventInfo, *, replace: bool = False) -> None:
        """Register one version of an event, `info`.

        Raises ValueError if another class has the same provider, id and version, unless `replace` is true.
        """
        with self._lock:
            key = (info.provider, info.id)
            taken = self.get(info.provider, info.id, info.version)
            if taken is not None and not replace and not _same(taken, info):
                raise ValueError(
                    f"{info.provider} event {info.id} version {info.version} is already "
                    f"{taken.record.__module__}.{taken.record.__qualname__} with other fields; "
                    "pass replace=True to replace it"
                )
            self._events.setdefault(key, {})[info.version] = info
            self._entries.pop(key, None)
            # The index has the names of built-in events already.
            self._changes += info.own or self._index is None

    def get(self, provider: str, id: int, version: int) -> EventInfo | None:
        """The `version` of the event with this `provider` and `id`; None if it is unknown."""
        versions_info = self._versions(provider, id).get(version)
        if versions_info is None and self.parent is not None:
            return self.parent.get(provider, id, version)
        return versions_info

    def best(self, provider: str, id: int, version: int) -> EventInfo | None:
        """The `version` of the event with this `provider` and `id`, or else the newest known earlier version.

        A newer version of an event starts with the fields of the older ones. None if there is none.
        """
        exact = self.get(provider, id, version)
        if exact is not None:
            return exact
        older = [v for v in self.versions(provider, id) if v < version]
        return self.get(provider, id, max(older)) if older else None

    def versions(self, provider: str, id: int) -> tuple[int, ...]:
        """The known versions of the event with this `provider` and `id`, ascending; empty if there are none."""
        own = set(self._versions(provider, id))
        if self.parent is not None:
            own.update(self.parent.versions(provider, id))
        return tuple(sorted(own))

    def declared(self, provider: str, id: int) -> frozenset[int]:
        """The known versions of one event, like `versions`, but without loading a family."""
        own = self._own(provider, id)
        versions = frozenset(own.versions if own is not None else ())
        return versions if self.parent is None else versions | self.parent.declared(provider, id)

    @property
    def has_own(self) -> bool:
        """Whether it has an event that a user declared, which other processes may not know."""
        with self._lock:
            own = any(info.own for versions in self._events.values() for info in versions.values())
        return own or (self.parent is not None and self.parent.has_own)

    def entries(self) -> Iterator[Entry]:
        """Iterate over all events by name, without loading their classes. Events registered here hide the parent's."""
        with self._lock:
            keys = {**dict.fromkeys(self._events), **dict.fromkeys(self._index or {})}
        for provider, id in keys:
            own = self._own(provider, id)
            if own is not None:
                yield own
        if self.parent is not None:
            for entry in self.parent.entries():
                if (entry.provider, entry.id) not in keys:
                    yield entry

    def ids(self, provider: str, name: str) -> Sequence[int]:
        """The ids of a provider's events with this name, ascending; usually one."""
        return sorted(entry.id for entry in self._names().named.get(name, ()) if entry.provider == provider)

    def _names(self) -> _ByName:
        """All events by their names, gathered again after a registration: traces ask for dozens of names each."""
        changes = self._count()
        if self._by_name[0] != changes:
            self._by_name = changes, _ByName(self.entries())
        return self._by_name[1]

    def _count(self) -> int:
        """A number that grows with every registration, here or in a parent."""
        return self._changes + (0 if self.parent is None else self.parent._count())

    def entry(self, provider: str, id: int) -> Entry | None:
        """One event by its key, without loading a family."""
        own = self._own(provider, id)
        if own is None and self.parent is not None:
            return self.parent.entry(provider, id)
        return own

    def _own(self, provider: str, id: int) -> Entry | None:
        """The event in this registry itself, cached until something is registered for it."""
        key = (provider, id)
        known = self._entries.get(key)
        if known is not None:
            return known
        if key not in self._events and (self._index is None or key not in self._index):
            # As nearly all of a trace's own events; nothing to wait for.
            return None
        with self._lock:
            entry = self._joined(provider, id)
            if entry is not None:
                self._entries[key] = entry
            return entry

    def _joined(self, provider: str, id: int) -> Entry | None:
        """The generated index combined with the registered events."""
        indexed = (self._index or {}).get((provider, id))
        versions = self._events.get((provider, id))
        if not versions:
            return indexed
        entry = _entry((provider, id), list(versions.values()))
        if indexed is None or indexed.name != entry.name:
            return entry
        return attrs.evolve(
            entry,
            aliases=tuple(dict.fromkeys((*indexed.aliases, *entry.aliases))),
            versions=tuple(sorted({*indexed.versions, *entry.versions})),
        )

    def events(self) -> Iterator[EventInfo]:
        """Iterate over all versions of all events, which loads their classes."""
        for entry in self.entries():
            for version in self.versions(entry.provider, entry.id):
                info = self.get(entry.provider, entry.id, version)
                if info is not None:
                    yield info

    def named(self, name: str) -> list[Entry]:
        """The events that `name` selects: by name, or else by alias, or else by `Provider/Event`; no globs."""
        return self._names().exact(name)

    def _versions(self, provider: str, id: int) -> dict[int, EventInfo]:
        entry = (self._index or {}).get((provider, id))
        if entry is not None and entry.module not in self._loaded:
            with self._lock:
                if entry.module not in self._loading:
                    # Marked first: the family's own registrations re-enter here.
                    self._loading.add(entry.module)
                    importlib.import_module(f"clrevents.schema.events.{entry.module}")
                    self._loaded.add(entry.module)
        if (provider, id) in self._late:
            with self._lock:
                if makers := self._late.get((provider, id)):
                    # Emptied first, since what is made asks for itself; removed last, since other threads wait for it.
                    self._late[provider, id] = []
                    for make in makers:
                        make()
                    del self._late[provider, id]
        return self._events.get((provider, id), {})


def _registry_of(parent: Registry | None, infos: tuple[EventInfo, ...]) -> Registry:
    registry = Registry(parent)
    for info in infos:
        registry.add(info, replace=True)
    return registry


class _ByName:
    """Entries by their names and aliases."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.named: dict[str, list[Entry]] = {}
        self._aliases: dict[str, list[Entry]] = {}
        for entry in entries:
            self.named.setdefault(entry.name, []).append(entry)
            for alias in dict.fromkeys(entry.aliases):
                self._aliases.setdefault(alias, []).append(entry)

    def exact(self, name: str) -> list[Entry]:
        """The entries that an exact name matches, in the order of precedence of selectors."""
        for index in (self.named, self._aliases):
            if name in index:
                return [*index[name]]
        for provider, event in qualified_names(name):
            for index in (self.named, self._aliases):
                entries = [entry for entry in index.get(event, ()) if entry.provider == provider]
                if entries:
                    return entries
        return []


def match_exact(name: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that an exact name matches, in the order of precedence of selectors."""
    return _ByName(entries).exact(name)


def qualified_names(name: str) -> list[tuple[str, str]]:
    """What `name` means as `Provider/Event`: at the last slash first, because names and aliases may contain slashes."""
    parts = name.split("/")
    return [(provider_name("/".join(parts[:at])), "/".join(parts[at:])) for at in range(len(parts) - 1, 0, -1)]


def _same(old: EventInfo, new: EventInfo) -> bool:
    same_place = (old.record.__module__, old.record.__qualname__) == (
        new.record.__module__,
        new.record.__qualname__,
    )
    return same_place or (old.layout == new.layout and old.name == new.name)


def _entry(key: tuple[str, int], infos: list[EventInfo]) -> Entry:
    newest = max(infos, key=lambda i: i.version)
    names = dict.fromkeys(n for i in infos for n in (i.name, *i.aliases))
    aliases = tuple(n for n in names if n != newest.name)
    return Entry(key[0], key[1], newest.name, aliases, tuple(sorted(i.version for i in infos)))


def _builtin_index() -> Mapping[tuple[str, int], Entry]:
    from clrevents.schema import _index

    index = {
        (provider, id): Entry(provider, id, name, aliases, versions, module)
        for (provider, module), events in _index.EVENTS.items()
        for id, name, aliases, versions in events
    }
    return dict(sorted(index.items()))


def make_late(provider: str, id: int, make: Callable[[], None]) -> None:
    """Have `make` register a built-in event when it is first asked for; at once if the index does not have it yet."""
    if (provider, id) in (DEFAULT._index or {}):
        DEFAULT._late.setdefault((provider, id), []).append(make)
    else:
        make()


DEFAULT: Final[Registry] = Registry(parent=None, index=_builtin_index())
"""The global registry: all built-in events, and all registered without naming a registry."""

"""Which events are wanted: selectors (class, key, name, alias, `Provider/Event`, glob) and filters, such as times.

One grammar for everything that selects. Decides by event kind first, then by integer columns; no payload.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final, TypeAlias, TypedDict

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.clock import Clock
from clrevents.decode.kinds import EventKey, EventKind, KindIndex
from clrevents.decode.rows import Rows
from clrevents.errors import AmbiguousEventError
from clrevents.schema.matching import glob, is_glob, possible_names, unknown_event
from clrevents.schema.registry import Entry, Registry, meant_provider, provider_name, qualified_names

Moment: TypeAlias = int | timedelta | datetime | str
"""A time in a trace: an int in nanoseconds or a `timedelta` since the session started, a `datetime` with a time zone,
or text: `"1.5s"`, `"200ms"`, `"50%"` of the duration, or ISO 8601 with a time zone."""

_UNITS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_AMOUNT: Final = r"\s*(-?\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min|m|h|%)\s*"
_HOW: Final = "use 1.5s, 200ms, 50%, or a date with a time zone such as 2026-01-31T14:03:22Z"


def check_moment(value: Moment | None, what: str) -> None:
    """Raise TypeError or ValueError if this cannot be a moment, before any trace is read."""
    if value is None or isinstance(value, timedelta) or (isinstance(value, int) and not isinstance(value, bool)):
        return
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError(f"{what}={value!r} has no time zone; add one, e.g. tzinfo=datetime.UTC")
        return
    if isinstance(value, str):
        if not re.fullmatch(_AMOUNT, value):
            _parse_date(value, what)
        return
    raise TypeError(f"{what} must be an int in nanoseconds, a timedelta, an aware datetime or text, not {value!r}")


def to_ns(value: Moment, what: str, clock: Clock, duration_ns: Callable[[], int]) -> int:
    """Nanoseconds since the session started; `duration_ns` is called only for percentages."""
    check_moment(value, what)
    if isinstance(value, timedelta):
        return (value.days * 86400 + value.seconds) * 10**9 + value.microseconds * 1000
    if isinstance(value, datetime):
        return clock.since_start(value)
    if isinstance(value, int):
        return value
    match = re.fullmatch(_AMOUNT, value)
    if match is None:
        return clock.since_start(_parse_date(value, what))
    from fractions import Fraction

    if match[2] == "%":
        return int(Fraction(match[1]) * duration_ns() / 100)
    return int(Fraction(match[1]) * _UNITS[match[2]])


def _parse_date(text: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{what}={text!r} is not a time; {_HOW}") from None
    if moment.tzinfo is None:
        raise TypeError(f"{what}={text!r} has no time zone; add one, e.g. {text}Z")
    return moment


Selector: TypeAlias = type[Any] | EventKey | str
"""Selects events: an event class with all versions that extend it, an `EventKey`, a name, an alias,
`Provider/Event`, a glob such as `"Method*"`, or a provider. Case matters. A name takes precedence over an alias, and a
known event over a provider."""
ThreadIds: TypeAlias = int | Iterable[int] | None
"""One thread id or several; None means all threads."""
EventName: TypeAlias = tuple[str, str]
"""(provider, name): the same for all versions of an event."""


class FilterOptions(TypedDict, total=False):
    """The filters of `Trace.events` and of every other function that selects events, as keywords.

    A missing filter, or None, selects everything. Unknown keywords raise TypeError.
    """

    provider: str | None
    """The full name, short name or glob of the events' provider. Raises TypeError unless a string."""
    process_id: int | None
    """The process that the events are about."""
    thread_id: ThreadIds
    """The thread or threads that the events are about. Raises TypeError unless integers."""
    start: Moment | None
    """The earliest time of an event, inclusive. Raises TypeError or ValueError unless a `Moment`."""
    end: Moment | None
    """The end of the time window, exclusive. Raises TypeError or ValueError unless a `Moment`."""


@frozen
class Filters:
    """`FilterOptions` after checking."""

    provider: str | None = None
    process_id: int | None = None
    thread_ids: tuple[int, ...] | None = None
    start: Moment | None = None
    end: Moment | None = None

    @classmethod
    def of(cls, options: FilterOptions) -> Filters:
        """Check filters as written by users. Raises TypeError or ValueError for malformed ones."""
        for name in options:
            if name not in FilterOptions.__annotations__:
                known = ", ".join(FilterOptions.__annotations__)
                raise TypeError(f"unexpected keyword argument {name!r}; the filters are {known}")
        start, end = options.get("start"), options.get("end")
        check_moment(start, "start")
        check_moment(end, "end")
        thread_id, provider = options.get("thread_id"), options.get("provider")
        threads: tuple[int, ...] | None = None
        if thread_id is not None:
            threads = (thread_id,) if isinstance(thread_id, int) else tuple(thread_id)
            for thread in threads:
                if not isinstance(thread, int) or not 0 <= thread < 1 << 64:
                    raise TypeError(f"thread_id must be one or more thread ids, not {thread!r}")
        if provider is not None and not isinstance(provider, str):
            raise TypeError(f"provider must be a name, not {provider!r}")
        wanted = None if provider is None else provider_name(provider)
        return cls(wanted, options.get("process_id"), threads, start, end)


@frozen(eq=False)
class Wish:
    """One selector, resolved against the registry: `test` says whether it matches a kind of event.

    `declared` are the events it matches whatever a trace holds; `exact` is the name, if it is a name and not a pattern.
    A name is only worth testing for the registry's events with these `keys`, and for others that have one of `names`; a
    pattern that fits but one text for all that have one of `texts`; a key for the kinds that have it.
    """

    selector: Selector
    test: Callable[[EventKind], bool]
    declared: frozenset[EventName] = frozenset()
    exact: str | None = None
    keys: frozenset[tuple[str, int]] = frozenset()
    names: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


class _Tested:
    """The answers of a test for the kinds of a trace by their index, each asked once."""

    def __init__(self, test: Callable[[EventKind], bool]) -> None:
        self._test = test
        self._count = 0
        self._answers = np.zeros(64, dtype=np.bool_)

    def of(self, kinds: list[EventKind]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """At least as many answers as kinds."""
        if len(kinds) > len(self._answers):
            self._answers = np.concatenate((self._answers, np.zeros(2 * len(kinds), dtype=np.bool_)))
        for index in range(self._count, len(kinds)):
            self._answers[index] = self._test(kinds[index])
        self._count = max(self._count, len(kinds))
        return self._answers


class Selection:
    """Selectors and filters, resolved once; kinds are tested as they turn up in a trace.

    `always` selects kinds that pass all filters.
    """

    def __init__(
        self, selectors: Iterable[Selector], filters: Filters, registry: Registry, always: Iterable[Selector] = ()
    ) -> None:
        self.filters = filters
        self._registry = registry
        self._met: set[str] = set()
        selectors = list(selectors)
        # Tested together where there are several: all kinds of a trace may be chosen like that, of which it has many.
        self._keys = frozenset[EventKey]()
        if len(selectors) > 1:
            self._keys = frozenset(selector for selector in selectors if isinstance(selector, EventKey))
            selectors = [selector for selector in selectors if not isinstance(selector, EventKey)]
        self._wishes = [self._resolve(selector) for selector in selectors]
        self._always = [self._resolve(selector).test for selector in always]
        # A trace may have many thousand kinds, and reports some dozen selectors: few of these are tested for each kind.
        self._patterns = [wish for wish in self._wishes if not (wish.keys or wish.names or wish.texts)]
        self._by_key: dict[tuple[str, int], list[Wish]] = {}
        self._by_name: dict[str, list[Wish]] = {}
        self._by_text: dict[str, list[Wish]] = {}
        for wish in self._wishes:
            for key in wish.keys:
                self._by_key.setdefault(key, []).append(wish)
            for name in wish.names:
                self._by_name.setdefault(name, []).append(wish)
            for text in wish.texts:
                self._by_text.setdefault(text, []).append(wish)
        self._known: dict[int, bool] = {}
        self._wanted_kinds = _Tested(self.wants)
        self._always_kinds = _Tested(lambda kind: any(test(kind) for test in self._always))
        self._window: tuple[int | None, int | None] | None = None
        only_wishes = bool(self._wishes) and not self._keys
        self.typed = only_wishes and all(isinstance(wish.selector, type) for wish in self._wishes)

    @property
    def wishes(self) -> Sequence[Wish]:
        """The selectors, in the order in which they were given, without keys if there are several selectors."""
        return self._wishes

    @property
    def everything(self) -> bool:
        """Whether nothing is excluded by kind."""
        return not (self._wishes or self._keys) and self.filters.provider is None

    def wants(self, kind: EventKind) -> bool:
        """Whether events of this kind are selected (the answer is cached by kind)."""
        known = self._known.get(kind.index)
        if known is None:
            known = self._known[kind.index] = self._chooses(kind)
        return known

    def _chooses(self, kind: EventKind) -> bool:
        provider = self.filters.provider
        return self.means(kind) and (provider is None or _match(kind.key.provider, provider))

    def chosen(self, kinds: KindIndex) -> list[EventKind]:
        """Those of all kinds of a trace whose events are selected, whatever the other filters say.

        Every name among the selectors learns whether the trace knows it.
        """
        if self._always:
            return [kind for kind in kinds.every if self._chooses(kind) or any(test(kind) for test in self._always)]
        return [kind for kind in self.candidates(kinds) if self._chooses(kind)]

    def means(self, kind: EventKind) -> bool:
        """Whether any selector matches this kind, whatever the filters say; without selectors every kind matches."""
        if not (self._wishes or self._keys):
            return True
        # Every wish is asked, so that each exact name learns whether it occurred.
        return bool(self.wishes_for(kind)) or kind.key in self._keys

    def wishes_for(self, kind: EventKind) -> list[Wish]:
        """Those of `wishes` that match this kind, whatever the filters say; one may be there several times."""
        wishes = [*self._patterns, *self._by_key.get((kind.key.provider, kind.key.id), ())]
        for name in (kind.entry.name, *kind.entry.aliases):
            wishes += self._by_text.get(name, ())
            if not kind.entry.versions:
                wishes += self._by_name.get(name, ())
        # Every test runs, so that each exact name learns whether it occurred.
        return [wish for wish in wishes if wish.test(kind)]

    def candidates(self, kinds: KindIndex) -> Sequence[EventKind]:
        """The kinds that any selector can match: all of them if there is a pattern, or nothing is selected."""
        if self._patterns or not (self._wishes or self._keys):
            return kinds.every
        keys = ((key.provider, key.id) for key in self._keys)
        return kinds.having(chain(self._by_key, keys), (*self._by_name, *self._by_text))

    def events(self, kinds: Iterable[EventKind]) -> list[EventName]:
        """The events that selectors match, among these kinds and those that the registry knows by name."""
        event_names = {(kind.key.provider, kind.key.name) for kind in kinds if self.means(kind)}
        event_names.update((key.provider, key.name) for key in self._keys)
        return sorted(event_names.union(*(wish.declared for wish in self._wishes)))

    def one_event(self, kinds: Iterable[EventKind] = ()) -> EventName | None:
        """The one matching event; None if there is none.

        Raises AmbiguousEventError if there are several, judging by the trace read so far.
        """
        (wish,) = self._wishes
        return only_event(wish.selector, self.events(kinds))

    def rows(
        self,
        rows: Rows,
        kinds: list[EventKind],
        clock: Clock,
        duration_ns: Callable[[], int],
        process_id: int | None,
    ) -> Rows:
        """The selected rows, in the same order; `process_id` is the trace's own, if it has one.

        Kinds selected by `always` pass every filter.
        """
        every = rows
        if self._always:
            # To find those again that pass.
            rows = attrs.evolve(rows, file_rows=np.arange(len(rows)))
        if not self.everything:
            rows = rows.take(self.wanted(kinds)[rows.kind_indexes])
        filters = self.filters
        if filters.process_id is not None:
            own = rows.process_ids or [None] * len(rows)
            keep = np.array([(process_id if p is None else p) == filters.process_id for p in own], dtype=np.bool_)
            rows = rows.take(keep)
        if filters.thread_ids is not None and len(rows):
            rows = rows.take(np.isin(rows.thread_ids, np.array(filters.thread_ids, dtype=np.uint64)))
        if (filters.start is not None or filters.end is not None) and len(rows):
            low, high = self._ticks(clock, duration_ns)
            keep = np.ones(len(rows), dtype=np.bool_)
            if low is not None:
                keep &= rows.ticks >= low
            if high is not None:
                keep &= rows.ticks < high
            rows = rows.take(keep)
        if not self._always:
            return rows
        chosen = self._always_kinds.of(kinds)[every.kind_indexes]
        chosen[rows.file_rows] = True
        return every.take(chosen)

    def check_names(self, kinds: Iterable[EventKind]) -> None:
        """After the pass: raises UnknownEventError for an exact name that neither the registry nor the trace knows."""
        kinds = list(kinds)
        for wish in self._wishes:
            name = wish.exact
            if name is None or name in self._met or wish.declared:
                continue
            known = {n for e in self._registry.entries() for n in (e.name, *e.aliases)}
            for kind in kinds:
                known.update((kind.entry.name, *kind.entry.aliases, kind.entry.qualified))
            raise unknown_event(name, known)

    def wanted(self, kinds: list[EventKind]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether events of each of these kinds are selected; at least as many answers as kinds."""
        return self._wanted_kinds.of(kinds)

    def _ticks(self, clock: Clock, duration_ns: Callable[[], int]) -> tuple[int | None, int | None]:
        if self._window is None:
            bounds = []
            for what, moment in (("start", self.filters.start), ("end", self.filters.end)):
                tick = None
                if moment is not None:
                    tick = clock.first_tick(to_ns(moment, what, clock, duration_ns))
                    tick = max(min(tick, (1 << 63) - 1), -(1 << 63))
                bounds.append(tick)
            self._window = bounds[0], bounds[1]
        return self._window

    def _resolve(self, selector: Selector) -> Wish:
        if isinstance(selector, type):
            if not hasattr(selector, "__layout__"):
                raise TypeError(f"{selector!r} is not an event class (see clrevents.events)")
            info = getattr(selector, "__event__", None)
            return Wish(
                selector,
                lambda kind: kind.info is not None and issubclass(kind.info.record, selector),
                frozenset() if info is None else frozenset({(info.provider, info.name)}),
            )
        if isinstance(selector, EventKey):
            declared = frozenset({(selector.provider, selector.name)})
            keys = frozenset({(selector.provider, selector.id)})
            return Wish(selector, lambda kind: kind.key == selector, declared, keys=keys)
        if not isinstance(selector, str):
            raise TypeError(f"a selector must be an event class, an EventKey or a name, not {selector!r}")
        if is_glob(selector):
            fits = glob(selector)
            return Wish(selector, lambda kind: fits(kind.entry), texts=possible_names(selector))
        return self._named(selector)

    def _named(self, name: str) -> Wish:
        entries = self._registry.named(name)
        keys = {(entry.provider, entry.id) for entry in entries}
        qualified = qualified_names(name)
        whole = None if entries else meant_provider(name)

        def test(kind: EventKind) -> bool:
            if (kind.key.provider, kind.key.id) in keys or means(kind.entry) or kind.key.provider == whole:
                self._met.add(name)
                return True
            return False

        def means(entry: Entry) -> bool:
            # An entry known to the registry was already found with the registry's own precedence.
            if entry.versions:
                return False
            if entry.name == name or name in entry.aliases:
                return True
            return any(
                entry.provider == provider and (entry.name == event or event in entry.aliases)
                for provider, event in qualified
            )

        declared = frozenset((entry.provider, entry.name) for entry in entries)
        # All events of a provider have any names.
        names = frozenset[str]() if whole else frozenset((name, *(event for _, event in qualified)))
        return Wish(name, test, declared, name, frozenset(keys), names)


def only_event(selector: Selector, candidates: Iterable[EventName]) -> EventName | None:
    """The one event among those that a selector matches; None if there is none. Raises AmbiguousEventError."""
    events = sorted(candidates)
    if len(events) > 1:
        names = ", ".join(f"{provider}/{name}" for provider, name in events)
        raise AmbiguousEventError(f"{selector!r} means several events; write one of: {names}")
    return events[0] if events else None


def _match(name: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(name, wanted) if is_glob(wanted) else name == wanted

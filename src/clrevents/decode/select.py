"""Which events are wanted: selectors (class, key, name, alias, `Provider/Event`, glob) and filters.

One grammar for everything that selects. Decides by event kind first, then by integer columns; no payload.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import attrs
import numpy as np

from clrevents.decode.clock import Clock
from clrevents.decode.kinds import EventKey, EventKind
from clrevents.decode.region import Rows
from clrevents.decode.when import Moment, check_moment, to_ns
from clrevents.errors import AmbiguousEventError
from clrevents.schema.names import glob, is_glob, unknown_event
from clrevents.schema.registry import Entry, Registry, match_exact, provider_name

Selector: TypeAlias = type[Any] | EventKey | str
Threads: TypeAlias = int | Iterable[int] | None


@attrs.frozen
class Filters:
    """What is asked of an event besides its kind. Times are half-open: start <= time < end."""

    provider: str | None = None
    process_id: int | None = None
    thread_ids: tuple[int, ...] | None = None
    start: Moment | None = None
    end: Moment | None = None

    @classmethod
    def of(
        cls,
        provider: str | None = None,
        process_id: int | None = None,
        thread_id: Threads = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> Filters:
        """Filters as users write them. TypeError or ValueError for what makes no sense."""
        check_moment(start, "start")
        check_moment(end, "end")
        threads: tuple[int, ...] | None = None
        if thread_id is not None:
            threads = (thread_id,) if isinstance(thread_id, int) else tuple(thread_id)
            for thread in threads:
                if not isinstance(thread, int) or not 0 <= thread < 1 << 64:
                    raise TypeError(f"thread_id must be one or several thread numbers, not {thread!r}")
        if provider is not None and not isinstance(provider, str):
            raise TypeError(f"provider must be a name, not {provider!r}")
        return cls(None if provider is None else provider_name(provider), process_id, threads, start, end)


class Selection:
    """Selectors and filters, resolved as the kinds of a trace come to be known.

    `always` selects kinds that are wanted wherever they stand, whatever the filters say.
    """

    def __init__(
        self, selectors: Iterable[Selector], filters: Filters, registry: Registry, always: Iterable[Selector] = ()
    ) -> None:
        self.filters = filters
        self._registry = registry
        self._tests = [self._test(s) for s in selectors]
        self._names: dict[str, list[str]] = {}
        self._met: set[str] = set()
        self._always = [self._test(s) for s in always]
        self._known: dict[int, bool] = {}
        self._array = np.zeros(0, dtype=np.bool_)
        self._window: tuple[int | None, int | None] | None = None
        self._exact = [s for s in selectors if isinstance(s, str) and not is_glob(s)]
        self.typed = bool(self._tests) and all(isinstance(s, type) for s in selectors)

    @property
    def everything(self) -> bool:
        """Whether nothing was left out by kind."""
        return not self._tests and self.filters.provider is None

    def wants(self, kind: EventKind) -> bool:
        """Whether events of this kind are selected (the answer is remembered by kind)."""
        known = self._known.get(kind.index)
        if known is None:
            provider = self.filters.provider
            known = provider is None or _match(kind.key.provider, provider)
            if self._tests:
                # Every test runs, so that each exact name learns whether it was met.
                met = [test(kind) for test in self._tests]
                known = any(met) and known
            self._known[kind.index] = known
        return known

    def rows(
        self,
        rows: Rows,
        kinds: list[EventKind],
        clock: Clock,
        duration_ns: Callable[[], int],
        process_id: int | None,
    ) -> Rows:
        """The selected rows, in the same order; `process_id` is the trace's own, if it has one.

        Kinds that are wanted `always` pass every filter.
        """
        if self._always:
            always = np.array([any(test(k) for test in self._always) for k in kinds], dtype=np.bool_)[rows.kinds]
            chosen = np.zeros(len(rows), dtype=np.bool_)
            place = attrs.evolve(rows, file_rows=np.arange(len(rows)))
            chosen[self._filtered(place, kinds, clock, duration_ns, process_id).file_rows] = True
            return rows.take(always | chosen)
        return self._filtered(rows, kinds, clock, duration_ns, process_id)

    def _filtered(
        self,
        rows: Rows,
        kinds: list[EventKind],
        clock: Clock,
        duration_ns: Callable[[], int],
        process_id: int | None,
    ) -> Rows:
        if not self.everything:
            rows = rows.take(self._wanted(kinds)[rows.kinds])
        filters = self.filters
        if filters.process_id is not None:
            own = rows.process_ids() or [None] * len(rows)
            keep = np.array([(process_id if p is None else p) == filters.process_id for p in own], dtype=np.bool_)
            rows = rows.take(keep)
        if filters.thread_ids is not None and len(rows):
            rows = rows.take(np.isin(rows.threads, np.array(filters.thread_ids, dtype=np.uint64)))
        if (filters.start is not None or filters.end is not None) and len(rows):
            low, high = self._ticks(clock, duration_ns)
            keep = np.ones(len(rows), dtype=np.bool_)
            if low is not None:
                keep &= rows.times >= low
            if high is not None:
                keep &= rows.times < high
            rows = rows.take(keep)
        return rows

    def check_names(self, kinds: Iterable[EventKind]) -> None:
        """After the pass: UnknownEventError for an exact name that neither the registry nor the trace knows."""
        kinds = list(kinds)
        for name in self._exact:
            if name in self._met or self._registry.named(name):
                continue
            known = {n for e in self._registry.entries() for n in (e.name, *e.aliases)}
            for kind in kinds:
                known.update((kind.entry.name, *kind.entry.aliases, kind.entry.qualified))
            raise unknown_event(name, known)

    def _wanted(self, kinds: list[EventKind]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        if len(self._array) < len(kinds):
            self._array = np.array([self.wants(k) for k in kinds], dtype=np.bool_)
        return self._array

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

    def _test(self, selector: Selector) -> Callable[[EventKind], bool]:
        if isinstance(selector, type):
            if not hasattr(selector, "__layout__"):
                raise TypeError(f"{selector!r} is not an event class (see clrevents.events)")
            wanted = selector
            return lambda kind: kind.info is not None and issubclass(kind.info.record, wanted)
        if isinstance(selector, EventKey):
            key = selector
            return lambda kind: kind.key == key
        if not isinstance(selector, str):
            raise TypeError(f"a selector is an event class, an EventKey or a name, not {selector!r}")
        if is_glob(selector):
            fits = glob(selector)
            return lambda kind: fits(kind.entry)
        return self._named(selector)

    def _named(self, name: str) -> Callable[[EventKind], bool]:
        keys = {(e.provider, e.id) for e in self._registry.named(name)}

        def test(kind: EventKind) -> bool:
            if (kind.key.provider, kind.key.id) in keys or _means(name, kind.entry):
                self._met.add(name)
                return True
            return False

        def _means(name: str, entry: Entry) -> bool:
            # An entry that the registry knows was already found through the registry's own precedence.
            return not entry.versions and bool(match_exact(name, [entry]))

        return test


def one_event(selector: Selector, registry: Registry, kinds: Iterable[EventKind]) -> set[tuple[str, str]]:
    """The (provider, name) pairs a selector means here. Raises unless it is exactly one or none occurs."""
    selection = Selection((selector,), Filters(), registry)
    kinds = list(kinds)
    found = {(k.key.provider, k.key.name) for k in kinds if selection.wants(k)}
    if isinstance(selector, str) and not is_glob(selector):
        found |= {(e.provider, e.name) for e in registry.named(selector)}
    if len(found) > 1:
        names = sorted(f"{provider}/{name}" for provider, name in found)
        raise AmbiguousEventError(f"{selector!r} means several events; write one of: {', '.join(names)}")
    if not found:
        selection.check_names(kinds)
    return found


def _match(name: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(name, wanted) if is_glob(wanted) else name == wanted

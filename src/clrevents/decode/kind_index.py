"""The kinds of a trace by what a name asks for: a trace may have many thousand, and reports ask for dozens of names.

Finds candidates only; whether a selector matches one is the selection's business.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from clrevents.decode.kinds import EventKind


@attrs.frozen(eq=False)
class KindIndex:
    """`every` kind, and those with an identity (provider, id), and with a name or an alias."""

    every: tuple[EventKind, ...]
    _by_key: dict[tuple[str, int], list[EventKind]] = attrs.field(factory=dict, init=False)
    _by_name: dict[str, list[EventKind]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for kind in self.every:
            self._by_key.setdefault((kind.key.provider, kind.key.id), []).append(kind)
            for name in {kind.entry.name, *kind.entry.aliases}:
                self._by_name.setdefault(name, []).append(kind)

    def having(self, keys: Iterable[tuple[str, int]], names: Iterable[str]) -> list[EventKind]:
        """The kinds with one of these identities or names, in the order of the trace."""
        found = {kind.index: kind for key in keys for kind in self._by_key.get(key, ())}
        found.update((kind.index, kind) for name in names for kind in self._by_name.get(name, ()))
        return [found[index] for index in sorted(found)]

"""Events by name: globs over the entries of a registry, and what a name that fits nothing may have meant.

Exact names are the registry's own (`match_exact`). Knows no traces.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable, Iterable
from typing import Final

from clrevents.errors import UnknownEventError
from clrevents.schema.registry import Entry, match_exact, provider_name

_GLOB: Final = re.compile(r"[*?\[]")


def is_glob(text: str) -> bool:
    """Whether this is a pattern and not an exact name."""
    return _GLOB.search(text) is not None


def glob(pattern: str) -> Callable[[Entry], bool]:
    """A test for entries whose name, alias or `Provider/Event` fits the pattern; case matters."""
    match = re.compile(fnmatch.translate(pattern)).match
    provider, slash, event = pattern.rpartition("/")
    full = re.compile(fnmatch.translate(f"{provider_name(provider)}/{event}")).match if slash else match

    def test(entry: Entry) -> bool:
        names = (entry.name, *entry.aliases)
        return any(match(n) for n in names) or any(full(f"{entry.provider}/{n}") for n in names)

    return test


def select_entries(selector: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a name or a pattern means. UnknownEventError for a name that means none."""
    known = list(entries)
    if is_glob(selector):
        return list(filter(glob(selector), known))
    found = match_exact(selector, known)
    if not found:
        raise unknown_event(selector, (n for e in known for n in (e.name, *e.aliases, e.qualified)))
    return found


def unknown_event(name: str, known: Iterable[str]) -> UnknownEventError:
    """The error for a name that nothing has, with what it may have meant."""
    names = sorted(set(known))
    lower = {n.lower(): n for n in names}
    close = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    prefixed = [n for n in names if n.lower().startswith(name.lower())]
    near = list(dict.fromkeys([*close, *prefixed]))[:3]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return UnknownEventError(f"no event {name!r}{hint}")

"""Events by name: globs over the entries of a registry, and suggestions for a name without a match.

Exact names are the registry's own (`match_exact`). Knows no traces.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from clrevents.errors import UnknownEventError
from clrevents.schema.registry import Entry, match_exact, provider_name

_GLOB: Final = re.compile(r"[*?\[]")
# A character in brackets, which stands for itself.
_ONE: Final = re.compile(r"\[([^]!^\\-])\]")
_SHOWN: Final = 5
_TYPO: Final = 0.85
_SIMILAR: Final = 0.65
"""How similar two names are (0 to 1) if one is probably a typo of the other, and if there is nothing better."""
_PART: Final = 3
"""The number of letters a part of a name must have to be significant."""


def is_glob(text: str) -> bool:
    """Whether this is a pattern rather than an exact name."""
    return _GLOB.search(text) is not None


def only_text(pattern: str) -> str | None:
    """The text that a pattern fits, if it fits but one: wherever it is not plain it names a character."""
    return _ONE.sub(r"\1", pattern) if not is_glob(_ONE.sub("", pattern)) else None


def possible_names(pattern: str) -> frozenset[str]:
    """The only names and aliases of events that a pattern can match; empty if there is no bound on them."""
    provider, slash, event = pattern.rpartition("/")
    whole = (pattern, f"{provider_name(provider)}/{event}") if slash else (pattern,)
    texts = [only_text(each) for each in whole]
    # A name may have slashes, and so may a provider.
    return frozenset() if None in texts else frozenset(part for text in texts if text for part in _tails(text))


def _tails(text: str) -> Iterator[str]:
    """The text, and what follows each slash in it."""
    while text:
        yield text
        text = text.partition("/")[2]


def glob(pattern: str) -> Callable[[Entry], bool]:
    """A test for entries whose name, alias or `Provider/Event` matches the pattern; case matters."""
    match = re.compile(fnmatch.translate(pattern)).match
    provider, slash, event = pattern.rpartition("/")
    full = re.compile(fnmatch.translate(f"{provider_name(provider)}/{event}")).match if slash else match

    def test(entry: Entry) -> bool:
        return any(match(name) or full(f"{entry.provider}/{name}") for name in (entry.name, *entry.aliases))

    return test


def select_entries(selector: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a name or a pattern matches. Raises UnknownEventError for a name without a match."""
    known = list(entries)
    if is_glob(selector):
        return list(filter(glob(selector), known))
    matched = match_exact(selector, known)
    if not matched:
        raise unknown_event(selector, (n for e in known for n in (e.name, *e.aliases, e.qualified)))
    return matched


def unknown_event(name: str, known: Iterable[str]) -> UnknownEventError:
    """The exception for an unknown name, with at most five suggestions."""
    near = list(islice(_near(name, sorted(set(known), key=_simple)), _SHOWN))
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return UnknownEventError(f"no event {name!r}{hint}")


def _near(name: str, names: Sequence[str]) -> Iterator[str]:
    """Names similar to this one, the likeliest first: typos, prefixes, parts, and merely similar ones.

    Names with a slash are aliases of the same events, so they go last or are left out.
    """
    wanted = name.lower()
    event = wanted.rpartition("/")[2]
    lower = {n.lower(): n for n in reversed(names)}
    import difflib

    close = difflib.get_close_matches(wanted, lower, n=_SHOWN, cutoff=_TYPO)
    similar = difflib.get_close_matches(wanted, lower, n=_SHOWN, cutoff=_SIMILAR)
    if event != wanted and event:
        close += difflib.get_close_matches(event, lower, n=_SHOWN, cutoff=_TYPO)
    begin = [n for n in lower if event and n.startswith(event)]
    inside = [n for n in lower if len(event) >= _PART and event in n.rpartition("/")[2]]
    ordered = sorted(begin, key=_simple) + sorted(inside, key=_simple)
    ordered = [n for n in ordered if "/" not in n] or ordered
    said: set[str] = set()
    for name_near in (*close, *ordered, *([] if ordered else similar)):
        last = name_near.rpartition("/")[2]
        if name_near not in said and last not in said:
            said |= {name_near, last}
            yield lower[name_near]


def _simple(name: str) -> tuple[bool, int, str]:
    return "/" in name, len(name), name

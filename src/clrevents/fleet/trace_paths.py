"""Paths, folders, patterns and URLs → the paths and URLs of traces, in order, each once. Opens none.

What was found, not named, may be anything: as a `FoundPath` it is opened only if it is a file.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from clrevents.sources import FoundPath, file_system, is_url, unreadable

Places: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

ENDINGS: Final = (".nettrace", ".netperf", ".nettrace.gz", ".netperf.gz")
"""The names of traces in a folder."""


def trace_paths(places: Places) -> tuple[str, ...]:
    """All traces: a path unchanged, a folder's traces and a pattern's matches in order of their names.

    A file that does not exist is included: opening it will say so. Raises FileNotFoundError for a pattern or a folder
    without any trace, because an empty answer would look like one, SourceError for a folder that cannot be read, and
    TypeError for anything but paths.
    """
    given = [places] if isinstance(places, str | os.PathLike) else list(places)
    paths: dict[str, None] = {}
    for place in given:
        if not isinstance(place, str | os.PathLike):
            raise TypeError(f"expected paths, patterns or URLs, not {type(place).__name__}")
        paths.update(dict.fromkeys(_expanded(str(os.fspath(place)))))
    return tuple(paths)


def _expanded(place: str) -> Iterator[str]:
    if is_url(place):
        yield from _expanded_url(place)
    elif os.path.isdir(place):
        yield from _some(place, sorted(name for name in _files(place) if name.lower().endswith(ENDINGS)))
    elif glob.has_magic(place) and not os.path.exists(place):
        yield from _some(place, sorted(name for name in glob.glob(place, recursive=True) if not os.path.isdir(name)))
    else:
        yield place


def _files(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (os.path.join(folder, entry.name) for entry in entries if not os.path.isdir(entry.path))
    except OSError as error:
        raise unreadable(error, folder) from error


def is_url_pattern(url: str) -> bool:
    """Whether a URL is a pattern; a question mark begins the query of a web address."""
    return "*" in url or "[" in url


def _expanded_url(url: str) -> Iterator[str]:
    if not is_url_pattern(url):
        yield url
        return
    system, path = file_system(url)
    yield from _some(url, sorted(system.unstrip_protocol(name) for name in system.glob(path)))


def _some(place: str, paths: list[str]) -> list[str]:
    if not paths:
        raise FileNotFoundError(f"no trace in {place}" if os.path.isdir(place) else f"no trace matches {place}")
    return list(map(FoundPath, paths))


def file_size(path: str, remote: int) -> int:
    """How large a file is; `remote` for one that only a request would tell of, 0 for one that cannot be opened."""
    try:
        return remote if is_url(path) else os.stat(path).st_size
    except (OSError, ValueError):
        # Opening it says why.
        return 0


def bundled(
    paths: Iterable[str], size_of: Callable[[str], int], most_bytes: int, most: int = sys.maxsize
) -> Iterator[tuple[str, ...]]:
    """The paths in their order, in groups of up to `most_bytes` and of up to `most` paths."""
    bundle: list[str] = []
    size = 0
    for path in paths:
        more = size_of(path)
        if bundle and (len(bundle) == most or size + more > most_bytes):
            yield tuple(bundle)
            bundle, size = [], 0
        bundle.append(path)
        size += more
    if bundle:
        yield tuple(bundle)

"""Names from a trace → file names valid on every system: cannot leave a folder, not reserved, not too long.

Depends on the name alone, so that an event's file has the same name for every trace. Creates no file.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePath
from typing import Final

_LONGEST: Final = 100
"""Bytes; with suffixes and a temporary one this stays far below the limit of 255 that file systems have."""
_PLAIN: Final = "-_.+(),"
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_ENDINGS: Final = re.compile(r"\.(nettrace|netperf)$", re.IGNORECASE)


def safe_name(name: str) -> str:
    """A file name without suffix: the name itself if it is harmless, otherwise a similar text and a hash.

    Distinct names give distinct results: `~`, which precedes the hash, is in no harmless name.
    """
    shown = "".join(c if _harmless(c) else "_" for c in unicodedata.normalize("NFC", name))
    # A leading dot hides a file, a leading underscore is reserved for us, and Windows drops trailing dots.
    shown = shown.lstrip("._-").rstrip(".")
    if _RESERVED.fullmatch(shown):
        shown = shown.replace(".", "_")
    elif name and shown == name and len(shown.encode()) <= _LONGEST:
        return shown
    cut = shown.encode()[: _LONGEST - 9].decode(errors="ignore")
    return f"{cut or 'unnamed'}~{name_hash(name)}"


def name_hash(name: str, digits: int = 8) -> str:
    """Hex digits that distinguish names, up to 64. Eight distinguish all but those made to have the same."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _harmless(char: str) -> bool:
    return char.isalnum() or char in _PLAIN


class Names:
    """Names inside one folder, distinct even if they differ only by case or were made to have equal hashes."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The file's name; the same for every call."""
        if name not in self._given:
            safe = safe_name(name)
            shown = safe.partition("~")[0]
            tries = (safe, f"{shown}~{name_hash(name)}", f"{shown}~{name_hash(name, 64)}")
            self._given[name] = next(file for file in tries if self._taken.setdefault(_folded(file), name) == name)
        return self._given[name]


def _folded(name: str) -> str:
    """What a case-insensitive file system compares."""
    return unicodedata.normalize("NFC", name.casefold())


def trace_stem(file: str) -> str:
    """A trace's name from its file name: without folder, `.gz` and `.nettrace`."""
    name = PurePath(file).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return safe_name(_ENDINGS.sub("", name))

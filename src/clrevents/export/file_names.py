"""Names from a trace → names for files, on every system: no way out of a folder, nothing reserved, nothing too long.

A function of the name alone, so that an event's file is called the same for every trace. Creates no file.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePath
from typing import Final

_LONGEST: Final = 100
"""Bytes; with endings and a temporary one this stays far below the 255 that file systems allow."""
_PLAIN: Final = "-_.+(),"
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_ENDINGS: Final = re.compile(r"\.(nettrace|netperf)$", re.IGNORECASE)


def safe_name(name: str) -> str:
    """A file's name, without ending: the name itself where that is harmless, else what it looks like and a hash.

    No other name gives the same: `~`, which goes in front of the hash, is in no harmless name.
    """
    shown = "".join(c if _harmless(c) else "_" for c in unicodedata.normalize("NFC", name))
    # In front, dots hide and underscores are ours; behind, Windows drops dots.
    shown = shown.lstrip("._-").rstrip(".")
    if _RESERVED.fullmatch(shown):
        shown = shown.replace(".", "_")
    elif name and shown == name and len(shown.encode()) <= _LONGEST:
        return shown
    cut = shown.encode()[: _LONGEST - 9].decode(errors="ignore")
    return f"{cut or 'unnamed'}~{name_hash(name)}"


def name_hash(name: str) -> str:
    """Eight hex digits that tell one name from another."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _harmless(char: str) -> bool:
    return char.isalnum() or char in _PLAIN


class Names:
    """Names inside one folder, where two that differ in case only are told apart too."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The file's name; asked again, the same one."""
        safe = safe_name(name)
        owner = self._taken.setdefault(_folded(safe), name)
        return safe if owner == name else f"{safe.partition('~')[0]}~{name_hash(name)}"


def _folded(name: str) -> str:
    """What a file system that ignores case compares."""
    return unicodedata.normalize("NFC", name.casefold())


def trace_stem(file: str) -> str:
    """A trace's name by its file's: without folder, `.gz` and `.nettrace`."""
    name = PurePath(file).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return safe_name(_ENDINGS.sub("", name))

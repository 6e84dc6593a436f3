"""Which files an agent may name: regular files below the given folders, opened once, without following any link.

What is opened is what was checked, whatever is put in its place meanwhile. Knows no trace.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from clrevents._util.value_classes import frozen

_SUFFIXES: Final = (".nettrace", ".netperf", ".nettrace.gz", ".netperf.gz")
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = sum(getattr(os, f"O_{flag}", 0) for flag in ("NOFOLLOW", "NONBLOCK", "NOCTTY", "BINARY"))
"""A pipe would be waited for."""


@frozen
class Roots:
    """Folders, by their real paths, and as they were given. Paths in questions are relative to one of them, or
    absolute."""

    folders: tuple[Path, ...]
    given: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[str | os.PathLike[str]]) -> Roots:
        """Raises NotADirectoryError for what is no folder."""
        found = tuple(Path(folder).resolve() for folder in folders)
        for folder in found:
            if not folder.is_dir():
                raise NotADirectoryError(f"{folder} is no folder")
        return cls(found, tuple(Path(os.path.abspath(folder)) for folder in folders))

    def open(self, path: str) -> BinaryIO:
        """A file, called as `traces` lists it. Raises ValueError, without saying what else there is, if there is none
        below a root."""
        if "\0" not in path:
            for folder, given in zip(self.folders, self.given, strict=True):
                for root in (folder, given):
                    name = os.path.relpath(os.path.normpath(root / path), root)
                    if name.split(os.sep)[0] not in (os.curdir, os.pardir):
                        with suppress(OSError, ValueError):
                            return _opened(folder, name)
        raise ValueError("no such trace below the roots; overview without a path lists what is there")

    def traces(self) -> list[tuple[str, int]]:
        """All traces below the roots with their sizes, by name; links are none."""
        found: dict[str, int] = {}
        for root in self.folders:
            for name, held in _files(root):
                if name.endswith(_SUFFIXES) and stat.S_ISREG(held.st_mode):
                    found.setdefault(Path(name).as_posix(), held.st_size)
        return sorted(found.items())


def _opened(folder: Path, name: str) -> BinaryIO:
    """A file below a folder, one part of its path after the other. Raises OSError."""
    *folders, last = name.split(os.sep)
    if os.open in os.supports_dir_fd:
        at = os.open(folder, os.O_RDONLY | _FOLDER)
        try:
            for part in folders:
                inner = os.open(part, os.O_RDONLY | _FOLDER, dir_fd=at)
                os.close(at)
                at = inner
            held = os.open(last, os.O_RDONLY | _FILE, dir_fd=at)
        finally:
            os.close(at)
    else:
        # Windows can only look before.
        if os.path.realpath(folder / name) != str(folder / name):
            raise FileNotFoundError(name)
        held = os.open(folder / name, os.O_RDONLY | _FILE)
    if not stat.S_ISREG(os.fstat(held).st_mode):
        os.close(held)
        raise FileNotFoundError(name)
    return open(Path(name).as_posix(), "rb", buffering=0, opener=lambda *_: held)


def _files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """What is below a folder, by its path from there; folders behind links are not entered."""
    for folder, _, names, *at in getattr(os, "fwalk", os.walk)(root):
        for name in names:
            # It may be gone.
            with suppress(OSError):
                path = os.path.join(folder, name)
                held = os.stat(name, dir_fd=at[0], follow_symlinks=False) if at else os.lstat(path)
                yield os.path.relpath(path, root), held

"""Which files an agent may name: real files below the given folders, and nothing else, whatever links say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from clrevents._util.value_classes import frozen

_SUFFIXES = (".nettrace", ".netperf", ".nettrace.gz", ".netperf.gz")


@frozen
class Roots:
    """Folders, by their real paths. Paths in questions are relative to one of them, or absolute."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[str | os.PathLike[str]]) -> Roots:
        """Raises NotADirectoryError for what is no folder."""
        found = tuple(Path(folder).resolve() for folder in folders)
        for folder in found:
            if not folder.is_dir():
                raise NotADirectoryError(f"{folder} is no folder")
        return cls(found)

    def file(self, path: str) -> Path:
        """The real path of a file. Raises ValueError, without saying what else there is, if it is not below a root."""
        if "\0" not in path:
            for root in self.folders:
                real = _real(root / path)
                if any(real.is_relative_to(folder) for folder in self.folders) and real.is_file():
                    return real
        raise ValueError("no such trace below the roots; overview without a path lists what is there")

    def name(self, real: Path) -> str:
        """How questions may call a file."""
        root = next(folder for folder in self.folders if real.is_relative_to(folder))
        return real.relative_to(root).as_posix()

    def traces(self) -> Iterator[Path]:
        """All traces below the roots, by name; links that lead out of them are none."""
        found = {}
        for root in self.folders:
            for folder, _, names in os.walk(root):
                for name in names:
                    real = _real(Path(folder) / name)
                    if name.endswith(_SUFFIXES) and real.is_file() and real.is_relative_to(root):
                        found[self.name(real)] = real
        return (found[name] for name in sorted(found))


def _real(path: Path) -> Path:
    """Where links lead; a loop of links stays what it is, which is no file."""
    return Path(os.path.realpath(path))

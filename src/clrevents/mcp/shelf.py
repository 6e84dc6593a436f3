"""Traces that agents ask about: opened once, one question at a time, the last few kept; answers kept with them.

Agents may name regular files below the given folders; these are opened without following any link. A file that has
changed is opened anew. Knows no protocol.
"""

from __future__ import annotations

import os
import stat
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from clrevents import Trace
from clrevents import open as open_trace
from clrevents._util.value_classes import frozen
from clrevents.fleet.trace_paths import ENDINGS

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
        resolved = tuple(Path(folder).resolve() for folder in folders)
        for folder in resolved:
            if not folder.is_dir():
                raise NotADirectoryError(f"{folder} is no folder")
        return cls(resolved, tuple(Path(os.path.abspath(folder)) for folder in folders))

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
        sizes: dict[str, int] = {}
        for root in self.folders:
            for name, status in _files(root):
                if name.endswith(ENDINGS) and stat.S_ISREG(status.st_mode):
                    sizes.setdefault(Path(name).as_posix(), status.st_size)
        return sorted(sizes.items())


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
            descriptor = os.open(last, os.O_RDONLY | _FILE, dir_fd=at)
        finally:
            os.close(at)
    else:
        # Windows can only look before.
        if os.path.realpath(folder / name) != str(folder / name):
            raise FileNotFoundError(name)
        descriptor = os.open(folder / name, os.O_RDONLY | _FILE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(name)
    return open(Path(name).as_posix(), "rb", buffering=0, opener=lambda *_: descriptor)


def _files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """What is below a folder, by its path from there; folders behind links are not entered."""
    for folder, _, names, *at in getattr(os, "fwalk", os.walk)(root):
        for name in names:
            # It may be gone.
            with suppress(OSError):
                path = os.path.join(folder, name)
                status = os.stat(name, dir_fd=at[0], follow_symlinks=False) if at else os.lstat(path)
                yield os.path.relpath(path, root), status


T = TypeVar("T")

_OPEN: Final = 4
_ANSWERS: Final = 32


def identity_of(file: BinaryIO) -> str:
    """What changes when a file is replaced or written to."""
    status = os.fstat(file.fileno())
    return f"{file.name}:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"


class Book:
    """An open trace, and what was answered about it."""

    def __init__(self, file: BinaryIO, identity: str, progress: Callable[[int, int], None]) -> None:
        self.identity = identity
        self.lock = threading.RLock()
        self.progress: Callable[[int, int], None] = progress
        self.trace: Trace = open_trace(file, errors="salvage", progress=lambda done, total: self.progress(done, total))
        self._answers: OrderedDict[str, Any] = OrderedDict()
        # Somebody may still read it when it is taken from the shelf.
        weakref.finalize(self, file.close)

    def answer(self, question: str, ask: Callable[[Trace], T]) -> T:
        """What was answered before, or is now."""
        if question in self._answers:
            self._answers.move_to_end(question)
        else:
            self._answers[question] = ask(self.trace)
            while len(self._answers) > _ANSWERS:
                self._answers.popitem(last=False)
        answer: T = self._answers[question]
        return answer


class Shelf:
    """Open traces by what they are."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self._books: OrderedDict[str, Book] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def book(self, path: str, progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Book]:
        """The trace at a path, for one question at a time. Raises ValueError for a path that is none of ours, and what
        opening a trace raises."""
        book = self._book_of(self.roots.open(path), progress)
        with book.lock:
            book.progress = progress
            yield book

    def _book_of(self, file: BinaryIO, progress: Callable[[int, int], None]) -> Book:
        identity = identity_of(file)
        with self._lock:
            book = self._books.get(identity)
            if book is None:
                try:
                    book = self._books[identity] = Book(file, identity, progress)
                except BaseException:
                    file.close()
                    raise
            else:
                file.close()
            self._books.move_to_end(identity)
            while len(self._books) > _OPEN:
                self._books.popitem(last=False)
            return book

    def close(self) -> None:
        """Close all traces."""
        with self._lock:
            for book in self._books.values():
                with book.lock:
                    book.trace.close()
            self._books.clear()

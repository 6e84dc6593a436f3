"""Traces that agents ask about: opened once, one question at a time, the last few kept; answers kept with them.

A file that has changed is opened anew. Knows no protocol.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypeVar

from clrevents import Trace
from clrevents import open as open_trace
from clrevents.mcp.roots import Roots

T = TypeVar("T")

_OPEN: Final = 4
_ANSWERS: Final = 32


def identity_of(file: BinaryIO) -> str:
    """What changes when a file is replaced or written to."""
    held = os.fstat(file.fileno())
    return f"{file.name}:{held.st_dev}:{held.st_ino}:{held.st_size}:{held.st_mtime_ns}"


class Book:
    """An open trace, and what was answered about it."""

    def __init__(self, file: BinaryIO, identity: str, progress: Callable[[int, int], None]) -> None:
        self.identity = identity
        self.lock = threading.RLock()
        self.told: Callable[[int, int], None] = progress
        self.trace: Trace = open_trace(file, errors="salvage", progress=lambda done, total: self.told(done, total))
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
        found: T = self._answers[question]
        return found


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
        found = self._found(self.roots.open(path), progress)
        with found.lock:
            found.told = progress
            yield found

    def _found(self, file: BinaryIO, progress: Callable[[int, int], None]) -> Book:
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

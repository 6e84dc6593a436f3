"""Files that fsspec reads, from any place it knows: `s3://…`, `https://…`, `memory://…`.

Copied to an unnamed temporary file as far as they are read: each byte is fetched at most once, and bytes that are not
needed never. Retries are left to the file system; an error that it gives up on ends the reading.
"""

from __future__ import annotations

import importlib
import itertools
import re
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Final

from clrevents.errors import LimitError, Limits, Problem, SourceError
from clrevents.sources.source import GZIP, TRACE_CLOSED, WINDOW, Gunzip, Source, unreadable

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
# A question about the head fetches little, and one about everything asks few times.
_FIRST_FETCH: Final = 1 << 16
_LARGEST_FETCH: Final = 8 << 20


def is_url(source: object) -> bool:
    """Whether it is a URL for fsspec, such as `s3://bucket/app.nettrace`."""
    return isinstance(source, str) and _URL.match(source) is not None


def file_system(url: str) -> tuple[Any, str]:
    """fsspec's file system for a URL, and the path in it. Raises ImportError if a package is missing for it."""
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError as error:
        raise ImportError("reading URLs needs fsspec: pip install 'clrevents[remote]'") from error
    system, path = core.url_to_fs(url)
    return system, str(path)


def open_remote(url: str, limits: Limits) -> Source:
    """The source for a URL. Raises SourceError if it cannot be opened, ImportError without what reads it."""
    remote = _Remote(url)
    pieces = remote.pieces()
    head = b""
    # The first answer may be shorter than what says how the bytes are packed.
    while len(head) < len(GZIP) and (piece := next(pieces, b"")):
        head += piece
    pieces = itertools.chain([head], pieces)
    members = Gunzip(pieces) if head.startswith(GZIP) else None
    return _Growing(remote, pieces if members is None else members.pieces(), members, limits)


class _Growing:
    """A temporary copy of consecutive pieces, made as far as it is read.

    So nothing is fetched twice or needlessly. `members` decompresses the pieces, if they were compressed.
    """

    def __init__(self, remote: _Remote, pieces: Iterator[bytes], members: Gunzip | None, limits: Limits) -> None:
        self.path: str | None = remote.url
        self.fault: Problem | None = None
        self.size = remote.size
        self._remote = remote
        self._pieces = pieces
        self._members = members
        self._most = limits.spool_bytes
        self._lock = threading.Lock()
        from tempfile import TemporaryFile

        self._copy = TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._have = 0
        self._ended = False
        self._failed: SourceError | LimitError | None = None
        weakref.finalize(self, self._copy.close)

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        at = 0
        while data := self._read(at, size):
            at += len(data)
            yield data

    def _read(self, at: int, size: int) -> bytes:
        with self._lock:
            if self._copy.closed:
                raise SourceError(TRACE_CLOSED, path=self.path)
            while self._have <= at and not self._ended:
                self._grow()
            try:
                self._copy.seek(at)
                return self._copy.read(size)
            except OSError as error:
                raise unreadable(error, self.path) from error

    def _grow(self) -> None:
        """Copy one more piece. What ended it once ends it again: it must not look like the end of the trace."""
        if self._failed is not None:
            raise self._failed
        try:
            piece = next(self._pieces, b"")
            self._copy.seek(self._have)
            self._copy.write(piece)
        except BaseException as error:
            why = error if isinstance(error, Exception) else OSError("it was interrupted")
            self._failed = error if isinstance(error, SourceError) else unreadable(why, self.path)
            self._failed.offset = self._have
            if isinstance(error, Exception):
                raise self._failed from error
            raise
        self._have += len(piece)
        if self._have > self._most:
            self._failed = LimitError(f"the trace is larger than Limits.spool_bytes ({self._most})", path=self.path)
            raise self._failed
        self._ended = not piece
        if self._ended:
            self.size = self._have
            self.fault = None if self._members is None else self._members.fault
        else:
            self.size = max(self._have, self._have * self._remote.size // max(self._remote.fetched, 1))

    def close(self) -> None:
        self._copy.close()
        self._remote.close()


class _Remote:
    """A file that fsspec reads, from its start to its end, each byte once."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.fetched = 0
        try:
            system, path = file_system(url)
            info = system.info(path)
            # Without this, some would fetch megabytes ahead of a question about the head.
            self._file = system.open(path, "rb", cache_type="none")
            self.size = int(info.get("size") or 0)
        except ImportError:
            raise
        except Exception as error:
            raise unreadable(error, url) from error

    def pieces(self) -> Iterator[bytes]:
        wanted = _FIRST_FETCH
        while True:
            try:
                if self._file.seekable():
                    # Some file systems hand out the same object again.
                    self._file.seek(self.fetched)
                data = self._file.read(wanted)
            except Exception as error:
                raise unreadable(error, self.url) from error
            if not data:
                break
            self.fetched += len(data)
            yield data
            wanted = min(2 * wanted, _LARGEST_FETCH)
        if self.fetched < self.size:
            raise SourceError(f"cannot be read: only {self.fetched} of {self.size} bytes came", path=self.url)

    def close(self) -> None:
        # A file in memory belongs to its file system, which hands it out again.
        if type(self._file).__module__ != "fsspec.implementations.memory":
            self._file.close()

"""Where the bytes come from: a path, a URL, bytes, a binary file or a pipe, optionally gzip-compressed.

The only reading of files. Yields windows of bytes from the start, as often as asked. Input that cannot seek is copied
once to an unnamed temporary file; remote input, only as far as it is read. Never maps files into memory, because a file
that shrinks must not end the process.
"""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, TypeAlias

from clrevents.errors import LimitError, Limits, Problem, SourceError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE
from clrevents.sources.remote import file_system as file_system
from clrevents.sources.remote import is_url as is_url
from clrevents.sources.remote import open_remote
from clrevents.sources.source import GZIP, TRACE_CLOSED, WINDOW, Gunzip
from clrevents.sources.source import Source as Source
from clrevents.sources.source import unreadable as unreadable

Openable: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO

_HEAD = 32
_UNPACKED = (NETTRACE, FAST_SERIALIZATION)
_ANY = (GZIP, *_UNPACKED)
_FILE_CLOSED = "the file was closed, but must be read again to answer this; keep it open as long as the trace"


class _Path:
    def __init__(self, path: str) -> None:
        self.path: str | None = path
        self.fault: Problem | None = None
        try:
            self.size = os.stat(path).st_size
        except (OSError, ValueError) as error:
            raise unreadable(error, path) from error

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        assert self.path is not None
        try:
            with open(self.path, "rb", buffering=0) as file:
                while data := file.read(size):
                    yield data
        except OSError as error:
            raise unreadable(error, self.path) from error

    def close(self) -> None:
        pass


class _Seekable:
    """The caller's file object; several readers take turns, each with its own position.

    A real file is read at a position without moving to it, because forked processes share the place where it stands.
    """

    _closed = _FILE_CLOSED

    def __init__(self, file: BinaryIO, path: str | None) -> None:
        self.path = path
        self.fault: Problem | None = None
        self._file = file
        self._lock = threading.Lock()
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start
        file.seek(self._start)
        self._real = hasattr(os, "pread") and _is_real(file)

    def _read(self, at: int, size: int) -> bytes:
        if self._real:
            return os.pread(self._file.fileno(), size, at)
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        at = self._start
        while True:
            try:
                data = self._read(at, size)
            except (OSError, ValueError) as error:
                if getattr(self._file, "closed", False):
                    raise SourceError(self._closed, path=self.path) from error
                raise unreadable(error, self.path) from error
            if not data:
                return
            at += len(data)
            yield data

    def close(self) -> None:
        pass


def _is_real(file: Any) -> bool:
    """Whether the file's descriptor gives the file's bytes: not if it decompresses what it reads, or buffers what is to
    be written.
    """
    return type(file.raw if type(file) is io.BufferedReader else file) is io.FileIO


class _Spool(_Seekable):
    """A temporary copy of input that cannot seek; removed on close.

    If it begins with none of `magics`, only its head is copied: reading that says what it is.
    """

    _closed = TRACE_CLOSED

    def __init__(self, pieces: Iterator[bytes], path: str | None, limits: Limits, magics: tuple[bytes, ...]) -> None:
        from tempfile import TemporaryFile

        copy: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by `close`
        total, head = 0, b""
        try:
            for piece in pieces:
                total += len(piece)
                if total > limits.spool_bytes:
                    raise LimitError(f"the trace is larger than Limits.spool_bytes ({limits.spool_bytes})", path=path)
                copy.write(piece)
                if len(head) < _HEAD:
                    head += piece[:_HEAD]
                    if not _may_be(head, magics):
                        break
            copy.seek(0)
        except BaseException as error:
            copy.close()
            if isinstance(error, OSError) and not isinstance(error, SourceError):
                raise unreadable(error, path) from error
            raise
        super().__init__(copy, path)  # type: ignore[arg-type]
        # Nothing more will be written to it.
        self._real = hasattr(os, "pread")
        # A trace need not be closed: then the copy is removed with it, without a warning.
        weakref.finalize(self, copy.close)

    def close(self) -> None:
        self._file.close()


def _may_be(head: bytes, magics: tuple[bytes, ...]) -> bool:
    """Whether one of these may begin like this, as far as it is known."""
    return any(head.startswith(magic) or magic.startswith(head) for magic in magics)


class FoundPath(str):
    """A path that was found in a folder or by a pattern, not named: opened only if it is a file, because nobody wants
    to wait for a pipe that happens to be there.
    """

    __slots__ = ()


def open_source(source: Openable, limits: Limits) -> Source:
    """The source for what a user may pass. Raises SourceError if it cannot be opened, TypeError for other objects."""
    if isinstance(source, bytes | bytearray | memoryview):
        raw: Source = _Seekable(io.BytesIO(source), None)
    elif isinstance(source, str) and is_url(source):
        return open_remote(source, limits)
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if os.path.isdir(path):
            raise SourceError("is a directory, not a trace file", path=str(path))
        raw = _Path(str(path))
        if not os.path.isfile(path):
            if isinstance(source, FoundPath):
                raise SourceError("is no file; a pipe or a device is read only if it is named", path=str(path))
            # A named pipe or a device: it can be read only once.
            raw = _Spool(raw.windows(), raw.path, limits, _ANY)
    elif hasattr(source, "read"):
        raw = _file_source(source, limits)
    else:
        raise TypeError(f"expected a path, a URL, bytes or a binary file, not {type(source).__name__}")
    if not _begins_with(raw, GZIP):
        return raw
    members = Gunzip(raw.windows())
    spool = _Spool(members.pieces(), raw.path, limits, _UNPACKED)
    spool.fault = members.fault
    raw.close()
    return spool


FileMark: TypeAlias = tuple[int, int, int, int]


def file_mark(source: Source) -> FileMark | None:
    """What changes when the file is written to or replaced. None if it is gone, or is no file that every process reads
    alike: a pipe, a compressed file, a remote one."""
    if not isinstance(source, _Path) or source.path is None:
        return None
    try:
        status = os.stat(source.path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _begins_with(raw: Source, magic: bytes) -> bool:
    """Whether these are the first bytes, of which a file object may give fewer at a time than asked for."""
    head = b""
    for piece in raw.windows(len(magic)):
        head += piece
        if len(head) >= len(magic):
            break
    return head.startswith(magic)


def _file_source(file: Any, limits: Limits) -> Source:
    name = getattr(file, "name", None)
    path = name if isinstance(name, str) else None
    try:
        if file.seekable():
            if not isinstance(file.read(0), bytes):
                raise TypeError("the file must be opened in binary mode ('rb')")
            return _Seekable(file, path)
        return _Spool(_read_all(file), path, limits, _ANY)
    except OSError as error:
        raise unreadable(error, path) from error


def _read_all(file: Any) -> Iterator[bytes]:
    while data := file.read(WINDOW):
        if not isinstance(data, bytes):
            raise TypeError("the file must be opened in binary mode ('rb')")
        yield data

"""Where the bytes come from: a path, bytes, a binary file or a pipe, optionally gzip-compressed. This room's only I/O.

Yields windows of bytes from the start, as often as asked. Input that cannot seek is copied once to an unnamed
temporary file. Never maps files into memory, because a file that shrinks must not end the process.
"""

from __future__ import annotations

import io
import os
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TypeAlias

from clrevents.errors import LimitError, Limits, Problem, SourceError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE

Openable: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO

WINDOW = 1 << 20
_GZIP = b"\x1f\x8b"
_HEAD = 32
_UNPACKED = (NETTRACE, FAST_SERIALIZATION)
_ANY = (_GZIP, *_UNPACKED)
_FILE_CLOSED = "the file was closed, but must be read again to answer this; keep it open as long as the trace"
_TRACE_CLOSED = "the trace is closed, but must be read again to answer this; ask inside `with`, or reopen it"


class Source(Protocol):
    """Bytes that can be read from the start more than once. `size` is the number of bytes that `windows` yields."""

    path: str | None
    size: int
    fault: Problem | None

    def windows(self, size: int = WINDOW) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.path: str | None = None
        self.fault: Problem | None = None
        self._data = data
        self.size = len(data)

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        for at in range(0, len(self._data), size):
            yield self._data[at : at + size]

    def close(self) -> None:
        pass


class _Path:
    def __init__(self, path: str) -> None:
        self.path: str | None = path
        self.fault: Problem | None = None
        try:
            self.size = os.stat(path).st_size
        except (OSError, ValueError) as error:
            raise _unreadable(error, path) from error

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        assert self.path is not None
        try:
            with open(self.path, "rb", buffering=0) as file:
                while data := file.read(size):
                    yield data
        except OSError as error:
            raise _unreadable(error, self.path) from error

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
                raise _unreadable(error, self.path) from error
            if not data:
                return
            at += len(data)
            yield data

    def close(self) -> None:
        pass


def _is_real(file: Any) -> bool:
    """Whether the file's descriptor gives the file's bytes: not so if it unpacks what it reads, or holds what is to be
    written.
    """
    return type(file.raw if type(file) is io.BufferedReader else file) is io.FileIO


class _Spool(_Seekable):
    """A temporary copy of input that cannot seek; removed on close.

    If it begins with none of `magics`, only its head is copied: reading that says what it is.
    """

    _closed = _TRACE_CLOSED

    def __init__(self, pieces: Iterator[bytes], path: str | None, limits: Limits, magics: tuple[bytes, ...]) -> None:
        copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
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
                raise _unreadable(error, path) from error
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


def open_source(source: Openable, limits: Limits) -> Source:
    """The source for what a user may pass. Raises SourceError if it cannot be opened, TypeError for other objects."""
    if isinstance(source, bytes | bytearray | memoryview):
        raw: Source = _Bytes(bytes(source))
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if Path(path).is_dir():
            raise SourceError("is a directory, not a trace file", path=str(path))
        raw = _Path(str(path))
        if not Path(path).is_file():
            # A named pipe or a device: it can be read only once.
            raw = _Spool(raw.windows(), raw.path, limits, _ANY)
    elif hasattr(source, "read"):
        raw = _file_source(source, limits)
    else:
        raise TypeError(f"expected a path, bytes or a binary file, not {type(source).__name__}")
    head = next(raw.windows(2), b"")
    if head != _GZIP:
        return raw
    members = _Gunzip(raw)
    spool = _Spool(members.pieces(), raw.path, limits, _UNPACKED)
    spool.fault = members.fault
    raw.close()
    return spool


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
        raise _unreadable(error, path) from error


def _read_all(file: Any) -> Iterator[bytes]:
    while data := file.read(WINDOW):
        if not isinstance(data, bytes):
            raise TypeError("the file must be opened in binary mode ('rb')")
        yield data


class _Gunzip:
    """Decompresses concatenated gzip members; a truncated or corrupt one ends the stream with a `fault`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.fault: Problem | None = None

    def pieces(self) -> Iterator[bytes]:
        engine = zlib.decompressobj(wbits=31)
        fed = False
        written = 0
        for data in self._source.windows():
            while data:
                try:
                    piece = engine.decompress(data, WINDOW)
                except zlib.error as error:
                    if engine.eof or not fed:
                        return  # padding after the last member
                    self.fault = _bad_gzip(f"corrupt gzip data ({error})", written)
                    return
                fed = True
                written += len(piece)
                if piece:
                    yield piece
                data = engine.unconsumed_tail
                if engine.eof:
                    data = engine.unused_data.lstrip(b"\0")
                    engine = zlib.decompressobj(wbits=31)
                    fed = False
        if fed:
            rest = engine.flush()
            written += len(rest)
            if rest:
                yield rest
            if not engine.eof:
                self.fault = _bad_gzip("the gzip file is truncated", written)


def _bad_gzip(message: str, offset: int) -> Problem:
    return Problem(
        "compressed-stream",
        "damage",
        message,
        offset,
        impact="everything after it; offsets are in the decompressed stream",
    )


def _unreadable(error: BaseException, path: str | None) -> SourceError:
    text = getattr(error, "strerror", None) or str(error)
    return SourceError(f"cannot be read: {text}", path=path)

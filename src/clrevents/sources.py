"""Where the bytes come from: a path, a URL, bytes, a binary file or a pipe, optionally gzip-compressed.

The only reading of files. Yields windows of bytes from the start, as often as asked. Input that cannot seek is copied
once, to memory or an unnamed temporary file. Never maps files into memory, because a file that shrinks must not end the
process.

URLs are what fsspec reads, from any place it knows: `s3://…`, `https://…`, `memory://…`. Remote input is copied only as
far as it is read: each byte is fetched at most once, and bytes that are not needed never. Retries are left to the file
system; an error that it gives up on ends the reading.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import os
import re
import threading
import weakref
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, Protocol, TypeAlias

from clrevents.errors import LimitError, Limits, Problem, SourceError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE

Openable: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO

WINDOW: Final = 1 << 20
# Memory that is given back in one large piece makes the C library (glibc) keep smaller ones, such as windows, for the
# next ones: otherwise each window is memory that the kernel has to clear first. This one is never touched.
bytes(4 * WINDOW)
TRACE_CLOSED: Final = "the trace is closed, but must be read again to answer this; ask inside `with`, or reopen it"
GZIP: Final = b"\x1f\x8b"
"""How compressed bytes begin."""
_FIRST: Final = 1 << 10
_STEP: Final = 1 << 17
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
# A question about the head fetches little, and one about everything asks few times.
_FIRST_FETCH: Final = 1 << 16
_LARGEST_FETCH: Final = 8 << 20
_HEAD = 32
_SMALL: Final = 1 << 20
_UNPACKED = (NETTRACE, FAST_SERIALIZATION)
_ANY = (GZIP, *_UNPACKED)
_FILE_CLOSED = "the file was closed, but must be read again to answer this; keep it open as long as the trace"


class Source(Protocol):
    """Bytes that can be read from the start more than once. `size` is the number of bytes that `windows` yields; for
    remote compressed input, an estimate until all of it was read.
    """

    path: str | None
    size: int
    fault: Problem | None

    def windows(self, size: int = WINDOW) -> Iterator[bytes]: ...

    def close(self) -> None: ...


def unreadable(error: BaseException, path: str | None) -> SourceError:
    text = getattr(error, "strerror", None) or str(error)
    return SourceError(f"cannot be read: {text}", path=path)


class Gunzip:
    """Decompresses concatenated gzip members; a truncated or corrupt one ends the stream with a `fault`."""

    def __init__(self, packed: Iterator[bytes]) -> None:
        self._packed = packed
        self.fault: Problem | None = None

    def pieces(self) -> Iterator[bytes]:
        engine = zlib.decompressobj(wbits=31)
        fed = False
        written = 0
        for data in self._packed:
            at = 0
            while at < len(data):
                # Few bytes at first: what is behind the end of a member is copied, and there may be very many.
                part = data[at : at + (_STEP if fed else _FIRST)]
                if not fed and (padding := len(part) - len(part.lstrip(b"\0"))):
                    at += padding
                    continue
                # A copy takes longer than an empty member.
                before = engine.copy() if fed else None
                try:
                    piece = engine.decompress(part, WINDOW)
                except zlib.error as error:
                    for piece in _up_to_the_damage(before or zlib.decompressobj(wbits=31), part):
                        written += len(piece)
                        yield piece
                    self.fault = _bad_gzip(f"corrupt gzip data ({error})", written)
                    return
                fed = True
                written += len(piece)
                if piece:
                    yield piece
                at += len(part) - len(engine.unused_data if engine.eof else engine.unconsumed_tail)
                if engine.eof:
                    engine = zlib.decompressobj(wbits=31)
                    fed = False
        if fed:
            rest = engine.flush()
            written += len(rest)
            if rest:
                yield rest
            if not engine.eof:
                self.fault = _bad_gzip("the gzip file is truncated", written)


def _up_to_the_damage(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What comes of these bytes before the one at which decompression fails: byte by byte, as a failure gives none."""
    with contextlib.suppress(zlib.error):
        for at in range(len(data)):
            if piece := engine.decompress(data[at : at + 1]):
                yield piece


def _bad_gzip(message: str, offset: int) -> Problem:
    return Problem(
        "compressed-stream",
        "damage",
        message,
        offset,
        impact="everything after it; offsets are in the decompressed stream",
    )


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
        self._lock = threading.RLock()
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


class _Copy(_Seekable):
    """A temporary copy of consecutive pieces, in memory while it is small; removed on close.

    It is made as far as it is read, so nothing is fetched twice or needlessly. `members` decompresses the pieces, if
    they were compressed; `remote` is the file that they are fetched from.
    """

    _closed = TRACE_CLOSED

    def __init__(
        self,
        pieces: Iterator[bytes],
        path: str | None,
        limits: Limits,
        members: Gunzip | None = None,
        remote: _Remote | None = None,
    ) -> None:
        super().__init__(io.BytesIO(), path)
        self.size = 0 if remote is None else remote.size
        self._pieces = pieces
        self._members = members
        self._remote = remote
        self._most = limits.spool_bytes
        self._have = 0
        self._ended = False
        self._failed: Exception | None = None

    def whole(self, magics: tuple[bytes, ...]) -> _Copy:
        """The same, copied at once; if it begins with none of `magics`, only its head: reading that says what it is."""
        head = b""
        while not self._ended:
            before = self._have
            self._grow()
            if len(head) < _HEAD:
                head += self._read(before, _HEAD)
                self._ended = self._ended or not any(m.startswith(head) or head.startswith(m) for m in magics)
        self.size = self._have
        return self

    def _read(self, at: int, size: int) -> bytes:
        with self._lock:
            while self._have <= at and not self._ended and not self._file.closed:
                self._grow()
            return super()._read(at, size)

    def _grow(self) -> None:
        """Copy one more piece. What ended it once ends it again: it must not look like the end of the trace."""
        if self._failed is not None:
            raise self._failed
        try:
            piece = next(self._pieces, b"")
            if self._have + len(piece) > self._most:
                text = f"the trace is larger than Limits.spool_bytes ({self._most})"
                raise LimitError(text, path=self.path)
            self._write(piece)
        except BaseException as error:
            known = isinstance(error, SourceError | LimitError | TypeError)
            why = error if isinstance(error, Exception) else OSError("it was interrupted")
            self._failed = why if known else unreadable(why, self.path)
            if self._remote is not None and isinstance(self._failed, SourceError):
                self._failed.offset = self._have
            if isinstance(error, Exception):
                raise self._failed from (None if known else error)
            raise
        self._ended = not piece
        if self._ended:
            self.size = self._have
            self.fault = None if self._members is None else self._members.fault
        elif self._remote is not None:
            self.size = max(self._have, self._have * self._remote.size // max(self._remote.fetched, 1))

    def _write(self, piece: bytes) -> None:
        if self._have + len(piece) > _SMALL and isinstance(self._file, io.BytesIO):
            from tempfile import TemporaryFile

            small, copy = self._file.getvalue(), TemporaryFile()  # noqa: SIM115 - closed by `close`
            copy.write(small)
            self._file, self._real = copy, hasattr(os, "pread")
            # A trace need not be closed: then the copy is removed with it, without a warning.
            weakref.finalize(self, copy.close)
        self._file.seek(self._have)
        self._file.write(piece)
        self._file.flush()
        self._have += len(piece)

    def close(self) -> None:
        self._file.close()
        if self._remote is not None:
            self._remote.close()


class FoundPath(str):
    """A path that was found in a folder or by a pattern, not named: opened only if it is a file, because nobody wants
    to wait for a pipe that happens to be there.
    """

    __slots__ = ()


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


def open_source(source: Openable, limits: Limits) -> Source:
    """The source for what a user may pass. Raises SourceError if it cannot be opened, TypeError for other objects."""
    if isinstance(source, bytes | bytearray | memoryview):
        raw: Source = _Seekable(io.BytesIO(source), None)
    elif isinstance(source, str) and is_url(source):
        return _open_remote(source, limits)
    elif isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if os.path.isdir(path):
            raise SourceError("is a directory, not a trace file", path=str(path))
        raw = _Path(str(path))
        if not os.path.isfile(path):
            if isinstance(source, FoundPath):
                raise SourceError("is no file; a pipe or a device is read only if it is named", path=str(path))
            # A named pipe or a device: it can be read only once.
            raw = _Copy(raw.windows(), raw.path, limits).whole(_ANY)
    elif hasattr(source, "read"):
        raw = _file_source(source, limits)
    else:
        raise TypeError(f"expected a path, a URL, bytes or a binary file, not {type(source).__name__}")
    if not _begins_with(raw, GZIP):
        return raw
    members = Gunzip(raw.windows())
    copy = _Copy(members.pieces(), raw.path, limits, members).whole(_UNPACKED)
    raw.close()
    return copy


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
        return _Copy(_read_all(file), path, limits).whole(_ANY)
    except OSError as error:
        raise unreadable(error, path) from error


def _read_all(file: Any) -> Iterator[bytes]:
    while data := file.read(WINDOW):
        if not isinstance(data, bytes):
            raise TypeError("the file must be opened in binary mode ('rb')")
        yield data


def _open_remote(url: str, limits: Limits) -> Source:
    """The source for a URL. Raises SourceError if it cannot be opened, ImportError without what reads it."""
    remote = _Remote(url)
    pieces = remote.pieces()
    head = b""
    # The first answer may be shorter than what says how the bytes are packed.
    while len(head) < len(GZIP) and (piece := next(pieces, b"")):
        head += piece
    pieces = itertools.chain([head], pieces)
    members = Gunzip(pieces) if head.startswith(GZIP) else None
    return _Copy(pieces if members is None else members.pieces(), url, limits, members, remote)


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

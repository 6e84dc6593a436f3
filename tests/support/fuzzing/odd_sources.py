"""The same bytes from places that give them oddly: in short pieces, packed, behind other bytes, broken off, changing.

Each way says what came; whoever reads it judges what was made of it. Knows no trace.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeAlias

Came: TypeAlias = Literal["all", "broken", "damaged", "other"]
"""All bytes; fewer, and reading says so; fewer or others, which the bytes say themselves; whatever the file had."""
Way: TypeAlias = Callable[[bytes, random.Random], "contextlib.AbstractContextManager[tuple[Any, Came]]"]
"""Gives what to open, and what comes of it."""
_SIZES: Final = (1, 2, 3, 7, 31, 32, 33, 100, 1000, 65_535, 65_536, 1 << 20)


class Short(io.RawIOBase):
    """Gives fewer bytes than asked for, may be unable to seek, and may fail behind a place."""

    def __init__(self, data: bytes, rng: random.Random, seekable: bool = False, fails: int | None = None) -> None:
        self._data, self._rng, self._at, self._seekable, self._fails = data, rng, 0, seekable, fails
        # Short, but not so short that millions of reads are what is tried.
        self._least = 1 + len(data) // 100_000
        self._most = max(rng.choice(_SIZES[3:]), self._least)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def read(self, size: int = -1, /) -> bytes:
        most = len(self._data) if size < 0 else size
        if most == 0:
            return b""
        if self._fails is not None and self._at >= self._fails:
            raise OSError("the line went dead")
        piece = self._data[self._at : self._at + min(most, self._rng.choice((self._least, self._most, self._most)))]
        self._at += len(piece)
        return piece

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if not self._seekable:
            raise io.UnsupportedOperation("seek")
        self._at = max(0, offset + {0: 0, 1: self._at, 2: len(self._data)}[whence])
        return self._at

    def tell(self) -> int:
        return self._at


@contextlib.contextmanager
def _whole(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    yield rng.choice((bytes, bytearray, memoryview))(data), "all"


@contextlib.contextmanager
def _short_reads(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    yield Short(data, rng, seekable=rng.random() < 0.5), "all"


@contextlib.contextmanager
def _behind_others(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    """A file that stands somewhere in the middle."""
    before = rng.randbytes(rng.choice(_SIZES[:7]))
    if rng.random() < 0.5:
        file: Any = io.BytesIO(before + data)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        file.write(before + data)
    file.seek(len(before))
    with file:
        yield file, "all"


@contextlib.contextmanager
def _pipe(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    """Written in pieces while it is read."""
    out, into = os.pipe()
    sizes = [rng.choice(_SIZES[3:]) for _ in range(20)]

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(into, "wb", buffering=0) as pipe:
            at = turn = 0
            while at < len(data):
                at += pipe.write(data[at : at + sizes[turn % 20]]) or 0
                turn += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with os.fdopen(out, "rb", buffering=rng.choice((0, -1))) as pipe:
            yield pipe, "all"
    finally:
        writer.join()


def _packed(data: bytes, rng: random.Random) -> bytes:
    """In some members, with or without padding."""
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    packed = b"".join(gzip.compress(part, rng.choice((0, 1, 6))) for part in parts)
    return packed + bytes(rng.choice((0, 0, 1, 512)))


@contextlib.contextmanager
def _gzip(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    packed = _packed(data, rng)
    yield (packed if rng.random() < 0.5 else Short(packed, rng)), "all"


@contextlib.contextmanager
def _damaged_gzip(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    packed = bytearray(_packed(data, rng).rstrip(b"\0"))
    if rng.random() < 0.5:
        del packed[rng.randrange(2, max(len(packed), 3)) :]
    else:
        packed[rng.randrange(2, len(packed))] ^= 1 << rng.randrange(8)
    yield (bytes(packed) if rng.random() < 0.5 else Short(bytes(packed), rng)), "damaged"


@contextlib.contextmanager
def _broken(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    yield Short(data, rng, seekable=rng.random() < 0.5, fails=rng.randrange(len(data) + 1)), "broken"


@contextlib.contextmanager
def _path(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.nettrace"
        path.write_bytes(rng.choice((bytes, lambda plain: _packed(plain, rng)))(data))
        yield path, "all"


class Changing(os.PathLike[str]):
    """A file that grows, shrinks or is replaced once `turn` is called."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self._path, self._rng = path, rng

    def __fspath__(self) -> str:
        return os.fspath(self._path)

    def turn(self) -> None:
        size = self._path.stat().st_size
        match self._rng.randrange(4):
            case 0:
                os.truncate(self._path, self._rng.randrange(size + 1))
            case 1:
                with self._path.open("ab") as file:
                    file.write(self._rng.randbytes(self._rng.choice(_SIZES[:9])))
            case 2:
                self._path.write_bytes(self._path.read_bytes()[::-1])
            case _:
                self._path.unlink()


@contextlib.contextmanager
def _changing(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.nettrace"
        path.write_bytes(data)
        yield Changing(path, rng), "other"


_FAR: Final[dict[str, tuple[Short, int | None]]] = {}


def _far_files() -> None:
    """Tell fsspec of a file system that has nothing but `_FAR`."""
    from fsspec import AbstractFileSystem, register_implementation

    class Far(AbstractFileSystem):  # type: ignore[misc]
        protocol: ClassVar[str] = "odd"
        cachable = False

        def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
            return {"name": path, "type": "file", "size": _FAR[self._strip_protocol(path)][1]}

        def open(self, path: str, *args: Any, **kwargs: Any) -> Short:
            return _FAR[self._strip_protocol(path)][0]

    register_implementation("odd", Far, clobber=True)


@contextlib.contextmanager
def _far(data: bytes, rng: random.Random) -> Iterator[tuple[Any, Came]]:
    """Of a file system that gives short answers, knows no size, ends before the size that it told, or breaks."""
    _far_files()
    stored = _packed(data, rng) if rng.random() < 0.3 else data
    comes, size, fails = stored, rng.choice((None, 0, len(stored), len(stored) // 2)), None
    match rng.randrange(3):
        case 0:
            # Less came than there is: nobody but the size says so.
            comes, size = stored[: rng.randrange(len(stored) or 1)], len(stored)
        case 1:
            fails = rng.randrange(len(stored) + 1)
    _FAR["a"] = Short(comes, rng, seekable=rng.random() < 0.5, fails=fails), size
    yield "odd://a", "all" if comes is stored and fails is None else "broken"


WAYS: Final[tuple[Way, ...]] = (
    *(_whole, _short_reads, _behind_others, _pipe, _gzip, _damaged_gzip, _broken, _path, _changing),
    *(_far, _far),
)


@contextlib.contextmanager
def oddly(data: bytes) -> Iterator[tuple[Any, Came]]:
    """One of the ways, which the bytes decide."""
    rng = random.Random(zlib.crc32(data))
    with rng.choice(WAYS)(data, rng) as opened:
        yield opened

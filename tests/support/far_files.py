"""Files that are far away: a file system of fsspec that counts what is read, and a web server that knows ranges.

Both remember every stretch that was read, and can be told to fail behind a place. Knows no trace.
"""

from __future__ import annotations

import io
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, ClassVar

import attrs
from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem


@attrs.define
class Reads:
    """The stretches of a file that were read, and from which place on reading fails, how often, and how: a server may
    refuse, or drop the line in the middle of its answer. A file system's `first` answer may be short.
    """

    spans: list[tuple[int, int]] = attrs.field(factory=list)
    fails_at: int | None = None
    failures_left: int | None = None
    drops: bool = False
    ignores_ranges: bool = False
    first: int | None = None

    @property
    def bytes(self) -> int:
        """How many bytes were read, each time."""
        return sum(end - start for start, end in self.spans)

    @property
    def twice(self) -> bool:
        """Whether any byte was read more than once."""
        ordered = sorted(self.spans)
        return any(one[1] > other[0] for one, other in pairwise(ordered))

    def fails(self, end: int) -> bool:
        """Whether a read up to here fails; counts those that do."""
        if self.fails_at is None or end <= self.fails_at or self.failures_left == 0:
            return False
        if self.failures_left is not None:
            self.failures_left -= 1
        return True


class CountedFile(io.BytesIO):
    """A file that tells what is read of it."""

    def __init__(self, data: bytes, reads: Reads) -> None:
        super().__init__(data)
        self.reads = reads

    def read(self, size: int | None = -1, /) -> bytes:
        at = self.tell()
        if self.reads.fails(at + (size or 0)):
            raise OSError("the line went dead")
        data = super().read(size if at or self.reads.first is None else self.reads.first)
        if data:
            self.reads.spans.append((at, at + len(data)))
        return data


class CountedFileSystem(MemoryFileSystem):
    """Files in memory, whose reads are counted in `READS`."""

    protocol = "counted"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **kwargs)
        return CountedFile(super()._open(path).getvalue(), READS)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return super()._strip_protocol(str(path).replace("counted://", "memory://"))


READS = Reads()


@contextmanager
def counted_file(name: str, data: bytes) -> Iterator[tuple[str, Reads]]:
    """The URL of a counted file in memory, and its reads."""
    register_implementation("counted", CountedFileSystem, clobber=True)
    CountedFileSystem().pipe(f"/{name}", data)
    READS.spans.clear()
    READS.fails_at = READS.failures_left = READS.first = None
    try:
        yield f"counted://{name}", READS
    finally:
        CountedFileSystem.store.clear()


@contextmanager
def served(files: dict[str, bytes], reads: Reads, before: Callable[[str], None] = lambda name: None) -> Iterator[str]:
    """A web server on this machine that serves the files, whole or in ranges; its address.

    `before` is called with the name of a file whose bytes are asked for, in a thread of the request's own.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            data = self._found()
            if data is not None:
                self._head(200, len(data), None)

        def do_GET(self) -> None:
            data = self._found()
            if data is None:
                return
            before(self.path.lstrip("/"))
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            start, end = 0, len(data)
            if asked and not reads.ignores_ranges:
                start, end = int(asked[1]), min(int(asked[2] or len(data)) + 1, len(data))
            fails = reads.fails(end)
            if fails and not reads.drops:
                self.send_error(503)
                return
            partial = asked is not None and not reads.ignores_ranges
            self._head(
                206 if partial else 200, end - start, f"bytes {start}-{end - 1}/{len(data)}" if partial else None
            )
            if fails:
                self.wfile.write(data[start : (start + end) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self.wfile.write(data[start:end])
            reads.spans.append((start, end))

        def _found(self) -> bytes | None:
            data = files.get(self.path.lstrip("/"))
            if data is None:
                self.send_error(404)
            return data

        def _head(self, status: int, length: int, content_range: str | None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.send_header("Accept-Ranges", "none" if reads.ignores_ranges else "bytes")
            if content_range is not None:
                self.send_header("Content-Range", content_range)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A file that is open only while being written: a trace may have more events than a process may have open files.

Used by pyarrow and our own writers. Knows no format.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, Final

_HELD: Final = 1 << 20


def opened(path: Path, new: bool) -> BinaryIO:
    """A new file, or one to append to. Raises FileExistsError, or FileNotFoundError: a file that somebody removed would
    otherwise lack its beginning."""
    file = open(path, "xb" if new else "r+b")  # noqa: SIM115 - the caller's
    file.seek(0, os.SEEK_END)
    return file


class FileSink:
    """Appends to a new file, buffering at most a megabyte. Raises FileExistsError if the file exists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.closed = False
        self._waiting: list[bytes] = []
        self._held = 0
        self._size = 0
        self._given_up = False
        self._new = True

    def write(self, data: Any) -> int:
        """Write bytes, or any object with a buffer."""
        if self._given_up:
            return memoryview(data).nbytes
        piece = bytes(data)
        self._waiting.append(piece)
        self._held += len(piece)
        self._size += len(piece)
        if self._held >= _HELD:
            self.flush()
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if self._waiting or self._new:
            with opened(self.path, self._new) as file:
                file.writelines(self._waiting)
            self._new = False
            self._waiting.clear()
            self._held = 0

    def give_up(self) -> None:
        """Write nothing more: pyarrow does when its objects go, though the file may be gone by then."""
        self._given_up = True
        self._waiting.clear()

    def close(self) -> None:
        if not self.closed:
            self.flush()
            self.closed = True

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

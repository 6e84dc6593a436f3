"""What the bytes of a session become: batches of events, reports so far, a file. Sans-IO except for that file.

Both kinds of session give it what they receive. Nothing that goes wrong with decoding can keep bytes from the file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from typing import Any

from clrevents._util.offered import offered
from clrevents.diagnostics.process_counts import Counting
from clrevents.errors import DamageError
from clrevents.trace import Batch, Decoder, learn_early


class LiveStream:
    """One stream from its first byte to its last; `reports` need a decoder that knows symbols."""

    def __init__(self, decoder: Decoder, reports: tuple[str, ...], count_every: float | None) -> None:
        self.decoder = decoder
        self._names = reports
        self.bytes = 0
        self.processor = Counting(count_every)
        """What is counted of the process, which goes into the stream."""
        self._feed: Any = offered("feed_reports")(*self._names) if self._names else None
        if self._feed is not None:
            self._feed.observe(self.decoder)
        self._file: int | None = None
        self._on_hold = False
        self._ended = False
        self._broken = False
        self._listed: bytes | None = None

    def begin_file(self, path: str | os.PathLike[str] | None) -> None:
        """Also write everything that comes to a file. Raises OSError."""
        if path is not None:
            self._file = private_file(path)
            make_empty(self._file)

    def take(self, data: memoryview) -> list[Batch]:
        """The next bytes; the batches that they complete."""
        self.bytes += len(data)
        self._on_hold = True
        return self._taken(self.processor.feed(data))

    def _taken(self, pieces: list[memoryview]) -> list[Batch]:
        batches: list[Batch] = []
        for piece in pieces:
            if self._file is not None:
                write_all(self._file, piece)
            batches += self._decoded(partial(Decoder.feed, buffer=piece))
        return batches

    def learn(self, listed: bytes | None) -> None:
        """Have the decoder know the code that another session listed, as soon as it knows what this one is of."""
        self._listed = listed

    @property
    def waits(self) -> bool:
        """Whether events may wait to be put in order, which `quiet` releases."""
        return self._on_hold or self.processor.waits

    def quiet(self) -> list[Batch]:
        """Nothing has come for a while. Runtimes rarely say that nothing earlier can follow, so waiting events are
        released now: a runtime writes the buffers of all threads at once, and they have arrived."""
        self._on_hold = False
        return [*self._taken(self.processor.quiet()), *self._decoded(Decoder.flush)]

    def end(self) -> list[Batch]:
        """Nothing more comes. An end in the middle of something is a problem listed by the decoder, not an error: the
        process was killed."""
        if self._ended:
            return []
        self._ended = True
        batches = self._taken(self.processor.end())
        self.close_file()
        return batches + self._decoded(_closed)

    def close_file(self) -> None:
        """Flush the file to disk and close it."""
        self.processor.close()
        file, self._file = self._file, None
        if file is not None:
            try:
                keep(file)
            finally:
                os.close(file)

    def report(self, name: str) -> Any:
        """A report's answer so far. Raises ValueError for one that is not gathered."""
        if name not in self._names:
            raise ValueError(f"{name!r} is not gathered by this session: make it with reports=[{name!r}]")
        return self._feed.so_far(self.decoder)[name]

    def _decoded(self, step: Callable[[Decoder], list[Batch]]) -> list[Batch]:
        """What the decoder makes of it. One that was left by an error, or by an interrupt in its middle, is not asked
        again: then bytes only go to the file."""
        if self._broken:
            return []
        try:
            batches = step(self.decoder)
            if self._listed is not None and self.decoder.info is not None:
                listed, self._listed = self._listed, None
                learn_early(self.decoder, listed)
            return batches
        except BaseException:
            self._broken = True
            raise


def _closed(decoder: Decoder) -> list[Batch]:
    batches = []
    try:
        for batch in decoder.close():
            batches.append(batch)
    except DamageError:
        pass
    return batches


def private_file(path: str | os.PathLike[str]) -> int:
    """A file that only its owner may read: traces contain command lines and whatever programs write.

    One that was there keeps its permissions, and its contents until it is emptied. Raises OSError.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


def make_empty(file: int) -> None:
    """Discard its contents; a device or a pipe has none."""
    if stat.S_ISREG(os.fstat(file).st_mode):
        os.ftruncate(file, 0)


def keep(file: int) -> None:
    """Flush what was written to disk. Raises OSError."""
    if stat.S_ISREG(os.fstat(file).st_mode):
        os.fsync(file)


def write_all(file: int, data: memoryview) -> None:
    """All of it. Raises OSError; what fitted before is in the file."""
    while data:
        data = data[os.write(file, data) :]

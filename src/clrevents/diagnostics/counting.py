"""Counts a process's processor time beside a recording of it: a thread reads, and what it read goes into the stream.

Decides whether the process can be counted and how often; whatever goes wrong, the recording is as without.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from clrevents.diagnostics.process_counts import SECOND, ProcessCounts, Uncountable
from clrevents.diagnostics.transports import Connection, SocketConnection, peer_of
from clrevents.diagnostics.weave import OwnEvent, StreamClock, Weave

INTERVAL: Final = 0.05
"""Between two readings, in seconds."""
_SHARE: Final = 0.02
"""The share of a processor that reading may take: with more threads it is done less often."""
_MOST_WAITING: Final = 100_000
"""Events that wait for the stream to go on. Until it does nothing is read: the next reading has it all."""
_APART_NS: Final = 10 * SECOND
"""How far the time in a trace's header may be from that of the first reading, if both are the same clock's."""
_JOIN_SECONDS: Final = 1.0


class Counting(Weave):
    """The stream of a session with what is counted of its process, every so many seconds; None: the stream alone."""

    def __init__(self, every: float | None) -> None:
        super().__init__(self._begun, self._stop)
        self.why: str | None = None
        """Why not all was counted; None if it was, or was not asked for."""
        self._every = every or INTERVAL
        self._counts: ProcessCounts | None = None
        self._shifted = self._first_ns = 0
        self._over = self._uncounted = every is None
        self._marks: tuple[OwnEvent, ...] = ()
        self._enough = threading.Event()
        self._reader = threading.Thread(target=self._read, name="clrevents-processor", daemon=True)

    def mark(self, *events: OwnEvent) -> None:
        """Also have these at the beginning of the trace, whether the process can be counted or not."""
        self._marks = events
        self.pending.extend(events)
        self._over = self._over and not events

    def begin(self, connection: Connection) -> None:
        """Begin to count, when the session has begun and before its process goes on."""
        if self._uncounted:
            return
        try:
            self._counts = _counts_of(connection)
            events = self._counts.begin(self._every)
            self._shifted = _clock_shift(self._counts.pid)
        except (Uncountable, OSError, ValueError, IndexError) as error:
            self._give_up(str(error))
        else:
            self._first_ns = events[0].time_ns
            self.pending.extend(events)
            self._reader.start()

    def close(self) -> None:
        """Read nothing more."""
        counts, self._counts = self._counts, None
        if self._halted() and counts is not None:
            counts.close()

    def _halted(self) -> bool:
        """End the thread; whether it has ended."""
        self._enough.set()
        if self._reader.is_alive():
            self._reader.join(_JOIN_SECONDS)
        return not self._reader.is_alive()

    def _begun(self, clock: StreamClock | None) -> int | None:
        """Whether the trace is of the process that is counted, in a clock that can be read here."""
        if clock is None:
            self._give_up("the recording is not NetTrace 4")
        elif self._counts is None:
            return 0
        elif clock.process_id != self._counts.inner_pid:
            self._give_up(f"another process answers for process {clock.process_id}")
        elif clock.frequency != SECOND or abs(clock.ticks - self._first_ns - self._shifted) > _APART_NS:
            self._give_up("the clock of the process cannot be read here")
        else:
            return self._shifted
        return None if self._over else 0

    def _give_up(self, why: str) -> None:
        """Count nothing; marks need no clock but the trace's own."""
        self.why = None if self._uncounted else why
        self._over = not self._marks
        self.close()
        self.pending.clear()
        self.pending.extend(self._marks)

    def _stop(self) -> None:
        """The last reading."""
        counts = self._counts
        if counts is not None and self._halted():
            try:
                self.pending.extend(counts.read(last=True))
            except (OSError, ValueError, IndexError):
                self.pending.extend(counts.last())
        self.close()

    def _read(self) -> None:
        """Until it is enough, or the process has ended."""
        counts = self._counts
        assert counts is not None
        usual = 0.0
        pause = self._every
        while not self._enough.wait(pause):
            began, cost = time.monotonic(), time.thread_time()
            if len(self.pending) < _MOST_WAITING:
                try:
                    events: list[OwnEvent] = counts.read()
                except (OSError, ValueError, IndexError) as error:
                    if not isinstance(error, FileNotFoundError | ProcessLookupError):
                        self.why = f"reading it failed: {error}"
                    return
                self.pending.extend(events)
            cost = time.thread_time() - cost
            usual = cost if not usual else 0.8 * usual + 0.2 * cost
            pause = max(self._every, usual / _SHARE) - (time.monotonic() - began)


def _counts_of(connection: Connection) -> ProcessCounts:
    """The process at the other end. Raises Uncountable."""
    if sys.platform != "linux":
        raise Uncountable("only Linux counts it so that others can read it")
    peer = peer_of(connection.socket) if isinstance(connection, SocketConnection) else None
    if peer is None:
        raise Uncountable("the process is not reached through a Unix socket")
    if not peer.process:
        raise Uncountable("the process is in another namespace, out of sight from here")
    return ProcessCounts(peer.process)


def _clock_shift(pid: int) -> int:
    """What to add to our CLOCK_MONOTONIC for that of the process, which may be in another time namespace."""
    return _offset(f"/proc/{pid}/timens_offsets") - _offset("/proc/self/timens_offsets")


def _offset(path: str) -> int:
    with suppress(OSError, ValueError):
        for line in Path(path).read_text().splitlines():
            name, seconds, nanoseconds = line.split()
            if name == "monotonic":
                return int(seconds) * SECOND + int(nanoseconds)
    return 0

"""`Channel`: the connection on which a session's stream comes, from its start to its last byte, and how it ended.

Stops the session in the way that loses nothing: asks on a second connection while reading the first, since the runtime
writes the rundown before it answers. Every wait has a limit. Decodes nothing, starts no threads.
"""

from __future__ import annotations

import time
from typing import Final, Literal, TypeAlias

from clrevents.diagnostics.driving import attempt, open_request, run
from clrevents.diagnostics.messages import CollectTracing5, StopTracing
from clrevents.diagnostics.runtime_requests import SessionSettings, suited, understood_session
from clrevents.diagnostics.side_sessions import METRICS, NUDGE_SECONDS, LateBuffers, collect_before_stop
from clrevents.diagnostics.transports import Connection, Endpoint

End: TypeAlias = Literal["stopped", "ended", "broken", "abandoned"]
"""`stopped` by us, after everything had arrived; `ended` by the target, which exited or was killed; `broken`: the
connection failed; `abandoned` by us before the end."""

BUFFER: Final = 1 << 20
QUIET_SECONDS: Final = 0.05
"""After this long a silence, what a runtime wrote at once, every 0.1 s, has arrived."""
STOP_SECONDS: Final = 20.0
"""How long after a requested stop the end may take, whatever still comes: 100 MB of names come in a few."""


class Channel:
    """A session that was started. Not for several threads at once."""

    def __init__(self, endpoint: Endpoint, settings: SessionSettings, stop_seconds: float = STOP_SECONDS) -> None:
        self._endpoint = endpoint
        self._settings = settings = run(suited(endpoint, settings), "process information")
        self._followed = False
        self._stop_seconds = stop_seconds
        self._stopper: Connection | None = None
        self._stopped = 0.0
        self._buffer = memoryview(bytearray(BUFFER))
        self.stopping = False
        self.end: End | None = None
        self._late = LateBuffers(endpoint, settings)
        self._connection, self.session, asked = run(understood_session(endpoint, settings), "a recording")
        self.unmet = settings.unmet(asked)
        """What was asked for and the runtime does not do, in words."""
        self.filters = isinstance(asked, CollectTracing5)
        """Whether the runtime leaves out single events."""

    @property
    def connection(self) -> Connection:
        """What the stream comes through."""
        return self._connection

    def receive(self, seconds: float) -> memoryview | None:
        """The received bytes, until the next call overwrites them; None: nothing within this time; empty: the end."""
        if self.end is not None:
            return self._buffer[:0]
        if not self.stopping:
            attempt(self._late.keep_up(), "late buffers", NUDGE_SECONDS)
        if self._late.pending:
            if not self._late.left:
                self._approach_end()
            seconds = min(seconds, self._late.left or seconds)
        elif self.stopping and time.monotonic() - self._stopped > self._stop_seconds:
            self.abandon()
            return self._buffer[:0]
        try:
            size = self._connection.receive_into(self._buffer, seconds)
        except TimeoutError:
            return None
        except OSError:
            self._close("broken")
            return self._buffer[:0]
        if not size:
            self._close("stopped" if self.stopping and not self._late.pending else "ended")
        return self._buffer[:size]

    def stop(self, followed: bool = False) -> None:
        """Request the end, once late buffers have been written, and go on receiving until it comes. Further calls have
        no effect. `followed`: a session that records the same has begun, so that metrics go on."""
        if self.stopping or self.end is not None:
            return
        self.stopping = True
        self._followed = followed
        self._approach_end()

    def _approach_end(self) -> None:
        """Wait a little more, or ask for it."""
        attempt(self._late.step(), "late buffers", NUDGE_SECONDS)
        if self._late.pending:
            return
        if not self._followed:
            attempt(collect_before_stop(self._endpoint, self._settings), METRICS)
        self._stopped = time.monotonic()
        # A process that is gone ends the stream by itself.
        self._stopper = attempt(open_request(self._endpoint, StopTracing(self.session)), "the end of a recording")

    def abandon(self) -> None:
        """Receive nothing more: the runtime notices when it writes, and ends the session. The rundown is lost."""
        if self.end is None:
            self._close("abandoned")

    def _close(self, end: End) -> None:
        self.end = end
        self._late.close()
        self._connection.close()
        if self._stopper is not None:
            self._stopper.close()

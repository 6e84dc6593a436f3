"""`Channel`: the connection on which a session's stream comes, from its start to its last byte, and how it ended.

Stops the session in the way that loses nothing: asks on a second connection while reading the first, since the runtime
writes the rundown before it answers. Every wait has a limit. Decodes nothing, starts no threads.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any, Final, Literal, TypeAlias

import attrs

from clrevents._util.value_classes import define
from clrevents.diagnostics.driving import Steps, Within, open_request, run
from clrevents.diagnostics.messages import CollectTracing5, Command, StopTracing
from clrevents.diagnostics.runtime_requests import SessionSettings, first_understood, suited
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


@define(eq=False, repr=False, slots=False)
class Channel:
    """A session that was started. Not for several threads at once.

    What takes requests is steps, for those who wait as well as for an event loop.
    """

    _endpoint: Endpoint
    _settings: SessionSettings
    _stop_seconds: float
    _late: LateBuffers
    connection: Connection
    """What the stream comes through."""
    session: int
    _asked: Command[Any]
    buffer: memoryview = attrs.field(factory=lambda: memoryview(bytearray(BUFFER)), init=False)
    """Where the stream is received."""
    stopping: bool = attrs.field(default=False, init=False)
    end: End | None = attrs.field(default=None, init=False)
    _followed: bool = attrs.field(default=False, init=False)
    _stopper: Connection | None = attrs.field(default=None, init=False)
    _stopped: float = attrs.field(default=0.0, init=False)

    @classmethod
    def opened(
        cls, endpoint: Endpoint, settings: SessionSettings, stop_seconds: float = STOP_SECONDS
    ) -> Steps[Channel]:
        """Start a session. Each request has a time limit of its own."""
        settings = yield Within(suited(endpoint, settings), "process information", needed=True)
        late = LateBuffers(endpoint, settings)
        started = first_understood(endpoint, settings.commands())
        connection, answer, asked = yield Within(started, "a recording", needed=True)
        return cls(endpoint, settings, stop_seconds, late, connection, answer.session, asked)

    @property
    def unmet(self) -> list[str]:
        """What was asked for and the runtime does not do, in words."""
        return self._settings.unmet(self._asked)

    @property
    def filters(self) -> bool:
        """Whether the runtime leaves out single events."""
        return isinstance(self._asked, CollectTracing5)

    def receive(self, seconds: float) -> memoryview | None:
        """The received bytes, until the next call overwrites them; None: nothing within this time; empty: the end."""
        if self.end is None:
            run(self.tend(), "late buffers", inf)
        if self.overdue:
            self.abandon()
        if self.end is not None:
            return self.buffer[:0]
        try:
            return self.took(self.connection.receive_into(self.buffer, self.wait(seconds)))
        except TimeoutError:
            return None
        except OSError:
            return self.took(None)

    def took(self, size: int | None) -> memoryview:
        """The bytes that were received; 0 is the end of the stream, None that of the connection."""
        if size is None:
            self._close("broken")
        elif not size:
            self._close("stopped" if self.stopping and not self._late.pending else "ended")
        return self.buffer[: size or 0]

    def tend(self) -> Steps[None]:
        """What is due before more is received."""
        if not self.stopping:
            yield Within(self._late.keep_up(), "late buffers", NUDGE_SECONDS)
        if self._late.pending and not self._late.left:
            yield from self._approach_end()

    def wait(self, seconds: float) -> float:
        """How long to wait for bytes, at most `seconds`."""
        return min(seconds, self._late.left or seconds) if self._late.pending else seconds

    @property
    def overdue(self) -> bool:
        """Whether the end that was asked for has taken too long."""
        asked = self.stopping and not self._late.pending and self.end is None
        return asked and time.monotonic() - self._stopped > self._stop_seconds

    def stop(self, followed: bool = False) -> Steps[None]:
        """Request the end, once late buffers have been written, and go on receiving until it comes. Further calls have
        no effect. `followed`: a session that records the same has begun, so that metrics go on."""
        if self.stopping or self.end is not None:
            return
        self.stopping = True
        self._followed = followed
        yield from self._approach_end()

    def _approach_end(self) -> Steps[None]:
        """Wait a little more, or ask for it."""
        yield Within(self._late.step(), "late buffers", NUDGE_SECONDS)
        if self._late.pending:
            return
        if not self._followed:
            yield Within(collect_before_stop(self._endpoint, self._settings), METRICS)
        self._stopped = time.monotonic()
        # A process that is gone ends the stream by itself.
        self._stopper = yield Within(open_request(self._endpoint, StopTracing(self.session)), "the end of a recording")

    def abandon(self) -> None:
        """Receive nothing more: the runtime notices when it writes, and ends the session. The rundown is lost."""
        if self.end is None:
            self._close("abandoned")

    def _close(self, end: End) -> None:
        self.end = end
        self._late.close()
        self.connection.close()
        if self._stopper is not None:
            self._stopper.close()

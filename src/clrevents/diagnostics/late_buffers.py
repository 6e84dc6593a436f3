"""Has a process write the buffers of its async profiler while a session records it, and before that ends.

Each thread of .NET 11 keeps sub-events in a buffer of its own, where the end of a session leaves them (docs/live.md,
"Awaits of .NET 11"). A session that begins has a busy thread write its buffer at its next step; a timer of the process
writes that of an idle one. Whatever goes wrong, the session ends as it would without. Decodes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from clrevents.diagnostics.driving import Steps, open_request
from clrevents.diagnostics.early_list import walks_the_heap
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from clrevents.diagnostics.transports import Connection, Endpoint
from clrevents.schema.registry import ASYNC

SMALL_BUFFERS: Final = {"DOTNET_AsyncProfiler_EventBufferSize": "1024"}
"""The variable with which a process that ends takes less with it. Older runtimes ignore it."""
NUDGE_SECONDS: Final = 1.0
"""How long a nudge may take: the recording is not read meanwhile."""
_EVERY_SECONDS: Final = 1.0
"""A process that ends by itself takes with it what its threads did since the last nudge."""
_IDLE_SECONDS: Final = 1.25
"""The timer comes once a second, to threads that have been idle for a quarter of one."""
_BUSY_SECONDS: Final = 0.1
"""For the step that a busy thread is in. What it does from then to the end is not written."""
_NUDGE: Final = SessionSettings((Provider(ASYNC, keywords=0x10, level=1),), buffer_mb=1, rundown=False)
"""The provider has no event of this level, so that nobody has to read the session."""


def keeps_buffers(providers: Iterable[Provider]) -> bool:
    """Whether something of these providers may be left behind."""
    return any(one.name == ASYNC for one in providers)


class LateBuffers:
    """The wait before a session may end: `pending` from its first step to its last."""

    def __init__(self, endpoint: Endpoint, settings: SessionSettings) -> None:
        self._endpoint = endpoint
        late = keeps_buffers(settings.providers) and not walks_the_heap(settings.providers)
        self._waits = [_IDLE_SECONDS, _BUSY_SECONDS] if late else []
        self._until = time.monotonic() + _EVERY_SECONDS
        self._opened: list[Connection] = []
        self.pending = False

    @property
    def left(self) -> float:
        """How many seconds are left until the next step."""
        return max(self._until - time.monotonic(), 0.0)

    def step(self) -> Steps[None]:
        """Nudge the process, and wait again, unless it has had its time."""
        self.pending = bool(self._waits)
        if not self.pending:
            return
        self._until = time.monotonic() + self._waits.pop(0)
        yield from self._nudge()

    def keep_up(self) -> Steps[None]:
        """Nudge a process that is being recorded, once a second."""
        if self._waits and not self.left:
            self._until = time.monotonic() + _EVERY_SECONDS
            yield from self._nudge()

    def _nudge(self) -> Steps[None]:
        self._drop()
        connection, session = yield from start_session(self._endpoint, _NUDGE)
        self._opened.append(connection)
        self._opened.append((yield from open_request(self._endpoint, StopTracing(session))))

    def close(self) -> None:
        """Nothing more will come."""
        self.pending = False
        self._drop()

    def _drop(self) -> None:
        while self._opened:
            self._opened.pop().close()

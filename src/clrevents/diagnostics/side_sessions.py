"""Sessions of a moment beside the one that records: each has a process do what its own session would not get from it.

Listing its code at once, since a runtime lists methods only when a session ends. Collecting its metrics for the first
time, since a process hangs for good where its last session of metrics ends during that collection (docs/live.md).
Writing the buffers of its async profiler, which .NET 11 keeps for each thread and the end of a session leaves behind
(docs/live.md, "Awaits of .NET 11"). Whatever goes wrong here, the recording goes on without.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from clrevents.diagnostics.driving import Steps, TakeSome, attempt, open_request, request
from clrevents.diagnostics.listening import RuntimePort
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.profiles import METER_VALUES, METERS
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from clrevents.diagnostics.transports import Connection, Endpoint
from clrevents.errors import TraceError
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import ASYNC, RUNTIME
from clrevents.trace import Decoder

ONLY_LIST: Final = SessionSettings((Provider(RUNTIME, keywords=RuntimeKeyword.Loader, level=1),), buffer_mb=64)
"""A session must have a provider; this one has no event of this level."""
PATIENCE: Final = 5.0
"""The recording that has begun is not read meanwhile, and the process has room for some seconds of it."""
LISTING: Final = "a list of code"


def may_list(endpoint: Endpoint, providers: Iterable[Provider]) -> bool:
    """Whether a list beside one of these providers does no harm. A process that connected to us has just begun, or lets
    us wait for its next connection."""
    return not isinstance(endpoint, RuntimePort) and not walks_the_heap(providers)


def walks_the_heap(providers: Iterable[Provider]) -> bool:
    """Whether a runtime that has a session of these walks its heap again for each other one that begins."""
    return any(one.name == RUNTIME and one.keywords & RuntimeKeyword.ManagedHeapCollect for one in providers)


def early_list(endpoint: Endpoint) -> Steps[bytes | None]:
    """The whole recording of the list; None if it is not there in time."""
    connection, session = yield from start_session(endpoint, ONLY_LIST)
    opened, data, until = [connection], bytearray(), time.monotonic() + PATIENCE
    try:
        opened.append((yield from open_request(endpoint, StopTracing(session))))
        while (left := until - time.monotonic()) > 0:
            part = yield TakeSome(connection, left)
            if part == b"":
                return bytes(data)
            data += part or b""
        return None
    finally:
        for one in opened:
            one.close()


def listed_now(endpoint: Endpoint) -> bytes | None:
    """The same at once; None also where the process refuses."""
    return attempt(early_list(endpoint), LISTING, PATIENCE)


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


# The shortest interval that a runtime takes. No meters: nothing is collected. Without a ClientId, a SHARED session that
# runs already with another interval ignores this, and its next collection is as good.
_AT_ONCE: Final = Provider(METERS, keywords=METER_VALUES, arguments="SessionId=SHARED;RefreshInterval=0.1")
_COLLECTED: Final = "CollectionStop"
_PATIENCE: Final = 2.0
"""How long to wait for a collection: those of another tool usually come every second."""
_LAST: Final = 0.2
"""More than a collection takes, so that one which begins when the time is up comes to its end."""
METRICS: Final = "a first collection of metrics"


def with_last_collection(duration: float, settings: SessionSettings) -> float:
    """The duration of a recording that is to have the values of its last moment: they come when a second is over."""
    return duration + _LAST * _of_metrics(settings)


def collect_before_start(endpoint: Endpoint, settings: SessionSettings) -> Steps[None]:
    """Before a recording with these settings begins, if it is one of metrics."""
    if not isinstance(endpoint, RuntimePort):
        yield from _collect(endpoint, settings)


def collect_before_stop(endpoint: Endpoint, settings: SessionSettings) -> Steps[None]:
    """Before it is stopped: a process that connected to us was not running when the recording began."""
    if isinstance(endpoint, RuntimePort):
        yield from _collect(endpoint, settings)


def _collect(endpoint: Endpoint, settings: SessionSettings) -> Steps[None]:
    if not _of_metrics(settings):
        return
    connection, session = yield from start_session(endpoint, SessionSettings((_AT_ONCE,), 1, rundown=False))
    try:
        if (yield from _is_over(connection)):
            yield from request(endpoint, StopTracing(session))
    finally:
        connection.close()


def _of_metrics(settings: SessionSettings) -> bool:
    return any(one.name == METERS for one in settings.providers)


def _is_over(connection: Connection) -> Steps[bool]:
    """Whether the session may be stopped: a collection is over, or the process has no source of metrics. Otherwise it
    is closed, which the runtime notices when it writes a collection."""
    decoder = Decoder(f"{METERS}/*")
    heard = False
    until = time.monotonic() + _PATIENCE
    while (left := until - time.monotonic()) > 0:
        data = yield TakeSome(connection, left)
        if data == b"":
            return False
        try:
            batches = [*decoder.feed(data or b""), *decoder.flush()]
        except TraceError:
            return False
        names = [event.name for batch in batches for event in batch]
        heard = heard or bool(names)
        if _COLLECTED in names:
            return True
    return not heard

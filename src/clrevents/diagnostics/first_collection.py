"""Has a process collect its metrics for the first time in a session of a moment, not in the one that is to be recorded.

Where the last session of metrics ends during that collection, by our stop or by the process's own exit, the process
hangs for good (docs/live.md). Later collections do no harm. Whatever goes wrong here, the recording goes on without.
"""

from __future__ import annotations

import time
from typing import Final

from clrevents.diagnostics.driving import Steps, TakeSome, request
from clrevents.diagnostics.listening import RuntimePort
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.profiles import METER_VALUES, METERS
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from clrevents.diagnostics.transports import Connection, Endpoint
from clrevents.errors import TraceError
from clrevents.trace import Decoder

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

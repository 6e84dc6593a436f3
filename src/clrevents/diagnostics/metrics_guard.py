"""A second session that outlives one of metrics, so that the runtime can end the metrics in a pause.

When the last session of `System.Diagnostics.Metrics` ends, the runtime waits for its thread that collects values, and
holds the lock that the first collection of a process needs: the process would hang for good (docs/live.md). The guard
keeps metrics on until a collection is over. Where none comes it is closed instead, which the runtime notices when it
writes the next one. Decodes nothing but the guard's own events.
"""

from __future__ import annotations

import contextlib
import time
from typing import Final, TypeAlias

import attrs

from clrevents.diagnostics.driving import Steps, TakeSome, request
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.profiles import METER_VALUES, METERS
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from clrevents.diagnostics.transports import Connection, Endpoint
from clrevents.errors import TraceError
from clrevents.trace import Decoder

Guard: TypeAlias = tuple[Connection, int]

_COLLECTED: Final = "CollectionStop"
_PATIENCE: Final = 2.0
"""How long to wait for a collection: values usually come every second."""
_QUIET: Final = 0.05


def begin_guard(endpoint: Endpoint, settings: SessionSettings) -> Steps[Guard | None]:
    """The guard of a session with these settings, before it is stopped; None if it records no metrics."""
    for one in settings.providers:
        if one.name == METERS:
            asked = attrs.evolve(one, keywords=one.keywords | METER_VALUES)
            return (yield from start_session(endpoint, SessionSettings((asked,), 1, rundown=False)))
    return None


def end_guard(endpoint: Endpoint, guard: Guard) -> Steps[None]:
    """After the guarded session has ended: end the guard, too, when a collection is over."""
    connection, session = guard
    try:
        if (yield from _in_a_pause(connection)):
            with contextlib.suppress(DiagnosticsError):
                yield from request(endpoint, StopTracing(session))
    finally:
        connection.close()


def _in_a_pause(connection: Connection) -> Steps[bool]:
    """Whether the session may be stopped: a collection is over, or the process has no source of metrics."""
    decoder = Decoder(f"{METERS}/*")
    heard = False
    until = time.monotonic() + _PATIENCE
    while (left := until - time.monotonic()) > 0:
        data = yield TakeSome(connection, min(left, _QUIET))
        if data == b"":
            return False
        try:
            batches = decoder.flush() if data is None else decoder.feed(data)
        except TraceError:
            return False
        names = [event.name for batch in batches for event in batch]
        heard = heard or bool(names)
        if _COLLECTED in names:
            return True
    return not heard

"""Has a process list its code at once, in a session of a moment, for a recording that has just begun.

A runtime lists methods only when a session ends. This session records nothing but that list, which is read beside the
other recording. Whatever goes wrong with it, the recording goes on without.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from clrevents.diagnostics.driving import Steps, TakeSome, attempt, open_request
from clrevents.diagnostics.listening import RuntimePort
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from clrevents.diagnostics.transports import Endpoint
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME

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

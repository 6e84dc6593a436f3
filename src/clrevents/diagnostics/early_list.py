"""Has a process list its code at once, in a session of a moment, for a recording that has just begun.

A runtime lists methods only when a session ends. This session records nothing but that list, which is read beside the
other recording. Whatever goes wrong with it, the recording goes on without.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from clrevents.diagnostics.channel import Channel
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.listening import RuntimePort
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.transports import Endpoint
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME

ONLY_LIST: Final = SessionSettings((Provider(RUNTIME, keywords=RuntimeKeyword.Loader, level=1),), buffer_mb=64)
"""A session must have a provider; this one has no event of this level."""
PATIENCE: Final = 5.0
"""The recording that has begun is not read meanwhile, and the process has room for some seconds of it."""


def may_list(endpoint: Endpoint, providers: Iterable[Provider]) -> bool:
    """Whether a session beside one of these providers does no harm.

    One that begins makes a runtime that walks its heap for another walk it again. A process that connected to us has
    just begun, or lets us wait for its next connection.
    """
    walks = RuntimeKeyword.ManagedHeapCollect
    return not isinstance(endpoint, RuntimePort) and not any(
        one.name == RUNTIME and one.keywords & walks for one in providers
    )


def early_list(endpoint: Endpoint) -> bytes | None:
    """The whole recording of the list; None if it is not there in time."""
    data, until = bytearray(), time.monotonic() + PATIENCE
    try:
        channel = Channel(endpoint, ONLY_LIST)
    except DiagnosticsError:
        return None
    try:
        channel.stop()
        while channel.end is None and (left := until - time.monotonic()) > 0:
            data += channel.receive(left) or b""
        return bytes(data) if channel.end == "stopped" else None
    finally:
        channel.abandon()

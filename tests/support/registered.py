"""The built-in events, for tests that hold for each of them: one test for all, a note on the event that fails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from clrevents.schema.async_forms import CARRIER_ID
from clrevents.schema.registry import ASYNC, DEFAULT, EventInfo


def _built_in() -> list[EventInfo]:
    """Those of our families; other tests register events of their own in the same process."""
    known = sorted(DEFAULT.events(), key=lambda i: (i.provider, i.id, i.version))
    return [info for info in known if info.record.__module__.startswith("clrevents.schema.events.")]


EVENTS: Final = _built_in()
# Bytes that are drawn are no buffer of sub-events: what carries one is tested for itself.
_READ: Final = [info for info in EVENTS if (info.provider, info.id) != (ASYNC, CARRIER_ID)]
FAMILIES: Final = {
    family: [info for info in _READ if info.record.__module__.rpartition(".")[2] == family]
    for family in sorted({info.record.__module__.rpartition(".")[2] for info in EVENTS})
}


def each_event(test: Callable[[EventInfo], None]) -> Callable[[], None]:
    """Run a test for every built-in event."""

    @functools.wraps(test)
    def run() -> None:
        assert len(EVENTS) > 500
        for info in EVENTS:
            try:
                test(info)
            except BaseException as error:
                error.add_note(f"this is about {info.record.__name__} ({info.provider} {info.id})")
                raise

    # Its signature is that of a test without parameters.
    del run.__wrapped__  # type: ignore[attr-defined]
    return run

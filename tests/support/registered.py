"""The built-in events by family, for tests that hold for each of them: one test a family, a note on the event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final

import pytest

from clrevents.schema.registry import DEFAULT, EventInfo


def _families() -> dict[str, list[EventInfo]]:
    found: dict[str, list[EventInfo]] = defaultdict(list)
    for info in sorted(DEFAULT.events(), key=lambda i: (i.provider, i.id, i.version)):
        package, _, family = info.record.__module__.rpartition(".")
        if package == "clrevents.schema.events":
            found[family].append(info)
    return dict(sorted(found.items()))


FAMILIES: Final = _families()


def each_event(test: Callable[[EventInfo], None]) -> Callable[[str], None]:
    """Run a test for every built-in event; there are too many for a test each."""

    @pytest.mark.parametrize("family", FAMILIES)
    def run(family: str) -> None:
        for info in FAMILIES[family]:
            try:
                test(info)
            except BaseException as error:
                error.add_note(f"this is about {info.record.__name__} ({info.provider} {info.id})")
                raise

    run.__name__ = run.__qualname__ = test.__name__
    run.__doc__ = test.__doc__
    run.__module__ = test.__module__
    return run

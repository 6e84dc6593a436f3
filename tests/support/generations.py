"""The same events in the generations of which there is no fixture: a real NetTrace 4 trace, read and written anew."""

from __future__ import annotations

from functools import cache
from typing import Final

from damage import load
from plain_trace import PlainTrace

GENERATIONS: Final = ("NetPerf 2", "NetPerf 3", "NetTrace 6")


@cache
def written(generation: str, name: str = "net8-method-interop.nettrace") -> bytes:
    """The trace of that name as this generation would have it."""
    data = load(name)
    assert data is not None
    return PlainTrace.of(data).written(generation)

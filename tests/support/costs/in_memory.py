"""Streams that the writers of any generation write into memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import TraceHeader


def four(*steps: Callable[[NetTrace4Writer], object], header: TraceHeader | None = None) -> bytes:
    """What these steps write, ended."""
    return ended(NetTrace4Writer(io.BytesIO(), header), *steps)


def six(*steps: Callable[[NetTrace6Writer], object], header: TraceHeader | None = None) -> bytes:
    """The same of NetTrace 6."""
    return ended(NetTrace6Writer(io.BytesIO(), header), *steps)


def ended(writer: Any, *steps: Callable[[Any], object]) -> bytes:
    """All that a writer wrote into its `io.BytesIO`, and what these steps write, ended."""
    for step in steps:
        step(writer)
    writer.end()
    found: bytes = writer._sink.getvalue()
    return found

"""A small trace of which a page shows everything: samples in states, an exception, a collection, a loss."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from clrevents.events import ExceptionThrown_V1, ExceptionThrownFlags
from clrevents.testing.builder import TraceBuilder

MS: Final = 1_000_000
_EXTERNAL: Final = 1
HOSTILE: Final = (
    "</script><img src=x onerror=window.broken=1>",
    "<!--<script>",
    "\"'`${window.broken=1}",
    "\u202egnp.exe\u2066",
    "a\x01b\x1b[31m\u2028c",
    "__proto__",
    "&lt;b&gt;",
)


def built_page(names: tuple[str, ...] = ("Main", "Pay"), name: str | None = None) -> bytes:
    """Methods of these names call one another on two threads; each throws with its name as the message.

    Thread 7 is sampled each ms for 10 ms in managed code, thread 8 in native code.
    """
    builder = TraceBuilder("nettrace6")
    addresses = [0x1000 * (number + 1) for number in range(len(names))]
    for address, method in zip(addresses, names, strict=True):
        builder.method_load("Shop", method, address=address)
    stack = [address + 16 for address in reversed(addresses)]
    for number in range(11):
        builder.thread(7, name).at((10 + number) * MS).sample(*stack)
        builder.thread(8).at((10 + number) * MS).sample(*stack, kind=_EXTERNAL)
    builder.thread(7, name)
    for number, text in enumerate(names):
        builder.at((22 + number) * MS)
        builder.event(ExceptionThrown_V1(text, text, 0, 0, ExceptionThrownFlags(0), 0), stack=stack)
    return builder.build()


def data_of(page: bytes) -> Any:
    """What its script reads."""
    data = re.search(rb'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    return json.loads(data[1])

"""How many lines of Python each costly stream takes, at three sizes: a measure of time that is the same on any machine.

A script: prints for each family named, as JSON, the pairs of bytes and lines of reading all events. With
CLREVENTS_PURE=1 the kernels are Python too, so that nothing but the libraries' own loops is left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from functools import partial
from typing import Any

import clrevents
from costly_families import FAMILIES
from counting import lines


def read(data: bytes, mode: Any) -> None:
    with contextlib.suppress(clrevents.TraceError), clrevents.open(io.BytesIO(data), errors=mode) as trace:
        for event in trace.events():
            event.payload  # noqa: B018


def main(mode: str, *names: str) -> None:
    warnings.simplefilter("ignore")
    for family in FAMILIES:
        if family.name in names:
            step = max(family.small // 120, 1)
            read(family.make(step), mode)
            streams = [family.make(n * step) for n in (1, 2, 4)]
            print(
                json.dumps([family.name, [(len(data), lines(partial(read, data, mode))) for data in streams]]),
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])

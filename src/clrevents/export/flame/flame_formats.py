"""Weighted stacks → a file for a viewer, in any of the available formats.

Each format is a module with a function from samples to bytes, imported on use. Opens no file.
"""

from __future__ import annotations

import gzip
import importlib
from typing import Final, get_args

from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.export.look import Look

FLAME_FORMATS: Final[tuple[FlameFormat, ...]] = get_args(FlameFormat)

_ROOM: Final = "clrevents.export.flame"
_MODULES: Final[dict[FlameFormat, str]] = {
    "speedscope": "speedscope",
    "folded": "folded",
    "html": "flame_html",
    "pprof": "pprof",
}


def flame_bytes(samples: Samples, format: FlameFormat, look: Look, pack: bool = False) -> bytes:
    """The whole file. `pack` compresses it; pprof files always are."""
    made: bytes = importlib.import_module(f"{_ROOM}.{_MODULES[format]}").render(samples, look)
    return _packed(made) if pack or format == "pprof" else made


def compared_bytes(after: Samples, before: Samples, name: str, look: Look, pack: bool = False) -> bytes:
    """The page of a flame graph comparing two traces, the other of which is called `name`. Raises ValueError if their
    weights have different units."""
    made: bytes = importlib.import_module(f"{_ROOM}.flame_html").render_compared(after, before, name, look)
    return _packed(made) if pack else made


def _packed(made: bytes) -> bytes:
    """Without a timestamp, so that the same samples give the same bytes."""
    return gzip.compress(made, 6, mtime=0)

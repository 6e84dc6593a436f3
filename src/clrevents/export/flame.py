"""Weighted stacks → a file for a viewer: the available formats, and the one that a file name means.

Each format is a module with a function from samples to bytes, imported on use. Opens no file.
"""

from __future__ import annotations

import gzip
import importlib
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from clrevents.analysis.sampled.samples import SampledThread, Samples
from clrevents.words import counted

FlameFormat: TypeAlias = Literal["speedscope", "folded", "html", "pprof", "chrome"]
FLAME_FORMATS: Final[tuple[FlameFormat, ...]] = get_args(FlameFormat)

_MODULES: Final[dict[FlameFormat, str]] = {
    "speedscope": "speedscope",
    "folded": "folded",
    "html": "flame_html",
    "pprof": "pprof",
    "chrome": "chrome",
}
_ENDINGS: Final[tuple[tuple[FlameFormat, tuple[str, ...]], ...]] = (
    ("chrome", (".chrome.json", ".trace.json", ".perfetto.json")),
    ("speedscope", (".json", ".speedscope")),
    ("folded", (".folded", ".collapsed", ".txt")),
    ("html", (".html", ".htm")),
    ("pprof", (".pb", ".pprof", ".prof")),
)


class Look(NamedTuple):
    """What a picture shows besides its samples. `raw` names are the runtime's; `start` is when the session started."""

    title: str = ""
    producer: str = "clrevents"
    merge_threads: bool = False
    raw: bool = False
    start: datetime | None = None


def flame_format(name: str) -> FlameFormat | None:
    """The format of a file with this name; None if its suffix is not known."""
    name = name.lower().removesuffix(".gz")
    return next((format for format, endings in _ENDINGS if name.endswith(endings)), None)


def flame_bytes(samples: Samples, format: FlameFormat, look: Look, pack: bool = False) -> bytes:
    """The whole file. `pack` compresses it; pprof files always are. Raises ValueError if threads are to be merged in a
    format that keeps them apart."""
    made: bytes = importlib.import_module(f"clrevents.export.{_MODULES[format]}").render(samples, look)
    return _packed(made) if pack or format == "pprof" else made


def compared_bytes(after: Samples, before: Samples, name: str, look: Look, pack: bool = False) -> bytes:
    """The page of one flame graph of two traces, the other of which is called `name`. Raises ValueError where their
    weights are of different units."""
    made: bytes = importlib.import_module("clrevents.export.flame_compared").render_compared(after, before, name, look)
    return _packed(made) if pack else made


def _packed(made: bytes) -> bytes:
    """Without a timestamp, so that the same samples give the same bytes."""
    return gzip.compress(made, 6, mtime=0)


def frame_names(samples: Samples, look: Look) -> list[str]:
    """The frames' names in the requested spelling."""
    return [frame.raw if look.raw else frame.name for frame in samples.frames]


def summary(samples: Samples) -> str:
    """How many samples there are, in words: `1,288 samples on 6 threads`."""
    what = "sample" if samples.timed else f"{samples.event} event"
    return f"{counted(len(samples), what)} on {counted(len(samples.threads), 'thread')}"


def thread_labels(samples: Samples) -> list[str]:
    """The threads' names, with their processes if there are several."""
    several = len({track.process_id for track in samples.threads}) > 1
    return [_label(track, several) for track in samples.threads]


def _label(track: SampledThread, several: bool) -> str:
    return f"{track} of process {track.process_id}" if several and track.process_id is not None else str(track)

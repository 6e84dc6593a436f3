"""Which format a file's name means, for tables, flame graphs, timelines and heap snapshots alike. Loads no writer."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Purpose: TypeAlias = Literal["table", "timeline", "heap", "flame"]
TimelineFormat: TypeAlias = Literal["perfetto", "firefox"]

SUFFIXES: Final[Mapping[Purpose, Mapping[str, str]]] = {
    "table": {
        **{".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"},
        **{".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"},
    },
    "timeline": {
        **{".pftrace": "perfetto", ".perfetto-trace": "perfetto"},
        **{".firefox.json": "firefox", ".firefox": "firefox"},
    },
    "heap": {".heapsnapshot": "heapsnapshot"},
    "flame": {
        **{".json": "speedscope", ".speedscope": "speedscope", ".html": "html", ".htm": "html"},
        **{".folded": "folded", ".collapsed": "folded", ".txt": "folded"},
        **{".pb": "pprof", ".pprof": "pprof", ".prof": "pprof"},
    },
}
"""Each suffix, with its format."""
PACKED: Final = ("timeline", "flame")
"""What may have .gz behind its suffix, and is packed then."""
VIEWERS: Final[Mapping[TimelineFormat, str]] = {
    "perfetto": "https://ui.perfetto.dev",
    "firefox": "https://profiler.firefox.com",
}


def file_format(name: str, purpose: Purpose) -> str | None:
    """The format of a file with this name; None if its suffix is none of this purpose's."""
    name = name.lower().removesuffix(".gz") if purpose in PACKED else name.lower()
    return next((format for suffix, format in SUFFIXES[purpose].items() if name.endswith(suffix)), None)


def near_suffix(name: str, *purposes: Purpose) -> str | None:
    """The suffix that was meant by one that nearly is one, such as `.csv` by `.cvs`; None if it is like no other."""
    base, packed, _ = os.path.basename(name).lower().partition(".gz")
    suffix = os.path.splitext(base)[1] + packed
    known = [suffix for purpose in purposes for suffix in SUFFIXES[purpose]]
    return next(iter(difflib.get_close_matches(suffix, known, n=1, cutoff=0.65)), None)

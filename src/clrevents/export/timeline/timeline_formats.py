"""Formats of timelines: which one a file's name means, and where it is viewed. Loads no writer."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

TimelineFormat: TypeAlias = Literal["perfetto", "firefox"]
_ENDINGS: Final[dict[TimelineFormat, tuple[str, ...]]] = {
    "perfetto": (".pftrace", ".perfetto-trace"),
    "firefox": (".firefox.json", ".firefox"),
}
VIEWERS: Final[dict[TimelineFormat, str]] = {
    "perfetto": "https://ui.perfetto.dev",
    "firefox": "https://profiler.firefox.com",
}


def timeline_format(name: str) -> TimelineFormat | None:
    """The format of a file with this name; None if it is not a timeline format."""
    name = name.lower().removesuffix(".gz")
    return next((format for format, endings in _ENDINGS.items() if name.endswith(endings)), None)

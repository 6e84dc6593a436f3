"""Items of a timeline → markers of a Firefox profile, their schemas and categories.

A schema for each group of tracks, with the fields that occur. Knows no thread's name and no report.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any, Final

from clrevents.export.timeline.firefox_stacks import NAMELESS, FirefoxTexts
from clrevents.export.timeline.timeline_items import GROUPS, Group, Instant, Stretch, Track

_MS: Final = 1e6
_INSTANT, _INTERVAL = 0, 1
_GROUPS: Final[list[Group]] = [group for group in GROUPS if group not in ("samples", "counters")]
_COLORS: Final[dict[Group, str]] = {
    "states": "lightblue", "locks": "orange", "held": "yellow", "tasks": "green", "created": "green", "jit": "magenta",
    "exceptions": "red", "events": "purple", "pauses": "red", "suspensions": "lightred", "collections": "brown",
    "requests": "blue", "activities": "lightblue",
}  # fmt: skip
_text: Final = json.JSONEncoder(ensure_ascii=False).encode
_LONGEST: Final = 1000
"""Characters of an event's payload, which all stay in memory: a crafted one has fields without a byte in the trace."""
_LARGEST: Final = 1 << 53
"""JavaScript's largest exact integer; larger ones are texts."""

_Key = tuple[int | None, int | None]
_Marker = tuple[int, int | None, int, int, Group, tuple[str, ...], tuple[Any, ...]]
"""Start, end, phase, name, group, and the fields' names and values."""


def marker_categories() -> list[dict[str, Any]]:
    """The categories of markers, which follow those of frames."""
    return [{"name": GROUPS[group], "color": _COLORS[group], "subcategories": ["Other"]} for group in _GROUPS]


class FirefoxMarkers:
    """The markers of all threads."""

    def __init__(self, texts: FirefoxTexts) -> None:
        self._texts = texts
        self._fields: dict[Group, dict[str, str]] = defaultdict(dict)
        self._found: dict[_Key, list[_Marker]] = defaultdict(list)
        # Of equal ones the first: there is a marker for each event.
        self._keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        # Groups with a field that is not always of one kind.
        self._mixed: set[Group] = set()

    @property
    def threads(self) -> list[_Key]:
        """Those that have any."""
        return list(self._found)

    def add(self, track: Track, item: Stretch | Instant) -> None:
        """Take an item of a track."""
        data: dict[str, Any] = {"type": track.group}
        fields = self._fields[track.group]
        for name, value in item.details.items():
            kind, shown = ("string", value) if type(value) is str else _shown(name, value)
            if shown is not None:
                # `type` is the schema's, and `name` a marker's own.
                key = f"{name} " if name == "type" or name == "name" else name
                data[key] = shown
                if (known := fields.setdefault(key, kind)) != kind:
                    fields[key] = _both(known, kind)
                    self._mixed.add(track.group)
        if item.leaves or item.reaches:
            self._add_arrows(track.group, item, data)
        phase, end = (_INTERVAL, item.end_ns) if isinstance(item, Stretch) else (_INSTANT, None)
        keys = tuple(data)
        keys = self._keys.setdefault(keys, keys)
        row = (item.start_ns, end, phase, self._texts[item.name], track.group, keys, tuple(data.values()))
        self._found[track.process_id, track.thread_id].append(row)

    def _add_arrows(self, group: Group, item: Stretch | Instant, data: dict[str, Any]) -> None:
        fields = self._fields[group]
        for side, kind, arrows in (("to", "flow-id", item.leaves), ("from", "terminating-flow-id", item.reaches)):
            for n, arrow in enumerate(arrows):
                key = f"{side} {n + 1}" if n else side
                data[key] = self._texts[f"{arrow:x}"]
                if fields.setdefault(key, kind) != kind:
                    # A detail of this name.
                    self._mixed.add(group)

    def table(self, key: _Key, end_ns: int) -> dict[str, Any]:
        """The markers of one thread in order of time, as iterators. An item without an end lasts until the end of the
        trace."""
        rows = sorted(self._found.get(key, ()), key=lambda row: row[0])
        return {
            "name": (row[3] for row in rows),
            "startTime": (row[0] / _MS for row in rows),
            "endTime": (None if row[2] == _INSTANT else (end_ns if row[1] is None else row[1]) / _MS for row in rows),
            "phase": (row[2] for row in rows),
            "category": (NAMELESS + 1 + _GROUPS.index(row[4]) for row in rows),
            "data": (self._data(row[4], row[5], row[6]) for row in rows),
            "length": len(rows),
        }

    def _data(self, group: Group, keys: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
        """With texts in fields that are texts of other markers."""
        found = zip(keys, values, strict=True)
        if group not in self._mixed:
            return dict(found)
        fields = self._fields[group]
        return {key: str(value) if fields.get(key) == "string" else value for key, value in found}

    def schemas(self) -> list[dict[str, Any]]:
        """Which fields the markers of each group have."""
        return [
            {
                "name": group,
                "tooltipLabel": f"{GROUPS[group]}: {{marker.name}}",
                "tableLabel": "{marker.name}",
                "chartLabel": "{marker.name}",
                "display": ["marker-chart", "marker-table", "timeline-overview"],
                "fields": [{"key": key, "label": key.strip(), "format": kind} for key, kind in fields.items()],
            }
            for group, fields in self._fields.items()
        ]


def _both(one: str, other: str) -> str:
    """The format of a field whose values have these, which differ."""
    return "decimal" if {one, other} == {"integer", "decimal"} else "string"


def _shown(name: str, value: Any) -> tuple[str, Any]:
    """The format of a detail, and what is shown of it; None for nothing."""
    match value:
        case dict() | list():
            text = _text(value)
            return "string", text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        case str():
            return "string", value
        case bool():
            return "string", "yes" if value else "no"
        case int() if abs(value) <= _LARGEST:
            kind = "nanoseconds" if name.endswith("_ns") else "bytes" if name.endswith("_bytes") else "integer"
            return kind, value
        case float() if math.isfinite(value):
            return "decimal", value
        case None:
            return "string", None
        case _:
            return "string", str(value)

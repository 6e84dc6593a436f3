"""A timeline → the Firefox Profiler's processed profile: https://profiler.firefox.com shows it.

Samples are samples there, everything else markers of threads, and counters. A process has an additional thread for
items of no thread. Threads share the tables of stacks, frames and functions. The format has one object for everything,
so markers are kept until its end.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any, Final, TypeAlias

import numpy as np

from clrevents.analysis.gathering.groups import Interned, Ints
from clrevents.analysis.gathering.merged_stacks import is_own
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, frame_names, rows_by_thread
from clrevents.export.timeline.report_items import Timeline
from clrevents.export.timeline.timeline_items import GROUPS, Group, Instant, Level, Placed, Stretch, Track

OWN, OTHERS, NAMELESS = 0, 1, 2
"""Categories of frames: the program's own, the framework's and runtime's, and those without a name."""


FirefoxTexts: TypeAlias = Interned[str]
"""The table of strings: a place for each."""


class FirefoxStacks:
    """`of` has for each stack of the samples its place in the table of stacks."""

    def __init__(self, samples: Samples, look: Look, texts: FirefoxTexts) -> None:
        known: Interned[tuple[int, int]] = Interned()
        self.of: list[int | None] = []
        for stack in range(len(samples.offsets) - 1):
            place = -1
            for frame in reversed(samples.frame_ids(stack)):
                place = known[place, frame]
            self.of.append(None if place < 0 else place)
        self._stacks = list(known)
        self._frames = [
            (texts[name], frame) for name, frame in zip(frame_names(samples, look), samples.frames, strict=True)
        ]
        self._texts = texts

    def tables(self) -> dict[str, Any]:
        """All that is shared but the strings."""
        count = len(self._frames)
        modules = {
            module: place for place, module in enumerate(dict.fromkeys(f.module for _, f in self._frames if f.module))
        }
        categories = [NAMELESS if f.reason else OWN if is_own(f) else OTHERS for _, f in self._frames]
        none = [None] * count
        return {
            "stackTable": {
                "frame": [frame for _, frame in self._stacks],
                # How far back the caller is; 0 if there is none.
                "prefixOffset": [0 if caller < 0 else n - caller for n, (caller, _) in enumerate(self._stacks)],
                "length": len(self._stacks),
            },
            "frameTable": {
                "address": [-1] * count,
                "lib": [-1] * count,
                "inlineDepth": [0] * count,
                "category": categories,
                "subcategory": [0] * count,
                "func": list(range(count)),
                **dict.fromkeys(("nativeSymbol", "innerWindowID", "line", "column", "originalLocation"), none),
                "length": count,
            },
            "funcTable": {
                "name": [name for name, _ in self._frames],
                "isJS": [False] * count,
                "relevantForJS": [False] * count,
                "resource": [modules.get(frame.module, -1) for _, frame in self._frames],
                **dict.fromkeys(("source", "lineNumber", "columnNumber", "originalLocation"), none),
                "length": count,
            },
            "resourceTable": {
                "name": [self._texts[module] for module in modules],
                "host": [None] * len(modules),
                # 1 is a library.
                "type": [1] * len(modules),
                "length": len(modules),
            },
            "nativeSymbols": _empty("libIndex", "address", "name", "functionSize"),
            "sources": _empty("id", "filename", "startLine", "startColumn", "sourceMapURL", "content"),
            "sourceLocationTable": _empty("source", "line", "column"),
        }


def _empty(*columns: str) -> dict[str, object]:
    return {**{column: [] for column in columns}, "length": 0}


VERSION: Final = 70
"""Of the processed format. The Profiler opens older ones, too."""
_GECKO_VERSION: Final = 36
_MS: Final = 1e6
_PORTION: Final = 1 << 13
"""How many items of an array become text at once."""
_UNITS: Final = {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"}
_NO_ROWS: Final = np.zeros(0, dtype=np.int64)

_Key = tuple[int | None, int | None]


class FirefoxFile:
    """A profile that is being made of one trace."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._texts = FirefoxTexts()
        self._stacks = FirefoxStacks(timeline.samples, timeline.look, self._texts)
        self._markers = FirefoxMarkers(self._texts)
        self._names = {(one.process_id, one.thread_id): one.name for one in timeline.threads}
        self._rows: dict[_Key, list[Ints]] = defaultdict(list)
        for one, rows in zip(timeline.samples.threads, rows_by_thread(timeline.samples), strict=False):
            self._rows[one.process_id, one.thread_id].append(rows)
        self._levels: dict[Track, list[tuple[int, float]]] = defaultdict(list)

    def write(self, items: Iterable[Placed]) -> None:
        """Take items. Those of one track are in order of time, over all calls."""
        for track, item in items:
            if isinstance(item, Level):
                self._levels[track].append((item.start_ns, item.value))
            else:
                self._markers.add(track, item)

    def close(self, stream: IO[bytes]) -> None:
        """Write everything; the stream stays open."""
        keys = self._keys()
        stream.write(b'{"threads":[')
        for place, key in enumerate(keys):
            stream.write(b"," if place else b"")
            stream.writelines(_pieces(self._thread(key)))
        stream.write(b'],"counters":' + _json([*self._counters(keys)]))
        stream.write(b',"libs":[],"meta":' + _json(self._meta()))
        stream.write(b',"shared":' + _json({**self._stacks.tables(), "stringArray": list(self._texts)}) + b"}")

    def _keys(self) -> list[_Key]:
        """The threads, process by process; the first of each is the one for items of no thread."""
        known: dict[_Key, None] = dict.fromkeys([*self._names, *self._rows, *self._markers.threads])
        processes: dict[int | None, dict[_Key, None]] = {}
        for process, thread in [*known, *((track.process_id, None) for track in self._levels)]:
            processes.setdefault(process, {(process, None): None})[process, thread] = None
        return [key for keys in processes.values() for key in keys]

    def _thread(self, key: _Key) -> dict[str, object]:
        process, thread = key
        timeline = self._timeline
        whole = thread is None
        return {
            "processType": "default",
            "processStartupTime": 0,
            "processShutdownTime": None,
            "registerTime": 0,
            "unregisterTime": None,
            "pausedRanges": [],
            "showMarkersInTimeline": True,
            "name": "the whole process" if thread is None else self._names.get((process, thread), "thread"),
            "isMainThread": whole,
            "processName": timeline.look.title,
            "pid": _pid(process),
            "tid": f"{_pid(process)} as a whole" if thread is None else thread,
            "samples": self._samples(key),
            "markers": self._markers.table(key, timeline.end_ns),
        }

    def _samples(self, key: _Key) -> dict[str, object]:
        samples = self._timeline.samples
        rows = np.sort(np.concatenate([_NO_ROWS, *self._rows.get(key, ())]))
        used = {}
        if samples.counted is not None:
            # What was used since the sample before.
            spent, _ = samples.counted.of_samples(len(samples))
            used = {"threadCPUDelta": np.append(0, spent[rows][:-1])[: len(rows)].tolist()}
        return {
            **used,
            "stack": [self._stacks.of[stack] for stack in samples.stack[rows].tolist()],
            "time": (samples.time_ns[rows] / _MS).tolist(),
            "weight": (samples.weight[rows] / _MS).tolist(),
            "weightType": "tracing-ms",
            "length": len(rows),
        }

    def _counters(self, keys: list[_Key]) -> Iterator[dict[str, object]]:
        places = {key: place for place, key in enumerate(keys)}
        for track, values in self._levels.items():
            levels = np.array([value for _, value in values], dtype=np.float64)
            row = {"type": "value", "source": "accumulated", "format": {"unit": "number"}, "label": track.name}
            yield {
                "name": track.name,
                "category": "counters",
                "description": track.unit,
                "pid": _pid(track.process_id),
                "mainThreadIndex": places[track.process_id, None],
                "samples": {
                    "time": [time / _MS for time, _ in values],
                    # Changes, which the Profiler adds up.
                    "count": np.diff(levels, prepend=0.0).tolist(),
                    "length": len(values),
                },
                "display": {
                    "graphType": "line-accumulated",
                    "unit": track.unit,
                    "color": "blue",
                    "markerSchemaLocation": None,
                    "sortWeight": 0,
                    "label": track.name,
                    "tooltipRows": [row],
                },
            }

    def _meta(self) -> dict[str, object]:
        timeline = self._timeline
        start = timeline.start_ns
        return {
            "interval": (timeline.interval_ns or 1_000_000) / _MS,
            "startTime": 0 if start is None else start / _MS,
            "profilingStartTime": 0,
            "profilingEndTime": timeline.end_ns / _MS,
            "processType": 0,
            "categories": [
                {"name": "own code", "color": "blue", "subcategories": ["Other"]},
                {"name": "framework and runtime", "color": "grey", "subcategories": ["Other"]},
                {"name": "code without a name", "color": "darkgrey", "subcategories": ["Other"]},
                # Those of markers follow.
                *({"name": GROUPS[one], "color": _COLORS[one], "subcategories": ["Other"]} for one in _GROUPS),
            ],
            "markerSchema": self._markers.schemas(),
            "product": timeline.look.title,
            "importedFrom": timeline.look.producer,
            "stackwalk": 1,
            "debug": False,
            "version": _GECKO_VERSION,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": True,
            "symbolicationNotSupported": True,
            "usesOnlyOneStackType": True,
            "sourceCodeIsNotOnSearchfox": True,
            "keepProfileThreadOrder": True,
            **({"sampleUnits": _UNITS} if timeline.samples.counted is not None else {}),
        }


def _pid(process: int | None) -> str:
    return "unknown" if process is None else str(process)


def _pieces(value: object) -> Iterator[bytes]:
    """The text of a value, in which iterators are arrays: those of a thread's markers are long."""
    if isinstance(value, dict):
        before = b"{"
        for name, inner in value.items():
            yield before + _json(name) + b":"
            yield from _pieces(inner)
            before = b","
        yield b"}" if value else b"{}"
    elif isinstance(value, Iterator):
        before = b"["
        while portion := list(islice(value, _PORTION)):
            yield before + _json(portion)[1:-1]
            before = b","
        yield b"[]" if before == b"[" else b"]"
    else:
        yield _json(value)


_encode: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _json(value: object) -> bytes:
    return _encode(value).encode()


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

_Marker = tuple[int, int | None, int, int, Group, tuple[str, ...], tuple[Any, ...]]
"""Start, end, phase, name, group, and the fields' names and values."""


class FirefoxMarkers:
    """The markers of all threads."""

    def __init__(self, texts: FirefoxTexts) -> None:
        self._texts = texts
        self._fields: dict[Group, dict[str, str]] = defaultdict(dict)
        self._markers: dict[_Key, list[_Marker]] = defaultdict(list)
        # Of equal ones the first: there is a marker for each event.
        self._keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        # Groups with a field that is not always of one kind.
        self._mixed: set[Group] = set()

    @property
    def threads(self) -> list[_Key]:
        """Those that have any."""
        return list(self._markers)

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
                    fields[key] = "decimal" if {known, kind} == {"integer", "decimal"} else "string"
                    self._mixed.add(track.group)
        if item.leaves or item.reaches:
            self._add_arrows(track.group, item, data)
        phase, end = (_INTERVAL, item.end_ns) if isinstance(item, Stretch) else (_INSTANT, None)
        keys = tuple(data)
        keys = self._keys.setdefault(keys, keys)
        row = (item.start_ns, end, phase, self._texts[item.name], track.group, keys, tuple(data.values()))
        self._markers[track.process_id, track.thread_id].append(row)

    def _add_arrows(self, group: Group, item: Stretch | Instant, data: dict[str, object]) -> None:
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
        rows = sorted(self._markers.get(key, ()), key=lambda row: row[0])
        return {
            "name": (row[3] for row in rows),
            "startTime": (row[0] / _MS for row in rows),
            "endTime": (None if row[2] == _INSTANT else (end_ns if row[1] is None else row[1]) / _MS for row in rows),
            "phase": (row[2] for row in rows),
            "category": (NAMELESS + 1 + _GROUPS.index(row[4]) for row in rows),
            "data": (self._data(row[4], row[5], row[6]) for row in rows),
            "length": len(rows),
        }

    def _data(self, group: Group, keys: tuple[str, ...], values: tuple[object, ...]) -> dict[str, object]:
        """With texts in fields that are texts of other markers."""
        pairs = zip(keys, values, strict=True)
        if group not in self._mixed:
            return dict(pairs)
        fields = self._fields[group]
        return {key: str(value) if fields.get(key) == "string" else value for key, value in pairs}

    def schemas(self) -> list[dict[str, object]]:
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


def _shown(name: str, value: object) -> tuple[str, object]:
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

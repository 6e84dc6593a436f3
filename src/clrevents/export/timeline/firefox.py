"""A timeline → the Firefox Profiler's processed profile: https://profiler.firefox.com shows it.

Samples are samples there, everything else markers of threads, and counters. A process has an additional thread for
items of no thread. The format has one object for everything, so markers are kept until its end.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any, Final

import numpy as np

from clrevents.analysis.shared.weights.weighing import Ints
from clrevents.export.sampled_calls import rows_by_thread
from clrevents.export.timeline.firefox_markers import FirefoxMarkers, marker_categories
from clrevents.export.timeline.firefox_stacks import FirefoxStacks, FirefoxTexts
from clrevents.export.timeline.read_timeline import Timeline
from clrevents.export.timeline.timeline_items import Level, Placed, Track

VERSION: Final = 70
"""Of the processed format. The Profiler opens older ones, too."""
_GECKO_VERSION: Final = 36
_MS: Final = 1e6
_PORTION: Final = 1 << 13
"""How many items of an array become text at once."""
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

    def _thread(self, key: _Key) -> dict[str, Any]:
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

    def _samples(self, key: _Key) -> dict[str, Any]:
        samples = self._timeline.samples
        rows = np.sort(np.concatenate([_NO_ROWS, *self._rows.get(key, ())]))
        return {
            "stack": [self._stacks.of[stack] for stack in samples.stack[rows].tolist()],
            "time": (samples.time_ns[rows] / _MS).tolist(),
            "weight": (samples.weight[rows] / _MS).tolist(),
            "weightType": "tracing-ms",
            "length": len(rows),
        }

    def _counters(self, keys: list[_Key]) -> Iterator[dict[str, Any]]:
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

    def _meta(self) -> dict[str, Any]:
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
                *marker_categories(),
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
        }


def _pid(process: int | None) -> str:
    return "unknown" if process is None else str(process)


def _pieces(value: Any) -> Iterator[bytes]:
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


def _json(value: Any) -> bytes:
    return _encode(value).encode()

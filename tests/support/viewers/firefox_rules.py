"""What the Firefox Profiler's type definitions demand of a processed profile, in our words; and its sums.

The definitions: https://github.com/firefox-devtools/profiler/blob/main/src/types/profile.ts and markers.ts, for version
70. Each check raises AssertionError. Payloads of markers are checked against the schemas that the profile itself has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final

VERSION: Final = 70
# Columns of tables: what a cell may be. `n` a number, `i` an integer, `t` a text, `b` a boolean, `0` null.
TABLES: Final = {
    "samples": {"stack": "i0", "time": "n", "weight": "n"},
    "markers": {"data": "d0", "name": "i", "startTime": "n0", "endTime": "n0", "phase": "i", "category": "i"},
    "stackTable": {"frame": "i", "prefixOffset": "i"},
    "frameTable": {
        "address": "i", "lib": "i", "inlineDepth": "i", "category": "i0", "subcategory": "i0", "func": "i",
        "nativeSymbol": "i0", "innerWindowID": "i0", "line": "i0", "column": "i0", "originalLocation": "i0",
    },
    "funcTable": {
        "name": "i", "isJS": "b", "relevantForJS": "b", "resource": "i", "source": "i0", "lineNumber": "i0",
        "columnNumber": "i0", "originalLocation": "i0",
    },
    "resourceTable": {"name": "i", "host": "i0", "type": "i"},
    "nativeSymbols": {"libIndex": "i", "address": "i", "name": "i", "functionSize": "i0"},
    "sources": {
        "id": "t0", "filename": "i", "startLine": "i", "startColumn": "i", "sourceMapURL": "i0", "content": "t0",
    },
    "sourceLocationTable": {"source": "i", "line": "i", "column": "i"},
    "counter": {"time": "n", "count": "n"},
}  # fmt: skip
SHARED: Final = set(TABLES) - {"samples", "markers", "counter"}
COLORS: Final = {
    "transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown", "magenta", "red", "lightred",
    "darkgrey", "grey",
}  # fmt: skip
FORMATS: Final = {
    "string": "t", "flow-id": "i", "terminating-flow-id": "i", "nanoseconds": "n", "bytes": "n", "integer": "n",
    "decimal": "n",
}  # fmt: skip
"""The formats of markers' fields that we write, and what their values are."""


def check_profile(profile: Any) -> None:
    """A whole profile."""
    keys(profile, {"meta", "libs", "shared", "threads"}, {"counters"})
    assert profile["libs"] == []
    check_meta(profile["meta"])
    check_shared(profile["shared"], len(profile["meta"]["categories"]))
    for thread in profile["threads"]:
        check_thread(thread, profile)
    ids = [(thread["pid"], thread["tid"]) for thread in profile["threads"]]
    assert len(set(ids)) == len(ids)
    assert all(n == 1 for n in Counter(t["pid"] for t in profile["threads"] if t["isMainThread"]).values())
    for counter in profile["counters"]:
        check_counter(counter, profile["threads"])
    check_flows(profile)


def check_meta(meta: Any) -> None:
    required = {
        "interval", "startTime", "processType", "product", "stackwalk", "version", "preprocessedProfileVersion",
        "markerSchema",
    }  # fmt: skip
    optional = {
        "categories", "profilingStartTime", "profilingEndTime", "importedFrom", "debug", "symbolicated",
        "symbolicationNotSupported", "usesOnlyOneStackType", "sourceCodeIsNotOnSearchfox", "keepProfileThreadOrder",
        "sampleUnits",
    }  # fmt: skip
    keys(meta, required, optional)
    assert meta["preprocessedProfileVersion"] == VERSION
    assert meta["interval"] > 0
    names = [category["name"] for category in meta["categories"]]
    assert len(set(names)) == len(names)
    for category in meta["categories"]:
        keys(category, {"name", "color", "subcategories"})
        assert category["color"] in COLORS
        # Readers rely on the first one.
        assert category["subcategories"][0] == "Other"
    assert any(category["color"] == "grey" for category in meta["categories"]), "none is the default"
    for schema in meta["markerSchema"]:
        keys(schema, {"name", "display", "fields"}, {"tooltipLabel", "tableLabel", "chartLabel", "description"})
        assert set(schema["display"]) <= {"marker-chart", "marker-table", "timeline-overview"}
        for field in schema["fields"]:
            keys(field, {"key", "format"}, {"label", "hidden"})
            assert field["format"] in FORMATS
        fields = [field["key"] for field in schema["fields"]]
        assert len(set(fields)) == len(fields)


def check_shared(shared: Any, categories: int) -> None:
    keys(shared, SHARED | {"stringArray"})
    for name in SHARED:
        check_table(shared[name], name)
    assert all(type(text) is str for text in shared["stringArray"])
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    within(stacks["frame"], frames["length"])
    for place, back in enumerate(stacks["prefixOffset"]):
        assert 0 <= back <= place
    within(frames["func"], functions["length"])
    within(frames["category"], categories)
    within(functions["name"], len(shared["stringArray"]))
    within([place for place in functions["resource"] if place != -1], shared["resourceTable"]["length"])
    within(shared["resourceTable"]["name"], len(shared["stringArray"]))


def check_thread(thread: Any, profile: Any) -> None:
    required = {
        "processType", "processStartupTime", "processShutdownTime", "registerTime", "unregisterTime", "pausedRanges",
        "name", "isMainThread", "pid", "tid", "samples", "markers",
    }  # fmt: skip
    keys(thread, required, {"showMarkersInTimeline", "processName"})
    assert type(thread["pid"]) is str
    assert type(thread["tid"]) in (int, str)
    assert thread["samples"]["weightType"] == "tracing-ms"
    check_table({k: v for k, v in thread["samples"].items() if k not in ("weightType", "threadCPUDelta")}, "samples")
    units = profile["meta"].get("sampleUnits")
    assert units in (None, {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"})
    assert ("threadCPUDelta" in thread["samples"]) == (units is not None)
    used = thread["samples"].get("threadCPUDelta", [0] * thread["samples"]["length"])
    assert len(used) == thread["samples"]["length"]
    assert all(one is None or one >= 0 for one in used)
    assert thread["samples"]["time"] == sorted(thread["samples"]["time"])
    within([s for s in thread["samples"]["stack"] if s is not None], profile["shared"]["stackTable"]["length"])
    markers = thread["markers"]
    check_table(markers, "markers")
    assert markers["startTime"] == sorted(markers["startTime"])
    within(markers["name"], len(profile["shared"]["stringArray"]))
    within(markers["category"], len(profile["meta"]["categories"]))
    schemas = {
        schema["name"]: {f["key"]: f["format"] for f in schema["fields"]} for schema in profile["meta"]["markerSchema"]
    }
    columns = (markers["startTime"], markers["endTime"], markers["phase"], markers["data"])
    for start, end, phase, data in zip(*columns, strict=True):
        assert phase in (0, 1)
        assert (end is None) == (phase == 0)
        assert end is None or end >= start
        for key, value in data.items():
            assert key == "type" or fits(value, FORMATS[schemas[data["type"]][key]]), (key, value)


def check_counter(counter: Any, threads: Any) -> None:
    keys(counter, {"name", "category", "description", "pid", "mainThreadIndex", "samples", "display"})
    check_table(counter["samples"], "counter")
    main = threads[counter["mainThreadIndex"]]
    assert (main["pid"], main["isMainThread"]) == (counter["pid"], True)
    display = counter["display"]
    keys(display, {"graphType", "unit", "color", "markerSchemaLocation", "sortWeight", "label", "tooltipRows"})
    assert display["graphType"] in ("line-accumulated", "line-rate")
    for row in display["tooltipRows"]:
        keys(row, {"type", "source", "format", "label"})


def check_flows(profile: Any) -> None:
    """Each arrow leaves one marker and reaches another that is not earlier."""
    formats = {
        (schema["name"], field["key"]): field["format"]
        for schema in profile["meta"]["markerSchema"]
        for field in schema["fields"]
    }
    found: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for thread in profile["threads"]:
        for start, data in zip(thread["markers"]["startTime"], thread["markers"]["data"], strict=True):
            for key, value in data.items():
                side = formats.get((data["type"], key))
                if side in ("flow-id", "terminating-flow-id"):
                    found[value].append((start, side))
    for place, ends in found.items():
        (leaves, one), (reaches, other) = sorted(ends, key=lambda end: end[1])
        assert (one, other) == ("flow-id", "terminating-flow-id")
        assert leaves <= reaches
        assert int(profile["shared"]["stringArray"][place], 16) > 0


def check_table(table: Any, name: str) -> None:
    columns = TABLES[name]
    keys(table, {*columns, "length"})
    for column, kinds in columns.items():
        assert len(table[column]) == table["length"], column
        assert all(fits(value, kinds) for value in table[column]), column


def fits(value: Any, kinds: str) -> bool:
    return any(
        {
            "n": type(value) in (int, float),
            "i": type(value) is int,
            "t": type(value) is str,
            "b": type(value) is bool,
            "d": type(value) is dict,
            "0": value is None,
        }[kind]
        for kind in kinds
    )


def within(places: list[int], count: int) -> None:
    assert all(0 <= place < count for place in places)


def keys(found: Any, required: set[str], optional: set[str] | None = None) -> None:
    assert required <= set(found), f"missing: {required - set(found)}"
    assert set(found) <= required | (optional or set()), f"unknown: {set(found) - required - (optional or set())}"

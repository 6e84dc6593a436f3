"""What the viewers' published formats demand of a file, in our words; each check raises AssertionError.

speedscope: https://www.speedscope.app/file-format-schema.json and the rules in the comments of its types.
Trace events: Google's document "Trace Event Format", the JSON object format and the three kinds of event we write.
"""

from __future__ import annotations

import math
from typing import Any, Final

_UNITS: Final = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def check_speedscope(file: Any) -> None:
    """A file of sampled profiles."""
    _keys(file, {"$schema", "shared", "profiles"}, {"name", "exporter", "activeProfileIndex"})
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    _keys(file["shared"], {"frames"})
    for frame in file["shared"]["frames"]:
        _keys(frame, {"name"}, {"file", "line", "col"})
        assert all(isinstance(frame.get(key, ""), str) for key in ("name", "file"))
    for profile in file["profiles"]:
        _keys(profile, {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
        assert profile["type"] == "sampled"
        assert isinstance(profile["name"], str)
        assert profile["unit"] in _UNITS
        assert _number(profile["startValue"]) <= _number(profile["endValue"])
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(_number(weight) >= 0 for weight in profile["weights"])
        for stack in profile["samples"]:
            assert all(type(place) is int and 0 <= place < len(file["shared"]["frames"]) for place in stack)
    if "activeProfileIndex" in file:
        assert type(file["activeProfileIndex"]) is int
        assert 0 <= file["activeProfileIndex"] < len(file["profiles"])


def check_trace_events(file: Any) -> None:
    """Complete, instant and metadata events. Slices of one thread lie inside each other or apart; outer ones first."""
    _keys(file, {"traceEvents"}, {"displayTimeUnit", "otherData"})
    assert file.get("displayTimeUnit", "ms") in ("ms", "ns")
    open_: dict[tuple[int, int], list[float]] = {}
    for event in file["traceEvents"]:
        common = {"ph", "name", "pid", "tid"}
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is type(event["tid"]) is int
        match event["ph"]:
            case "M":
                _keys(event, common | {"args"})
                assert event["name"] in ("process_name", "thread_name")
                assert isinstance(event["args"]["name"], str)
            case "i":
                _keys(event, common | {"ts"}, {"cat", "s", "args"})
                _number(event["ts"])
                assert event.get("s", "t") in ("g", "p", "t")
                assert isinstance(event.get("args", {}), dict)
            case "X":
                _keys(event, common | {"ts", "dur"}, {"cat", "args"})
                start, length = _number(event["ts"]), _number(event["dur"])
                assert length > 0
                ends = open_.setdefault((event["pid"], event["tid"]), [])
                # Microseconds are floats; a thousandth of a nanosecond is no overlap.
                while ends and ends[-1] <= start + 1e-6:
                    ends.pop()
                assert not ends or start + length <= ends[-1] + 1e-6
                ends.append(start + length)
            case other:
                raise AssertionError(f"we write no {other!r} events")


def _keys(found: Any, needed: set[str], allowed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    assert isinstance(found, dict)
    assert needed <= set(found) <= needed | allowed, sorted(found)


def _number(value: Any) -> float:
    assert type(value) in (int, float)
    assert math.isfinite(value)
    return float(value)

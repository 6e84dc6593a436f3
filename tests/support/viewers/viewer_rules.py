"""What the viewers' published formats demand of a file, in our words; each check raises AssertionError.

speedscope: https://www.speedscope.app/file-format-schema.json and the rules in the comments of its types.
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


def _keys(found: Any, needed: set[str], allowed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    assert isinstance(found, dict)
    assert needed <= set(found) <= needed | allowed, sorted(found)


def _number(value: Any) -> float:
    assert type(value) in (int, float)
    assert math.isfinite(value)
    return float(value)

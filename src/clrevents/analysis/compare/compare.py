"""`compare` and `measure`: recordings before and after, as users ask for them. Opens traces and saved measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from clrevents._util.outputs import whole_file
from clrevents.analysis.compare.asked_rows import measured_rows
from clrevents.analysis.compare.change import Per
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.judging import compared
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.compare.measuring import measured
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.errors import SourceError
from clrevents.trace import Trace
from clrevents.trace import open as open_trace

Recording: TypeAlias = "str | os.PathLike[str] | Trace | Measured"
"""A trace, open or by its path or URL; or what was measured of one, as a value or saved in a `.json` file."""


def compare(
    base: Recording | Sequence[Recording],
    new: Recording | Sequence[Recording],
    *,
    per: Per | None = None,
    confirm: tuple[Recording, Recording] | None = None,
    report: str | None = None,
    **question: Any,
) -> Comparison:
    """What changed from base to new: one recording against one, or groups: four against four, six against three.

    Amounts are divided by the number of `"request"`s, by the `"second"` or by nothing (`"none"`); by default by
    requests if all recordings have some, else by seconds. `confirm` takes a second recording of each side: what differs
    is then what differs in both pairs, in the same direction.

    With `report="top"`, `"callers"`, `"alloc"` or `"heap"`, all rows of that report are compared, and nothing else;
    `question` is then its parameters and `start`, `end` and `process_id`, as `Trace.report` takes them.

    Raises ValueError for groups of too few recordings, for an unknown `per`, for requests that were not recorded, for
    groups with `confirm`, for recordings that were measured for different questions, and for a file that is no saved
    measurement; and what `clrevents.open` and `Trace.report` raise.
    """

    def all_of(side: Recording | Sequence[Recording]) -> list[Measured]:
        one = isinstance(side, str | os.PathLike | Trace | Measured)
        recordings = [cast(Recording, side)] if one else cast(Sequence[Recording], side)
        return [measure(recording, report=report, **question) for recording in recordings]

    found = compared(all_of(base), all_of(new), per)
    if confirm is None:
        return found
    if found.groups:
        raise ValueError("second recordings confirm a pair; a group just takes them in")
    return found.confirm(compared(all_of(confirm[0]), all_of(confirm[1]), found.per))


def measure(recording: Recording, *, report: str | None = None, **question: Any) -> Measured:
    """What `compare` compares of one recording: `save_measured` keeps it in a small file, a baseline.

    `report` and `question` are as in `compare`. What is measured already stays what it is.
    """
    if report is None and question:
        raise TypeError(f"{', '.join(sorted(question))}: only with report, whose question they are part of")
    if isinstance(recording, Measured):
        return recording
    if isinstance(recording, Trace):
        if report is None:
            return measured(recording)
        window: WindowOptions = {}
        for name in WindowOptions.__annotations__:
            if name in question:
                window[name] = question.pop(name)  # type: ignore[literal-required]
        return measured_rows(recording, report, window, question)
    path = os.fspath(recording)
    if is_saved(path):
        return _saved(path)
    with open_trace(path) as trace:
        return measure(trace, report=report, **question)


def is_saved(path: str) -> bool:
    """Whether a path is that of a saved measurement, rather than of a trace."""
    return path.endswith(".json")


def save_measured(found: Measured, path: str | os.PathLike[str]) -> None:
    """Write a measurement as JSON; the file appears complete or not at all. Raises OSError if that fails."""
    with whole_file(os.fspath(path), found.trace.path) as target:
        target.write(json.dumps(found.to_dict(), separators=(",", ":"), allow_nan=False).encode())


def _saved(path: str) -> Measured:
    try:
        with open(path, "rb") as file:
            data = json.load(file)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no saved measurement: {error}") from None
    try:
        return Measured.from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path} is no saved measurement: {error}") from None

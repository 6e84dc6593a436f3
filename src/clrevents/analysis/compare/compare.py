"""`compare` and `measure`: recordings before and after, as users ask for them. Opens traces and saved measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias, cast

from clrevents._util.outputs import whole_file
from clrevents._util.words import counted
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
    tables: Collection[str] = (),
    confirm: tuple[Recording, Recording] | None = None,
    report: str | None = None,
    **question: Any,
) -> Comparison:
    """What changed from base to new: one recording against one, or groups: four against four, six against three.

    Amounts are divided by the number of `"request"`s, by the `"second"`, by nothing (`"none"`), or by how often a start
    event of the program's own was written (`"OrderStart"`); by default by requests if all recordings have some, else by
    seconds. Rows of `tables`, such as `types`, are compared though no metric of theirs changed. `confirm` takes a
    second recording of each side: what differs is then what differs in both pairs, in the same direction.

    With `report="top"`, `"callers"`, `"alloc"` or `"heap"`, all rows of that report are compared, and nothing else;
    `question` is then its parameters and `start`, `end` and `process_id`, as `Trace.report` takes them.

    Raises ValueError for groups of too few recordings, for an unknown `per`, for requests that were not recorded, for
    groups with `confirm`, for recordings that were measured for different questions, and for a file that is no saved
    measurement; and what `clrevents.open` and `Trace.report` raise.
    """

    def all_of(side: Recording | Sequence[Recording]) -> list[Measured]:
        one = isinstance(side, str | os.PathLike | Trace | Measured)
        recordings = [cast("Recording", side)] if one else cast("Sequence[Recording]", side)
        return [held for recording in recordings for held in _measured_of(recording, report, question)]

    found = compared(all_of(base), all_of(new), per, tables)
    if confirm is None:
        return found
    if found.groups:
        raise ValueError("second recordings confirm a pair; a group just takes them in")
    return found.confirm(compared(all_of(confirm[0]), all_of(confirm[1]), found.per, tables))


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
        held = saved_measured(path)
        if len(held) > 1:
            raise ValueError(f"{path} has {counted(len(held), 'recording')}: `compare` takes them as a group")
        return held[0]
    with open_trace(path) as trace:
        return measure(trace, report=report, **question)


def is_saved(path: str) -> bool:
    """Whether a path is that of a saved measurement, rather than of a trace."""
    return path.endswith(".json")


def save_measured(found: Measured | Sequence[Measured], path: str | os.PathLike[str]) -> None:
    """Write a measurement, or several, as JSON, a line each; the file appears complete or not at all,
    as private as the traces.

    Such files can be put together with `cat`. Raises OSError if writing fails.
    """
    held = [found] if isinstance(found, Measured) else found
    lines = [json.dumps(one.to_dict(), separators=(",", ":"), allow_nan=False) for one in held]
    with whole_file(os.fspath(path), *(one.trace.path for one in held)) as target:
        target.write("\n".join([*lines, ""]).encode())


def saved_measured(path: str) -> list[Measured]:
    """The measurements in a file. Raises SourceError if it cannot be read, ValueError if it is something else."""
    found: list[Measured] = []
    try:
        with open(path, encoding="utf-8") as file:
            rest = file.read().strip()
        while rest or not found:
            data, end = json.JSONDecoder().raw_decode(rest)
            found.append(Measured.from_dict(data))
            rest = rest[end:].lstrip()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no saved measurement: {error}") from None
    return found


def _measured_of(recording: Recording, report: str | None, question: Mapping[str, Any]) -> list[Measured]:
    if isinstance(recording, str | os.PathLike) and is_saved(path := os.fspath(recording)):
        return saved_measured(path)
    return [measure(recording, report=report, **question)]

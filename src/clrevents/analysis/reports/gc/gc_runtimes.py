"""The events of one process → those of each of its runtimes, and the columns of all of them again.

A process usually has one runtime, exceptionally two. Knows no event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.analysis.gathering.gather import Gathered

INSTANCE: Final = "ClrInstanceID"
"""The field that tells runtimes of one process apart."""
_RUNTIMES: Final = 2
"""The most runtimes of one process with an answer: each costs as much as a process, and the id can be any 16-bit
number."""


def by_runtime(rows: Mapping[str, Gathered], told: Collection[str]) -> tuple[list[Mapping[str, Gathered]], list[Note]]:
    """The events of each runtime of the process, and a note on runtimes left out: those with the fewest events.

    `told` are the selectors whose events name their runtime; every runtime gets all events of the others.
    """
    numbers = {name: rows[name].numbers(INSTANCE).astype(np.int64) for name in told}
    ids, counts = np.unique(np.concatenate(list(numbers.values())), return_counts=True)
    if len(ids) < 2:
        return [rows], []
    kept = np.sort(ids[np.argsort(-counts, kind="stable")[:_RUNTIMES]])
    runtimes: list[Mapping[str, Gathered]] = [
        {
            name: events.only(np.flatnonzero(numbers[name] == number)) if name in numbers else events
            for name, events in rows.items()
        }
        for number in kept.tolist()
    ]
    return runtimes, _left_out(len(ids) - len(kept))


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of one runtime after another's."""
    if len(parts) == 1:
        return dict(parts[0])
    return {name: [value for part in parts for value in _list(part[name])] for name in parts[0]}


def _left_out(runtimes: int) -> list[Note]:
    if not runtimes:
        return []
    what = counted(runtimes, "runtime")
    text = f"a process has events of more than {_RUNTIMES} runtimes; the {what} with the fewest events are left out"
    tables = ("collections", "suspensions", "other_suspensions")
    return [Note("too-many-runtimes", "warning", text, tables, {"runtimes": runtimes})]


def _list(values: Any) -> Sequence[Any]:
    found: Sequence[Any] = values.tolist() if hasattr(values, "tolist") else values
    return found

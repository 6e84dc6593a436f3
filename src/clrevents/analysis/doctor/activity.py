"""What a program did, in a sentence each on running, waiting and allocating, from the reports that rules read.

A program with which nothing is wrong did something, too. Judges nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import duration_text, share_text
from clrevents.analysis.doctor.rule import Case

_IN: Final = {
    "lock": "for locks",
    "handle": "for handles",
    "monitor": "for monitors",
    "task": "for tasks",
    "join": "for threads to end",
    "sleep": "asleep",
}
"""Kinds of waits, after "waited"."""


def _short(method: str) -> str:
    """Without the types of its arguments, which may fill a screen."""
    return method.partition("(")[0]


def ran(case: Case) -> str | None:
    """The method that threads ran longest; None without samples."""
    if "top" not in case.answers:
        return None
    rows = case.rows("top", "methods")
    # Processor time where it was counted; else the time in which samples found the thread running.
    counted = bool(rows.column("processor_ns").known.any())
    took = rows.numbers("processor_ns" if counted else "running_ns")
    if not took.sum():
        return None
    worst = int(took.argmax())
    share = share_text(took[worst] / took.sum())
    what = "processor time" if counted else "running time"
    name = _short(rows.column("name").tolist()[worst])
    return f"{duration_text(took.sum())} of {what}, {share} of it in {name}"


def waited(case: Case) -> str | None:
    """What threads waited for longest; None where no wait is known."""
    if "waits" not in case.answers:
        return None
    rows = case.rows("waits", "methods")
    took = np.where(np.array(rows.column("kind").tolist()) == "idle", 0, rows.numbers("waited_ns"))
    if not took.any():
        return None
    worst = int(took.argmax())
    kind, method = (rows.column(name).tolist()[worst] for name in ("kind", "method"))
    return f"{duration_text(took[worst])} {_IN.get(kind, kind)} in {_short(method or 'unknown code')}"


def allocated(case: Case) -> str | None:
    """What was allocated most; None where that was not recorded."""
    if "alloc" not in case.answers or not case.value("alloc.bytes_total"):
        return None
    rows = case.rows("alloc", "types")
    worst = int(rows.numbers("bytes").argmax())
    kind, share = (rows.column(name).tolist()[worst] for name in ("type", "share"))
    return f"{case.cited('alloc.bytes_total').text}, {share_text(share)} of it {kind}"

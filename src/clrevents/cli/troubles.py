"""Problems and losses as text, the same in every command. Finds none itself."""

from __future__ import annotations

from collections.abc import Iterable

import clrevents
from clrevents._util.units import moment_text
from clrevents.cli.output import Output, safe
from clrevents.errors import Problem


def show_problems(out: Output, problems: Iterable[Problem]) -> None:
    """Faults one by one, then the first note of each kind and event, because a trace may have one for every event."""
    notes: dict[tuple[str, str | None], Problem] = {}
    for problem in problems:
        if problem.severity == "note":
            notes.setdefault((problem.kind, problem.event), problem)
        else:
            out.text(_text(problem), 4)
    for note in notes.values():
        out.text(_text(note), 4)


def show_losses(out: Output, losses: tuple[clrevents.Loss, ...]) -> None:
    rows = [(thread_text(x.thread_id), f"{x.count:,}", moment_text(x.start_ns), moment_text(x.end_ns)) for x in losses]
    out.table(("thread", "lost", "after", "before"), rows, right={"thread", "lost", "after", "before"})


def thread_text(thread_id: int) -> str:
    """A thread's id, which NetTrace 6 does not always have."""
    return "unknown" if thread_id < 0 else str(thread_id)


def _text(problem: Problem) -> str:
    where = "" if problem.offset is None else f" at {problem.offset:#x}"
    if problem.length is not None:
        where += f"+{problem.length}"
    impact = f"; impact: {problem.impact}" if problem.impact else ""
    return safe(f"{problem.severity}  {problem.kind}{where}: {problem.message}{impact}")

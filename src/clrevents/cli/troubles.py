"""Problems and losses as text, the same in every command. Finds none itself."""

from __future__ import annotations

from collections.abc import Iterable

import clrevents
from clrevents.cli.output import Output, safe
from clrevents.errors import Problem


def show_problems(out: Output, problems: Iterable[Problem]) -> None:
    """Faults one by one, then the first note of each kind and event, because a trace may have one for every event."""
    notes: dict[tuple[str, str | None], Problem] = {}
    for problem in problems:
        if problem.severity == "note":
            notes.setdefault((problem.kind, problem.event), problem)
        else:
            out.line(_text(problem))
    for note in notes.values():
        out.line(_text(note))


def show_losses(out: Output, losses: tuple[clrevents.Loss, ...]) -> None:
    rows = [
        (thread_text(x.thread_id), f"{x.count:,}", f"{x.start_ns / 1e6:.3f}", f"{x.end_ns / 1e6:.3f}") for x in losses
    ]
    out.table(("thread", "lost", "after ms", "before ms"), rows, right={"thread", "lost", "after ms", "before ms"})


def thread_text(thread_id: int) -> str:
    """A thread's id, which NetTrace 6 does not always give."""
    return "unknown" if thread_id < 0 else str(thread_id)


def _text(problem: Problem) -> str:
    where = "" if problem.offset is None else f" at {problem.offset:#x}"
    if problem.length is not None:
        where += f"+{problem.length}"
    impact = f"; impact: {problem.impact}" if problem.impact else ""
    return safe(f"{problem.severity}  {problem.kind}{where}: {problem.message}{impact}")

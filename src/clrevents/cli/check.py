"""`clrevents check`: can this trace be trusted? Decodes everything and accounts for every payload.

Formats what `Trace.check` gives, as text and as one JSON object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

import clrevents
from clrevents._util.fitting import wrapped
from clrevents._util.units import moment_text
from clrevents.cli.output import Output, event_label, safe
from clrevents.cli.reading import FailOn, Reading, fail_on_option, file_argument, trace_option
from clrevents.errors import Problem
from clrevents.export.files.facts import kind_objects, loss_object, problem_object


@click.command(name="check")
@file_argument
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@trace_option
@fail_on_option("damage,loss,problem")
def command(file: str, as_json: bool, fail_on: FailOn) -> int:
    """Decode everything and report whether the trace is intact.

    For each kind of event: how many payloads match their layout exactly, have bytes left over (tail), are too short
    (short), or have no known fields (unknown).

    \b
    Is this benchmark's trace complete?
        clrevents check app.nettrace --fail-on damage,loss || echo "no"
    Where is it damaged, and what is affected?
        clrevents check crashed.nettrace
    """
    with Reading(file) as reading:
        result = reading.trace.check()
        code = reading.verdict(result.problems, result.lost, fail_on)
        with Output() as out:
            if as_json:
                out.json(_object(result))
            else:
                _show(out, reading.name, result)
        return code


def _object(result: clrevents.CheckResult) -> dict[str, Any]:
    return {
        "schema": "clrevents.check/1",
        "file": result.info.path,
        "ok": result.ok,
        "verdict": result.verdict,
        "complete": result.complete,
        "events": result.events,
        "kinds": kind_objects(result),
        "severities": {severity: result.severities.get(severity, 0) for severity in ("damage", "payload", "note")},
        "problem_counts": dict(result.problem_counts),
        "problems": [problem_object(p) for p in result.problems],
        "lost": result.lost,
        "losses": [loss_object(x) for x in result.losses],
    }


def _show(out: Output, name: str, result: clrevents.CheckResult) -> None:
    out.lines(map(out.bold, wrapped(safe(f"{name}: {result.verdict}"), out.width, 2)))
    if result.kinds:
        out.line()
        columns = ("exact", "tail", "short", "unknown")
        rows = [
            (
                *(f"{getattr(kind, c):,}" for c in columns),
                str(key.id),
                str(key.version),
                event_label(key.provider, key.name),
            )
            for key, kind in result.kinds.items()
        ]
        out.table(
            (*columns, "id", "version", "event"),
            rows,
            right={*columns, "id", "version"},
            names={"event"},
            keep={"exact", "event"},
        )
    if result.losses:
        out.line()
        _show_losses(out, result.losses)
    if result.problem_counts:
        out.line()
        _show_problems(out, result.problems)
        out.line(f"total: {', '.join(f'{n:,} {kind}' for kind, n in result.problem_counts.items())}")


def _show_problems(out: Output, problems: Iterable[Problem]) -> None:
    """Faults one by one, then the first note of each kind and event, because a trace may have one for every event."""
    notes: dict[tuple[str, str | None], Problem] = {}
    for problem in problems:
        if problem.severity == "note":
            notes.setdefault((problem.kind, problem.event), problem)
        else:
            out.text(_problem_text(problem), 4)
    for note in notes.values():
        out.text(_problem_text(note), 4)


def _show_losses(out: Output, losses: tuple[clrevents.Loss, ...]) -> None:
    rows = [(_thread(x.thread_id), f"{x.count:,}", moment_text(x.start_ns), moment_text(x.end_ns)) for x in losses]
    out.table(("thread", "lost", "after", "before"), rows, right={"thread", "lost", "after", "before"})
    out.text(
        "Events of more than 64 KB are dropped whatever the buffer's size; they may be missing before these times."
    )


def _thread(thread_id: int) -> str:
    """A thread's id, which NetTrace 6 does not always have."""
    return "unknown" if thread_id < 0 else str(thread_id)


def _problem_text(problem: Problem) -> str:
    where = "" if problem.offset is None else f" at {problem.offset:#x}"
    if problem.length is not None:
        where += f"+{problem.length}"
    impact = f"; impact: {problem.impact}" if problem.impact else ""
    return safe(f"{problem.severity}  {problem.kind}{where}: {problem.message}{impact}")

"""`clrevents check`: can this trace be trusted? Decodes everything and accounts for every payload.

Shows what `Trace.check` answers.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from clrevents._util.fitting import wrapped
from clrevents.analysis.about.checking import CheckResult, ProblemRow
from clrevents.cli import options
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import Reading
from clrevents.cli.report_rows import write_rows


@click.command(name="check")
@options.file
@options.json("Print everything as one JSON object.")
@options.trace
@options.fail_on("damage,loss,problem")
def command(file: str, as_json: bool, fail_on: options.FailOn) -> int:
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
        code = reading.verdict(tuple(result.problems), result.lost, fail_on)
        with Output() as out:
            if as_json:
                out.json(result.to_dict())
            else:
                _show(out, reading.name, result)
        return code


def _show(out: Output, name: str, result: CheckResult) -> None:
    out.lines(map(out.bold, wrapped(safe(f"{name}: {result.verdict}"), out.width, 2)))
    for rows in (result.kinds, result.losses):
        if len(rows):
            out.line()
            write_rows(out, rows)
    if len(result.losses):
        out.text(
            "Events of more than 64 KB are dropped whatever the buffer's size; they may be missing before these times."
        )
    if result.problem_counts:
        out.line()
        _show_problems(out, result.problems)
        out.line(f"total: {', '.join(f'{n:,} {kind}' for kind, n in result.problem_counts.items())}")


def _show_problems(out: Output, problems: Iterable[ProblemRow]) -> None:
    """Faults one by one, then the first note of each kind and event, because a trace may have one for every event."""
    notes: dict[tuple[str, str | None], ProblemRow] = {}
    for problem in problems:
        if problem.severity == "note":
            notes.setdefault((problem.kind, problem.event), problem)
        else:
            out.text(_problem_text(problem), 4)
    for note in notes.values():
        out.text(_problem_text(note), 4)


def _problem_text(problem: ProblemRow) -> str:
    where = "" if problem.offset is None else f" at {problem.offset:#x}"
    if problem.length is not None:
        where += f"+{problem.length}"
    impact = f"; impact: {problem.impact}" if problem.impact else ""
    return safe(f"{problem.severity}  {problem.kind}{where}: {problem.message}{impact}")

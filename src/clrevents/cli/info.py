"""`clrevents info`: what a trace is, whether it can be trusted and what it can answer, with hardly a payload decoded.

One screen; each longer list has an option. Shows what `about` answers. `clrevents FILE`, for people who know no command
yet, adds what to ask next.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Final

import click

import clrevents
from clrevents._util.words import counted
from clrevents.analysis.about.describing import TraceAbout, about
from clrevents.analysis.framework.model.needs import record_needs, recordable
from clrevents.analysis.framework.run.answerable import asked_and_needed
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of
from clrevents.cli import options
from clrevents.cli.output import Output, record_lines, safe
from clrevents.cli.reading import Reading, ReadingMany, means_many, refuse_many_with
from clrevents.cli.report_rows import write_rows
from clrevents.errors import ErrorMode

_WORST: Final = 3
"""Faults that are shown."""
_BROKEN: Final = 8
"""Event sources that could not be recorded, with their reasons."""
_LISTED: Final = 1_000
"""Processes that are listed."""
_STATES: Final = {"full": "answers", "partial": "in part", "none": "no data"}
_MANY: Final = ("trace", "process_id", "start", "duration_ns", "events", "lost", "bytes")
"""What is shown of each of many traces."""


@click.command(name="info")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--reports", "part", flag_value="reports", help="Show each report: what it can answer, what was not recorded."
)
@click.option("--events", "part", flag_value="events", help="Show each kind of event, most frequent first.")
@click.option("--providers", "part", flag_value="providers", help="Show each provider with its level and keywords.")
@click.option("--threads", "part", flag_value="threads", help="Show each thread, busiest first.")
@click.option("--processes", "part", flag_value="processes", help="Show each process that the Linux recorder tells of.")
@options.json("Print everything as one JSON object; for many traces, one per line.")
@options.jobs
@options.wide
@options.beside
@options.reading()
def command(files: tuple[str, ...], part: str | None, as_json: bool, jobs: int | None, **given: Any) -> int:
    """Show what a trace is, whether it can be trusted, and which reports have data.

    Many traces (files, folders, patterns, URLs) get a line each.

    \b
    What is this trace?
        clrevents info app.nettrace
    What does each report lack, and how can it be recorded?
        clrevents info app.nettrace --reports
    Was anything lost, in a script?
        clrevents info app.nettrace --json | jq .metrics.lost.value
    Which of many traces lost events?
        clrevents info night/
    """
    many = len(files) > 1 or means_many(files[0])
    refuse_many_with(given["beside"], many)
    if many:
        if part is not None:
            raise click.UsageError(f"--{part} takes one trace")
        return _many(files, as_json, jobs, given["errors"], given["fail_on"])
    (file,) = files
    with Reading(file, **given) as reading:
        facts = about(reading.trace)
        code = reading.finish()
        with Output() as out:
            if as_json:
                out.json(facts.to_dict())
            elif part is not None:
                _show_part(out, facts, part)
            else:
                _show(out, reading.name, facts)
        return code


def _many(files: Sequence[str], as_json: bool, jobs: int | None, errors: ErrorMode, fail_on: options.FailOn) -> int:
    """A line for each trace: a few facts, or the object that it gives alone."""
    from clrevents.fleet.questions import OverviewRow

    with ReadingMany(files, errors, jobs) as reading, Output() as out:
        if as_json:
            for _, line in reading.asked.each(_line):
                out.line(line)
        else:
            columns = {column.name: column for column in columns_of(OverviewRow)}
            write_rows(out, ReportTable(OverviewRow, reading.asked.overview()), [columns[name] for name in _MANY])
        return reading.finish(fail_on)


def _line(trace: clrevents.Trace) -> str:
    import json

    return json.dumps(about(trace).to_dict(), allow_nan=False)


def _show(out: Output, name: str, facts: TraceAbout) -> None:
    """One screen."""
    out.facts([("file", name), *facts.lines()[1:]])
    out.line()
    by_state = {state: [one.report for one in facts.reports if one.coverage == state] for state in _STATES}
    lines = [(word, ", ".join(by_state[state])) for state, word in _STATES.items()]
    out.facts([(word, names or "none fully") for word, names in lines if names or word == "answers"])
    worst = [problem for problem in facts.problems if problem.severity != "note"][:_WORST]
    if worst:
        out.line()
        for problem in worst:
            out.text(safe(f"{problem.severity}: {problem.message}"), 4)
        out.text(f"clrevents check {name} lists every problem", 4)
    broken = [problem.message for problem in facts.problems if problem.kind == "broken-event-source"]
    if broken:
        out.line()
        for message in broken[:_BROKEN]:
            out.text(safe(message), 4)
        if len(broken) > _BROKEN:
            out.text(f"and {counted(len(broken) - _BROKEN, 'more event source', 'more event sources')}", 4)
    out.line()
    out.text("more: --reports (what each lacks, how to record it), --events, --providers, --threads", 2)


def _show_part(out: Output, facts: TraceAbout, part: str) -> None:
    """One of its tables."""
    rows = facts.table("kinds" if part == "events" else part)
    write_rows(out, rows[:_LISTED] if part == "processes" else rows)
    if part == "processes" and len(rows) > _LISTED:
        out.line(f"{_LISTED:,} of {counted(len(rows), 'process', 'processes')} (--json has all)")
    lacking = [one.report for one in facts.reports if part == "reports" and one.missing]
    if lacking:
        out.line()
        out.line("to record everything:")
        needs = [need for report in lacking for need in asked_and_needed(report)[1]]
        out.lines(record_lines(record_needs(recordable(needs, facts.facts.native_aot)), out.width))


@click.command(name="FILE")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.pass_context
def first(ctx: click.Context, files: tuple[str, ...]) -> int:
    """Show what a trace is, and what to ask next."""
    code: int = ctx.invoke(command, files=files, fail_on=frozenset({"damage"}))
    named = " ".join(map(shlex.quote, files))
    with Output() as out:
        out.line()
        out.facts(
            [
                ("what is wrong?", f"clrevents doctor {named}"),
                ("everything on a page", f"clrevents report {shlex.quote(files[0])} -o page.html"),
                ("one report", f"clrevents top {named}"),
            ]
        )
    return code

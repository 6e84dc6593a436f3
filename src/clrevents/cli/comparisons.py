"""Recordings, or saved answers, that a command compares: what was compared, the verdicts, and what limits them.

`clrevents top AFTER --against BEFORE` asks both the same. Shows what `clrevents.compare` finds; judges nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from clrevents._util.fitting import Kind, TextColumn, fitted_table
from clrevents._util.words import counted
from clrevents.analysis.compare.change import Change, Per
from clrevents.analysis.compare.compare import compare, is_saved, measure, saved_measured
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.comparison_texts import (
    HEAD,
    by_table,
    caveat,
    cells,
    headline,
    incomparable,
    indented,
    interval_text,
    ordered,
    reasons,
    row_counts,
    sides,
    told_rows,
)
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import Reading, means_many, refuse_same_input
from clrevents.cli.report_rows import LIMIT, ReportOptions, usage_error
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.export.files.answers import csv_line

_FITTED: Final[tuple[tuple[Kind, int], ...]] = (
    *(("name", 0), ("number", 3), ("number", 2), ("number", 0)),
    *(("word", 0), ("number", 0)),
)
"""Of `HEAD`: where there is no room for all, the base goes first: it follows from the others."""
_ALONE: Final[Mapping[str, str]] = {
    **{name: f"--{name}" for name in ("table", "columns", "sort", "chart", "facts", "symbols")},
    **{"beside": "--with", "raw_units": "--raw-units", "conditions": "--assert"},
}
"""Options that are about the answer on one trace."""
_COLUMNS: Final = (
    *("family", "name", "unit", "base", "new", "change", "low", "high", "verdict", "towards", "smallest", "within"),
    "reason",
)


def show_comparison(out: Output, found: Comparison, limit: int, every: bool = False) -> None:
    """At most `limit` lines of each table: of rows those that differ, or with `every` all, with their intervals."""
    out.text(out.bold(headline(found)))
    if (more := caveat(found)) is not None:
        out.text(more)
    out.facts(list(sides(found)))
    for warning in found.warnings:
        out.text(f"! {warning}", 2)
    shown = list(found.rows) if every else told_rows(found)
    for table, rows in by_table(shown, limit):
        out.line()
        _table(out, found, rows, table, list(map(indented, rows)), every)
        if (whole := sum(row.family == table for row in shown)) > len(rows):
            out.line(f"{len(rows):,} of {whole:,} {table} (-n shows more)")
    changes = ordered(found)
    if changes:
        out.line()
        _table(out, found, changes[:limit], HEAD[0], [change.key for change in changes[:limit]], every)
        if len(changes) > limit:
            out.line(f"{limit:,} of {counted(len(changes), 'metric')} (-n shows more)")
    lacking = list(incomparable(found))
    compared = [*map(str, found.proposals), *reasons(found), *row_counts(found)]
    texts = [*compared, *(f"not comparable: {text}" for text, _ in lacking)]
    if texts:
        out.line()
    for text in texts:
        out.text(text, 2)
    for record in dict.fromkeys(record for _, record in lacking if record):
        out.text(f"record with --providers {record}", 2)


def _table(out: Output, found: Comparison, changes: list[Change], title: str, names: list[str], every: bool) -> None:
    rows = [cells(change, found.per, name) for change, name in zip(changes, names, strict=True)]
    columns = [
        TextColumn(heading, [safe(row[place]) for row in rows], *_FITTED[place])
        for place, heading in enumerate((title, *HEAD[1:]))
    ]
    if every:
        columns.insert(4, TextColumn("interval", list(map(interval_text, changes)), "number", 4))
    out.fitted(fitted_table(columns, out.width), "; a wider terminal shows it")


def measured_file(
    file: str, errors: ErrorMode, fail_on: frozenset[str], ask: Callable[[Reading], Measured]
) -> tuple[list[Measured], int]:
    """What saved answers say, or `ask` of a recording; and the exit code that its problems mean."""
    try:
        if is_saved(file):
            return saved_measured(file), 0
        with Reading(file, errors) as reading:
            try:
                found = ask(reading)
            except (DamageError, PayloadError):
                say(f"{reading.name}: damaged, so it cannot be compared; --errors salvage compares what is left")
                raise
            return [found], reading.finish(fail_on)
    except (KeyError, TypeError, ValueError) as error:
        raise usage_error(error) from None


def write_against(
    declared: ReportDeclaration[Any, Any],
    parameters: Mapping[str, object],
    file: str,
    against: str,
    per: Per | None,
    wanted: ReportOptions,
) -> int:
    """Compare both traces, write the rows, and return the exit code."""
    for name, option in _ALONE.items():
        if getattr(wanted, name):
            raise click.UsageError(f"{option} is about one trace; leave it out with --against")
    if wanted.as_csv and wanted.as_json:
        raise click.UsageError("--csv and --json are mutually exclusive")
    if means_many(file):
        raise click.UsageError("--against compares one trace with one")
    refuse_same_input(file, against)

    def asked(reading: Reading) -> Measured:
        given = {"start": wanted.start, "end": wanted.end, "process_id": reading.process_id(wanted.process)}
        window: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        return measure(reading.trace, report=declared.name, **parameters, **window)

    base, old = measured_file(against, wanted.errors, wanted.fail_on, asked)
    new, worst = measured_file(file, wanted.errors, wanted.fail_on, asked)
    try:
        found = compare(base, new, per=per)
    except ValueError as error:
        raise usage_error(error) from None
    with Output() as out:
        if wanted.as_json:
            out.json(found.to_dict())
        elif wanted.as_csv:
            out.line(csv_line(_COLUMNS, wanted.spreadsheet))
            for row in found.rows[: wanted.limit]:
                values = row.to_dict()
                out.line(csv_line([values[name] for name in _COLUMNS], wanted.spreadsheet))
        else:
            show_comparison(out, found, LIMIT if wanted.limit is None else wanted.limit, every=True)
    return max(old, worst)

"""Rows of a report as a command writes them: which columns, in which order, as text, CSV or lines of JSON. And its
messages about conditions and about what was not recorded.

Knows neither how many traces they are from nor where these come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from clrevents._util.fitting import fitted_table
from clrevents._util.words import unknown
from clrevents.analysis.framework.recording.recorded import merged_lines
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration, cell_text, heading
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column_texts, shown_columns, told_columns
from clrevents.cli import options
from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import usage_errors
from clrevents.errors import ErrorMode

if TYPE_CHECKING:
    # Collectors, and names of code: only reports have them.
    from clrevents.analysis.framework.model.declaration import AnyReport

NOTHING: Final = "nothing"
"""The kind of `--fail-on` for a trace that has no data for the report."""
WIDER: Final = "--wide or --columns shows them"
"""What to do about columns that had no room."""
LIMIT: Final = 20
"""How many rows are shown as text."""
_ASCENDING: Final = ("time", "word", "guid", "name", "code", "path", "text", "row")


class ReportOptions(NamedTuple):
    """What every report's command is given, beside the report's own parameters."""

    start: str | None
    end: str | None
    process: str | None
    beside: str | None
    symbols: tuple[str, ...]
    table: str | None
    columns: str | None
    sort: str | None
    limit: int | None
    as_csv: bool
    as_json: bool
    conditions: tuple[str, ...]
    jobs: int | None
    facts: bool
    raw_units: bool
    spreadsheet: bool
    errors: ErrorMode
    fail_on: options.FailOn
    chart: str | None = None


def number_of(process: str | None) -> int | None:
    """The number of a process, where no trace tells names. Raises UsageError for a name."""
    if process is not None and not process.isdecimal():
        raise click.UsageError(f"--process takes a number here, not {process!r}: names are those of one trace")
    return None if process is None else int(process)


def chosen_columns(known: Sequence[ColumnDeclaration], columns: str) -> list[ColumnDeclaration]:
    """The columns named in a comma-separated list. Raises UsageError for an unknown name."""
    by_name = {c.name: c for c in known}
    names = [name.strip() for name in columns.split(",")]
    for name in names:
        if name not in by_name:
            raise click.UsageError(unknown("column", name, by_name))
    return [by_name[name] for name in names]


def order_of(known: Sequence[ColumnDeclaration], order: str | None) -> tuple[str, bool] | None:
    """A column, and whether its largest values come first. Raises UsageError for an unknown one."""
    if order is None:
        return None
    name, _, direction = order.partition(":")
    by_name = {c.name: c for c in known}
    if name not in by_name:
        raise click.UsageError(f"--sort: {unknown('column', name, by_name)}")
    if direction not in ("", "asc", "desc"):
        raise click.UsageError(f"--sort takes a column with :asc or :desc, such as {name}:desc")
    ascending = direction == "asc" if direction else by_name[name].cell.name in _ASCENDING
    return name, not ascending


def check_conditions(conditions: Sequence[str], declared: AnyReport) -> None:
    """Check conditions immediately, before traces are read. Raises UsageError for an invalid one."""
    if not conditions:
        return
    from clrevents.analysis.framework.model.conditions import Condition

    units = {metric.name: metric.unit for metric in declared.metrics}
    with usage_errors(ValueError):
        for text in conditions:
            condition = Condition.parse(text, units)
            condition.limit(units[condition.metric])


def say_not_recorded(name: str, lacking: Mapping[str, str | None], who: str) -> None:
    """What a report lacks, by the messages that say so, each with what records it; `who` says in which of many
    traces."""
    if lacking:
        whats = ", ".join(message.partition(": ")[2] for message in lacking)
        text = f"not recorded{who}: {whats}; to record it: clrevents collect --for {name}, or"
        say(text, merged_lines(filter(None, lacking.values())))


def first_rows(rows: ReportTable[object], limit: int, sort: str | None) -> ReportTable[object]:
    """The rows to show; in a requested order, those of a tree are like others."""
    return rows.head(limit) if sort is None else rows[:limit]


def write_plain(
    out: Output, rows: ReportTable[object], columns: Sequence[ColumnDeclaration], wanted: ReportOptions
) -> bool:
    """The rows as CSV, or each as an object on one line; returns whether either is wanted."""
    if wanted.as_csv:
        write_csv(out, rows, columns, wanted.spreadsheet)
    elif wanted.as_json:
        import json

        for row in rows.rows():
            kept = {column.name: row[column.name] for column in columns}
            out.line(json.dumps(kept, ensure_ascii=True, allow_nan=False))
    return wanted.as_csv or wanted.as_json


def write_csv(out: Output, rows: ReportTable[object], columns: Sequence[ColumnDeclaration], spreadsheet: bool) -> None:
    """The rows as CSV with a header."""
    from clrevents.export.files.answers import csv_line

    names = [c.name for c in columns]
    out.line(csv_line(names, spreadsheet))
    for row in rows.rows():
        out.line(csv_line([safe(v) if isinstance(v := row[name], str) else v for name in names], spreadsheet))


def write_rows(
    out: Output,
    rows: ReportTable[object],
    columns: Sequence[ColumnDeclaration] | None = None,
    raw: bool = False,
    wider: str = "a wider terminal shows them",
) -> None:
    """The rows for people, with as many of their columns as fit; all that say something, unless some are chosen."""
    chosen = shown_columns(rows) if columns is None else columns
    texts = column_texts(rows, chosen, lambda column, value: cell_text(column.cell, value, raw))
    if not write_blocks(out, chosen, texts, raw):
        out.fitted(fitted_table(told_columns(chosen, texts, raw), out.table_width), f"; {wider}")


def write_blocks(
    out: Output, columns: Sequence[ColumnDeclaration], texts: Sequence[Sequence[str]], raw: bool = False
) -> bool:
    """Where texts, but not names, have several lines: one block for each row. Returns whether there are any."""
    several = [cells for column, cells in zip(columns, texts, strict=True) if column.cell.name != "name"]
    if not any("\n" in text for cells in several for text in cells):
        return False
    titles = [heading(column.name, column.cell, raw) for column in columns]
    width = max(map(len, titles))
    for row in zip(*texts, strict=True):
        for title, text in zip(titles, row, strict=True):
            if "\n" in text:
                out.line(out.bold(title))
                out.lines(f"    {safe(line.expandtabs())}".rstrip() for line in text.splitlines())
            else:
                out.line(f"{out.bold(title.ljust(width))}  {safe(text)}")
        out.line()
    return True

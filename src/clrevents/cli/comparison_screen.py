"""A comparison as people see it on a terminal: what was compared, the verdicts as tables, and what limits them.

Judges nothing and knows no command.
"""

from __future__ import annotations

from typing import Final

from clrevents._util.fitting import Kind, TextColumn, fitted_table
from clrevents._util.words import counted
from clrevents.analysis.compare.change import Change
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
from clrevents.cli.output import Output, safe

_COLUMNS: Final[tuple[tuple[Kind, int], ...]] = (
    *(("name", 0), ("number", 3), ("number", 2), ("number", 0)),
    *(("word", 0), ("number", 0)),
)
"""Of `HEAD`: where there is no room for all, the base goes first: it follows from the others."""


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
        TextColumn(heading, [safe(row[place]) for row in rows], *_COLUMNS[place])
        for place, heading in enumerate((title, *HEAD[1:]))
    ]
    if every:
        columns.insert(4, TextColumn("interval", list(map(interval_text, changes)), "number", 4))
    out.fitted(fitted_table(columns, out.width), "; a wider terminal shows it")

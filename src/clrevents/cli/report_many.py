"""A report of many traces: its metrics over all of them and a line for each, or the rows of one of its tables.

Options mean what they mean for one trace; conditions must hold for each. Knows no report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import click

from clrevents._util.words import counted
from clrevents.analysis.framework.model.declaration import AnyReport, WindowOptions
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.run.asking import ask_one, find_report
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric, MetricDeclaration, metric_text
from clrevents.analysis.framework.vocabulary.cells import CELLS, Cell, ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, columns_of, row, shown_columns
from clrevents.cli import report_rows
from clrevents.cli.output import UNMET, Output, say
from clrevents.cli.reading import ReadingMany, usage_errors
from clrevents.fleet import FleetAnswer
from clrevents.trace import Trace

_METRICS: Final = 5
"""The metrics shown for each trace: the first ones known for any."""
_SAID: Final = 10
_MERGED: Final[Mapping[str, Callable[[list[Any]], Any]]] = {"sum": sum, "max": max, "min": min}
_CELLS: Final[Mapping[str, str]] = {"ns": "duration", "bytes": "bytes", "count": "count", "ratio": "ratio"}


@row
class _MetricsRow:
    """What is known about each trace; its metrics are further columns."""

    trace: cells.FilePath = column("The path or URL.")
    coverage: cells.Word = column("How much of what the report needs was recorded: full, partial or none.")


_TRACE, _COVERAGE = columns_of(_MetricsRow)


def _asked(
    trace: Trace, name: str, parameters: object, window: WindowOptions, conditions: Sequence[str]
) -> tuple[str, str, list[str]]:
    """The answer about one trace as a line of JSON, its coverage and the conditions that it does not meet."""
    answer = ask_one(trace, find_report(name), parameters, window)
    return json.dumps(answer.to_dict(), allow_nan=False), answer.coverage, answer.unmet(*conditions)


def write_many(
    declared: AnyReport,
    parameters: Mapping[str, object],
    files: Sequence[str],
    wanted: report_rows.ReportOptions,
) -> int:
    """Ask all traces and write the answer; returns the exit code."""
    if wanted.beside is not None:
        raise click.UsageError("--with goes with one trace")
    if wanted.chart is not None:
        raise click.UsageError("--chart draws one trace")
    if wanted.facts:
        raise click.UsageError("--facts is for one trace; --table has the metrics of each of many")
    if wanted.as_csv and wanted.as_json:
        raise click.UsageError("--csv and --json are mutually exclusive")
    window: WindowOptions = {
        "start": wanted.start,
        "end": wanted.end,
        "process_id": report_rows.number_of(wanted.process),
    }
    known = known_columns(declared, wanted.table)
    chosen = None if wanted.columns is None else report_rows.chosen_columns(known, wanted.columns)
    order = report_rows.order_of(known, wanted.sort)
    report_rows.check_conditions(wanted.conditions, declared)
    with ReadingMany(files, wanted.errors, wanted.jobs, wanted.symbols) as reading:
        if wanted.as_json and wanted.table is None:
            asked = partial(_asked, name=declared.name, parameters=declared.parameters(**parameters), window=window)
            coverages, unmet = _write_objects(reading, partial(asked, conditions=wanted.conditions))
            code = reading.finish(wanted.fail_on)
        else:
            tables = () if wanted.table is None else (wanted.table,)
            with usage_errors(KeyError, TypeError, ValueError):
                answer = reading.asked.report(declared.name, tables=tables, **window, **parameters)
                coverages, unmet = answer.by_trace["coverage"].tolist(), answer.unmet(*wanted.conditions)
            code = reading.finish(wanted.fail_on)
            rows = _rows(declared, answer, wanted.table)
            _write(declared, answer, rows if order is None else rows.sorted_by(*order), known, chosen, wanted)
            _say_notes(declared, answer, quiet=wanted.as_json or wanted.as_csv)
        _say_some(unmet)
        if report_rows.NOTHING in wanted.fail_on and set(coverages) <= {"none"}:
            return 3
        # What is wrong with a trace comes first: its numbers prove nothing.
        return code or (UNMET if unmet else 0)


def _write_objects(
    reading: ReadingMany, question: Callable[[Trace], tuple[str, str, list[str]]]
) -> tuple[list[str], list[str]]:
    """The object that each trace would give alone, one per line; returns their coverages and what is not met."""
    coverages: list[str] = []
    unmet: list[str] = []
    outcomes = reading.asked.each(question)
    with Output() as out:
        while True:
            with usage_errors(KeyError, TypeError, ValueError):
                answered = next(outcomes, None)
            if answered is None:
                return coverages, unmet
            path, (line, coverage, reasons) = answered
            out.line(line)
            coverages.append(coverage)
            unmet += [f"{path}: {reason}" for reason in reasons]


def known_columns(declared: AnyReport, table: str | None) -> list[ColumnDeclaration]:
    """All columns."""
    if table is None:
        return [_TRACE, _COVERAGE, *map(_metric_column, declared.metrics)]
    return [_TRACE, *columns_of(next(t.row_class for t in declared.answer.tables() if t.name == table))]


def _metric_column(metric: MetricDeclaration) -> ColumnDeclaration:
    cell: Cell = CELLS[_CELLS.get(metric.unit, "number")]
    return ColumnDeclaration(metric.name, cell, metric.description, nullable=True)


def _rows(declared: AnyReport, answer: FleetAnswer, table: str | None) -> ReportTable[object]:
    """A row for each trace, or those of the table; with the column `trace`, which row classes don't have."""
    if table is None:
        return ReportTable(_MetricsRow, answer.by_trace)
    return ReportTable(next(t.row_class for t in declared.answer.tables() if t.name == table), answer.table(table))


def _write(
    declared: AnyReport,
    answer: FleetAnswer,
    rows: ReportTable[object],
    known: Sequence[ColumnDeclaration],
    chosen: Sequence[ColumnDeclaration] | None,
    wanted: report_rows.ReportOptions,
) -> None:
    limit = wanted.limit if wanted.as_csv or wanted.as_json or wanted.limit is not None else report_rows.LIMIT
    head = rows if limit is None else report_rows.first_rows(rows, limit, wanted.sort)
    with Output() as out:
        if not report_rows.write_plain(out, head, chosen or known, wanted):
            out.facts(
                [
                    ("traces", f"{len(answer.traces):,}"),
                    ("coverage", answer.coverage),
                    *_totals(declared, answer, wanted.raw_units),
                ]
            )
            if len(head):
                out.line()
                report_rows.write_rows(
                    out, head, chosen or _shown(declared, rows, wanted.table), wanted.raw_units, report_rows.WIDER
                )
            if len(head) < len(rows):
                of = "" if wanted.table is None else f" of {wanted.table}"
                out.line(f"{len(head):,} of {counted(len(rows), 'row')}{of} (-n shows more)")
            if wanted.table is None and chosen is None:
                out.line()
                out.text(f"metrics, for --columns and --sort: {', '.join(m.name for m in declared.metrics)}", 2)
                others = [t.name for t in declared.answer.tables() if t.name != declared.headline]
                also = f" (or {', '.join(others)})" if others else ""
                out.text(
                    f"for the {declared.headline} of all traces in one table: --table {declared.headline}{also}", 2
                )


def _totals(declared: AnyReport, answer: FleetAnswer, raw: bool) -> list[tuple[str, str]]:
    """The metrics over all traces in which they are known; those without a common number for several are left out."""
    lines = []
    for declared_metric in declared.metrics:
        metric = answer.metrics.get(declared_metric.name)
        known = [value for value in answer.by_trace[declared_metric.name].tolist() if value is not None]
        if metric is None or not known or (metric.merge == "none" and metric.value is None):
            continue
        text = metric_text(metric, raw)
        if metric.value is None:
            value = _MERGED[metric.merge](known)
            some = f"{len(known):,} of {counted(len(answer.traces), 'trace')}"
            text = f"{metric_text(Metric(value, metric.unit), raw)} ({some})"
        lines.append((declared_metric.name.replace("_", " "), text))
    return lines


def _shown(declared: AnyReport, rows: ReportTable[object], table: str | None) -> list[ColumnDeclaration]:
    """The columns for people."""
    if table is None:
        columns = [_metric_column(m) for m in declared.metrics]
        shown = [c for c in columns if any(v is not None for v in rows.column(c.name).tolist())]
        return [_TRACE, _COVERAGE, *shown[:_METRICS]]
    return [_TRACE, *shown_columns(rows)]


def _say_notes(declared: AnyReport, answer: FleetAnswer, quiet: bool) -> None:
    """Each kind of note once, with the first trace that has it."""
    notes = list(answer.notes.rows())
    missing = [note for note in notes if note["id"] == NOT_RECORDED]
    if not quiet:
        some = len({note["trace"] for note in missing})
        who = f" in {some:,} of {counted(len(answer.traces), 'trace')}"
        report_rows.say_not_recorded(declared.name, {note["message"]: note["record"] for note in missing}, who)
    kinds: dict[str, list[dict[str, object]]] = {}
    for note in notes:
        if note["id"] != NOT_RECORDED and (note["severity"] != "info" or not quiet):
            kinds.setdefault(note["id"], []).append(note)
    lines = []
    for first, *others in kinds.values():
        more = len({note["trace"] for note in others} - {first["trace"]})
        also = f" (and similarly for {counted(more, 'more trace')})" if more else ""
        lines.append(f"{first['severity']}: {first['trace']}: {first['message']}{also}")
    _say_some(lines)


def _say_some(lines: Sequence[str]) -> None:
    for line in lines[:_SAID]:
        say(line)
    if len(lines) > _SAID:
        say(f"and {len(lines) - _SAID} more")

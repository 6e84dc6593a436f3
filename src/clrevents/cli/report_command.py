"""The sub-command of a report, made from its declaration: options, text, JSON and CSV are the same for all of them.

Knows no report. Text shows metrics, facts and one table; everything that limits an answer goes to stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import click

from clrevents._util.fitting import TextColumn, column_width, fitted_table
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import AnyReport, ParameterDeclaration, WindowOptions, parameters_of
from clrevents.analysis.framework.model.needs import NOT_RECORDED, record_needs
from clrevents.analysis.framework.render.show import fact_lines, note_text
from clrevents.analysis.framework.run.asking import ask_one, find_report
from clrevents.analysis.framework.run.listing import report_summaries
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration, cell_text
from clrevents.analysis.framework.vocabulary.report_table import (
    ReportTable,
    column_texts,
    columns_of,
    shown_columns,
    told_columns,
)
from clrevents.cli import options, report_rows
from clrevents.cli.output import UNMET, Output, say, terminal_width
from clrevents.cli.reading import Reading, means_many, usage_error, usage_errors
from clrevents.errors import DamageError, PayloadError

_MANY: Final = (
    "For many traces ({places}): the metrics over all of them, and a line for each; or one table of all, whose "
    "first column is the trace. Conditions must hold for each trace."
)
_Draw: TypeAlias = Callable[[Any, ReportTable[object], int, str], list[str]]
_SPARKLINES: Final = "over time"
_NARROWEST, _WIDEST = 10, 40
"""The width of a sparkline in characters."""
_BARS: Final = "▁▂▃▄▅▆▇█"
_ASCII_BARS: Final = "_.-~=+*#"
"""For terminals without other characters."""


def report_command(name: str) -> click.Command:
    """The sub-command of this report."""
    declared = find_report(name)
    own = parameters_of(declared.parameters)

    def command(files: tuple[str, ...], **given: Any) -> int:
        live = options.LiveQuestion.taken_from(given)
        if given.pop("listed", False):
            given["table"] = declared.listing
            if given["limit"] is None:
                given["limit"] = sys.maxsize
            live = live.listing()
        against, per = given.pop("against", None), given.pop("per", None)
        if live.wanted and files and one:
            # Where a report has an argument, what stands first is that: there is no FILE before it.
            argument = next(p.name for p in own if p.argument)
            given[argument], files = files[0], ()
        parameters = {p.name: _given(p, given.pop(p.name)) for p in own}
        if live.wanted == bool(files):
            raise click.UsageError("give either a trace, or a running process with -p (see `clrevents ps`)")
        wanted = report_rows.ReportOptions(**given)
        if against is not None:
            from clrevents.cli.compare import write_against

            if live.wanted or len(files) != 1:
                raise click.UsageError("--against compares one trace with one")
            return write_against(declared, parameters, files[0], against, per, wanted)
        if per is not None:
            raise click.UsageError("--per goes with --against")
        if live.wanted:
            return _run(declared, declared.parameters(**parameters), live, wanted)
        if len(files) > 1 or means_many(files[0]):
            from clrevents.cli.report_many import write_many

            return write_many(declared, parameters, files, wanted)
        return _run(declared, declared.parameters(**parameters), files[0], wanted)

    # An argument of the report's comes after one FILE, which may be a folder or a pattern.
    one = any(parameter.argument for parameter in own)
    files = click.argument(
        "files",
        nargs=1 if one else -1,
        required=False,
        metavar="FILE" if one else "FILE...",
        callback=lambda _context, _option, value: (value,) if isinstance(value, str) else value or (),
    )
    function = options.together(files, *map(_option, own), *_options(declared))(command)
    return click.command(name=name, help=_help(declared, one), short_help=report_summaries()[name])(function)


def _given(parameter: ParameterDeclaration, value: Any) -> Any:
    """The value of a parameter, from what its option was given."""
    if parameter.joined is None:
        return value
    return parameter.joined.join(value) if value else parameter.default


def _option(parameter: ParameterDeclaration) -> options.Option:
    """A parameter as an option, or as an argument."""
    if parameter.argument:
        return click.argument(parameter.name, default=parameter.default)
    if parameter.type is bool:
        return click.option(parameter.flag, parameter.name, is_flag=True, help=parameter.description)
    kind: object = click.Choice(parameter.choices) if parameter.choices else parameter.type
    meta = None if parameter.choices else "NUMBER" if parameter.type is int else "TEXT"
    if parameter.joined is not None:
        help = f"{parameter.description} Repeatable."
        return click.option(parameter.flag, parameter.name, multiple=True, metavar="PATTERN", help=help)
    return click.option(
        parameter.flag,
        parameter.name,
        type=kind,
        default=parameter.default,
        show_default=parameter.default is not None,
        metavar=meta,
        help=parameter.description,
    )


def _options(declared: AnyReport) -> list[options.Option]:
    """The options of every report."""
    names = [table.name for table in declared.answer.tables()]
    return [
        options.window,
        options.process,
        options.beside,
        options.symbols,
        click.option(
            "--table", type=click.Choice(names), help=f"The table to show or write. [default: {declared.headline}]"
        ),
        click.option("--columns", metavar="NAMES", help="Comma-separated columns to show or write."),
        click.option(
            "--sort", metavar="COLUMN", help="Sort by this column; append :asc or :desc to choose the direction."
        ),
        options.limit(f"Show at most N rows. [default: {report_rows.LIMIT} as text]"),
        click.option("--csv", "as_csv", is_flag=True, help="Write the table as CSV, all rows."),
        options.json("Write everything as one JSON object; with --table, one row per line."),
        click.option(
            "--assert",
            "conditions",
            multiple=True,
            metavar="CONDITION",
            help=(
                "Exit with 4 unless this condition on a metric holds, such as 'count<100' or 'pause_max<50ms'; "
                "repeatable."
            ),
        ),
        *_own_options(declared),
        options.jobs,
        click.option("--facts", is_flag=True, help="Show all facts and metrics above the table."),
        click.option(
            "--raw-units",
            "raw_units",
            is_flag=True,
            help="Show durations in nanoseconds and sizes in bytes, with every digit.",
        ),
        options.wide,
        options.live(),
        options.spreadsheet,
        options.errors,
        options.fail_on("damage", also=report_rows.NOTHING),
    ]


def _own_options(declared: AnyReport) -> list[options.Option]:
    """Those that only some reports have."""
    own: list[options.Option] = []
    if declared.listing is not None:
        help = f"Show what there is to record, and how: the table `{declared.listing}`."
        own.append(click.option("--list", "listed", is_flag=True, help=help))
    if charts := {chart.name: chart.description for chart in declared.answer.declared_charts}:
        texts = " ".join(f"{name}: {text[0].lower()}{text[1:]}" for name, text in charts.items())
        own.append(click.option("--chart", type=click.Choice([*charts]), help=f"Write a chart as SVG. {texts}"))
    if declared.against:
        own.append(options.against("Another trace, or what was saved of one: what changed since, row by row."))
        help = "With --against, divide amounts by this: request, second, none, or a start event of the program."
        own.append(click.option("--per", metavar="WHAT", help=help))
    return own


def _help(declared: AnyReport, one: bool) -> str:
    examples = "".join(f"{question}\n    {line}\n" for question, line in declared.examples)
    examples = f"\n\n\b\n{examples}" if examples else ""
    first, _, rest = declared.description.partition("\n\n")
    record = (
        f"\n\n\b\nRecord with:\n  clrevents collect -p PID --for {declared.name}\n"
        f"or with:\n  dotnet-trace collect --providers \\\n  {record_needs(declared.needs)}"
    )
    places = "a folder or a pattern" if one else "files, folders, patterns, URLs"
    return f"{first}{examples}\n\n{rest}\n\n{_MANY.format(places=places)}{record}"


def _run(
    declared: AnyReport, parameters: object, source: str | options.LiveQuestion, wanted: report_rows.ReportOptions
) -> int:
    table, sort, limit, chart = wanted.table, wanted.sort, wanted.limit, wanted.chart
    as_csv, as_json, fail_on = wanted.as_csv, wanted.as_json, wanted.fail_on
    if as_csv + as_json + (chart is not None) > 1:
        raise click.UsageError("--csv, --json and --chart are mutually exclusive")
    name = table or declared.headline
    row_class = next(t.row_class for t in declared.answer.tables() if t.name == name)
    known = columns_of(row_class)
    chosen = None if wanted.columns is None else report_rows.chosen_columns(known, wanted.columns)
    report_rows.check_conditions(wanted.conditions, declared)
    order = report_rows.order_of(known, sort or (declared.sort if name == declared.headline else None))
    window: WindowOptions = {"start": wanted.start, "end": wanted.end}

    def write(answer: Answer[object]) -> None:
        def sorted_rows(name: str) -> ReportTable[object]:
            rows: ReportTable[object] = answer.table(name)
            return rows if order is None else rows.sorted_by(*order)

        rows = sorted_rows(name)
        head = rows if limit is None else report_rows.first_rows(rows, limit, sort)
        with Output() as out:
            if chart is not None:
                out.lines(_drawn(answer, chart).splitlines())
            elif as_json and table is None:
                out.json(answer.to_dict_of_rows())
            elif not report_rows.write_plain(out, head, chosen or known, wanted):
                shown = {t: sorted_rows(t) for t in (name, *(declared.beside if table is None else ()))}
                if table is None and chosen is None and declared.folded is not None:
                    shown[name] = declared.folded(shown[name])
                if table is None and declared.urgent is not None and len(answer.table(declared.urgent)):
                    shown = {declared.urgent: answer.table(declared.urgent), **shown}
                _text(out, declared, answer, shown, chosen, wanted)

    def verdict(answer: Answer[object], code: int) -> int:
        _say_notes(declared, answer, quiet=as_json or as_csv or chart is not None)
        with usage_errors(ValueError):
            unmet = answer.unmet(*wanted.conditions)
        for why in unmet:
            say(why)
        if answer.coverage == "none" and report_rows.NOTHING in fail_on:
            return 3
        # What is wrong with the trace comes first: its numbers prove nothing.
        return code or (UNMET if unmet else 0)

    if isinstance(source, options.LiveQuestion):
        if wanted.beside is not None or wanted.symbols:
            option = "--symbols" if wanted.beside is None else "--with"
            raise click.UsageError(f"{option} goes with a trace, not with a running process")
        # Who asks about a file need not load what records.
        from clrevents.cli.live_process import live_answers

        # A table that renews itself is for people who look at it; everything else gets the last answer.
        renewed = sys.stdout is not None and sys.stdout.isatty() and not (as_json or as_csv or chart)
        code = 0
        with usage_errors(KeyError, TypeError, ValueError):
            window["process_id"] = report_rows.number_of(wanted.process)
            for answer, last in live_answers(Asked(declared, parameters), source, window):
                if renewed and source.duration is None:
                    click.clear()
                if last or renewed:
                    write(answer)
                if last:
                    code = verdict(answer, 0)
        return code
    with Reading(source, wanted.errors, beside=wanted.beside, symbols=wanted.symbols) as reading:
        stopped: DamageError | PayloadError | None = None
        try:
            window["process_id"] = reading.process_id(wanted.process)
            answer = ask_one(reading.trace, declared, parameters, window)
        except (DamageError, PayloadError) as error:
            if error.report is None:
                return reading.stopped(error, fail_on)
            stopped, answer = error, error.report
        except (KeyError, TypeError, ValueError) as error:
            raise usage_error(error) from None
        code = reading.stopped(stopped, fail_on) if stopped else reading.finish(fail_on)
        write(answer)
        return verdict(answer, code)


def _drawn(answer: Answer[object], name: str) -> str:
    try:
        return next(chart for chart in answer.charts() if chart.name == name).svg()
    except ImportError as error:
        raise click.UsageError(str(error)) from None


def _say_notes(declared: AnyReport, answer: Answer[object], quiet: bool) -> None:
    """The notes; those on what was not recorded as one line, with what records all of it."""
    if not quiet:
        lacking = {note.message: note.record for note in answer.notes if note.id == NOT_RECORDED}
        report_rows.say_not_recorded(declared.name, lacking, "")
    for note in answer.notes:
        if note.id != NOT_RECORDED and (note.severity != "info" or not quiet):
            say(note_text(note))


def _text(
    out: Output,
    declared: AnyReport,
    answer: Answer[object],
    shown: Mapping[str, ReportTable[object]],
    chosen: Sequence[ColumnDeclaration] | None,
    wanted: report_rows.ReportOptions,
) -> None:
    """The answer for people: the facts and these tables, or a table alone that was asked for by its name."""
    alone, raw = wanted.table is not None, wanted.raw_units
    if not alone:
        lines = fact_lines(answer, raw, wanted.facts)
        out.facts([("coverage", answer.coverage), *lines])
        if hidden := len(fact_lines(answer)) - len(lines):
            out.line(out.dim(f"{counted(hidden, 'more fact')}: --facts"))
    elif answer.coverage != "full":
        out.facts([("coverage", answer.coverage)])
    for name, rows in shown.items():
        head = report_rows.first_rows(rows, report_rows.LIMIT if wanted.limit is None else wanted.limit, wanted.sort)
        if len(head):
            if not alone or answer.coverage != "full":
                out.line()
            if len(shown) > 1:
                out.line(out.bold(name))
            draw = declared.sparklines if chosen is None and name == declared.headline else None
            columns = chosen or shown_columns(
                head, declared.shown if name in (declared.headline, *declared.beside) else ()
            )
            # Columns that a pipe asks for by name are all there.
            width = out.table_width if chosen is None or out.terminal else None
            _rows(out, head, columns, answer, draw, raw, width)
        if len(head) < len(rows):
            out.line(f"{len(head):,} of {counted(len(rows), 'row')} of {name} (-n shows more)")
    sizes = {t.name: len(answer.table(t.name)) for t in answer.tables() if t.name not in shown}
    others = [f"{name} ({count:,})" for name, count in sizes.items() if count]
    if others and not alone:
        out.line()
        out.text(f"other tables, for --table: {', '.join(others)}", 2)


def _rows(
    out: Output,
    head: ReportTable[object],
    chosen: Sequence[ColumnDeclaration],
    answer: Answer[object],
    draw: _Draw | None,
    raw: bool,
    width: int | None,
) -> None:
    texts = column_texts(head, chosen, lambda column, value: cell_text(column.cell, value, raw))
    if report_rows.write_blocks(out, chosen, texts, raw):
        return
    columns = told_columns(chosen, texts, raw)
    marks = ["!" if lossy else "" for lossy in head.column("lossy").tolist()]
    if any(marks):
        columns = [TextColumn("", marks, "word", 0), *columns]
    if draw is not None:
        # Before the names, which may be long; in the room that the other columns leave.
        place = next((i for i, column in enumerate(columns) if column.title and column.kind != "number"), len(columns))
        room = (width or terminal_width()) - sum(map(column_width, columns))
        bars = _BARS if out.shows(_BARS) else _ASCII_BARS
        drawn = draw(answer, head, max(_NARROWEST, min(room, _WIDEST)), bars)
        columns = [*columns[:place], TextColumn(_SPARKLINES, drawn, "word", 3), *columns[place:]]
    out.fitted(fitted_table(columns, width), f"; {report_rows.WIDER}")
    if any(marks):
        out.line("! events of this row were lost or destroyed")

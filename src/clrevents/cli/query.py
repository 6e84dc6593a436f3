"""`clrevents query`: SQL over one trace or many. Parses options and formats rows; `query` of them does the work."""

from __future__ import annotations

import atexit
import gc
from itertools import chain, islice
from typing import Any, Final

import click

from clrevents._util.words import counted
from clrevents.cli import options
from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import Reading, ReadingMany, means_many, refuse_many_with
from clrevents.export.files.answers import (
    answer_columns,
    answer_rows,
    as_text,
    csv_line,
    json_line,
    number_columns,
    sql_errors,
)

_SHOWN: Final = 100
_LONG: Final = 300


@click.command(name="query")
@click.argument("traces", nargs=-1, required=True, metavar="FILE...")
@click.argument("sql", metavar="SQL")
@options.json("Print each row as a JSON object, one per line.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a header line.")
@options.limit(f"Print at most N rows. [default: {_SHOWN}; all with --json or --csv]")
@options.jobs
@options.process
@options.beside
@options.symbols
@click.option("--files", is_flag=True, help="Allow the SQL to read and write files, and to change settings.")
@options.spreadsheet
@options.reading()
def command(
    traces: tuple[str, ...],
    sql: str,
    as_json: bool,
    as_csv: bool,
    limit: int | None,
    jobs: int | None,
    process: str | None,
    files: bool,
    spreadsheet: bool,
    **given: Any,
) -> int:
    """Query a trace, or many, in SQL (duckdb), with a table per event.

    There are also tables headers, threads, methods, stacks, frames, samples, top_methods and thread_times;
    'show tables' lists all, 'describe GCStart' the columns of one. Only the tables named in the SQL are read. Put names
    that are not valid in SQL in double quotes.

    \b
    Which tables are there?
        clrevents query app.nettrace 'show tables'
    Which namespaces kept the JIT busy?
        clrevents query app.nettrace 'select MethodNamespace, count(*) n, sum(MethodSize) bytes
            from MethodLoadVerbose group by 1 order by n desc limit 10'
    Where were exceptions thrown?
        clrevents query app.nettrace 'select ExceptionType, method, count(*) n
            from ExceptionThrown join frames using (stack_id) where depth = 0 group by all' --json

    \b
    Of many traces (files, folders, patterns, URLs), with a column trace in every table: which had the longest pauses?
        clrevents query night/ 'select trace, max(GenerationSize2) from GCHeapStats group by 1 order by 2 desc'

    Long values are truncated, except with --json and --csv. Requires duckdb: pip install 'clrevents[query]'.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are mutually exclusive")
    try:
        wrong = sql_errors()
    except ImportError as error:
        raise click.UsageError(str(error)) from None
    # duckdb's bindings report on stderr objects that Python does not free on exit.
    atexit.unregister(gc.freeze)
    many = len(traces) != 1 or means_many(traces[0])
    refuse_many_with(given["beside"], many)
    asked = ReadingMany(traces, given["errors"], jobs, given["symbols"]) if many else Reading(traces[0], **given)
    with asked:
        try:
            if process is None:
                answer = asked.asked.query(sql, files=files)
            elif isinstance(asked, Reading):
                answer = asked.trace.query(sql, files=files, process_id=asked.process_id(process))
            else:
                raise click.UsageError("--process takes one FILE: ids and names mean nothing in another trace")
            code = asked.finish(given["fail_on"])
            if answer is not None:
                with Output() as out:
                    _show(out, answer, as_json, as_csv, limit, spreadsheet)
            return code
        except PermissionError as error:
            # Not for a closed pipe: this comes from the SQL alone.
            raise click.UsageError(_lines(str(error).replace("files=True", "--files"))) from None
        except (ImportError, ValueError, wrong) as error:
            raise click.UsageError(_lines(str(error))) from None


def _show(out: Output, answer: object, as_json: bool, as_csv: bool, limit: int | None, spreadsheet: bool) -> None:
    columns, rows = answer_columns(answer), answer_rows(answer)
    if as_json:
        out.lines(json_line(columns, row) for row in islice(rows, limit))
    elif as_csv:
        lines = (csv_line(row, spreadsheet) for row in chain([columns], islice(rows, limit)))
        for line in lines:
            (out.line if out.terminal else out.verbatim)(line)
    else:
        wanted = _SHOWN if limit is None else limit
        shown = [[_cell(value) for value in row] for row in islice(rows, wanted)]
        right = {name for name, number in zip(columns, number_columns(answer), strict=True) if number}
        out.table([safe(name) for name in columns], shown, {safe(name) for name in right})
        if next(rows, None) is not None:
            say(f"more than {counted(wanted, 'row')}; use --limit N for more, --json for all")


def _cell(value: object) -> str:
    """A value for a table; a dash for null."""
    text = "-" if value is None else as_text(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({counted(len(text), 'character')})"


def _lines(text: str) -> str:
    """Made safe line by line: duckdb's messages point into the SQL over several lines."""
    return "\n".join(safe(line) for line in text.splitlines())

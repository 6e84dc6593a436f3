"""`clrevents query`: a trace asked in SQL. Parses options and lays out rows; `Trace.query` answers."""

from __future__ import annotations

import atexit
import gc
from itertools import islice
from typing import Any, Final

import click

from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, file_argument
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.export.answers import (
    answer_columns,
    answer_rows,
    as_text,
    csv_line,
    json_line,
    number_columns,
    sql_errors,
)
from clrevents.words import counted

_SHOWN: Final = 100
_LONG: Final = 300


@click.command(name="query")
@file_argument
@click.argument("sql", metavar="SQL")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each row.")
@click.option("--csv", "as_csv", is_flag=True, help="CSV with a heading.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Show at most N rows. [default: {_SHOWN}; all with --json and --csv]",
)
@click.option("--files", is_flag=True, help="Let the SQL read and write files.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    sql: str,
    as_json: bool,
    as_csv: bool,
    limit: int | None,
    files: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Ask a trace in SQL (duckdb's), where every event's name is a table.

    So are headers, threads, methods, stacks and frames; 'show tables' lists all, 'describe GCStart' the columns of one.
    Only the tables that the SQL names are read. Names that SQL cannot have stand in double quotes.

    \b
    What is there?
        clrevents query app.nettrace 'show tables'
    Which namespaces kept the JIT busy?
        clrevents query app.nettrace 'select MethodNamespace, count(*) n, sum(MethodSize) bytes
            from MethodLoadVerbose group by 1 order by n desc limit 10'
    Where were exceptions thrown?
        clrevents query app.nettrace 'select ExceptionType, method, count(*) n
            from ExceptionThrown join frames using (stack_id) where depth = 0 group by all' --json

    Long values are cut; --json and --csv have everything. Needs duckdb: pip install 'clrevents[query]'.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two forms of one output; choose one")
    try:
        wrong = sql_errors()
    except ImportError as error:
        raise click.UsageError(str(error)) from None
    # duckdb's bindings write on stderr what Python does not clear away when it ends.
    atexit.unregister(gc.freeze)
    with Reading(file, errors) as reading:
        try:
            answer = reading.trace.query(sql, files=files)
            code = reading.finish(fail_on)
            if answer is not None:
                with Output() as out:
                    _show(out, answer, as_json, as_csv, limit)
            return code
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        except PermissionError as error:
            # Not for a pipe that was closed: this comes from the SQL alone.
            raise click.UsageError(_lines(str(error).replace("files=True", "--files"))) from None
        except (ImportError, ValueError, wrong) as error:
            raise click.UsageError(_lines(str(error))) from None


def _show(out: Output, answer: Any, as_json: bool, as_csv: bool, limit: int | None) -> None:
    columns, rows = answer_columns(answer), answer_rows(answer)
    if as_json:
        out.lines(json_line(columns, row) for row in islice(rows, limit))
    elif as_csv:
        out.line(csv_line(columns))
        out.lines(csv_line(row) for row in islice(rows, limit))
    else:
        wanted = _SHOWN if limit is None else limit
        shown = [[_cell(value) for value in row] for row in islice(rows, wanted)]
        right = {name for name, number in zip(columns, number_columns(answer), strict=True) if number}
        out.table([safe(name) for name in columns], shown, {safe(name) for name in right})
        if next(rows, None) is not None:
            say(f"there are more than {counted(wanted, 'row')}; --limit N shows N of them, --json all")


def _cell(value: Any) -> str:
    """A value for a table; a dash for null."""
    text = "-" if value is None else as_text(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({counted(len(text), 'character')})"


def _lines(text: str) -> str:
    """duckdb points into the SQL over several lines."""
    return "\n".join(safe(line) for line in text.splitlines())

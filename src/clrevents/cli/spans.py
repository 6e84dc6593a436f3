"""`clrevents spans`: the time from one event to another. Parses options and lays out what `analysis` paired."""

from __future__ import annotations

from typing import Any, Final

import click

import clrevents
from clrevents._util.words import counted, duration_text, lost_events, moment_text
from clrevents.analysis.pairing import activity_keys, longest, spans, summary, telling
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import (
    FailOn,
    Reading,
    errors_option,
    fail_on_option,
    file_argument,
    process_option,
    with_option,
)
from clrevents.errors import ErrorMode
from clrevents.export.files.formats import json_rows

_LONG: Final = 30
_PAIRINGS: Final = {
    "activity": "by activity ({})",
    "thread": "by thread ({})",
    "key": "by key ({})",
    "none": "any begin and end",
}
_SHOWN: Final = 3


@click.command(name="spans")
@file_argument
@click.argument("begin")
@click.argument("end")
@click.option(
    "--on",
    metavar="COLUMNS",
    help="Comma-separated columns that are equal in a start and its end; none: any start and end. [default: "
    "activity_id for starts and stops of activities with ids, otherwise thread_id]",
)
@click.option("-n", "count", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", help="Rows shown.")
@click.option("--columns", metavar="COLUMNS", help="Comma-separated columns to show. [default: the first three texts]")
@click.option("--provider", metavar="P", help="Only this provider: its name, a short name (runtime) or a pattern.")
@click.option(
    "--thread", "threads", type=click.IntRange(0, 2**64 - 1), multiple=True, metavar="T", help="Only these threads."
)
@process_option
@with_option
@click.option("--start", metavar="WHEN", help="Start time: 1.5s, 200ms, 50%, or a date with a time zone.")
@click.option("--end", "until", metavar="WHEN", help="End time, exclusive.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all rows.")
@click.option("--names", is_flag=True, help="With --json: enums and flags as text instead of numbers.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    begin: str,
    end: str,
    on: str | None,
    count: int,
    columns: str | None,
    provider: str | None,
    threads: tuple[int, ...],
    process: str | None,
    beside: str | None,
    start: str | None,
    until: str | None,
    as_json: bool,
    names: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Pair each start with its end, and show how long it took each time and in total.

    BEGIN and END are events (names, aliases, Provider/Event). An end belongs to the last open start with equal values
    in the columns of --on, so nested spans pair innermost first.

    \b
    Which methods took the JIT longest?
        clrevents spans app.nettrace MethodJittingStarted MethodLoadVerbose --on thread_id,MethodID
    How long did requests take, whichever threads they ran on, in the second half?
        clrevents spans app.nettrace RequestStart RequestStop --start 50%

    Times are wall-clock times: a thread may have waited meanwhile. !: events of the row's thread (of any thread, if
    paired without it) were lost or destroyed during the span, so it may be paired wrongly.
    """
    keys = None
    if on is not None:
        keys = () if on == "none" else tuple(key.strip() for key in on.split(",") if key.strip())
    wanted = None if columns is None else [name.strip() for name in columns.split(",")]

    def ask(trace: clrevents.Trace, process_id: int | None) -> clrevents.Table:
        try:
            return spans(
                trace,
                begin,
                end,
                on=keys,
                enum_names=names and as_json,
                provider=provider,
                thread_id=threads or None,
                process_id=process_id,
                start=start,
                end=until,
            )
        except LookupError as error:
            if isinstance(error, clrevents.TraceError):
                raise
            raise click.UsageError(safe(str(error.args[0]))) from None
        except (TypeError, ValueError) as error:
            raise click.UsageError(safe(str(error))) from None

    def show(out: Output, table: clrevents.Table) -> None:
        for name in wanted or ():
            if name not in table:
                raise click.UsageError(safe(f"no column {name!r}; there are {', '.join(table.columns)}"))
        if as_json:
            out.json(_object(begin, end, table))
        else:
            _show(out, (begin, end), table, count, wanted)

    with Reading(file, errors, beside=beside, fail_on=fail_on) as reading:
        found = ask(reading.trace, reading.process_id(process))
        code = reading.finish(fail_on)
        with Output() as out:
            show(out, found)
        return code


def _object(begin: str, end: str, table: clrevents.Table) -> dict[str, Any]:
    """Everything this command knows, as the JSON object. Keys are only ever added."""
    return {
        "schema": "clrevents.spans/1",
        "begin": begin,
        "end": end,
        "on": list(_columns(table)),
        "pairing": table.metadata["pairing"],
        "ambiguous": int(table.metadata["ambiguous"]),
        "lost": int(table.metadata["losses"]),
        "summary": summary(table).to_dict(),
        "spans": json_rows(table),
    }


def _show(
    out: Output,
    events: tuple[str, str],
    table: clrevents.Table,
    count: int,
    wanted: list[str] | None,
) -> None:
    out.facts(_facts(events, table))
    chosen = longest(table, count)
    if len(chosen):
        out.line()
        _rows(out, chosen, wanted)
        if len(table) > len(chosen):
            out.line(f"and {len(table) - len(chosen):,} more (-n shows them)")
    lost = int(table.metadata["losses"])
    if lost:
        out.line()
        out.line(f"{lost_events(lost)}; ! marks rows that may be affected")


def _columns(table: clrevents.Table) -> tuple[str, ...]:
    return tuple(filter(None, table.metadata["on"].split(",")))


def _facts(events: tuple[str, str], table: clrevents.Table) -> list[tuple[str, str]]:
    found, keys = summary(table), _columns(table)
    facts = [
        ("spans", f"{found.spans:,} from {' to '.join(events)}"),
        ("paired", _PAIRINGS[table.metadata["pairing"]].format(safe(", ".join(keys)))),
    ]
    if found.spans:
        times = ("shortest", found.shortest_ns), ("median", found.median_ns), ("95 %", found.p95_ns)
        quantiles = ", ".join(f"{name} {_duration(ns)}" for name, ns in times)
        facts.append(
            ("time", f"{_duration(found.total_ns)} in total; {quantiles}, longest {_duration(found.longest_ns)}")
        )
    facts.append(("unmatched", f"{counted(found.unmatched_begins, 'begin')}, {counted(found.unmatched_ends, 'end')}"))
    if found.unmatched_by_activity:
        ends = counted(found.unmatched_by_activity, "unmatched end")
        have = "has a begin" if found.unmatched_by_activity == 1 else "have begins"
        facts.append(("activity", f"{ends} {have} of the same activity: --on {','.join(activity_keys(keys))}"))
    alike = int(table.metadata["ambiguous"])
    if alike:
        have = (
            "overlaps another one with its id and may have"
            if alike == 1
            else "overlap others with their id and may have"
        )
        facts.append(("ambiguous", f"{counted(alike, 'span')} {have} another end"))
    return facts


def _rows(out: Output, table: clrevents.Table, wanted: list[str] | None) -> None:
    enums = {field.name: field.enum for field in table.fields if field.enum is not None}
    names = telling(table)[:_SHOWN] if wanted is None else wanted
    rows = []
    for row in json_rows(table):
        texts = [_cell(row[name], enums.get(name), _LONG if wanted is None else None) for name in names]
        thread = "?" if row["thread_id"] is None else str(row["thread_id"])
        mark = "!" if row["lossy"] else ""
        rows.append(
            (
                _duration(row["duration_ns"]),
                mark,
                "-" if row["start_ns"] is None else moment_text(row["start_ns"]),
                thread,
                *texts,
            )
        )
    numbers = {f.name for f in table.fields if f.enum is None and f.type.kind.startswith(("int", "uint", "float"))}
    out.table(
        ("duration", "", "at", "thread", *names),
        rows,
        right={"duration", "at", "thread", *numbers},
        keep={"duration", *names[:1]},
    )


def _duration(ns: int | None) -> str:
    """A duration; a dash for one that is unknown."""
    return "-" if ns is None else duration_text(ns)


def _cell(value: Any, enum: Any, longest: int | None) -> str:
    if value is None:
        return "-"
    text = str(enum(value)) if enum is not None else str(value)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"

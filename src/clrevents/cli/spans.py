"""`clrevents spans`: the time from one event to another. Parses options and lays out what `analysis` paired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

import clrevents
from clrevents._util.words import counted, duration_text, lost_events, moment_text
from clrevents.analysis.about.pairing import SpanReport, activity_keys, longest, span_report, spans, telling
from clrevents.analysis.framework.vocabulary.answer_values import metric_text
from clrevents.cli import options
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import Reading, usage_errors
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
@options.file
@click.argument("begin")
@click.argument("stop", metavar="END")
@click.option(
    "--on",
    metavar="COLUMNS",
    help="Comma-separated columns that are equal in a start and its end; none: any start and end. [default: "
    "activity_id for starts and stops of activities with ids, otherwise thread_id]",
)
@options.limit("Rows shown.", 20)
@click.option("--columns", metavar="COLUMNS", help="Comma-separated columns to show. [default: the first three texts]")
@options.filters
@options.json("Print one JSON object with all rows.")
@click.option("--names", is_flag=True, help="With --json: enums and flags as text instead of numbers.")
@options.reading(options.beside)
def command(
    file: str,
    begin: str,
    stop: str,
    on: str | None,
    limit: int,
    columns: str | None,
    as_json: bool,
    names: bool,
    **given: Any,
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

    with Reading(file, **options.how_to_read(given)) as reading:
        with usage_errors(LookupError, TypeError, ValueError):
            filters = reading.filters(given)
            pairs = spans(reading.trace, begin, stop, on=keys, enum_names=names and as_json, **filters)
        code = reading.finish()
        for name in wanted or ():
            if name not in pairs:
                raise click.UsageError(safe(f"no column {name!r}; there are {', '.join(pairs.columns)}"))
        report = span_report(reading.trace, begin, stop, pairs, filters)
        with Output() as out:
            if as_json:
                # With the fields of both payloads, which no declaration knows.
                out.json({**report.to_dict(), "tables": {"spans": json_rows(pairs)}})
            else:
                _show(out, report, pairs, limit, wanted)
        return code


def _show(out: Output, report: SpanReport, pairs: clrevents.Table, count: int, wanted: list[str] | None) -> None:
    out.facts(list(_facts(report)))
    chosen = longest(pairs, count)
    if len(chosen):
        out.line()
        _rows(out, chosen, wanted)
        if len(pairs) > len(chosen):
            out.line(f"and {len(pairs) - len(chosen):,} more (-n shows them)")
    if lost := int(pairs.metadata["losses"]):
        out.line()
        out.line(f"{lost_events(lost)}; ! marks rows that may be affected")


def _facts(report: SpanReport) -> Iterator[tuple[str, str]]:
    facts, metrics = report.facts, report.metrics
    numbers = {name: int(metric.value or 0) for name, metric in metrics.items()}
    texts = {name: metric_text(metric) for name, metric in metrics.items()}
    yield "spans", f"{numbers['spans']:,} from {facts.begin} to {facts.end}"
    yield "paired", _PAIRINGS[facts.pairing].format(safe(", ".join(facts.on)))
    if numbers["spans"]:
        times = (("shortest", "shortest"), ("median", "median"), ("95 %", "p95"), ("longest", "longest"))
        quantiles = ", ".join(f"{name} {texts[metric]}" for name, metric in times)
        yield "time", f"{texts['total']} in total; {quantiles}"
    ends = counted(numbers["unmatched_ends"], "end")
    yield "unmatched", f"{counted(numbers['unmatched_begins'], 'begin')}, {ends}"
    if by_activity := numbers["unmatched_by_activity"]:
        ends = counted(by_activity, "unmatched end has a begin", "unmatched ends have begins")
        yield "activity", f"{ends} of the same activity: --on {','.join(activity_keys(facts.on))}"
    if alike := numbers["ambiguous"]:
        have = counted(alike, "span overlaps another one with its id", "spans overlap others with their id")
        yield "ambiguous", f"{have} and may have another end"


def _rows(out: Output, pairs: clrevents.Table, wanted: list[str] | None) -> None:
    enums = {field.name: field.enum for field in pairs.fields if field.enum is not None}
    names = telling(pairs)[:_SHOWN] if wanted is None else wanted
    rows = []
    for row in json_rows(pairs):
        texts = [_cell(row[name], enums.get(name), _LONG if wanted is None else None) for name in names]
        thread = "?" if row["thread_id"] is None else str(row["thread_id"])
        mark = "!" if row["lossy"] else ""
        rows.append(
            (
                duration_text(row["duration_ns"]),
                mark,
                moment_text(row["start_ns"]),
                thread,
                *texts,
            )
        )
    numbers = {f.name for f in pairs.fields if f.enum is None and f.type.kind.startswith(("int", "uint", "float"))}
    out.table(
        ("duration", "", "at", "thread", *names),
        rows,
        right={"duration", "at", "thread", *numbers},
        keep={"duration", *names[:1]},
    )


def _cell(value: Any, enum: Any, longest: int | None) -> str:
    if value is None:
        return "-"
    text = str(enum(value)) if enum is not None else str(value)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"

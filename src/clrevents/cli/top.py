"""`clrevents top`: the methods or modules with the most weight. Parses options and lays out what `analysis` found."""

from __future__ import annotations

from typing import Any

import click

from clrevents.analysis.samples import Samples
from clrevents.analysis.top.hot import BY, CAVEAT, By, HotMethod, hottest
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, file_argument
from clrevents.cli.sampling import amount, in_all, samples_of, sampling_options, say_what_is_missing
from clrevents.errors import DamageError, ErrorMode, PayloadError


@click.command(name="top")
@file_argument
@click.option("-n", "count", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="How many.")
@click.option("--by", type=click.Choice(BY), default="method", show_default=True, help="What is added up.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@sampling_options
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    count: int,
    by: By,
    as_json: bool,
    event: str | None,
    weight: str | None,
    threads: tuple[int, ...],
    start: str | None,
    end: str | None,
    raw: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """List the methods with the most time, or with the most of what --event and --weight say.

    Exclusive is what a method weighs alone, inclusive with all that it calls; `native` is the part of exclusive that
    was spent in native code or waiting.

    \b
    Where is the time?
        clrevents top app.nettrace
    Which modules allocate, in bytes?
        clrevents top app.nettrace --by module --event GCAllocationTick --weight AllocationAmount64

    The sample profiler notes where each managed thread is, whether it runs or waits: this is time on the clock.
    """
    with Reading(file, errors) as reading:
        try:
            samples = samples_of(reading, event, weight, threads, start, end)
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        found = hottest(samples, by)
        code = reading.finish(fail_on)
        with Output() as out:
            if as_json:
                out.json(_object(samples, by, found, count))
            else:
                _show(out, samples, by, found[:count], len(found), raw)
        if not as_json:
            say_what_is_missing(samples)
        return code


def _object(samples: Samples, by: By, found: tuple[HotMethod, ...], count: int) -> dict[str, Any]:
    """Everything this command knows, as the JSON object. Keys are only ever added."""
    return {
        "schema": "clrevents.top/1",
        "event": samples.event,
        "unit": samples.unit,
        "samples": len(samples),
        "threads": [track.thread_id for track in samples.threads],
        "total": samples.total,
        "caveat": CAVEAT if samples.timed else None,
        "advice": samples.advice,
        "by": by,
        "rows": len(found),
        "top": [
            {
                "name": hot.name,
                "raw": hot.raw,
                "module": hot.module or None,
                "exclusive": hot.exclusive,
                "inclusive": hot.inclusive,
                "external": hot.external,
                "samples": hot.samples,
            }
            for hot in found[:count]
        ],
    }


def _show(out: Output, samples: Samples, by: By, found: tuple[HotMethod, ...], rows: int, raw: bool) -> None:
    total = samples.total
    out.line(safe(in_all(samples)))
    if samples.timed:
        out.line(CAVEAT)
    out.line()
    head = ["exclusive", "", "inclusive", "", *(["native"] if samples.external is not None else []), by]
    cells = [
        [
            _share(hot.exclusive, total),
            amount(samples, hot.exclusive),
            _share(hot.inclusive, total),
            amount(samples, hot.inclusive),
            *([] if hot.external is None else [_share(hot.external, hot.exclusive)]),
            hot.raw if raw else hot.name,
        ]
        for hot in found
    ]
    out.table(head, cells, right={"exclusive", "inclusive", "native", ""})
    if rows > len(found):
        out.line(f"and {rows - len(found):,} more (-n shows them)")


def _share(part: int | float, whole: int | float) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"

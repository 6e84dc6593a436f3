"""`clrevents cut`: a smaller trace with the selected events. Parses options; `rewrite` does the work."""

from __future__ import annotations

import click

from clrevents._util.words import counted
from clrevents.cli.output import safe, say
from clrevents.cli.reading import (
    FailOn,
    Reading,
    errors_option,
    fail_on_option,
    file_argument,
    process_option,
    refuse_overwriting,
)
from clrevents.errors import ErrorMode
from clrevents.rewrite import cut
from clrevents.trace import passes_of


@click.command(name="cut")
@file_argument
@click.option(
    "-o", "--output", "out", required=True, metavar="OUT", help="The trace to write; compressed if it ends in .gz."
)
@click.option("--events", multiple=True, metavar="SELECTOR", help="Only these events; repeatable.")
@click.option("--provider", metavar="NAME", help="Only events of this provider.")
@click.option(
    "--thread", "threads", type=int, multiple=True, metavar="NUMBER", help="Only events about this thread; repeatable."
)
@process_option
@click.option("--start", metavar="WHEN", help="Start time: 1.5s, 200ms, 50%, or a date with a time zone.")
@click.option("--end", metavar="WHEN", help="End time, exclusive.")
@click.option("--rundown/--no-rundown", default=True, help="Include the events that name code and modules.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    out: str,
    events: tuple[str, ...],
    provider: str | None,
    threads: tuple[int, ...],
    process: str | None,
    start: str | None,
    end: str | None,
    rundown: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Write a smaller trace with the selected events and what is needed to interpret them.

    \b
    Two seconds of a large trace, to send to someone:
        clrevents cut big.nettrace -o repro.nettrace --start 10s --end 12s
    Only the garbage collections of one thread:
        clrevents cut big.nettrace -o gc.nettrace --events 'GC*' --thread 4711
    """
    refuse_overwriting(out, file)
    with Reading(file, errors, fail_on=fail_on) as reading:
        try:
            for what, moment in (("start", start), ("end", end)):
                if moment is not None:
                    passes_of(reading.trace).moment_ns(moment, what)
        except (TypeError, ValueError) as error:
            raise click.UsageError(safe(str(error))) from None
        done = cut(
            reading.trace,
            out,
            *events,
            provider=provider,
            thread_id=threads or None,
            process_id=reading.process_id(process),
            start=start,
            end=end,
            rundown=rundown,
        )
        lost = f", with {counted(done.lost, 'lost one')}" if done.lost else ""
        say(f"{out}: {counted(done.events, 'event')}{lost}, {counted(done.bytes, 'byte')}")
        if done.undescribed:
            left_out = counted(done.undescribed, "event was", "events were")
            say(f"{left_out} left out, because the trace does not describe {'it' if done.undescribed == 1 else 'them'}")
        return reading.finish(fail_on)

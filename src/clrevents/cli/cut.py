"""`clrevents cut`: a smaller trace with the selected events. Parses options; `rewrite` does the work."""

from __future__ import annotations

from typing import Any

import click

from clrevents._util.words import counted
from clrevents.cli import options
from clrevents.cli.output import say
from clrevents.cli.reading import Reading, refuse_overwriting, usage_errors
from clrevents.rewrite import cut
from clrevents.trace import passes_of


@click.command(name="cut")
@options.file
@options.trace_output()
@click.option("--events", multiple=True, metavar="SELECTOR", help="Only these events; repeatable.")
@options.filters
@click.option("--rundown/--no-rundown", default=True, help="Include the events that name code and modules.")
@options.reading()
def command(file: str, out: str, events: tuple[str, ...], rundown: bool, **given: Any) -> int:
    """Write a smaller trace with the selected events and what is needed to interpret them.

    \b
    Two seconds of a large trace, to send to someone:
        clrevents cut big.nettrace -o repro.nettrace --start 10s --end 12s
    Only the garbage collections of one thread:
        clrevents cut big.nettrace -o gc.nettrace --events 'GC*' --thread 4711
    """
    refuse_overwriting(out, file)
    with Reading(file, **options.how_to_read(given)) as reading:
        with usage_errors(TypeError, ValueError):
            for what in ("start", "end"):
                if given[what] is not None:
                    passes_of(reading.trace).moment_ns(given[what], what)
        done = cut(reading.trace, out, *events, rundown=rundown, **reading.filters(given))
        lost = f", with {counted(done.lost, 'lost one')}" if done.lost else ""
        say(f"{out}: {counted(done.events, 'event')}{lost}, {counted(done.bytes, 'byte')}")
        if done.undescribed:
            left_out = counted(done.undescribed, "event was", "events were")
            say(f"{left_out} left out, because the trace does not describe {'it' if done.undescribed == 1 else 'them'}")
        return reading.finish()

"""`clrevents cut`: a smaller trace with the selected events. Parses options; `rewrite` does the work."""

from __future__ import annotations

from typing import Any

import click

from clrevents._util.words import counted
from clrevents.cli.output import say
from clrevents.cli.reading import (
    Reading,
    file_argument,
    filter_options,
    how_to_read,
    reading_options,
    refuse_overwriting,
    trace_output_option,
    usage_errors,
)
from clrevents.rewrite import cut
from clrevents.trace import passes_of


@click.command(name="cut")
@file_argument
@trace_output_option()
@click.option("--events", multiple=True, metavar="SELECTOR", help="Only these events; repeatable.")
@filter_options
@click.option("--rundown/--no-rundown", default=True, help="Include the events that name code and modules.")
@reading_options()
def command(file: str, out: str, events: tuple[str, ...], rundown: bool, **options: Any) -> int:
    """Write a smaller trace with the selected events and what is needed to interpret them.

    \b
    Two seconds of a large trace, to send to someone:
        clrevents cut big.nettrace -o repro.nettrace --start 10s --end 12s
    Only the garbage collections of one thread:
        clrevents cut big.nettrace -o gc.nettrace --events 'GC*' --thread 4711
    """
    refuse_overwriting(out, file)
    with Reading(file, **how_to_read(options)) as reading:
        with usage_errors(TypeError, ValueError):
            for what in ("start", "end"):
                if options[what] is not None:
                    passes_of(reading.trace).moment_ns(options[what], what)
        done = cut(reading.trace, out, *events, rundown=rundown, **reading.filters(options))
        lost = f", with {counted(done.lost, 'lost one')}" if done.lost else ""
        say(f"{out}: {counted(done.events, 'event')}{lost}, {counted(done.bytes, 'byte')}")
        if done.undescribed:
            left_out = counted(done.undescribed, "event was", "events were")
            say(f"{left_out} left out, because the trace does not describe {'it' if done.undescribed == 1 else 'them'}")
        return reading.finish()

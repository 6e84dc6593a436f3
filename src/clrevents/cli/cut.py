"""`clrevents cut`: a smaller trace with the events asked for. Parses options; `rewrite` does it."""

from __future__ import annotations

import click

from clrevents.cli.output import safe, say
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, file_argument
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.rewrite import cut
from clrevents.trace import passes_of
from clrevents.words import counted


@click.command(name="cut")
@file_argument
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The trace to write.")
@click.option("--events", multiple=True, metavar="SELECTOR", help="Only these events; may be given several times.")
@click.option("--provider", metavar="NAME", help="Only events of this provider.")
@click.option("--thread", "threads", type=int, multiple=True, metavar="NUMBER", help="Only events about these threads.")
@click.option("--start", metavar="WHEN", help="From this moment: 1.5s, 200ms, 50%, or a date with its zone.")
@click.option("--end", metavar="WHEN", help="Up to this moment, which is not included.")
@click.option("--rundown/--no-rundown", default=True, help="Also what names code and modules, wherever it stands.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    out: str,
    events: tuple[str, ...],
    provider: str | None,
    threads: tuple[int, ...],
    start: str | None,
    end: str | None,
    rundown: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Write a smaller trace: the events asked for, and what is needed to make sense of them.

    \b
    Two seconds of a large trace, to send to someone:
        clrevents cut big.nettrace -o repro.nettrace --start 10s --end 12s
    Only the garbage collections of one thread:
        clrevents cut big.nettrace -o gc.nettrace --events 'GC*' --thread 4711
    """
    with Reading(file, errors) as reading:
        try:
            for what, moment in (("start", start), ("end", end)):
                if moment is not None:
                    passes_of(reading.trace).moment_ns(moment, what)
        except (TypeError, ValueError) as error:
            raise click.UsageError(safe(str(error))) from None
        try:
            done = cut(
                reading.trace,
                out,
                *events,
                provider=provider,
                thread_id=threads or None,
                start=start,
                end=end,
                rundown=rundown,
            )
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        lost = f", with {counted(done.lost, 'lost one')}" if done.lost else ""
        say(f"{out}: {counted(done.events, 'event')}{lost}, {counted(done.bytes, 'byte')}")
        if done.undescribed:
            left_out = counted(done.undescribed, "event was", "events were")
            say(f"{left_out} left out, because the trace does not describe {'it' if done.undescribed == 1 else 'them'}")
        return reading.finish(fail_on)

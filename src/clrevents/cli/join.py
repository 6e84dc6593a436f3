"""`clrevents join`: two recordings of one run as one trace. Parses options; `rewrite` does the work."""

from __future__ import annotations

from typing import Any

import click

from clrevents._util.words import counted, duration_text
from clrevents.cli import options
from clrevents.cli.output import safe, say
from clrevents.cli.reading import Reading, refuse_overwriting
from clrevents.rewrite import join


@click.command(name="join")
@options.file
@click.argument("other", metavar="OTHER")
@options.trace_output()
@options.reading()
def command(file: str, other: str, out: str, **given: Any) -> int:
    """Write FILE, of the Linux recorder, and OTHER, EventPipe's recording of the same run, as one trace.

    \b
    Whatever reads traces reads both then, on one clock:
        clrevents join app.linux.nettrace app.nettrace -o both.nettrace
        clrevents waits both.nettrace
        clrevents report both.nettrace -o report.html

    For one question, most commands take OTHER as --with OTHER.
    """
    refuse_overwriting(out, file, other)
    reading = options.how_to_read(given)
    with Reading(file, **reading) as own, Reading(other, **reading) as theirs:
        try:
            done = join(own.trace, theirs.trace, out)
        except ValueError as error:
            raise click.UsageError(safe(f"{theirs.name}: {error}")) from None
        run = done.same_run
        say(f"{out}: {counted(done.events, 'event')}, {counted(done.bytes, 'byte')}")
        how = f"by {counted(run.compared, 'event')}" if run.compared else "by when both began"
        say(f"process {run.process_id}: clocks aligned {how}, within {duration_text(run.uncertainty_ns)}")
        return max(own.finish(), theirs.finish())

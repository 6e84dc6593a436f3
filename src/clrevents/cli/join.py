"""`clrevents join`: two recordings of one run as one trace. Parses options; `rewrite` does the work."""

from __future__ import annotations

import click

from clrevents._util.words import counted, duration_text
from clrevents.cli.output import safe, say
from clrevents.cli.reading import (
    FailOn,
    Reading,
    errors_option,
    fail_on_option,
    file_argument,
    refuse_overwriting,
    refuse_same_input,
)
from clrevents.errors import ErrorMode
from clrevents.rewrite import join


@click.command(name="join")
@file_argument
@click.argument("other", metavar="OTHER")
@click.option(
    "-o", "--output", "out", required=True, metavar="OUT", help="The trace to write; compressed if it ends in .gz."
)
@errors_option
@fail_on_option("damage")
def command(file: str, other: str, out: str, errors: ErrorMode, fail_on: FailOn) -> int:
    """Write FILE, of the Linux recorder, and OTHER, EventPipe's recording of the same run, as one trace.

    \b
    Whatever reads traces reads both then, on one clock:
        clrevents join app.linux.nettrace app.nettrace -o both.nettrace
        clrevents waits both.nettrace
        clrevents report both.nettrace -o report.html

    For one question, most commands take OTHER as --with OTHER.
    """
    refuse_same_input(file, other)
    refuse_overwriting(out, file)
    refuse_overwriting(out, other)
    with Reading(file, errors, fail_on=fail_on) as mine, Reading(other, errors, fail_on=fail_on) as theirs:
        try:
            done = join(mine.trace, theirs.trace, out)
        except ValueError as error:
            raise click.UsageError(safe(f"{theirs.name}: {error}")) from None
        run = done.same_run
        say(f"{out}: {counted(done.events, 'event')}, {counted(done.bytes, 'byte')}")
        how = f"by {counted(run.compared, 'event')}" if run.compared else "by when both began"
        say(f"process {run.process_id}: clocks aligned {how}, within {duration_text(run.uncertainty_ns)}")
        return max(mine.finish(fail_on), theirs.finish(fail_on))

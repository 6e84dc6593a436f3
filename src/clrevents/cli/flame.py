"""`clrevents flame`: a flame graph, or a file for a viewer of them. Parses options; `analysis` and `export` do it."""

from __future__ import annotations

import os
import sys
from typing import Final

import click

import clrevents
from clrevents.cli.output import say
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, file_argument
from clrevents.cli.sampling import in_all, samples_of, sampling_options, say_what_is_missing
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.export.flame import FLAME_FORMATS, FlameFormat, Look, flame_bytes, flame_format
from clrevents.outputs import whole_file

_OPENS: Final[dict[str, str]] = {
    "speedscope": "; open it at https://www.speedscope.app",
    "chrome": "; open it at https://ui.perfetto.dev",
    "html": "; open it in a browser",
    "pprof": "; open it with `go tool pprof`",
}


@click.command(name="flame")
@file_argument
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The file to write; - is standard output.")
@click.option(
    "-f", "--format", "format", type=click.Choice(FLAME_FORMATS), help="What OUT is. [default: what its name says]"
)
@click.option("--merge-threads", is_flag=True, help="All threads as one.")
@sampling_options
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    out: str,
    format: FlameFormat | None,
    merge_threads: bool,
    event: str | None,
    weight: str | None,
    threads: tuple[int, ...],
    start: str | None,
    end: str | None,
    raw: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Write a flame graph: where the time is, or what allocates, throws, waits.

    Without -f the name of OUT says what it is: .html (a page of its own), .json (speedscope), .folded, .pb.gz (pprof),
    .trace.json (Chrome, Perfetto); .gz behind it packs it.

    \b
    Where one thread was in two seconds, as a page:
        clrevents flame app.nettrace --thread 4711 --start 10s --end 12s -o t4711.html
    What allocates, in bytes:
        clrevents flame app.nettrace --event GCAllocationTick --weight AllocationAmount64 -o alloc.json.gz

    The sample profiler notes where each managed thread is, whether it runs or waits: widths are time on the clock.
    """
    format = format or flame_format(out)
    if format is None:
        raise click.UsageError(f"the name {out} does not say what it is: give -f {'|'.join(FLAME_FORMATS)}")
    if merge_threads and format == "chrome":
        raise click.UsageError("a chrome file shows threads over time, so they cannot be merged")
    if os.path.exists(out) and os.path.exists(file) and os.path.samefile(out, file):
        raise click.UsageError("OUT is the trace itself")
    with Reading(file, errors) as reading:
        try:
            samples = samples_of(reading, event, weight, threads, start, end)
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        title = os.path.basename(reading.name)
        look = Look(title, f"clrevents {clrevents.__version__}", merge_threads, raw, reading.trace.info.start)
        data = flame_bytes(samples, format, look, pack=out.lower().endswith(".gz"))
        code = reading.finish(fail_on)
        if out == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            with whole_file(out) as target:
                target.write(data)
            say(f"{out}: {in_all(samples)}{_OPENS.get(format, '')}")
        say_what_is_missing(samples)
        return code

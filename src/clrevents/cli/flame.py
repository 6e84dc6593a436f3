"""`clrevents flame`: a flame graph, or a file for a viewer. Parses options; `analysis` and `export` do the work."""

from __future__ import annotations

import os
from typing import Any, Final

import click

import clrevents
from clrevents.analysis.shared.weights.event_weights import CPU_TIME, OFF_CPU
from clrevents.cli.output import safe, write_file
from clrevents.cli.reading import (
    FailOn,
    Reading,
    errors_option,
    fail_on_option,
    file_argument,
    refuse_overwriting,
    refuse_same_input,
    symbols_option,
    with_option,
)
from clrevents.cli.sampling import Chosen, in_all, samples_of, sampling_options, say_how_sure, say_what_is_missing
from clrevents.errors import AmbiguousEventError, ErrorMode, UnknownEventError
from clrevents.export.file_formats import file_format, near_suffix
from clrevents.export.flame.flame_formats import FLAME_FORMATS, compared_bytes, flame_bytes
from clrevents.export.look import Look

_OPENS: Final[dict[str, str]] = {
    "speedscope": "; open it at https://www.speedscope.app",
    "html": "; open it in a browser",
    "pprof": "; open it with `go tool pprof`",
}


@click.command(name="flame")
@file_argument
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The file to write; - for standard output.")
@click.option(
    "-f", "--format", "format", type=click.Choice(FLAME_FORMATS), help="Format of OUT. [default: by its suffix]"
)
@click.option("--merge-threads", is_flag=True, help="Merge all threads.")
@click.option("--cpu", is_flag=True, help="Draw processor time, where the operating system's counts were recorded.")
@click.option("--off-cpu", is_flag=True, help="Draw what threads were off a processor for; Linux recordings only.")
@click.option("--logical", is_flag=True, help="Follow tasks and awaits to where they were created.")
@with_option
@symbols_option
@click.option("--against", metavar="BEFORE", help="Another trace: show what changed since; html only.")
@sampling_options
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    out: str,
    format: Any,
    merge_threads: bool,
    cpu: bool,
    off_cpu: bool,
    beside: str | None,
    symbols: tuple[str, ...],
    against: str | None,
    event: str | None,
    weight: str | None,
    threads: tuple[int, ...],
    start: str | None,
    end: str | None,
    raw: bool,
    errors: ErrorMode,
    fail_on: FailOn,
    **options: Any,
) -> int:
    """Write a flame graph of where time is spent, or of what allocates, throws or waits.

    Without -f, the suffix of OUT selects the format: .html (self-contained page), .json (speedscope), .folded,
    .pb.gz (pprof). Append .gz to compress the output.

    \b
    One thread during two seconds, as a page:
        clrevents flame app.nettrace --thread 4711 --start 10s --end 12s -o t4711.html
    Allocations, in bytes:
        clrevents flame app.nettrace --by alloc -o alloc.json.gz
    What waits cost, in the recording of a Linux machine:
        clrevents flame app.linux.nettrace --off-cpu -o waits.html
    Across awaits, down to what started each task:
        clrevents flame app.nettrace --logical --merge-threads -o async.html
    What takes more and what takes less than in another trace:
        clrevents flame after.nettrace --against before.nettrace -o changed.html

    A PATTERN is a method's name, such as Shop.Cart.Pay, its end, Pay, or has * for any text and ? for one character.

    The sample profiler records each managed thread, running or waiting: widths are wall-clock time. --running and
    --waiting select one of these.
    """
    format = format or file_format(out, "flame")
    if format is None:
        near = near_suffix(out, "flame")
        meant = f"; did you mean {near!r}? Else" if near else ";"
        raise click.UsageError(f"cannot tell the format of {out} by its suffix{meant} use -f {'|'.join(FLAME_FORMATS)}")
    refuse_overwriting(out, file)
    own = [("--cpu", CPU_TIME)] * cpu + [("--off-cpu", OFF_CPU)] * off_cpu
    if own and (event or weight or own[1:]):
        raise click.UsageError(f"{own[-1][0]} is a weight of its own; use it without --cpu, --by and --event")
    weight = own[0][1] if own else weight
    chosen = Chosen(**options)
    before, before_name, worst = None, "", 0
    if against is not None:
        if format != "html":
            raise click.UsageError(f"two traces are compared on a page only; use -f html, not {format}")
        if threads:
            raise click.UsageError("numbers of threads mean nothing in another trace; use --against without --thread")
        refuse_same_input(file, against)
        refuse_overwriting(out, against)
        with Reading(against, errors, symbols=symbols, fail_on=fail_on) as other:
            before_name = os.path.basename(other.name)
            try:
                before = samples_of(other, event, weight, threads, start, end, chosen)
            except (click.UsageError, UnknownEventError, AmbiguousEventError) as error:
                raise click.UsageError(safe(f"{before_name}: {error}")) from None
            worst = other.finish(fail_on)
    with Reading(file, errors, beside=beside, symbols=symbols, fail_on=fail_on) as reading:
        samples = samples_of(reading, event, weight, threads, start, end, chosen)
        title = os.path.basename(reading.name)
        look = Look(title, f"clrevents {clrevents.__version__}", merge_threads, raw, reading.trace.info.start)
        pack = out.lower().endswith(".gz")
        if before is None:
            data = flame_bytes(samples, format, look, pack)
        else:
            look = look._replace(title=f"{title} compared with {before_name}")
            try:
                data = compared_bytes(samples, before, before_name, look, pack)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
        code = max(worst, reading.finish(fail_on))
        write_file(out, data, f"{in_all(samples)}{_OPENS.get(format, '')}", [file, beside, against])
        say_how_sure(samples, weight)
        say_what_is_missing(samples)
        return code

"""`clrevents sample`: the trace that comes with the package, as a file of its own."""

from __future__ import annotations

import gzip

import click

import clrevents
from clrevents._util.outputs import whole_file
from clrevents.cli.output import say


@click.command(name="sample")
@click.option(
    "-o", "--output", "out", default="sample.nettrace", show_default=True, metavar="OUT", help="The file to write."
)
def command(out: str) -> int:
    """Write a small sample trace, to try the other commands on.

    A .NET 10 program of 1.4 seconds in which four threads wait for one lock.

    \b
    Write it, and see who held the lock:
        clrevents sample -o sample.nettrace
        clrevents locks sample.nettrace
    """
    with gzip.open(clrevents.sample_trace(), "rb") as packed, whole_file(out) as file:
        file.write(packed.read())
    say(f"wrote {out}; try: clrevents info {out}")
    return 0

"""`clrevents report`: all reports on a trace, as one page. `export` makes the page."""

from __future__ import annotations

import os
from typing import Any

import click

from clrevents._util.process import usable_processors
from clrevents._util.words import counted
from clrevents.cli import options
from clrevents.cli.output import say, write_file
from clrevents.cli.reading import Reading, refuse_overwriting
from clrevents.export.page.page_drawings import charts_possible
from clrevents.export.page.page_sections import NO_CHARTS
from clrevents.export.page.report_page import PageAgainst, report_page


@click.command(name="report")
@options.file
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The page to write; - for standard output.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use N processes: with several, one draws the charts. [default: all cores]",
)
@options.process
@options.against("Another trace: flame graphs show what changed since.")
@options.reading(options.beside, options.symbols)
def command(
    file: str,
    out: str,
    jobs: int | None,
    process: str | None,
    against: str | None,
    **given: Any,
) -> int:
    """Write all reports, flame graphs and a timeline as one HTML page that needs no network.

    \b
    A page to look at, or to send to someone without any tools:
        clrevents report app.nettrace -o report.html
    With flame graphs that show what increased and decreased compared with another trace:
        clrevents report after.nettrace --against before.nettrace -o report.html

    The page says what the trace is and whether it can be trusted, answers every question that the trace has data for,
    with tables to sort and search, and says what to record for the others. It contains names of methods, and texts that
    the program wrote, such as paths and exception messages: `clrevents redact` makes a trace without them.
    """
    refuse_overwriting(out, file, against)
    how = options.how_to_read(given)
    before, worst = None, 0
    if against is not None:
        with Reading(against, **{**how, "beside": None, "fail_on": None}) as other:
            before = PageAgainst.of(other.trace)
            worst = other.finish(how["fail_on"])
    with Reading(file, **{**how, "fail_on": None}) as reading:
        page = report_page(reading.trace, before, reading.process_id(process), jobs or usable_processors())
        code = max(worst, reading.finish(how["fail_on"]))
        write_file(
            os.fspath(out), page, f"{counted(len(page), 'byte')}; open it in a browser", [file, how["beside"], against]
        )
        if not charts_possible():
            say(f"the page has no charts: {NO_CHARTS}")
        return code

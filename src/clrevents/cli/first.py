"""`clrevents FILE`: what a trace is, as `info` shows it, and what to ask next. For who knows no command yet."""

from __future__ import annotations

import shlex

import click

from clrevents.cli.info import command as info
from clrevents.cli.output import Output


@click.command(name="FILE")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...]) -> int:
    """Show what a trace is, and what to ask next."""
    code: int = ctx.invoke(info, files=files)
    named = " ".join(map(shlex.quote, files))
    with Output() as out:
        out.line()
        out.facts(
            [
                ("what is wrong?", f"clrevents doctor {named}"),
                ("everything on a page", f"clrevents report {shlex.quote(files[0])} -o page.html"),
                ("one report", f"clrevents top {named}"),
            ]
        )
    return code

"""`clrevents mcp`: answers for agents over the Model Context Protocol. Starts the server; answers nothing itself."""

from __future__ import annotations

import click

from clrevents.cli.output import say


@click.command(name="mcp")
@click.option(
    "--root",
    "roots",
    multiple=True,
    required=True,
    metavar="DIR",
    help="A folder with traces; only files below it can be asked about. Repeatable.",
)
def command(roots: tuple[str, ...]) -> int:
    """Answer agents about the traces in folders, over standard input and output (Model Context Protocol).

    \b
    What an agent's configuration starts, with the extra installed (pip install 'clrevents[mcp]'):
        clrevents mcp --root traces/

    An agent asks for an overview, what is wrong, reports with their rows page by page, frames, events, comparisons,
    SQL, and how to record what is missing. Answers are those of the other commands: small, with their coverage, and
    what they leave out. Nothing is written, and nothing outside the folders is read.
    """
    from clrevents.mcp.desk import Desk
    from clrevents.mcp.server import made_server
    from clrevents.mcp.shelf import Roots

    try:
        server = made_server(Desk(Roots.of(roots)))
    except (NotADirectoryError, ImportError) as error:
        raise click.UsageError(str(error)) from None
    say(f"answering about {', '.join(roots)}; Ctrl-C ends")
    server.run("stdio")
    return 0

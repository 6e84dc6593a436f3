"""docs/commands.md: the sub-commands of `clrevents` with their options, from the declarations that click has.

Reports have the same options but for a few, so these stand there once, and what is a report's own is in its help.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from clrevents.analysis.framework.run.listing import report_names
from clrevents.cli import root

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
_AS_IS: Final = "\b"
HEAD: Final = """\
# Commands

<!-- Made by tools/make.py of the commands: change those instead. -->

`clrevents COMMAND FILE` reads a trace: a path, a `.gz` as it is, or `-` for standard input. `clrevents COMMAND --help`
prints what stands here. [Exit codes](errors.md#exit-codes-of-the-command) are the same for all of them.

| command | |
|---|---|
"""
REPORTS: Final = """\
## Reports

`clrevents REPORT FILE...`

Each report is a command, named like the page that explains it. `clrevents --help` lists them with a line each,
`clrevents info FILE` says which of them a trace can answer, and `clrevents REPORT --help` has a report's own options.
`clrevents schema REPORT` lists its metrics, tables and columns. All of them take these:

| option | |
|---|---|
"""


def files() -> dict[Path, str]:
    """The page with its text."""
    return {PAGE: render()}


def render() -> str:
    """The page's text."""
    reports = report_names()
    others = {name: made for name, made in known().items() if name not in reports}
    rows = [f"| [`{name}`](#{name}) | {_cell(made.get_short_help_str(200))} |" for name, made in others.items()]
    rows.append("| [a report](#reports) | Answer one question, about a trace or many. |")
    parts = [HEAD + "\n".join(rows), *("\n".join(_command(name, made)) for name, made in others.items())]
    parts.append(REPORTS + "\n".join(_common([known()[name] for name in reports])))
    return "\n\n".join(parts) + "\n"


def known() -> dict[str, click.Command]:
    """All sub-commands by name."""
    context = click.Context(root, info_name="clrevents")
    found = {name: root.get_command(context, name) for name in root.list_commands(context)}
    return {name: made for name, made in found.items() if made is not None}


def _command(name: str, made: click.Command) -> Iterator[str]:
    context = click.Context(made, info_name=name)
    yield f"## {name}"
    yield ""
    yield f"`clrevents {name} {' '.join(made.collect_usage_pieces(context))}`"
    yield ""
    for paragraph in inspect.cleandoc(made.help or "").split("\n\n"):
        yield from _paragraph(paragraph)
    options = [option for option in made.get_params(context) if _said(option)]
    yield "| option | |"
    yield "|---|---|"
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield f"| `{_cell(record[0])}` | {_cell(record[1])} |"


def _common(commands: list[click.Command]) -> Iterator[str]:
    """The options that all of these have, without what is said of each in its own way."""
    for option in filter(_said, commands[0].params):
        same = [other for made in commands for other in made.params if other.opts == option.opts]
        if len(same) == len(commands):
            shown = [made.get_help_record(click.Context(commands[0])) or ("", "") for made in same]
            flag, text = shown[0]
            if len({flag for flag, _ in shown}) > 1:
                flag = f"{', '.join(option.opts)} NAME"
            if len({text for _, text in shown}) > 1:
                text = text.partition(" [default")[0]
            yield f"| `{_cell(flag)}` | {_cell(text)} |"


def _said(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.hidden and "--help" not in parameter.opts


def _paragraph(text: str) -> Iterator[str]:
    # What click is told not to wrap is laid out in lines.
    if _AS_IS in text:
        yield from ("```console", *text.replace(_AS_IS, "").strip().splitlines(), "```")
    elif text.strip():
        yield " ".join(text.split())
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

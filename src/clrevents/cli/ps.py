"""`clrevents ps`: the running .NET processes, and which of them can be recorded."""

from __future__ import annotations

import click

from clrevents.cli import options
from clrevents.cli.output import Output, say
from clrevents.diagnostics.discovery import processes
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import run
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.runtime_requests import RuntimeInfo, info

_PATIENCE = 2.0
_OLD = "3.x"
_SHOWN = ("pid", "name", "version", "user", "note", "command_line")
"""For people, but for columns of dashes."""


@click.command(name="ps")
@options.json("Print one JSON object.")
def command(as_json: bool) -> int:
    """List the running .NET processes: their ids, names, versions and command lines.

    \b
    Which processes are running?
        clrevents ps
    Record one of them:
        clrevents collect -p PID

    Other users' processes are listed with their user; only that user and root can record them. Processes in containers
    are listed for root, with their ids outside the container. Processes started with DOTNET_EnableDiagnostics=0 are not
    listed.
    """
    listed = [_asked(process) for process in processes()]
    with Output() as out:
        if as_json:
            out.json({"schema": "clrevents.ps/1", "processes": [row for row, _ in listed]})
        elif listed:
            texts = [
                [str(row[name] or "-") for name in _SHOWN]
                for row in ({**row, "name": row["name"] or "?", "note": note} for row, note in listed)
            ]
            told = [place for place in range(len(_SHOWN)) if any(row[place] != "-" for row in texts)]
            head = [_SHOWN[place].replace("_", " ") for place in told]
            out.table(head, [[row[place] for place in told] for row in texts], {"pid"})
        else:
            say("no .NET process found; `clrevents ps --help` says which processes cannot be listed")
    return 0


def _asked(process: Process) -> tuple[dict[str, object], str]:
    """What is known of it, and any remark."""
    about: RuntimeInfo | None = None
    version, note = "", "in another namespace" if process.elsewhere else ""
    try:
        if process.closed:
            note = "another user's"
        else:
            about = run(info(process.endpoint), "process information", _PATIENCE)
            version = about.runtime_version or "5.0"
    except DiagnosticsError as error:
        version, note = _OLD if error.hresult else "", note or ("" if error.hresult else "does not answer")
    command_line = " ".join(process.command_line) or (about.command_line if about else None) or ""
    row: dict[str, object] = {
        "pid": process.pid,
        "name": process.name or (about.entry_assembly if about else None),
        "version": version or None,
        "user": process.user,
        "elsewhere": process.elsewhere,
        "closed": process.closed,
        "address": str(process.endpoint),
        "command_line": command_line,
        "architecture": about.architecture if about else None,
    }
    return row, note

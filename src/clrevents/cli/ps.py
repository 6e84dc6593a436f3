"""`clrevents ps`: the running .NET processes, and which of them can be recorded."""

from __future__ import annotations

import click

from clrevents.cli.output import Output, say
from clrevents.diagnostics.discovery import processes
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import run
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.runtime_requests import RuntimeInfo, info

_PATIENCE = 2.0
_OLD = "3.x"


@click.command(name="ps")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
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
    listed = [(process, *_asked(process)) for process in processes()]
    with Output() as out:
        if as_json:
            rows = [_row(*one) for one in listed]
            out.json({"schema": "clrevents.ps/1", "processes": rows})
        elif listed:
            head = ["pid", "name", "version", "user", "note", "command line"]
            out.filled(head, [_texts(*one) for one in listed], {"pid"})
        else:
            say("no .NET process found; `clrevents ps --help` says which processes cannot be listed")
    return 0


def _asked(process: Process) -> tuple[RuntimeInfo | None, str, str]:
    """Its own description, its version, and any remark."""
    if process.closed:
        return None, "", "another user's"
    where = "in another namespace" if process.elsewhere else ""
    try:
        answer = run(info(process.endpoint), "process information", _PATIENCE)
    except DiagnosticsError as error:
        return None, _OLD if error.hresult else "", where or ("" if error.hresult else "does not answer")
    return answer, answer.runtime_version or "5.0", where


def _line(process: Process, about: RuntimeInfo | None) -> str:
    return " ".join(process.command_line) or (about.command_line if about else None) or ""


def _texts(process: Process, about: RuntimeInfo | None, version: str, note: str) -> list[str]:
    name = process.name or (about.entry_assembly if about else None) or "?"
    return [str(process.pid), name, version or "-", process.user or "-", note or "-", _line(process, about)]


def _row(process: Process, about: RuntimeInfo | None, version: str, note: str) -> dict[str, object]:
    return {
        "pid": process.pid,
        "name": process.name or (about.entry_assembly if about else None),
        "version": version or None,
        "user": process.user,
        "elsewhere": process.elsewhere,
        "closed": process.closed,
        "address": str(process.endpoint),
        "command_line": _line(process, about),
        "architecture": about.architecture if about else None,
    }

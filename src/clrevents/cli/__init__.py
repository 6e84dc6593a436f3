"""The command `clrevents`: finds the subcommands and turns their exceptions into a one-line error and an exit code.

A subcommand is a module of this room with a `command`, imported on use. Reads no trace itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from typing import Any, Final

import click

from clrevents._util.process import lean_numpy
from clrevents._util.version import __version__
from clrevents._util.words import unknown
from clrevents.analysis.framework.run.listing import report_names, report_summaries
from clrevents.cli.output import GOOD, INTERRUPTED, UNREADABLE, USAGE, exit_code_of, say
from clrevents.errors import TraceError

# Listed here, so that listing the commands imports none of them.
_GROUPS: Final[dict[str, dict[str, str]]] = {
    "Start here": {
        "info": "Show what a trace contains and what is missing from it.",
        "doctor": "Say what is wrong with a program, and what it costs.",
        "report": "Write all reports, flame graphs and a timeline as one page.",
        "sample": "Write a small trace to try the other commands on.",
    },
    "Running processes": {
        "ps": "List the running .NET processes.",
        "collect": "Record a running process, or a program that is started.",
        "tail": "Print the events of a running process as they come.",
    },
    "Reports, of a trace or of a running process (-p)": {},
    "Events": {
        "events": "Print all or selected events, as text or JSON.",
        "schema": "List the known events, or describe one, or a report.",
        "spans": "Measure the time from one event to another.",
        "query": "Query a trace in SQL, with a table per event.",
        "flame": "Write a flame graph as HTML or for a viewer.",
        "export": "Export events to Parquet, Arrow, CSV or JSON lines.",
    },
    "Traces": {
        "compare": "Say what changed between recordings, and how sure that is.",
        "check": "Decode everything and report whether the trace is intact.",
        "cut": "Write a smaller trace with only some of the events.",
        "join": "Write two recordings of one run as one trace.",
        "redact": "Write the same trace without sensitive strings.",
        "mcp": "Answer agents about the traces in folders.",
    },
}
"""The empty one is that of the reports, whose lines take an import of each."""
_COMMANDS: Final = frozenset(name for group in _GROUPS.values() for name in group)


class _Root(click.Group):
    holds_collector = False
    """Whether the collector waits for the command's modules, of which nothing is garbage."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for group in _GROUPS.values() for name in group or report_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # Only the list of all commands needs a line on each report, which takes an import of each.
        command: click.Command
        if cmd_name in _COMMANDS:
            command = importlib.import_module(f"clrevents.cli.{cmd_name}").command
        elif cmd_name in report_names():
            command = importlib.import_module("clrevents.cli.report_command").report_command(cmd_name)
        else:
            return None
        if self.holds_collector:
            # It never looks at what was imported: that alone would be a twentieth of a short command's time.
            self.holds_collector = False
            gc.freeze()
            gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            if os.path.exists(name) or "." in name or os.sep in name:
                return "FILE", importlib.import_module("clrevents.cli.info").first, args
            ctx.fail(f"{unknown('command', name, self.list_commands(ctx))} (clrevents --help lists all)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = {title: group or report_summaries() for title, group in _GROUPS.items()}
        width = max(len(name) for group in groups.values() for name in group)
        for title, group in groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in group.items()])

    def main(self, *args: object, standalone_mode: bool = True, **extra: object) -> Any:
        code = self._exit_code(*args, **extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: click.Context) -> Any:
        # Inside click's own handling of a closed pipe, which would exit with 1.
        try:
            code = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            return GOOD
        return code

    def _exit_code(self, *args: object, **extra: object) -> int:
        try:
            return click.Group.main(self, *args, standalone_mode=False, **extra) or GOOD  # type: ignore[call-overload]
        except click.Abort:
            return INTERRUPTED
        except click.ClickException as error:
            error.show()
            return USAGE
        except TraceError as error:
            say(str(error))
            return exit_code_of(error)
        except OSError as error:
            where = f" {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
            say(f"cannot write{where}: {error.strerror or error}")
            return UNREADABLE
        except Exception as error:
            if os.environ.get("CLREVENTS_TRACEBACK"):
                raise
            what = f"{type(error).__name__}: {error}"
            say(f"internal error in clrevents ({what}); set CLREVENTS_TRACEBACK=1 for a traceback")
            return UNREADABLE


def _forget_output() -> None:
    """The reader is gone: whatever is still buffered must not raise again when Python exits."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="clrevents", message="%(prog)s %(version)s", help="Show the version.")
def root() -> None:
    """Read .NET trace files (.nettrace, .netperf, optionally .gz; - for standard input), and record them.

    \b
    What is this file, and what can I ask?
        clrevents app.nettrace
    What is in this trace, and is it intact?
        clrevents info app.nettrace
    Which methods were compiled in the first second?
        clrevents events app.nettrace MethodLoadVerbose --end 1s
    Which fields does an event have?
        clrevents schema MethodLoadVerbose

    Exit status: 0 for success, 1 for a usage error or an unknown event, 2 if the file cannot be read, 3 if it is
    damaged (--fail-on selects what counts), 4 if a condition of --assert does not hold or a
    change is one that `compare --fail-on` names.
    """


def main() -> None:
    """The script `clrevents`."""
    lean_numpy()
    atexit.register(gc.freeze)
    if gc.isenabled():
        gc.disable()
        root.holds_collector = True
    root.main(prog_name="clrevents")

"""The command `clrevents`: finds the sub-commands and turns what they raise into one sentence and an exit code.

A sub-command is a module of this room with a `command`; it loads when it is asked for. Reads no trace itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from typing import Any, Final

import click

from clrevents.analysis.listing import report_names, report_summaries
from clrevents.cli.output import say
from clrevents.errors import DamageError, PayloadError, TraceError

# Said here, so that the list of commands loads none of them.
_COMMANDS: Final = {
    "info": "What a trace is, what it holds, and what is missing from it.",
    "events": "The events of a trace, all or some, as text or JSON.",
    "top": "The methods with the most time, or with the most of anything.",
    "flame": "Flame graphs: a page, or files for the usual viewers.",
    "spans": "How long it was from one event to another, each time and in all.",
    "jit": "What the JIT compiled, for how long, and what it decided.",
    "stubs": "The stubs of P/Invokes and delegates, with their signatures.",
    "modules": "The modules: when they came and went, and what ran of them.",
    "query": "A question in SQL, where every event's name is a table.",
    "export": "Events as tables in files: Parquet, Arrow, CSV, JSON lines.",
    "schema": "Which events are known, or what one of them holds.",
    "check": "Decode everything and say whether a trace can be trusted.",
    "cut": "Write a smaller trace: some events, and what gives them sense.",
    "redact": "Write the same trace without paths, messages, command lines.",
}

_REPORTS_AFTER: Final = "events"

_GOOD, _USAGE, _UNREADABLE, _DAMAGED, _INTERRUPTED = 0, 1, 2, 3, 130


def _commands() -> dict[str, str]:
    """All sub-commands with a line on each: reports stand after `events`."""
    found: dict[str, str] = {}
    for name, text in _COMMANDS.items():
        found[name] = text
        if name == _REPORTS_AFTER:
            found |= report_summaries()
    return found


class _Root(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _commands():
            return None
        if cmd_name in report_names():
            made: click.Command = importlib.import_module("clrevents.cli.report_command").report_command(cmd_name)
            return made
        found: click.Command = importlib.import_module(f"clrevents.cli.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_commands().items()))

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        code = self._exit_code(*args, **extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: click.Context) -> Any:
        # Inside click's own handling of a closed pipe, which would end with 1.
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            return _GOOD
        return code

    def _exit_code(self, *args: Any, **extra: Any) -> int:
        try:
            return click.Group.main(self, *args, standalone_mode=False, **extra) or _GOOD  # type: ignore[call-overload]
        except click.Abort:
            return _INTERRUPTED
        except click.ClickException as error:
            error.show()
            return _USAGE
        except TraceError as error:
            say(str(error))
            return _code(error)
        except OSError as error:
            say(f"cannot write: {error.strerror or error}")
            return _UNREADABLE
        except Exception as error:
            if os.environ.get("CLREVENTS_TRACEBACK"):
                raise
            what = f"{type(error).__name__}: {error}"
            say(f"a fault in clrevents itself ({what}); CLREVENTS_TRACEBACK=1 shows where")
            return _UNREADABLE


def _code(error: TraceError) -> int:
    if isinstance(error, LookupError):
        return _USAGE
    return _DAMAGED if isinstance(error, DamageError | PayloadError) else _UNREADABLE


def _forget_output() -> None:
    """Nobody reads any more: what is still buffered must not raise again when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import clrevents

        click.echo(f"clrevents {clrevents.__version__}")
        ctx.exit()


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def root() -> None:
    """Look into the trace files that .NET writes (.nettrace, .netperf, also .gz; - is standard input).

    \b
    What is in this trace, and can it be trusted?
        clrevents info app.nettrace
    Which methods were compiled in the first second?
        clrevents events app.nettrace MethodLoadVerbose --end 1s
    Which fields does an event have?
        clrevents schema MethodLoadVerbose

    Ends with 0 when all is good, 1 for a mistake in the command or an unknown event, 2 when the file cannot be
    read, 3 when it is damaged (--fail-on chooses what counts).
    """


def main() -> None:
    """The script `clrevents`."""
    # numpy's library for linear algebra would start threads when it is loaded, 50 ms for what no command needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A tenth of a short command's time would go into looking for garbage among what is needed until the end.
    gc.set_threshold(50_000, 20, 50)
    atexit.register(gc.freeze)
    root.main(prog_name="clrevents")

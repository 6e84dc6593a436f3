"""The options and arguments that several commands have, each declared once.

Commands import this module, not its names: `@options.process`. Opens nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import click

from clrevents.errors import ERROR_MODES

F = TypeVar("F", bound=Callable[..., Any])
FailOn = frozenset[str]


class Option(Protocol):
    """What gives a command an option, or several."""

    def __call__(self, command: F, /) -> F: ...


_TRACE: Final = "clrevents.trace"
_WIDE: Final = "clrevents.wide"
PIPED: Final = 120
"""How wide tables are where there is no terminal."""
_LISTING: Final = 1.0
"""How long a process may take to list what it has, in seconds."""
_KINDS: Final = ("damage", "loss", "problem", "end", "none")
_DURATION: Final = r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)"
_UNITS: Final = {"ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_CLOCK: Final = r"(?:(?:(\d+):)?(\d+):)?(\d+):(\d+)"


class _FailOnType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    name = "KINDS"

    def __init__(self, *also: str) -> None:
        self.kinds = (*_KINDS, *also)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> FailOn:
        if isinstance(value, frozenset):
            return value
        kinds = [kind.strip() for kind in str(value).split(",")]
        unknown = [kind for kind in kinds if kind not in self.kinds]
        if unknown:
            self.fail(f"{unknown[0]!r} is not one of {', '.join(self.kinds)}", param, ctx)
        if "none" in kinds and len(set(kinds)) > 1:
            self.fail("'none' cannot be combined with others", param, ctx)
        return frozenset(kinds) - {"none"}


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """Seconds, of `10s`, `1.5m`, `2h`, `10`, or `dd:hh:mm:ss`."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        if match := re.fullmatch(_DURATION, text):
            seconds = float(match[1]) * _UNITS[match[2]]
        elif match := re.fullmatch(_CLOCK, text):
            days, hours, minutes, rest = (int(part or 0) for part in match.groups())
            seconds = float(((days * 24 + hours) * 60 + minutes) * 60 + rest)
        else:
            self.fail(f"{text!r} is not a duration: use 30s, 5m, 1.5h or dd:hh:mm:ss", param, ctx)
        if seconds <= 0:
            self.fail("it must be more than zero", param, ctx)
        return seconds


class _Interval(Duration):
    """The same, or None for `off`."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value in (None, "off") else super().convert(value, param, ctx)


file: Final = click.argument("file", metavar="FILE")
"""The trace: a path, a URL, or - for standard input."""
beside: Final = click.option(
    "--with",
    "beside",
    metavar="FILE",
    help="Join this other recording of the same run: EventPipe's, with the Linux recorder's FILE.",
)
"""Another recording of the same run."""
symbols: Final = click.option(
    "--symbols",
    multiple=True,
    type=click.Path(exists=True),
    metavar="PATH",
    help="Name native code of Linux recordings, and NativeAOT programs, by ELF and debug files of the same build: "
    "a folder or a file; repeatable.",
)
"""Where symbol files are."""
process: Final = click.option("--process", metavar="NAME|NUMBER", help="Only this process.")
form: Final = click.option(
    "--format",
    "form",
    type=click.Choice(("text", "md")),
    default="text",
    show_default=True,
    help="md: Markdown, as a comment on a pull request.",
)
spreadsheet: Final = click.option(
    "--spreadsheet",
    is_flag=True,
    help="In CSV, put an apostrophe before texts that begin with = + - @, so spreadsheets do not run them as formulas.",
)
jobs: Final = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Read N traces in parallel. [default: all cores]"
)
trace: Final = click.option(
    "--trace",
    type=click.IntRange(min=1),
    metavar="N",
    expose_value=False,
    callback=lambda context, _, number: context.meta.update({_TRACE: number}),
    help="The file's trace of this number, where several follow each other.",
)
"""Which of several traces in one file: `given_trace`."""
wide: Final = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, wanted: context.meta.update({_WIDE: wanted}),
    help=f"Show names in full and all columns; else lines end at the terminal's width, or {PIPED} in a pipe.",
)
"""Whether tables have room for everything: `given_wide`."""
threads: Final = click.option(
    "--thread",
    "threads",
    type=click.IntRange(0, 2**64 - 1),
    multiple=True,
    metavar="NUMBER",
    help="Only this thread; repeatable.",
)
processor: Final = click.option(
    "--processor",
    type=_Interval(),
    default="50ms",
    show_default=True,
    metavar="TIME|off",
    help="How often to read the processor time of a process's threads; Linux only.",
)
_errors: Final = click.option(
    "--errors",
    type=click.Choice(ERROR_MODES),
    default="salvage",
    show_default=True,
    help="salvage: continue after damage. report: stop there. strict: also stop at a payload that does not fit.",
)


def together(*each: Option) -> Option:
    """Several as one, in this order."""

    def decorate(command: F) -> F:
        for one in reversed(each):
            command = one(command)
        return command

    return decorate


errors: Final = together(_errors, trace)
"""How damage affects the reading; and which trace it is that is read."""
window: Final = together(
    click.option("--start", metavar="WHEN", help="Start time: 1.5s, 200ms, 50%, or a date with a time zone."),
    click.option("--end", metavar="WHEN", help="End time, exclusive."),
)
filters: Final = together(
    click.option(
        "--provider", metavar="NAME", help="Only this provider: its name, a short name (runtime) or a pattern."
    ),
    threads,
    process,
    window,
)
"""Which events: `Reading.filters` takes them."""


def given_trace() -> int:
    """The number of the trace that the command is about."""
    context = click.get_current_context(silent=True)
    return (context and context.meta.get(_TRACE)) or 1


def given_wide() -> bool:
    """Whether tables have room for everything."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_WIDE))


def fail_on(default: str, also: str | None = None) -> Option:
    """What makes the command exit with 3; `also` is one more kind, which the command itself looks for."""
    return click.option(
        "--fail-on",
        type=_FailOnType(*([also] if also else [])),
        multiple=True,
        default=[default],
        show_default=True,
        callback=lambda _context, _option, kinds: frozenset().union(*kinds),
        help="Exit with 3 on these, comma-separated or repeated: damage (the file is damaged), loss (events were lost "
        "while recording), problem (damage, or a payload that does not fit its layout), end (the end is missing), none."
        + (f" Also: {also} (the trace has no data for the report)." if also else ""),
    )


def json(help: str) -> Option:
    """Whether to write JSON: `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def against(help: str) -> Option:
    """What it is compared with."""
    return click.option("--against", metavar="BASE", help=help)


def running(help: str) -> Option:
    """Which running process: `live_process`."""
    return click.option("-p", "--process-id", "--pid", "live_process", metavar="PID", help=help)


def port(help: str) -> Option:
    """Through which port it is reached."""
    return click.option("--diagnostic-port", "--dport", "port", metavar="PORT[,connect]", help=help)


def duration(help: str) -> Option:
    """For how long."""
    return click.option("--duration", type=Duration(), metavar="TIME", help=help)


def names(*flags: str, metavar: str = "NAMES", help: str) -> Option:
    """An option that may be repeated, and may have commas."""

    def split(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip() for value in values for name in value.split(",") if name.strip())

    return click.option(*flags, multiple=True, callback=split, metavar=metavar, help=help)


def trace_output(required: bool = True) -> Option:
    """The trace that is written: `out`."""
    help = "The trace to write; compressed if it ends in .gz."
    return click.option("-o", "--output", "out", required=required, metavar="OUT", help=help)


def limit(help: str, default: int | None = None, least: int = 0) -> Option:
    """How many."""
    range = click.IntRange(min=least)
    return click.option(
        "-n", "--limit", type=range, default=default, show_default=default is not None, metavar="N", help=help
    )


def reading(*also: Option) -> Option:
    """How FILE is read: `how_to_read` takes these and those."""
    return together(*also, errors, fail_on("damage"))


def how_to_read(given: dict[str, Any]) -> dict[str, Any]:
    """Takes what `reading` gave a command from what it was given, for `Reading`."""
    return {name: given.pop(name) for name in ("errors", "beside", "symbols", "fail_on") if name in given}


one_running: Final = together(
    running("A running process, by id or name."),
    click.option("--name", metavar="NAME", help="The running process with this name."),
    port(
        "A port that the process connects to (DOTNET_DiagnosticPorts=PORT); with ,connect, a port that it listens on. "
        "A path, or HOST:PORT."
    ),
)
"""Which running process, in one of three ways."""


def live(default: str = "every second, until Ctrl-C") -> Option:
    """What every report takes to be about a running process; without a time limit it answers as `default` says."""
    return together(
        running("Instead of FILE: a running process, by id or name."),
        port("Instead of FILE: as for `collect`."),
        duration(f"For a process: answer after this time, 10s or 5m. [default: {default}]"),
        click.option("--providers", multiple=True, metavar="LIST", help="For a process: also record these."),
        processor,
    )


class LiveQuestion(NamedTuple):
    """Which process a report is about, if it is about one that runs."""

    process: str | None
    port: str | None
    duration: float | None
    providers: tuple[str, ...]
    processor: float | None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> LiveQuestion:
        """Takes what `live` gave a command. Raises UsageError for what only makes sense with a process."""
        question = cls(*(given.pop(name) for name in ("live_process", "port", "duration", "providers", "processor")))
        if not question.wanted and (question.duration is not None or question.providers):
            raise click.UsageError("--duration and --providers require a running process: name one with -p")
        return question

    @property
    def wanted(self) -> bool:
        return (self.process, self.port) != (None, None)

    def listing(self) -> LiveQuestion:
        """The same for as long as a process needs to list what it has."""
        return self if self.duration is not None or not self.wanted else self._replace(duration=_LISTING)

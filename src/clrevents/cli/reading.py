"""Shared by all commands that read a trace: options, notices, progress and exit codes.

Opens the trace and reports what makes it unreliable; the rest is up to the subcommands.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

import clrevents
from clrevents._util.meter import Meter
from clrevents._util.words import counted, lost_events
from clrevents.cli.output import safe, say
from clrevents.errors import (
    ERROR_MODES,
    UNENDED,
    DamageError,
    ErrorMode,
    PayloadError,
    Problem,
    SourceError,
    TraceError,
    TraceWarning,
)

if TYPE_CHECKING:
    from clrevents.analysis.about.checking import ProblemRow
    from clrevents.trace import FilterOptions

F = TypeVar("F", bound=Callable[..., Any])
FailOn = frozenset[str]

_OF_MANY: Final = (
    "this command reads one trace; 'clrevents info', 'query', 'export' and the reports read many, as does "
    "clrevents.open_many"
)
_PATTERN: Final = re.compile(r"[*?]|\[.+\]")
_SHOWN: Final = 8
_LISTED: Final = 10
"""Of many traces that cannot be read."""
_TRACE: Final = "clrevents.trace"
_KINDS: Final = ("damage", "loss", "problem", "end", "none")


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


def file_argument(command: F) -> F:
    """The trace: a path, a URL, or - for standard input."""
    return click.argument("file", metavar="FILE")(command)


def with_option(command: F) -> F:
    """Another recording of the same run: `beside`."""
    return click.option(
        "--with",
        "beside",
        metavar="FILE",
        help="Join this other recording of the same run: EventPipe's, with the Linux recorder's FILE.",
    )(command)


def symbols_option(command: F) -> F:
    """Where symbol files are: `symbols`, folders or files."""
    return click.option(
        "--symbols",
        multiple=True,
        type=click.Path(exists=True),
        metavar="PATH",
        help="Name native code of Linux recordings, and NativeAOT programs, by ELF and debug files of the same build: "
        "a folder or a file; repeatable.",
    )(command)


def refuse_many_with(beside: str | None, many: bool) -> None:
    """Raises UsageError if `--with` is given for several traces."""
    if beside is not None and many:
        raise click.UsageError("--with takes one FILE: it is another recording of the same run")


def process_option(command: F) -> F:
    """Which process: `process`, a name or a number."""
    return click.option("--process", metavar="NAME|NUMBER", help="Only this process.")(command)


def format_option(command: F) -> F:
    """Text, or Markdown: `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(("text", "md")),
        default="text",
        show_default=True,
        help="md: Markdown, as a comment on a pull request.",
    )(command)


def spreadsheet_option(command: F) -> F:
    """Whether to escape texts in CSV that look like formulas."""
    return click.option(
        "--spreadsheet",
        is_flag=True,
        help=(
            "In CSV, put an apostrophe before texts that begin with = + - @, so spreadsheets do not run them as "
            "formulas."
        ),
    )(command)


def trace_option(command: F) -> F:
    """Which of several traces in one file: `given_trace`."""
    return click.option(
        "--trace",
        type=click.IntRange(min=1),
        metavar="N",
        expose_value=False,
        callback=lambda context, _, number: context.meta.update({_TRACE: number}),
        help="The file's trace of this number, where several follow each other.",
    )(command)


def given_trace() -> int:
    """The number of the trace that the command is about."""
    context = click.get_current_context(silent=True)
    return (context and context.meta.get(_TRACE)) or 1


def errors_option(command: F) -> F:
    """How damage affects the reading; and which trace it is that is read."""
    return click.option(
        "--errors",
        type=click.Choice(ERROR_MODES),
        default="salvage",
        show_default=True,
        help="salvage: continue after damage. report: stop there. strict: also stop at a payload that does not fit.",
    )(trace_option(command))


def fail_on_option(default: str, also: str | None = None) -> Callable[[F], F]:
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


def against_option(help: str) -> Callable[[F], F]:
    """What it is compared with: `against`."""
    return click.option("--against", metavar="BASE", help=help)


def running_option(help: str) -> Callable[[F], F]:
    """Which running process: `live_process`."""
    return click.option("-p", "--process-id", "--pid", "live_process", metavar="PID", help=help)


def port_option(help: str) -> Callable[[F], F]:
    """Through which port it is reached: `port`."""
    return click.option("--diagnostic-port", "--dport", "port", metavar="PORT[,connect]", help=help)


def trace_output_option(required: bool = True) -> Callable[[F], F]:
    """The trace that is written: `out`."""
    help = "The trace to write; compressed if it ends in .gz."
    return click.option("-o", "--output", "out", required=required, metavar="OUT", help=help)


def window_options(command: F) -> F:
    """Which time: `start` and `end`."""
    end = click.option("--end", metavar="WHEN", help="End time, exclusive.")
    help = "Start time: 1.5s, 200ms, 50%, or a date with a time zone."
    return click.option("--start", metavar="WHEN", help=help)(end(command))


def thread_option(command: F) -> F:
    """Which threads: `threads`."""
    numbers = click.IntRange(0, 2**64 - 1)
    help = "Only this thread; repeatable."
    return click.option("--thread", "threads", type=numbers, multiple=True, metavar="NUMBER", help=help)(command)


def filter_options(command: F) -> F:
    """Which events: `Reading.filters` takes them."""
    help = "Only this provider: its name, a short name (runtime) or a pattern."
    chosen = thread_option(process_option(window_options(command)))
    return click.option("--provider", metavar="NAME", help=help)(chosen)


def limit_option(help: str, default: int | None = None, least: int = 0) -> Callable[[F], F]:
    """How many: `limit`."""
    range = click.IntRange(min=least)
    return click.option(
        "-n", "--limit", type=range, default=default, show_default=default is not None, metavar="N", help=help
    )


def jobs_option(command: F) -> F:
    """How many of many traces are read at once: `jobs`."""
    help = "Read N traces in parallel. [default: all cores]"
    return click.option("--jobs", type=click.IntRange(min=1), metavar="N", help=help)(command)


def reading_options(beside: bool = False, symbols: bool = False, fail_on: str = "damage") -> Callable[[F], F]:
    """How FILE is read: `how_to_read` takes them."""

    def decorate(command: F) -> F:
        command = errors_option(fail_on_option(fail_on)(command))
        command = symbols_option(command) if symbols else command
        return with_option(command) if beside else command

    return decorate


def how_to_read(options: dict[str, Any]) -> dict[str, Any]:
    """Takes what `reading_options` gave a command from its options, for `Reading`."""
    return {name: options.pop(name) for name in ("errors", "beside", "symbols", "fail_on") if name in options}


def usage_error(error: Exception) -> click.UsageError:
    """The usage error for what a question refuses: its message, without the name of its class."""
    return click.UsageError(safe(str(error.args[0])))


@contextmanager
def usage_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Inside, these are mistakes of the user, unless they are about the trace."""
    try:
        yield
    except kinds as error:
        if isinstance(error, TraceError):
            raise
        raise usage_error(error) from None


class Reading:
    """An open trace, and what to report about it at the end.

    `busy_output`: lines are printed during reading; on a terminal, a progress bar would get between them. With
    `fail_on`, an error that ends the reading early is only reported where that is empty.
    """

    def __init__(
        self,
        file: str,
        errors: ErrorMode = "salvage",
        *,
        busy_output: bool = False,
        beside: str | None = None,
        symbols: Sequence[str] = (),
        number: int | None = None,
        fail_on: FailOn | None = None,
    ) -> None:
        self._file = file
        self._fail_on = fail_on
        self._number = number or given_trace()
        self._beside = beside
        self._symbols = symbols
        self._errors = errors
        self._meter = Meter(sys.stderr, busy_output and sys.stdout is not None and sys.stdout.isatty())
        self._filters = warnings.catch_warnings()
        self._others: Callable[..., Any] = warnings.showwarning
        self._warned: list[str] = []
        self._trace: clrevents.Trace | None = None
        self._copies = ExitStack()
        self.joined: Any = None
        """The open file that both recordings were joined into."""
        self._damaged: list[tuple[str, list[Problem]]] = []
        """Of the joined recordings: the joined trace itself is sound."""

    def __enter__(self) -> Reading:
        self._filters.__enter__()
        warnings.simplefilter("always", TraceWarning)
        self._others = others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, TraceWarning):
                self._warned.append(str(message))
            else:
                others(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        try:
            if means_many(self._file):
                what = "directory" if os.path.isdir(self._file) else "pattern"
                raise SourceError(f"is a {what}, and {_OF_MANY}", path=self._file)
            self._trace = self._open(trace_source(self._file))
            if self._beside is not None:
                self._trace = self._joined(self._trace, self._beside)
        except ImportError as error:
            # A URL or symbols, and nothing that reads them.
            self.__exit__(None, None, None)
            raise click.UsageError(str(error)) from None
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._meter.close()
        # Without the GIL, filters belong to a context, and leaving it does not restore this.
        warnings.showwarning = self._others
        self._filters.__exit__(kind, value, traceback)
        if self._trace is not None:
            self._trace.close()
        self._copies.close()
        if self._fail_on is not None and isinstance(value, DamageError | PayloadError) and not self._fail_on:
            raise click.exceptions.Exit(self.stopped(value, self._fail_on))

    def _open(self, source: Any) -> clrevents.Trace:
        hook, number = self._meter.hook, self._number
        return clrevents.open(source, errors=self._errors, progress=hook, symbols=self._symbols, trace=number)

    @property
    def trace(self) -> clrevents.Trace:
        assert self._trace is not None
        return self._trace

    def _joined(self, trace: clrevents.Trace, beside: str) -> clrevents.Trace:
        """The trace joined with another recording of the same run. UsageError where it is none."""
        from tempfile import TemporaryFile

        from clrevents.rewrite import join

        # The copy is removed with the trace, which reads it.
        file: Any = self._copies.enter_context(TemporaryFile())  # noqa: SIM115 - closed by the stack
        with trace, Reading(beside, self._errors, number=1) as other:
            try:
                join(trace, other.trace, file)
            except ValueError as error:
                raise click.UsageError(safe(f"--with {other.name}: {error}")) from None
            for name, one in ((trace.info.path or "standard input", trace), (other.name, other.trace)):
                if damage := [problem for problem in one.problems if problem.severity == "damage"]:
                    self._damaged.append((name, damage))
        # Messages and answers name the file that was asked for.
        with suppress(AttributeError):
            file.raw.name = trace.info.path
        file.seek(0)
        self.joined = file
        self._number = 1
        return self._open(file)

    @property
    def damage(self) -> list[Problem]:
        """What is damaged in the recordings that were joined."""
        return [problem for _, problems in self._damaged for problem in problems]

    def process_id(self, process: str | None) -> int | None:
        """The number of a process that is given by number or name. UsageError for a name of none or of several.

        A number that only containers know is that of the process that has it there.
        """
        if process is None:
            return None
        if process.isdecimal():
            return self._numbered(int(process))
        lives = self.trace.processes
        numbers = sorted({life.process_id for life in lives if life.name == process})
        if len(numbers) == 1:
            names = list(dict.fromkeys(life.name for life in lives if life.process_id == numbers[0]))
            if len(names) > 1:
                say(f"process {numbers[0]} was {', '.join(names[:_SHOWN])} in turn: this is about all of its time")
            return numbers[0]
        if numbers:
            shown = ", ".join(map(str, numbers[:_SHOWN]))
            many = counted(len(numbers), "process", "processes")
            raise click.UsageError(safe(f"{process} is the name of {many}: {shown}; give the number"))
        names = list(dict.fromkeys(life.name for life in lives))
        known = f"; there are {', '.join(names[:_SHOWN])}" if names else "; only the Linux recorder writes names"
        raise click.UsageError(safe(f"no process is named {process}{known}"))

    def _numbered(self, number: int) -> int:
        lives = self.trace.processes
        inside = {life.process_id: life.name for life in lives if life.own_id == number and life.process_id != number}
        if not inside or any(thread.process_id == number for thread in self.trace.threads):
            return number
        named = [f"{process} ({name})" for process, name in sorted(inside.items())]
        if len(inside) == 1:
            say(safe(f"{number} is the id that process {named[0]} has inside its container"))
            return next(iter(inside))
        shown = ", ".join(named[:_SHOWN])
        many = counted(len(inside), "process", "processes")
        raise click.UsageError(safe(f"{number} is the id of {many} inside their containers: {shown}; give that number"))

    def filters(self, options: Mapping[str, Any]) -> FilterOptions:
        """What `filter_options` say. UsageError as for `process_id`."""
        given: FilterOptions = {"provider": options["provider"], "start": options["start"], "end": options["end"]}
        return {**given, "process_id": self.process_id(options["process"]), "thread_id": options["threads"] or None}

    @property
    def asked(self) -> clrevents.Trace:
        """What questions go to."""
        return self.trace

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return self.trace.info.path or "standard input"

    def stopped(self, error: DamageError | PayloadError, fail_on: FailOn) -> int:
        """Report what ended the reading early; returns the exit code: 3 unless `fail_on` is none."""
        self._meter.close()
        say(str(error))
        return 3 if fail_on else 0

    def finish(self, fail_on: FailOn | None = None) -> int:
        """Report what makes the trace unreliable, as far as it was read; returns the exit code. `fail_on` is by default
        that of the reading.

        The library warns about the first damage or loss, so without a warning no scan is needed.
        """
        fail_on = fail_on if fail_on is not None else self._fail_on or frozenset()
        if not self._warned and not self._damaged and not fail_on & {"problem", "end"}:
            return 0
        problems = self.trace.problems
        try:
            lost = self.trace.lost
        except TraceError:
            # With --errors report a limit may have ended the reading before the damage.
            lost = 0
        return self.verdict(problems, lost, fail_on)

    def verdict(self, listed: Sequence[Problem | ProblemRow], lost: int, fail_on: FailOn) -> int:
        """Report damage and losses on stderr, a sentence each; returns the exit code."""
        damage = [p for p in listed if p.severity == "damage"]
        self._meter.close()
        for name, problems in self._damaged:
            say(damage_sentence(name, problems))
        if damage:
            say(damage_sentence(self.name, damage))
        if lost:
            say(f"{self.name}: {lost_events(lost)}")
        for problem in listed:
            if problem.kind == "another-trace":
                say(f"{self.name}: {problem.message}")
        return exit_code([(p.severity, p.kind) for p in (*self.damage, *listed)], lost > 0, fail_on)


def exit_code(problems: Collection[tuple[str, str]], lossy: bool, fail_on: FailOn) -> int:
    """3 where problems of these severities and kinds, or a loss, are among `fail_on`; else 0."""
    severities = {severity for severity, _ in problems}
    met = {
        "damage": "damage" in severities,
        "loss": lossy,
        "problem": bool(severities & {"damage", "payload"}),
        "end": any(kind in UNENDED for _, kind in problems),
    }
    return 3 if any(met.get(kind, False) for kind in fail_on) else 0


def means_many(file: str) -> bool:
    """Whether it is a folder or a pattern, however many traces that has."""
    if "://" in file:
        # A question mark begins the query of a web address.
        return "*" in file or "[" in file
    return os.path.isdir(file) or (_PATTERN.search(file) is not None and not os.path.exists(file))


def trace_source(file: str) -> Any:
    """The argument of `open` for FILE."""
    if file != "-":
        return file
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; pipe a trace into it")
    stdin = sys.stdin.buffer
    if stdin.isatty():
        raise click.UsageError("standard input is a terminal; pipe a trace into it")
    return stdin


def refuse_overwriting(out: str | os.PathLike[str], file: str) -> None:
    """Raises UsageError if OUT is FILE, even through a link or standard input."""
    # Few commands write a file.
    from clrevents._util.outputs import refuse_replacing

    input_file: str | int | None = file
    if file == "-":
        # Standard input may be absent, or a file object without a descriptor.
        with suppress(AttributeError, OSError, ValueError):
            input_file = sys.stdin.fileno()
    try:
        refuse_replacing(out, input_file)
    except ValueError:
        raise click.UsageError("OUT is the trace itself; write to another file") from None


def refuse_same_input(file: str, against: str) -> None:
    """Raises UsageError if both traces would come from standard input."""
    if file == against == "-":
        raise click.UsageError("only one of the two traces can be standard input")


def damage_sentence(name: str, damage: Sequence[Problem | ProblemRow]) -> str:
    """The first damage, and how many more there are."""
    first = damage[0]
    where = "" if first.offset is None else f" at offset {first.offset:#x}"
    more = f" (the first of {len(damage)} damaged places)" if len(damage) > 1 else ""
    return f"{name}{where}: {first.message}{more}"


class ReadingMany:
    """Many open traces, and what to report about them at the end: for many what `Reading` is for one."""

    def __init__(self, places: Sequence[str], errors: ErrorMode, jobs: int | None, symbols: Sequence[str] = ()) -> None:
        if given_trace() != 1:
            raise click.UsageError("--trace takes one file")
        self._meter = Meter(sys.stderr)
        try:
            self.asked = clrevents.open_many(places, jobs=jobs, errors=errors, progress=self._tell, symbols=symbols)
        except (FileNotFoundError, ImportError) as error:
            raise click.UsageError(str(error)) from None
        sizes = (os.path.getsize(path) if os.path.isfile(path) else 0 for path in self.asked.paths)
        self._read = [0, *accumulate(sizes)]

    def _tell(self, done: int, total: int) -> None:
        self._meter.tell(self._read[done], self._read[total])

    def __enter__(self) -> ReadingMany:
        return self

    def __exit__(self, *_: object) -> None:
        self._meter.close()
        self.asked.close()

    def finish(self, fail_on: FailOn) -> int:
        """Report which traces could not be read, and how many are damaged; returns the worst exit code of all."""
        self._meter.close()
        problems = self.asked.problems.select("trace", "severity", "kind", "message")
        errors = [row for row in problems.rows() if row["severity"] == "error"]
        for row in errors[:_LISTED]:
            say(f"{row['trace']}: {row['message']}")
        if len(errors) > _LISTED:
            say(f"and {len(errors) - _LISTED} more; the table `problems` has all of them")
        damaged = {row["trace"] for row in problems.rows() if row["severity"] == "damage"}
        if damaged:
            say(f"{counted(len(damaged), 'trace')} of {len(self.asked)} damaged; the table `problems` says where")
        lossy = "loss" in fail_on and any(self.asked.overview()["lost"].tolist())
        return 2 if errors else exit_code([(row["severity"], row["kind"]) for row in problems.rows()], lossy, fail_on)

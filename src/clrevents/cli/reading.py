"""Shared by all commands that read a trace: notices, progress and exit codes.

Opens the trace and reports what makes it unreliable; the rest is up to the subcommands.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import accumulate
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import click

import clrevents
from clrevents._util.meter import Meter
from clrevents._util.words import counted, lost_events
from clrevents.cli.options import FailOn, given_trace
from clrevents.cli.output import safe, say
from clrevents.errors import (
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

_OF_MANY: Final = (
    "this command reads one trace; 'clrevents info', 'query', 'export' and the reports read many, as does "
    "clrevents.open_many"
)
_PATTERN: Final = re.compile(r"[*?]|\[.+\]")
_SHOWN: Final = 8
_LISTED: Final = 10
"""Of many traces that cannot be read."""


def refuse_many_with(beside: str | None, many: bool) -> None:
    """Raises UsageError if `--with` is given for several traces."""
    if beside is not None and many:
        raise click.UsageError("--with takes one FILE: it is another recording of the same run")


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


def refuse_overwriting(out: str | os.PathLike[str] | None, *files: str | None) -> None:
    """Raises UsageError if OUT is one of the traces, even through a link or standard input, or if two of these are
    standard input."""
    # Few commands write a file.
    from clrevents._util.outputs import refuse_replacing

    if files.count("-") > 1:
        raise click.UsageError("only one of the traces can be standard input")
    inputs: list[str | int | None] = [*files]
    if "-" in files:
        # Standard input may be absent, or a file object without a descriptor.
        with suppress(AttributeError, OSError, ValueError):
            inputs[files.index("-")] = sys.stdin.fileno()
    try:
        refuse_replacing("" if out is None else out, *inputs)
    except ValueError:
        raise click.UsageError("OUT is the trace itself; write to another file") from None


def damage_sentence(name: str, damage: Sequence[Problem | ProblemRow]) -> str:
    """The first damage, and how many more there are."""
    first = damage[0]
    where = "" if first.offset is None else f" at offset {first.offset:#x}"
    more = f" (the first of {len(damage)} damaged places)" if len(damage) > 1 else ""
    return f"{name}{where}: {first.message}{more}"


class ReadingMany(AbstractContextManager["ReadingMany"]):
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

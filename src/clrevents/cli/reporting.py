"""What the reports share: running one with all that may stop it, and how their numbers are written.

Lays out no report. A `!` at a number's side says that events were lost where it was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

import clrevents
from clrevents.analysis.missing import Missing, record
from clrevents.cli.output import Output, say
from clrevents.cli.reading import FailOn, Reading
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.words import counted, lost_events

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

TIERS: Final = {
    "QuickJitted": "quick",
    "QuickJittedInstrumented": "quick+instr",
    "OptimizedTier1": "tier1",
    "OptimizedTier1Instrumented": "tier1+instr",
    "OptimizedTier1OSR": "osr",
    "Optimized": "full",
    "MinOptJitted": "minopt",
    "Unknown": "?",
}
"""The runtime's names of tiers, short enough for a row."""


def report_options(what: str) -> Callable[[F], F]:
    """`count` (-n), `raw` and `as_json`."""

    def add(command: F) -> F:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="One JSON object with everything."),
            click.option("--raw", is_flag=True, help="Names as the runtime writes them."),
            click.option(
                "-n", "count", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", help=what
            ),
        ):
            command = option(command)
        return command

    return add


def run_report(
    file: str,
    errors: ErrorMode,
    fail_on: FailOn,
    ask: Callable[[clrevents.Trace], R],
    show: Callable[[Output, R], None],
) -> int:
    """Ask a trace, show the answer, and the exit code. What is wrong with the trace is said on stderr."""
    with Reading(file, errors) as reading:
        try:
            found = ask(reading.trace)
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        code = reading.finish(fail_on)
        with Output() as out:
            show(out, found)
        return code


def ms(ns: int | None) -> str:
    """Nanoseconds as milliseconds; a dash for what is not known."""
    return "-" if ns is None else f"{ns / 1e6:,.3f}"


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def of(part: int, whole: int, what: str, done: str) -> str:
    """`3 of 7 calls inlined (42.9 %)`."""
    return f"{part:,} of {counted(whole, what)} {done}" + (f" ({share(part, whole)})" if whole else "")


def mark(lossy: bool) -> str:
    return "!" if lossy else ""


def say_losses(out: Output, lost: int) -> None:
    """What the marks mean, where there may be any."""
    if lost:
        out.line()
        out.line(f"{lost_events(lost)}; ! marks rows that this may have spoilt")


def say_more(out: Output, rest: int) -> None:
    if rest > 0:
        out.line(f"and {rest:,} more (-n shows them)")


def say_missing(parts: Sequence[Missing]) -> None:
    """What the trace does not tell, and the line that would record it."""
    if not parts:
        return
    whats = ", ".join(f"{part.what} (no {part.events[0]})" for part in parts)
    say(f"the trace tells nothing of {whats}; to record that: dotnet-trace collect --providers {record(parts)}")


def say_nothing(what: str, record: str) -> None:
    """Why a report is empty, most likely."""
    say(f"the trace has no {what}; to have them in the next one, record Microsoft-Windows-DotNETRuntime:{record}")

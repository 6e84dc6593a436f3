"""Lengths of time as options of commands: `10s`, `1.5m`, `2h`, or as dotnet-trace writes them, `dd:hh:mm:ss`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")
_UNITS: Final = {"ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_CLOCK: Final = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+):(\d+)")


class DurationType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """Seconds, of `10s`, `1.5m`, `2h`, `10`, or `dd:hh:mm:ss`."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        if match := _DURATION.fullmatch(text):
            seconds = float(match[1]) * _UNITS[match[2]]
        elif match := _CLOCK.fullmatch(text):
            days, hours, minutes, rest = (int(part or 0) for part in match.groups())
            seconds = float(((days * 24 + hours) * 60 + minutes) * 60 + rest)
        else:
            self.fail(f"{text!r} is not a duration: use 30s, 5m, 1.5h or dd:hh:mm:ss", param, ctx)
        if seconds <= 0:
            self.fail("it must be more than zero", param, ctx)
        return seconds


UNCOUNTED: Final = "processor time was not recorded"


class IntervalType(DurationType):
    """The same, or None for `off`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value in (None, "off") else super().convert(value, param, ctx)


def processor_option(command: F) -> F:
    """How often processor time is read."""
    return click.option(
        "--processor",
        type=IntervalType(),
        default="50ms",
        show_default=True,
        metavar="TIME|off",
        help="How often to read the processor time of a process's threads; Linux only.",
    )(command)


def duration_option(text: str) -> Callable[[F], F]:
    """For how long."""
    return click.option("--duration", type=DurationType(), metavar="TIME", help=text)

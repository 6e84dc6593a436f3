"""Reports on a running process: a trace's collectors, fed while events come. One hook for every command that asks.

Knows of one report what is asked for by name. With a time limit there is one answer, at the end; without one, an answer
every second, until Ctrl-C. Lengths of time are `10s`, `1.5m`, `2h`, or as dotnet-trace writes them, `dd:hh:mm:ss`.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import click

from clrevents._util.words import lost_events
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import ReportFeed
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.cli.output import safe, say
from clrevents.cli.reading import port_option, running_option

_EVERY: Final = 1.0
_LISTING: Final = 1.0
"""How long a process may take to list what it has, in seconds."""
F = TypeVar("F", bound=Callable[..., Any])
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")
_UNITS: Final = {"ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_CLOCK: Final = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+):(\d+)")
UNCOUNTED: Final = "processor time was not recorded"


class LiveQuestion(NamedTuple):
    """Which process a report is about, if it is about one that runs."""

    process: str | None
    port: str | None
    duration: float | None
    providers: tuple[str, ...]
    processor: float | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> LiveQuestion:
        """Takes its own from a command's options. Raises UsageError for what only makes sense with a process."""
        question = cls(*(options.pop(name) for name in ("live_process", "port", "duration", "providers", "processor")))
        if not question.wanted and (question.duration is not None or question.providers):
            raise click.UsageError("--duration and --providers require a running process: name one with -p")
        return question

    @property
    def wanted(self) -> bool:
        return (self.process, self.port) != (None, None)

    def listing(self) -> LiveQuestion:
        """The same for as long as a process needs to list what it has."""
        return self if self.duration is not None or not self.wanted else self._replace(duration=_LISTING)


def live_options(default: str = "every second, until Ctrl-C") -> list[Callable[..., object]]:
    """What every report takes to be about a running process; without a time limit it answers as `default` says."""
    return [
        running_option("Instead of FILE: a running process, by id or name."),
        port_option("Instead of FILE: as for `collect`."),
        duration_option(f"For a process: answer after this time, 10s or 5m. [default: {default}]"),
        click.option("--providers", multiple=True, metavar="LIST", help="For a process: also record these."),
        processor_option,
    ]


def live_answers(report: Asked, asked: LiveQuestion, window: WindowOptions) -> Iterator[tuple[Answer[object], bool]]:
    """Answers of a report about a running process, each with whether it is the last.

    Raises DiagnosticsError if it cannot be asked; ValueError for a window in percent.
    """
    # Who asks about a file need not load all this.
    from clrevents.cli.live_process import asked_profile, chosen_process, counted_stops, with_counters
    from clrevents.diagnostics.providers import parse_providers
    from clrevents.diagnostics.session import Session

    feed, name = ReportFeed([report], window), report.declaration.name
    profile = asked_profile((), [name], asked.providers, None, None)
    with counted_stops() as stops, chosen_process(asked.process, None, asked.port, stops) as (process, dialled):
        recorded = profile.providers
        if name == "counters":
            fixed = {provider.name for text in asked.providers for provider in parse_providers(text)}
            recorded = with_counters(process, report.parameters, recorded, fixed)
        live = Session(
            process,
            *feed.selectors,
            providers=recorded,
            duration=asked.duration,
            reports=(),
            processor=asked.processor,
        )
        stops.listeners.append(lambda number: live.abandon() if stops.count > 1 else live.stop())
        shown_at = time.monotonic()
        with live:
            if dialled:
                process.resume()
            if sys.stderr.isatty() and asked.duration is not None:
                say(f"recording {process.name or process.pid} for {asked.duration:g} s; Ctrl-C stops")
            for batch in live:
                feed.take(live.decoder, [batch])
                if asked.duration is None and not stops.count and time.monotonic() - shown_at >= _EVERY:
                    yield feed.so_far(live.decoder)[name], False
                    shown_at = time.monotonic()
        if live.decoder.info is None:
            raise click.ClickException("nothing came from the process: has it just ended?")
        lost = sum(loss.count for loss in live.losses)
        if lost:
            say(safe(lost_events(lost)))
        if live.uncounted is not None:
            say(safe(f"{UNCOUNTED}: {live.uncounted}"))
        yield feed.finish(live.decoder)[name], True


class DurationType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """Seconds, of `10s`, `1.5m`, `2h`, `10`, or `dd:hh:mm:ss`."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
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


class IntervalType(DurationType):
    """The same, or None for `off`."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
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

"""Reports on a running process: a trace's collectors, fed while events come. One hook for every command that asks.

Knows of one report what is asked for by name. With a time limit there is one answer, at the end; without one, an answer
every second, until Ctrl-C. Lengths of time are `10s`, `1.5m`, `2h`, or as dotnet-trace writes them, `dd:hh:mm:ss`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click

from clrevents._util.words import lost_events
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import ReportFeed
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.cli.output import safe, say

_EVERY: Final = 1.0
_LISTING: Final = 1.0
"""How long a process may take to list what it has, in seconds."""
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

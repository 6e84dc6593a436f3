"""Shared by commands about running processes: which process, what to record, how they are stopped, and a report's
answers meanwhile.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from clrevents._util.words import lost_events
from clrevents.cli import options
from clrevents.cli.output import safe, say
from clrevents.cli.reading import usage_errors
from clrevents.diagnostics.discovery import find_process
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.listening import Listener
from clrevents.diagnostics.profiles import CODE_LOADS, METERS, Profile, counter_providers, joined_profiles, provider_for
from clrevents.diagnostics.providers import (
    AwaitEvents,
    Provider,
    parse_level,
    parse_providers,
    parse_runtime_events,
    united,
)
from clrevents.diagnostics.session import Session
from clrevents.schema.matching import is_glob
from clrevents.schema.registry import ASYNC, RUNTIME, TPL

if TYPE_CHECKING:
    from clrevents.analysis.framework.model.answer import Answer
    from clrevents.analysis.framework.model.declaration import WindowOptions
    from clrevents.analysis.framework.model.needs import Need
    from clrevents.analysis.framework.run.report_reading import Asked

DOCTOR: Final = "doctor"
"""Stands for all reports that its rules read."""
UNCOUNTED: Final = "processor time was not recorded"
_EVERY: Final = 1.0
_LOOK: Final = 0.25
_PATIENCE: Final = 2.0
"""How long to wait for the end of the list, in seconds."""
_DEFAULT: Final = "System.Runtime"
_LISTED: Final = "InstrumentPublished"
_ALL_LISTED: Final = "InitialInstrumentEnumerationComplete"


class StopCount:
    """How often the user has asked to stop, by Ctrl-C or a signal to end."""

    def __init__(self) -> None:
        self.count = 0
        self.last: int | None = None
        self.listeners: list[Callable[[int], None]] = []

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        self.last = number
        for listener in self.listeners:
            listener(number)


@contextmanager
def counted_stops() -> Iterator[StopCount]:
    """Inside, signals to end are only counted: the recording looks at the number and ends in order."""
    stops = StopCount()
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before = {n: signal.signal(n, stops._stop) for n in (getattr(signal, name, None) for name in names) if n}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def chosen_process(
    id_or_name: str | None, name: str | None, port: str | None, stops: StopCount
) -> Iterator[tuple[Process, bool]]:
    """The process that the options mean, and whether it connected to us and so may be waiting to be resumed.

    Raises UsageError unless exactly one of them is given, DiagnosticsError if there is no such process.
    """
    if sum(option is not None for option in (id_or_name, name, port)) != 1:
        raise click.UsageError("give a process: -p PID, --name NAME or --diagnostic-port PORT; see `clrevents ps`")
    if port is None:
        by_id = id_or_name is not None and id_or_name.isascii() and id_or_name.isdigit()
        yield (find_process(int(id_or_name or 0)) if by_id else find_process(name=id_or_name or name)), False
    elif port.endswith(",connect"):
        yield Process.at(port.removesuffix(",connect")), False
    else:
        with Listener(port) as listener:
            say(f"waiting for a process: start it with DOTNET_DiagnosticPorts={listener.endpoint}")
            yield _first(listener, stops), True


def _first(listener: Listener, stops: StopCount) -> Process:
    while not stops.count:
        with suppress(DiagnosticsError):
            return Process.dialled(listener, _LOOK)
    raise click.Abort


def needed_for(names: Sequence[str]) -> Profile:
    """What these reports need, as a profile."""
    from clrevents.analysis.doctor.diagnosing import asked_of
    from clrevents.analysis.doctor.rulebook import RULES
    from clrevents.analysis.framework.run.asking import find_report

    with usage_errors(ValueError):
        reports = [find_report(name) for name in names if name != DOCTOR]
    if DOCTOR in names:
        reports += [one.declaration for one in asked_of(RULES)]
    needs = [need for report in reports for need in report.needs]
    wanted = [_provider_for(need) for need in needs]
    if any(report.collector(report.parameters()).stacks for report in reports):
        wanted.append(CODE_LOADS)
    return Profile(",".join(names), "", united(wanted), "", tuple(names))


def _provider_for(need: Need) -> Provider:
    if need.provider == TPL and any(event.startswith(f"{ASYNC}/") for event in need.events):
        return AwaitEvents(keywords=need.keywords, level=need.level)
    return provider_for(need.provider, need.keywords, need.level, need.argument)


def asked_profile(
    profiles: Sequence[str],
    reports: Sequence[str],
    providers: Sequence[str],
    keywords: str | None,
    level: str | None,
) -> Profile:
    """What the options ask for: `--providers` overrides what a profile says about the same provider.

    Raises UsageError, and DiagnosticsError for an unknown profile.
    """
    with usage_errors(ValueError):
        named = list(united(one for text in providers for one in parse_providers(text)))
        if keywords is not None:
            runtime = parse_runtime_events(keywords, parse_level(level or "informational"))
            if any(one.name == RUNTIME for one in named):
                say("--clrevents is ignored: --providers already says what to record from the runtime")
            else:
                named.append(runtime)
        chosen = [joined_profiles(profiles)] if profiles else []
        if reports:
            chosen.append(needed_for(reports))
        if not chosen and not named:
            chosen.append(joined_profiles(["default"]))
        known = {one.name for one in named}
        rest = united(one for profile in chosen for one in profile.providers if one.name not in known)
        fed = dict.fromkeys(report for profile in chosen for report in profile.reports)
        # Names are wanted by everybody; only what asks for less alone gets less.
        rundown = chosen[0].rundown if len(chosen) == 1 and not named else True
        return Profile(",".join(p.name for p in chosen), "", (*named, *rest), "", tuple(fed), rundown)


@contextmanager
def followed(live: Session, process: Process, dialled: bool, stops: StopCount) -> Iterator[None]:
    """Inside, the session runs; asked to stop, it ends in order, and asked again, at once."""
    stops.listeners.append(lambda number: live.abandon() if stops.count > 1 else live.stop())
    with live:
        if dialled:
            process.resume()
        yield


def on_terminal() -> bool:
    """Whether people see what is written to stderr while it is written."""
    return sys.stderr is not None and sys.stderr.isatty()


def with_counters(
    process: Process, asked: Any, recorded: Iterable[Provider], fixed: Collection[str]
) -> tuple[Provider, ...]:
    """The providers with the counters that are asked for by `provider` and `name` instead of the usual ones; those in
    `fixed` stay as they are.

    Meters and EventSources are asked for by the same names, since nobody needs to know which of them a name is.
    Patterns, and names of instruments alone, need the process's list of instruments: not every runtime knows patterns.
    """
    from clrevents.analysis.reports.counters import fits

    if asked.providers is None and asked.name is None:
        return tuple(recorded)
    providers = (asked.providers or "*").split(",")
    names = [provider for provider in providers if not is_glob(provider)]
    if len(names) < len(providers):
        announced = _announced(process)
        names += sorted({m for m, name in announced if fits(asked.providers, m) and fits(asked.name, name)})
        # No process lists its EventSources.
        names += [_DEFAULT] if fits(asked.providers, _DEFAULT) else []
    counters = [one for one in counter_providers(dict.fromkeys(names)) if one.name not in fixed]
    return (*counters, *(one for one in recorded if one.name in fixed or one.name not in (METERS, _DEFAULT)))


def _announced(process: Process) -> set[tuple[str, str]]:
    """The meters and instruments of the process."""
    names = set()
    wanted = (f"{METERS}/{_LISTED}", f"{METERS}/{_ALL_LISTED}")
    with Session(process, *wanted, providers=counter_providers()[-1:], duration=_PATIENCE, reports=()) as live:
        for batch in live:
            for event in batch:
                if event.name == _ALL_LISTED:
                    live.stop()
                else:
                    names.add((event.payload["meterName"], event.payload["instrumentName"]))
    return names


def live_answers(
    report: Asked, asked: options.LiveQuestion, window: WindowOptions
) -> Iterator[tuple[Answer[object], bool]]:
    """Answers of a report about a running process, each with whether it is the last: with a time limit there is one, at
    the end; without, an answer every second, until Ctrl-C.

    Raises DiagnosticsError if it cannot be asked; ValueError for a window in percent.
    """
    # Who records need not load what answers.
    from clrevents.analysis.framework.run.feeding import ReportFeed

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
        shown_at = time.monotonic()
        with followed(live, process, dialled, stops):
            if on_terminal() and asked.duration is not None:
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

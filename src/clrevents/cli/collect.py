"""`clrevents collect`: records a running process, or a program that it starts, into a file or a ring of files.

Shows progress and, at the end, what was recorded and what to type next. Recording itself is done by the diagnostics
room.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import click

from clrevents._util.words import counted, lost_events, safe
from clrevents.cli import options
from clrevents.cli.live_process import UNCOUNTED, StopCount, asked_profile, chosen_process, counted_stops, on_terminal
from clrevents.cli.output import DAMAGED, INTERRUPTED, UNREADABLE, Output, say, terminal_width
from clrevents.cli.reading import usage_errors
from clrevents.diagnostics.channel import STOP_SECONDS
from clrevents.diagnostics.child import Child
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.profiles import PROFILES, Profile, event_filters, providers_for
from clrevents.diagnostics.providers import ASYNC_SINCE, united
from clrevents.diagnostics.recorder import Progress, RecordedFile, Recorder, RecordingPlan, Watch
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.side_sessions import SMALL_BUFFERS, keeps_buffers

_CLEAR: Final = "\r\x1b[K"
_LONGEST_INTERVAL: Final = 2147
"""Milliseconds between samples. The runtime keeps nanoseconds in 32 bits; with more it samples without any pause."""
_ROUNDING: Final = 1e-6
_PACED_SINCE: Final = 10
"""The first major version of .NET of which some know that variable."""


@click.command(name="collect", context_settings={"allow_interspersed_args": False})
@options.one_running
@options.names(
    "--profile",
    "profiles",
    help="What to record, by purpose; --list-profiles lists them. [default: default]",
)
@options.names(
    "--for",
    "reports",
    metavar="REPORTS",
    help="Record what these reports need: gc,locks; `doctor` for all that it looks at.",
)
@click.option(
    "--providers",
    multiple=True,
    metavar="LIST",
    help="Comma-separated providers, NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]]; keywords in hexadecimal.",
)
@click.option("--clrevents", "keywords", metavar="LIST", help="Keywords of the runtime by name: gc+exception.")
@click.option("--clreventlevel", "level", metavar="LEVEL", help="The level of --clrevents. [default: informational]")
@options.names(
    "--events",
    "only",
    metavar="EVENTS",
    help="Of their providers, record only these events: GCStart,GCEnd or MyCompany-Orders/3. Needs .NET 10.",
)
@options.names(
    "--without",
    metavar="EVENTS",
    help="Record all but these events. Needs .NET 10.",
)
@options.duration("Stop after this time: 30s, 5m, or dd:hh:mm:ss. [default: until Ctrl-C, or until the process ends]")
@click.option(
    "--buffersize",
    "buffer_mb",
    type=click.IntRange(1, 1 << 20),
    default=256,
    show_default=True,
    metavar="MB",
    help="The most memory that the process may use to buffer events.",
)
@click.option(
    "--buffering",
    type=click.Choice(("drop", "block")),
    default="drop",
    show_default=True,
    help="When the buffer is full: drop events, or have threads wait for room, which needs .NET 11.",
)
@click.option("-o", "--output", "out", metavar="FILE", help="The file to write; with --rotate, a folder.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option(
    "--rundown/--no-rundown",
    default=None,
    help="List methods and modules at the end; otherwise code compiled before the recording has no names.",
)
@click.option(
    "--rotate", type=options.Duration(), metavar="TIME", help="Begin a new file after each interval of this length."
)
@click.option("--keep", type=click.IntRange(min=2), metavar="N", help="With --rotate: keep only the last N files.")
@click.option("--until", metavar="EVENT[:FIELD=VALUE]", help="Stop after this event, such as GCEnd:Depth=2.")
@click.option(
    "--after",
    type=options.Duration(),
    default="5s",
    show_default=True,
    metavar="TIME",
    help="How long to continue after the event of --until.",
)
@click.option(
    "--stop-within",
    type=options.Duration(),
    default=f"{STOP_SECONDS:g}s",
    show_default=True,
    metavar="TIME",
    help="How long the end of a recording may take; a very large program needs longer to list its methods.",
)
@options.processor
@click.option(
    "--sample-interval",
    type=options.Duration(),
    metavar="TIME",
    help="With COMMAND: the time between two samples of stacks, such as 10ms; .NET 11, late .NET 10. [default: 1ms]",
)
@click.option(
    "--resume-runtime/--no-resume-runtime",
    "resume",
    default=True,
    help="Resume a process that connected to --diagnostic-port.",
)
@click.option("--show-child-io", is_flag=True, hidden=True, help="As it is anyway.")
@click.option("--list-profiles", is_flag=True, help="List the profiles with their costs and exit.")
@click.option("-n", "dotnet_name", hidden=True, help="--name, as dotnet-trace has it.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(
    live_process: str | None,
    name: str | None,
    port: str | None,
    profiles: tuple[str, ...],
    reports: tuple[str, ...],
    providers: tuple[str, ...],
    keywords: str | None,
    level: str | None,
    only: tuple[str, ...],
    without: tuple[str, ...],
    duration: float | None,
    buffer_mb: int,
    buffering: str,
    out: str | None,
    force: bool,
    rundown: bool | None,
    rotate: float | None,
    keep: int | None,
    until: str | None,
    after: float,
    stop_within: float,
    processor: float | None,
    sample_interval: float | None,
    resume: bool,
    show_child_io: bool,
    list_profiles: bool,
    dotnet_name: str | None,
    program: tuple[str, ...],
) -> int:
    """Record a running .NET process, without any of .NET's tools.

    \b
    Garbage collections and locks, for half a minute:
        clrevents collect -p 4711 --for gc,locks --duration 30s -o app.nettrace
    A program from its first event to its last, passing on its exit code:
        clrevents collect --profile startup -o startup.nettrace -- dotnet App.dll
    Always the last hour, in twelve files, until something bad happens:
        clrevents collect -p 4711 --rotate 5m --keep 12 --until GCEnd:Depth=2 -o ring/

    Ctrl-C (or SIGTERM) stops the recording and waits for the names of methods, which a process lists at the end; a
    second Ctrl-C does not wait. Events are written as they come, so the file can be read even if this command or the
    process is killed.

    Exit status: 0 if the recording is complete; for a program, its own; 3 if something is missing at the end (the
    process was killed, the connection broke); 2 if nothing could be recorded or the disk is full; 130 after a second
    Ctrl-C.
    """
    if list_profiles:
        _list_profiles()
        return 0
    name = name or dotnet_name
    if not force:
        refuse_existing(out)
    if keep is not None and rotate is None:
        raise click.UsageError("--keep requires --rotate")
    with usage_errors(ValueError):
        watch = None if until is None else Watch.parse(until)
    variables = {} if sample_interval is None else _pace(sample_interval, program)
    watched = () if watch is None else (watch.selector,)
    with usage_errors(ValueError):
        if only and not (profiles or reports or providers or keywords):
            profile = Profile("events", "", (), "")
        else:
            profile = asked_profile(profiles, reports, providers, keywords, level)
        profile = _with_events(profile, (*only, *watched))
        filters = event_filters((*only, *watched) if only else (), without)
        unasked = {one.provider for one in filters} - {one.name for one in profile.providers}
        if unasked:
            raise ValueError(f"--without: nothing of {', '.join(sorted(unasked))} is recorded")
        listed = profile.rundown if rundown is None else rundown
        settings = SessionSettings(profile.providers, buffer_mb, listed, True, filters, buffering == "block")
        settings.for_runtime(0).commands()
    plan = RecordingPlan(duration, rotate, keep, watch, after, stop_within, processor)
    with counted_stops() as stops, ExitStack() as stack:
        if program:
            if (live_process, name, port) != (None, None, None):
                raise click.UsageError("give either a program to start, or one of -p, --name and --diagnostic-port")
            return _record_child(stack, program, variables, settings, plan, out, profile, stops)
        process, dialled = stack.enter_context(chosen_process(live_process, name, port, stops))
        recorder, files = _recorded(process, dialled and resume, settings, plan, out, stops)
        return _summary(recorder, files, profile.reports[0] if profile.reports else "info", stops)


def refuse_existing(out: str | None) -> None:
    """Raises UsageError for a file that has something in it: a recording cannot be made again."""
    if out is not None and os.path.isfile(out) and os.path.getsize(out):
        raise click.UsageError(safe(f"{out} exists: give another name, or remove it (collect --force replaces it)"))


def record_for(
    report: str, asked: options.LiveQuestion, out: str | None, meanwhile: Callable[[Path], None] = lambda path: None
) -> Path | None:
    """Record what `report` needs into a file, as the command does, and say where it is; None if nothing came. The file
    is shown to `meanwhile` again and again while it grows."""
    refuse_existing(out)
    profile = asked_profile((), (report,), asked.providers, None, None)
    plan = RecordingPlan(asked.duration, processor=asked.processor)
    with counted_stops() as stops, chosen_process(asked.process, None, asked.port, stops) as (process, dialled):
        path = next(_paths(out, process.name or f"process-{process.pid}", ring=False))
        settings = SessionSettings(profile.providers)
        recorder, files = _recorded(process, dialled, settings, plan, str(path), stops, lambda: meanwhile(path))
        _summary(recorder, files, None, stops)
    return next((file.path for file in files if file.bytes), None)


def _recorded(
    process: Process,
    resume: bool,
    settings: SessionSettings,
    plan: RecordingPlan,
    out: str | None,
    stops: StopCount,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Recorder, list[RecordedFile]]:
    paths = _paths(out, process.name or f"process-{process.pid}", plan.rotate is not None)
    recorder = Recorder(process, settings, paths, plan, lambda: stops.count)
    recorder.start()
    if resume:
        process.resume()
    return recorder, _run(recorder, process.name or f"process {process.pid}", plan.duration, meanwhile)


def _record_child(
    stack: ExitStack,
    program: Sequence[str],
    variables: Mapping[str, str],
    settings: SessionSettings,
    plan: RecordingPlan,
    out: str | None,
    profile: Profile,
    stops: StopCount,
) -> int:
    # Where a process ends by itself, nothing but this has it write most of what its threads know of their awaits.
    late = SMALL_BUFFERS if keeps_buffers(settings.for_runtime(ASYNC_SINCE).providers) else {}
    child = stack.enter_context(Child(program, {**late, **variables}))
    stops.listeners.append(lambda number: _pass_on(child, number))
    process = child.wait_for_runtime(lambda: stops.count > 0)
    if process is None:
        child.end()
        return INTERRUPTED
    if variables:
        _warn_of_pace(process)
    name = Path(next((word for word in program if word.endswith(".dll")), program[0])).stem
    recorder = Recorder(process, settings, _paths(out, name, plan.rotate is not None), plan, lambda: stops.count)
    recorder.start()
    if child.suspended:
        child.resume()
    else:
        say("this runtime (.NET Core 3) cannot be started suspended: its very first events are not recorded")
    files = _run(recorder, name, plan.duration, child.let_others_go)
    exit_code = _summary(recorder, files, profile.reports[0] if profile.reports else "info", stops)
    # The recording may end before the program does, which then goes on as if it was started without us.
    code = child.wait(lambda: stops.count > 1)
    if code is None:
        code = child.end()
    return 128 - code if code < 0 else code or exit_code


def _pace(seconds: float, program: Sequence[str]) -> dict[str, str]:
    """The variable from which a runtime takes the sampler's pace when it starts. Raises UsageError."""
    if not program:
        raise click.UsageError("--sample-interval requires a program to start: a running process keeps its pace")
    interval = round(seconds * 1000)
    if abs(interval - seconds * 1000) > _ROUNDING or not 1 <= interval <= _LONGEST_INTERVAL:
        raise click.UsageError(f"--sample-interval must be whole milliseconds, 1ms to {_LONGEST_INTERVAL}ms")
    return {"DOTNET_EventPipeThreadSamplingRate": str(interval)}


def _warn_of_pace(process: Process) -> None:
    """Say so if the runtime is too old to know the variable."""
    with suppress(DiagnosticsError):
        version = process.info().runtime_version or "0"
        if int(version.partition(".")[0]) < _PACED_SINCE:
            say(safe(f".NET {version} ignores --sample-interval: .NET 11 and late .NET 10 know it"))


def _pass_on(child: Child, number: int) -> None:
    """A terminal gives Ctrl-C to both of us; other signals reach only this process."""
    if number != signal.SIGINT or not (sys.stdin is not None and sys.stdin.isatty()):
        child.signal(number)


def _with_events(profile: Profile, selectors: Sequence[str]) -> Profile:
    """Also record what contains these events."""
    if not selectors:
        return profile
    wanted = united((*profile.providers, *providers_for(selectors)))
    return Profile(profile.name, profile.purpose, wanted, profile.cost, profile.reports, profile.rundown)


def _paths(out: str | None, name: str, ring: bool) -> Iterator[Path]:
    """Where to write: one file, or one after the other in a folder."""
    name = re.sub(r"[^\w.+-]", "_", name)
    if not ring:
        yield Path(out or f"{name}_{time.strftime('%Y%m%d_%H%M%S')}.nettrace")
        return
    folder = Path(out or f"{name}_{time.strftime('%Y%m%d_%H%M%S')}")
    if folder.suffix == ".nettrace" or folder.is_file():
        raise click.UsageError("with --rotate, -o must be a folder, for one file per interval")
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        yield folder / f"{name}_{time.strftime('%Y%m%d_%H%M%S')}_{number:04}.nettrace"


def _run(
    recorder: Recorder, name: str, duration: float | None, meanwhile: Callable[[], None] = lambda: None
) -> list[RecordedFile]:
    shown = on_terminal()
    limit = "" if duration is None else f" for {duration:g} s"
    say(f"recording {name}{limit}; Ctrl-C stops")
    for unmet in recorder.unmet:
        say(unmet)

    def tell(progress: Progress) -> None:
        meanwhile()
        if shown:
            # A line that wraps could not be cleared.
            sys.stderr.write(_CLEAR + _progress(progress)[: terminal_width() - 1])
            sys.stderr.flush()

    try:
        return recorder.run(tell)
    finally:
        if shown:
            sys.stderr.write(_CLEAR)


def _progress(progress: Progress) -> str:
    minutes, seconds = divmod(int(progress.seconds), 60)
    words = [f"{minutes:02}:{seconds:02}", _size(progress.bytes), counted(progress.events, "event")]
    if progress.lost:
        words.append(f"{progress.lost:,} lost")
    if progress.behind > 1 << 20:
        words.append(f"{_size(progress.behind)} not counted yet")
    if progress.stopping:
        words.append("stopping: Ctrl-C again does not wait for names")
    return "  ".join(words)


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _summary(recorder: Recorder, files: Sequence[RecordedFile], report: str | None, stops: StopCount) -> int:
    """Say what was recorded, what is missing, and which report to ask next; the exit code."""
    code = 0
    for file in files:
        events = counted(file.events, "event") if file.counted else f"more than {counted(file.events, 'event')}"
        say(f"{file.path}: {_size(file.bytes)}, {events if file.bytes else 'empty: no event came'}")
        if file.lost:
            advice = "fewer events or a larger --buffersize help, unless they had more than 64 KB each"
            say(f"{file.path}: {lost_events(file.lost)}; {advice}")
        missing = _missing(file)
        if missing:
            say(f"{file.path}: {missing}")
            code = max(code, _code(file, stops))
    uncounted = next((file.uncounted for file in files if file.uncounted is not None), None)
    if uncounted is not None:
        say(safe(f"{UNCOUNTED}: {uncounted}"))
    last = next((file for file in reversed(files) if file.bytes), None)
    if recorder.why and recorder.why != "stopped":
        say(f"the recording ended: {recorder.why}")
    if last is not None and report is not None:
        say(f"next: clrevents {report} {safe(str(last.path))}")
    return code


def _missing(file: RecordedFile) -> str | None:
    """What the file lacks, and why; None if nothing."""
    missing = (
        "the last events and the names of methods compiled before the recording are missing"
        if file.names is None
        else f"the last events are missing; {safe(file.names.name)} has the names of methods: keep it beside this file"
    )
    if file.failure is not None:
        return f"could not be written further ({file.failure.strerror or file.failure}); it can be read, but {missing}"
    if file.complete:
        return None
    why = {
        "ended": "the process was killed or crashed",
        "broken": "the connection broke",
        "abandoned": "the end was not waited for, or took longer than --stop-within",
        "stopped": "the process did not write the end",
    }.get(file.end or "abandoned")
    return f"{why}: {missing}"


def _code(file: RecordedFile, stops: StopCount) -> int:
    if file.failure is not None:
        return UNREADABLE
    return INTERRUPTED if file.end == "abandoned" and stops.count > 1 else DAMAGED


def _list_profiles() -> None:
    with Output() as out:
        for profile in PROFILES:
            out.line(f"{out.bold(profile.name)}{'  (as in dotnet-trace)' if profile.official else ''}")
            out.line(f"    {profile.purpose}")
            out.line(f"    cost: {profile.cost}")
            out.line(f"    reports: {', '.join(profile.reports) or '-'}")
            out.lines(f"    {safe(str(provider))[:150]}" for provider in profile.providers)

"""A law: a recording never harms the program. One that goes on to make what recordings have to do with, and then exits
by itself, always exits: whatever is recorded of it, from when to when, and however the recording ends.

On .NET 8 and 11; the programs run side by side. Of what asks for metrics, each case runs ten times; of the rest, the
full tier has a fixed sample of as many.
"""

from __future__ import annotations

import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from clrevents.analysis.framework.run.listing import report_names
from clrevents.cli.live_process import asked_profile
from clrevents.diagnostics import PROFILES, DiagnosticsError, Process, Session, find_process
from clrevents.diagnostics.driving import open_request, run
from clrevents.diagnostics.messages import StopTracing
from clrevents.diagnostics.profiles import METERS, Profile, counter_providers
from clrevents.diagnostics.recorder import Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings, start_session
from dotnet_runtimes import NET8, NET11, NEWER, Runtime, installed, lively
from tiers import drawn

pytestmark = [pytest.mark.full, pytest.mark.shared]
BOTH = pytest.mark.parametrize("runtime", [NET8, NET11], ids=lambda runtime: runtime.name)

SECONDS: Final = 2.0
"""How long the program goes on."""
PATIENCE: Final = 60.0
"""After which it hangs: it needs its seconds, more on a busy machine, or for good."""
AT_ONCE: Final = 12
FOUR: Final = ("duration", "ctrl-c", "stop", "kill")


@contextmanager
def living(runtime: Runtime, seconds: float = SECONDS) -> Iterator[tuple[subprocess.Popen[str], Process]]:
    """The program while it runs, and as one that is recorded. Killed in the end if it is still there."""
    command = [str(installed(runtime).dotnet), str(lively()), str(seconds)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **NEWER})
    try:
        yield started, _socket_of(started)
    finally:
        started.kill()
        started.communicate()


def _socket_of(started: subprocess.Popen[str]) -> Process:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return find_process(started.pid)
        except DiagnosticsError:
            assert time.monotonic() < until, "the program did not start"
            time.sleep(0.02)


def end_of(started: subprocess.Popen[str], seconds: float = PATIENCE) -> str:
    """How it ends: what it prints last and its exit code, unless that is 0."""
    try:
        out, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return "hangs"
    return out.strip() if not started.returncode else f"{out.strip()} {started.returncode}"


def ways() -> dict[str, Profile]:
    """All that can be asked for by a name: profiles, and reports (`--for`, and the report's own `-p`)."""
    found = {f"profile {one.name}": asked_profile((one.name,), (), (), None, None) for one in PROFILES}
    asked = {f"for {name}": asked_profile((), (name,), (), None, None) for name in report_names()}
    return {name: profile for name, profile in {**found, **asked}.items() if profile.providers}


def recorded(process: Process, profile: Profile, end: str, seconds: float, path: Path) -> None:
    """Record it for so long, and end that in one of the four ways; a long recording lasts until the program ends."""
    over = threading.Event()
    if end in ("duration", "ctrl-c"):
        settings = SessionSettings(profile.providers, 64, profile.rundown)
        plan = RecordingPlan(seconds if end == "duration" else None)
        recorder = Recorder(process, settings, iter([path]), plan, over.is_set)
        recorder.start()
        timer = threading.Timer(seconds, over.set)
        timer.start()
        recorder.run()
        timer.cancel()
    else:
        with Session(process, providers=profile.providers, rundown=profile.rundown, reports=()) as session:
            # To the runtime, a reader that is killed is one whose connection is closed.
            timer = threading.Timer(seconds, session.stop if end == "stop" else session.abandon)
            timer.start()
            for _ in session:
                pass
            timer.cancel()


@BOTH
def test_a_recorded_program_always_exits(runtime: Runtime, tmp_path: Path) -> None:
    lively()
    profiles = ways()
    cases = [
        (name, end, str(turn))
        for name, profile in profiles.items()
        for end in FOUR
        for turn in range(10)
        if _of_metrics(profile) or drawn(25, "no harm", runtime.name, name, end, str(turn))
    ]

    def one(case: tuple[str, str, str]) -> str | None:
        name, end, turn = case
        chance = random.Random(" ".join(case))
        path = tmp_path / f"{'-'.join(case).replace(' ', '-')}.nettrace"
        with living(runtime) as (started, process):
            # Often when metrics are collected for the first time, a second after they were asked for.
            time.sleep(chance.uniform(0, 0.8))
            seconds = chance.choice((0.3, 1.0, 1.0, chance.uniform(0.9, 1.2), SECONDS, 60.0))
            try:
                recorded(process, profiles[name], end, seconds, path)
            except DiagnosticsError:
                # It had ended before it was asked, on a busy machine.
                if started.poll() is None:
                    raise
            path.unlink(missing_ok=True)
            ended = end_of(started)
            return None if ended == "ended" else f"{name}, {end}, turn {turn}, after {seconds:.2f} s: {ended}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        harmed = [case for case in pool.map(one, cases) if case is not None]
    assert len(cases) > 80
    assert not harmed, (len(harmed), len(cases), harmed)


def _of_metrics(profile: Profile) -> bool:
    return any(one.name == METERS for one in profile.providers)


def test_what_the_law_holds_against() -> None:
    """A session of metrics that is stopped while a process collects them for the first time, as tools do that know
    nothing of it: .NET 11 hangs. So the law can fail; where it could not, the guard would be of no use."""
    settings = SessionSettings(counter_providers(), 16, rundown=False)

    def one(turn: int) -> str:
        with living(NET11) as (started, process):
            time.sleep(0.3)
            connection, session = run(start_session(process.endpoint, settings), "a recording")
            time.sleep(1 + turn / 500)
            stopper = run(open_request(process.endpoint, StopTracing(session)), "its end")
            ended = end_of(started, SECONDS + 10)
            connection.close()
            stopper.close()
            return ended

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert "hangs" in pool.map(one, range(-12, 12))

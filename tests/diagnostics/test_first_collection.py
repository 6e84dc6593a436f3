"""A session of a moment in which a process collects its metrics for the first time, before those are recorded."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from built.built_counters import collected, meter
from clrevents.diagnostics import AsyncSession, Process, Provider, Session
from clrevents.diagnostics.profiles import METERS, counter_providers
from clrevents.diagnostics.recorder import Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.transports import endpoint_at
from clrevents.testing.builder import TraceBuilder
from scripted_runtime import COLLECT, STOP, ScriptedRuntime, ok, text

PUBLISHED = meter(TraceBuilder(), "BeginInstrumentReporting", sessionId="SHARED", meterName="A").build()
COLLECTED = collected(TraceBuilder(), 1, end=True).build()


class Sessions:
    """Numbers the sessions of a runtime, and notes what is done with them; `heard` is what a session of metrics alone
    gets before it is stopped."""

    def __init__(self, heard: bytes = b"") -> None:
        self.done: list[tuple[str, int]] = []
        self.asked: list[bytes] = []
        self._heard = heard
        self._over: list[threading.Event] = []

    def answers(self) -> dict[tuple[int, int], Any]:
        return {STOP: self._stop, **dict.fromkeys(COLLECT, self._collect)}

    def _collect(self, connection: socket.socket, payload: bytes) -> None:
        over = threading.Event()
        self._over.append(over)
        self.asked.append(payload)
        number = len(self._over)
        self.done.append(("begin", number))
        connection.sendall(ok(struct.pack("<Q", number)))
        # The number of providers follows the buffer, the format, and whether there is a rundown.
        connection.sendall(self._heard if struct.unpack_from("<I", payload, 9) == (1,) else COLLECTED)
        connection.settimeout(0.02)
        while not over.is_set():
            try:
                if not connection.recv(1) and not over.is_set():
                    self.done.append(("closed", number))
                    return
            except TimeoutError:
                continue

    def _stop(self, connection: socket.socket, payload: bytes) -> None:
        (number,) = struct.unpack("<Q", payload)
        self.done.append(("stop", number))
        self._over[number - 1].set()
        connection.sendall(ok(payload))


def recorded(runtime: ScriptedRuntime, how: str, *providers: Provider) -> None:
    process = Process(4711, endpoint_at(runtime.address))

    async def in_a_loop() -> None:
        async with AsyncSession(process, providers=providers, duration=0.1) as session:
            async for _ in session:
                pass

    if how == "async":
        asyncio.run(in_a_loop())
    else:
        with Session(process, providers=providers, duration=0.1) as session:
            for _ in session:
                pass


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_it_is_over_before_the_session_begins(how: str) -> None:
    sessions = Sessions(COLLECTED)
    with ScriptedRuntime(answers=sessions.answers()) as runtime:
        recorded(runtime, how, *counter_providers(["My.Meter"]))
    assert sessions.done == [("begin", 1), ("stop", 1), ("begin", 2), ("stop", 2)]
    first, second = sessions.asked
    assert text(METERS) in first
    assert text("SessionId=SHARED;RefreshInterval=0.1") in first
    assert text("SessionId=SHARED;Metrics=My.Meter;MaxHistograms=10") in second


@pytest.mark.parametrize(
    ("heard", "end"),
    # One that is closed is noticed when a collection is written; where there is no source of metrics none ever is.
    [(PUBLISHED, "closed"), (b"", "stop")],
    ids=["no collection", "no source"],
)
def test_where_none_comes_it_is_not_waited_for(heard: bytes, end: str) -> None:
    sessions = Sessions(heard)
    with ScriptedRuntime(answers=sessions.answers()) as runtime:
        began = time.monotonic()
        recorded(runtime, "blocking", *counter_providers())
        took = time.monotonic() - began
        while len(sessions.done) < 4 and time.monotonic() < began + 20:
            time.sleep(0.01)
    assert sorted(sessions.done) == sorted([("begin", 1), (end, 1), ("begin", 2), ("stop", 2)])
    assert 2 < took < 10


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_other_sessions_have_none(how: str) -> None:
    sessions = Sessions()
    with ScriptedRuntime(answers=sessions.answers()) as runtime:
        recorded(runtime, how, Provider("runtime", keywords=1), Provider("A"))
    assert sessions.done == [("begin", 1), ("stop", 1)]


def test_a_ring_has_one_before_its_first_file(tmp_path: Path) -> None:
    sessions = Sessions(COLLECTED)
    with ScriptedRuntime(answers=sessions.answers()) as runtime:
        process = Process(4711, endpoint_at(runtime.address))
        paths = (tmp_path / str(number) for number in count())
        recorder = Recorder(process, SessionSettings(counter_providers()), paths, RecordingPlan(1, rotate=0.2))
        recorder.start()
        recorder.run()
    _, last = sessions.done[-1]
    assert last > 2
    rotated = [step for number in range(3, last + 1) for step in (("begin", number), ("stop", number - 1))]
    assert sessions.done == [("begin", 1), ("stop", 1), ("begin", 2), *rotated, ("stop", last)]

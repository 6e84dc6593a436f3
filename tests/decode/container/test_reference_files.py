"""The cases of the reference reader's tests that read real files.

The files are third-party and not part of the project: where the shared folder is missing these tests are skipped.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import clrevents
from clrevents.decode.stream.stream import Stream
from small_streams import perfview

pytestmark = pytest.mark.shared


class Pipe(io.RawIOBase):
    """A stream without length or position."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = io.BytesIO(data)
        self._most = most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: Any) -> int:
        data = self._data.read(min(len(buffer), self._most))
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize(
    "name", ["dotnetcore2.1-linux-x64-objver3", "dotnetcore2.1-win-x86", "dotnetcore2.1-linux-x64-tr"]
)
def test_no_event_waits_for_more_than_its_block(name: str) -> None:
    """Fed in small pieces, nothing is delivered more than 103,000 bytes late; a pipe with short reads is as good."""
    data = perfview(name)
    stream = Stream()
    late = events = 0
    for at in range(0, len(data), 500):
        for rows in stream.feed(data[at : at + 500]):
            events += len(rows)
            late = max(late, at + 500 - int(rows.offsets.min()))
    assert sum(map(len, stream.close())) == 0
    assert late <= 103_000
    with clrevents.open(io.BufferedReader(Pipe(data, 700))) as trace, clrevents.open(data) as whole:
        assert trace.event_counts() == whole.event_counts()
        assert sum(trace.event_counts().values()) == events


def test_a_live_session_delivers_while_it_runs() -> None:
    """Samples arrive before the session's last bytes; `flush` brings what waits for its order."""
    data = perfview("dotnetcore3.0-win-x64")
    decoder = clrevents.Decoder("Microsoft-DotNETCore-SampleProfiler/*")
    half, samples = len(data) // 2, []
    for at in range(0, half, 65_536):
        samples.append(sum(map(len, decoder.feed(data[at : min(at + 65_536, half)]))))
    assert sum(1 for n in samples if n) > 5
    waiting = sum(map(len, decoder.flush()))
    rest = sum(map(len, decoder.feed(data[half:]))) + sum(map(len, decoder.close()))
    assert sum(samples) + waiting + rest == 35_161


def header(name: str) -> tuple[Any, ...]:
    with clrevents.open(perfview(name)) as trace:
        info = trace.info
        assert info.start is not None
        ticks = (info.start - datetime(1, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10
        return (
            info.pointer_size,
            info.process_id,
            info.processors,
            info.sampling_interval_ns,
            ticks,
            info.sync_qpc,
            info.frequency,
        )


def test_header_of_netperf_3() -> None:
    assert header("dotnetcore2.1-win-x86") == (4, 3312, 4, 1_000_000, 636531024984420000, 20461004832, 2533315)


def test_header_of_nettrace_4() -> None:
    expected = (8, 10064, 4, 1_000_000, 636962398197540000, 100935252313, 3124099)
    assert header("dotnetcore3.0-win-x64") == expected


def test_processor_numbers() -> None:
    with clrevents.open(perfview("dotnetcore3.0-win-x64")) as trace:
        seen = {event.processor for event in trace.events()}
    # None: a sample is about another thread than the one whose processor is known.
    assert seen == {None, 0, 1, 2, 3}


def test_guids_in_metadata() -> None:
    guid = "10000000-0000-0000-0000-000000000001"
    with clrevents.open(perfview("dotnetcore2.1-linux-x64-objver3")) as trace:
        listed = list(trace.events())
    (at,) = (i for i, e in enumerate(listed) if e.provider == "System.Threading.Tasks.TplEventSource" and e.id == 25)
    assert str(listed[at].payload["NewId"]) == guid
    assert {str(e.activity_id) for e in listed[: at + 1]} == {"None"}
    assert {str(e.activity_id) for e in listed[at + 1 :]} == {guid}


def test_times_before_the_session() -> None:
    with clrevents.open(perfview("dotnetcore6.0-win-x64-executioncheckpoints")) as trace:
        info = trace.info
        found = {}
        for event in trace.events():
            name, ticks = text_and_number(event.payload_bytes)
            found[name] = round((ticks - info.sync_qpc) * 1000 / info.frequency, 2)
    assert found == {"RuntimeInit": -15.97, "RuntimeSuspend": 11.91, "RuntimeResumed": 12.20}


def text_and_number(payload: bytes) -> tuple[str, int]:
    """ClrInstanceID, a name and a tick, read by hand."""
    end = next(i for i in range(2, len(payload), 2) if payload[i : i + 2] == b"\0\0")
    return payload[2:end].decode("utf-16-le"), int.from_bytes(payload[end + 2 : end + 10], "little")

"""Sessions with a scripted runtime: the same events as from a file, however the bytes come and however it ends."""

from __future__ import annotations

import asyncio
import struct
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.diagnostics import AsyncSession, DiagnosticsError, Process, Provider, Session
from clrevents.diagnostics.transports import endpoint_at
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked
from scripted_runtime import COLLECT, SESSION, STOP, ScriptedRuntime, ok, pieces, refusal

SAMPLE = unpacked(fixture("net8-sample"))
GC = Provider("runtime", keywords=1)


def small() -> bytes:
    builder = TraceBuilder().thread(7).method_load("Program", "Main", address=0x1000)
    for number in range(20):
        builder.sample(0x1000 + number)
    return builder.build()


def process_of(runtime: ScriptedRuntime) -> Process:
    return Process(4711, endpoint_at(runtime.address))


def same(events: Any) -> Counter[str]:
    """Events as a multiset: which of two of one moment comes first is nobody's promise."""
    return Counter(repr((e.key, e.time_ns, e.thread_id, e.stack, e.payload)) for e in events)


def in_file(data: bytes, *selectors: str) -> Counter[str]:
    with clrevents.open(data) as trace:
        return same(trace.events(*selectors))


def live(runtime: ScriptedRuntime, *selectors: str, **options: Any) -> tuple[Session, Counter[str]]:
    found: Counter[str] = Counter()
    with Session(process_of(runtime), *selectors, **{"providers": [GC], **options}) as session:
        for batch in session:
            found += same(batch)
    return session, found


async def live_async(runtime: ScriptedRuntime, **options: Any) -> tuple[AsyncSession, Counter[str]]:
    found: Counter[str] = Counter()
    async with AsyncSession(process_of(runtime), **{"providers": [GC], **options}) as session:
        async for batch in session:
            found += same(batch)
    return session, found


@pytest.mark.parametrize(
    ("data", "size"),
    [(small(), 1), (small(), 7), (SAMPLE, 1000), (SAMPLE, 65536), (SAMPLE, len(SAMPLE))],
    ids=["1 byte", "7 bytes", "1,000", "65,536", "at once"],
)
@pytest.mark.parametrize("how", ["blocking", "event loop"])
def test_events_are_those_of_the_file(tmp_path: Path, data: bytes, size: int, how: str) -> None:
    """Live, recorded and read from the file that the same session wrote."""
    file = tmp_path / "a.nettrace"
    with ScriptedRuntime(tmp_path / "a", live=pieces(data, size), ends=True) as runtime:
        if how == "blocking":
            session, found = live(runtime, record=file)
        else:
            session, found = asyncio.run(live_async(runtime, record=file))  # type: ignore[assignment]
    assert file.read_bytes() == data
    assert session.bytes == len(data)
    assert session.end == "ended"
    assert found == in_file(data)


def test_selectors_choose_what_is_given_and_everything_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "a.nettrace"
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE], ends=True) as runtime:
        _, found = live(runtime, "GC*", record=file)
    assert found == in_file(SAMPLE, "GC*")
    assert file.read_bytes() == SAMPLE


@pytest.mark.parametrize("how", ["blocking", "event loop"])
def test_a_stop_takes_what_comes_after_it(tmp_path: Path, how: str) -> None:
    """The rundown is sent before the stop is answered, and is read meanwhile."""
    half = len(SAMPLE) // 2
    file = tmp_path / "a.nettrace"

    async def stopped(runtime: ScriptedRuntime) -> AsyncSession:
        async with AsyncSession(process_of(runtime), providers=[GC], record=file) as session:
            async for _ in session:
                break
        return session

    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:half]], rest=pieces(SAMPLE[half:], 5000)) as runtime:
        if how == "blocking":
            with Session(process_of(runtime), providers=[GC], record=file) as session:
                for _ in session:
                    break
            end = session.end
        else:
            end = asyncio.run(stopped(runtime)).end
        sent = [payload for code, payload in runtime.requests if code == STOP]
    assert sent == [struct.pack("<Q", SESSION)]
    assert end == "stopped"
    assert file.read_bytes() == SAMPLE


def test_quiet_streams_give_what_they_have(tmp_path: Path) -> None:
    """A runtime that has little to say marks no point up to which everything is there; events come all the same."""
    data = small()
    # An object begins with three tags and three numbers before its name.
    cut = data.rindex(b"SPBlock") - 15
    with (
        ScriptedRuntime(tmp_path / "a", live=[data[:cut]], rest=[data[cut:]]) as runtime,
        Session(process_of(runtime), providers=[GC]) as session,
    ):
        seen = []
        began = time.monotonic()
        for batch in session:
            seen += list(batch)
            if len(seen) >= 20:
                break
        took = time.monotonic() - began
    assert len(seen) >= 20
    assert took < 20


def test_any_thread_may_stop_it(tmp_path: Path) -> None:
    with (
        ScriptedRuntime(tmp_path / "a", live=[SAMPLE]) as runtime,
        Session(process_of(runtime), providers=[GC]) as session,
    ):
        threading.Timer(0.2, session.stop).start()
        events = sum(len(batch) for batch in session)
    assert session.end == "stopped"
    assert events == sum(in_file(SAMPLE).values())


def test_no_byte_is_lost_where_waits_end_as_bytes_come(tmp_path: Path) -> None:
    """Pieces that come about when an event loop has waited long enough: a wait that is over must not take any."""
    with ScriptedRuntime(tmp_path / "a", live=pieces(SAMPLE, 8000), ends=True, pause=0.0499) as runtime:
        session, found = asyncio.run(live_async(runtime))
    assert session.bytes == len(SAMPLE)
    assert found == in_file(SAMPLE)


def test_what_is_half_there_is_given(tmp_path: Path) -> None:
    """A process that is killed: the stream ends in the middle of a block."""
    cut = len(SAMPLE) * 2 // 3
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:cut]], ends=True) as runtime:
        session, found = live(runtime, record=tmp_path / "a.nettrace")
    with clrevents.open(SAMPLE[:cut], errors="salvage") as trace, pytest.warns(clrevents.TraceWarning, match="damaged"):
        assert found == same(trace.events())
    assert {problem.kind for problem in session.decoder.problems} & {"missing-end", "truncated"}
    assert not found - in_file(SAMPLE)


@pytest.mark.parametrize("how", ["blocking", "event loop"])
def test_a_runtime_that_writes_on_is_given_up(tmp_path: Path, how: str) -> None:
    """Whatever comes after the stop, a session ends within its limit."""
    until = time.monotonic() + 5
    with ScriptedRuntime(
        tmp_path / "a", rest=iter(lambda: SAMPLE if time.monotonic() < until else b"", b"")
    ) as runtime:
        began = time.monotonic()
        if how == "blocking":
            session, _ = live(runtime, duration=0.1, stop_seconds=0.4)
        else:
            session, _ = asyncio.run(live_async(runtime, duration=0.1, stop_seconds=0.4))  # type: ignore[assignment]
        assert time.monotonic() - began < 3
    assert session.end == "abandoned"


@pytest.mark.parametrize("how", ["blocking", "event loop"])
def test_a_runtime_that_does_not_end_is_given_up(tmp_path: Path, how: str) -> None:
    """Half-open: it has answered the stop, and neither sends nor closes."""
    answers: dict[tuple[int, int], Any] = {STOP: ok(struct.pack("<Q", SESSION))}
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE], answers=answers) as runtime:
        began = time.monotonic()
        if how == "blocking":
            session, found = live(runtime, duration=0.1, stop_seconds=0.4)
        else:
            session, found = asyncio.run(live_async(runtime, duration=0.1, stop_seconds=0.4))  # type: ignore[assignment]
        assert time.monotonic() - began < 20
    assert session.end == "abandoned"
    assert found == in_file(SAMPLE)


def fail_inside(runtime: ScriptedRuntime, file: Path) -> None:
    with Session(process_of(runtime), providers=[GC], record=file) as session:
        for _ in session:
            raise KeyError("mine")


def test_an_exception_inside_stops_the_session_and_keeps_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.nettrace"
    half = len(SAMPLE) // 2
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:half]], rest=[SAMPLE[half:]]) as runtime:
        with pytest.raises(KeyError):
            fail_inside(runtime, file)
        assert STOP in [code for code, _ in runtime.requests]
    assert file.read_bytes() == SAMPLE


def test_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a", live=pieces(SAMPLE, 20_000), ends=True) as runtime:
        found: Counter[str] = Counter()
        with Session(process_of(runtime), providers=[GC]) as session:
            for batch in session:
                time.sleep(0.02)
                found += same(batch)
    assert found == in_file(SAMPLE)


def test_a_file_that_cannot_be_written_ends_the_session(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE]) as runtime:
        with pytest.raises(FileNotFoundError):
            live(runtime, record=tmp_path / "no" / "folder")
        with pytest.raises(OSError, match="No space left"):
            live(runtime, record=Path("/dev/full"))
        # It is told to stop, and nobody waits for its answer.
        deadline = time.monotonic() + 10
        while runtime.requests[-1][0] != STOP and time.monotonic() < deadline:
            time.sleep(0.01)
        assert runtime.requests[-1][0] == STOP


def test_methods_are_known_while_events_come(tmp_path: Path) -> None:
    data = small()
    with (
        ScriptedRuntime(tmp_path / "a", live=[data]) as runtime,
        Session(process_of(runtime), providers=[GC]) as session,
    ):
        for batch in session:
            frames = [str(frame) for event in batch for frame in event.frames]
            if frames:
                break
        assert "Program.Main" in frames[0]
        assert len(session.methods) == 1


def test_reports_at_any_moment_and_in_the_end(tmp_path: Path) -> None:
    """In the middle an answer about what came, in the end that of the whole trace."""
    data = unpacked(fixture("net10-garbage"))
    half = len(data) // 2
    with ScriptedRuntime(tmp_path / "a", live=[data[:half]], rest=[data[half:]]) as runtime:
        with Session(process_of(runtime), profile="gc") as session:
            counts = []
            for _ in session:
                counts.append(session.report("gc").metrics["count"].value)
                if len(counts) == 2:
                    session.stop()
        last: Any = session.report("gc")
        again = session.report("gc")
    with clrevents.open(data) as trace:
        whole: Any = trace.reports("gc")["gc"]
    assert counts == sorted(counts)
    assert last.metrics == whole.metrics
    assert last.collections == whole.collections
    assert again.metrics == last.metrics
    with pytest.raises(ValueError, match=r"reports=\['locks'\]"):
        session.report("locks")


def test_the_oldest_request_that_can_say_it_is_used(tmp_path: Path) -> None:
    """And what an older runtime knows where it does not know that."""
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE], ends=True) as runtime:

        def sent(**options: Any) -> list[tuple[int, int]]:
            runtime.requests.clear()
            live(runtime, **options)
            return [code for code, _ in runtime.requests if code in COLLECT]

        assert sent() == [(2, 3)]
        assert sent(stacks=False) == [(2, 4)]
        assert sent(profile="gc-collect", providers=()) == [(2, 5)]
        runtime.answers[2, 5] = refusal(0x80131385)
        assert sent(profile="gc-collect", providers=()) == [(2, 5), (2, 3)]
        assert runtime.requests[-1][1][8] == 0, "no rundown where none of its own can be asked for"
        runtime.answers[2, 3] = refusal(0x80131385)
        assert sent() == [(2, 3), (2, 2)]
        runtime.answers[2, 4] = refusal(0x80131385)
        with pytest.raises(DiagnosticsError, match=r"needs \.NET 8"):
            sent(stacks=False)


def test_a_sixty_fifth_session_is_refused_with_advice(tmp_path: Path) -> None:
    answers: dict[tuple[int, int], Any] = dict.fromkeys(COLLECT, refusal(0x80004005))
    with (
        ScriptedRuntime(tmp_path / "a", answers=answers) as runtime,
        pytest.raises(DiagnosticsError, match="at most 64 sessions"),
    ):
        live(runtime)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "nonsense"}, "there is no profile 'nonsense'; there are default, cpu"),
        ({"profile": "cpu-sampling"}, "belongs to the Linux recorder"),
        ({"providers": ["A:zz"]}, "not a hexadecimal"),
        ({"providers": ["A:1:9x"]}, "not a level"),
        ({"buffer_mb": 0}, "1 to"),
        ({"providers": ["A:1:4:x=1", "A:1:4:x=2"]}, "twice with different arguments"),
    ],
    ids=str,
)
def test_bad_wishes_are_refused_before_anybody_is_asked(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with ScriptedRuntime(tmp_path / "a") as runtime:
        with pytest.raises((ValueError, DiagnosticsError), match=said):
            Session(process_of(runtime), **options)
        assert not runtime.requests


def test_an_unknown_event_is_said_before_anybody_is_asked(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a") as runtime:
        with pytest.raises(clrevents.UnknownEventError, match="ExceptionThrown"):
            Session(process_of(runtime), "ExceptionThrow")
        assert not runtime.requests


def listed(process_id: int = 1234, begun_ns: int = 3_000_000) -> bytes:
    """What a process lists in a session that begins so much later; its clock goes on."""
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=begun_ns // 1_000_000)
    builder = TraceBuilder(process_id=process_id, start=start, sync_qpc=1_000_000 + begun_ns)
    # Another kind of event first: kinds have other numbers than in the recording.
    builder.sample(1)
    return builder.method_load("Program", "Main", address=0x1000).rundown().build()


def sampled() -> bytes:
    return TraceBuilder().thread(7).sample(0x1010).at(5_000_000).sample(0x1020).sample(0x9000).build(complete=False)


@pytest.mark.parametrize("how", ["blocking", "event loop"])
@pytest.mark.parametrize(
    ("data", "names"),
    [
        (listed(), ["Program.Main()", "Program.Main()", None]),
        (listed(process_id=99), [None] * 3),
        (listed(begun_ns=-3_000_000), ["Program.Main()", "Program.Main()", None]),
        (listed()[:300], [None] * 3),
        (b"nothing of the kind", [None] * 3),
        (None, [None] * 3),
    ],
    ids=["of this process", "of another", "begun before", "cut off", "no trace", "refused"],
)
def test_code_has_names_from_the_start(tmp_path: Path, data: bytes | None, names: list[str | None], how: str) -> None:
    """A runtime lists code at the end of a session; another session of a moment does so at its beginning."""
    shown: list[str | None] = []

    def take(batch: Any) -> None:
        shown.extend(event.frames[0].label if event.frames[0].resolved else None for event in batch)

    async def in_a_loop(runtime: ScriptedRuntime) -> AsyncSession:
        async with AsyncSession(process_of(runtime), "ThreadSample", providers=[GC]) as session:
            async for batch in session:
                take(batch)
        return session

    with ScriptedRuntime(tmp_path / "a", live=[sampled()], ends=True, listed=data) as runtime:
        if how == "event loop":
            session: Session | AsyncSession = asyncio.run(in_a_loop(runtime))
        else:
            with Session(process_of(runtime), "ThreadSample", providers=[GC]) as session:
                for batch in session:
                    take(batch)
    assert shown == names
    assert not session.methods.complete


@pytest.mark.parametrize(
    "options", [{"rundown": False}, {"symbols": False}, {"early_names": False}, {"profile": "heap", "providers": []}]
)
def test_no_list_is_asked_for_where_none_is_wanted(tmp_path: Path, options: dict[str, Any]) -> None:
    """Above all beside a walk of the heap, which another session would start again."""
    with ScriptedRuntime(tmp_path / "a", live=[sampled()], ends=True, listed=listed()) as runtime:
        live(runtime, **options)
    assert runtime.lists == 0

"""`Trace` and `Decoder` as users hold them: selectors, filters, order, pickles, lifetimes, error modes."""

from __future__ import annotations

import gc
import io
import pickle
import time as clock_module
import weakref
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents import Decoder, EventKey, Limits, RawPayload, Trace, TraceError, TraceWarning, UnknownEventError
from clrevents.diagnostics.profiles import providers_for
from clrevents.events import (
    ILStubGenerated_V0,
    MethodFlags,
    MethodLoad_V0,
    MethodLoad_V1,
    MethodLoadVerbose_V1,
    MethodLoadVerbose_V2,
)
from clrevents.reference import codec
from clrevents.schema.registry import DEFAULT, RUNDOWN, RUNTIME
from clrevents.testing.builder import TraceBuilder
from clrevents.types import Registry, UInt32, event
from nettrace4_writer import Blob, Writer
from project_files import fixture, unpacked

INTEROP = fixture("net8-method-interop")
SAMPLE = fixture("net8-sample")


@pytest.fixture(scope="module")
def interop() -> Trace:
    return clrevents.open(unpacked(INTEROP))


@pytest.fixture(scope="module")
def everything(interop: Trace) -> list[clrevents.Event[Any]]:
    return list(interop.events())


def named(events: Any) -> Counter[str]:
    return Counter(e.name for e in events)


ENDS = {"DCEndInit": 1, "DCEndComplete": 1}


# Selectors.


def test_no_selector_is_everything(interop: Trace, everything: list[clrevents.Event[Any]]) -> None:
    assert Counter(e.key for e in everything) == interop.event_counts()
    assert len(everything) == 5607
    assert list(interop.event_counts().values()) == sorted(interop.event_counts().values(), reverse=True)


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (("ILStubGenerated",), {"ILStubGenerated": 9}),
        (("ILStub/StubGenerated",), {"ILStubGenerated": 9}),
        ((f"{RUNTIME}/ILStubGenerated",), {"ILStubGenerated": 9}),
        (("runtime/ILStubGenerated",), {"ILStubGenerated": 9}),
        (("MethodLoadVerbose",), {"MethodLoadVerbose": 125}),
        (("MethodLoadVerbose", "MethodLoadVerbose", "ILStub*"), {"MethodLoadVerbose": 125, "ILStubGenerated": 9}),
        (("MethodLoad*",), {"MethodLoadVerbose": 125}),
        (("Method/Load*",), {"MethodLoadVerbose": 125}),
        (("runtime/Tiered*",), {}),
        (("rundown/Method*",), {"MethodDCEndVerbose": 1175, "MethodDCEndILToNativeMap": 83, **ENDS}),  # also by alias
        (("rundown/*Complete",), {"DCEndComplete": 1}),
        (("*/DCEnd[IC]*",), ENDS),
        (("Runtime/Start",), {"RuntimeInformationStart": 1, "RuntimeInformationDCStart": 1}),
        (("ProcessInfo",), {"ProcessInfo": 1}),
        (("Microsoft-DotNETCore-EventPipe/ProcessInfo",), {"ProcessInfo": 1}),
        (("MethodUnload",), {}),
        (("nothing like this*",), {}),
        ((ILStubGenerated_V0,), {"ILStubGenerated": 9}),
        ((MethodLoadVerbose_V1,), {"MethodLoadVerbose": 125}),
        ((MethodLoadVerbose_V2,), {"MethodLoadVerbose": 35}),
        ((MethodLoad_V0,), {}),
        ((EventKey(RUNTIME, 143, 1, "MethodLoadVerbose"),), {"MethodLoadVerbose": 90}),
        ((EventKey(RUNTIME, 143, 7, "MethodLoadVerbose"),), {}),
    ],
)
def test_selectors(interop: Trace, selectors: tuple[Any, ...], expected: dict[str, int]) -> None:
    assert named(interop.events(*selectors)) == expected


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("MethodLoadVerbos", "did you mean MethodLoadVerbose"),
        ("methodloadverbose", "did you mean MethodLoadVerbose"),
        ("ProcesInfo", "did you mean ProcessInfo"),
        ("Complete nonsense, really", ""),
        (f"{RUNDOWN}/MethodLoadVerbose", ""),
    ],
)
def test_unknown_name_raises_at_the_end_of_the_pass(interop: Trace, name: str, near: str) -> None:
    events = interop.events(name, "ILStubGenerated")
    assert [next(events).name for _ in range(9)] == ["ILStubGenerated"] * 9
    with pytest.raises(UnknownEventError, match=f"no event {name!r}.*{near}") as caught:
        next(events)
    assert isinstance(caught.value, LookupError)
    assert caught.value.path is None
    decoder = Decoder(name)
    decoder.feed(unpacked(INTEROP))
    with pytest.raises(UnknownEventError, match=near or "no event"):
        list(decoder.close())


@pytest.mark.parametrize("selector", [1, None, b"MethodLoad", int, RawPayload, ("a", "b")])
def test_no_selector_at_all(interop: Trace, selector: Any) -> None:
    with pytest.raises(TypeError):
        list(interop.events(selector))


def test_name_goes_before_alias_and_provider() -> None:
    """A self-described event with another's alias as its name."""
    registry = Registry()
    writer = Writer()
    writer.metadata(1, RUNTIME, 141, 0)
    writer.metadata(2, "Mine", 1, name="Method/Load")
    writer.metadata(3, "Mine/Deep", 1, name="Last")
    load = codec(MethodLoad_V0, 8).build(MethodLoad_V0(1, 2, 3, 4, 5, MethodFlags(6)))
    writer.events(Blob(1, 1, load), Blob(2, 2), Blob(3, 3))
    trace = clrevents.open(writer.end(), registry=registry)
    assert [e.key.provider for e in trace.events("Mine/Deep/Last")] == ["Mine/Deep"]
    assert [e.provider for e in trace.events("Mine/Method/Load")] == ["Mine"]
    assert [e.provider for e in trace.events("MethodLoad")] == [RUNTIME]
    assert [e.provider for e in trace.events("Mine*/*")] == ["Mine", "Mine/Deep"]


# Filters.


def test_a_provider_is_a_selector() -> None:
    """One whose name has a dash or a dot, which events do not have, or a short one."""
    builder = TraceBuilder().sample(1)
    for provider, name in (("Own-Orders", "Placed"), ("Own-Orders", "Paid"), ("Other", "Own.Tea"), ("Own.Tea", "X")):
        builder.described(provider, name, {}, id=len(name))
    expected = {"Own-Orders": ["Placed", "Paid"], "sample": ["ThreadSample"], "Own.Tea": ["Own.Tea", "X"]}
    with clrevents.open(builder.build()) as trace:
        assert {selector: [event.name for event in trace.events(selector)] for selector in expected} == expected
        for unknown in ("Own-Order", "Other"):
            with pytest.raises(clrevents.UnknownEventError, match="no event"):
                list(trace.events(unknown))
    wanted = providers_for(["Own-Orders", "runtime"])
    assert wanted == providers_for(["Own-Orders/*", "runtime/*"])
    assert [one.name for one in wanted] == ["Own-Orders", RUNTIME]


def between(events: list[clrevents.Event[Any]], low: int | None, high: int | None) -> list[clrevents.Event[Any]]:
    return [e for e in events if (low is None or e.time_ns >= low) and (high is None or e.time_ns < high)]


@pytest.mark.parametrize(
    ("start", "end", "low", "high"),
    [
        (200_000_000, 400_000_000, 200_000_000, 400_000_000),
        ("200ms", "0.4s", 200_000_000, 400_000_000),
        (" 200 ms ", "400000us", 200_000_000, 400_000_000),
        ("0.2s", "0.00666666666667 min", 200_000_000, 400_000_000),
        (timedelta(milliseconds=200), timedelta(seconds=0.4), 200_000_000, 400_000_000),
        (None, "1h", None, None),
        ("-5s", None, None, None),
        (None, 0, 0, 0),
        ("2000000000ns", None, 2 * 10**9, None),
    ],
)
def test_times(
    interop: Trace, everything: list[clrevents.Event[Any]], start: Any, end: Any, low: int | None, high: int | None
) -> None:
    assert list(interop.events(start=start, end=end)) == between(everything, low, high)


def test_percent_is_of_the_duration(interop: Trace, everything: list[clrevents.Event[Any]]) -> None:
    assert interop.duration_ns == everything[-1].time_ns
    quarter = interop.duration_ns * 25 // 100
    assert list(interop.events(end="25%")) == between(everything, None, quarter)
    assert list(interop.events(start="25%", end="50.5%")) == between(
        everything, quarter, interop.duration_ns * 505 // 1000
    )
    assert list(interop.events(start="100%"))[-1] == everything[-1]
    decoder = Decoder(end="50%")
    with pytest.raises(ValueError, match="open the file instead"):
        decoder.feed(unpacked(INTEROP))


def test_dates(interop: Trace, everything: list[clrevents.Event[Any]]) -> None:
    """The session's start is good to a millisecond; a date is placed by it, in whatever zone."""
    start = interop.info.start
    assert start == datetime(2026, 11, 21, 8, 13, 43, 544000, tzinfo=UTC)
    expected = between(everything, 200_000_000, 600_000_000)
    low, high = start + timedelta(milliseconds=200), start + timedelta(milliseconds=600)
    assert list(interop.events(start=low, end=high)) == expected
    zone = timezone(timedelta(hours=5, minutes=45))
    assert list(interop.events(start=low.astimezone(zone), end=high)) == expected
    assert list(interop.events(start="2026-11-21T08:13:43.744Z", end="2026-11-21T10:13:44.144+02:00")) == expected


@pytest.mark.parametrize(
    "moment",
    [1.5, 0.0, True, b"1s", [1], datetime(2026, 1, 1), "2026-01-01", "2026-01-01T00:00:00"],
)
def test_floats_and_naive_dates_are_refused_at_once(interop: Trace, moment: Any) -> None:
    for name in ("start", "end"):
        with pytest.raises(TypeError, match=name):
            interop.events(**{name: moment})
        with pytest.raises(TypeError, match=name):
            Decoder(**{name: moment})


@pytest.mark.parametrize("moment", ["", "soon", "5", "1.5.5s", "5 parsecs", "1e3s", "٣s%"])
def test_text_that_is_no_time(interop: Trace, moment: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time; use 1\.5s, 200ms, 50%"):
        interop.events(start=moment)


def test_times_beyond_all_clocks(interop: Trace, everything: list[clrevents.Event[Any]]) -> None:
    assert list(interop.events(start=-(10**40), end=10**40)) == everything
    assert list(interop.events(start=10**40)) == []
    assert list(interop.events(end=-(10**40))) == []


# Order and iteration.


def test_two_iterations_take_turns(interop: Trace, everything: list[clrevents.Event[Any]]) -> None:
    one, two = interop.events(), interop.events("MethodLoadVerbose")
    wanted = [e for e in everything if e.name == "MethodLoadVerbose"]
    seen = []
    for e in two:
        seen.append(e)
        assert next(one) == everything[len(seen) - 1]
        if len(seen) % 50 == 0:
            assert interop.duration_ns == everything[-1].time_ns
    assert seen == wanted
    assert list(one) == everything[len(seen) :]


# What outlives the trace.


def test_events_outlive_the_trace() -> None:
    with clrevents.open(SAMPLE) as trace:
        events = list(trace.events())
        expected = [(e.name, e.stack, e.payload_bytes, repr(e.payload)) for e in events]
        gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
    assert [(e.name, e.stack, e.payload_bytes, repr(e.payload)) for e in events] == expected


def test_closing_keeps_what_was_read() -> None:
    trace = clrevents.open(SAMPLE)
    counts = trace.event_counts()
    events = trace.events()
    first = next(events)
    trace.close()
    assert trace.event_counts() == counts
    assert first.payload is not None
    with pytest.raises(TraceError):
        list(trace.events("AllTypes"))


@pytest.mark.parametrize("path", [INTEROP, SAMPLE], ids=["registered", "self-described"])
def test_events_pickle(path: Path) -> None:
    trace = clrevents.open(path)
    events = list(trace.events())
    step = max(len(events) // 300, 1)
    for e in events[::step]:
        again = pickle.loads(pickle.dumps(e))
        assert again == e or type(e.payload).__module__.startswith("clrevents.schema.dynamic")
        assert visible(again) == visible(e)
    one = pickle.dumps(events[0])
    assert len(one) < 5000, "an event takes only its own along, not its batch"
    kept = pickle.loads(pickle.dumps(events[:50]))
    assert [visible(e) for e in kept] == [visible(e) for e in events[:50]]


OWN = Registry()


@event("Test-Pickled", id=1, version=0, registry=OWN)
class Pickled_V0:
    """Pickles by its name."""

    X: UInt32


def visible(e: clrevents.Event[Any]) -> tuple[Any, ...]:
    return (
        e.key,
        e.time_ns,
        e.time,
        e.thread_id,
        e.process_id,
        e.processor,
        e.opcode,
        e.level,
        e.keywords,
        e.activity_id,
        e.related_activity_id,
        e.stack,
        e.payload_bytes,
        e.payload_tail,
        repr(e.payload),
    )


def test_trace_over_a_path_pickles() -> None:
    trace = clrevents.open(SAMPLE, errors="salvage", limits=Limits(problems=7))
    again = pickle.loads(pickle.dumps(trace))
    assert again.info == trace.info
    assert again.event_counts() == trace.event_counts()
    assert len(again.problems) == len(trace.problems) <= 7
    assert pickle.loads(pickle.dumps(clrevents.open(str(SAMPLE)))).info.path == str(SAMPLE)
    with pytest.raises(TypeError, match="only a trace opened by path"):
        pickle.dumps(clrevents.open(unpacked(SAMPLE)))


def test_registries_pickle() -> None:
    """What is built in by its name; a registry of the user's with its classes."""
    assert pickle.loads(pickle.dumps(DEFAULT)) is DEFAULT
    again = pickle.loads(pickle.dumps(OWN))
    assert again.parent is DEFAULT
    info = again.get("Test-Pickled", 1, 0)
    assert info is not None
    assert info.record is Pickled_V0
    trace = pickle.loads(pickle.dumps(clrevents.open(SAMPLE, registry=OWN)))
    assert len(list(trace.events(Pickled_V0))) == 0


def test_errors_and_reports_pickle() -> None:
    trace = clrevents.open(SAMPLE)
    for thing in (trace.info, trace.problems, trace.threads, trace.losses, trace.event_counts(), trace.check()):
        assert pickle.loads(pickle.dumps(thing)) == thing
    with pytest.raises(TraceError) as caught:
        clrevents.open(b"Nettrace and no more")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)


# Progress.


def test_progress() -> None:
    calls: list[tuple[int, int]] = []
    size = len(unpacked(SAMPLE))
    trace = clrevents.open(unpacked(SAMPLE), progress=lambda done, total: calls.append((done, total)))
    assert calls == []
    list(trace.events())
    assert calls[-1] == (size, size)
    assert all(0 <= done <= total == size for done, total in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_progress_is_told_at_most_ten_times_a_second() -> None:
    calls: list[float] = []
    slow = unpacked(INTEROP)

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            clock_module.sleep(0.005)
            return super().read(min(size or 0, 10_000))

    trace = clrevents.open(Slow(slow), progress=lambda done, total: calls.append(clock_module.monotonic()))
    began = clock_module.monotonic()
    list(trace.events("ILStubGenerated"))
    took = clock_module.monotonic() - began
    assert took > 0.5
    assert 2 <= len(calls) <= took * 10 + 1


def test_progress_may_stop_the_reading() -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        list(clrevents.open(unpacked(SAMPLE), progress=stop).events())


# Error modes and warnings.


@pytest.mark.parametrize("mode", ["ignore", "", None])
def test_error_modes_are_three(mode: Any) -> None:
    with pytest.raises(ValueError, match="errors must be one of report, strict, salvage"):
        clrevents.open(unpacked(SAMPLE), errors=mode)
    with pytest.raises(ValueError, match="errors must be one of"):
        Decoder(errors=mode)


def test_one_warning_a_trace(recwarn: pytest.WarningsRecorder) -> None:
    trace = clrevents.open(unpacked(SAMPLE)[:200_000], errors="salvage")
    for _ in range(3):
        list(trace.events())
        _ = trace.problems, trace.check(), repr(trace)
    assert [w.category for w in recwarn] == [TraceWarning]


def test_a_sound_trace_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    trace = clrevents.open(SAMPLE, errors="strict")
    list(trace.events())
    assert trace.losses == ()
    assert trace.lost == 0
    assert list(recwarn) == []


def test_notes_are_not_damage() -> None:
    trace = clrevents.open(SAMPLE, errors="strict")
    list(trace.events())
    assert {p.severity for p in trace.problems} <= {"note"}
    report = trace.check()
    assert report.complete
    assert not report.damaged
    assert sum(k.events for k in report.kinds) == report.events == 1696
    assert {k.key: k.events for k in report.kinds} == trace.event_counts()


# How they show themselves.


def test_damage_is_in_the_summary() -> None:
    with pytest.warns(TraceWarning):
        text = clrevents.open(unpacked(SAMPLE)[:200_000]).summary()
    assert "  trust     damaged in 1 place" in text
    writer = Writer()
    writer.metadata(1, "P", 1, name="E")
    writer.events(Blob(1, 1, sequence=1), Blob(1, 2, sequence=9))
    with pytest.warns(TraceWarning):
        text = clrevents.open(writer.build()).summary()
    assert "7 events were lost while recording, on 1 thread; the end is missing" in text


def test_limits_of_the_lists() -> None:
    writer = Writer()
    writer.metadata(1, RUNTIME, 141, 1)
    writer.events(*(Blob(1, n, b"short") for n in range(20)))
    trace = clrevents.open(writer.end(), limits=Limits(problems=3))
    report = trace.check()
    assert len(report.problems) == 3
    assert report.problem_counts == {"short-payload": 20}
    assert list(trace.events(MethodLoad_V1)) == []

"""The trace builder: its examples run, its steps come out as written, and what it cannot do it refuses."""

from __future__ import annotations

import doctest
import io
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.events import DCEndComplete_V1, MethodDCEndVerbose_V1, MethodLoadVerbose_V1, MethodUnloadVerbose_V1
from clrevents.testing import builder, strategies
from clrevents.testing.builder import Format, TraceBuilder
from trace_walk import walk

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

FORMATS: tuple[Format, ...] = ("nettrace4", "nettrace6", "netperf3")
NETTRACE: tuple[Format, ...] = ("nettrace4", "nettrace6")


def read(data: bytes) -> list[clrevents.Event[Any]]:
    with clrevents.open(data, errors="strict") as trace:
        return list(trace.events())


@pytest.mark.parametrize("module", [builder, strategies], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_there_are_examples() -> None:
    assert doctest.testmod(builder).attempted >= 4


@pytest.mark.parametrize("format", FORMATS)
def test_steps_come_out_as_written(format: Format) -> None:
    data = (
        TraceBuilder(format, step_ns=10, process_id=99)
        .thread(7, "worker")
        .method_load("Program", "Main", address=0x1000, size=32)
        .sample(0x1004, 0x2000)
        .wait(100)
        .activity(bytes(range(16)))
        .thread(8)
        .described("My-App", "Order", {"Url": (18, "/"), "Count": (9, -5)}, id=3, stack=[0x1001])
        .activity(bytes(16))
        .at(1000)
        .raw("Other", 4, 1, b"abc", name="Thing")
        .method_unload(0x1000)
        .rundown()
        .build()
    )
    events = read(data)
    assert [(e.time_ns, e.thread_id) for e in events[:5]] == [(0, 7), (10, 7), (120, 8), (1000, 8), (1010, 8)]
    load, sample, order, thing, unload, _, complete = events
    assert isinstance(load.payload, MethodLoadVerbose_V1)
    assert (load.payload.MethodNamespace, load.payload.MethodName, load.payload.MethodSize) == ("Program", "Main", 32)
    assert sample.stack == (0x1004, 0x2000)
    assert (order.provider, order.id, order.name) == ("My-App", 3, "Order")
    assert (order.payload["Url"], order.payload["Count"], order.stack) == ("/", -5, (0x1001,))
    assert order.activity_id is not None
    assert order.activity_id.bytes_le == bytes(range(16))
    assert (thing.provider, thing.version, thing.payload_bytes, thing.activity_id) == ("Other", 1, b"abc", None)
    assert isinstance(unload.payload, MethodUnloadVerbose_V1)
    assert isinstance(complete.payload, DCEndComplete_V1)
    with clrevents.open(data) as trace:
        assert trace.info.process_id == 99
        names = {t.thread_id: t.name for t in trace.threads}
    assert names[7] == ("worker" if format == "nettrace6" else None)


def test_rundown_lists_what_is_left() -> None:
    b = TraceBuilder().method_load("A", "a", address=0x1000).method_load("B", "b", address=0x2000)
    events = read(b.method_unload(0x1000).rundown().build())
    payloads = [e.payload for e in events if isinstance(e.payload, MethodDCEndVerbose_V1)]
    # Its id is its address, unless another one is given.
    assert [(payload.MethodName, payload.MethodID) for payload in payloads] == [("b", 0x2000)]


@pytest.mark.parametrize("format", NETTRACE)
def test_losses(format: Format) -> None:
    data = TraceBuilder(format).thread(7).sample().lose(3).sample().lose(4).build()
    with clrevents.open(data) as trace:
        assert [(loss.thread_id, loss.count) for loss in trace.losses] == [(7, 3), (7, 4)]


def test_losses_before_the_first_event() -> None:
    with clrevents.open(TraceBuilder("nettrace6").thread(7).lose(3).build()) as trace:
        assert [(loss.thread_id, loss.count) for loss in trace.losses] == [(7, 3)]
    with clrevents.open(TraceBuilder().thread(7).lose(3).sample().build()) as trace:
        assert [(loss.thread_id, loss.count) for loss in trace.losses] == [(7, 3)]


@pytest.mark.parametrize("format", NETTRACE)
@given(turns=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=30))
def test_threads_in_any_turn(format: Format, turns: list[tuple[int, int]]) -> None:
    """Written so that any reader finds the writing threads, also where one thread's times lie before another's."""
    builder, times = TraceBuilder(format), [0, 0, 0, 0]
    for thread, step in turns:
        times[thread] += step
        builder.thread(thread).at(times[thread]).sample()
    assert walk(builder.build()).lost == {}


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_steps_give_the_same_bytes(format: Format) -> None:
    b = TraceBuilder(format).sample(1, 2)
    data = b.build()
    assert b.build() == data == TraceBuilder(format).sample(1, 2).build()


def test_a_complete_trace_stays_as_it_is() -> None:
    b = TraceBuilder().sample()
    b.build()
    for step in (b.sample, b.sequence_point, lambda: b.lose(1)):
        with pytest.raises(ValueError, match="the trace is complete"):
            step()


@pytest.mark.parametrize("format", FORMATS)
def test_a_trace_that_ends_in_the_middle(format: Format) -> None:
    """As when the process died; it may go on after a look."""
    b = TraceBuilder(format).sample()
    unfinished = b.build(complete=False)
    with clrevents.open(unfinished) as trace:
        assert len(list(trace.events())) == 1
        assert not trace.check().complete
    assert b.sample().build().startswith(unfinished)


def test_damage() -> None:
    b = TraceBuilder().sample(1).sequence_point().sample(2).damage(lambda data: data[:-30])
    with clrevents.open(b.build()) as trace, pytest.raises(clrevents.TraceError):
        list(trace.events())
    with clrevents.open(b.build(), errors="salvage") as trace:
        assert next(trace.events()).stack == (1,)


def test_many_events_and_a_file_object() -> None:
    """Blocks are written on the way: large traces are no lists of events."""
    b = TraceBuilder()
    for i in range(3500):
        b.thread(i % 5 + 1).sample(i % 7 + 1)
    with clrevents.open(io.BytesIO(b.build()), errors="strict") as trace:
        assert sum(trace.event_counts().values()) == 3500
        assert [t.events for t in trace.threads] == [700] * 5


def test_refusals() -> None:
    b = TraceBuilder()
    wrong: Any = "etl"
    with pytest.raises(ValueError, match="format must be nettrace4, nettrace6 or netperf3, not 'etl'"):
        TraceBuilder(wrong)
    with pytest.raises(TypeError, match="is not the record of a registered event"):
        b.event(object())
    with pytest.raises(ValueError, match="no method was loaded at 0x1"):
        b.method_unload(1)
    with pytest.raises(ValueError, match=r"^Order\.Url: the string contains a NUL"):
        b.described("My-App", "Order", {"Url": (18, "a\0b")})
    with pytest.raises(ValueError, match=r"^Order\.Count: "):
        b.described("My-App", "Order", {"Count": (9, 1 << 31)})

"""Events of our own between the blocks of a stream: the stream stays as it was, however it comes, ours stand where
their time is, and a stream that is not as expected passes untouched.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.diagnostics.weave import HOLD_NS, OwnEvent, StreamClock, Weave, own_event
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import OWN
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked
from trace_walk import walk

SAMPLE: Final = unpacked(fixture("net8-sample"))
BEGAN: Final = time.monotonic_ns() + 3600 * 10**9
"""The start of built streams: no event of ours has waited for too long then."""


def woven(data: bytes, cuts: Iterable[int], events: Sequence[OwnEvent], shift: int | None = 0) -> bytes:
    """The stream with the events, which all wait when it begins, in pieces that end at these places."""
    weave = Weave(lambda clock: shift, lambda: None)
    weave.pending.extend(events)
    out = []
    for start, end in pairwise([0, *sorted(cuts), len(data)]):
        out += map(bytes, weave.feed(memoryview(bytearray(data[start:end]))))
    return b"".join([*out, *map(bytes, weave.end())])


def shown(data: bytes) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """The runtime's events and ours, in the order in which a reader gives them."""
    theirs, ours = [], []
    with clrevents.open(data, errors="strict") as trace:
        for event in trace.events():
            (ours if event.provider == OWN else theirs).append(
                (event.name, event.time_ns, event.thread_id, event.payload_bytes, event.stack)
            )
        assert trace.losses == ()
    return theirs, ours


STEPS: Final = st.lists(st.sampled_from(["event", "sample", "wait", "point", "flush"]), max_size=25)


@given(
    STEPS,
    st.lists(st.integers(-1000, 40_000), max_size=20),
    st.lists(st.floats(0, 1), max_size=12),
    st.integers(-(10**12), 10**12),
)
def test_a_stream_keeps_its_events(steps: list[str], times: list[int], cuts: list[float], shift: int) -> None:
    builder = TraceBuilder(sync_qpc=BEGAN)
    for number, step in enumerate(steps):
        match step:
            case "event":
                builder.raw("Mine", 5, payload=bytes(number))
            case "sample":
                builder.thread(number % 3 + 1).sample(0x1000 + number)
            case "wait":
                builder.wait(10_000)
            case "point":
                builder.sequence_point()
            case "flush":
                builder.build(complete=False)
    data = builder.build()
    events = [
        own_event(BEGAN - shift + at, "ProcessorTime", 7, at + 1000, 1, 2, 3)
        if at % 3
        else own_event(BEGAN - shift + at, "ThreadName", 7, "n" * (at % 15))
        for at in sorted(times)
    ]
    out = woven(data, (int(share * len(data)) for share in cuts), events, shift)
    assert (len(out) - len(data)) % 4 == 0
    if not events:
        assert out == data
    walk(out)
    theirs, ours = shown(out)
    assert theirs == shown(data)[0]
    # What was read before the session began is of its first moment.
    expected = [(max(event.time_ns + shift - BEGAN, 0), event.payload) for event in events]
    assert [(at, payload) for _, at, _, payload, _ in ours] == expected
    assert {thread for _, _, thread, _, _ in ours} <= {OWN_THREAD}


def test_a_real_stream_keeps_its_events() -> None:
    with clrevents.open(SAMPLE) as trace:
        began = trace.info.sync_qpc
        ends = trace.duration_ns
    events = [own_event(began + at, "ProcessProcessorTime", 1, at, 2, 3) for at in range(0, ends, ends // 100)]
    out = woven(SAMPLE, range(0, len(SAMPLE), 4099), events)
    theirs, ours = shown(out)
    assert theirs == shown(SAMPLE)[0]
    assert len(ours) == len(events)


def test_events_stand_before_what_is_later() -> None:
    """So that no step in time is longer than a block."""
    builder = TraceBuilder(sync_qpc=BEGAN, step_ns=0)
    for at in (1000, 2000, 3000):
        builder.at(at).raw("Mine", 5).sequence_point()
    events = [own_event(BEGAN + at, "ProcessProcessorTime", 1, 2, 3, 4) for at in (500, 1500, 2500, 9000)]
    with clrevents.open(woven(builder.build(), (), events)) as trace:
        assert [event.time_ns for event in trace.events()] == [500, 1000, 1500, 2000, 2500, 3000, 9000]


def test_what_has_waited_for_long_enough_is_written() -> None:
    now = time.monotonic_ns()
    builder = TraceBuilder(sync_qpc=now - 10**9)
    data = builder.raw("Mine", 5).build(complete=False)
    weave = Weave(lambda clock: 0, lambda: None)
    assert b"".join(weave.feed(memoryview(data))) == data
    weave.pending.extend(own_event(at, "ProcessProcessorTime", 1, 2, 3, 4) for at in (now - HOLD_NS - 1, now + 10**9))
    assert weave.waits
    (piece,) = weave.quiet()
    assert (len(weave.pending), weave.waits, weave.quiet()) == (1, False, [])
    theirs, ours = shown(data + piece)
    assert (len(theirs), len(ours)) == (1, 1)


def test_nothing_is_put_into_the_middle_of_a_block() -> None:
    data = TraceBuilder(sync_qpc=BEGAN).raw("Mine", 5, payload=bytes(1000)).build()
    for end in (len(data) - 300, len(data) - 40):
        out = woven(data[:end], (), [own_event(0, "ProcessProcessorTime", 1, 2, 3, 4)])
        assert out[-20:] == data[:end][-20:] if end == len(data) - 300 else len(out) >= end


def test_other_streams_pass_as_they_are() -> None:
    event = own_event(BEGAN, "ProcessProcessorTime", 1, 2, 3, 4)
    for data in (
        TraceBuilder("nettrace6").raw("Mine", 5).build(),
        TraceBuilder("netperf3").raw("Mine", 5).build(),
        b"",
        b"Net",
        b"no trace at all" * 100,
        SAMPLE[:32] + b"\7" * 1000,
    ):
        assert woven(data, (10, 20), [event]) == data
    assert woven(SAMPLE, (), [event], None) == SAMPLE


def test_the_header_is_judged() -> None:
    told: list[StreamClock | None] = []

    def judged(clock: StreamClock | None) -> None:
        told.append(clock)

    data = TraceBuilder(sync_qpc=12, frequency=10**7, process_id=99).raw("Mine", 5).build()
    assert b"".join(Weave(judged, lambda: None).feed(memoryview(data))) == data
    assert told == [StreamClock(12, 10**7, 99)]


def test_marks_without_counts_change_no_answer() -> None:
    """A trace that is not counted answers as one without any marks, and the bytes are the same without ours."""
    at = BEGAN
    marked = woven(
        SAMPLE,
        [],
        [own_event(at, "ThreadName", 7, "Worker"), own_event(at, "ProcessProcessorTime", 10**6, 10**6, 1, 0)],
    )
    assert len(marked) > len(SAMPLE)
    for report in ("threads", "top", "callers"):
        answers = []
        for data in (SAMPLE, marked):
            with clrevents.open(data) as trace:
                answers.append(trace.report(report).to_dict())
                del answers[-1]["question"]
        assert answers[0] == answers[1]

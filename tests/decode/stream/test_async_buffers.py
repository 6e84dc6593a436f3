"""Buffers of the async profiler, opened into events of their own: which, in what order, and what damage costs."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.events import GCStart_V2
from clrevents.reference import codec
from clrevents.rewrite import cut, redact
from clrevents.schema.async_forms import FIRST_ID, FORMS, HEAD, HEAD_SIZE
from clrevents.schema.event import asdict
from clrevents.schema.registry import ASYNC, DEFAULT
from clrevents.testing.builder import TraceBuilder
from clrevents.trace.event import Event

QPC = 1_000_000
CREATE, RESUME, CALLSTACK, STATES, METADATA = 1, 2, 7, 16, 22
SubEvent = tuple[int, int, bytes]
"""Number, ticks since the one before, payload."""


def leb(number: int) -> bytes:
    low = bytes((number & 127,))
    return low if number < 128 else bytes((low[0] | 128,)) + leb(number >> 7)


def packed(thread: int, start: int, events: list[SubEvent], widths: dict[int, int] | None = None) -> bytes:
    """The payload of an AsyncEvents."""
    body, time = b"", start
    for number, delta, payload in events:
        width = (widths or {}).get(number) if number not in FORMS else FORMS[number].width
        assert width is not None
        time += delta
        body += bytes((number,)) + leb(delta) + (len(payload).to_bytes(width, "little") if width else b"") + payload
    head = struct.pack(HEAD, 1, HEAD_SIZE + len(body), thread + 100, thread, len(events), start, time)
    return struct.pack("<I", len(head + body)) + head + body


def payload(number: int, *values: object) -> bytes:
    info = DEFAULT.get(ASYNC, FIRST_ID + number, 1)
    assert info is not None
    return codec(info.record).build(info.record(*values))


def manifest(*forms: tuple[int, int, int]) -> bytes:
    info = DEFAULT.get(ASYNC, FIRST_ID + METADATA, 1)
    assert info is not None
    (form,) = (field.type.element.record for field in info.layout.fields if field.name == "Forms")
    return payload(METADATA, 10**9, 5, 7, 16128, 32, len(forms), tuple(form(*each) for each in forms))


def opened(data: bytes) -> tuple[list[Event], list[str]]:
    with clrevents.open(data) as trace:
        events = [*trace.events()]
        counts = sum(trace.event_counts().values())
        assert counts == len(events)
        return events, [problem.kind for problem in trace.problems]


def carrying(*buffers: bytes, at: int = 1000) -> bytes:
    built = TraceBuilder(sync_qpc=QPC, frequency=10**9)
    for number, buffer in enumerate(buffers):
        built.thread(7).at(at * (number + 1)).event(GCStart_V2(number, 0, 0, 0, 0, 0)).raw(ASYNC, 1, 1, buffer)
    return built.build()


def test_sub_events_have_their_own_time_and_thread_and_come_before_what_carries_them() -> None:
    events = [(RESUME, 10, payload(RESUME, 300)), (9, 0, b""), (CREATE, 200, payload(CREATE, 300, 2**60))]
    found, problems = opened(carrying(packed(9, QPC + 100, events)))
    assert not problems
    assert [(e.name, e.time_ns, e.thread_id) for e in found] == [
        ("AsyncBuffer", 100, 9),
        ("ResumeRuntimeAsyncContext", 110, 9),
        ("ResumeRuntimeAsyncMethod", 110, 9),
        ("CreateRuntimeAsyncContext", 310, 9),
        ("GCStart", 1000, 7),
        ("AsyncEvents", found[-1].time_ns, 7),
    ]
    assert found[0].payload.ContextId == 109
    assert (found[3].payload.ParentDispatcherId, found[3].payload.DispatcherId) == (300, 2**60)


def test_addresses_are_values_in_records_and_columns() -> None:
    info = DEFAULT.get(ASYNC, FIRST_ID + STATES, 1)
    assert info is not None
    (frame,) = (field.type.element.record for field in info.layout.fields if field.name == "Frames")
    stacks = [
        (),
        (frame(2**64 - 1, -1), frame(0, 2), frame(2**63, 0)),
        (frame(0x7F00, 5),),
    ]
    events = [(STATES, 1, payload(STATES, 1, 2, len(s), 3, s)) for s in stacks]
    data = carrying(packed(9, QPC, events))
    with clrevents.open(data) as trace:
        name = "ResumeStateMachineAsyncCallstack"
        assert [e.payload.Frames for e in trace.events(name)] == stacks
        expected = [[{"Address": f.Address, "State": f.State} for f in stack] for stack in stacks]
        assert [*map(list, trace.table(name)["Frames"])] == expected


def test_the_same_bytes_are_other_frames_in_another_kind() -> None:
    frames = {CALLSTACK: [(5,), (3,)], STATES: [(5, -2)]}
    events = [(number, 1, bytes((1, 2, len(stack), 9, 5, 3))) for number, stack in frames.items()] * 3
    found, problems = opened(carrying(packed(9, QPC, events)))
    assert not problems
    stacks = [[tuple(asdict(f).values()) for f in e.payload.Frames] for e in found if "Callstack" in e.name]
    assert stacks == [*frames.values()] * 3


def test_kinds_that_are_only_announced_are_skipped_by_their_width_and_counted() -> None:
    forms = [(n, f.version, f.width) for n, f in FORMS.items() if n != RESUME]
    announced = manifest(*forms, (RESUME, 2, 1), (24, 1, 2), (77, 3, 0))
    news: list[SubEvent] = [(METADATA, 0, announced), (24, 1, bytes(300)), (77, 1, b""), (RESUME, 1, b"\x05\xff")]
    later: list[SubEvent] = [(24, 1, b"ab"), (9, 1, b"")]
    data = carrying(packed(9, QPC, news, {24: 2, 77: 0}), packed(9, QPC + 1500, later, {24: 2}))
    with clrevents.open(data) as trace:
        counts = {(k.name, k.version): n for k, n in trace.event_counts().items() if k.provider == ASYNC}
        (resumed,) = trace.events("ResumeRuntimeAsyncContext")
        assert [e.payload_bytes for e in trace.events("AsyncEvent24")] == [bytes(300), b"ab"]
        assert (resumed.payload.DispatcherId, resumed.payload_tail) == (5, b"\xff")
        kinds = {problem.kind for problem in trace.problems}
    assert counts["AsyncEvent24", 1] == 2
    assert counts["AsyncEvent77", 3] == counts["ResumeRuntimeAsyncContext", 2] == 1
    assert kinds == {"unknown-event", "newer-version"}


@pytest.mark.parametrize("before", [(9, 0, b""), (METADATA, 0, manifest((25, 1, 0)))], ids=["none", "of another"])
def test_without_an_announcement_an_unknown_kind_costs_its_buffer_only(before: SubEvent) -> None:
    """What that buffer announces holds for no other one."""
    data = carrying(packed(9, QPC, [before, (24, 1, b"")], {24: 0}), packed(8, QPC, [(9, 0, b"")]))
    found, problems = opened(data)
    assert problems == ["bad-async-buffer"]
    assert [e.thread_id for e in found if e.name == "ResumeRuntimeAsyncMethod"] == [8]


SOUND = packed(
    9,
    QPC + 50,
    [
        (METADATA, 0, manifest(*((n, f.version, f.width) for n, f in FORMS.items()))),
        *[(RESUME, 40, payload(RESUME, n)) for n in range(5)],
        *[(n, 7, b"") for n in (9, 10, 3)],
        (CREATE, 200, payload(CREATE, 300, 2**60)),
    ],
)


def check_mutated(buffers: list[bytes]) -> int:
    """Each buffer is there with sub-events that lie in it, or has a problem at its place; all else is as it was."""
    data = carrying(*buffers, at=10_000)
    with clrevents.open(data) as trace:
        found = [*trace.events()]
        problems = [p for p in trace.problems if p.kind == "bad-async-buffer"]
    others = [e for e in found if e.name in ("GCStart", "AsyncEvents")]
    assert [(e.name, e.payload_bytes if e.name == "AsyncEvents" else e.payload.Count) for e in others] == [
        pair for number, buffer in enumerate(buffers) for pair in (("GCStart", number), ("AsyncEvents", buffer))
    ]
    sound = {e.payload_bytes for e in others if e.name == "AsyncEvents"}
    assert all(any(data.startswith(buffer, p.offset) for buffer in sound) for p in problems[:20])
    heads = [e for e in found if e.name == "AsyncBuffer"]
    assert len(heads) + len(problems) == len(buffers)
    inside = [e for e in found if e.provider == ASYNC and e.name not in ("AsyncEvents", "AsyncBuffer")]
    assert len(inside) == sum(e.payload.EventCount for e in heads)
    assert len(inside) <= sum(len(buffer) // 2 for buffer in buffers)
    assert all(e.time_ns <= others[-1].time_ns for e in inside)
    return len(problems)


@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(0, 255)), max_size=4), st.integers(0, 99))
def test_a_damaged_buffer_costs_its_sub_events_only(changes: list[tuple[int, int]], missing: int) -> None:
    changed = bytearray(SOUND)
    for place, value in changes:
        changed[place] = value
    check_mutated([SOUND, bytes(changed[: len(SOUND) - missing]), SOUND])


@pytest.mark.full
def test_a_hundred_thousand_damaged_buffers() -> None:
    random, wrong = Random(11), 0
    for _ in range(200):
        buffers = []
        for _ in range(500):
            changed = bytearray(SOUND)
            for _ in range(random.choice((1, 1, 2, 5))):
                changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
            buffers.append(bytes(changed[: random.choice((len(SOUND), random.randrange(len(SOUND))))]))
        wrong += check_mutated(buffers)
    assert 50_000 < wrong < 100_000


def test_copies_have_sub_events_of_their_own(tmp_path: Path) -> None:
    data = carrying(SOUND, packed(8, QPC + 60, [(9, 0, b""), (10, 1500, b"")]))
    with clrevents.open(data) as trace:
        before = {(e.name, e.time_ns, e.thread_id, e.payload_bytes) for e in trace.events() if e.name != "AsyncEvents"}
        cut(trace, tmp_path / "late.nettrace", start=1000)
        redact(trace, tmp_path / "redacted.nettrace")
        cut(trace, tmp_path / "packed.nettrace", "AsyncEvents")
    found, problems = opened((tmp_path / "late.nettrace").read_bytes())
    assert not problems
    assert {(e.name, e.time_ns) for e in found if e.provider == ASYNC} == {("CompleteRuntimeAsyncMethod", 1560)}
    found, problems = opened((tmp_path / "redacted.nettrace").read_bytes())
    assert not problems
    copied = {(e.name, e.time_ns, e.thread_id, e.payload_bytes) for e in found if e.provider != "clrevents"}
    assert copied == before
    found, problems = opened((tmp_path / "packed.nettrace").read_bytes())
    assert [e.name for e in found if e.thread_id == 7] == ["AsyncEvents"] * 2
    assert len(found) == 2 + 2 + 10 + 2

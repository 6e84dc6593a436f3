"""Whole traces through the library's own face: what was written comes out of `clrevents.open`, in time order.

The same plain events go through every generation; lifetimes (stacks, threads, labels, numbers) cross several regions.
"""

from __future__ import annotations

import io
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.encode.netperf import NetPerf3Writer, NetPerf12Writer
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import (
    NO_GUID,
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    ThreadRow,
    TraceHeader,
)
from clrevents.schema.codes import LabelKind

HEADER = TraceHeader(sync_qpc=1000, frequency=10_000_000, process_id=42, processors=4)
PROVIDER = "My-Provider"
DESCRIBED = [
    MetadataRecord(1, PROVIDER, 10, 1, "One", 0x10, 4, fields=(FieldDescription("Value", 9),)),
    MetadataRecord(2, PROVIDER, 11, 2, "Two", 0x20, 5, fields=(FieldDescription("Text", 18),)),
]
THREADS = [7, 8, 9]
GUIDS = [NO_GUID, bytes(range(16)), bytes(range(16, 32))]


class Plain:
    """One event to write, told in no generation's words."""

    def __init__(
        self, kind: int, time: int, thread: int, capture: int, value: int, stack: list[int], guid: bytes, cpu: int
    ) -> None:
        self.kind, self.time, self.thread, self.capture = kind, time, thread, capture
        self.value, self.stack, self.guid, self.cpu = value, stack, guid, cpu
        text = f"text {value}"
        payload = value.to_bytes(4, "little") if kind == 1 else text.encode("utf-16-le") + b"\0\0"
        self.payload, self.fields = payload, (value if kind == 1 else text)

    def __repr__(self) -> str:
        return f"Plain({', '.join(map(repr, vars(self).values()))})"


plain = st.builds(
    Plain,
    st.sampled_from([1, 2]),
    st.integers(0, 20),
    st.sampled_from(THREADS),
    st.sampled_from(THREADS),
    st.integers(0, 1000),
    st.lists(st.integers(1, (1 << 32) - 1), max_size=3),
    st.sampled_from(GUIDS),
    st.integers(-1, 3),
)
regions = st.lists(st.lists(plain, max_size=6), min_size=1, max_size=3)


def times(found: list[list[Plain]]) -> list[list[Plain]]:
    """Spread the regions out in time: a sequence point divides the events."""
    for number, region in enumerate(found):
        for event in region:
            event.time = 1000 + 100 * number + event.time % 100
    return found


def expected(found: list[list[Plain]], processors: bool) -> list[tuple[Any, ...]]:
    out = []
    for region in found:
        for event in sorted(region, key=lambda e: e.time):
            out.append(
                (
                    PROVIDER,
                    9 + event.kind,
                    event.kind,
                    ("One", "Two")[event.kind - 1],
                    (event.time - 1000) * 100,
                    event.thread,
                    event.cpu if processors and event.cpu >= 0 and event.thread == event.capture else None,
                    None if event.guid == NO_GUID else UUID(bytes_le=event.guid),
                    tuple(event.stack),
                    event.payload,
                    event.fields,
                )
            )
    return out


def seen(data: bytes, process: int | None = 42) -> list[tuple[Any, ...]]:
    """Every event, read strictly; a problem of any kind fails the test."""
    with clrevents.open(data, errors="strict") as trace:
        out = []
        for event in trace.events():
            assert event.process_id == process
            assert (event.keywords, event.level) == ((0x10, 4) if event.id == 10 else (0x20, 5))
            out.append(
                (
                    event.provider,
                    event.id,
                    event.version,
                    event.name,
                    event.time_ns,
                    event.thread_id,
                    event.processor,
                    event.activity_id,
                    event.stack,
                    event.payload_bytes,
                    event.payload["Value" if event.id == 10 else "Text"],
                )
            )
        assert trace.problems == ()
        assert trace.losses == ()
        events = "1 event" if len(out) == 1 else f"{len(out):,} events"
        check = trace.check()
        whole = "complete: nothing lost" if check.losses_visible else "complete: nothing damaged; no loss can be seen"
        assert check.verdict.startswith(f"{events}; {whole}")
    return out


def stacks_of(region: list[Plain]) -> list[list[int]]:
    return [e.stack for e in region]


@pytest.mark.parametrize("pointer_size", [4, 8])
@pytest.mark.parametrize("compressed", [True, False])
@settings(max_examples=2 * settings().max_examples)
@given(found=regions)
def test_nettrace4(compressed: bool, pointer_size: int, found: list[list[Plain]]) -> None:
    sink = io.BytesIO()
    header = TraceHeader(sync_qpc=1000, frequency=10_000_000, process_id=42, pointer_size=pointer_size)
    writer = NetTrace4Writer(sink, header)
    writer.metadata(DESCRIBED)
    for number, region in enumerate(times(found)):
        # The ids of a region's stacks start anew: they mean nothing beyond a sequence point.
        writer.stacks(1, stacks_of(region))
        records = [
            EventRecord(
                e.kind,
                e.time,
                e.thread,
                e.payload,
                e.capture,
                processor=e.cpu,
                stack_id=i + 1,
                activity_id=e.guid,
                is_sorted=False,
            )
            for i, e in enumerate(region)
        ]
        writer.events(records[:3], Choices(compressed))
        writer.events(records[3:], Choices(compressed, padded=True))
        writer.sequence_point(1000 + 100 * number + 99)
    writer.end()
    assert seen(sink.getvalue()) == expected(found, processors=True)


@pytest.mark.parametrize("forget", [0, 1])
@pytest.mark.parametrize("compressed", [True, False])
@settings(max_examples=2 * settings().max_examples)
@given(found=regions)
def test_nettrace6(compressed: bool, forget: int, found: list[list[Plain]]) -> None:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink, HEADER)
    writer.metadata(DESCRIBED)
    for number, region in enumerate(times(found)):
        if forget or not number:
            # Indexes are not the ids: 0 is one of them.
            writer.threads(ThreadRow(i, thread, 42, f"thread {thread}") for i, thread in enumerate(THREADS))
        writer.stacks(1, stacks_of(region))
        writer.labels(5, ([Label(LabelKind.ACTIVITY_ID, guid)] for guid in GUIDS[1:]))
        records = [
            EventRecord(
                e.kind,
                e.time,
                THREADS.index(e.thread),
                e.payload,
                THREADS.index(e.capture),
                processor=e.cpu,
                stack_id=i + 1,
                label_id=0 if e.guid == NO_GUID else 4 + GUIDS.index(e.guid),
                is_sorted=False,
            )
            for i, e in enumerate(region)
        ]
        writer.events(records[:3], Choices(compressed))
        writer.events(records[3:], Choices(compressed))
        writer.sequence_point(1000 + 100 * number + 99, flags=forget)
    writer.end()
    assert seen(sink.getvalue()) == expected(found, processors=True)


@pytest.mark.parametrize("version", [2, 3])
@settings(max_examples=2 * settings().max_examples)
@given(found=regions)
def test_netperf(version: int, found: list[list[Plain]]) -> None:
    sink = io.BytesIO()
    writer = NetPerf3Writer(sink, HEADER) if version == 3 else NetPerf12Writer(sink, version, HEADER)
    writer.metadata(DESCRIBED)
    for region in times(found):
        # NetPerf is written in order.
        region.sort(key=lambda e: e.time)
        if region:
            writer.events(
                [EventRecord(e.kind, e.time, e.thread, e.payload, activity_id=e.guid, stack=e.stack) for e in region]
            )
    writer.end()
    process = 42 if version == 3 else None
    assert seen(sink.getvalue(), process) == expected(found, processors=False)


def test_labels_carry_over_in_a_block_of_many_events() -> None:
    """A block that the decoder takes in several pieces: labels and activity ids go on over their seams."""
    count = 40_000
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink, HEADER)
    writer.metadata([MetadataRecord(1, PROVIDER, 10, name="One", opcode=3)])
    writer.threads([ThreadRow(0, 7)])
    writer.labels(
        1, [[Label(LabelKind.OPCODE, 9), Label(LabelKind.ACTIVITY_ID, GUIDS[1])], [Label(LabelKind.LEVEL, 1)]]
    )
    writer.events([EventRecord(1, i, label_id=1 if i < count // 2 else 2) for i in range(count)])
    writer.events([EventRecord(1, count)])
    writer.end()
    with clrevents.open(sink.getvalue(), errors="strict") as trace:
        found = [(event.opcode, event.level, event.activity_id) for event in trace.events()]
    first = (9, 0, UUID(bytes_le=GUIDS[1]))
    assert found == [first] * (count // 2) + [(3, 1, None)] * (count // 2) + [(3, 0, None)]


@pytest.mark.parametrize("compressed", [True, False])
def test_activity_ids_carry_over_in_a_block_of_many_events(compressed: bool) -> None:
    count = 40_000
    sink = io.BytesIO()
    writer = NetTrace4Writer(sink, HEADER)
    writer.metadata([MetadataRecord(1, PROVIDER, 10, name="One")])
    listed = [EventRecord(1, i, 7, activity_id=GUIDS[1 if i < 30_000 else 2]) for i in range(count)]
    writer.events(listed, Choices(compressed))
    writer.events([EventRecord(1, count, 7)], Choices(compressed))
    writer.end()
    with clrevents.open(sink.getvalue(), errors="strict") as trace:
        found = [event.activity_id for event in trace.events()]
    assert found == [UUID(bytes_le=e.activity_id) for e in listed] + [None]  # type: ignore[arg-type]

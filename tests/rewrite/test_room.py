"""What a rewritten trace takes: blocks hold no more than a container allows, and descriptions demand no zeros.

Writes traces at the bounds of NetTrace 6. What is in the result is read by the library.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rewrite_events import differing, reread

import clrevents
from clrevents.encode.nettrace6 import MOST_BLOCK_BYTES, NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.rewrite import cut, redact
from clrevents.schema.codes import LabelKind, TypeCode
from counting import peak

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

MIB = 1 << 20
# The least that an event block holds before the payload of its only event: its own header, and seven bytes.
LEAST = 20 + 7


class RoomyTrace:
    """A NetTrace 6 with one kind of event, which is 1, and one thread."""

    def __init__(self, *fields: FieldDescription, thread: ThreadRow | None = None) -> None:
        self._sink = io.BytesIO()
        self.write = NetTrace6Writer(self._sink, TraceHeader(sync_qpc=0))
        self.write.metadata([MetadataRecord(1, "P", 99, name="E", fields=fields)])
        self.write.threads([thread or ThreadRow(0, 7)])

    def data(self) -> bytes:
        self.write.end()
        return self._sink.getvalue()


def both_read_alike(data: bytes, out: Path) -> None:
    """`cut` of everything, with blocks that a container can hold."""
    with clrevents.open(data) as trace:
        cut(trace, out)
        assert not differing(reread(out), trace.events())


def test_a_description_cannot_demand_zeros(out: Path) -> None:
    """A payload that is too short for its description becomes as many zeros as it has bytes."""
    described = FieldDescription("Many", TypeCode.UINT8)
    for _ in range(4):
        described = FieldDescription("Many", TypeCode.FIXED_ARRAY, described, count=200)
    made = RoomyTrace(described)
    made.write.events([EventRecord(1, at, payload=b"\1\2\3") for at in range(100)])
    with clrevents.open(made.data(), errors="salvage") as trace:
        done = []
        assert peak(lambda: done.append(redact(trace, out, blank=True))) < 20 * MIB
    assert done[0].blanked == 100
    with clrevents.open(out) as trace:
        assert [event.payload_bytes for event in trace.events()][1:] == [bytes(3)] * 100


@pytest.mark.parametrize(("count", "size"), [(1016, 1024), (1017, 3)])
def test_zeros_that_a_description_gets(count: int, size: int, out: Path) -> None:
    """As many as its least payload needs, up to 1,024: then the result can be read strictly."""
    bytes_ = FieldDescription("Many", TypeCode.FIXED_ARRAY, FieldDescription("", TypeCode.UINT8), count=count)
    made = RoomyTrace(bytes_, FieldDescription("n", TypeCode.INT64))
    made.write.events([EventRecord(1, 1, payload=b"\1\2\3")])
    with clrevents.open(made.data(), errors="salvage") as trace:
        assert redact(trace, out, blank=True).blanked == 1
    with clrevents.open(out) as trace:
        assert [event.payload_bytes for event in trace.events()][1:] == [bytes(size)]


def test_large_payloads_after_small_ones(out: Path) -> None:
    """Each fits a block, but not together with those before it."""
    made = RoomyTrace()
    made.write.events([EventRecord(1, 1, payload=bytes(90_000))])
    made.write.events([EventRecord(1, 2, payload=bytes(MOST_BLOCK_BYTES - 50_000))])
    made.write.events([EventRecord(1, 3, payload=b"\1")])
    both_read_alike(made.data(), out)


def test_large_stacks_after_small_ones(out: Path) -> None:
    made = RoomyTrace()
    made.write.stacks(1, [bytes(80_000)])
    made.write.stacks(2, [bytes(MOST_BLOCK_BYTES // 8 * 8 - 16)])
    made.write.stacks(3, [b"12345678"])
    made.write.events([EventRecord(1, number, stack_id=number) for number in (1, 2, 3)])
    both_read_alike(made.data(), out)


def test_large_label_lists_after_small_ones(out: Path) -> None:
    made = RoomyTrace()
    for first, lengths in enumerate(([20_000], [60_000] * 279 + [30_000], [5]), 1):
        made.write.labels(first, [[Label(LabelKind.TEXT, "v" * n, f"k{i}") for i, n in enumerate(lengths)]])
    made.write.events([EventRecord(1, number, label_id=number) for number in (1, 2, 3)])
    both_read_alike(made.data(), out)


def test_an_event_that_fits_no_block(out: Path) -> None:
    """The original leaves out what the result has to say: its number, thread and processor."""
    made = RoomyTrace()
    made.write.events([EventRecord(1, 1, processor=0, payload=bytes(MOST_BLOCK_BYTES - LEAST))])
    with (
        clrevents.open(made.data()) as trace,
        pytest.raises(clrevents.TraceError, match=r"an event does not fit into the new trace: .* in 0\.\.16777215"),
    ):
        cut(trace, out)
    assert not out.exists()


def test_a_thread_whose_words_fit_no_row(out: Path) -> None:
    """Words for short texts are longer than these."""
    made = RoomyTrace(thread=ThreadRow(0, 7, attributes=(("a", "b"),) * 5000))
    made.write.events([EventRecord(1, 1)])
    with (
        clrevents.open(made.data()) as trace,
        pytest.raises(clrevents.TraceError, match=r"a thread does not fit into the new trace: the row of thread 1"),
    ):
        redact(trace, out, blank=False)
    assert not out.exists()

"""Reads a stream with the decoder's containers alone and gives back what the encoder was told to write.

Below the decoder's own face, because sequence numbers, capture threads and the sorted bit are not shown there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clrevents.decode.container.blocks import Events, InlineStacks
from clrevents.decode.container.window import NeedMore, Window
from clrevents.decode.kernels.header_scan import PADDING
from clrevents.decode.stream.block_reader import detect
from clrevents.encode.values import NO_GUID, EventRecord
from clrevents.errors import Limits

UNKNOWN = 0xFFFFFFFF


def blocks(data: bytes, limit: int | None = None) -> Iterator[tuple[int, int, list[Any]]]:
    """(start, end, values) of each whole block; ends behind the first that passes `limit`."""
    window = Window(data + bytes(PADDING), len(data), 0, limit is None)
    container = detect(window, Limits(), False)
    while window.pos < min(len(data), limit or len(data)):
        start = window.pos
        try:
            values = list(container.read(window))
        except NeedMore:
            return
        yield start, window.pos, values


def values(data: bytes) -> list[Any]:
    """The values of all blocks."""
    return [value for _, _, found in blocks(data) for value in found]


def records(events: Events, data: bytes, first: int = 0, full: int = 0) -> list[EventRecord]:
    """The events of one NetTrace block.

    Compressed: `first` is where its first header stands. Full headers: `full` is their size.
    """
    found = []
    start = first
    activity = related = NO_GUID
    label = 0
    for c in events.columns:
        runs = {row: rest for row, *rest in c.runs.tolist()}
        marks = {row: (flags, value) for row, flags, value in c.marks.tolist()}
        capture = sequence = processor = 0
        for row in range(len(c)):
            sequence += 1
            if row in runs:
                capture, sequence, processor = runs[row]
            flags, at = marks.get(row, (0, 0))
            if events.labelled:
                label = at if flags & 16 else label
            else:
                if flags & 16:
                    activity = data[at : at + 16]
                    at += 16
                if flags & 32:
                    related = data[at : at + 16]
            offset, size = int(c.offsets[row]), int(c.sizes[row])
            is_sorted = not data[offset - full + 7] & 0x80 if full else bool(data[start] & 0x40)
            found.append(
                EventRecord(
                    int(c.metadata_ids[row]),
                    int(c.ticks[row]),
                    int(c.thread_ids[row]),
                    data[offset : offset + size],
                    capture,
                    sequence & UNKNOWN,
                    -1 if processor == UNKNOWN else processor,
                    int(c.stack_ids[row]),
                    activity,
                    related,
                    is_sorted,
                    label,
                )
            )
            start = offset + size
    return found


def netperf_records(found: list[Any], data: bytes) -> list[EventRecord]:
    """The events among the values of NetPerf blocks, with their stacks."""
    out = []
    stacks: list[bytes] = []
    for value in found:
        if isinstance(value, InlineStacks):
            stacks = [data[at : at + n] for at, n in zip(value.starts, value.sizes, strict=True)]
        if isinstance(value, Events):
            (c,) = value.columns
            changes = {row: at for row, _, at in c.marks.tolist()}
            guids = bytes(32)
            for row in range(len(c)):
                if row in changes:
                    guids = data[changes[row] : changes[row] + 32]
                offset, size, stack = int(c.offsets[row]), int(c.sizes[row]), int(c.stack_ids[row])
                out.append(
                    EventRecord(
                        int(c.metadata_ids[row]),
                        int(c.ticks[row]),
                        int(c.thread_ids[row]),
                        data[offset : offset + size],
                        activity_id=guids[:16],
                        related_activity_id=guids[16:],
                        stack=stacks[stack - 1] if stack else b"",
                    )
                )
    return out

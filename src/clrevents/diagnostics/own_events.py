"""Events of our own as bytes of NetTrace 4: from their declarations, in blocks that fit between a runtime's.

Such a block is a multiple of four bytes long, as padding counts from the start of the file (docs/format.md, "Events of
a recorder"). Knows no stream.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import Final, NamedTuple

from clrevents.encode import blocks
from clrevents.encode.blocks import ObjectWriter, Sequences, full_nettrace4
from clrevents.encode.nettrace4 import described_event
from clrevents.encode.values import SHORTEST, EventRecord, FieldDescription, MetadataRecord, utf16z
from clrevents.schema.codes import ObjectName, ObjectTag, TypeCode
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import DEFAULT, OWN

COUNTING, THREAD_NAME, PROCESSOR_TIME, THREAD_END, PROCESS, FACTS, LIMITS, MACHINE, FILTERED = range(16, 25)
"""The ids of events (`schema.events.processor_counts`, `schema.events.recorder_marks`)."""
_METADATA_IDS: Final = 0x7F000000
"""Added to the id of an event: a runtime's own are small, and the same one twice would stop other readers."""
_VERSION: Final = 2
_CODES: Final = {"q": TypeCode.INT64, "I": TypeCode.UINT32, None: TypeCode.STRING}


class OwnEvent(NamedTuple):
    """An event as it is written; `time_ns` is of the clock that everybody has (CLOCK_MONOTONIC)."""

    time_ns: int
    id: int
    payload: bytes


def own_event(time_ns: int, id: int, *values: int | str) -> OwnEvent:
    """An event with its values in the order of their declaration; a text can only be the last."""
    numbers, _ = _kind(id)
    if isinstance(values[-1], str):
        return OwnEvent(time_ns, id, numbers.pack(*values[:-1]) + utf16z(values[-1], "a text"))
    return OwnEvent(time_ns, id, numbers.pack(*values))


@cache
def _kind(id: int) -> tuple[struct.Struct, MetadataRecord]:
    """How its numbers are packed, and its description."""
    declared = DEFAULT.get(OWN, id, 0)
    assert declared is not None
    fields = declared.layout.bind(8).fields
    described = tuple(FieldDescription(field.name, _CODES[field.code]) for field in fields)
    numbers = struct.Struct("<" + "".join(field.code or "" for field in fields))
    return numbers, MetadataRecord(_METADATA_IDS + id, OWN, id, name=declared.name, fields=described)


def descriptions(offset: int) -> bytes:
    """The block of all descriptions, to stand at this offset of a file."""
    described = [described_event(_kind(id)[1]) for id in range(COUNTING, FILTERED + 1)]
    return _block(ObjectName.METADATA, described, Sequences(), offset)


def block_of(events: Sequence[OwnEvent], ticks: Sequence[int], sequences: Sequences, offset: int) -> bytes:
    """The block of these events with their times in the trace's clock. None promises that later ones are later."""
    records = [
        EventRecord(_METADATA_IDS + event.id, tick, OWN_THREAD, event.payload, is_sorted=False)
        for event, tick in zip(events, ticks, strict=True)
    ]
    return _block(ObjectName.EVENTS, records, sequences, offset)


def _block(name: str, records: Sequence[EventRecord], sequences: Sequences, offset: int) -> bytes:
    """A block as an object that ends as far from a multiple of four as it begins."""
    content = blocks.events(records, sequences, SHORTEST, full_nettrace4, False)
    sequences.keep()
    # The header says its own size, so that more may stand in it.
    size = SHORTEST.header_size
    slack = (offset - 1 - len(content)) % 4
    out = BytesIO()
    writer = ObjectWriter(out, ObjectTag.BEGIN_PRIVATE)
    writer.offset = offset
    padded = (size + slack).to_bytes(2, "little") + content[2:size] + bytes(slack) + content[size:]
    writer.block(name, _VERSION, _VERSION, padded)
    return out.getvalue()

"""Events of our own as bytes of NetTrace 4: from their declarations, in blocks that fit between a runtime's.

Such a block is a multiple of four bytes long, as padding counts from the start of the file (docs/format.md, "Events of
a recorder"). Knows no stream.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache
from io import BytesIO
from typing import Final, NamedTuple

from clrevents.encode.blocks import block_header
from clrevents.encode.metadata import record
from clrevents.encode.objects import ObjectWriter
from clrevents.encode.scalars import M32, utf16z, varuint
from clrevents.encode.values import SHORTEST, FieldDescription, MetadataRecord
from clrevents.schema.codes import HeaderFlag, ObjectName, ObjectTag, TypeCode
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import DEFAULT, OWN

COUNTING, THREAD_NAME, PROCESSOR_TIME, THREAD_END, PROCESS, FACTS, LIMITS, MACHINE, FILTERED = range(16, 25)
"""The ids of events (`schema.events.processor_counts`, `schema.events.recorder_marks`)."""
_METADATA_IDS: Final = 0x7F000000
"""Added to the id of an event: a runtime's own are small, and the same one twice would stop other readers."""
_VERSION: Final = 2
_CODES: Final = {"q": TypeCode.INT64, "I": TypeCode.UINT32, None: TypeCode.STRING}
_METADATA, _CAPTURE, _THREAD, _SIZE = map(
    int, (HeaderFlag.METADATA, HeaderFlag.CAPTURE, HeaderFlag.THREAD, HeaderFlag.SIZE)
)


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
    payloads = [record(_kind(id)[1]) for id in range(COUNTING, FILTERED + 1)]
    # Events of metadata id 0, each with its size: thread, number and time are 0, too.
    blobs = [bytes((_SIZE,)) + b"\0" + varuint(len(payload), 32, "a size") + payload for payload in payloads]
    return _block(ObjectName.METADATA, b"".join(blobs), (0, 0), offset)


def block_of(events: Sequence[OwnEvent], ticks: Sequence[int], number: int, offset: int) -> bytes:
    """The block of these events with their times in the trace's clock. The first has this number of its thread."""
    return _block(ObjectName.EVENTS, b"".join(_blobs(events, ticks, number)), (min(ticks), max(ticks)), offset)


def _blobs(events: Iterable[OwnEvent], ticks: Iterable[int], number: int) -> Iterable[bytes]:
    """Headers and payloads (docs/format.md, "Compressed event headers"); none promises that later ones are later."""
    kind = size = time = 0
    for event, tick in zip(events, ticks, strict=True):
        parts = _METADATA * (event.id != kind) | _SIZE * (len(event.payload) != size)
        head = varuint(_METADATA_IDS + event.id, 32, "metadata id") if parts & _METADATA else b""
        if not kind:
            parts |= _CAPTURE | _THREAD
            thread = varuint(OWN_THREAD, 64, "thread")
            head += varuint(number - 1 & M32, 32, "sequence") + thread + varuint(M32, 32, "processor") + thread
        head += varuint(tick - time & (1 << 64) - 1, 64, "time")
        kind, size, time = event.id, len(event.payload), tick
        yield bytes((parts,)) + head
        yield (varuint(size, 32, "a size") if parts & _SIZE else b"") + event.payload


def _block(name: str, blobs: bytes, span: tuple[int, int], offset: int) -> bytes:
    """A block as an object that ends as far from a multiple of four as it begins."""
    header = block_header(SHORTEST, span)
    slack = (offset - 1 - len(header) - len(blobs)) % 4
    # The header says its own size, so that more may stand in it.
    header = (len(header) + slack).to_bytes(2, "little") + header[2:] + bytes(slack)
    out = BytesIO()
    writer = ObjectWriter(out, ObjectTag.BEGIN_PRIVATE)
    writer.offset = offset
    writer.block(name, _VERSION, _VERSION, header + blobs)
    return out.getvalue()

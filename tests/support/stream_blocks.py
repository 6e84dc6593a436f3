"""Where the blocks of a stream are, in every generation: by their envelopes alone, and without the reader's code.

Blocks of NetTrace 6 are called as NetTrace 4 calls those that both have; of NetPerf 1 and 2, each record is one. Ends
without a word before the first bytes that are none.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

Shape: TypeAlias = Literal["nettrace6", "nettrace4", "netperf3", "netperf12"]

TAGS: Final = (b"\x05\x05\x01", b"\x04\x04\x01")
"""How an object begins, in NetTrace 4 and in NetPerf 3."""
_SERIALIZER: Final = b"\x14\0\0\0!FastSerialization.1"
_OLD_NAME: Final = b"Microsoft.DotNet.Runtime.EventPipeFile\x06"
_KINDS: Final = (
    *("End", "Trace", "EventBlock", "MetadataBlock", "SPBlock", "StackBlock", "ThreadBlock", "RemovedBlock"),
    "LabelBlock",
)
_TRACE_BYTES: Final = 48
_LEAST_RECORD: Final = 56


class Block(NamedTuple):
    """From its first byte to behind its last, and the same of its content; `size_at` is where the content's size
    stands, and the content's own start where it has none."""

    name: str
    start: int
    size_at: int
    content: int
    content_end: int
    end: int


def shape_of(data: bytes) -> Shape | None:
    """The container; None for bytes that do not begin like one."""
    if data[:8] == b"Nettrace" and data[8:12] == bytes(4):
        return "nettrace6"
    if data.startswith(b"Nettrace" + _SERIALIZER):
        return "nettrace4"
    if data.startswith(_SERIALIZER):
        return "netperf12" if data[39 : 39 + len(_OLD_NAME)] == _OLD_NAME else "netperf3"
    return None


def head_size(data: bytes) -> int:
    """What stands in front of the first block."""
    sizes = {"nettrace6": 20, "nettrace4": 32, "netperf3": 24, "netperf12": 39 + len(_OLD_NAME) + 4 + 32, None: 0}
    return min(sizes[shape_of(data)], len(data))


def blocks_of(data: bytes) -> Iterator[Block]:
    """All of them, in order."""
    walks = {"nettrace6": _rows, "nettrace4": _objects, "netperf3": _objects, "netperf12": _records}
    shape = shape_of(data)
    if shape is not None:
        yield from walks[shape](data, head_size(data))


def _rows(data: bytes, pos: int) -> Iterator[Block]:
    """Three bytes of size, and one that says what it is."""
    while pos + 4 <= len(data):
        size, kind = int.from_bytes(data[pos : pos + 3], "little"), data[pos + 3]
        end = pos + 4 + size
        if end > len(data):
            return
        yield Block(_KINDS[kind] if kind < len(_KINDS) else "", pos, pos, pos + 4, end, end)
        pos = end


def _records(data: bytes, pos: int) -> Iterator[Block]:
    """A size, then a number that is 0 where the record describes events."""
    while pos + 8 <= len(data):
        size, described_by = struct.unpack_from("<ii", data, pos)
        end = pos + 4 + size
        if size < _LEAST_RECORD or end > len(data):
            return
        yield Block("EventBlock" if described_by else "MetadataBlock", pos, pos, pos + 4, end, end)
        pos = end


def _objects(data: bytes, pos: int) -> Iterator[Block]:
    """Tags, the versions, the name, and for a block its size, and its bytes on a multiple of four."""
    while pos + 20 <= len(data) and data[pos : pos + 3] in TAGS:
        (length,) = struct.unpack_from("<i", data, pos + 11)
        size_at = pos + 16 + length
        if not 0 < length <= 64 or data[size_at - 1 : size_at] != b"\x06":
            return
        name = data[pos + 15 : size_at - 1].decode("ascii", "replace")
        content, size = size_at, _TRACE_BYTES
        if name != "Trace":
            if size_at + 4 > len(data):
                return
            (size,) = struct.unpack_from("<i", data, size_at)
            content += 4 + -(size_at + 4) % 4
        if size < 0 or data[content + size : content + size + 1] != b"\x06":
            return
        yield Block(name, pos, size_at, content, content + size, content + size + 1)
        pos = content + size + 1

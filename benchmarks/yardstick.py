"""The yardstick: a bare walk over all event headers of a NetTrace 4 file in plain Python.

    python benchmarks/yardstick.py TRACE

Its time is the unit of benchmarks/run.py. Knows blocks and compressed headers, one loop a number and a tuple an
event, and nothing else: it must stay as slow as it is, or figures of different days could not be compared.
"""

from __future__ import annotations

import gzip
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# Of the Trace object, which has no size of its own.
_TRACE = 48
_OBJECT, _OBJECT_END = 5, 6
_COMPRESSED = 1

Row = tuple[int, int, int, int, int, int]


def blocks(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Each object's name, and where its content begins and how long it is."""
    if data[:8] != b"Nettrace":
        raise ValueError("the yardstick reads NetTrace 4 only")
    at = 32
    while data[at] == _OBJECT:
        (length,) = struct.unpack_from("<I", data, at + 11)
        name = data[at + 15 : at + 15 + length].decode()
        at += 16 + length
        size = _TRACE
        if name != "Trace":
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
            at += -at % 4
        yield name, at, size
        at += size
        if data[at] != _OBJECT_END:
            raise ValueError(f"{name} does not end at byte {at}")
        at += 1


def scan(data: bytes, start: int, size: int) -> list[Row]:
    """(metadata id, thread, tick, stack id, place and size of the payload) of each event of one block.

    Ticks are sums that do not wrap: `tick & (2**64 - 1)` is the time.
    """
    header, block_flags = struct.unpack_from("<HH", data, start)
    if not block_flags & _COMPRESSED:
        raise ValueError(f"the block at byte {start} has full headers")
    at = start + header
    end = start + size
    metadata = sequence = capture = processor = thread = stack = tick = payload = 0
    rows: list[Row] = []
    add = rows.append
    # No function for a number: calls would be most of the time.
    while at < end:
        flags = data[at]
        at += 1
        if flags & 1:
            metadata = shift = 0
            while True:
                byte = data[at]
                at += 1
                metadata |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        if flags & 2:
            step = shift = 0
            while True:
                byte = data[at]
                at += 1
                step |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            sequence += step
            capture = shift = 0
            while True:
                byte = data[at]
                at += 1
                capture |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            processor = shift = 0
            while True:
                byte = data[at]
                at += 1
                processor |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        elif metadata:
            sequence += 1
        if flags & 4:
            thread = shift = 0
            while True:
                byte = data[at]
                at += 1
                thread |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        if flags & 8:
            stack = shift = 0
            while True:
                byte = data[at]
                at += 1
                stack |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        step = shift = 0
        while True:
            byte = data[at]
            at += 1
            step |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        tick += step
        if flags & 16:
            at += 16
        if flags & 32:
            at += 16
        if flags & 128:
            payload = shift = 0
            while True:
                byte = data[at]
                at += 1
                payload |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        add((metadata, thread, tick, stack, at, payload))
        at += payload
    return rows


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("which trace?")
    path = Path(sys.argv[1])
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    began = time.process_time()
    events = sum(len(scan(data, at, size)) for name, at, size in list(blocks(data)) if name == "EventBlock")
    print(f"{events:,} events, {len(data) / 1e6:.1f} MB, {time.process_time() - began:.3f} s")


if __name__ == "__main__":
    main()

"""How much memory reading needs, for streams that are as long as one likes.

    python benchmarks/memory.py [TRACE] [--sizes 50M,200M,1G] [--feed 10G] [--decoders 10000]

Generates streams that repeat a real trace's regions with later times and continued sequence numbers, so that they
are sound from end to end; without TRACE it is a fixture. For millions of sub-events of the async profiler TRACE is
what `clrevents cut --events AsyncEvents --no-rundown` makes of a recording. Each size is counted in a process of its
own (VmHWM); `--feed` pushes that much through one Decoder, `--decoders` makes and drops that many, each after its first
blocks; both tell how memory went.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
FIXTURES: Final = SOURCE.parent / "fixtures"
SEED: Final = FIXTURES / "net10-method-interop.nettrace.gz"
HEADER: Final = struct.Struct("<HHqq")
BUFFER: Final = struct.Struct("<IBI")
"""How an `AsyncEvents` begins: the length of the buffer, its version, and the length again."""
BUFFER_TIMES: Final = (25, 33)
"""Where its first and last tick are."""
M32: Final = (1 << 32) - 1
M64: Final = (1 << 64) - 1
UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Repeated:
    """The regions of a NetTrace 4 trace with compressed headers, as often as asked, as one sound stream."""

    def __init__(self, data: bytes) -> None:
        self._parts: list[tuple[str, bytes, bytes | EventBlock]] = []
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self.events = 0
        times: list[int] = []
        head_end = None
        for name, start, at, end in _blocks(data):
            head_end = head_end or start
            content: bytes | EventBlock = data[at:end]
            if name == "EventBlock":
                content = EventBlock(data[at:end])
                times += content.first, content.last
                self.events += sum(count for _, _, count in content.runs)
                for thread, number, count in content.runs:
                    self._saw(thread, number, number + count - 1)
            elif name == "SPBlock":
                times.append(struct.unpack_from("<q", data, at)[0])
                for thread, number in struct.iter_unpack("<QI", data[at + 12 : end]):
                    self._saw(thread, number + 1, number)
            self._parts.append((name, data[start : start + 16 + len(name)], content))
        self._head = data[:head_end]
        self._step = max(times) - min(times) + 1

    def _saw(self, thread: int, first: int, last: int) -> None:
        self._first.setdefault(thread, first)
        self._last[thread] = max(self._last.get(thread, 0), last)

    def stream(self, size: int) -> Iterator[bytes]:
        """Block by block, until at least `size` bytes are reached at the end of a repetition; then the end mark."""
        yield self._head
        offset, turn = len(self._head), 0
        while offset < size:
            later = turn * self._step
            shift = {thread: turn * (last - self._first[thread] + 1) for thread, last in self._last.items()}
            for name, prefix, part in self._parts:
                if name == "MetadataBlock" and turn:
                    continue
                content = part.shifted(later, shift) if isinstance(part, EventBlock) else part
                if name == "SPBlock":
                    content = _shifted_point(content, later, shift)
                head = prefix + struct.pack("<i", len(content))
                block = b"".join((head, bytes(-(offset + len(head)) % 4), content, b"\6"))
                offset += len(block)
                yield block
            turn += 1
        yield b"\1"


class EventBlock:
    """An event block, cut at what hangs on absolute time and on sequence numbers (compressed headers)."""

    def __init__(self, content: bytes) -> None:
        self.size, self.flags, self.first, self.last = HEADER.unpack_from(content)
        self.runs: list[tuple[int, int, int]] = []
        # What stands in front of each cut; then (thread, step of its number), or (None, the first event's tick), or
        # (-1, a tick inside a buffer of the async profiler).
        self._cuts: list[tuple[bytes, int | None, int]] = []
        pos = kept = HEADER.size
        pos = self.size
        metadata_id = payload = sequence = 0
        ticked = False
        while pos < len(content):
            flags = content[pos]
            pos += 1
            if flags & 1:
                metadata_id, pos = _varint(content, pos)
            if flags & 2:
                step, behind = _varint(content, pos)
                thread, after = _varint(content, behind)
                self._cuts.append((content[kept:pos], thread, step))
                sequence = (sequence + step + 1) & M32
                self.runs.append((thread, sequence, 0))
                kept = behind
                _, pos = _varint(content, after)
            elif metadata_id:
                sequence = (sequence + 1) & M32
            self.runs[-1] = (*self.runs[-1][:2], self.runs[-1][2] + 1)
            for bit in (4, 8):
                if flags & bit:
                    _, pos = _varint(content, pos)
            tick, behind = _varint(content, pos)
            if not ticked:
                self._cuts.append((content[kept:pos], None, tick))
                kept, ticked = behind, True
            pos = behind + 16 * bool(flags & 16) + 16 * bool(flags & 32)
            if flags & 128:
                payload, pos = _varint(content, pos)
            if payload > BUFFER.size and BUFFER.unpack_from(content, pos) == (payload - 4, 1, payload - 4):
                for cut in (pos + place for place in BUFFER_TIMES):
                    self._cuts.append((content[kept:cut], -1, *struct.unpack_from("<q", content, cut)))
                    kept = cut + 8
            pos += payload
        self._rest = content[kept:]

    def shifted(self, later: int, shift: dict[int, int]) -> bytes:
        """The block `later` ticks on, each thread's numbers moved by its `shift`."""
        out = [HEADER.pack(self.size, self.flags, self.first + later, self.last + later)]
        moved = 0
        for front, thread, value in self._cuts:
            out.append(front)
            if thread is None:
                out.append(_leb(value + later & M64))
            elif thread < 0:
                out.append(struct.pack("<q", value + later))
            else:
                # A number is written as the step from the number before it, of whatever thread that was.
                out.append(_leb(value + shift[thread] - moved & M32))
                moved = shift[thread]
        out.append(self._rest)
        return b"".join(out)


def _shifted_point(content: bytes | EventBlock, later: int, shift: dict[int, int]) -> bytes:
    assert isinstance(content, bytes)
    when, count = struct.unpack_from("<qi", content)
    rows = struct.iter_unpack("<QI", content[12 : 12 + 12 * count])
    moved = (struct.pack("<QI", thread, number + shift[thread] & M32) for thread, number in rows)
    return struct.pack("<qi", when + later, count) + b"".join(moved)


def _blocks(data: bytes) -> Iterator[tuple[str, int, int, int]]:
    """(name, start of the object, start and end of its content) of each block."""
    pos = 32
    while data[pos] == 5:
        start = pos
        (length,) = struct.unpack_from("<i", data, pos + 11)
        name = data[pos + 15 : pos + 15 + length].decode()
        pos += 16 + length
        if name == "Trace":
            pos += 49
            continue
        (size,) = struct.unpack_from("<i", data, pos)
        pos += 4
        pos += -pos % 4
        yield name, start, pos, pos + size
        pos += size + 1


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, pos
        shift += 7


def _leb(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def load(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def peak() -> int:
    """The process's largest memory so far, in bytes (Linux: VmHWM)."""
    return _status("VmHWM")


def resident() -> int:
    return _status("VmRSS")


def _status(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) << 10
    raise OSError(f"no {what} here")


def count(path: Path) -> None:
    """Count a file's events and tell the peak: runs in a process of its own."""
    import clrevents

    with clrevents.open(path) as trace:
        print(sum(trace.event_counts().values()), trace.lost, len(trace.problems), peak())


def measure(trace: Path, sizes: list[int]) -> None:
    repeated = Repeated(load(trace))
    base = 0
    for size in sizes:
        with tempfile.NamedTemporaryFile(suffix=".nettrace") as file:
            for block in repeated.stream(size):
                file.write(block)
            file.flush()
            done = subprocess.run(
                [sys.executable, __file__, "--count", file.name], check=True, capture_output=True, text=True
            )
            events, lost, problems, most = map(int, done.stdout.split())
            base = base or most
            print(
                f"{Path(file.name).stat().st_size / 1e6:10,.0f} MB {events:12,} events {lost} lost {problems} problems"
                f"   peak {most / 1e6:7.1f} MB   {most / base:.3f} of the first",
                flush=True,
            )


def feed(trace: Path, size: int) -> None:
    """One Decoder, all events decoded; what its process holds on the way."""
    from clrevents import Decoder

    repeated = Repeated(load(trace))
    decoder = Decoder()
    done = events = told = 0
    start = time.monotonic()
    for block in repeated.stream(size):
        done += len(block)
        events += sum(map(len, decoder.feed(block)))
        if done - told >= size // 20:
            told = done
            print(
                f"{done / 1e9:7.2f} GB {events:12,} events {time.monotonic() - start:6.0f} s"
                f"   resident {resident() / 1e6:7.1f} MB, peak {peak() / 1e6:7.1f} MB",
                flush=True,
            )
    events += sum(map(len, decoder.close()))
    print(f"{events:,} events, {len(decoder.losses)} losses, {len(decoder.problems)} problems")


def decoders(trace: Path, number: int) -> None:
    """Many Decoders, each fed the first 200 KB and dropped."""
    from clrevents import Decoder

    head = load(trace)[: 200 << 10]
    for turn in range(number):
        decoder = Decoder()
        decoder.feed(head)
        if turn % max(number // 10, 1) == 0:
            print(f"{turn:8,} decoders   resident {resident() / 1e6:7.1f} MB", flush=True)
    print(f"{number:8,} decoders   resident {resident() / 1e6:7.1f} MB")


def _bytes(text: str) -> int:
    return int(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].upper() in UNITS else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=SEED, help="a NetTrace 4 file, also .gz")
    parser.add_argument("--sizes", default="50M,200M,1G")
    parser.add_argument("--feed")
    parser.add_argument("--decoders", type=int)
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(SOURCE))
    if options.count:
        count(options.count)
    elif options.feed:
        feed(options.trace, _bytes(options.feed))
    elif options.decoders:
        decoders(options.trace, options.decoders)
    else:
        measure(options.trace, [_bytes(s) for s in options.sizes.split(",")])


if __name__ == "__main__":
    main()

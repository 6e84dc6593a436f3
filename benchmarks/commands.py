"""Whole commands, as one waits for them: a small trace, a large one, and traces that are as long as one likes.

    python benchmarks/commands.py [TRACE] [--runs 5] [--commands info,jit]
    python benchmarks/commands.py [TRACE] --sizes 50M,200M,1G --commands info,export

Medians of processor time, of a process with its start, also as multiples of `python -c "import numpy"`, which is
measured in turns with it; seconds by the clock; the process's own count of its largest memory (VmHWM); and how many of
our modules it has imported when it ends. Without TRACE, a small one from `fixtures/`.

With `--sizes` traces repeat TRACE's regions with later times and continued sequence numbers, so that they are sound
from end to end. For millions of sub-events of the async profiler TRACE is what `clrevents cut --events AsyncEvents
--no-rundown` makes of a recording.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from clrevents.encode.values import varuint

HERE: Final = Path(__file__).resolve().parent
FIXTURES: Final = HERE.parent / "fixtures"
SMALL: Final = FIXTURES / "net10-method-interop.nettrace.gz"
COMMANDS: Final = (
    "--help",
    "info",
    "events --limit 5",
    "check",
    "jit",
    "gc",
    "top",
    "threads",
    "locks",
    "alloc",
    "doctor",
)
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
        for name, start, at, end in _objects(data):
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
                out.append(varuint(value + later & M64, 64, "a time"))
            elif thread < 0:
                out.append(struct.pack("<q", value + later))
            else:
                # A number is written as the step from the number before it, of whatever thread that was.
                out.append(varuint(value + shift[thread] - moved & M32, 32, "a number"))
                moved = shift[thread]
        out.append(self._rest)
        return b"".join(out)


def _shifted_point(content: bytes | EventBlock, later: int, shift: dict[int, int]) -> bytes:
    assert isinstance(content, bytes)
    when, count = struct.unpack_from("<qi", content)
    rows = struct.iter_unpack("<QI", content[12 : 12 + 12 * count])
    moved = (struct.pack("<QI", thread, number + shift[thread] & M32) for thread, number in rows)
    return struct.pack("<qi", when + later, count) + b"".join(moved)


def _objects(data: bytes) -> Iterator[tuple[str, int, int, int]]:
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


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def size_of(text: str) -> int:
    """Bytes, from `50M`."""
    return int(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].upper() in UNITS else int(text)


def repeated(trace: Path, size: str, folder: Path) -> Path:
    """A sound trace of this size made of a small one's regions, named after it."""
    path = folder / f"{trace.name.partition('.')[0]}-repeated.nettrace"
    with path.open("wb") as file:
        file.writelines(Repeated(unpacked(trace)).stream(size_of(size)))
    return path


def plain_file(path: Path, folder: Path) -> Path:
    """The trace without compression, so that gzip is not measured."""
    if path.suffix != ".gz":
        return path
    copy = folder / path.stem
    with gzip.open(path) as packed, copy.open("wb") as out:
        shutil.copyfileobj(packed, out)
    return copy


def environment(engine: str) -> dict[str, str]:
    """As a user's, with the engine that is asked for; byte code is kept, as it is by default."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "CLREVENTS_PURE")}
    kept.setdefault("PYTHONPATH", str(HERE.parent / "src"))
    return kept | ({"CLREVENTS_PURE": "1"} if engine == "interpreted" else {"CLREVENTS_REQUIRE_COMPILED": "1"})


def ask(engine: str, *arguments: str) -> Any:
    """What a process of `stages.py` answers."""
    command = [sys.executable, str(HERE / "stages.py"), *arguments]
    done = subprocess.run(command, env=environment(engine), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def whole(command: list[str]) -> tuple[float, float, int]:
    """Processor and clock seconds of one process, and how it ended."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment("compiled"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, clock, process.returncode


def print_command(command: str, trace: Path, runs: int, folder: Path) -> None:
    """A line of the table."""
    words = command.split()
    if command == "export":
        words += ["--jobs", "1", "-o", str(folder / "out")]
    path = [] if command == "--help" else [str(trace)]
    units, own, clocks = [], [], []
    for _ in range(runs):
        units.append(whole([sys.executable, "-c", "import numpy"])[0])
        seconds, clock, code = whole([sys.executable, "-m", "clrevents", *words, *path])
        assert code == 0, f"clrevents {command} ended with {code}"
        own.append(seconds)
        clocks.append(clock)
        shutil.rmtree(folder / "out", ignore_errors=True)
    most, modules = ask("compiled", str(trace), "--command", *words)
    shutil.rmtree(folder / "out", ignore_errors=True)
    median, unit, clock = (statistics.median(each) for each in (own, units, clocks))
    figures = f"{median:>9.3f}{median / unit:>9.2f}{clock:>9.3f}{most / 1e6:>9.1f}{modules:>9}"
    print(f"  {command:<20}{figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=SMALL, help=".nettrace, also .gz; to repeat: NetTrace 4")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--sizes", help="repeat the trace until it is as long as each of these")
    options = parser.parse_args()
    for size in options.sizes.split(",") if options.sizes else [None]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            trace = repeated(options.trace, size, folder) if size else options.trace
            print(f"{trace.name}, {trace.stat().st_size / 1e6:,.1f} MB: medians of {options.runs}")
            print(f"  {'':<20}{'seconds':>9}{'× numpy':>9}{'clock':>9}{'peak MB':>9}{'modules':>9}")
            for command in options.commands.split(","):
                print_command(command, trace, options.runs, folder)


if __name__ == "__main__":
    main()

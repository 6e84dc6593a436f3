"""What costly streams cost: time and memory of everything that reads, for each byte of input.

    python benchmarks/cost.py [--sizes small|full] [--families NAMES] [--uses NAMES] [--modes report,salvage]

The streams are those of tests/support/costs/costly_families.py. Each use runs in a process of its own that has imported
everything and nothing else. Seconds are the processor's; memory is what the process's largest resident set (VmHWM)
grew by; bytes are those after unpacking. `--times 10 --memory 600` prints only what takes more seconds or megabytes,
and makes the exit status 1 if anything does; `--promised` what takes more than docs/security.md promises for the bytes
that it reads and writes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
for place in (HERE.parent / "src", HERE.parent / "tests" / "support" / "costs"):
    sys.path.insert(0, os.fspath(place))

from stages import peak, resident  # noqa: E402

from costly_families import FAMILIES, Family  # noqa: E402
from costly_uses import (  # noqa: E402
    PROMISED_BYTES,
    PROMISED_MEGABYTES,
    PROMISED_MICROSECONDS,
    PROMISED_SECONDS,
    USES,
    Use,
    loaded,
    silently,
)


def measured(use: Use, path: Path, mode: str, seconds: int, room: int) -> tuple[float, int, int, str]:
    """Seconds of processor time, bytes of memory, bytes written and the ending of a use in a process of its own."""
    told, tell = os.pipe()
    if not (child := os.fork()):
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        before, wrote, began = resident(), written_bytes(), time.process_time()
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
        try:
            ending = silently(use, path, mode)
        except BaseException as error:
            ending = f"{type(error).__name__}: {error}"[:200]
        took = time.process_time() - began
        os.write(tell, f"{took} {peak() - before} {written_bytes() - wrote} {ending}".encode())
        os._exit(0)
    os.close(tell)
    with open(told) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if not text:
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, 0, f"ended: by signal {os.WTERMSIG(status)}"
    took, grew, wrote, ending = text.split(" ", 3)
    return float(took), int(grew), int(wrote), ending


def written_bytes() -> int:
    """What this process has given to the system to write."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", choices=["small", "full"], default="small")
    parser.add_argument("--families", default=",".join(family.name for family in FAMILIES))
    parser.add_argument("--uses", default=",".join(USES))
    parser.add_argument("--modes", default="report,salvage")
    parser.add_argument("--times", type=float, default=0, help="print what takes more seconds")
    parser.add_argument("--memory", type=float, default=0, help="or more megabytes")
    parser.add_argument("--promised", action="store_true", help="print what takes more than is promised")
    options = parser.parse_args()
    loaded()
    over = 0
    chosen = options.families.split(",")
    with tempfile.TemporaryDirectory() as folder:
        for family in (each for each in FAMILIES if each.name in chosen):
            path = Path(folder) / f"trace{family.suffix}"
            length = written(family, path, getattr(family, options.sizes))
            print(f"{family.name}: {length / 1e6:,.2f} MB", flush=True)
            times, memory = options.times, options.memory
            worst: list[tuple[float, str]] = [(0, ""), (0, "")]
            for mode in options.modes.split(","):
                for name in options.uses.split(","):
                    took, grew, wrote, ending = measured(USES[name], path, mode, 60, 3 << 30)
                    if options.promised:
                        times = PROMISED_SECONDS + PROMISED_MICROSECONDS * (length + wrote) / 1e6
                        memory = PROMISED_MEGABYTES + PROMISED_BYTES * length / 1e6
                    what = f"{name}, {mode}"
                    worst = [max(worst[0], (took, what)), max(worst[1], (grew, what))]
                    if took > times or grew > memory * 1e6 or ":" in ending:
                        over += 1
                        more = f"{wrote / 1e6:.1f} MB written"
                        print(f"  {what:28} {figures(took, grew, length)}  {more}  {ending}", flush=True)
            (took, slowest), (grew, largest) = worst
            print(f"  worst: {took:.2f} s in {slowest}; {grew / 1e6:.0f} MB in {largest}", flush=True)
            path.unlink()
    return int(bool(over and (options.times or options.memory or options.promised)))


def figures(took: float, grew: int, length: int) -> str:
    per_byte = f"{took / length * 1e6:8.3f} µs and {grew / length:8.2f} bytes a byte"
    return f"{took:7.2f} s {grew / 1e6:7.0f} MB  {per_byte}"


def written(family: Family, path: Path, size: int) -> int:
    """Write a family's trace, in a process of its own so that its memory is not ours; its unpacked length."""
    if not (child := os.fork()):
        path.write_bytes(family.make(size))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{family.name} could not be made"
    return size * 1_000_000 if family.suffix.endswith(".gz") else path.stat().st_size


if __name__ == "__main__":
    sys.exit(main())

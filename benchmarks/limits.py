"""What the machine itself takes for as much as a trace holds, in yardsticks: the least that any reader could take.

    python benchmarks/limits.py [TRACE] [--rounds 5]

Copying the file's bytes once, to memory that the process already has; and making two objects an event, as large as an
event and its record are here (the mean of the first ones): tuples that C makes, of which 500 live at a time. Each is
the best of all rounds, in processor time, beside a yardstick of the same rounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import deque
from itertools import islice, repeat
from pathlib import Path
from typing import Final

from run import HERE, plain_file
from stages import YARDSTICK, load, timed, walk

SMALL: Final = HERE.parent / "fixtures" / "net10-method-interop.nettrace.gz"
ALIVE: Final = 500
_SAMPLE: Final = 20_000


def sizes(path: Path) -> tuple[int, int, int]:
    """How many events there are, and the bytes of an event and of its record, as Python counts them."""
    import clrevents

    with clrevents.open(path) as trace:
        count = sum(trace.event_counts().values())
        found = [(sys.getsizeof(e), sys.getsizeof(e.payload)) for e in islice(trace.events(), _SAMPLE)]
    event, record = (sum(each) // len(found) for each in zip(*found, strict=True))
    return count, event, record


def make(count: int, size: int) -> int:
    """Make as many objects of this size."""
    slots = max(1, (size - sys.getsizeof(())) // 8)
    deque(islice(zip(*[repeat(None)] * slots, strict=False), count), maxlen=ALIVE)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=SMALL, help="a NetTrace 4 file, also .gz")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = plain_file(options.trace, Path(folder))
        data, yardstick = path.read_bytes(), load(YARDSTICK)
        count, event, record = sizes(path)
    target = memoryview(bytearray(len(data)))

    def copy() -> int:
        target[:] = data
        return len(data)

    tasks = {
        "the yardstick": lambda: walk(yardstick, data),
        "copy the file's bytes": copy,
        f"make {count:,} objects of {event} bytes": lambda: make(count, event),
        f"…and as many of {record} bytes": lambda: make(count, event) + make(count, record),
    }
    rounds = [{name: timed(task)[0] for name, task in tasks.items()} for _ in range(options.rounds)]
    best = {name: min(each[name] for each in rounds) for name in tasks}
    unit = best["the yardstick"]
    for name, seconds in best.items():
        print(f"{name:<44}{seconds:>10.4f} s{seconds / unit:>9.3f}")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent / "src"))
    main()

"""Times of reading whole traces, as multiples of a yardstick that is measured in the same run.

The yardstick walks every event header in plain Python and does nothing more. Multiples of it can be compared
between machines and with the official decoder's, which are in `shared/bench/README.md`.

    python benchmarks/run.py [--rounds 5] [TRACE …]
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import platform
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Final

import clrevents
from clrevents.schema.registry import DEFAULT

SHARED: Final = Path(__file__).resolve().parents[2] / "shared"
DEFAULT_TRACES: Final = [SHARED / "traces" / "own" / f"{name}.nettrace.gz" for name in ("net10-all", "net10-big")]

# What the first release reads: later families must not change what this row measures.
FAMILIES: Final = {
    "interop",
    "jit",
    "method",
    "method_legacy",
    "method_rundown",
    "private_method",
    "r2r",
    "rundown_marks",
    "runtime_info",
    "tiering",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE", help=".nettrace, also .gz")
    parser.add_argument("--rounds", type=int, default=5, help="every time is the best of so many (default 5)")
    parser.add_argument("--yardstick", type=Path, default=SHARED / "bench" / "pyscan.py", help="the plain scan's file")
    options = parser.parse_args()
    traces = options.traces or [path for path in DEFAULT_TRACES if path.exists()]
    if not traces:
        parser.error(f"no trace given, and none at {DEFAULT_TRACES[0].parent}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    yardstick = load(options.yardstick) if options.yardstick.exists() else None
    if yardstick is None:
        print(f"no yardstick at {options.yardstick}: seconds only\n")
    print(f"clrevents {clrevents.__version__}, Python {platform.python_version()}, best of {options.rounds}\n")
    warnings.simplefilter("ignore", clrevents.TraceWarning)
    with tempfile.TemporaryDirectory() as folder:
        for path in traces:
            measure(plain_file(path, Path(folder)), yardstick, options.rounds)
    return 0


def load(path: Path) -> ModuleType:
    """The yardstick's module."""
    spec = importlib.util.spec_from_file_location("yardstick", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain_file(path: Path, folder: Path) -> Path:
    """The trace without compression, so that gzip is not measured."""
    if path.suffix != ".gz":
        return path
    copy = folder / path.stem
    with gzip.open(path) as packed, copy.open("wb") as out:
        shutil.copyfileobj(packed, out)
    return copy


def measure(path: Path, yardstick: ModuleType | None, rounds: int) -> None:
    """Print one trace's table."""
    counts = clrevents.open(path).event_counts()
    total = sum(counts.values())
    ours = [i.record for i in DEFAULT.events() if i.record.__module__.rpartition(".")[2] in FAMILIES]
    known = [key for key in counts if DEFAULT.get(key.provider, key.id, key.version) is not None]
    rare = min(known, key=lambda key: (counts[key], key), default=None)

    tasks: dict[str, Callable[[], int]] = {}
    if yardstick is not None:
        data = path.read_bytes()
        tasks["yardstick: bare walk over headers"] = lambda: walk(yardstick, data)
    tasks["scan: count by kind"] = lambda: sum(clrevents.open(path).event_counts().values())
    tasks["records of the interop and method families"] = lambda: drain(clrevents.open(path).events(*ours))
    tasks["all records"] = lambda: drain(clrevents.open(path).events())
    if rare is not None:
        tasks[f"one rare event: {rare.name}"] = lambda: drain(clrevents.open(path).events(rare))

    best = dict.fromkeys(tasks, float("inf"))
    given = dict.fromkeys(tasks, 0)
    # Round by round, so that a busy moment of the machine does not hit one row only.
    for _ in range(rounds):
        for name, task in tasks.items():
            started = time.perf_counter()
            given[name] = task()
            best[name] = min(best[name], time.perf_counter() - started)

    unit = next(iter(best.values())) if yardstick is not None else None
    print(f"{path.name}: {total:,} events, {path.stat().st_size / 1e6:.1f} MB")
    print(f"  {'':<46}{'given':>11}{'seconds':>10}{'yardsticks':>12}{'events read/s':>15}")
    for name, seconds in best.items():
        multiple = f"{seconds / unit:.2f}×" if unit is not None else "–"
        print(f"  {name:<46}{given[name]:>11,}{seconds:>10.3f}{multiple:>12}{total / seconds / 1e6:>13.2f} M")
    print()


def walk(yardstick: ModuleType, data: bytes) -> int:
    """What the yardstick's own main program does after it has read the file."""
    blocks = list(yardstick.blocks(data))
    return sum(len(yardstick.scan(data, at, size)) for name, at, size in blocks if name == "EventBlock")


def drain(events: Iterable[object]) -> int:
    """Go through an iterator and count."""
    count = 0
    for _ in events:
        count += 1
    return count


if __name__ == "__main__":
    sys.exit(main())

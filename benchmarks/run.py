"""Times of reading whole traces, as multiples of a yardstick that is measured in the same run.

    python benchmarks/run.py [--rounds 5] [--engines compiled,interpreted] [--json FILE] [TRACE …]

The yardstick walks every event header in plain Python and does nothing more. Multiples of it can be compared between
machines, and with the official decoder's, which were measured in the same way. Without traces it takes large shared
ones, and where these are missing makes some of fixtures (see commands.py). Times are the least of all rounds, in
seconds of processor time (whole commands: also by the clock); memory is the largest resident set (VmHWM) of a process
that does nothing else. Two commits are compared by pairs.py: figures of two runs drift.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from commands import FIXTURES, HERE, ask, plain_file, repeated, whole
from stages import timed, walk

SHARED: Final = HERE.parents[1] / "shared"
TRACES: Final = ("net10-big", "net10-all", "net10-gc", "net10-cpu")
# What traces are made of where those are missing.
SEEDS: Final = ("net10-method-interop", "net8-unload-verbose", "net8-sample")

# TraceEvent 3.2.8 on .NET 10, warmed up, and dotnet-trace 9.0.661903 `convert` as a whole process, in yardsticks
# measured in the same minute on the same machine (two cores). Source: shared/bench/README.md.
TRACE_EVENT: Final[dict[str, dict[str, float]]] = {
    "net10-big": {"count by kind": 0.40, "values": 0.53, "convert": 14.2},
    "net10-all": {"count by kind": 0.37, "values": 0.95},
    "net10-gc": {"count by kind": 0.48, "values": 1.0},
    "net10-cpu": {"convert": 12.7},
}
# Stages that give what TraceEvent's pass over all payload values gives.
VALUES: Final = (
    "every payload value into columns",
    "…as tables of every event",
    "tables of every event, with headers",
    "typed records, all fields",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE", help=".nettrace, also .gz")
    parser.add_argument("--rounds", type=int, default=5, help="every time is the best of so many (default 5)")
    parser.add_argument("--slow-rounds", type=int, default=1, help="…of the interpreted engine (default 1)")
    parser.add_argument("--engines", default="compiled,interpreted", help="which stages to measure; empty for none")
    parser.add_argument("--no-commands", action="store_true", help="leave out whole commands")
    parser.add_argument("--size", default="20M", help="how long traces made of fixtures are (default 20M)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    options = parser.parse_args()
    if min(options.rounds, options.slow_rounds) < 1:
        parser.error("at least one round")
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        stored = [SHARED / "traces" / "own" / f"{name}.nettrace.gz" for name in TRACES]
        traces = options.traces or [path for path in stored if path.exists()]
        if not traces:
            print(f"No traces are given, and none are at {stored[0].parent}: fixtures, repeated.")
            traces = [repeated(FIXTURES / f"{name}.nettrace.gz", options.size, Path(folder)) for name in SEEDS]
        figures: dict[str, Any] = {}
        for path in traces:
            plain = plain_file(path, Path(folder))
            mine = figures[plain.name] = {"bytes": plain.stat().st_size}
            for engine in filter(None, options.engines.split(",")):
                rounds = options.rounds if engine == "compiled" else options.slow_rounds
                mine[engine] = print_stages(plain, engine, rounds)
            if not options.no_commands:
                mine["commands"] = print_commands(plain, options.rounds, Path(folder))
    if options.json is not None:
        machine = {"python": platform.python_version(), "processors": os.cpu_count()}
        options.json.write_text(json.dumps({**machine, "traces": figures}, indent=1) + "\n", encoding="utf-8")
    return 0


def print_stages(path: Path, engine: str, rounds: int) -> dict[str, Any]:
    """One trace's table for one engine; its figures: seconds, what each stage gave, peak bytes."""
    found = ask(engine, str(path), "--rounds", str(rounds))
    assert found["engine"] == engine
    unit = found["yardstick"]
    found["peak"] = {}
    official = TRACE_EVENT.get(path.name.partition(".")[0], {})
    print(f"\n{path.name}, {path.stat().st_size / 1e6:.1f} MB, {engine}: best of {rounds}; yardstick {unit:.3f} s")
    print(f"  {'':<44}{'given':>12}{'seconds':>10}{'yardsticks':>12}{'TraceEvent':>12}{'faster':>9}{'peak MB':>9}")
    for number, (name, seconds) in enumerate(found["seconds"].items()):
        most = found["peak"][name] = ask(engine, str(path), "--peak", str(number))
        theirs = official.get("values" if name in VALUES else name)
        compared = f"{'–':>12}{'–':>9}" if theirs is None else f"{theirs:>12.2f}{theirs * unit / seconds:>8.1f}×"
        multiple = f"{seconds / unit:>12.3f}"
        print(
            f"  {name:<44}{found['given'][name]:>12,}{seconds:>10.4f}{multiple}{compared}{most / 1e6:>9.0f}", flush=True
        )
    return dict(found)


def commands(folder: Path) -> dict[str, list[str]]:
    """Whole commands without their trace, by what they are called in the table."""
    return {
        "clrevents info": ["info"],
        "clrevents export to Parquet": ["export", "--jobs", "1", "-o", str(folder / "out")],
        "clrevents flame": ["flame", "-o", str(folder / "flame.html")],
    }


def print_commands(path: Path, rounds: int, folder: Path) -> dict[str, Any]:
    """Whole processes, each measured next to the yardstick: a busy minute hits both. Their figures."""
    figures = {}
    data = path.read_bytes()
    theirs = TRACE_EVENT.get(path.name.partition(".")[0], {}).get("convert")
    print(
        f"\n{path.name}, whole commands, compiled: best of {rounds}; dotnet-trace convert: {theirs or '–'} yardsticks"
    )
    print(f"  {'':<32}{'yardsticks':>12}{'seconds':>10}{'by the clock':>14}{'yardsticks':>12}{'peak MB':>9}  exit")
    for name, command in commands(folder).items():
        best = clock = unit = unit_clock = float("inf")
        code = 0
        for _ in range(rounds):
            began = time.perf_counter()
            unit = min(unit, timed(lambda: walk(data))[0])
            unit_clock = min(unit_clock, time.perf_counter() - began)
            seconds, wall, code = whole([sys.executable, "-m", "clrevents", *command, str(path)])
            best, clock = min(best, seconds), min(clock, wall)
            shutil.rmtree(folder / "out", ignore_errors=True)
        most, _ = ask("compiled", str(path), "--command", *command)
        shutil.rmtree(folder / "out", ignore_errors=True)
        numbers = f"{best / unit:>12.2f}{best:>10.3f}{clock:>14.3f}{clock / unit_clock:>12.2f}{most / 1e6:>9.0f}"
        print(f"  {name:<32}{numbers}{code:>6}", flush=True)
        figures[name] = {
            "seconds": best,
            "clock": clock,
            "yardstick": unit,
            "yardstick_clock": unit_clock,
            "peak": most,
            "exit": code,
        }
    return figures


if __name__ == "__main__":
    sys.exit(main())

"""Whether one commit is slower than another, stage by stage: both in turns, compared by ratio.

    git worktree add ../before main~3        # and build its kernels: CONTRIBUTING.md
    python benchmarks/pairs.py ../before . [TRACE] [--pairs 15] [--stages NAMES] [--json FILE]

Saved times of two runs drift by more than a tenth. Here two processes, one a checkout, do each stage (stages.py, this
one's for both) one right after the other, the second checkout first in every other pair, so that a busy minute hits
both. Each pair has new processes, because two of the same program differ by a tenth and more for as long as they live.
Printed are medians of processor time, the median of the ratios of the pairs, and between which ratios the middle half
of these lie. A checkout may also be given twice, to see how much is noise. Without `TRACE`, a small one from fixtures/.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from commands import HERE, SMALL, environment, plain_file

SEEN: Final = 0.05
"""A difference is pointed out if the median differs by so much, and the middle half lies on the same side of 1."""

LEAST: Final = 0.05
"""Seconds that one measurement takes at least: what is shorter is done several times."""

Times: TypeAlias = dict[str, list[tuple[str, float]]]


class Side:
    """One checkout: a process that does the stages it is told to."""

    def __init__(self, checkout: Path, trace: Path) -> None:
        source = (checkout / "src").resolve()
        if not (source / "clrevents").is_dir():
            raise SystemExit(f"{checkout} is no checkout: it has no src/clrevents")
        command = [sys.executable, str(HERE / "stages.py"), str(trace), "--serve", "--source", str(source)]
        self._process = subprocess.Popen(
            command,
            env=environment("compiled") | {"PYTHONPATH": str(source), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.stages: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a stage ended with {self._process.wait()}")
        return json.loads(line)

    def seconds(self, stage: str, times: int = 1) -> float:
        """The processor time of a stage that is done now, so many times."""
        assert self._process.stdin is not None
        print(self.stages.index(stage), times, file=self._process.stdin, flush=True)
        return float(self._answer()) / times

    def end(self) -> None:
        self._process.communicate()


def measured(before: Side, after: Side, stages: Sequence[str], first: bool, times: Times) -> None:
    """Add a pair of times for each stage, of `before` first or last; who took how long, in the order of the clock."""
    sides = (("before", before), ("after", after))
    for stage in stages:
        # What is done for the first time also loads what it needs.
        for _, side in sides:
            side.seconds(stage)
        repeats = math.ceil(LEAST / max(before.seconds(stage), 1e-6))
        after.seconds(stage)
        for name, side in sides if first else sides[::-1]:
            times.setdefault(stage, []).append((name, side.seconds(stage, repeats)))


def line(stage: str, found: list[tuple[str, float]]) -> str:
    """A line of the table."""
    before, after = ([took for name, took in found if name == side] for side in ("before", "after"))
    ratios = [b / a for a, b in zip(before, after, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    said = "slower" if low > 1 and middle >= 1 + SEEN else "faster" if high < 1 and middle <= 1 - SEEN else ""
    medians = f"{statistics.median(before):>10.4f}{statistics.median(after):>10.4f}"
    return f"  {stage:<44}{medians}{middle:>8.3f}{low:>9.3f} – {high:.3f}  {said}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout with its kernels built")
    parser.add_argument("after", type=Path, help="another")
    parser.add_argument("trace", type=Path, nargs="?", default=SMALL, help=".nettrace, also .gz")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--stages", default="", help="beginnings of names, with commas; all without it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every single time to this file, in order")
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("at least two pairs")
    with tempfile.TemporaryDirectory() as folder:
        trace = plain_file(options.trace, Path(folder))
        print(f"{trace.name}, {trace.stat().st_size / 1e6:.1f} MB: {options.pairs} pairs, seconds and after / before")
        print(f"  {'':<44}{'before':>10}{'after':>10}{'ratio':>8}   middle half", flush=True)
        chosen = tuple(options.stages.split(","))
        times: Times = {}
        for number in range(options.pairs):
            before, after = Side(options.before, trace), Side(options.after, trace)
            stages = [name for name in before.stages if name.startswith(chosen) and name in after.stages]
            measured(before, after, stages, number % 2 == 0, times)
            before.end()
            after.end()
    for stage, found in times.items():
        print(line(stage, found))
    if options.json is not None:
        options.json.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

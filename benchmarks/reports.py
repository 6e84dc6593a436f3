"""What several reports cost in one pass, against each of them alone: processor time, best of several.

    python benchmarks/reports.py TRACE [--runs 3]
    python benchmarks/reports.py --commands [TRACE] [--runs 5] [--official "dotnet oracle.dll"]

Each figure comes from a process of its own, as users meet it. `info` is the header scan that every one of them needs.

With `--commands`, whole commands: medians of processor time, start included, and the largest resident set; on a
compiler's trace of the shared material, if no other is given. Before each, `import numpy` is measured, and with
`--official` the second conversion of the same trace by TraceEvent in one process (`time TRACE 2` of the shared tool).
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from run import SHARED, environment, plain_file

LARGE: Final = SHARED / "real" / "csc-net10-allocs.nettrace.gz"
COMMANDS: Final = ("top", "jit", "threads", "locks", "startup", "alloc", "doctor", "report")

_CODE: Final = """
import sys, time
import clrevents
from clrevents.analysis.framework.run.asking import find_report, report_names
path, *names = sys.argv[1:]
for name in report_names():
    find_report(name)
with clrevents.open(path) as trace:
    began = time.process_time()
    trace.event_counts()
    if names != ["info"]:
        trace.reports(*names)
    print(time.process_time() - began)
"""


def seconds(path: str, names: list[str], runs: int) -> float:
    """The best processor time of these reports together."""
    command = [sys.executable, "-W", "ignore", "-c", _CODE, path, *names]
    return min(float(subprocess.check_output(command)) for _ in range(runs))


def whole(command: list[str]) -> tuple[float, int]:
    """Processor seconds and the largest resident set, in bytes, of one process."""
    process = subprocess.Popen(
        command, env=environment("compiled"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def print_commands(trace: Path, runs: int, official: list[str]) -> None:
    """A line for each command."""
    size = trace.stat().st_size
    print(f"{trace.name}, {size / 1e6:.1f} MB: medians of {runs}")
    print(f"{'':<10} {'seconds':>8} {'× numpy':>8} {'× official':>11} {'peak MB':>8} {'bytes a byte':>13}")
    for name in COMMANDS:
        seconds, units, theirs, peaks = [], [], [], []
        with tempfile.TemporaryDirectory() as folder:
            page = ["-o", f"{folder}/page.html", "--jobs", "1"] if name == "report" else []
            for _ in range(runs):
                units.append(whole([sys.executable, "-c", "import numpy"])[0])
                if official:
                    told = subprocess.check_output([*official, "time", str(trace), "2"], text=True)
                    theirs.append(float(re.findall(r"etlx ([0-9.]+)s", told)[-1]))
                took, peak = whole([sys.executable, "-m", "clrevents", name, str(trace), *page])
                seconds.append(took)
                peaks.append(peak)
        median, unit = statistics.median(seconds), statistics.median(units)
        ratio = f"{median / statistics.median(theirs):>11.2f}" if theirs else f"{'–':>11}"
        most = max(peaks)
        print(
            f"{name:<10} {median:>8.3f} {median / unit:>8.2f} {ratio} {most / 1e6:>8.0f} {most / size:>13.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--commands", action="store_true", help="measure whole commands")
    parser.add_argument("--official", default="", help="how to start the official decoder's tool")
    given = parser.parse_args()
    if given.commands:
        with tempfile.TemporaryDirectory() as folder:
            trace = plain_file(Path(given.trace or LARGE), Path(folder))
            print_commands(trace, given.runs, given.official.split())
        return
    if given.trace is None:
        parser.error("a trace is missing")
    from clrevents.analysis.framework.run.listing import report_names

    names = list(report_names())
    info = seconds(given.trace, ["info"], given.runs)
    alone = {name: seconds(given.trace, [name], given.runs) for name in names}
    together = seconds(given.trace, names, given.runs)
    print(f"{'info':<10} {info:.3f} s")
    for name, took in alone.items():
        print(f"{name:<10} {took:.3f} s")
    slowest = max(alone.values())
    rest = sum(took - info for took in alone.values()) - (slowest - info)
    allowed = slowest + rest / 2
    print(
        f"{'together':<10} {together:.3f} s; the slowest alone plus half of the increments of the rest: {allowed:.3f} s"
    )


if __name__ == "__main__":
    main()

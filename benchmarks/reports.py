"""What several reports cost in one pass, against each of them alone: processor time, best of several.

    python benchmarks/reports.py TRACE [--runs 3]

Each figure comes from a process of its own, as users meet it. `info` is the header scan that every one of them needs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import Final

_CODE: Final = """
import sys, time
import clrevents
from clrevents.analysis.framework.run.catalogue import find_report, report_names
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
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

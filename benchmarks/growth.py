"""How time and memory grow with a trace's size: whole commands over traces that are as long as one likes.

    python benchmarks/growth.py [TRACE] [--sizes 50M,200M,1G] [--commands info,export]

Traces are made from TRACE's regions, or a fixture's (see memory.py). Seconds are the processor's; memory is the
process's own count of its largest resident set (VmHWM).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from memory import SEED, Repeated, _bytes, load
from run import HERE, environment, whole


def measure(path: Path, command: str, folder: Path) -> tuple[float, int]:
    """Seconds and peak memory of `clrevents COMMAND`, each in a process that does nothing else."""
    out: Final = folder / "out"
    words = [command, "--jobs", "1", "-o", str(out)] if command == "export" else [command]
    seconds, _, code = whole([sys.executable, "-m", "clrevents", *words, str(path)])
    assert code == 0, f"clrevents {command} ended with {code}"
    shutil.rmtree(out, ignore_errors=True)
    again = [sys.executable, str(HERE / "stages.py"), str(path), "--command", *words]
    done = subprocess.run(again, env=environment("compiled"), capture_output=True, text=True, check=True)
    shutil.rmtree(out, ignore_errors=True)
    return seconds, json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=SEED, help="a NetTrace 4 file, also .gz")
    parser.add_argument("--sizes", default="50M,200M,1G")
    parser.add_argument("--commands", default="info,export")
    options = parser.parse_args()
    repeated = Repeated(load(options.trace))
    first: dict[str, tuple[float, int]] = {}
    for size in map(_bytes, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "long.nettrace"
            with path.open("wb") as file:
                file.writelines(repeated.stream(size))
            megabytes = path.stat().st_size / 1e6
            for command in options.commands.split(","):
                seconds, most = measure(path, command, Path(name))
                rate, base = first.setdefault(command, (seconds / megabytes, most))
                print(
                    f"{megabytes:10,.0f} MB  {command:<8}{seconds:9.2f} s, for a MB {seconds / megabytes / rate:.2f} of"
                    f" the first   peak {most / 1e6:7.1f} MB, {most / base:.3f} of the first",
                    flush=True,
                )


if __name__ == "__main__":
    main()

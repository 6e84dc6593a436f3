"""How long one waits for a command on a small trace, in multiples of `python -c "import numpy"`.

    python benchmarks/start.py [TRACE] [--pairs 20] [--only info,jit]

Each command runs in turns with `import numpy`, each in a process of its own; the figure is the ratio of the medians, of
processor time and of time on the clock. Without `TRACE`, a small one from `fixtures/`. `modules` counts what each has
imported when it ends: ours, and all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SMALL: Final = ROOT / "fixtures" / "net10-method-interop.nettrace.gz"
BASE: Final = "import numpy"
IMPORTS: Final = ("pass", "import clrevents")
COMMANDS: Final = ("--help", "info", "events --limit 5", "check", "jit", "gc", "top")
LIMITS: Final = {"jit": 2.5, "gc": 2.5, "top": 2.5, "import clrevents": 1.0}
"""What each may take at most, in multiples; 1.6 where it is not here."""
_RUN: Final = "import sys; sys.argv[1:] = {0!r}; sys.argv[0] = 'clrevents'; from clrevents.__main__ import main; main()"
_COUNTED: Final = "import atexit, sys; atexit.register(lambda: sys.stderr.write('\\n' + ' '.join(sys.modules))); "


_ENVIRONMENT: Final = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""As for an installed package, whose modules are compiled once."""


def spent(code: str) -> tuple[float, float]:
    """Processor time and time on the clock of an interpreter that runs this."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_ENVIRONMENT
    )
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began


def modules(code: str) -> list[str]:
    """What an interpreter has imported once it has run this."""
    done = subprocess.run([sys.executable, "-c", _COUNTED + code], capture_output=True, text=True, env=_ENVIRONMENT)
    return done.stderr.splitlines()[-1].split()


def measured(name: str, code: str, pairs: int) -> None:
    """Print one line."""
    spent(code)
    both = [(spent(BASE), spent(code)) for _ in range(pairs)]
    base, own = ([statistics.median(each[n] for each in side) for n in (0, 1)] for side in zip(*both, strict=True))
    loaded = modules(code)
    ours = sum(module.partition(".")[0] == "clrevents" for module in loaded)
    figures = [f"{own[n] / base[n]:6.2f} ({own[n]:.3f} s)" for n in (0, 1)]
    print(f"{name:18} {figures[0]:16} {figures[1]:16} {LIMITS.get(name, 1.6):5}   {ours:4} {len(loaded):4}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", default=os.fspath(SMALL))
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", help="names of commands, with commas")
    given = parser.parse_args()
    lines = {each: each for each in IMPORTS}
    for command in COMMANDS:
        words = command.split()
        lines[command] = _RUN.format(words if command == "--help" else [*words, given.trace])
    wanted = given.only.split(",") if given.only else lines
    print(f"{'':18} {'processor':16} {'clock':16} limit   modules")
    for name, code in lines.items():
        if name in wanted or name.partition(" ")[0] in wanted:
            measured(name, code, given.pairs)


if __name__ == "__main__":
    main()

"""Compiles the programs and records each family, variant and runtime: record.py FOLDER [FAMILY…].

Environment: COMPILE, a script called as `FOR=8 COMPILE OUT.dll SOURCES…` (and without FOR for .NET 11), R8 and R11, the
`dotnet` of each runtime. FOLDER gets FAMILY-VARIANT-RUNTIME.nettrace beside ….json, which is the line that the program
printed of itself. What is there already is not recorded again, so that a run can be interrupted and continued.
`--runtime`, `--variant` and `--seconds` choose, and `--plain` runs the programs without recording them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VARIANTS = ("sick", "healthy", "trap")
RUNTIMES = ("8", "11")
# The longest that a program, its recording and the names at its end may take.
LONGEST = 180.0


@dataclass(frozen=True)
class Case:
    family: str
    variant: str
    runtime: str
    collect: tuple[str, ...]
    settings: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.family}-{self.variant}-{self.runtime}"


def compiled(folder: Path, runtime: str) -> Path:
    out = folder / "programs" / runtime / "Blind.dll"
    sources = sorted(HERE.glob("*.cs"))
    if not out.exists() or out.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        out.parent.mkdir(parents=True, exist_ok=True)
        # On .NET 11, awaits are the runtime's own.
        chosen = {"FOR": "8"} if runtime == "8" else {"RUNTIME_ASYNC": "1"}
        command = [os.environ["COMPILE"], str(out), *map(str, sources), "-nullable:enable"]
        subprocess.run(command, env={**os.environ, **chosen}, check=True)
    return out


def cases(families: list[str], variants: list[str], runtimes: list[str]) -> Iterator[Case]:
    labels: dict[str, Any] = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))["families"]
    for family in families or labels:
        for variant in variants:
            for runtime in runtimes:
                label = labels[family]
                yield Case(family, variant, runtime, tuple(label["collect"]), label.get("environment", {}))


def record(case: Case, folder: Path, seconds: float, plain: bool) -> str:
    """Records one program; says how it went."""
    trace, truth = folder / f"{case.name}.nettrace", folder / f"{case.name}.json"
    if truth.exists() and (plain or trace.exists()):
        return "there already"
    unfinished = folder / f"{case.name}.unfinished"
    dotnet = os.environ[f"R{case.runtime}"]
    program = [dotnet, str(compiled(folder, case.runtime)), case.family, case.variant, str(seconds)]
    recorder = [sys.executable, "-m", "clrevents", "collect", *case.collect, "--force", "-o", str(unfinished), "--"]
    done = subprocess.run(
        program if plain else [*recorder, *program],
        env={**os.environ, "DOTNET_ROLL_FORWARD": "Major", **case.settings},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith('{"family"')]
    if done.returncode or not told:
        return f"failed ({done.returncode}): {done.stderr.strip()[-400:]}"
    if not plain:
        unfinished.rename(trace)
    truth.write_text(told[-1] + "\n", encoding="utf-8")
    return "ok" if plain else f"ok, {trace.stat().st_size / 1e6:.1f} MB"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("families", nargs="*")
    arguments.add_argument("--variant", action="append", choices=VARIANTS)
    arguments.add_argument("--runtime", action="append", choices=RUNTIMES)
    arguments.add_argument("--seconds", type=float, default=5)
    arguments.add_argument("--plain", action="store_true")
    chosen = arguments.parse_intermixed_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for case in cases(chosen.families, chosen.variant or list(VARIANTS), chosen.runtime or list(RUNTIMES)):
        begun = time.monotonic()
        try:
            how = record(case, chosen.folder, chosen.seconds, chosen.plain)
        except subprocess.TimeoutExpired:
            how = "failed: took too long"
        print(f"{case.name}: {how} ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()

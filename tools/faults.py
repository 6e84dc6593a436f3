"""Makes every writer fail in every way, at seeded random moments, and prints what was left, as a matrix.

    python tools/faults.py [--rounds 8] [--seed 1] [--writers NAMES] [--faults NAMES]

After a fault the output is complete, or there is none and nothing beside it; the command ends in time, with a
documented exit code, and says what was wrong unless it was killed. The same command, run again, gives the same output
as ever. Exits with 1 if anything else happened.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import hashlib
import importlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PATIENCE: Final = 60
_LONG: Final = 80_000_000
"""Bytes of a trace that is long enough for two processes."""
WRITERS: Final[dict[str, tuple[str, ...]]] = {
    "cut": ("cut", "IN", "-o", "OUT.nettrace", "--start", "10%"),
    "redact": ("redact", "IN", "-o", "OUT.nettrace", "--key", "k"),
    "report": ("report", "IN", "-o", "OUT.html"),
    "flame": ("flame", "IN", "-o", "OUT.html"),
    "perfetto": ("export", "IN", "-o", "OUT.pftrace"),
    "firefox": ("export", "IN", "-o", "OUT.firefox.json"),
    "jsonl": ("export", "IN", "-o", "OUT.jsonl"),
    "table": ("export", "IN", "ThreadSample", "-o", "OUT.csv"),
    "folder": ("export", "IN", "-o", "OUT"),
    "shares": ("export", "IN", "-o", "OUT", "--jobs", "2"),
    "fleet": ("export", "MANY", "-o", "OUT", "--jobs", "2", "--skip-existing"),
}
"""Commands that write, where IN, MANY and OUT stand for paths."""
SIGNALS: Final = {"SIGINT": (130, -2), "SIGTERM": (-15,), "SIGKILL": (-9,)}
"""The exit codes after a signal; Python itself dies of an interrupt before the command has begun."""


class Place:
    """Where one command runs: a folder with traces, and an empty one for what is written."""

    def __init__(self, folder: Path, writer: str) -> None:
        self.traces, self.out = folder / "traces", folder / "out"
        self.trace = self.traces / "t0.nettrace"
        self.writer = writer
        self.target = self.out / "made"

    def fresh(self) -> None:
        """As before any command."""
        for folder in (self.traces, self.out):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for number in range(4 if self.writer == "fleet" else 1):
            (self.traces / f"t{number}.nettrace").write_bytes(trace_bytes(_LONG if self.writer == "shares" else 0))

    def start(self, limit: int | None = None) -> subprocess.Popen[str]:
        words = {"IN": str(self.trace), "MANY": str(self.traces)}
        command = [words.get(w, w.replace("OUT", str(self.target))) for w in WRITERS[self.writer]]
        return subprocess.Popen(
            [sys.executable, "-m", "clrevents", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            preexec_fn=lambda: _prepare(limit),
            start_new_session=True,
        )

    def left(self) -> dict[str, str]:
        """What lies in the output's folder, by its path: digests, without times of files."""
        found = {}
        for path in sorted(self.out.rglob("*")):
            if path.is_file():
                data = path.read_bytes().replace(os.fsencode(self.traces), b"")
                found[path.relative_to(self.out).as_posix()] = hashlib.sha1(data).hexdigest()
        return found

    def partial(self) -> list[str]:
        return [path.name for path in self.out.rglob(".*")] if self.out.is_dir() else []


def _prepare(limit: int | None) -> None:
    # What a shell starts in the background ignores interrupts, and so would this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


Fault = Callable[[Place, random.Random, float], tuple[int, str]]
"""Runs a command with a fault; how it ended and what it said. The number is how long it usually takes."""


@functools.cache
def trace_bytes(size: int = 0) -> bytes:
    """A trace of all that the writers want, a quarter of a second's work for each, or repeated to be of such a size."""
    path = ROOT / "fixtures" / "net10-convoy.nettrace.gz"
    if not size:
        return gzip.decompress(path.read_bytes())
    sys.path.insert(0, str(ROOT / "benchmarks"))
    commands = importlib.import_module("commands")
    return b"".join(commands.Repeated(commands.unpacked(path)).stream(size))


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return 1000, "it did not end"
    return process.returncode, said


def later(rng: random.Random, seconds: float) -> None:
    time.sleep(rng.random() * seconds)


def _signal(name: str) -> Fault:
    def fault(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
        process = place.start()
        later(rng, seconds)
        # As a terminal sends it: to all processes of the command.
        with contextlib.suppress(ProcessLookupError):
            if name == "SIGINT":
                os.killpg(process.pid, signal.SIGINT)
            else:
                process.send_signal(getattr(signal, name))
        return ended(process)

    return fault


def _full(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
    return ended(place.start(rng.choice((0, 1, 100, 4096, rng.randrange(1, 60_000)))))


def _vanished(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
    process = place.start()
    later(rng, seconds)
    shutil.rmtree(place.out, ignore_errors=True)
    return ended(process)


def _read_only(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
    # Nobody, not even root, can create a file there.
    place.target = Path("/proc/made")
    try:
        return ended(place.start())
    finally:
        place.target = place.out / "made"


def _killed_worker(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
    process = place.start()
    later(rng, seconds)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError, ValueError, IndexError):
        os.kill(int(rng.choice(children.read_text().split())), signal.SIGKILL)
    return ended(process)


def _changed(change: Callable[[Path, random.Random], object]) -> Fault:
    def fault(place: Place, rng: random.Random, seconds: float) -> tuple[int, str]:
        process = place.start()
        later(rng, seconds)
        change(place.trace, rng)
        return ended(process)

    return fault


def _replace(path: Path, rng: random.Random) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(trace_bytes()[: rng.randrange(1, 900_000)])
    os.replace(other, path)


def _grow(path: Path, rng: random.Random) -> None:
    with path.open("ab") as file:
        file.write(rng.randbytes(100_000))


FAULTS: Final[dict[str, Fault]] = {
    **{name: _signal(name) for name in SIGNALS},
    "full disk": _full,
    "folder vanishes": _vanished,
    "read-only": _read_only,
    "worker killed": _killed_worker,
    "trace shrinks": _changed(lambda path, rng: os.truncate(path, rng.randrange(900_000))),
    "trace grows": _changed(_grow),
    "trace replaced": _changed(_replace),
}


class Judge:
    """Knows what each writer makes, and how long it takes; says what is wrong after a fault."""

    def __init__(self, place: Place) -> None:
        self.place = place
        took = []
        for _ in range(2):
            place.fresh()
            began = time.monotonic()
            code, said = ended(place.start())
            took.append(time.monotonic() - began)
            assert code == 0, said
        self.seconds = min(took)
        self.whole = place.left()

    def verdict(self, fault: str, rng: random.Random) -> tuple[str, str]:
        """`complete`, `nothing` or `some` (of many traces) and what is wrong, if anything is."""
        place = self.place
        place.fresh()
        code, said = FAULTS[fault](place, rng, self.seconds)
        wrong = []
        changed = fault.startswith("trace ")
        left = place.left() if place.out.is_dir() else {}
        outcome = "nothing" if not left else "complete" if left == self.whole or changed else "some"
        # Python itself was interrupted, before there was a command.
        early = fault == "SIGINT" and "KeyboardInterrupt" in said and "/clrevents/cli/" not in said
        # What replaces a trace may hold nothing to draw.
        nothing = changed and code == 1 and "no ThreadSample event" in said
        if code not in (0, 2, 3, *SIGNALS.get(fault, ())) and not early and not nothing:
            wrong.append(f"exit {code}")
        if outcome == "some" and self.place.writer != "fleet" and not place.partial():
            wrong.append("half an output")
        if code == 0 and outcome != "complete" and fault != "folder vanishes":  # after which nothing can be seen
            wrong.append("exit 0 without output")
        if code in (2, 3) and not said.strip():
            wrong.append("nothing said")
        if ("Traceback" in said and not early) or "internal error" in said:
            wrong.append("a traceback")
        if fault not in ("SIGKILL", "SIGTERM") and place.partial():
            wrong.append("something unfinished is left")
        if not changed and fault != "folder vanishes":
            code, again = ended(place.start())
            if code != 0 or place.left() != self.whole or place.partial():
                wrong.append(f"the next run: exit {code}, {place.partial()} {again[-200:]}")
        return outcome, "; ".join([*wrong, said.strip()[-300:]] if wrong else [])


def run(writers: Sequence[str], faults: Sequence[str], rounds: int, seed: int, tell: Callable[[str], Any]) -> list[str]:
    """What went wrong, as lines; the matrix is told row by row."""
    failures = []
    for writer in writers:
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(Place(Path(folder), writer))
            row = []
            for fault in faults:
                if fault == "worker killed" and writer not in ("shares", "fleet"):
                    continue
                rng = random.Random(f"{seed} {writer} {fault}")
                outcomes: Counter[str] = Counter()
                for _ in range(rounds):
                    outcome, wrong = judge.verdict(fault, rng)
                    outcomes[outcome if not wrong else "WRONG"] += 1
                    if wrong:
                        failures.append(f"{writer}, {fault}: {wrong}")
                        tell(f"  WRONG {failures[-1]}")
                row.append(f"{fault}: {', '.join(f'{n} {what}' for what, n in sorted(outcomes.items()))}")
            tell(f"{writer} ({judge.seconds:.1f} s): {' · '.join(row)}")
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", default=",".join(WRITERS))
    parser.add_argument("--faults", default=",".join(FAULTS))
    options = parser.parse_args()
    writers, faults = options.writers.split(","), options.faults.split(",")
    failures = run(writers, faults, options.rounds, options.seed, lambda text: print(text, flush=True))
    print(f"{len(failures)} injections went wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

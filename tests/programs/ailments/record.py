"""Records the programs, one after the other: record.py FOLDER_OF_PROGRAMS FOLDER_OF_TRACES [FAMILY…].

Environment: R8 and R3, folders with `dotnet` of .NET 8.0.4 and .NET Core 3.1.23. Each trace is
`FAMILY-MODE-RUNTIME.nettrace.gz`, beside `….truth.json`, which the program itself wrote. Families of the recording
itself (`cut`, `lost`, `names`) are healthy programs badly recorded.
"""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

REPORTS = "gc,alloc,locks,pool,waits,exceptions,jit,threads,requests,startup,top"
MODES = ("sick", "healthy", "trap")
# What a family sets of the collector, by mode: heaps of this machine's size have too few collections in three seconds.
SMALL = {"GCgen0size": "0x800000"}
SETTINGS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ("finalizers", "growth", "pinned", "loh", "induced", "suspend", "suspend2", "longpause", "gauge", "screens"),
        SMALL,
    ),
    "memory": {"GCHeapHardLimit": "0x10000000", **SMALL},
}
FAMILIES = (
    *("induced", "fullgc", "pauses", "longpause", "loh", "finalizers", "growth", "pinned", "fragmented", "memory"),
    *("suspend", "boxing", "strings", "closures", "site", "starved", "syncasync", "sleeping", "queue", "deadlock"),
    *("deadlock3", "convoy", "hold", "rate", "control", "jitstart", "churn", "cut", "lost", "names"),
    # The second set, written without the rules at hand.
    *("ledger", "vault", "orders", "meter", "catalog", "series", "filter", "stock"),
    *("gauge", "journal", "screens", "relay"),
)
RUNTIMES = {"net8": "8", "net31": "3"}


def environment(family: str, mode: str) -> dict[str, str]:
    settings = dict(SETTINGS.get(family, {}))
    if family == "longpause" and mode == "sick":
        settings["gcConcurrent"] = "0"
    own = {
        f"{prefix}_{name}": value.removeprefix("0x")
        for name, value in settings.items()
        for prefix in ("DOTNET", "COMPlus")
    }
    return {**os.environ, **own}


def wait_for(out: Path, seconds: float) -> None:
    """Until the recording has gone on for this long: its first bytes are written at once."""
    until = time.monotonic() + 30
    while not (out.exists() and out.stat().st_size) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(seconds)


def record(programs: Path, traces: Path, family: str, mode: str, runtime: str) -> None:
    number = RUNTIMES[runtime]
    dotnet = f"{os.environ[f'R{number}']}/dotnet"
    stem = traces / f"{family}-{mode}-{runtime}"
    out, truth = stem.with_name(f"{stem.name}.nettrace"), stem.with_name(f"{stem.name}.truth.json")
    truth.unlink(missing_ok=True)
    story = {"cut": "steady", "names": "steady", "lost": "control" if mode == "healthy" else "rate"}.get(family, family)
    does = "sick" if family == "lost" else mode
    program = [dotnet, str(programs / number / "Ailments.dll"), story, does, str(len(family)), str(truth)]
    collect = [sys.executable, "-m", "clrevents", "collect", "--for", REPORTS, "-o", str(out)]
    env = environment(family, mode)
    if family == "names" and mode != "healthy":
        # The program has long compiled what it runs; in the trap, the methods are listed at the end.
        running = subprocess.Popen([*program, "12"], env=env)
        time.sleep(2.5)
        more = ["--no-rundown"] if mode == "sick" else []
        subprocess.run([*collect, *more, "--duration", "2.5s", "-p", str(running.pid)], env=env, timeout=60)
        running.wait(30)
    elif family == "cut" and mode != "healthy":
        # The collector is killed; in the trap, it is told to stop and takes its leave.
        running = subprocess.Popen([*program, "12"], env=env)
        time.sleep(0.4)
        collector = subprocess.Popen([*collect, "-p", str(running.pid)], env=env)
        wait_for(out, 3)
        collector.send_signal(signal.SIGKILL if mode == "sick" else signal.SIGINT)
        collector.wait(30)
        running.wait(30)
    elif family == "lost":
        # The collector stands still for a while: the buffer runs over, or is large enough.
        collector = subprocess.Popen(
            [*collect, "--buffersize", "1" if mode == "sick" else "256", "--", *program], env=env
        )
        if mode != "healthy":
            wait_for(out, 2)
            collector.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            collector.send_signal(signal.SIGCONT)
        collector.wait(60)
    else:
        subprocess.run([*collect, "--", *program], env=env, timeout=120)
    with out.open("rb") as plain, gzip.open(f"{out}.gz", "wb", 9) as packed:
        shutil.copyfileobj(plain, packed)
    out.unlink()


def main(programs: Path, traces: Path, families: list[str]) -> None:
    traces.mkdir(parents=True, exist_ok=True)
    for family in families or FAMILIES:
        for mode in MODES:
            for runtime in RUNTIMES:
                record(programs, traces, family, mode, runtime)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

"""What costly streams cost: time and memory of everything that reads, for each byte of input.

    python benchmarks/cost.py [--sizes small|full] [--families NAMES] [--uses NAMES] [--modes report,salvage]

The streams are those of tests/support/costly_families.py. Each use runs in a process of its own that has imported
everything and nothing else. Seconds are the processor's; memory is what the process's largest resident set (VmHWM)
grew by; bytes are those after unpacking. `--times 10 --memory 600` prints only what takes more seconds or megabytes,
and makes the exit status 1 if anything does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
for place in (HERE.parent / "src", HERE.parent / "tests" / "support"):
    sys.path.insert(0, os.fspath(place))

from memory import peak, resident  # noqa: E402

from costly_families import FAMILIES, Family  # noqa: E402

Use = Callable[[Path, str], object]


def _traced(read: Callable[[Any], object]) -> Use:
    def use(path: Path, mode: str) -> object:
        import clrevents

        with clrevents.open(path, errors=mode) as trace:
            return read(trace)

    return use


def _events(trace: Any) -> None:
    for event in trace.events():
        event.payload  # noqa: B018


def _frames(trace: Any) -> None:
    for event in trace.events():
        event.frames, event.stack  # noqa: B018


def _tables(trace: Any) -> None:
    for tables in trace.tables():
        for table in tables.values():
            for name in table.columns:
                table.column(name)


def _reports(trace: Any) -> None:
    from clrevents.analysis.reports import run_reports

    run_reports(trace)


def _facts(trace: Any) -> None:
    trace.summary(), trace.threads, trace.methods, trace.stacks, trace.losses, trace.problems


def _decoded(piece: int, most: int) -> Use:
    def use(path: Path, mode: str) -> None:
        from clrevents import Decoder

        decoder = Decoder(errors=mode)
        with path.open("rb") as file:
            data = file.read(min(most, path.stat().st_size))
        for at in range(0, len(data), piece):
            for batch in decoder.feed(data[at : at + piece]):
                for event in batch:
                    event.payload  # noqa: B018
        decoder.close()

    return use


def _command(*words: str) -> Use:
    """`clrevents WORDS`, where FILE and OUT stand for paths."""

    def use(path: Path, mode: str) -> None:
        from clrevents.cli import main

        with tempfile.TemporaryDirectory() as folder:
            places = {"FILE": os.fspath(path), "OUT": os.fspath(Path(folder) / "out")}
            command = ["clrevents", *(places.get(word, word.replace("OUT.", places["OUT"] + ".")) for word in words)]
            sys.argv = command if words[0] == "check" else [*command, "--errors", mode]
            main()

    return use


USES: Final[dict[str, Use]] = {
    "counts": _traced(lambda trace: trace.event_counts()),
    "events": _traced(_events),
    "list": _traced(lambda trace: list(trace.events())),
    "frames": _traced(_frames),
    "tables": _traced(_tables),
    "headers": _traced(lambda trace: trace.headers().to_arrow()),
    "reports": _traced(_reports),
    "facts": _traced(_facts),
    "decoder": _decoded(1 << 16, 1 << 28),
    "single bytes": _decoded(1, 300_000),
    "$ info": _command("info", "FILE"),
    "$ info --json": _command("info", "--json", "--all", "FILE"),
    "$ events": _command("events", "FILE"),
    "$ events --json": _command("events", "--json", "FILE"),
    "$ events --stacks": _command("events", "--json", "--names", "--stacks", "FILE"),
    "$ check": _command("check", "FILE"),
    "$ export": _command("export", "FILE", "-o", "OUT"),
    "$ export csv": _command("export", "FILE", "-o", "OUT", "--format", "csv"),
    "$ export jsonl": _command("export", "FILE", "-o", "OUT.jsonl"),
    "$ query": _command("query", "FILE", "select count(*), max(time) from headers"),
    "$ query stacks": _command("query", "FILE", "select count(*) from frames"),
    "$ cut": _command("cut", "FILE", "-o", "OUT.nettrace"),
    "$ redact": _command("redact", "FILE", "-o", "OUT.nettrace", "--key", "k"),
    "$ flame": _command("flame", "FILE", "-o", "OUT.html"),
    "$ flame E": _command("flame", "FILE", "--event", "E", "-o", "OUT.json"),
    "$ top": _command("top", "FILE"),
    "$ top E": _command("top", "--event", "E", "FILE"),
    "$ jit": _command("jit", "FILE"),
    "$ modules": _command("modules", "FILE"),
    "$ startup": _command("startup", "FILE"),
    "$ stubs": _command("stubs", "FILE"),
    "$ spans": _command("spans", "FILE", "E", "E"),
}


def loaded() -> None:
    """Import what any use imports, so that none of them pays for it."""
    import duckdb
    import pyarrow.parquet

    from clrevents.testing.builder import TraceBuilder

    assert duckdb, pyarrow
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.nettrace"
        path.write_bytes(TraceBuilder().method_load("n", "m", address=16).rundown().build())
        for use in USES.values():
            _silently(use, path, "salvage")


def _silently(use: Use, path: Path, mode: str) -> str:
    """Run a use; how it ended."""
    import clrevents

    warnings.simplefilter("ignore")
    with (
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            use(path, mode)
        except SystemExit as end:
            return str(end.code or 0)
        except (clrevents.TraceError, LookupError, ValueError) as error:
            return type(error).__name__
    return ""


def measured(use: Use, path: Path, mode: str, seconds: int, room: int) -> tuple[float, int, str]:
    """Seconds of processor time, bytes of memory and the ending of a use in a process of its own."""
    told, tell = os.pipe()
    if not (child := os.fork()):
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        before, began = resident(), time.process_time()
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
        try:
            ending = _silently(use, path, mode)
        except BaseException as error:
            ending = f"{type(error).__name__}: {error}"[:200]
        os.write(tell, f"{time.process_time() - began} {peak() - before} {ending}".encode())
        os._exit(0)
    os.close(tell)
    with open(told) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if not text:
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, f"ended by signal {os.WTERMSIG(status)}"
    took, grew, ending = text.split(" ", 2)
    return float(took), int(grew), ending


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", choices=["small", "full"], default="small")
    parser.add_argument("--families", default=",".join(family.name for family in FAMILIES))
    parser.add_argument("--uses", default=",".join(USES))
    parser.add_argument("--modes", default="report,salvage")
    parser.add_argument("--times", type=float, default=0, help="print what takes more seconds")
    parser.add_argument("--memory", type=float, default=0, help="or more megabytes")
    options = parser.parse_args()
    loaded()
    over = 0
    chosen = options.families.split(",")
    with tempfile.TemporaryDirectory() as folder:
        for family in (each for each in FAMILIES if each.name in chosen):
            path = Path(folder) / f"trace{family.suffix}"
            length = written(family, path, getattr(family, options.sizes))
            print(f"{family.name}: {length / 1e6:,.2f} MB", flush=True)
            worst: list[tuple[float, str]] = [(0, ""), (0, "")]
            for mode in options.modes.split(","):
                for name in options.uses.split(","):
                    took, grew, ending = measured(USES[name], path, mode, 60, 3 << 30)
                    what = f"{name}, {mode}"
                    worst = [max(worst[0], (took, what)), max(worst[1], (grew, what))]
                    if took > options.times or grew > options.memory * 1e6 or ":" in ending:
                        over += 1
                        print(f"  {what:28} {figures(took, grew, length)}  {ending}", flush=True)
            (took, slowest), (grew, largest) = worst
            print(f"  worst: {took:.2f} s in {slowest}; {grew / 1e6:.0f} MB in {largest}", flush=True)
            path.unlink()
    return int(bool(over and (options.times or options.memory)))


def figures(took: float, grew: int, length: int) -> str:
    per_byte = f"{took / length * 1e6:8.3f} µs and {grew / length:8.2f} bytes a byte"
    return f"{took:7.2f} s {grew / 1e6:7.0f} MB  {per_byte}"


def written(family: Family, path: Path, size: int) -> int:
    """Write a family's trace, in a process of its own so that its memory is not ours; its unpacked length."""
    if not (child := os.fork()):
        path.write_bytes(family.make(size))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{family.name} could not be made"
    return size * 1_000_000 if family.suffix.endswith(".gz") else path.stat().st_size


if __name__ == "__main__":
    sys.exit(main())

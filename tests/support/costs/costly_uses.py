"""What can be done with a trace: each way to read one in the library, and each command that reads.

Runs them silently; measures and judges nothing. As a script it imports everything once, then reads lines of JSON,
`[SECONDS, BYTES, MODE, FILE, USE, …]`: a process that is forked for each line does these uses one after the other under
limits, and those that it came to the end of are printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import tempfile
import unittest.mock
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from clrevents.analysis.framework.run.listing import report_names

Use = Callable[[Path, str], object]

PROMISED_SECONDS: Final = 1
PROMISED_MICROSECONDS: Final = 3
PROMISED_MEGABYTES: Final = 200
PROMISED_BYTES: Final = 50
"""What docs/security.md promises that anything takes at most: so much at all, and so much for each byte that it reads
and, of the time, that it writes."""


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
    trace.reports()


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


def _without_charts(use: Use) -> Use:
    """Charts are drawn by another program in this process, which no fork survives; what they draw is bounded."""

    def chartless(path: Path, mode: str) -> object:
        with unittest.mock.patch.dict(sys.modules, {"vl_convert": None}):
            return use(path, mode)

    return chartless


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
    "$ info --json": _command("info", "--json", "FILE"),
    "$ events": _command("events", "FILE"),
    "$ events --json": _command("events", "--json", "FILE"),
    "$ events --stacks": _command("events", "--json", "--names", "--stacks", "FILE"),
    "$ check": _command("check", "FILE"),
    "$ export": _command("export", "FILE", "-o", "OUT", "--jobs", "1"),
    "$ export csv": _command("export", "FILE", "-o", "OUT", "--format", "csv", "--jobs", "1"),
    "$ export jsonl": _command("export", "FILE", "-o", "OUT.jsonl"),
    "$ export perfetto": _command("export", "FILE", "-o", "OUT.pftrace"),
    "$ export firefox": _command("export", "FILE", "-o", "OUT.firefox.json"),
    "$ report": _without_charts(_command("report", "FILE", "-o", "OUT.html")),
    "$ compare": _command("compare", "FILE", "--against", "FILE"),
    "$ doctor": _command("doctor", "FILE", "--json"),
    "$ query": _command("query", "FILE", "select count(*), max(time) from headers"),
    "$ query stacks": _command("query", "FILE", "select count(*) from frames"),
    "$ cut": _command("cut", "FILE", "-o", "OUT.nettrace"),
    "$ redact": _command("redact", "FILE", "-o", "OUT.nettrace", "--key", "k"),
    "$ redact --rules": _command("redact", "FILE", "--rules"),
    "$ flame": _command("flame", "FILE", "-o", "OUT.html"),
    "$ flame E": _command("flame", "FILE", "--event", "E", "-o", "OUT.json"),
    "$ flame --logical": _command("flame", "FILE", "--logical", "--merge-threads", "-o", "OUT.html"),
    "$ flame --group": _command("flame", "FILE", "--group", "n.1*=>a", "--fold", "n.*a*", "-o", "OUT.json"),
    "$ flame --by": _command("flame", "FILE", "--by", "ExceptionType", "-o", "OUT.json"),
    "$ callers": _command("callers", "FILE", "n.*", "--json"),
    "$ callers *": _command("callers", "FILE", "--depth", "1000", "--json"),
    "$ top": _command("top", "FILE"),
    "$ top E": _command("top", "--event", "E", "FILE"),
    **{f"$ {name}": _command(name, "FILE", "--json") for name in report_names() if name not in ("callers", "top")},
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
            silently(use, path, "salvage")


def silently(use: Use, path: Path, mode: str) -> str:
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


def of_bytes(use: str, data: bytes) -> None:
    """Run a use of a trace in salvage mode."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.nettrace"
        path.write_bytes(data)
        silently(USES[use], path, "salvage")


def limited(seconds: int, room: int, mode: str, path: str, *names: str) -> list[str]:
    """Those of the uses that a limited process came to the end of."""
    told, tell = os.pipe()
    if not (child := os.fork()):
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
        try:
            for number, name in enumerate(names, 1):
                resource.setrlimit(resource.RLIMIT_CPU, (number * seconds, resource.RLIM_INFINITY))
                silently(USES[name], Path(path), mode)
                os.write(tell, f"{name}\n".encode())
        finally:
            os._exit(0)
    os.close(tell)
    with open(told) as pipe:
        done = pipe.read().splitlines()
    os.waitpid(child, 0)
    return done


def main() -> None:
    loaded()
    for line in sys.stdin:
        print(json.dumps(limited(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""The stages that benchmarks/run.py times: what each one does, and a process that measures one engine.

Runs as a process of its own, so that the engine can be chosen and memory counted from nothing; answers in JSON.
Times are the processor's, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from memory import peak

HERE: Final = Path(__file__).resolve().parent
_SHARED: Final = HERE.parents[1] / "shared" / "bench" / "pyscan.py"
# The same walk twice: with the shared one all published figures were measured.
YARDSTICK: Final = _SHARED if _SHARED.exists() else HERE / "yardstick.py"
Task = Callable[[], int]
HEADERS = (
    *("provider", "id", "version", "name", "opcode", "level", "keywords", "time_ns", "time", "thread_id"),
    *("process_id", "processor", "activity_id", "related_activity_id", "stack_id", "stack"),
)


def load(path: Path) -> ModuleType:
    """The yardstick's module."""
    spec = importlib.util.spec_from_file_location("yardstick", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def walk(yardstick: ModuleType, data: bytes) -> int:
    """What the yardstick's own main program does after it has read the file."""
    blocks = list(yardstick.blocks(data))
    return sum(len(yardstick.scan(data, at, size)) for name, at, size in blocks if name == "EventBlock")


def timed(task: Task) -> tuple[float, int]:
    """Seconds of processor time, and what the task gave."""
    gc.collect()
    began = time.process_time()
    given = task()
    return time.process_time() - began, given


def stages(path: Path) -> dict[str, Task]:
    """What is measured of one trace, by its name."""
    import clrevents
    from clrevents.schema.registry import DEFAULT

    counts = clrevents.open(path).event_counts()
    known = [key for key in counts if DEFAULT.get(key.provider, key.id, key.version) is not None]
    rare = min(known, key=lambda key: (counts[key], key))
    common = max(known, key=lambda key: (counts[key], key))
    named = f"{common.provider}/{common.name}"

    def everything(columns: tuple[str, ...] | None) -> int:
        rows = 0
        for tables in clrevents.open(path).tables(columns=columns):
            for table in tables.values():
                rows += len(table)
                for name in table.columns:
                    table.column(name)
        return rows

    return {
        "read the file": lambda: read(path),
        "count by kind": lambda: sum(clrevents.open(path).event_counts().values()),
        "every payload value into columns": lambda: columns(path),
        "…as tables of every event": lambda: everything(()),
        "tables of every event, with headers": lambda: everything(None),
        f"one table: {common.name}": lambda: len(clrevents.open(path).table(named)),
        "typed records, all fields": lambda: records(clrevents.open(path).events()),
        "…and every header attribute": lambda: touched(clrevents.open(path).events()),
        f"one rare event: {rare.name}": lambda: records(clrevents.open(path).events(rare)),
    }


def columns(path: Path) -> int:
    """One pass over the trace that makes a column of every field of every event: how many rows they have.

    A table has the same columns, but its schema must be known before its first rows: that takes a pass more.
    """
    from clrevents.decode.column_pass import ColumnPass
    from clrevents.decode.selection import Filters, Selection
    from clrevents.decode.stream.stream import Stream
    from clrevents.errors import Limits
    from clrevents.schema.registry import DEFAULT
    from clrevents.sources import open_source

    source = open_source(path, Limits())
    reader = ColumnPass(Stream(), Selection((), Filters(), DEFAULT), lambda: 0, headers=())
    chunks = reader.chunks(source.windows(), lambda: source.fault)
    return sum(len(columns.rows) for chunk in chunks for columns in chunk.payloads)


def read(path: Path) -> int:
    """The file's bytes and nothing else: how many."""
    size = 0
    with path.open("rb", buffering=0) as file:
        window = bytearray(1 << 20)
        while got := file.readinto(window):
            size += got
    return size


def records(events: Iterable[Any]) -> int:
    """Have every event's payload, a record whose fields are all set."""
    count = 0
    for event in events:
        event.payload  # noqa: B018
        count += 1
    return count


def touched(events: Iterable[Any]) -> int:
    """The same, and look at all that a header says."""
    count = 0
    for event in events:
        for name in HEADERS:
            getattr(event, name)
        event.payload  # noqa: B018
        count += 1
    return count


def measure(path: Path, yardstick: ModuleType, rounds: int) -> dict[str, Any]:
    """Best times of all stages, the yardstick's among them; round by round, so that a busy moment hits all."""
    import clrevents

    tasks = stages(path)
    data = path.read_bytes()
    best = dict.fromkeys(tasks, float("inf"))
    given = dict.fromkeys(tasks, 0)
    unit = float("inf")
    for _ in range(rounds):
        unit = min(unit, timed(lambda: walk(yardstick, data))[0])
        for name, task in tasks.items():
            seconds, given[name] = timed(task)
            best[name] = min(best[name], seconds)
    unit = min(unit, timed(lambda: walk(yardstick, data))[0])
    return {"engine": clrevents.engine(), "yardstick": unit, "seconds": best, "given": given}


def serve(path: Path) -> None:
    """For pairs.py: the names of all stages, then the seconds of each whose number comes in, with how many times to do
    it: a line each."""
    tasks = stages(path)
    print(json.dumps(list(tasks)), flush=True)
    each = list(tasks.values())
    for line in sys.stdin:
        number, times = map(int, line.split())
        print(sum(timed(each[number])[0] for _ in range(times)), flush=True)


def run_command() -> None:
    """What the command does, as `sys.argv` has it; nothing of it is shown."""
    from clrevents.__main__ import main as command

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
        command()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--yardstick", type=Path, default=YARDSTICK)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--source", type=Path, default=HERE.parent / "src", help="the clrevents to measure")
    parser.add_argument("--serve", action="store_true", help="do the stages whose numbers come in")
    parser.add_argument("--peak", type=int, help="do this one stage once (by its number) and tell the peak memory")
    parser.add_argument(
        "--command", nargs=argparse.REMAINDER, help="run `clrevents COMMAND… TRACE` here and tell the peak memory"
    )
    options = parser.parse_args()
    sys.path.insert(0, str(options.source))
    warnings.simplefilter("ignore")
    if options.serve:
        serve(options.trace)
        return
    if options.command:
        # What a parent had in memory counts as its child's peak for the system (ru_maxrss), so the process itself
        # tells.
        sys.argv = ["clrevents", *options.command, str(options.trace)]
        run_command()
    elif options.peak is None:
        print(json.dumps(measure(options.trace, load(options.yardstick), options.rounds)))
        return
    else:
        list(stages(options.trace).values())[options.peak]()
    print(json.dumps(peak()))


if __name__ == "__main__":
    main()

"""What run.py and pairs.py time: the yardstick, and stages of reading; and a process that measures one engine.

The yardstick is a bare walk over all event headers of a NetTrace 4 file in plain Python: one loop a number, a tuple an
event, and nothing else. It must stay as slow as it is, or figures of different days could not be compared.

Runs as a process of its own, so that the engine can be chosen and memory counted from nothing; answers in JSON.
Times are the processor's, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
Task = Callable[[], int]
HEADERS = (
    *("provider", "id", "version", "name", "opcode", "level", "keywords", "time_ns", "time", "thread_id"),
    *("process_id", "processor", "activity_id", "related_activity_id", "stack_id", "stack"),
)


# Of the Trace object, which has no size of its own.
_TRACE = 48
_OBJECT, _OBJECT_END = 5, 6
_COMPRESSED = 1

Row = tuple[int, int, int, int, int, int]


def blocks(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Each object's name, and where its content begins and how long it is."""
    if data[:8] != b"Nettrace":
        raise ValueError("the yardstick reads NetTrace 4 only")
    at = 32
    while data[at] == _OBJECT:
        (length,) = struct.unpack_from("<I", data, at + 11)
        name = data[at + 15 : at + 15 + length].decode()
        at += 16 + length
        size = _TRACE
        if name != "Trace":
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
            at += -at % 4
        yield name, at, size
        at += size
        if data[at] != _OBJECT_END:
            raise ValueError(f"{name} does not end at byte {at}")
        at += 1


def scan(data: bytes, start: int, size: int) -> list[Row]:
    """(metadata id, thread, tick, stack id, place and size of the payload) of each event of one block.

    Ticks are sums that do not wrap: `tick & (2**64 - 1)` is the time.
    """
    header, block_flags = struct.unpack_from("<HH", data, start)
    if not block_flags & _COMPRESSED:
        raise ValueError(f"the block at byte {start} has full headers")
    at = start + header
    end = start + size
    metadata = sequence = capture = processor = thread = stack = tick = payload = 0
    rows: list[Row] = []
    add = rows.append
    # No function for a number: calls would be most of the time.
    while at < end:
        flags = data[at]
        at += 1
        if flags & 1:
            metadata = shift = 0
            while True:
                byte = data[at]
                at += 1
                metadata |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        if flags & 2:
            step = shift = 0
            while True:
                byte = data[at]
                at += 1
                step |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            sequence += step
            capture = shift = 0
            while True:
                byte = data[at]
                at += 1
                capture |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            processor = shift = 0
            while True:
                byte = data[at]
                at += 1
                processor |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        elif metadata:
            sequence += 1
        if flags & 4:
            thread = shift = 0
            while True:
                byte = data[at]
                at += 1
                thread |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        if flags & 8:
            stack = shift = 0
            while True:
                byte = data[at]
                at += 1
                stack |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        step = shift = 0
        while True:
            byte = data[at]
            at += 1
            step |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        tick += step
        if flags & 16:
            at += 16
        if flags & 32:
            at += 16
        if flags & 128:
            payload = shift = 0
            while True:
                byte = data[at]
                at += 1
                payload |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        add((metadata, thread, tick, stack, at, payload))
        at += payload
    return rows


def walk(data: bytes) -> int:
    """The yardstick: how many events there are."""
    return sum(len(scan(data, at, size)) for name, at, size in list(blocks(data)) if name == "EventBlock")


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
    try:
        from clrevents.decode.push_passes import ColumnPass
    except ImportError:  # What a checkout of before is compared with.
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


def measure(path: Path, rounds: int) -> dict[str, Any]:
    """Best times of all stages, the yardstick's among them; round by round, so that a busy moment hits all."""
    import clrevents

    tasks = stages(path)
    data = path.read_bytes()
    best = dict.fromkeys(tasks, float("inf"))
    given = dict.fromkeys(tasks, 0)
    unit = float("inf")
    for _ in range(rounds):
        unit = min(unit, timed(lambda: walk(data))[0])
        for name, task in tasks.items():
            seconds, given[name] = timed(task)
            best[name] = min(best[name], seconds)
    unit = min(unit, timed(lambda: walk(data))[0])
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


def peak() -> int:
    """This process's largest memory so far, in bytes (Linux: VmHWM)."""
    return _status("VmHWM")


def resident() -> int:
    return _status("VmRSS")


def _status(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) << 10
    raise OSError(f"no {what} here")


def run_command() -> None:
    """What the command does, as `sys.argv` has it; nothing of it is shown."""
    from clrevents.__main__ import main as command

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
        command()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--source", type=Path, default=HERE.parent / "src", help="the clrevents to measure")
    parser.add_argument("--serve", action="store_true", help="do the stages whose numbers come in")
    parser.add_argument("--peak", type=int, help="do this one stage once (by its number) and tell the peak memory")
    parser.add_argument(
        "--command", nargs=argparse.REMAINDER, help="run `clrevents COMMAND… TRACE` here: peak memory, our modules"
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
        path = [] if options.command == ["--help"] else [str(options.trace)]
        sys.argv = ["clrevents", *options.command, *path]
        run_command()
        print(json.dumps([peak(), sum(name.partition(".")[0] == "clrevents" for name in sys.modules)]))
        return
    if options.peak is None:
        print(json.dumps(measure(options.trace, options.rounds)))
    else:
        list(stages(options.trace).values())[options.peak]()
        print(json.dumps(peak()))


if __name__ == "__main__":
    main()

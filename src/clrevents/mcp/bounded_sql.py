"""SQL in a process of its own: memory and time are bounded, and it ends with the question and with the server.

The process runs this module. What is refused is said in our words; only where the SQL is wrong, the database's follow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO, Final

from clrevents import open as open_trace
from clrevents.errors import TraceError
from clrevents.mcp.reply import MOST, plain_value
from clrevents.table.query import ask
from clrevents.table.table import needed
from clrevents.trace import tables_in_sql

MEMORY: Final = 1 << 30
"""Bytes that a query may take."""
_SETTINGS: Final = {"memory_limit": f"{MEMORY // 1_100_000}MB", "temp_directory": "", "threads": "2"}
"""The database writes nothing to disk; a tenth is for what it does not count."""
_TURN: Final = 0.1
_TOO_MUCH: Final = "the query needs more than 1 GB of memory: select fewer rows and columns, or aggregate"
_REFUSED: Final = "SQL reads the tables of this trace only: no files, no network, no settings, no extensions"

Rows = tuple[list[dict[str, Any]], bool]
"""Rows in JSON types, and whether there are more."""


def bounded_sql(
    file: BinaryIO, sql: str, first: int, most: int, seconds: float, wanted: Callable[[int, int], None]
) -> Rows:
    """At most so many rows of the answer, without the `first` ones.

    `wanted` is told how many of how many turns have passed, and ends the query by raising. Raises ValueError for SQL
    that is wrong or takes too much memory, PermissionError for what is refused, TimeoutError, and TraceError.
    """
    if os.name == "nt":
        # What is open cannot be passed on there; the database alone bounds its memory.
        return _rows(file, sql, first, most)
    ours, theirs = os.pipe()
    # Settings of the database would show where the user's files are.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": os.sep}
    # A process that ends closes its end of the pipe, however it ends.
    command = [sys.executable, "-P", "-m", __name__, str(file.fileno()), str(ours)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=(file.fileno(), ours),
        env=environment,
    )
    os.close(ours)
    try:
        question: bytes | None = json.dumps([sql, first, most]).encode()
        until = time.monotonic() + seconds
        while True:
            try:
                answer, _ = process.communicate(question, _TURN)
                break
            except subprocess.TimeoutExpired:
                question = None
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the query was interrupted: it ran for more than {seconds:g} s")
            wanted(int((seconds - left) / _TURN), int(seconds / _TURN))
    finally:
        process.kill()
        process.communicate()
        os.close(theirs)
    try:
        # It says nothing where it was ended for want of memory.
        kind, value, more = json.loads(answer)
    except ValueError:
        raise ValueError(_TOO_MUCH) from None
    if kind == "rows":
        return value, more
    raise {"refused": PermissionError, "trace": TraceError}.get(kind, ValueError)(value)


def _rows(file: BinaryIO, sql: str, first: int, most: int) -> Rows:
    with open_trace(file, errors="salvage") as trace:
        tables = tables_in_sql(trace)
        relation = ask(sql, tables.table, tables.unknown, False, [], _SETTINGS)
        columns = [] if relation is None else list(relation.columns)
        fetched = [] if relation is None else relation.limit(most + 1, first).fetchall()
    rows, size = [], 0
    for values in fetched[:most]:
        rows.append(plain_value(dict(zip(columns, values, strict=True))))
        size += len(json.dumps(rows[-1]))
        if size > MOST:
            break
    return rows, len(fetched) > len(rows)


def _limit_memory() -> None:
    """Nothing gets more than the limit above what there is now."""
    try:
        import resource

        with open("/proc/self/status", encoding="ascii") as status:
            (used,) = (int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    except (ImportError, OSError, ValueError):
        # Only Linux counts what a process has written to; elsewhere the database alone bounds its memory.
        return
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, used + MEMORY))


def _end_with_server(pipe: int) -> None:
    os.read(pipe, 1)
    os._exit(1)


def _answer(file: BinaryIO, sql: str, first: int, most: int) -> tuple[str, object, bool]:
    try:
        rows, more = _rows(file, sql, first, most)
    except PermissionError:
        return "refused", _REFUSED, False
    except TraceError as error:
        return "trace", str(error), False
    except Exception as error:
        too_much = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
        return "wrong", _TOO_MUCH if too_much else f"the SQL cannot be run; the database says: {error}", False
    return "rows", rows, more


def main() -> None:
    """Answer the question on standard input about the file of that number."""
    file, pipe = (int(number) for number in sys.argv[1:])
    threading.Thread(target=_end_with_server, args=(pipe,), daemon=True).start()
    # What these take themselves is not the query's.
    needed("pyarrow", "query", "SQL")
    needed("duckdb", "query", "SQL").connect().close()
    _limit_memory()
    with os.fdopen(file, "rb", buffering=0) as opened:
        answer = _answer(opened, *json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    # Nothing is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    main()

"""One table → one file, and events → one file of JSON lines.

The file has its name only when it is whole. Knows nothing of folders and of other traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clrevents.errors import UnknownEventError
from clrevents.export.buffered import PARTIAL, TableFiles
from clrevents.export.formats import Format
from clrevents.export.jsonl import EventJson
from clrevents.export.sink import Sink
from clrevents.trace import Trace


def export_table(trace: Trace, selector: Any, path: Path, format: Format, *, names: bool = False) -> int:
    """The table of one event; the number of its rows. Raises what `Trace.batches` raises, and OSError."""
    with _replacing(path) as partial:
        files = TableFiles(format)
        file = None
        for table in trace.batches(selector, rows=1 << 18, enum_names=names):
            if file is None:
                file = files.add(partial, table, table.metadata)
            files.write(file, table)
        if file is None:
            raise UnknownEventError(f"no event of this trace fits {selector!r}")
        files.close()
    return file.rows


def export_lines(trace: Trace, selectors: tuple[Any, ...], path: Path, *, names: bool = False) -> int:
    """The selected events as `clrevents events --json` has them; their number."""
    count = 0
    with _replacing(path) as partial:
        sink = Sink(partial)
        line = EventJson(names=names).line
        for event in trace.events(*selectors):
            sink.write(line(event).encode("ascii") + b"\n")
            count += 1
        sink.close()
    return count


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A new file that takes this one's place when all went well, and is gone when not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}{PARTIAL}")
    # Of a process that was killed.
    partial.unlink(missing_ok=True)
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        partial.with_name(partial.name + PARTIAL).unlink(missing_ok=True)
        raise

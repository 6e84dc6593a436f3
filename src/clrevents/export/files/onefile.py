"""One table → one file, and events → one file of JSON lines.

The file gets its name only when it is complete. Knows nothing of folders and of other traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clrevents._util.outputs import whole_path
from clrevents.errors import UnknownEventError
from clrevents.export.files.buffered import TableFiles
from clrevents.export.files.directory import Written
from clrevents.export.files.jsonl import EventJson
from clrevents.export.files.sink import FileSink
from clrevents.export.files.tables import Options
from clrevents.table.read import Wanted
from clrevents.trace import Filters, Trace, passes_of


def export_table(trace: Trace, selector: Any, path: Path, options: Options) -> Written:
    """Write the table of one event, whatever `options` select.

    Raises what `Trace.table_parts` raises, and OSError.
    """
    passes = passes_of(trace)
    event = passes.one_event(selector)
    wanted = Wanted(enum_names=options.names, default=options.columns)
    files = TableFiles(options.format, spreadsheet=options.spreadsheet)
    with _whole(path, trace) as partial, files:
        file = None
        for table in passes.tables(selector, wanted, Filters.of(options.filters), rows=1 << 18):
            if file is None:
                file = files.add(partial, table, table.metadata)
            files.write(file, table)
        if file is None or event is None:
            raise UnknownEventError(f"no event of this trace matches {selector!r}")
        files.close()
    there = sum(n for key, n in trace.event_counts().items() if (key.provider, key.name) == event)
    left_out = {event: there - file.rows} if there > file.rows and options.process_id is None else {}
    return Written(1, file.rows, path.stat().st_size, left_out=left_out)


def export_lines(
    trace: Trace, selectors: tuple[Any, ...], path: Path, *, names: bool = False, process_id: int | None = None
) -> int:
    """Write the selected events as `clrevents events --json` does; returns their number."""
    count = 0
    with _whole(path, trace) as partial:
        sink = FileSink(partial)
        line = EventJson(names=names).line
        for event in trace.events(*selectors, process_id=process_id):
            sink.write(line(event).encode("ascii") + b"\n")
            count += 1
        sink.close()
    return count


@contextmanager
def _whole(path: Path, trace: Trace) -> Iterator[Path]:
    """Missing folders in the path are created, as for an export to a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_path(path, trace.info.path) as unfinished:
        yield unfinished

"""One trace → a folder with a file for each event, the headers, the stacks and the facts; or one table, or lines, in
a file.

The folder has a temporary name until everything in it is complete, and `_trace.json` is written last: if that file
exists, so does the rest. Other processes may write some of the tables: each reads the whole trace, which must be a file
that stays as it is. If anything goes wrong in one of them, all is to be done again by this process alone, which says
what was wrong if it meets it too. Knows nothing of other traces.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from clrevents._util.outputs import whole_folder, whole_path
from clrevents._util.workers import Workers, give_up_if_told
from clrevents.analysis.about.checking import problem_rows
from clrevents.analysis.about.describing import about as describe
from clrevents.errors import ErrorMode, Limits, Problem, TraceError, TraceWarning, UnknownEventError
from clrevents.export.files.buffered import TableFiles
from clrevents.export.files.formats import FileSink
from clrevents.export.files.json_pieces import json_pieces
from clrevents.export.files.jsonl import EventJson
from clrevents.export.files.tables import EVERYTHING, Event, Options, Share, Tables, WrittenTables, dealt
from clrevents.table.read import Wanted
from clrevents.trace import Filters, Selector, Trace, passes_of

_LATE: Final = 3_500_000
"""Rows that could be written while another process starts, imports everything and looks at the trace."""


class Apart(Exception):
    """Something went wrong in another process, or the processes read different things."""


class Parts:
    """The shares of a trace's tables: this process's, and those that others are writing.

    `rows` are the numbers of all selected events.
    """

    def __init__(self, trace: Trace, tables: Tables, own: Share, others: Sequence[Future[WrittenTables]] = ()) -> None:
        self.rows = tables.rows
        self._passes = passes_of(trace)
        self._tables = tables
        self._own = own
        self._others = others

    def write(self) -> WrittenTables:
        """Write this process's share, and wait for the others. Raises what `Tables.write` raises, and `Apart`."""
        written = self._tables.write(self._own, self._look)
        if not self._others:
            return written
        whole = written.with_others(_result(future) for future in self._others)
        if whole.met >= self._passes.limits.problems:
            raise Apart("which problems are listed depends on which were met first")
        return whole

    def _look(self) -> None:
        """Raises what went wrong in another process meanwhile."""
        for future in self._others:
            if future.done():
                _result(future)


@contextmanager
def apart(trace: Trace, folder: Path, options: Options, processes: int) -> Iterator[Parts]:
    """At most so many processes, as many as are worth it; when this ends, no other one writes any more."""
    tables = Tables(trace, folder, options)
    passes = passes_of(trace)
    mark = passes.file_mark()
    # The first problem of all would end it, and declarations are known to their own process only.
    alone = processes == 1 or mark is None or passes.errors == "strict" or passes.registry.has_own
    own, *shares = [EVERYTHING] if alone else dealt(tables.rows, processes, _LATE)
    if not shares:
        yield Parts(trace, tables, own)
        return
    path = passes.info.path
    assert path is not None
    job = partial(_written, path, mark, passes.errors, passes.limits, folder, options)
    with _working(job, shares) as others:
        yield Parts(trace, tables, own, others)
    if mark != passes.file_mark():
        raise Apart("the file changed")


@contextmanager
def _working(
    job: Callable[[Share], WrittenTables], shares: Sequence[Share]
) -> Iterator[Sequence[Future[WrittenTables]]]:
    """What processes make of the shares; at the end none is left."""
    workers = None
    try:
        try:
            workers = Workers(len(shares))
            others = [workers.submit(job, share) for share in shares]
        except (OSError, RuntimeError) as error:
            raise Apart("no process can be started") from error
        yield others
    finally:
        if workers is not None:
            workers.end(wait=True)


def _result(future: Future[WrittenTables]) -> WrittenTables:
    try:
        return future.result()
    except TraceError as error:
        raise Apart(str(error)) from error
    except OSError:
        raise
    except Exception as error:
        raise Apart(f"{type(error).__name__}: {error}") from error


def _written(
    path: str, mark: object, errors: ErrorMode, limits: Limits, folder: Path, options: Options, share: Share
) -> WrittenTables:
    """Runs in another process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        with Trace(path, errors=errors, limits=limits, progress=give_up_if_told) as trace:
            written = Tables(trace, folder, options).write(share)
            if mark != passes_of(trace).file_mark():
                raise Apart("the file changed")
            return written


FACTS: Final = "_trace.json"


@dataclass(frozen=True)
class Written:
    """The result of an export: numbers of tables, rows and bytes. `unknown` is the error for names not known here.

    `left_out` counts the events that are in no table: their fields are not described, or their payloads do not fit.
    `problems` are those of the trace, whichever process met them.
    """

    tables: int
    rows: int
    bytes: int
    unknown: UnknownEventError | None = None
    left_out: Mapping[Event, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def export_directory(
    trace: Trace,
    folder: Path,
    options: Options,
    about: dict[str, object],
    begun: Callable[[], object] = lambda: None,
    processes: int = 1,
    inputs: Sequence[str] = (),
) -> Written:
    """Export one trace into `folder`, which is replaced if it exists and is as private as the `inputs`.

    `about` describes the trace's origin and becomes part of the facts; `begun` is called when the facts are known and
    the long pass starts, with the folder held. At most so many `processes` write. Raises what reading raises, OSError
    if something cannot be written, and `Apart` if it is to be done again by one process.
    """
    with whole_folder(folder, *inputs) as place, apart(trace, place, options, processes) as parts:
        facts = describe(trace, every=False).to_dict()
        begun()
        written = parts.write()
        if written.unknown is not None and options.known:
            raise written.unknown
        # Those of the headers, as every process finds them; then those of payloads.
        problems = (*passes_of(trace).scan().problems, *written.problems)
        done = {event: rows for event, (rows, _) in written.tables.items()}
        # How many events of one process there are is not counted.
        rows = parts.rows if options.process_id is None else {}
        left_out = {event: n for event, rows in rows.items() if (n := rows - done.get(event, 0))}
        facts = {
            "schema": "clrevents.trace/1",
            **about,
            "export": options.object(),
            "info": facts,
            "problems": [*problem_rows(problems).rows()],
            "tables": [
                {"provider": event[0], "name": event[1], "rows": rows, "file": file}
                for event, (rows, file) in sorted(written.tables.items())
            ],
            "left_out": [
                {"provider": event[0], "name": event[1], "events": events} for event, events in left_out.items()
            ],
        }
        with (place / FACTS).open("x", encoding="ascii") as file:
            file.writelines(json_pieces(facts))
        # Somebody may have removed what another process had finished.
        size = sum((place / name).stat().st_size for name in (*written.files, FACTS))
        return Written(len(done), sum(done.values()), size, written.unknown, left_out, problems)


def export_table(trace: Trace, selector: Selector, path: Path, options: Options) -> Written:
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
    trace: Trace, selectors: tuple[Selector, ...], path: Path, *, names: bool = False, process_id: int | None = None
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

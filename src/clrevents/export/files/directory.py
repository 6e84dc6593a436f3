"""One trace → a folder with a file for each event, the headers, the stacks and the facts.

The folder has a temporary name until everything in it is complete, and `_trace.json` is written last: if that file
exists, so does the rest. Knows nothing of other traces and of error handling.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from clrevents._util.outputs import whole_folder
from clrevents.errors import UnknownEventError
from clrevents.export.files.buffered import TableFile, TableFiles
from clrevents.export.files.facts import problem_object, trace_object
from clrevents.export.files.file_names import Names
from clrevents.export.files.formats import Format
from clrevents.export.files.json_pieces import json_pieces
from clrevents.table.build import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS
from clrevents.table.table import Table
from clrevents.trace import FilterOptions, Trace, passes_of

Event: TypeAlias = tuple[str, str]
"""(provider, name)."""
FACTS: Final = "_trace.json"
# Facts that are short and apply to every table.
_BRIEF: Final = ("file", "format", "format_version", "process_id", "pointer_size", "start", "duration_ns", "frequency")


@dataclass(frozen=True)
class Options:
    """The contents of an export; a folder exported with other options is a different export.

    `known`: an unknown name is an error, and nothing is written. `spreadsheet`: no text in CSV is a formula.
    """

    format: Format = "parquet"
    selectors: tuple[str, ...] = ()
    names: bool = False
    known: bool = False
    activity_ids: bool = False
    spreadsheet: bool = False
    process_id: int | None = None

    @property
    def filters(self) -> FilterOptions:
        """Which events of those selected."""
        return {"process_id": self.process_id}

    @property
    def columns(self) -> tuple[str, ...]:
        """The header columns of every table."""
        return (*DEFAULT_HEADERS, *ACTIVITY_HEADERS) if self.activity_ids else DEFAULT_HEADERS

    @property
    def headers(self) -> tuple[str, ...]:
        """The columns of the table of all headers."""
        return (*EVENT_HEADERS, *ACTIVITY_HEADERS) if self.activity_ids else EVENT_HEADERS

    def object(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "selectors": sorted(set(self.selectors)),
            "names": self.names,
            "activity_ids": self.activity_ids,
            "spreadsheet": self.spreadsheet,
            **({} if self.process_id is None else {"process_id": self.process_id}),
        }


@dataclass(frozen=True)
class Written:
    """The result of an export: numbers of tables, rows and bytes. `unknown` is the error for names not known here.

    `left_out` counts the events that are in no table: their fields are not described, or their payloads do not fit.
    """

    tables: int
    rows: int
    bytes: int
    unknown: UnknownEventError | None = None
    left_out: Mapping[Event, int] = field(default_factory=dict)


def export_directory(
    trace: Trace,
    folder: Path,
    options: Options,
    about: dict[str, Any],
    begun: Callable[[], Any] = lambda: None,
    workers: int = 1,
) -> Written:
    """Export one trace into `folder`, which is replaced if it exists.

    `about` describes the trace's origin and becomes part of the facts; `begun` is called when the facts are known and
    the long pass starts. With more `workers` than one, a second thread writes. Raises what reading raises, and OSError
    if something cannot be written.
    """
    files = TableFiles(options.format, spreadsheet=options.spreadsheet, workers=workers)
    with whole_folder(folder) as place, files:
        export = _Export(trace, place, options, files)
        begun()
        return export.run(about)


class _Export:
    """The pass over one trace, and where its tables go."""

    def __init__(self, trace: Trace, folder: Path, options: Options, files: TableFiles) -> None:
        self._trace = trace
        self._folder = folder
        self._options = options
        self._files = files
        self._providers = Names()
        self._names: dict[str, Names] = {}
        self._tables: dict[Event, TableFile] = {}
        self._events = passes_of(trace).named(*options.selectors)
        self._facts = trace_object(trace)
        self._brief = {"trace": json.dumps({key: self._facts[key] for key in _BRIEF})}
        self._counts: Counter[Event] = Counter()
        for key, count in trace.event_counts().items():
            self._counts[key.provider, key.name] += count

    def run(self, about: dict[str, Any]) -> Written:
        """Run the pass; `about` describes the trace's origin."""
        for event in self._events:
            # The trace lacks an event requested by name.
            if not self._counts[event]:
                self._file(event)
        unknown = self._pass()
        if unknown is not None and self._options.known:
            raise unknown
        self._files.close()
        # How many events of one process there are is not counted.
        told = sorted(self._events) if self._options.process_id is None else []
        left_out = {event: n for event in told if (n := self._missing(event))}
        facts = {
            "schema": "clrevents.trace/1",
            **about,
            "export": self._options.object(),
            **self._facts,
            "problems": [problem_object(problem) for problem in self._trace.problems],
            "tables": [
                {"provider": event[0], "name": event[1], "rows": file.rows, "file": self._place(file)}
                for event, file in sorted(self._tables.items())
            ],
            "left_out": [
                {"provider": event[0], "name": event[1], "events": events} for event, events in left_out.items()
            ],
        }
        with (self._folder / FACTS).open("x", encoding="ascii") as file:
            file.writelines(json_pieces(facts))
        size = sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())
        return Written(len(self._tables), sum(f.rows for f in self._tables.values()), size, unknown, left_out)

    def _missing(self, event: Event) -> int:
        return self._counts[event] - (self._tables[event].rows if event in self._tables else 0)

    def _pass(self) -> UnknownEventError | None:
        trace, options = self._trace, self._options
        chunks = passes_of(trace).table_chunks(
            *options.selectors,
            columns=options.columns,
            enum_names=options.names,
            headers=options.headers,
            filters=options.filters,
        )
        headers: TableFile | None = None
        try:
            for chunk in chunks:
                if headers is None:
                    headers, stacks = self._own("_headers", chunk.headers), self._own("_stacks", chunk.stacks)
                self._files.write(headers, chunk.headers)
                self._files.write(stacks, chunk.stacks)
                for event, table in chunk.tables.items():
                    self._files.write(self._tables.get(event) or self._file(event), table)
        except UnknownEventError as error:
            # Raised after the last event. Another trace may have such events.
            return error
        return None

    def _file(self, event: Event) -> TableFile:
        provider, name = event
        folder = self._folder / self._providers.of(provider)
        names = self._names.setdefault(provider, Names())
        path = folder / f"{names.of(name)}.{self._options.format}"
        # Not before: a crafted trace may have very many events without a table.
        table = passes_of(self._trace).schema(event, self._options.names, self._options.columns)
        made = self._tables[event] = self._files.add(path, table, {**table.metadata, **self._brief})
        return made

    def _own(self, name: str, table: Table) -> TableFile:
        return self._files.add(self._folder / f"{name}.{self._options.format}", table, self._brief)

    def _place(self, file: TableFile) -> str:
        return file.path.relative_to(self._folder).as_posix()
